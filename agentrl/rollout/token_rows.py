"""A trajectory as token sequences for other trainers: ids, log-probabilities, and which tokens the model wrote.

    row = conversation_row(trajectory)
    row.prompt_ids, row.completion_ids, row.logprobs, row.mask

Tokens are those that were sampled, never tokenised again. In a conversation each prompt extends the one before it and
the answer to it, so that a whole episode is one sequence: after the first prompt come the answers (mask 1) and what the
environment said between them (mask 0). Prompts of the style "step" begin anew at every turn: one sequence for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Trajectory


@dataclass
class TokenRow:
    """One sequence; `logprobs` and `mask` go with `completion_ids`. Where `mask` is 0, `logprobs` is 0.0."""

    prompt_ids: list[int]
    completion_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    images: list[Any] = field(default_factory=list)  # the pictures of the whole sequence, in order
    reward: float = 0.0  # of its turns

    @property
    def ids(self) -> list[int]:
        """The whole sequence."""
        return self.prompt_ids + self.completion_ids

    def _extend(self, ids: list[int], logprobs: list[float], written: bool) -> None:
        self.completion_ids += ids
        self.logprobs += logprobs
        self.mask += [int(written)] * len(ids)


def token_rows(trajectory: Trajectory) -> list[TokenRow]:
    """The sequences of a trajectory: one for a conversation, one for each step of the style "step".

    The chat template ends every message itself. A model may have ended its answer with another special token; then the
    sequence holds what the next prompt showed in its place, with mask 0: this one token is not learned from, and every
    other token follows exactly what the model had read.
    """
    rows: list[TokenRow] = []
    for index, step in enumerate(trajectory.steps):
        prompt, response, logprobs = step.prompt_ids, step.response_ids, step.logprobs
        if prompt is None or response is None or logprobs is None:
            raise ConfigError(
                f"trajectory {trajectory.id!r} must hold token ids and log-probabilities; play it with a policy that "
                "knows them: hf:, vllm:, or openai: with token_ids=True and logprobs=True"
            )
        row = rows[-1] if rows else None
        if row is None or not _continues(row, prompt):
            row = TokenRow(list(prompt), images=_pictures(trajectory, index, first=True))
            rows.append(row)
        else:
            between = prompt[len(row.ids) :]
            row._extend(between, [0.0] * len(between), False)
            row.images += _pictures(trajectory, index, first=False)
        row._extend(response, logprobs, True)
        row.reward += step.reward
    return rows


def conversation_row(trajectory: Trajectory) -> TokenRow:
    """The one sequence of a trajectory; `ConfigError` where it has none or several."""
    rows = token_rows(trajectory)
    if len(rows) != 1:
        hint = "collect with prompt_style='conversation'" if rows else "a fault may have ended it before the first turn"
        raise ConfigError(f"trajectory {trajectory.id!r} must be one token sequence; got {len(rows)}; {hint}")
    return rows[0]


def _continues(row: TokenRow, prompt: list[int]) -> bool:
    """Does the prompt extend the row? An ending that the template replaced is taken off the row first."""
    known = row.ids
    if prompt[: len(known)] == known:
        return True
    if not (row.mask and row.mask[-1] and prompt[: len(known) - 1] == known[:-1]):
        return False
    for values in (row.completion_ids, row.logprobs, row.mask):
        values.pop()
    return True


def _pictures(trajectory: Trajectory, index: int, *, first: bool) -> list[Any]:
    """The pictures that a step adds to its row; a row that begins late in a conversation shows the earlier ones too."""
    late = first and trajectory.prompt_style == "conversation"
    shown = trajectory.steps[0 if late else index : index + 1]
    return [trajectory.pictures[name] for one in shown for name in one.images]
