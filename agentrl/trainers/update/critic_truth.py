"""What a critic is told that the policy is not: a few numbers for every turn, from `GoldInfo` and the policy itself.

How far it is to the goal and how much time is left says little about *this* policy's chances. How likely the policy is
to give the right reply says more, so the critic is told that too: once before an update and without a gradient, the
policy reads the prompts with the right reply behind them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.update.batch import Batch, Row

if TYPE_CHECKING:
    from agentrl.trainers.update.learner import Learner

FACTS = 7
NEVER = -5.0  # the log-probability of a token that is as good as impossible


class Moment(NamedTuple):
    """The beginning of a turn, or what comes after the last one."""

    gold: dict[str, Any] | None
    prompt_ids: list[int]
    pictures: list[Any]
    step: Step | None = None  # what became of it

    @classmethod
    def of(cls, trajectory: Trajectory, turn: int) -> Moment:
        """Before a turn of a trajectory; before the turn after the last one, it is the end."""
        steps = trajectory.steps
        step = steps[turn] if turn < len(steps) else None
        gold, prompt, images = (
            (trajectory.final_gold, trajectory.final_prompt_ids, trajectory.final_images)
            if step is None
            else (step.gold, step.prompt_ids, step.images)
        )
        earlier = steps[:turn] if trajectory.prompt_style == "conversation" else []
        shown = [name for one in earlier for name in one.images] + images
        return cls(gold, prompt or [], [trajectory.pictures[name] for name in shown], step)


def tell_critic(learner: Learner, batch: Batch) -> None:
    """Give every target of a batch the facts of its turn."""
    turns = [(row.trajectory, step) for row in batch.rows for step in dict.fromkeys(row.steps)]
    found = facts_of(learner, [Moment.of(batch.trajectories[number], step) for number, step in turns])
    known = dict(zip(turns, found, strict=True))
    for row in batch.rows:
        row.facts = np.stack([known[row.trajectory, step] for step in row.steps])


def facts_of(learner: Learner, moments: Sequence[Moment]) -> np.ndarray:
    """`[moments, FACTS]`, float32."""
    replies = [right_reply(learner, moment) for moment in moments]
    scores = [recorded(learner, moment, reply) for moment, reply in zip(moments, replies, strict=True)]
    asked = [place for place, reply in enumerate(replies) if reply and scores[place] is None]
    rows = []
    for place in asked:
        prompt, reply = moments[place].prompt_ids, replies[place]
        rows.append(Row(0, [*prompt, *reply], images=moments[place].pictures))
        rows[-1].add(len(prompt), reply, [0.0] * len(reply), 0, acted=True)
    for place, found in zip(asked, learner.logprobs(rows) if rows else [], strict=True):
        scores[place] = found
    numbers = [numbers_of(moment.gold, found) for moment, found in zip(moments, scores, strict=True)]
    return np.array(numbers, np.float32).reshape(-1, FACTS)


def right_reply(learner: Learner, moment: Moment) -> list[int]:
    """Its tokens, as far as the policy could write them; none where it is not known."""
    if moment.gold is None or moment.gold["reply"] is None:
        return []
    engine = learner.engine
    end, room = engine.tokenizer.eos_token_id, engine.context - len(moment.prompt_ids)
    reply = [*engine.encoder.text_ids(moment.gold["reply"]), *([] if end is None else [end])]
    return reply[: max(0, min(learner.options.max_new_tokens, room))]


def recorded(learner: Learner, moment: Moment, reply: list[int]) -> Tensor | None:
    """Where the policy of now gave the right reply itself, its log-probabilities stand in the record already."""
    step = moment.step
    if step is None or step.logprobs is None or not reply or step.response_ids != reply:
        return None
    return torch.tensor(step.logprobs) if learner.exact and step.version == learner.iteration else None


def numbers_of(gold: dict[str, Any] | None, logprobs: Tensor | None) -> list[float]:
    """1 where anything is told. Then from -1 to 1, and 0 where it is not known: turns left, as a share of all; actions
    needed, as a share of all, and of twice those left; how likely the right reply's first token is, all of it, and (in
    logarithms) its mean token."""
    if gold is None:
        return [0.0] * FACTS
    actions, turns, left, each = (gold[name] for name in ("actions", "turns", "turns_left", "turn_actions"))
    found: list[float | None] = [None] * (FACTS - 1)
    if turns and left is not None:
        found[0] = left / turns
        if actions is not None and each:
            found[1:3] = actions / (turns * each), actions / (2 * max(1, left * each))
    if logprobs is not None:
        found[3:] = math.exp(logprobs[0]), math.exp(logprobs.sum()), 1 - float(logprobs.mean()) / NEVER
    return [1.0, *(0.0 if share is None else 2 * min(1.0, max(0.0, share)) - 1 for share in found)]
