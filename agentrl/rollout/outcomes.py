"""Was the task done? The question that a judge of outcomes is asked about a trajectory, episodes with known outcomes
(what outcome reward models learn from), and how good a judge's probabilities are beside the true evaluator's word."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.policy import Policy
from agentrl.core.seeding import mixed_seed
from agentrl.core.specs import resolve
from agentrl.core.verdicts import Answer, ask
from agentrl.policies import load_policy
from agentrl.rollout.demonstrations import MISTAKES, Demonstrator
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.starts import EnvSpec
from agentrl.rollout.statistics import mean
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.outcome_reward import outcome_state, own_words

OUTCOME = "outcome"
BATCH = 256  # requests asked at once
BINS = 10
THRESHOLD = 0.5
LEAST = 1e-6  # a probability that was 0 or 1 and wrong does not cost infinitely much


# ---------------------------------------------------------------------- asking a judge


def outcome_request(trajectory: Trajectory) -> JudgeRequest:
    """The instruction, the actions, the last page and the answer of an episode, of any environment.

    Nothing of the truth is in it: no success, no reward, no state beyond what the agent was told and said itself, and
    not the environment's remark on the last turn. Equal episodes give equal requests, ids included.
    """
    steps = trajectory.steps
    first = steps[0].observation if steps else trajectory.final_observation
    turns = [(step.action, step.info) for step in steps]
    state, answer = outcome_state(trajectory.system_prompt, first, turns, trajectory.final_observation)
    content = json.dumps([trajectory.env_id, state, answer], sort_keys=True)
    digest = hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=12).hexdigest()
    return JudgeRequest(f"outcome.{digest}", trajectory.env_id, "outcome", answer, state)


def outcomes(trajectories: Sequence[Trajectory], judge: Any, *, batch_size: int = BATCH) -> list[float | None]:
    """How likely each task was done, by a judge (a JSON spec or an object); above 0.5 it counts as done.

    None where nobody can tell yet: the judge did not answer, or a fault cut the episode short. Asking again later
    settles the rest. Equal requests are asked once.
    """
    return [answer.score if isinstance(answer, Verdict) else None for answer in judged(trajectories, judge, batch_size)]


def judged(trajectories: Sequence[Trajectory], judge: Any, batch_size: int = BATCH) -> list[Answer | None]:
    """The verdict about each trajectory, or the fault in its place; None for an episode that a fault cut short."""
    size, chosen = whole_number("batch_size", batch_size, at_least=1), resolve("judge", judge)
    requests = [None if each.fault is not None else outcome_request(each) for each in trajectories]
    distinct = list({request.id: request for request in requests if request is not None}.values())
    answers: dict[str, Answer] = {}
    for start in range(0, len(distinct), size):
        batch = distinct[start : start + size]
        answers |= zip([request.id for request in batch], ask(chosen, batch), strict=True)
    return [None if request is None else answers[request.id] for request in requests]


# ---------------------------------------------------------------------- episodes with known outcomes


@dataclass(frozen=True)
class Example:
    """One episode: the question about it, and the answer of the true evaluator."""

    request: JudgeRequest
    success: bool
    task: str
    player: str
    instructed: bool = False  # by words of its own, not only by the rules that all tasks share
    about: str = ""  # what kind of task it is, where the environment says so (`info["template"]`)


def load_player(name: str, seed: int = 0) -> Policy:
    """A policy by name, or the oracle with a share of mistakes: "random:0.3" (of the turns are random ones) and
    "hasty:0.5" (see `Demonstrator`)."""
    kind, colon, share = name.partition(":")
    if kind not in MISTAKES or not colon:
        return load_policy(name, seed=seed)
    try:
        return Demonstrator(mistake_rate=float(share), mistake_kind=kind, seed=seed)
    except ValueError as error:
        raise ConfigError(f"a player with mistakes is written {kind}:0.3; got {name!r}") from error


def play(
    specs: Sequence[EnvSpec],
    players: Sequence[str],
    episodes: int,
    *,
    split: str,
    seed: int = 0,
    num_envs: int | None = None,
    timeout: float | None = None,
    on_episode: Callable[[Any], Any] | None = None,
) -> list[Trajectory]:
    """`episodes` of each player, divided among the environments; all players get the same tasks, so that instructions
    are followed by successes and failures. A checkpoint (`hf:FOLDER`) is prompted as it was trained."""
    if not players:
        raise ConfigError("there must be at least one player")
    found: list[Trajectory] = []
    for name in players:
        for place, spec in enumerate(specs):
            count = len(range(place, episodes, len(specs)))
            if not count:
                continue
            played: list[Trajectory] = []
            evaluate(
                spec.id,
                load_player(name, mixed_seed(seed, place)),
                count,
                seed,
                split,
                spec.kwargs,
                wrappers=spec.wrappers or None,
                num_envs=num_envs,
                timeout=timeout,
                on_episode=on_episode,
                on_trajectory=lambda trajectory, played=played: played.append(trajectory),
            )
            # In the order of their tasks, whichever ended first; named by what was asked for.
            found += [dataclasses.replace(one, policy=name) for one in sorted(played, key=lambda one: one.seed or 0)]
    return found


def examples(trajectories: Iterable[Trajectory]) -> list[Example]:
    """Those whose outcome the environment itself knows, in order."""
    return [example(one) for one in trajectories if outcome_known(one)]


def example(trajectory: Trajectory) -> Example:
    """One episode with its true outcome."""
    info = trajectory.steps[-1].info
    return Example(
        outcome_request(trajectory),
        trajectory.success,
        trajectory.task or trajectory.id,
        trajectory.policy,
        instructed=bool(own_words(info, "instruction")),
        about=str(info.get("template") or ""),
    )


def outcome_known(trajectory: Trajectory) -> bool:
    """Did the environment decide the episode? Not if a fault cut it short, or if it leaves outcomes to others."""
    if trajectory.fault is not None or not trajectory.steps:
        return False
    last = trajectory.steps[-1]
    asked = any(request.get("term") == OUTCOME for request in last.info.get("judge_requests", ()))
    return "success" in last.info and (OUTCOME not in last.pending or asked)


def mismatched_negatives(given: Sequence[Example], share: float, rng: np.random.Generator) -> list[Example]:
    """Failures made of successes: `share` as many, each with the instruction of another task of its kind.

    The page and the actions are right for some instruction, only not for this one: nothing but reading both tells. Two
    tasks with the same answer, or without instructions of their own, are left alone.
    """
    successes = [one for one in given if one.success]
    told = [one for one in successes if one.instructed]
    wanted = round(share * len(successes))
    kinds: dict[str, list[Example]] = {}
    for one in told:
        kinds.setdefault(one.about, []).append(one)
    made: list[Example] = []
    for index in rng.permutation(len(told)).tolist():
        if len(made) >= wanted:
            break
        one = told[index]
        text, instruction = one.request.text, _instruction(one)
        others = [
            other
            for other in kinds[one.about]
            if _instruction(other) != instruction and (other.request.text != text or not text)
        ]
        if others:
            other = others[int(rng.integers(len(others)))]
            assert isinstance(one.request.state, dict)
            state = {**one.request.state, "instruction": _instruction(other)}
            request = dataclasses.replace(one.request, id=f"{one.request.id}.{other.task}", state=state)
            made.append(dataclasses.replace(one, request=request, success=False, task=other.task, player="mismatched"))
    return made


def _instruction(one: Example) -> str:
    assert isinstance(one.request.state, dict)
    return one.request.state["instruction"]


# ---------------------------------------------------------------------- metrics of a judge


@dataclass(frozen=True)
class Bin:
    """Episodes that were given similar probabilities."""

    low: float
    high: float
    count: int
    probability: float | None  # mean of what the judge said
    success: float | None  # share of what was true


@dataclass(frozen=True)
class OutcomeMetrics:
    """Figures of one judge. Those that cannot be told (no episode, or of one class only) are None.

    `ece` is the expected calibration error: how far the probabilities of a bin are from the share of successes in it,
    by mean over episodes. `base_rate` is the accuracy of always naming the more frequent outcome.
    """

    count: int
    unanswered: int
    success: float | None  # share of true successes
    base_rate: float | None
    accuracy: float | None
    balanced_accuracy: float | None
    precision: float | None
    recall: float | None  # of successes
    specificity: float | None  # of failures
    auc: float | None
    brier: float | None
    nll: float | None
    ece: float | None
    confusion: dict[str, int]  # true_yes, false_yes, true_no, false_no
    bins: tuple[Bin, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "bins": [asdict(each) for each in self.bins]}


def outcome_metrics(
    probabilities: Sequence[float | None], truth: Sequence[bool], *, threshold: float = THRESHOLD, bins: int = BINS
) -> OutcomeMetrics:
    """Compare; None is an episode that the judge did not answer, which is counted and left out of the rest."""
    pairs = [(p, bool(t)) for p, t in zip(probabilities, truth, strict=True) if p is not None]
    yes, no = [p for p, t in pairs if t], [p for p, t in pairs if not t]
    confusion = {
        "true_yes": sum(p > threshold for p in yes),
        "false_yes": sum(p > threshold for p in no),
        "true_no": sum(p <= threshold for p in no),
        "false_no": sum(p <= threshold for p in yes),
    }
    recall, specificity = _share(confusion["true_yes"], len(yes)), _share(confusion["true_no"], len(no))
    table = reliability(pairs, bins)
    success = _share(len(yes), len(pairs))
    return OutcomeMetrics(
        count=len(pairs),
        unanswered=len(probabilities) - len(pairs),
        success=success,
        base_rate=None if success is None else max(success, 1 - success),
        accuracy=_share(confusion["true_yes"] + confusion["true_no"], len(pairs)),
        balanced_accuracy=None if recall is None or specificity is None else (recall + specificity) / 2,
        precision=_share(confusion["true_yes"], confusion["true_yes"] + confusion["false_yes"]),
        recall=recall,
        specificity=specificity,
        auc=auc(yes, no),
        brier=mean([(p - t) ** 2 for p, t in pairs]),
        nll=mean([-math.log(max(LEAST, p if t else 1 - p)) for p, t in pairs]),
        ece=mean([abs(each.probability - each.success) for each in table for _ in range(each.count)]),  # type: ignore[operator]
        confusion=confusion,
        bins=table,
    )


def reliability(pairs: Sequence[tuple[float, bool]], bins: int = BINS) -> tuple[Bin, ...]:
    """The episodes in `bins` equal parts of the probabilities."""
    inside: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for probability, true in pairs:
        inside[min(bins - 1, int(probability * bins))].append((probability, true))
    return tuple(
        Bin(n / bins, (n + 1) / bins, len(each), mean([p for p, _ in each]), mean([float(t) for _, t in each]))
        for n, each in enumerate(inside)
    )


def auc(yes: Sequence[float], no: Sequence[float]) -> float | None:
    """How often a success has a higher probability than a failure; ties count half."""
    if not yes or not no:
        return None
    ordered = sorted([(p, True) for p in yes] + [(p, False) for p in no])
    won, below, place = 0.0, 0, 0
    while place < len(ordered):
        tied = place
        while tied < len(ordered) and ordered[tied][0] == ordered[place][0]:
            tied += 1
        right = sum(is_yes for _, is_yes in ordered[place:tied])
        wrong = tied - place - right
        won += right * (below + wrong / 2)
        below, place = below + wrong, tied
    return won / (len(yes) * len(no))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
