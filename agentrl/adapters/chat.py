"""An episode as a chat in OpenAI's form: what adapters of libraries with a model loop of their own share.

    episode = ChatEpisode("agentrl/Sokoban-Visual-v0", {"max_turns": 8})
    messages = episode.reset(seed=7)            # the rules and the first observation
    while not episode.over:
        reply = ask_the_model(messages)
        messages += [{"role": "assistant", "content": reply}, *episode.step(reply)]
    print(episode.rewards, episode.success)

Pictures are parts of their message, as data URLs. Loops with `async` use `reset_async` and `step_async`, which do the
work in a thread, so that a slow environment holds up nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.policies.openai import wire_message
from agentrl.rollout.hosts import make_stack
from agentrl.rollout.prompts import rules_of, user_message
from agentrl.rollout.starts import Stack

ChatMessage = dict[str, Any]  # role and content; content is a text, or parts where there are pictures


class ChatEpisode:
    """One environment, whose episodes are played by messages. Faults of the environment come through as they are.

    After each turn `rewards` has one reward for each turn so far, `success`, `terminated` and `truncated` are those of
    the last one, and `info` is its whole info. `env` is the environment itself.
    """

    def __init__(
        self, env_id: str, env_kwargs: Mapping[str, Any] | None = None, wrappers: Sequence[dict[str, Any]] = ()
    ) -> None:
        self.env = make_stack(Stack(env_id, dict(env_kwargs or {}), tuple(wrappers)))
        self._begin({})
        self.terminated = True  # there is no episode yet

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> list[ChatMessage]:
        """Begin an episode: the system message, where the environment has rules, and the first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._begin(info)
        rules = rules_of(self.env)
        opening = [{"role": "system", "content": rules}] if rules else []
        return [*opening, wire_message(user_message(observation))]

    def step(self, answer: str) -> list[ChatMessage]:
        """Play the model's answer: the next observation, or no message once the episode is over."""
        if self.over:
            raise ConfigError("the episode is over; call reset() to begin another one")
        observation, reward, self.terminated, self.truncated, self.info = self.env.step(answer)
        self.rewards.append(float(reward))
        return [] if self.over else [wire_message(user_message(observation))]

    async def reset_async(self, seed: int | None = None, options: dict[str, Any] | None = None) -> list[ChatMessage]:
        """`reset` in a thread."""
        return await asyncio.to_thread(self.reset, seed, options)

    async def step_async(self, answer: str) -> list[ChatMessage]:
        """`step` in a thread."""
        return await asyncio.to_thread(self.step, answer)

    @property
    def over(self) -> bool:
        """Is there nothing to answer (any more)?"""
        return self.terminated or self.truncated

    @property
    def reward(self) -> float:
        """The sum over the turns so far."""
        return sum(self.rewards)

    @property
    def success(self) -> bool:
        """Was the task solved?"""
        return bool(self.info.get("success", False))

    def close(self) -> None:
        """Give back what the environment holds."""
        self.env.close()

    def _begin(self, info: dict[str, Any]) -> None:
        self.info, self.rewards = info, list[float]()
        self.terminated = self.truncated = False
