"""The baseline of WebShop: search for the instruction as it stands, open the first result, buy it as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, as_generation, require_envs


class NaiveShopper:
    """Looks at nothing but the instruction and the order of the results."""

    name = "webshop-naive"

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed  # every policy takes one; this one has nothing random

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One action for each environment."""
        turns = []
        for env in require_envs(self.name, conversations, envs):
            action = naive_action(env)
            if env.has_wrapper_attr("truthful"):  # a wrapper that asks for a format tells the truth around any turn
                action = env.get_wrapper_attr("truthful")(action)
            turns.append(as_generation(action))
        return turns


def naive_action(env: gym.Env) -> str:
    """The next action of the baseline."""
    base: Any = env.unwrapped
    facts = base.state().to_json() if hasattr(base, "state") else {}
    if "instruction" not in facts or "results" not in facts:
        raise ConfigError(f"the webshop-naive policy needs a WebShop environment; got {type(env.unwrapped).__name__}")
    if facts["product"]:
        return base.reply("click[buy now]")
    if facts["results"]:
        return base.reply(f"click[{facts['results'][0].lower()}]")
    return base.reply(f"search[{facts['instruction'].lower()}]")
