"""`learning.md`: the page about all learning experiments, written from their compact results and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentrl.benchmarks.learning.compare import MODES, Pool, Results, gain_row, pools, sentence, what
from agentrl.benchmarks.learning.effort import HEAD, effort_rows
from agentrl.benchmarks.learning.experiment import Experiment
from agentrl.benchmarks.learning.figures import shows_ends
from agentrl.benchmarks.learning.results import store
from agentrl.core.errors import ConfigError
from agentrl.rollout.statistics import mean

PAGE = "learning.md"
GAINS = ("label", "actions", "gain", "95 % interval", "above its imitation start", "seeds, end against start")
INTRODUCTION = """# Learning

Written by `agentrl bench learning`; every figure comes from a run that happened. Tiny models (`tiny-text`: 300,000
weights), one thread a run: these are tests of the orderings that papers report, at a size where anybody can repeat
them, not of the papers' numbers. Only smollm2-algorithms and the shop use the real SmolLM2-135M, and a GPU. All seeds
of a condition begin with the same imitation, of demonstrations in which about half of the turns repeat the first right
action instead of looking further (in the shop: take the first result, or buy without the options).

The runs kept here were made on a server, imitation on its GPU and RL on its processors (pictures on the GPU); nine
runs were ended, and the RL of base-full-frozenlake beyond the first seed was made, on a machine with two ARM cores.
That first seed began with another training of the same imitation (sampled 0.376, greedy 0.392) than the others (0.45,
0.56): there the levels at the end compare within a seed only. Those of masked-vanilla, of steppo and of farming from
almost nothing read a lake tile by tile; since then a whole row of a lake is one word of the tiny models' vocabulary.
All of them drew their dice in the order of play, which episodes now do by their names: a repetition gives other
numbers. Learning rates and starts had been chosen by looking at FrozenLake levels of this same split: orderings suffer
little from that, levels of success some.

The runs of algorithms-*, long-tasks-*, smollm2-algorithms and the shop came later and are not among these. The
imitation for algorithms-frozenlake was made on the ARM cores; the runs of smollm2-algorithms, and those of the shop,
shared one H200. Device time did not suffice for two seeds of the shop at both discounts: the second went to 0.99, as
decided before any of these runs had ended. What they say is read [on a page of its own](webshop.md). A model of two
million weights that knows the shop's words (`tiny-shop`) was tried before: 4,000 steps of imitation taught it the
10,587 goals by heart (loss 0.06), and success on unseen ones was 0.03.

The long tasks are a second try. The first (24 x 128 episodes from a hasty start, one seed, not kept) moved nobody, and
a higher learning rate made GRPO collapse; start and budget were then chosen anew, for all four algorithms at once.

GiGPO falls behind on Sokoban, with shorter replies: on two boxes three of four had two moves at the start, and one of
four has them at the end. gigpo-deviation asks with one box whether the division by the deviation does it (its runs
without were made on the ARM cores, the others are those of algorithms-sokoban). It does; `mean` leaves the deviation
out for trajectories and for places, and as GRPO keeps the first and does well, the second is the suspect. Our reading,
which was not measured apart: where all of a group fail only the price of moves differs, and the division makes that as
large as success elsewhere. On two boxes, from another start (hasty mistakes; one seed, 300 levels), sampled play went
from 0.350 to 0.343 with the deviation and to 0.443 without, greedy play from 0.377 to 0.400 and 0.477.

