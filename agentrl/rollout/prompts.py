"""How an episode becomes what a policy is shown: the whole dialogue, or one message rebuilt every turn.

* `conversation`: the rules, then every observation and every answer so far; earlier answers enter by their own tokens.
* `step`: the rules and one message: the last few actions with what came of them, then the present observation. It stays
  short however long the episode is, and shows no picture but the present one.

Both follow from a trajectory alone (`prompt_at`), so records of one style can be read in the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.policy import Generation, Message
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.wrappers.history import remembered, what_was_done

STYLES = ("conversation", "step")
HISTORY = 3  # actions that the style `step` shows


# ---------------------------------------------------------------------- messages


def read_observation(observation: Any) -> tuple[str, list[np.ndarray]]:
    """The text of an observation and its pictures, in order; ("", []) for plain arrays."""
    if not isinstance(observation, dict):
        return "", []
    pictures = [v for v in observation.values() if isinstance(v, np.ndarray) and v.dtype == np.uint8 and v.ndim == 3]
    return str(observation.get("text", "")), pictures


def user_message(observation: Any) -> Message:
    """An observation as the environment's message in the conversation."""
    text, pictures = read_observation(observation)
    return {"role": "user", "content": text, "images": pictures, "observation": observation}


def said_message(answer: Generation) -> Message:
    """An answer as it stands in the rest of the conversation, with its own tokens where it has any."""
    return _said(answer.text, answer.token_ids)


def _said(text: str, token_ids: list[int] | None) -> Message:
    said: Message = {"role": "assistant", "content": text}
    return said if token_ids is None else {**said, "token_ids": token_ids}


def rules_of(env: gym.Env) -> str:
    """The system prompt of the whole stack; empty where there is none."""
    return str(env.get_wrapper_attr("system_prompt")) if env.has_wrapper_attr("system_prompt") else ""


# ---------------------------------------------------------------------- the two styles


class PromptStyle(ABC):
    """Follows one episode and says what to show before each answer."""

    def begin(self, rules: str, seen: Message) -> None:
        """The episode starts with this observation."""
        self._opening: list[Message] = [{"role": "system", "content": rules}] if rules else []
        self._start(seen)

    @abstractmethod
    def _start(self, seen: Message) -> None:
        """Forget everything but the rules and the first observation."""

    @abstractmethod
    def turn(self, said: Message, done: str, feedback: str, seen: Message) -> None:
        """The policy said something, which did this and led to that."""

    @abstractmethod
    def messages(self) -> list[Message]:
        """What the policy is shown now: a list of its own, which later turns leave alone."""


class WholeConversation(PromptStyle):
    """Everything that was said so far."""

    def _start(self, seen: Message) -> None:
        self._said = [seen]

    def turn(self, said: Message, done: str, feedback: str, seen: Message) -> None:
        """Two messages more."""
        self._said += [said, seen]

    def messages(self) -> list[Message]:
        """The whole dialogue."""
        return [*self._opening, *self._said]


class PresentStep(PromptStyle):
    """The current observation after the last `history` actions."""

    def __init__(self, history: int = HISTORY) -> None:
        self.history = whole_number("history", history, at_least=0)

    def _start(self, seen: Message) -> None:
        self._turns: list[tuple[str, str]] = []  # what was done, what was said to it
        self._seen = seen

    def turn(self, said: Message, done: str, feedback: str, seen: Message) -> None:
        """One action more; the observation takes the place of the last."""
        self._turns.append((done, remembered(feedback)))
        self._seen = seen

    def messages(self) -> list[Message]:
        """The rules and one message."""
        shown = self._turns[-self.history :] if self.history else []
        if not shown:
            return [*self._opening, self._seen]
        return [*self._opening, {**self._seen, "content": f"{self._story(shown)}\nNow:\n{self._seen['content']}"}]

    def _story(self, shown: list[tuple[str, str]]) -> str:
        first = len(self._turns) - len(shown) + 1
        lines = ["Your turns so far:" if first == 1 else f"Your last {len(shown)} turns of {len(self._turns)}:"]
        for number, (done, feedback) in enumerate(shown, first):
            # Most observations begin with the feedback to the last turn: once is enough.
            told = number == len(self._turns) and feedback in self._seen["content"]
            lines.append(f"[{number}] You did: {done}" + (f". {feedback}" if feedback and not told else ""))
        return "\n".join(lines)


def prompt_style(name: str, history: int = HISTORY) -> PromptStyle:
    """The style of that name, for one episode."""
    if name == "conversation":
        return WholeConversation()
    if name == "step":
        return PresentStep(history)
    hint = did_you_mean(name, STYLES) if isinstance(name, str) else ""
    raise ConfigError(f"prompt_style must be one of {', '.join(STYLES)}; got {name!r}.{hint}")


# ---------------------------------------------------------------------- from records


def prompt_at(
    trajectory: Trajectory,
    turn: int,
    style: str = "conversation",
    history: int = HISTORY,
    pictures: Mapping[str, Any] | None = None,
) -> list[Message]:
    """What the policy was shown before step `turn` of a record, in either style.

    `turn` may be the number of steps: what it would have been shown after the last one. `pictures` (by hash) are those
    of the trajectory itself unless given; a record that was read from a file holds none.
    """
    whole_number("turn", turn, at_least=0, at_most=len(trajectory.steps))
    known = trajectory.pictures if pictures is None else pictures
    steps = trajectory.steps
    seen = [(step.observation, step.images) for step in steps]
    seen.append((trajectory.final_observation, trajectory.final_images))
    prompt = prompt_style(style, history)
    prompt.begin(trajectory.system_prompt, _seen(*seen[0], known))
    for step, after in zip(steps[:turn], seen[1:], strict=False):
        prompt.turn(
            _said(_words(step), step.response_ids), done(step.action, step.info), told(step.info), _seen(*after, known)
        )
    return prompt.messages()


def done(action: Any, info: Mapping[str, Any]) -> str:
    """What an answer did, in the words of the style `step`."""
    return what_was_done(action, dict(info))


def told(info: Mapping[str, Any]) -> str:
    """The environment's remark on a turn."""
    return str(info.get("feedback") or "")


def _words(step: Step) -> str:
    said = step.action if step.response is None else step.response
    return said if isinstance(said, str) else ""


def _seen(text: str, images: list[str], known: Mapping[str, Any]) -> Message:
    for name in images:
        if name not in known:
            raise ConfigError(f"the picture {name} is not at hand; pass pictures={{hash: pixels}}")
    return {"role": "user", "content": text, "images": [known[name] for name in images]}
