"""`python -m benchmarks.weak_starts RUN... [--results FOLDER]`: what RL added to weak starts, seed by seed.

Each RUN is the folder of a recipe whose last stage is RL and whose stage before it was evaluated on the same levels.
Runs of one environment are its seeds. What is kept of them replaces what `weak_starts.json` held of that environment,
and the table of the page is printed; `make docs` draws the figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentrl.rollout.statistics import wilson_interval
from agentrl.viewer.canvas import Look, standalone
from agentrl.viewer.charts import Series, line_chart
from agentrl.viewer.eval_report import short_name
from agentrl.viewer.run_data import read_run
from benchmarks.learning.dots import Dot, DotRow, dot_chart
from benchmarks.learning.experiment_page import table
from benchmarks.learning.paired import paired
from benchmarks.learning.results import KEPT, store

FILE, MODES = "weak_starts.json", ("sampled", "greedy")
WIDTH = 760
MEASURED = ("success", "success_ci", "episodes", "outcomes", "reward_mean", "valid_rate", "turns_mean")
HEAD = (
    "environment",
    "seed",
    "played",
    "after imitation",
    "after RL",
    "gain",
    "only after / only before",
    "McNemar's p",
)

Kept = dict[str, Any]


def kept_of(run: Path) -> Kept:
    """One seed: both evaluations with the outcome of every level, and success while training."""
    plan = json.loads((run / "plan.json").read_text())
    before, after = (read_run(run / stage["name"]) for stage in plan["stages"][-2:])
    measured = [{_mode(line): line for line in stage.evals} for stage in (before, after)]  # the last of each
    return {
        "env": measured[1]["greedy"]["env_id"],
        "recipe": plan["recipe"],
        "seed": plan["stages"][-1]["arguments"]["seed"],
        "stages": [stage["arguments"] for stage in plan["stages"]],
        "versions": after.config.get("versions"),
        **{
            name: {mode: {key: lines[mode].get(key) for key in MEASURED} for mode in MODES}
            for name, lines in zip(("start", "end"), measured, strict=True)
        },
        "seconds": [sum(line["seconds"]["total"] for line in stage.train) for stage in (before, after)],
        "training": [[line["episodes_total"], line["success"]] for line in after.train],
    }


def _mode(line: Mapping[str, Any]) -> str:
    return "greedy" if line["greedy"] else "sampled"


def merged(runs: Sequence[Path], folder: Path) -> dict[str, list[Kept]]:
    """Seeds by environment: those of the runs, and of other environments what the folder holds."""
    path = folder / FILE
    held: dict[str, list[Kept]] = json.loads(path.read_text()) if path.exists() else {}
    found: dict[str, list[Kept]] = {}
    for kept in map(kept_of, runs):
        found.setdefault(kept["env"], []).append(kept)
    return held | {env: sorted(seeds, key=lambda kept: kept["seed"]) for env, seeds in found.items()}


# ---------------------------------------------------------------------- tables


def rows(held: Mapping[str, Sequence[Kept]]) -> list[tuple[str, ...]]:
    """A line for each seed and way to play, then one for all seeds."""
    lines: list[tuple[str, ...]] = []
    for env, seeds in held.items():
        for mode in MODES:
            lines += [_row(env, str(kept["seed"]), mode, [kept]) for kept in seeds]
            lines.append(_row(env, "all", mode, seeds))
    return lines


def _row(env: str, seed: str, mode: str, seeds: Sequence[Kept]) -> tuple[str, ...]:
    ends = [
        {kept["seed"]: kept[moment][mode]["outcomes"] for kept in seeds if kept[moment][mode]["outcomes"]}
        for moment in ("end", "start")
    ]
    found = paired(*ends)
    before, after = (_share(seeds, moment, mode) for moment in ("start", "end"))
    figures = (f"{before:.3f}", f"{after:.3f}", f"{after - before:+.3f}")
    if found is None:
        return (short_name(env), seed, mode, *figures, "", "")
    if len(seeds) > 1:
        low, high = found["interval"]
        figures = (*figures[:2], f"{figures[2]} [{low:+.3f}, {high:+.3f}]")
    return (
        short_name(env),
        seed,
        mode,
        *figures,
        f"{found['only_higher']} / {found['only_lower']}",
        f"{found['p']:.0e}",
    )


def _share(seeds: Sequence[Kept], moment: str, mode: str) -> float:
    return sum(kept[moment][mode]["success"] for kept in seeds) / len(seeds)


# ---------------------------------------------------------------------- figures


def figures(held: Mapping[str, Sequence[Kept]]) -> dict[str, str]:
    """Whole .svg files by name."""
    return {"weak_starts": standalone(training_curves(held)), "weak_starts_ends": standalone(ends(held))}


def training_curves(held: Mapping[str, Sequence[Kept]]) -> str:
    """Success of the training episodes: the mean over the seeds, and a band from the lowest to the highest."""
    lines = []
    for colour, (env, seeds) in enumerate(held.items()):
        points = list(zip(*(kept["training"] for kept in seeds), strict=False))  # to where the first seed ends
        values = [(at[0][0], [success for _, success in at]) for at in points]
        mean = [(episodes, sum(shares) / len(shares)) for episodes, shares in values]
        lines.append(Series(short_name(env), mean, [(at, min(all_), max(all_)) for at, all_ in values], colour))
    title = "Success while training by GRPO, from weak starts"
    return line_chart(lines, Look(title, WIDTH, 380, "training episodes", (0.0, 1.0), percent=True))


def ends(held: Mapping[str, Sequence[Kept]]) -> str:
    """Held-out success at the end of RL, with that of every seed and that of the start."""
    kinds = {mode: f"{mode}, 95 % interval" for mode in MODES}
    lines = []
    for env, seeds in held.items():
        dots = {}
        for mode, kind in kinds.items():
            singles = [kept["end"][mode]["success"] for kept in seeds]
            trials = sum(kept["end"][mode]["episodes"] for kept in seeds)
            value = sum(singles) / len(singles)
            interval = wilson_interval(round(value * trials), trials)
            assert interval is not None
            dots[kind] = Dot(value, interval, singles, _share(seeds, "start", mode))
        lines.append(DotRow(short_name(env), dots))
    look = Look("Held-out success after RL, from weak starts", WIDTH, x_name="held-out success", percent=True)
    return dot_chart(lines, list(kinds.values()), look, single="single seeds", start="start after imitation")


def main() -> None:
    """Keep the numbers, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--results", type=Path, default=KEPT)
    given = parser.parse_args()
    held = merged(given.runs, given.results)
    write(held, given.results)
    print(table(HEAD, rows(held)))


def write(held: Mapping[str, Sequence[Kept]], folder: Path) -> None:
    """The numbers, a line for every seed."""
    parts = [f"{json.dumps(env)}: [\n" + ",\n".join(map(json.dumps, seeds)) + "\n]" for env, seeds in held.items()]
    store(folder / FILE, ("{\n" + ",\n".join(parts) + "\n}\n").encode())


if __name__ == "__main__":
    main()
