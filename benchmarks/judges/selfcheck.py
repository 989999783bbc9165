"""The named checks behind `agentrl check judges`: each returns figures, so that a pass can be read, not only seen.

Add a check by appending a function to `CHECKS`; it returns `(passed, detail)` and may raise (a raise is a failure).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrl.core.claims import Relations, Thing
from agentrl.judges.fitting import DESCRIPTIONS
from agentrl.judges.relations import Relation, score_relations
from benchmarks.judges import corpus, room, selfcheck_llm, texts
from benchmarks.judges.accuracy import hedging, hostile, injection_shift
from benchmarks.judges.states import envs_declaring, envs_with_relations
from benchmarks.judges.text_hedging import bearing_hedges, point_hedges

Check = Callable[[], tuple[bool, str]]
HALVES = Relations(
    origin=Thing("player", "player"),
    things=(Thing("target", "target", key="target", weight=0.7), Thing("hole", "hole", key="holes", weight=0.3)),
    half_credit=True,
)


def golden_numbers() -> tuple[bool, str]:
    """The reference figures of the two scoring rules."""
    half = score_relations(
        HALVES,
        [Relation("target", "above", "right"), Relation("hole", "below", "left")],
        [Relation("target", "above", "left"), Relation("hole", "same", "right"), Relation("hole", "below", "left")],
    )[0]
    both = score_relations(
        room.RELATIONS,
        [Relation("target", "above", "left"), Relation("box", "above", "right")],
        [Relation("target", "above", "left"), Relation("box", "same", "right")],
    )[0]
    passed = abs(half - 0.55) < 1e-9 and abs(both - 0.5) < 1e-9
    return passed, f"half credit {half:.4f} (0.55), both axes {both:.4f} (0.5)"


def reading_corpus() -> tuple[bool, str]:
    """Free English: at least 95 % of the held-out relations are read right, and at least 95 % of what is read is."""
    train, heldout = (corpus.measure(corpus.load(split)) for split in corpus.SPLITS)
    passed = heldout.recall >= 0.95 and heldout.precision >= 0.95 and train.statements + heldout.statements >= 400
    return passed, "; ".join(
        f"{name}: {figures.statements} statements of {figures.shapes} shapes, precision {figures.precision:.3f}, "
        f"recall {figures.recall:.3f}"
        for name, figures in (("train", train), ("held-out", heldout))
    )


def hedging_does_not_pay() -> tuple[bool, str]:
    """No text that says everything or nothing beats one random relation per object, over 1,000 states."""
    rows = [hedging(env_id, purpose) for env_id in envs_with_relations() for purpose in DESCRIPTIONS]
    return all(row["pass"] for row in rows), "; ".join(
        f"{row['env']} {row['purpose']}: best of {row['texts']} hedges {row['best_hedge']:.3f}, "
        f"guessing {row['guessing']:.3f}"
        for row in rows
    )


def labelled_texts() -> tuple[bool, str]:
    """Texts about directions and points: at least 85 % of the held-out ones are judged right in every state."""
    found = texts.accuracies()
    passed = all(figures.exact >= 0.85 for name, figures in found.items() if name.endswith("heldout"))
    return passed, "; ".join(
        f"{name}: {figures.texts} texts, {figures.exact:.3f} judged right, {figures.cases:.3f} of the verdicts"
        for name, figures in found.items()
    )


def hedged_directions_and_points() -> tuple[bool, str]:
    """No text that leaves a choice beats one guess; two directions at once count in descriptions, as in the paper."""
    rows = [
        (f"{env_id} {purpose}", measured(env_id, purpose))
        for part, measured in (("bearing", bearing_hedges), ("points", point_hedges))
        for env_id in envs_declaring(part)
        for purpose in DESCRIPTIONS
    ]
    return all(row["best_hedge"] <= row["guessing"] for _, row in rows), "; ".join(
        f"{name}: best of {row['texts']:.0f} hedges {row['best_hedge']:.3f}, guessing {row['guessing']:.3f}"
        + (f", two directions at once {row['two_at_once']:.3f}" if "two_at_once" in row else "")
        for name, row in rows
    )


def hostile_texts() -> tuple[bool, str]:
    """10,000 random strings: no exception, every verdict in range."""
    found = hostile()
    passed = found["exceptions"] == found["bad_verdicts"] == 0
    return passed, (
        f"{found['texts']} texts, {found['exceptions']} exceptions, {found['bad_verdicts']} bad verdicts, "
        f"slowest {1000 * found['slowest_seconds']:.0f} ms"
    )


def injections_do_not_help() -> tuple[bool, str]:
    """60 orders to the judge before and after a fixed wrong description move its mean score by at most 0.02."""
    row = injection_shift(selfcheck_llm.WRONG, room.Room())
    return row["largest_shift"] <= 0.02, (
        f"{row['injections']} injections before and after, score {row['score']:.3f}, "
        f"mean with them {row['mean_before']:.3f} and {row['mean_after']:.3f}"
    )


RULE_CHECKS: list[tuple[str, Check]] = [
    ("golden numbers", golden_numbers),
    ("rule judge reads English", reading_corpus),
    ("rule judge reads directions and points", labelled_texts),
    ("hedging does not pay", hedging_does_not_pay),
    ("hedged directions and points", hedged_directions_and_points),
    ("random strings", hostile_texts),
    ("rule judge takes no orders", injections_do_not_help),
]
CHECKS: list[tuple[str, Check]] = [*RULE_CHECKS, *selfcheck_llm.CHECKS]


def run(say: Callable[[str], Any] = lambda _: None) -> list[dict[str, Any]]:
    """Every check: `[{"name", "pass", "detail"}]`; `say` hears before each what it asks for."""
    found = []
    for number, (name, check) in enumerate(CHECKS, 1):
        asked = (check.__doc__ or "").partition("\n")[0]
        say(f"judges {number}/{len(CHECKS)}, {name}: {asked}".rstrip(": "))
        found.append(_run_one(name, check))
    return found


def _run_one(name: str, check: Check) -> dict[str, Any]:
    try:
        passed, detail = check()
    except Exception as error:
        passed, detail = False, f"{type(error).__name__}: {error}"
    return {"name": name, "pass": bool(passed), "detail": detail}
