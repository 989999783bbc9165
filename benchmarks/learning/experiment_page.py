"""The page about one learning experiment, written from its compact results and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agentrl.rollout.statistics import mean
from benchmarks.learning.compare import (
    MODES,
    Results,
    around,
    gain_row,
    pooled,
    pools,
    sentence,
    what,
    without_new_tasks,
)
from benchmarks.learning.conditions import SPELLED
from benchmarks.learning.experiment import Experiment
from benchmarks.learning.figures import figures
from benchmarks.learning.golden import HEAD as GOLDEN
from benchmarks.learning.golden import golden_rows
from benchmarks.learning.primary import HEAD as PRIMARY
from benchmarks.learning.primary import rows as primary_rows
from benchmarks.learning.primary import sentences as primary_sentences
from benchmarks.learning.provenance import CHANGES, NOTES, is_older
from benchmarks.learning.results import clipped_shares, store
from benchmarks.learning.separation_table import SEPARATION_HEAD, separation_rows

FIGURES = {"": "Held-out success while training", "_ends": "Success at the end", "_scores": "Score at the end"}
SUCCESS = (
    "label",
    "actions",
    "seeds",
    "start",
    "end",
    "95 % interval",
    "lowest to highest seed",
    "episodes",
    "reward",
    "clipped",
)
EFFORT = ("label", "actions", "score", "95 % interval", "turns", "95 % interval", "reply tokens", "95 % interval")
GAINS = ("label", "actions", "gain", "95 % interval", "above its imitation start", "seeds, end against start")


def write_experiment_page(folder: Path, experiment: Experiment, results: Results) -> list[Path]:
    """Write `NAME.md` and its figures, from the kept results alone."""
    drawn = figures(results, graded=experiment.graded)
    parts = [
        f"# {experiment.name}\n\n{experiment.question}. Embedded tasks: these are not the official benchmarks.\n",
        *(f"![{FIGURES[ending]}]({experiment.name}{ending}.svg)\n" for ending in drawn),
        f"**Older code.** {CHANGES}\n" if is_older(results) else "",
        primary_section(experiment, results),
        *claims(results),
        separation_section(results),
        "## Figures\n",
        success_table(results["cells"]),
        effort_table(results["cells"]),
        golden_table(results["cells"]),
        new_tasks_table(results["cells"]),
        *gains(results),
        settings_table(results["cells"]),
        provenance(results),
        "[All learning experiments](index.md)\n",
    ]
    files = {f"{experiment.name}.md": "\n".join(part for part in parts if part)}
    files |= {f"{experiment.name}{ending}.svg": svg for ending, svg in drawn.items()}
    for name, text in files.items():
        store(folder / name, text.encode())
    return [folder / name for name in files]


def primary_section(experiment: Experiment, results: Results) -> str:
    """The comparisons that were planned, and what they could see."""
    found = results.get("primary")
    if experiment.plan is None or not found:
        return ""
    how = (
        "Decided before the runs, on sampled success. The interval draws seeds and levels anew; p is exact, by sign "
        "flips of the seeds' differences, and corrected by Holm's method. A verdict needs both.\n"
    )
    said = "".join(f"- {one}\n" for one in primary_sentences(experiment.plan, found))
    return "\n".join(["## Primary comparisons\n", how, table(PRIMARY, primary_rows(found)), said])


def separation_section(results: Results) -> str:
    """How much the conditions' advantages agreed on the start policy's episodes, and what their critics explained."""
    found = results.get("separation")
    if not found or not found["pairs"]:
        return ""
    critics = [(label, f"{value:.3f}") for label, value in found["critics"].items()]
    fitted = "Of their returns, critics explain after a short fit on other episodes of the start policy:\n\n"
    shares = "; ".join(f"{label}: {share}" for label, share in explained_while_training(results["cells"]).items())
    parts = [
        "## Can it tell?\n",
        f"Correlation of advantages over the action tokens of {found['episodes']} episodes of the start policy; above "
        f"{found['limit']:g} two conditions that differ in nothing else cannot be told apart.\n",
        table(SEPARATION_HEAD, separation_rows(found)),
        fitted + table(("condition", "explained variance"), critics) if critics else "",
        f"While training, the critics explained (mean over the last quarter of the iterations): {shares}.\n"
        if shares
        else "",
    ]
    return "\n".join(part for part in parts if part)


def explained_while_training(cells: Sequence[Results]) -> dict[str, str]:
    """By label, over the last quarter of the iterations of all seeds."""
    held: dict[str, list[float]] = {}
    for cell in cells:
        values = [value for _, value in cell.get("critic") or ()]
        held.setdefault(cell["label"], []).extend(values[-max(1, len(values) // 4) :] if values else [])
    return {label: f"{sum(values) / len(values):.2f}" for label, values in held.items() if values}


def provenance(results: Results) -> str:
    """The command, how much was run, on what, for how long, and what a reader should know about it."""
    cells = results["cells"]
    tested = [end["episodes"] for cell in cells if (end := cell["end"]["sampled"])]
    rows = [
        ("command", f"`{results['command']}`"),
        ("all numbers", f"`learning_{results['experiment']}.json`"),
        ("commit", f"`{results['commit']}`" if results.get("commit") else ""),
        ("cells", f"{results['finished']} of {results['planned']} cells finished"),
        ("seeds", ", ".join(map(str, sorted({cell["seed"] for cell in cells})))),
        ("training episodes of a cell", _range([cell["episodes"] for cell in cells], "{:,}")),
        ("test episodes of a cell", _range(tested, "{:,}")),
        ("minutes of a cell", _range([cell["seconds"]["run"] / 60 for cell in cells if cell["finished"]], "{:.1f}")),
        ("machines", _counted(cell["machine"].get("cpu", "") for cell in cells)),
        ("torch", _counted(cell["versions"].get("torch", "") for cell in cells)),
    ]
    older = NOTES.get(results["experiment"], ()) if is_older(results) else ()  # notes are about those runs
    notes = "".join(f"- {note}\n" for note in older)
    return "\n".join(["## Provenance\n", table(("", ""), [row for row in rows if row[1]]), notes])


def _range(values: Sequence[float], form: str) -> str:
    """The one value that all have, or the least and the largest."""
    ends = dict.fromkeys(form.format(value) for value in (min(values), max(values))) if values else {}
    return " to ".join(ends)


def _counted(values: Iterable[str]) -> str:
    """Every value with the number of cells that have it."""
    counts = Counter(value for value in values if value)
    return "; ".join(f"{value} ({count} of {counts.total()})" for value, count in sorted(counts.items()))


def success_table(cells: Sequence[Results]) -> str:
    """Start and end of every label, all seeds together."""
    rows, clipped = [], clipped_shares(cells)
    for mode in MODES:
        before = pools(cells, mode, "start")
        for label, pool in pools(cells, mode).items():
            rates, (low, high) = pool.rates, pool.interval
            ends = [cell["end"][mode] for cell in cells if cell["label"] == label and cell["finished"]]
            reward = mean([end["reward_mean"] for end in ends if end and end["reward_mean"] is not None])
            rows.append(
                (
                    label,
                    mode,
                    str(len(rates)),
                    f"{before[label].rate:.3f}" if label in before else "-",
                    f"{pool.rate:.3f}",
                    f"{low:.3f} to {high:.3f}",
                    f"{min(rates):.3f} to {max(rates):.3f}" if len(rates) > 1 else "-",
                    f"{pool.episodes:,}",
                    "-" if reward is None else f"{reward:.2f}",
                    "-" if (share := clipped.get(label)) is None else f"{share:.3f}",
                )
            )
    return table(SUCCESS, rows) if rows else "No cell is finished yet.\n"


def effort_table(cells: Sequence[Results]) -> str:
    """Score, turns and reply tokens of every label, where they were counted; first of the imitation that all share."""
    finished = [cell for cell in cells if cell["finished"]]
    shared = len({str(cell["stages"][:-1]) for cell in finished}) == 1
    rows = []
    for mode in MODES:
        # The start is one model, measured again at the beginning of each run: one measurement, not several.
        measured = {"imitation": [finished[0]["start"][mode]]} if shared else {}
        for cell in finished:
            measured.setdefault(cell["label"], []).append(cell["end"][mode])
        for label, ends in measured.items():
            if not all(end and end.get("response_tokens") is not None for end in ends):
                continue
            row = [label, mode]
            for (value, margin), places in (
                (pooled([around(end["reward_mean"], end["reward_ci"]) for end in ends]), 3),
                (pooled([(end["turns_mean"], end["turns_margin"]) for end in ends]), 2),
                (pooled([(end["response_tokens"], end["response_tokens_margin"]) for end in ends]), 1),
            ):
                row += [f"{value:.{places}f}", f"{value - margin:.{places}f} to {value + margin:.{places}f}"]
            rows.append(row)
    return "An episode, on average:\n\n" + table(EFFORT, rows) if rows else ""


def golden_table(cells: Sequence[Results]) -> str:
    """Success against the actions that a task takes at least, where they are known."""
    rows = golden_rows([cell for cell in cells if cell["finished"]], tuple(MODES))
    return "By the actions that a task takes at least:\n\n" + table(GOLDEN, rows) if rows else ""


def new_tasks_table(cells: Sequence[Results]) -> str:
    """What share of each phase was new, by label; and which runs do not count, as they never had a new task."""
    by_label: dict[str, dict[int, list[float]]] = {}
    for cell in cells:
        for phase, kept, played in cell.get("new_tasks") or ():
            by_label.setdefault(cell["label"], {}).setdefault(phase, []).append(kept / max(played, 1))
    if not by_label:
        return ""
    phases = sorted({phase for shares in by_label.values() for phase in shares})
    rows = []
    for label, held in by_label.items():
        shares = [mean(held.get(phase, [])) for phase in phases]
        rows.append((label, *("-" if share is None else f"{share:.0%}" for share in shares)))
    head = ("label", *(f"phase {phase}" for phase in phases))
    text = "New tasks of the curriculum, as a share of what a phase played (mean over seeds):\n\n" + table(head, rows)
    left_out = [f"{cell['label']} (seed {cell['seed']})" for cell in cells if without_new_tasks(cell)]
    if left_out:
        text += f"\n**Never had a new task, and are left out of all comparisons:** {', '.join(left_out)}.\n"
    return text


def settings_table(cells: Sequence[Results]) -> str:
    """What the labels do not have in common."""
    last = {cell["label"]: cell["stages"][-1] for cell in cells}
    settings: dict[str, dict[str, Any]] = {}
    for label, stage in last.items():
        spelled = ((SPELLED.get(name, name), value) for name, value in stage["options"].items())
        options = {name: value for name, value in spelled if name is not None}
        settings[label] = {"algorithm": stage["algorithm"], **options}
    names = sorted({name for options in settings.values() for name in options})
    differing = [name for name in names if len({str(options.get(name)) for options in settings.values()}) > 1]
    if not differing:
        return ""
    rows = []
    for label, options in settings.items():
        values = [options.get(name) for name in differing]
        rows.append((label, *("-" if value is None or value == "" else f"`{value}`" for value in values)))
    return "What differs (everything else is the same; all options are in the file):\n\n" + table(
        ("label", *differing), rows
    )


def claims(results: Results) -> list[str]:
    """Orderings that papers report, each with its numbers."""
    found = [f"- {sentence(one)} ({what(one)})" for one in results["comparisons"] if one["source"]]
    return ["\n".join(["## Orderings that papers report\n", *found, ""])] if found else []


def gains(results: Results) -> list[str]:
    """What RL added to the start, and how many runs were warned about."""
    rows = [gain_row(one) for one in results["comparisons"] if not one["source"]]
    warned = sum(bool(cell["warnings"]) for cell in results["cells"])
    parts = ["What RL added:\n\n" + table(GAINS, rows)] if rows else []
    return parts + ([f"{warned} of {len(results['cells'])} runs were warned about while training.\n"] if warned else [])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
