"""`index.md`: every claim that was tested, in one table, and a page for each experiment.

`make docs` writes them from the results kept in `benchmarks/results`, `agentrl bench learning` from those of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentrl.viewer.eval_report import short_name
from benchmarks.learning.compare import Results
from benchmarks.learning.experiment import Experiment
from benchmarks.learning.experiment_page import table, write_experiment_page
from benchmarks.learning.paper_claims import CLAIMS as PAPER_CLAIMS
from benchmarks.learning.paper_claims import HEAD as PAPER_HEAD
from benchmarks.learning.paper_claims import claim_row, counts, overall, readings
from benchmarks.learning.provenance import CHANGES, OLDER, is_older
from benchmarks.learning.results import read_results, store

PAPERS = """## What the papers say

Each claim about training of the four papers, with all comparisons here that bear on it: **holds** where every one of
them holds, **does not hold** where some are reversed and none holds, **cannot tell** otherwise, **not run** where
nothing was run, with what that would need. `difference` is that of sampled success, from the least to the largest.
Results of older code are marked, and count only where there are no others.
"""
CLAIMS = ("claim", "paper", "task", "verdict", "hold / open / reversed", "difference", "seeds")
MAX_RIVALS = 3  # named in a claim; the page of the experiment lists them all
INTRODUCTION = """# Learning experiments

Which orderings of papers hold at a size where everyone can repeat them. Tiny models (`tiny-text`: 300,000 weights) and
one thread a run, or SmolLM2-135M on a GPU where the task says so: tests of orderings, not of the papers' numbers.
Tasks are in text; success is on unseen levels of the test split. All seeds of a condition begin with the same
imitation, of demonstrations in which about half of the turns repeat the first right action instead of looking further
(in experiments called `one-move`, one of four moves is random).
"""
READING = """A claim is compared in sampled and in greedy play, and with each rival it names. Where the outcome of every
level was kept, a comparison is paired: it *holds* (or is *reversed*) when McNemar's exact test gives p below 0.05 and
the paired bootstrap's 95 % interval, in which seeds and levels are drawn anew, does not contain 0. Older results kept
rates only: there the two 95 % intervals (Wilson's) must be disjoint. Else it is *open*. The verdict is **holds** when
every comparison holds, **does not hold** when some are reversed and none holds, and **cannot tell** otherwise.
`difference` is that of sampled success, from the least to the largest; `seeds` are those of the condition that has the
fewest.

Before it trains, an experiment compares the advantages that its conditions compute on the same episodes of the start
policy. Above a correlation of 0.98 a comparison is marked "cannot tell": other seeds would not help it. Experiments
from before this check have no such table on their pages.
"""
NO_BREAK = "\N{NO-BREAK SPACE}"


def write_pages(
    results: str | os.PathLike[str], folder: str | os.PathLike[str], experiments: Iterable[Experiment]
) -> list[Path]:
    """Write `index.md` and a page for each experiment whose numbers are in `results`; [] where there is none."""
    place, written, experiments = Path(folder), list[Path](), list(experiments)
    found = [(one, kept) for one in experiments if (kept := read_results(Path(results), one))]
    for experiment, kept in found:
        written += write_experiment_page(place, experiment, kept)
    if found:
        store(place / "index.md", claims_page(found, experiments).encode())
        written.append(place / "index.md")
    return written


def claims_page(found: Sequence[tuple[Experiment, Results]], experiments: Sequence[Experiment]) -> str:
    """The table of claims, the experiments that test no claim, how to read and how to repeat them."""
    rows = [row for experiment, results in found for row in claim_rows(experiment, results)]
    known = {one.name: results for one, results in found}
    others = [(f"{one.question}.", f"[{one.name}]({one.name}.md)") for one, _ in found if not one.claims]
    papers = [_marked(claim_row(claim, known)) for claim in PAPER_CLAIMS]
    not_run = [one for one in experiments if one.name not in known]
    parts = [
        INTRODUCTION,
        PAPERS,
        f"{CHANGES}\n",
        table(PAPER_HEAD, papers),
        "".join(f"- {line}\n" for line in readings(PAPER_CLAIMS, known)),
        "## Each comparison\n\n" + table(CLAIMS, rows) if rows else "",
        READING,
        "Experiments that test no claim of a paper:\n\n" + table(("question", "page"), others) if others else "",
        "`agentrl bench learning NAME` repeats an experiment; its page has numbers, settings and provenance.\n",
        "## Not run\n" if not_run else "",
        "".join(f"- `{one.name}`: {one.question}.\n" for one in not_run),
        "\n".join(["```{toctree}\n:hidden:\n", *(experiment.name for experiment, _ in found), "```\n"]),
    ]
    return "\n".join(part for part in parts if part)


def _marked(row: tuple[str, ...]) -> tuple[str, ...]:
    """With the verdict in bold."""
    paper, text, word, *rest = row
    return (
        paper,
        text,
        f"**{word}**".replace(" ", NO_BREAK),
        *(part.replace(" / ", f"{NO_BREAK}/{NO_BREAK}") for part in rest),
    )


def claim_rows(experiment: Experiment, results: Results) -> list[tuple[str, ...]]:
    """One for each condition that a paper puts above others."""
    held: dict[tuple[str, str], list[Results]] = {}
    for one in results["comparisons"]:
        if one["source"]:
            held.setdefault((one["source"], one["higher"]), []).append(one)
    rows = []
    for (source, higher), compared in held.items():
        rivals = list(dict.fromkeys(one["lower"] for one in compared))
        named = "; ".join(_shortened(lower, higher) for lower in rivals)
        title = f"{higher} above {named if len(rivals) <= MAX_RIVALS else f'{len(rivals)} others'}"
        verdicts = [one["verdict"] for one in compared]
        sampled = [one["difference"] for one in compared if one["mode"] == "sampled" and "measure" not in one]
        finished = [cell["label"] for cell in results["cells"] if cell["finished"]]
        rows.append(
            (
                f"[{title}]({experiment.name}.md)" + (f" ({OLDER})" if is_older(results) else ""),
                source,
                _task(results),
                f"**{overall(verdicts)}**".replace(" ", NO_BREAK),
                counts(verdicts).replace(" ", NO_BREAK),
                " to ".join(dict.fromkeys(f"{value:+.3f}" for value in (min(sampled), max(sampled)))),
                str(min(finished.count(label) for label in (higher, *rivals))),
            )
        )
    return rows


def _shortened(lower: str, higher: str) -> str:
    """A label without what it has in common with the one it is compared with: "x, natural" above "symbolic"."""
    head, _, tail = lower.partition(", ")
    return tail if tail and higher.startswith(f"{head}, ") else lower


def _task(results: Results) -> str:
    """Environment, what is special about it, and the model where it is not a tiny one."""
    stages = results["cells"][0]["stages"]
    names = ", ".join(short_name(name).removesuffix(" Text") for name in stages[-1]["options"].get("env", ()))
    further = [word for word in ("long", "hasty") if word in results["experiment"].split("-")]
    real = ["SmolLM2"] if stages[0]["options"].get("model") == "smollm2" else []
    return ", ".join([names, *further, *real])
