"""How an episode becomes what a policy is shown: the whole dialogue, or one message rebuilt every turn.

* `conversation`: the rules, then every observation and every answer so far; earlier answers enter by their own tokens.
* `step`: the rules and one message: the last few actions with what came of them, then the present observation. It stays
  short however long the episode is, and shows no picture but the present one.
* `webrl`: what WebRL's published models were trained on: the task, all answers, in numbered rounds, and the present
  observation; a fixed sentence stands where an earlier one was.

All follow from a trajectory alone (`prompt_at`), so records of one style can be read in another.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.policy import Generation, Message
from agentrl.models.prompt_settings import LIMITS, PROMPT_WRAPPERS, as_trained, settings_of
from agentrl.rollout.starts import EnvSpec, takes
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.history import remembered, what_was_done

log = logging.getLogger(__name__)

STYLES = ("conversation", "step", "webrl")
TASK, GONE = "Task Instruction: ", "** Simplified html **"  # as WebRL's models know them
ROOM = 16_384 - 512  # characters of WebRL's answers and observation; the end of the observation is cut off
HISTORY = 3  # actions that the style `step` shows
Layers = Sequence[Mapping[str, Any]]


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


# ---------------------------------------------------------------------- the styles


class PromptStyle(ABC):
    """Follows one episode and says what to show before each answer."""

    def begin(self, rules: str, seen: Message) -> None:
        """The episode starts with this observation: everything but the rules is forgotten."""
        self._opening: list[Message] = [{"role": "system", "content": rules}] if rules else []

    @abstractmethod
    def turn(self, said: Message, done: str, feedback: str, seen: Message) -> None:
        """The policy said something, which did this and led to that."""

    @abstractmethod
    def messages(self) -> list[Message]:
        """What the policy is shown now: a list of its own, which later turns leave alone."""


class WholeConversation(PromptStyle):
    """Everything that was said so far."""

    def begin(self, rules: str, seen: Message) -> None:
        """Nothing was said yet."""
        super().begin(rules, seen)
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

    def begin(self, rules: str, seen: Message) -> None:
        """Nothing was done yet."""
        super().begin(rules, seen)
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
        first = len(self._turns) - len(shown) + 1
        lines = ["Your turns so far:" if first == 1 else f"Your last {len(shown)} turns of {len(self._turns)}:"]
        for number, (done, feedback) in enumerate(shown, first):
            # Most observations begin with the feedback to the last turn: once is enough.
            told = number == len(self._turns) and feedback in self._seen["content"]
            lines.append(f"[{number}] You did: {done}" + (f". {feedback}" if feedback and not told else ""))
        story = "\n".join(lines)
        return [*self._opening, {**self._seen, "content": f"{story}\nNow:\n{self._seen['content']}"}]


class Rounds(PromptStyle):
    """WebRL's rounds. The rules must be the task; the number of a round stands before the observation that begins it,
    at the end of what was said before. A chat template that puts nothing but marks between messages makes of it
    WebRL's prompt to the letter."""

    def begin(self, rules: str, seen: Message) -> None:
        """Round 0."""
        if not rules.startswith(TASK):
            raise ConfigError(
                f"prompt_style 'webrl' needs an environment whose system prompt is {TASK + '...'!r}, which web "
                'environments have with prompt="webrl"'
            )
        self._rules, self._answers, self._seen = rules, list[str](), seen

    def turn(self, said: Message, done: str, feedback: str, seen: Message) -> None:
        """One round more."""
        self._answers.append(said["content"])
        self._seen = seen

    def messages(self) -> list[Message]:
        """The task, the rounds, and the present observation, of which as much is shown as there is room for."""
        told: list[Message] = [{"role": "system", "content": f"{self._rules}\n\nRound 0\n\n"}]
        used = 0
        for number, answer in enumerate(self._answers):
            asked = GONE if number else self._rules.removeprefix(TASK)
            told.append({"role": "user", "content": f"{asked}\n\n"})
            told.append({"role": "assistant", "content": f"{answer}\n\nRound {number + 1}\n\n"})
            used += len(_ROUND.format(number=number, asked=asked, answer=answer))
        return [*told, {**self._seen, "content": self._seen["content"][: max(0, ROOM - used)] + "\n\n"}]


# A round as WebRL counts its characters.
_MARKS = "<|eot_id|><|start_header_id|>{}<|end_header_id|>\n"
_ROUND = f"Round {{number}}\n\n{_MARKS.format('user')}{{asked}}\n\n{_MARKS.format('assistant')}{{answer}}\n\n"


def prompt_style(name: str, history: int = HISTORY) -> PromptStyle:
    """The style of that name, for one episode."""
    if name == "conversation":
        return WholeConversation()
    if name == "step":
        return PresentStep(history)
    if name == "webrl":
        return Rounds()
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
    """What the policy was shown before step `turn` of a record, in any style.

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
        said = step.action if step.response is None else step.response
        answer = _said(said if isinstance(said, str) else "", step.response_ids)
        prompt.turn(answer, done(step.action, step.info), told(step.info), _seen(*after, known))
    return prompt.messages()


def done(action: Any, info: Mapping[str, Any]) -> str:
    """What an answer did, in the words of the style `step`."""
    return what_was_done(action, dict(info))


def told(info: Mapping[str, Any]) -> str:
    """The environment's remark on a turn."""
    return str(info.get("feedback") or "")


