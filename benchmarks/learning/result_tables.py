"""What the kept results say on pages that people write: `python -m benchmarks.learning.result_tables` writes it anew.

These are the tables of `docs/results/learning.md`, between two comments, and the verdicts of `docs/papers.md`; tests
compare both with the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentrl.core.cache import write_atomically
from agentrl.core.measure import CHECKOUT
from benchmarks.learning import scarce_web
from benchmarks.learning.compare import Results, pools, sentence
from benchmarks.learning.experiment import Experiment
from benchmarks.learning.experiment_page import primary_section, table
from benchmarks.learning.paper_claims import CLAIMS, PaperClaim, claim_row
from benchmarks.learning.provenance import OLDER, is_older
from benchmarks.learning.results import KEPT, clipped_shares, read_results
from benchmarks.learning.scarce import NAME, SWEEP
from benchmarks.learning.table import EXPERIMENTS, SWEEPS
from benchmarks.learning.tuned import best

LEARNING, PAPERS = CHECKOUT / "docs" / "results" / "learning.md", CHECKOUT / "docs" / "papers.md"
BEGIN, END = "<!-- tables: python -m benchmarks.learning.result_tables -->", "<!-- end of tables -->"
SHOWN = (NAME, SWEEP, scarce_web.NAME, "one-move-steppo", "one-move-estimators", "one-move-clips")
WORDS = {"holds": "**held**", "does not hold": "**did not hold**", "cannot tell": "**cannot be told**"}
NUMBERS = dict(enumerate(["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]))
HEAD = ("condition", "seeds", "start", "sampled", "95 % interval", "greedy", "clipped")


def tables() -> str:
    """One section for each experiment."""
    return "\n".join(section(EXPERIMENTS[name], read_results(KEPT, EXPERIMENTS[name])) for name in SHOWN)


def section(experiment: Experiment, results: Results | None) -> str:
    """Question, command and figures; a sweep says what it chose."""
    mark = f" ({OLDER})" if results is not None and is_older(results) else ""
    lines = [f"### `{experiment.name}`{mark}\n", f"{experiment.question}.\n"]
    if results is None:
        return "\n".join([*lines, f"Not run yet: `agentrl bench learning {experiment.name}`.\n"])
    done = f"{results['finished']} of {results['planned']} cells"
    lines += [f"`{results['command']}`: {done}, commit `{results['commit']}`.\n", figures(results["cells"])]
    if planned := primary_section(experiment, results):
        lines.append(planned.replace("## Primary", "#### Primary", 1))
    ordered = [one for one in results["comparisons"] if one["source"] and one["mode"] == "sampled"]
    lines += ["".join(f"- {sentence(one)}\n" for one in ordered)] if ordered else []
    if experiment.name in SWEEPS:
        chosen = best(results["cells"], SWEEPS[experiment.name])
        said = [f"{method}: " + ", ".join(f"{n} {v:g}" for n, v in own.items()) for method, own in chosen.items()]
        lines.append(f"Chosen: {'; '.join(said)}.\n")
    return "\n".join(lines)


def figures(cells: Sequence[Results]) -> str:
    """Every condition: held-out success, and the share of ratios that its clip held back."""
    sampled, greedy, before = pools(cells, "sampled"), pools(cells, "greedy"), pools(cells, "sampled", "start")
    clipped = clipped_shares(cells)
    rows = []
    for label, pool in sampled.items():
        low, high = pool.interval
        rows.append(
            (
                label,
                str(len(pool.seeds)),
                f"{before[label].rate:.3f}" if label in before else "-",
                f"{pool.rate:.3f}",
                f"{low:.3f} to {high:.3f}",
                f"{greedy[label].rate:.3f}" if label in greedy else "-",
                "-" if (share := clipped.get(label)) is None else f"{share:.3f}",
            )
        )
    return table(HEAD, rows)


def with_tables(page: str) -> str:
    """The page with the tables of the present results."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{rest.partition(END)[2]}"


def with_verdicts(page: str) -> str:
    """The page with the verdicts of the present results, in the last cell of each claim that was compared."""
    measured = {name: kept for name, one in EXPERIMENTS.items() if (kept := read_results(KEPT, one))}
    said = {claim.text: verdict(claim, measured) for claim in CLAIMS if claim.pairs}
    lines = []
    for line in page.splitlines():
        claim, *others = line.strip("|").split("|")
        if said.get(claim.strip()):
            line = "|".join(["", claim, *others[:-1], f" {said[claim.strip()]} |"])
        lines.append(line)
    return "\n".join(lines) + "\n"


def verdict(claim: PaperClaim, measured: Mapping[str, Results]) -> str:
    """Such as `**held**: +0.413, three seeds; older code`; "" where nothing was run."""
    _, _, word, _, span, seeds, names = claim_row(claim, measured)
    if word not in WORDS:
        return ""
    spoken = " to ".join(NUMBERS[int(number)] for number in seeds.split(" to "))
    ran = [name for name in names.split(", ") if "(not run)" not in name]
    mark = f"; {OLDER}" if all(OLDER in name for name in ran) else ""
    return f"{WORDS[word]}: {span}, {spoken} {'seed' if spoken == 'one' else 'seeds'}{mark}"


if __name__ == "__main__":
    write_atomically(LEARNING, with_tables(LEARNING.read_text()).encode())
    write_atomically(PAPERS, with_verdicts(PAPERS.read_text()).encode())
