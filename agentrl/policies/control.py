"""The policy of a small network that was trained by imitation: `control:FOLDER`, for continuous control."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.policy import Conversation, Generation

try:
    from agentrl.models.control_net import ControlNet
except ImportError as error:
    raise MissingExtra("torch", "train") from error


class ControlPolicy:
    """Answers with arrays: the network's next action, or with a chunk of them where it was trained on chunks (put
    `ActionChunks` of that size around the environment)."""

    name = "control"
    batched = True

    def __init__(self, net: ControlNet | str | Path, *, seed: int = 0) -> None:
        self.net = net if isinstance(net, ControlNet) else ControlNet.load(net)

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One action, or chunk, for each conversation."""
        observations: list[Any] = []
        for conversation in conversations:
            observations.append(conversation[-1].get("observation") if conversation else None)
            if observations[-1] is None:
                raise ConfigError("the control policy needs observations with arrays; this conversation has text only")
        actions = self.net.act(observations)
        chosen = actions if self.net.spec.chunk > 1 else actions[:, 0]
        return [Generation(text="", action=action) for action in chosen]
