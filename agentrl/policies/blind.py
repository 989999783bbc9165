"""Players that do no work: they look at nothing, or copy what they are told. What they earn, a task gives away.

`agentrl eval ID --policy NAME` plays them; the page of every environment has a table of what they reach.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, as_generation, require_envs
from agentrl.core.response import build_response, fields_of
from agentrl.core.seeding import episode_seed
from agentrl.core.spaces import AnyText
from agentrl.policies.random import RandomPolicy


class ConstantPolicy:
    """Gives the same reply in every turn of every task: `constant:REPLY`, where actions are numbers in JSON.

    Without one it is the first action that the action space names, as often as a turn allows; zeros for continuous
    control.
    """

    name = "constant"

    def __init__(self, reply: str | None = None, *, seed: int = 0) -> None:
        self.reply, self.seed = reply, seed

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """The same for all."""
        return [as_generation(self.choose(env.action_space)) for env in require_envs(self.name, conversations, envs)]

    def choose(self, space: gym.Space) -> Any:
        """The reply, as an action of this space."""
        if isinstance(space, gym.spaces.Text):
            first = space.separator.join(space.words[:1] * space.max_words) if isinstance(space, AnyText) else ""
            return first if self.reply is None else self.reply
        try:
            value = np.asarray(0 if self.reply is None else json.loads(self.reply), space.dtype)
            action = np.broadcast_to(value, space.shape or ()).copy() if self.reply is None else value
        except (TypeError, ValueError) as error:
            raise ConfigError(f"the reply must be an action of {space} in JSON; got {self.reply!r}") from error
        if not space.contains(action):
            raise ConfigError(f"the reply must be an action of {space}; got {self.reply or action.tolist()!r}")
        return action


class RandomConstantPolicy(ConstantPolicy):
    """Draws one reply from the action space, by its seed alone, and gives it in every turn of every task."""

    name = "random-constant"

    def __init__(self, *, seed: int = 0) -> None:
        super().__init__(seed=seed)

    def choose(self, space: gym.Space) -> Any:
        """The first sample after seeding."""
        space = deepcopy(space)
        space.seed(self.seed)
        return space.sample()


class CopyPolicy:
    """Replies with what it was told last. Where a form of reply is asked for, every part of it is that text, around a
    random legal action: the most that copying can earn without play."""

    name = "copy"

    def __init__(self, *, seed: int = 0) -> None:
        self._random = RandomPolicy(seed=seed)

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """The last message of each conversation."""
        replies = []
        for conversation, env in zip(conversations, require_envs(self.name, conversations, envs), strict=True):
            if not isinstance(env.action_space, gym.spaces.Text):
                raise ConfigError(f"the copy policy writes text; the actions here are {env.action_space}")
            reply = conversation[-1]["content"] if conversation else ""
            if env.has_wrapper_attr("strategy"):  # of the wrapper that asks for a form
                strategy = env.get_wrapper_attr("strategy")
                texts = {**dict.fromkeys(fields_of(strategy), reply), "answer": self._random.sample(env)}
                reply = build_response(strategy, texts)
            replies.append(as_generation(reply))
        return replies


class PriorPolicy:
    """Plays from memory: the plan that the oracle used most often in training tasks of the same group (`about_task`),
    turn by turn, whatever happens. `tasks` is how many training tasks it has seen. It counts turns by its own answers,
    so it needs the whole conversation."""

    name = "prior"

    def __init__(self, *, seed: int = 0, tasks: int = 100) -> None:
        self.seed, self.tasks = seed, whole_number("tasks", tasks, at_least=1)
        self._plans: dict[str, dict[Any, list[Any]]] = {}  # spec -> group -> plan; None: the commonest of all

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """The next turn of each plan; from its end on the last one."""
        turns = []
        for conversation, env in zip(conversations, require_envs(self.name, conversations, envs), strict=True):
            plans = self._learned(env.unwrapped)
            plan = plans.get(group_of(env.unwrapped)) or plans[None]
            turn = sum(message["role"] == "assistant" for message in conversation)
            turns.append(as_generation(plan[min(turn, len(plan) - 1)]))
        return turns

    def _learned(self, base: gym.Env) -> dict[Any, list[Any]]:
        if base.spec is None or not hasattr(base, "oracle"):
            raise ConfigError(
                f"the prior policy needs a registered environment with an oracle; got {type(base).__name__}"
            )
        chosen = {**base.spec.kwargs, "split": "train"}
        key = f"{base.spec.id} {chosen}"
        if key not in self._plans:
            with gym.make(base.spec.id, **chosen) as env:
                self._plans[key] = commonest_plans(env, [episode_seed(self.seed, each) for each in range(self.tasks)])
        return self._plans[key]


def commonest_plans(env: gym.Env, seeds: Sequence[int]) -> dict[Any, list[Any]]:
    """For each group of tasks, and under None for all of them, the plan with which the oracle solved most; of several
    the first."""
    counts: dict[Any, Counter[Any]] = {}
    plans: dict[Any, list[Any]] = {}  # by what makes two plans equal
    base: Any = env.unwrapped
    for seed in seeds:
        env.reset(seed=seed)
        plan, over, info = [], False, {}
        while not over and (turn := base.oracle()) is not None:
            plan.append(turn)
            _, _, terminated, truncated, info = env.step(turn)
            over = terminated or truncated
        if info.get("success"):
            key = tuple(turn if isinstance(turn, str) else np.asarray(turn).tobytes() for turn in plan)
            plans.setdefault(key, plan)
            for group in (group_of(base), None):
                counts.setdefault(group, Counter())[key] += 1
    if not counts:
        raise ConfigError(f"the oracle solved none of {len(seeds)} training tasks of {type(base).__name__}")
    return {group: plans[found.most_common(1)[0][0]] for group, found in counts.items()}


def group_of(base: Any) -> Any:
    """What kind of task the present one is; None where the environment has no kinds."""
    return base.about_task().get("group") if hasattr(base, "about_task") else None
