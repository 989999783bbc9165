"""What a policy is: it answers in a conversation with an environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Protocol, TypedDict, runtime_checkable

import gymnasium as gym

from agentrl.core.errors import ConfigError


class Message(TypedDict):
    """One message of a conversation.

    `images` stand in the order of the `<image>` marks of `content`. `observation` is what the environment gave, for
    policies that read arrays instead of text. `token_ids` are the model's own tokens of an earlier answer: a policy
    that works on tokens uses them instead of reading `content` again. `tool_calls` are the calls of an earlier answer,
    each `{"name": str, "arguments": dict}`; a message of the role "tool" says what a call gave.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    images: NotRequired[list[Any]]
    observation: NotRequired[Any]
    token_ids: NotRequired[list[int] | None]
    tool_calls: NotRequired[list[dict[str, Any]]]


Conversation = Sequence[Message]


@dataclass(frozen=True)
class Generation:
    """What a policy answered to one conversation.

    `action` goes to `env.step`; it is the text itself for language models and an array for continuous control. Token
    ids and log-probabilities are there when the policy knows them, as produced; `prompt_ids` are what the model was
    given and `sampling` how its tokens were chosen.
    """

    text: str
    action: Any
    token_ids: list[int] | None = None
    logprobs: list[float] | None = None
    finish_reason: str = "stop"
    version: int = 0  # of the weights that produced it
    prompt_ids: list[int] | None = None
    sampling: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Policy(Protocol):
    """Answers conversations in bulk; an outage is an `EngineFault`, never an empty answer.

    `envs`, where given, are the environments of the conversations, in the same order: random and oracle policies
    look at them, language models do not. A policy for which many conversations at once are quicker says so with a true
    attribute `batched`; one that works on tokens offers `encode(conversation)`, whose `ids` are the prompt's tokens.
    One that only reads and writes text says so with a true attribute `needs_text`: environments without text are then
    refused. A policy with a true attribute `keyed` also takes `keys`, a name for each conversation, which seeds the
    sampling of its answer: then an episode does not depend on which others run beside it.
    """

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]: ...


def require_envs(name: str, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None) -> Sequence[gym.Env]:
    """The environments, or a `ConfigError` for a caller that gave none (or another number of them)."""
    if envs is None or len(envs) != len(conversations):
        raise ConfigError(f"the {name} policy looks at the environments: pass act(conversations, envs), one for each")
    return envs


def as_generation(action: Any) -> Generation:
    """An action that no model wrote."""
    return Generation(text=action if isinstance(action, str) else "", action=action)
