"""`agentrl orm ID`: measure judges of outcomes against the true evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, JsonText, JudgeText, Split, json_list, json_object, judge_spec
from agentrl.cli.output import log, number, print_json, print_table, progress
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import Verdict
from agentrl.core.secrecy import scrub
from agentrl.core.specs import resolve
from agentrl.rollout.demonstrations import PLAYERS
from agentrl.rollout.outcomes import OutcomeMetrics, judged, outcome_known, outcome_metrics, play
from agentrl.rollout.starts import EnvSpec
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter, read_trajectories

ALL = "all"


@dataclass(kw_only=True)
class Arguments(Common):
    """Measure judges of outcomes: accuracy, calibration and confusion against the environment's own evaluator.

    Several players play the same tasks, or the episodes come from files (as `agentrl eval --output` and training runs
    write them). Every judge is asked the same: instruction, actions, last page and answer. Fails when a judge
    answered nothing.
    """

    id: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ID")] = ""
    """Environment id; `agentrl list` shows them. Not needed with --data."""
    judge: JudgeText
    """The judge, for example '{"kind": "orm", "model": "runs/orm"}'."""
    against: JudgeText = ""
    """Another one to measure beside it, for example '{"kind": "outcome", "model": "...", "base_url": "..."}'."""
    data: tuple[Path, ...] = ()
    """Measure on these trajectory files instead of playing."""
    players: tuple[str, ...] = PLAYERS
    """Who plays: policies by name (oracle, random, hf:FOLDER ...), and the oracle with a share of mistakes: random:0.3,
    hasty:0.5."""
    episodes: int = 200
    """Episodes of each player."""
    split: Split = "test"
    """Split of the tasks."""
    seed: int = 0
    """Seed of the tasks and of the players."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""
    wrap: JsonText = "[]"
    """Wrappers, innermost first, as a JSON list."""
    threshold: float = 0.5
    """Probability above which a judge says that the task was done."""
    output: Path | None = None
    """Write the episodes that were played to this file (JSON lines)."""


def run(arguments: Arguments) -> int:
    """Play or read, ask every judge, print."""
    if not 0 <= arguments.threshold < 1:
        raise ConfigError(f"--threshold must be at least 0 and below 1; got {arguments.threshold}")
    if bool(arguments.id) == bool(arguments.data):
        raise ConfigError("give the id of an environment to play in, or --data")
    named = {"judge": judge_spec("--judge", arguments.judge)}
    named |= {"against": judge_spec("--against", arguments.against)} if arguments.against else {}
    judges = {
        name: resolve("judge", spec) for name, spec in named.items()
    }  # a misspelt one is said before anyone plays
    found = [one for one in episodes(arguments) if outcome_known(one)]
    if not found:
        raise ConfigError("there is no episode with a known outcome to measure on")
    results = []
    for name, judge in judges.items():
        log(f"{name}: {len(found)} episodes")
        results.append({"judge": scrub(named[name]), **measured(found, judge, arguments.threshold)})
    result = {
        "schema": 1,
        "id": arguments.id if not arguments.data else None,
        "data": [str(path) for path in arguments.data],
        "split": None if arguments.data else arguments.split,
        "seed": arguments.seed,
        "episodes": len(found),
        "threshold": arguments.threshold,
        "judges": results,
    }
    print_json(result) if arguments.json else show(result)
    return 0 if all(one["players"][ALL]["count"] for one in results) else 1


def episodes(arguments: Arguments) -> list[Trajectory]:
    """From files, or played now."""
    if arguments.data:
        return [trajectory for path in arguments.data for trajectory in read_trajectories(path)]
    count = whole_number("--episodes", arguments.episodes, at_least=1)
    kwargs, wrappers = json_object("--env-kwargs", arguments.env_kwargs), json_list("--wrap", arguments.wrap)
    spec = EnvSpec(arguments.id, kwargs, tuple(wrappers))
    seed = whole_number("--seed", arguments.seed, at_least=0)
    with progress("playing", count * len(arguments.players)) as advance:
        told = lambda episode: advance()  # noqa: E731
        found = play([spec], arguments.players, count, split=arguments.split, seed=seed, on_episode=told)
    if arguments.output is not None:
        with TrajectoryWriter(arguments.output) as writer:
            for trajectory in found:
                writer.write(trajectory)
    return found


def measured(found: Sequence[Trajectory], judge: Any, threshold: float) -> dict[str, Any]:
    """The figures of a judge on all episodes and on those of each player."""
    answers = judged(found, judge)
    faults = [str(answer) for answer in answers if isinstance(answer, JudgeFault)]
    scores = [answer.score if isinstance(answer, Verdict) else None for answer in answers]
    names = [ALL, *dict.fromkeys(one.policy for one in found)]
    players = {name: _figures(name, found, scores, threshold).to_json() for name in names}
    return {"players": players, "first_fault": scrub(faults[0]) if faults else ""}


def _figures(
    player: str, found: Sequence[Trajectory], scores: Sequence[float | None], threshold: float
) -> OutcomeMetrics:
    chosen = [(score, one.success) for score, one in zip(scores, found, strict=True) if player in (ALL, one.policy)]
    return outcome_metrics([score for score, _ in chosen], [true for _, true in chosen], threshold=threshold)


def show(result: dict[str, Any]) -> None:
    """Tables for a person."""
    for one in result["judges"]:
        columns = (
            "player",
            "episodes",
            "success",
            "base rate",
            "accuracy",
            "balanced",
            "AUC",
            "ECE",
            "Brier",
            "silent",
        )
        keys = ("success", "base_rate", "accuracy", "balanced_accuracy", "auc", "ece", "brier")
        rows = [
            (name, each["count"], *(number(each[key]) for key in keys), each["unanswered"])
            for name, each in one["players"].items()
        ]
        place = ", ".join(result["data"]) or f"{result['id']}, split {result['split']}"
        print_table(columns, rows, title=f"{one['judge']} on {place}")
        confusion, bins = one["players"][ALL]["confusion"], one["players"][ALL]["bins"]
        rows = [
            ("done", confusion["true_yes"], confusion["false_no"]),
            ("not done", confusion["false_yes"], confusion["true_no"]),
        ]
        print_table(("in truth", "says YES", "says NO"), rows, title="Confusion")
        rows = [
            (
                f"{each['low']:.1f} to {each['high']:.1f}",
                each["count"],
                number(each["probability"]),
                number(each["success"]),
            )
            for each in bins
            if each["count"]
        ]
        print_table(("probability", "episodes", "mean", "success"), rows, title="Reliability")
        if one["first_fault"]:
            log(f"no verdict: {one['first_fault']}")