Success is on levels of the test split that no training has seen. Intervals are 95 %: Wilson's over the episodes of all
seeds together, and Newcombe's for differences. They say what the evaluation leaves open; what other seeds would have
given shows only in the range over seeds. A comparison holds when the two intervals are disjoint, and sentences below
are made from the numbers by that rule.
"""


def write_learning_page(folder: str | os.PathLike[str], experiments: Iterable[Experiment]) -> Path:
    """Write the page beside the results in `folder`."""
    place = Path(folder)
    sections = [section(read_results(place, experiment), experiment) for experiment in experiments]
    store(place / PAGE, "\n".join([INTRODUCTION, *sections]).encode())
    return place / PAGE


def read_results(folder: Path, experiment: Experiment) -> Results | None:
    """Of an experiment; None where it has not been measured."""
    path = folder / f"learning_{experiment.name}.json"
    if not path.exists():
        return None
    try:
        results = json.loads(path.read_bytes())
        if results["schema"] != 1 or not isinstance(results["cells"], list):
            raise ValueError("another schema")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} does not hold results: {error}; summarise the runs again") from error
    return results


def section(results: Results | None, experiment: Experiment) -> str:
    """Everything about one experiment."""
    head = f"## {experiment.name}\n\n{experiment.question}.\n"
    if results is None:
        return f"{head}\nNot measured yet: `agentrl bench learning {experiment.name}`.\n"
    name = f"learning_{experiment.name}"
    parts = [
        head,
        f"`{results['command']}` ([all numbers]({name}.json)): {facts(results)}\n",
        f"![Held-out success while training]({name}.svg)\n",
        f"![Success at the end]({name}_ends.svg)\n" if shows_ends(results["cells"]) else "",
        f"![Score at the end]({name}_scores.svg)\n" if experiment.graded and shows_ends(results["cells"]) else "",
        success_table(results["cells"]),
        effort_table(results["cells"]),
        settings_table(results["cells"]),
        *sentences(results),
    ]
    return "\n".join(part for part in parts if part)


def facts(results: Results) -> str:
    """How much was run, on what, for how long."""
    cells = results["cells"]
    times = [cell["seconds"]["run"] / 60 for cell in cells if cell["finished"]]
    machines = sorted({cell["machine"].get("cpu", "") for cell in cells} - {""})
    versions = sorted({f"torch {cell['versions']['torch']}" for cell in cells if "torch" in cell["versions"]})
    took = f", {min(times):.1f} to {max(times):.1f} minutes each" if times else ""
    where = f" ({'; '.join([*machines, *versions])})" if machines or versions else ""
    return f"{results['finished']} of {results['planned']} cells finished{took}{where}."


def success_table(cells: Sequence[Results]) -> str:
    """Start and end of every label, all seeds together."""
    head = (
        "label",
        "actions",
        "seeds",
        "start",
        "end",
        "95 % interval",
        "lowest to highest seed",
        "episodes",
        "reward",
    )
    rows = []
    for mode in MODES:
        before = pools(cells, mode, "start")
        for label, pool in pools(cells, mode).items():
            rows.append((label, mode, *_figures(before.get(label), pool), _reward(cells, label, mode)))
    return _table(head, rows) if rows else "No cell is finished yet.\n"


def _figures(before: Pool | None, after: Pool) -> tuple[str, ...]:
    rates, (low, high) = after.rates, after.interval
    spread = f"{min(rates):.3f} to {max(rates):.3f}" if len(rates) > 1 else "-"
    start = "-" if before is None else f"{before.rate:.3f}"
    return (str(len(rates)), start, f"{after.rate:.3f}", f"{low:.3f} to {high:.3f}", spread, f"{after.episodes:,}")


def _reward(cells: Sequence[Results], label: str, mode: str) -> str:
    held = [cell["end"][mode] for cell in cells if cell["label"] == label and cell["finished"] and cell["end"][mode]]
    known = [end["reward_mean"] for end in held if end["reward_mean"] is not None]
    value = mean(known)
    return "-" if value is None else f"{value:.2f}"


def effort_table(cells: Sequence[Results]) -> str:
    """Score, turns and reply tokens, where they were counted."""
    rows = effort_rows(cells, MODES)
    return "An episode, on average:\n\n" + _table(HEAD, rows) if rows else ""


def settings_table(cells: Sequence[Results]) -> str:
    """What the labels do not have in common."""
    settings = {cell["label"]: _flat(cell["stages"][-1]) for cell in cells}
    names = sorted({name for options in settings.values() for name in options})
    differing = [name for name in names if len({str(options.get(name)) for options in settings.values()}) > 1]
    if not differing:
        return ""
    rows = [(label, *(_shown(options.get(name)) for name in differing)) for label, options in settings.items()]
    return "What differs (everything else is the same; all options are in the file):\n\n" + _table(
        ("label", *differing), rows
    )


def _flat(stage: Mapping[str, Any]) -> dict[str, Any]:
    return {"algorithm": stage["algorithm"], **stage["options"]}


def _shown(value: Any) -> str:
    return "-" if value is None or value == "" else f"`{value}`"


def sentences(results: Results) -> list[str]:
    """Claims first, then what RL added to the start."""
    found = results["comparisons"]
    claims = [f"- {sentence(one)} ({what(one)})" for one in found if one["source"]]
    gains = [gain_row(one) for one in found if not one["source"]]
    warned = sum(bool(cell["warnings"]) for cell in results["cells"])
    parts = ["\n".join(["Orderings that papers report:\n", *claims, ""])] if claims else []
    parts += ["What RL added:\n\n" + _table(GAINS, gains)] if gains else []
    parts += [f"{warned} of {len(results['cells'])} runs were warned about while training.\n"] if warned else []
    return parts


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
