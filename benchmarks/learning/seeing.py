"""Does a policy see what it describes? `python -m benchmarks.learning.seeing EXPERIMENT` asks the finished runs.

A finished policy plays, and the rule judge scores its observations (`own`). The same texts are then judged about the
states of other episodes (`others`): a policy that does not look at its picture scores the same there. `constant` is the
best single text, chosen among the policy's commonest on one half of the states and scored on the other.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agentrl.algorithms import arguments_class
from agentrl.core.cache import write_atomically
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.seeding import episode_seed
from agentrl.judges.rule import RuleJudge
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, Start
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.run import RunArguments
from benchmarks.learning.cell import DONE, final_policy
from benchmarks.learning.conditions import run_options
from benchmarks.learning.experiment import Experiment, PlannedRun
from benchmarks.learning.table import EXPERIMENTS

EPISODES = 256
CONSTANTS = 32  # so many of its commonest texts are tried as an answer for all


@dataclass(frozen=True)
class Seen:
    """Scores of observations, from 0 to 1, with the standard error of `own`."""

    own: float
    own_error: float
    others: float
    constant: float
    judged: float  # the share of the turns that were in form, and so are counted
    turns: int
    success: float


def seen_by(arguments: RunArguments, episodes: int = EPISODES, *, greedy: bool = False) -> Seen:
    """Of the model that the arguments name, on unseen levels."""
    measured = replace(arguments, judge="rule")
    policy = HFPolicy(
        measured.model,
        temperature=measured.temperature,
        greedy=greedy,
        max_new_tokens=measured.max_new_tokens,
        device=measured.device,
    )
    style: dict[str, Any] = {"prompt_style": measured.prompt_style, "history": measured.history}
    collector = Collector(measured.specs(), policy, split=measured.eval_split, num_envs=measured.num_envs, **style)
    try:
        played = collector.collect([Start(episode_seed(0, number)) for number in range(episodes)]).trajectories
    finally:
        collector.close()
    return compared(played)


def compared(played: Sequence[Trajectory]) -> Seen:
    """The observations of some episodes: about their own states, about others', and the best constant."""
    asked = [
        (number, JudgeRequest(**{name: request[name] for name in JudgeRequest.__dataclass_fields__}))
        for one in played
        for number, step in enumerate(one.steps)
        for request in step.info["judge_requests"]
        if request["purpose"] == "grounding"
    ]
    if not asked:
        raise ValueError("no turn is in form: nothing was described")
    asked.sort(key=lambda found: found[0])  # prompts tell the turn: texts are moved to states of the same one
    requests = [request for _, request in asked]
    moved = requests[1:] + requests[:1]
    own = scores(requests)
    others = scores([replace(one, text=other.text) for one, other in zip(requests, moved, strict=True)])
    turns = sum(len(one.steps) for one in played)
    return Seen(
        own=float(own.mean()),
        own_error=float(own.std() / len(own) ** 0.5),
        others=float(others.mean()),
        constant=best_constant(requests),
        judged=len(requests) / turns,
        turns=turns,
        success=float(np.mean([one.success for one in played])),
    )


def best_constant(requests: Sequence[JudgeRequest]) -> float:
    """The score on odd requests of the text that is best on even ones."""
    texts = [text for text, _ in Counter(one.text for one in requests).most_common(CONSTANTS)]
    found = np.array([scores([replace(one, text=text) for one in requests]) for text in texts])
    return float(found[found[:, ::2].mean(1).argmax(), 1::2].mean())


def scores(requests: Sequence[JudgeRequest]) -> np.ndarray:
    """Of the rule judge."""
    verdicts = RuleJudge().score_sync(requests)
    assert all(isinstance(verdict, Verdict) for verdict in verdicts)
    return np.array([verdict.score for verdict in verdicts if isinstance(verdict, Verdict)])


def finished(folder: Path, experiment: Experiment) -> dict[str, PlannedRun]:
    """The runs of an experiment that are done, by the title of their cell; the start they share is `imitation`."""
    found = {}
    for cell in experiment.cells:
        chain = cell.runs()
        found |= {"imitation": chain[0], cell.title: chain[-1]}
    return {title: run for title, run in found.items() if (folder / run.name / DONE).exists()}


def main() -> None:
    """Measure every finished run; print and write the figures."""
    parser = argparse.ArgumentParser(description="Do the policies of an experiment see what they describe?")
    parser.add_argument("experiment", choices=[name for name in EXPERIMENTS if "visual" in name])
    parser.add_argument("--output", default="runs/learning", help="the folder of the runs")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    words = parser.parse_args()
    folder, experiment, found = Path(words.output).absolute(), EXPERIMENTS[words.experiment], {}
    for title, run in finished(folder, experiment).items():
        options = run_options(run.algorithm, run.options) | {"model": final_policy(folder / run.name)}
        arguments = arguments_class(run.algorithm).from_json(json.loads(json.dumps(options)))
        found[title] = {name: round(value, 4) for name, value in asdict(seen_by(arguments, words.episodes)).items()}
        print(title, json.dumps(found[title]), flush=True)
    write_atomically(folder / "results" / f"seeing_{experiment.name}.json", json.dumps(found, indent=1).encode())


if __name__ == "__main__":
    main()
