"""Was the task done? The question that a judge of outcomes is asked about a trajectory, and its answers in bulk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.specs import resolve
from agentrl.core.verdicts import Answer, ask
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.outcome_record import outcome_state

BATCH = 256


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
