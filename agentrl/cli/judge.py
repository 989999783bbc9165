"""`agentrl judge FILE`: judge trajectories again, and compare judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, JudgeText, judge_spec
from agentrl.cli.output import log, number, print_json, print_table, progress
from agentrl.core.errors import ConfigError
from agentrl.core.secrecy import scrub
from agentrl.core.specs import resolve
from agentrl.rollout.agreement import Agreement, compare, distinct_requests, recorded_scores, scores_by
from agentrl.rollout.judging import Report, check_judge, settle
from agentrl.rollout.statistics import mean
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import images_folder, read_trajectories, write_trajectories

RECORDED = "recorded"
BATCH = 128  # requests between two signs of life


@dataclass(kw_only=True)
class Arguments(Common):
    """Judge the descriptions in a file of trajectories, as `agentrl eval --output` keeps it.

    Everything is judged again and rewards are worked out anew; --pending judges only what is still owed. The file is
    left alone: --output writes the result. Fails when the judge answered nothing of what it was asked.
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """The trajectories."""
    judge: JudgeText = "rule"
    """The judge: a kind, or JSON such as '{"kind": "llm", "model": "..."}'."""
    output: Path | None = None
    """File for the judged trajectories."""
    pending: bool = False
    """Judge only what has no verdict yet."""
    against: JudgeText = ""
    """Compare with another judge, or with "recorded", the verdicts in the file."""
    threshold: float = 0.5
    """Score from which a description counts as correct, for the agreement rate and kappa."""


def run(arguments: Arguments) -> int:
    """Compare, judge, write, print."""
    check_output(arguments)
    judge = resolve("judge", spec := judge_spec("--judge", arguments.judge))
    trajectories = read_trajectories(arguments.file)
    check_judge(judge, trajectories)
    before, agreements = rewards(trajectories), None
    others = other_scores(trajectories, arguments)  # before the verdicts in the file are replaced
    report = judged(trajectories, judge, arguments)
    if others is not None:
        requests = distinct_requests(trajectories)
        # Everything has just been judged: the file knows it. With --pending it may hold another judge's word.
        own = scores_by(judge, requests) if arguments.pending else recorded_scores(trajectories)
        agreements = compare(requests, own, others, arguments.threshold)
    if arguments.output is not None:
        write_trajectories(arguments.output, trajectories, images_folder(arguments.file))
        log(f"written: {arguments.output}")
    result = summary(arguments, spec, trajectories, report, before, agreements)
    print_json(result) if arguments.json else show(result)
    return 0 if report.judged or not report.requests else 1


def judged(trajectories: Sequence[Trajectory], judge: Any, arguments: Arguments) -> Report:
    """Judge, and say how far it is and what goes wrong first: a judge at a remote endpoint may take hours."""
    requests = distinct_requests(trajectories)
    log(f"{arguments.file}: {len(requests)} different requests in {len(trajectories)} trajectories")
    told = False
    with progress("judging", len(requests)) as advance:

        def heard(count: int, report: Report) -> None:
            nonlocal told
            if report.first_fault and not told:
                log(f"no verdict: {report.first_fault}")
                told = True
            advance(count)

        return settle(trajectories, judge, batch_size=BATCH, again=not arguments.pending, on_batch=heard)


def check_output(arguments: Arguments) -> None:
    """Judging everything again into the same file would lose verdicts whenever the new judge fails."""
    same = arguments.output is not None and arguments.output.resolve() == arguments.file.resolve()
    if same and not arguments.pending:
        raise ConfigError("--output is the input file; choose another, or judge only what is pending with --pending")


def other_scores(trajectories: Sequence[Trajectory], arguments: Arguments) -> dict[str, float] | None:
    """What the other side says about every different request; None where there is no other side."""
    if not arguments.against:
        return None
    if arguments.against == RECORDED:
        return recorded_scores(trajectories)
    return scores_by(resolve("judge", judge_spec("--against", arguments.against)), distinct_requests(trajectories))


def rewards(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """How many have a reward, and its mean."""
    known = [trajectory.reward for trajectory in trajectories if trajectory.reward is not None]
    return {"known": len(known), "mean": mean(known)}


def mean_scores(trajectories: Sequence[Trajectory]) -> dict[str, float | None]:
    """The mean score of each term."""
    found: dict[str, list[float]] = {}
    for step in (step for trajectory in trajectories for step in trajectory.steps):
        for term, verdict in step.info.get("verdicts", {}).items():
            found.setdefault(term, []).append(verdict["score"])
    return {term: mean(scores) for term, scores in sorted(found.items())}


def summary(
    arguments: Arguments,
    spec: Any,
    trajectories: Sequence[Trajectory],
    report: Report,
    before: dict[str, Any],
    agreements: dict[str, Agreement] | None,
) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "schema": 1,
        "file": str(arguments.file),
        "output": None if arguments.output is None else str(arguments.output),
        "judge": scrub(spec),
        "trajectories": len(trajectories),
        **report.to_json(),
        "scores": mean_scores(trajectories),
        "rewards": {"before": before, "after": rewards(trajectories)},
        "against": scrub(judge_spec("--against", arguments.against)) if arguments.against else None,
        "agreement": None if agreements is None else {name: one.to_json() for name, one in agreements.items()},
    }


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    rewarded = result["rewards"]
    rows = [
        ("trajectories", result["trajectories"]),
        ("requests", f"{result['requests']} ({result['distinct']} different)"),
        ("judged", result["judged"]),
        ("faults", result["faults"]),
        *([("first fault", result["first_fault"])] if result["first_fault"] else []),
        *((f"mean score, {term}", number(score)) for term, score in result["scores"].items()),
        *(
            (f"reward {when}", f"{number(rewarded[when]['mean'])} ({rewarded[when]['known']} known)")
            for when in ("before", "after")
        ),
        ("cost", number(result["cost"], 4)),
        ("seconds", number(result["seconds"], 2)),
    ]
    print_table(("figure", "value"), rows, title=f"{result['file']}: judged by {result['judge']}")
    if result["agreement"] is not None:
        columns = ("purpose", "pairs", "missing", "agree", "mean difference", "correlation", "kappa")
        rows = [
            (
                name,
                a["pairs"],
                a["missing"],
                *map(number, (a["rate"], a["mean_difference"], a["correlation"], a["kappa"])),
            )
            for name, a in result["agreement"].items()
        ]
        print_table(
            columns,
            rows,
            title=f"Agreement with {result['against']}, right from {result['agreement']['all']['threshold']}",
        )
