"""ReAct-style prompting around any policy that reads conversations: think aloud, then act.

The instructions are the same for every environment. The examples are episodes that the environment's own oracle plays
on fixed tasks of the train split, with thoughts made of the environment's own description of its state; so nothing is
written by hand for any environment, and nothing of the tasks that are evaluated is shown.
"""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.policy import Conversation, Generation, Message, Policy
from agentrl.policies import load_policy
from agentrl.policies.react_reply import Grammar, read_reply

log = logging.getLogger(__name__)

INSTRUCTIONS = """
How to reply, whatever else was said about it: in exactly two parts, each beginning on a line of its own.
Thought: what you see, where you are, and what should happen next, in one to three sentences.
Action: the action of this turn and nothing else.
Stop after the action; the next observation comes from the environment, do not write it yourself."""
FACTS_TOLD = 3  # of a state with many facts, the first ones are about what matters
EXAMPLE_SEEDS = range(70_001, 71_000)  # of the train split
TRIES_PER_EXAMPLE = 10


class ReActPolicy:
    """`react:POLICY`: adds instructions and examples, and takes the action out of the reply.

    `inner` is a policy or its name ("openai:MODEL", "hf:DIR"), which is then loaded with `options`. `examples` is how
    many solved episodes are shown; they need the environments (`act(conversations, envs)`) and an oracle, and are left
    out where there is none. The text of a generation stays the model's own; its `action` is what was read from it.
    """

    name = "react"

    def __init__(self, inner: str | Policy, *, examples: int = 2, seed: int = 0, **options: Any) -> None:
        if isinstance(inner, str):
            inner = load_policy(inner, seed=seed, **options)
        elif options:
            raise ConfigError(f"options of a ready policy cannot be changed: {', '.join(options)}")
        self.inner: Policy = inner
        self.needs_text = True
        self.batched = bool(getattr(inner, "batched", False))
        self.examples = whole_number("examples", examples, at_least=0, at_most=20)
        self.tokenizer_hash = getattr(inner, "tokenizer_hash", None)
        self.replies: Counter[str] = Counter()  # how replies were read: "clean", "repaired", "unread"
        self._shown: dict[str, list[Message]] = {}

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One answer to each conversation."""
        behind: Sequence[gym.Env | None] = [None] * len(conversations) if envs is None else envs
        asked = [self.prompt(*pair) for pair in zip(conversations, behind, strict=True)]
        answers = self.inner.act(asked, envs)
        return [self._read(answer, env) for answer, env in zip(answers, behind, strict=True)]

    def prompt(self, conversation: Conversation, env: gym.Env | None = None) -> list[Message]:
        """The conversation with instructions and examples in front."""
        messages = list(conversation)
        rules = messages.pop(0)["content"] if messages and messages[0]["role"] == "system" else ""
        system: Message = {"role": "system", "content": f"{rules}\n{INSTRUCTIONS}".strip()}
        return [system, *self._examples_of(env), *messages]

    def metrics(self) -> dict[str, float]:
        """How many replies were read as they stood, repaired, or not understood; and what the inner policy counts."""
        counted = getattr(self.inner, "metrics", dict)()
        return {**counted, **{name: self.replies[name] for name in ("clean", "repaired", "unread")}}

    def close(self) -> None:
        """Close the inner policy, where that means something."""
        getattr(self.inner, "close", lambda: None)()

    def _read(self, answer: Generation, env: gym.Env | None) -> Generation:
        action, how = read_reply(answer.text, Grammar.of(env))
        self.replies[how] += 1
        return replace(answer, action=action)

    # ------------------------------------------------------------------ examples

    def _examples_of(self, env: gym.Env | None) -> list[Message]:
        if env is None or not self.examples:
            return []
        if env.has_wrapper_attr("gold") or getattr(env.unwrapped, "reply_format", ""):
            raise ConfigError("react prescribes its own form of replies; leave out what asks for another")
        key = _key(env)
        if key not in self._shown:
            try:
                self._shown[key] = solved_episodes(env, self.examples)
            except (AgentRLError, gym.error.Error, TypeError, ValueError) as error:
                log.warning("react shows no examples of %s: %s", key[:80], error)
                self._shown[key] = []
        return self._shown[key]


def _key(env: gym.Env) -> str:
    """The same for environments that get the same examples."""
    return repr(env.spec) if env.spec is not None else type(env.unwrapped).__name__


def solved_episodes(env: gym.Env, count: int) -> list[Message]:
    """`count` episodes played by the oracle of a copy of this environment, on the train split."""
    if env.spec is None:
        raise ConfigError("it was not made by gym.make, so there is no second one of it")
    spec = copy.deepcopy(env.spec)
    spec.kwargs |= {"split": "train", "render_mode": None}
    example, found = gym.make(spec), []
    try:
        if not example.has_wrapper_attr("oracle"):
            raise ConfigError("it has no oracle()")
        for seed in EXAMPLE_SEEDS[: count * TRIES_PER_EXAMPLE]:
            if episode := solved_episode(example, seed):
                found.append(episode)
            if len(found) == count:
                break
    finally:
        example.close()
    if not found:
        raise ConfigError("its oracle solves none of the tasks that were tried")
    told = [_numbered(episode, number) for number, episode in enumerate(found, 1)]
    return [message for episode in told for message in episode]


def solved_episode(env: gym.Env, seed: int) -> list[Message]:
    """Observation and exemplary reply, turn by turn; empty if the oracle did not solve it."""
    observation, info = env.reset(seed=seed)
    messages: list[Message] = []
    over = False
    while not over:
        action = env.get_wrapper_attr("oracle")()
        if not isinstance(action, str):
            return []
        messages += [_seen(observation), {"role": "assistant", "content": exemplary_reply(env, action)}]
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    return messages if info.get("success") else []


def exemplary_reply(env: gym.Env, action: str) -> str:
    """What a good reply looks like here: what is the case, what to do about it, and the action."""
    base: Any = env.unwrapped
    facts = base.state().natural()[:FACTS_TOLD] if "natural" in getattr(base, "representations", ()) else []
    seen = " ".join(f"{fact[:1].upper()}{fact[1:]}." for fact in facts)
    return f"Thought: {seen} The way on from here is: {action}.\nAction: {action}".replace(":  ", ": ")


def _seen(observation: Any) -> Message:
    parts = observation if isinstance(observation, dict) else {}
    pictures = [v for v in parts.values() if isinstance(v, np.ndarray) and v.dtype == np.uint8 and v.ndim == 3]
    return {"role": "user", "content": str(parts.get("text", "")), "images": pictures}


def _numbered(episode: list[Message], number: int) -> list[Message]:
    first = episode[0]
    return [{**first, "content": f"Example {number}.\n{first['content']}"}, *episode[1:]]
