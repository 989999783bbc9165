"""The baseline of WebShop: search for the instruction as it stands, open the first result, buy it as it is."""

from __future__ import annotations

from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.envs.common.players import ScriptedPlayer


class NaiveShopper(ScriptedPlayer):
    """Looks at nothing but the instruction and the order of the results."""

    name = "webshop-naive"

    def turn(self, env: Any) -> str:
        """The next action of the baseline."""
        facts = env.state().to_json() if hasattr(env, "state") else {}
        if "instruction" not in facts or "results" not in facts:
            raise ConfigError(f"the webshop-naive policy needs a WebShop environment; got {type(env).__name__}")
        if facts["product"]:
            return env.reply("click[buy now]")
        if facts["results"]:
            return env.reply(f"click[{facts['results'][0].lower()}]")
        return env.reply(f"search[{facts['instruction'].lower()}]")
