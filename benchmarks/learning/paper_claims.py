"""What the four papers say about training, claim by claim, and which of our comparisons bear on each.

A claim without comparisons was not run; `missing` says what it would need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.learning.compare import MODES, Results, compare, pools
from benchmarks.learning.provenance import CODE, OLDER, is_older
from benchmarks.learning.separation_table import blind_to

HEAD = ("paper", "claim", "verdict", "hold / open / reversed", "difference", "seeds", "experiments")
BOTH, REST = "grounding_worldmodeling, natural", ("no_think", "free_think", "grounding", "worldmodeling")
TRAINER = "not run on a GPU"
BASELINES = tuple(f"webrl-baselines-{where}" for where in ("frozenlake", "web", "hasty-web", "smollm2"))
ABLATIONS = tuple(f"webrl-ablations-{where}" for where in ("frozenlake", "web", "hasty-web"))
FIRST_PHASE, REPLAY = ("webrl-first-phase-frozenlake",), ("webrl-replay-frozenlake",)
SCARCE, SCARCE_WEB = ("webrl-scarce-frozenlake",), ("webrl-scarce-web",)
STEPS = tuple(f"webrl-steps-{where}" for where in ("frozenlake", "web", "hasty-web", "smollm2"))
TEXTS = ("alfworld", "multihop", "smollm2-alfworld", "smollm2-multihop")
GRIDS, LONG = ("algorithms-frozenlake", "algorithms-sokoban"), ("long-tasks-frozenlake", "long-tasks-sokoban")


@dataclass(frozen=True)
class Pair:
    """A comparison in an experiment: `higher` is to end above each of `lower`."""

    experiment: str
    higher: str
    lower: tuple[str, ...]


@dataclass(frozen=True)
class PaperClaim:
    """One sentence of a paper, in our words."""

    paper: str
    text: str
    pairs: tuple[Pair, ...] = ()
    missing: str = ""
    reading: str = ""  # what the counts do not say


def everywhere(experiments: Iterable[str], higher: str, *lower: str) -> tuple[Pair, ...]:
    """The same comparison in several experiments."""
    return tuple(Pair(name, higher, lower) for name in experiments)


STEP = "StepPO, gamma 0.99"
CLAIMS = (
    PaperClaim(
        "VAGEN",
        "PPO needs observation tokens left out of the loss",
        everywhere(["masked-vanilla"], "masked", "vanilla"),
    ),
    PaperClaim(
        "VAGEN",
        "Grounding and world modelling together are the best of five strategies",
        everywhere(("strategies-frozenlake", "strategies-sokoban"), BOTH, *REST),
    ),
    PaperClaim(
        "VAGEN",
        "On FrozenLake and Sokoban plain sentences are the best way to write states",
        everywhere(
            ("strategies-frozenlake", "strategies-sokoban"), BOTH, f"{BOTH[:-9]}, symbolic", f"{BOTH[:-9]}, structured"
        ),
    ),
    PaperClaim(
        "VAGEN",
        "Where precision counts (PrimitiveSkill) structured states are better",
        missing="ways to write states were not compared on PrimitiveSkill",
    ),
    PaperClaim(
        "VAGEN",
        "Bi-level credit is better than credit by token",
        (
            Pair("bilevel", "bilevel (paper)", ("masked token GAE",)),
            *everywhere(GRIDS, "PPO, bi-level", "PPO, masked"),
            Pair("one-move-estimators", "bi-level PPO", ("token PPO",)),
        ),
        reading="With long replies and many turns (one-move-estimators) it holds in sampled and in greedy play, over "
        "five seeds; there token PPO falls apart, and bi-level PPO does not gain over its start either. In the older "
        "experiments there is no difference.",
    ),
    PaperClaim(
        "VAGEN",
        "Bi-level credit is better than credit by turn",
        (
            Pair("bilevel", "bilevel (paper)", ("turn PPO",)),
            *everywhere(GRIDS, "PPO, bi-level", "turn PPO"),
            Pair("one-move-estimators", "bi-level PPO", ("turn PPO",)),
        ),
        reading="With long replies and many turns it is the other way round in sampled play and open in greedy play. "
        "Turn PPO is given the value before a turn's first token there; in the older experiments it has the released "
        "form, whose baseline sees the action.",
    ),
    PaperClaim(
        "VAGEN",
        "Full (reasoning reward and bi-level credit) is better than base",
        everywhere(("base-full-frozenlake", "base-full-sokoban", "one-move-full"), "full", "base"),
    ),
    PaperClaim(
        "VAGEN",
        "The reasoning reward alone is better than base",
        everywhere(["one-move-full"], "reasoning reward alone", "base"),
    ),
    PaperClaim(
        "VAGEN", "Bi-level credit alone is better than base", everywhere(["one-move-full"], "bi-level alone", "base")
    ),
    PaperClaim(
        "VAGEN",
        "A model of 3 billion weights triples its success over five visual tasks",
        missing="no model of that size was trained",
    ),
    PaperClaim(
        "VAGEN",
        "Policies learn to please an LLM judge, and structured scores with a repetition penalty prevent it",
        missing="no policy was trained with an LLM judge",
    ),
    PaperClaim(
        "StepPO",
        "StepPO is better than token PPO",
        (
            *(Pair("steppo", f"StepPO, gamma {g}", (f"token PPO, gamma {g}",)) for g in ("0.99", "0.95")),
            *(Pair("steppo-webshop", f"StepPO, gamma {g}", (f"token PPO, gamma {g}",)) for g in ("0.99", "0.95")),
            *everywhere((*GRIDS, *LONG), "StepPO", "PPO, masked"),
            *everywhere(("one-move-steppo", "one-move-estimators"), "StepPO", "token PPO"),
        ),
    ),
    PaperClaim(
        "StepPO",
        "StepPO is better than GRPO",
        everywhere((*GRIDS, *LONG, "smollm2-algorithms"), "StepPO", "GRPO"),
    ),
    PaperClaim("StepPO", "StepPO is better than GiGPO", everywhere((*GRIDS, *LONG), "StepPO", "GiGPO")),
    PaperClaim(
        "StepPO",
        "StepPO is better than RLOO and REINFORCE++",
        everywhere(GRIDS, "StepPO", "RLOO", "Reinforce++"),
    ),
    PaperClaim(
        "StepPO",
        "Without step-level GAE StepPO is worse",
        (Pair("steppo", STEP, ("without step GAE",)), Pair("one-move-steppo", "StepPO", ("without step GAE",))),
    ),
    PaperClaim(
        "StepPO",
        "Without the step-level ratio StepPO is worse",
        (Pair("steppo", STEP, ("without step ratio",)), Pair("one-move-steppo", "StepPO", ("without step ratio",))),
    ),
    PaperClaim(
        "StepPO",
        "On ALFWorld and multi-hop questions it is better than token PPO, GRPO and GiGPO",
        everywhere(TEXTS, "StepPO", "token PPO", "GRPO", "GiGPO"),
        reading="one world was run, with a tiny model whose success on unseen errands stays below 0.1",
    ),
    PaperClaim(
        "StepPO",
        "On paper search it is better than token PPO, GRPO and GiGPO",
        missing="no policy was trained in the library",
    ),
    PaperClaim(
        "WebRL",
        "It ends above SFT, filtered BC, AWR and DigiRL",
        everywhere(BASELINES, "WebRL", "SFT", "filtered BC", "AWR", "DigiRL")
        + everywhere(FIRST_PHASE, "WebRL", "filtered BC, first phase", "AWR, first phase", "DigiRL, first phase")
        + everywhere(SCARCE, "curriculum, regression", "SFT", "filtered BC", "AWR", "DigiRL"),
    ),
    PaperClaim(
        "WebRL",
        "As its published code has it, it ends above SFT, filtered BC, AWR and DigiRL",
        missing="no run has had its loss, its buffer and its optimiser",
    ),
    PaperClaim(
        "WebRL",
        "With imitation of good actions it ends above SFT, filtered BC, AWR and DigiRL",
        everywhere(BASELINES, "WebRL, imitation of good actions", "SFT", "filtered BC", "AWR", "DigiRL")
        + everywhere(SCARCE, "curriculum, good actions", "SFT", "filtered BC", "AWR", "DigiRL")
        + everywhere(SCARCE_WEB, "curriculum, good actions", "SFT", "DigiRL"),
    ),
    PaperClaim("WebRL", "Without the KL term it is worse", everywhere(ABLATIONS, "WebRL", "without KL")),
    PaperClaim("WebRL", "Without the replay buffer it is worse", everywhere(ABLATIONS, "WebRL", "without replay")),
    PaperClaim("WebRL", "Without both it is worse", everywhere(REPLAY, "WebRL", "without replay and KL")),
    PaperClaim(
        "WebRL",
        "Actions of middling perplexity are the best to replay",
        everywhere(REPLAY, "WebRL", "perplexity up to 1/0.95", "perplexity from 1/0.5 on", "all perplexities"),
    ),
    PaperClaim(
        "WebRL",
        "Without the curriculum it is worse",
        everywhere(ABLATIONS, "WebRL", "without curriculum")
        + everywhere(FIRST_PHASE, "WebRL", "WebRL, first phase")
        + everywhere(STEPS, "imitation of good actions", "imitation of good actions, no curriculum")
        + everywhere(SCARCE, "curriculum, good actions", "no curriculum, good actions"),
    ),
    PaperClaim(
        "WebRL",
        "A critic that learns from what was just played alone is worse",
        everywhere(ABLATIONS, "WebRL", "critic without replay"),
    ),
    PaperClaim(
        "WebRL",
        "A trained outcome reward model judges better than prompted large models",
        missing="measured without a large model only",
    ),
    PaperClaim("RL-VLA3", "Asynchronous training raises throughput by up to 85 %", missing="not run with its models"),
    PaperClaim("RL-VLA3", "Asynchronous training adds more than asynchronous rollouts", missing=TRAINER),
    PaperClaim("RL-VLA3", "It learns as much from each sample as synchronous training does", missing=TRAINER),
    PaperClaim("RL-VLA3", "Throughput scales nearly linearly from 8 to 24 GPUs", missing="needs that many GPUs"),
)


def claim_row(claim: PaperClaim, measured: Mapping[str, Results]) -> tuple[str, ...]:
    """A line of the table, from the results that are kept; those of older code count where there are no others."""
    present = {name: results for name, results in measured.items() if not is_older(results)}
    counted = present if any(pair.experiment in present for pair in claim.pairs) else measured
    found = [one for pair in claim.pairs for one in compared(pair, counted.get(pair.experiment))]
    if not found:
        reason = claim.missing or "its experiment has not been run"
        return (claim.paper, claim.text, "not run", "", reason, "", "")
    verdicts = [one["verdict"] for one in found]
    names = dict.fromkeys(pair.experiment for pair in claim.pairs)
    links = [
        f"[{name}]({name}.md)" + ("" if name in present else f" ({OLDER})") if name in measured else f"{name} (not run)"
        for name in names
    ]
    sampled = [one["difference"] for one in found if one["mode"] == "sampled"]
    span = " to ".join(dict.fromkeys(f"{value:+.3f}" for value in (min(sampled), max(sampled))))
    seeds = sorted({one["count"] for one in found})
    shown = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    return (claim.paper, claim.text, overall(verdicts), counts(verdicts), span, shown, ", ".join(links))


def readings(claims: Iterable[PaperClaim], measured: Mapping[str, Results]) -> list[str]:
    """What is to be said about claims; it rests on the older results of all of their experiments."""
    told = [
        one
        for one in claims
        if one.reading and all(is_older(measured.get(pair.experiment, {"code": CODE})) for pair in one.pairs)
    ]
    return [f"*{claim.text}.* {claim.reading}" for claim in told]


def compared(pair: Pair, results: Results | None) -> list[Results]:
    """Sampled and greedy; a pair whose advantages are too much alike is open whatever it ended with."""
    found: list[Results] = []
    if results is None:
        return found
    kept = {(one["mode"], one["higher"], one["lower"]): one for one in results["comparisons"] if "measure" not in one}
    for mode in MODES:
        held = pools(results["cells"], mode)
        for lower in pair.lower:
            if pair.higher in held and lower in held:
                both = held[pair.higher], held[lower]
                one = kept.get((mode, pair.higher, lower)) or compare(*both)
                blind = blind_to(results.get("separation"), pair.higher, lower) is not None
                count = {"mode": mode, "count": min(len(pool.seeds) for pool in both)}
                found.append(one | count | ({"verdict": "open"} if blind else {}))
    return found


def overall(verdicts: Sequence[str]) -> str:
    """Of a claim, from the verdicts of its comparisons."""
    if all(one == "holds" for one in verdicts):
        return "holds"
    return "does not hold" if "reversed" in verdicts and "holds" not in verdicts else "cannot tell"


def counts(verdicts: Sequence[str]) -> str:
    """How many comparisons came out in which way."""
    return " / ".join(str(list(verdicts).count(name)) for name in ("holds", "open", "reversed"))