def _seen(text: str, images: list[str], known: Mapping[str, Any]) -> Message:
    for name in images:
        if name not in known:
            raise ConfigError(f"the picture {name} is not loaded; pass pictures={{hash: pixels}}")
    return {"role": "user", "content": text, "images": [known[name] for name in images]}


# ---------------------------------------------------------------------- prompts as a policy was trained


@dataclass(frozen=True)
class Prompting:
    """How to play a policy in an environment."""

    prompt_style: str
    history: int
    wrappers: Layers
    env_kwargs: dict[str, Any]


def prompting(
    policy: Any,
    env_id: str,
    *,
    prompt_style: str | None = None,
    history: int | None = None,
    wrappers: Layers | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Prompting:
    """What is given, and for the rest what a trained policy carries; a warning wherever the two differ."""
    kwargs = dict(env_kwargs or {})
    given = {"prompt_style": prompt_style, "history": history, **prompt_options(wrappers)}
    limits = {name: kwargs.get(name) for name in LIMITS}
    chosen, notes = as_trained(settings_of(policy), env_id, given | limits)
    for note in notes:
        log.warning(note)
    stack = layers(**{name: chosen[name] for name in prompt_options(None)}) if wrappers is None else wrappers
    kwargs |= {name: chosen[name] for name in LIMITS if chosen[name] is not None}
    kwargs, stack = as_robot(policy, env_id, kwargs, stack)
    return Prompting(
        prompt_style=chosen["prompt_style"] or "conversation",
        history=HISTORY if chosen["history"] is None else chosen["history"],
        wrappers=stack,
        env_kwargs=kwargs,
    )


def as_robot(
    policy: Any, env_id: str, env_kwargs: Mapping[str, Any], wrappers: Layers
) -> tuple[dict[str, Any], Layers]:
    """Arguments and wrappers of an environment for a policy that acts in chunks: with `ActionChunks` of its size
    (`ConfigError` where there is one of another), and pictures of its size unless others are asked for. For any other
    policy as they are."""
    size = getattr(policy, "chunk", None)
    if size is None:
        return dict(env_kwargs), wrappers
    given = [layer.get("size") for layer in wrappers if _name(layer) == "ActionChunks"]
    if given and given != [size]:
        raise ConfigError(f"ActionChunks must have the size {size}, the chunk of the policy; got {given[0]}")
    chunks = [] if given else [{"wrapper": "ActionChunks", "size": size}]
    own = {name: value for name, value in policy.env_kwargs.items() if takes(env_id, name)}
    return {**own, **env_kwargs}, [*chunks, *wrappers]


def for_policy(spec: EnvSpec, policy: Any) -> EnvSpec:
    """An environment as a robot's policy needs it; for any other policy as it is."""
    kwargs, wrappers = as_robot(policy, spec.id, spec.kwargs, spec.wrappers)
    return replace(spec, kwargs=kwargs, wrappers=tuple(wrappers))


def layers(strategy: str | None, representation: str | None, wrap: Layers | None) -> list[Any]:
    """The wrappers that the settings of a policy ask for, inside first."""
    further = list(wrap or ())
    if not strategy:
        return further
    form = {"wrapper": "Reasoning", "strategy": strategy, "representation": representation or "natural"}
    # The form of replies goes around what takes replies apart, and inside what only adds to observations.
    inner = [layer for layer in further if _name(layer) == "ToolCalls"]
    return [*inner, form, *(layer for layer in further if layer not in inner)]


def with_judge(wrappers: Layers, reward: Mapping[str, Any]) -> list[Any]:
    """The same with a reward for what replies say around the wrapper that prescribes their form."""
    place = next(place for place, layer in enumerate(wrappers, 1) if _name(layer) == "Reasoning")
    return [*wrappers[:place], reward, *wrappers[place:]]


def prompt_options(wrappers: Layers | None) -> dict[str, Any]:
    """Strategy, representation and further wrappers of a stack, where they change prompts; None where none is given."""
    if wrappers is None:
        return {"strategy": None, "representation": None, "wrap": None}
    form = next((layer for layer in wrappers if _name(layer) == "Reasoning"), None)
    return {
        "strategy": "" if form is None else form.get("strategy", "free_think"),
        "representation": "natural" if form is None else form.get("representation", "natural"),
        "wrap": tuple(dict(layer) for layer in wrappers if _name(layer) in PROMPT_WRAPPERS),
    }


def _name(layer: Any) -> Any:
    """Of a wrapper; None for what a person typed that is no wrapper, which is refused where the stack is built."""
    return layer.get("wrapper") if isinstance(layer, Mapping) else None
