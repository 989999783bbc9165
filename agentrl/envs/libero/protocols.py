"""How published evaluations set LIBERO up: pictures, settling steps and limits, by the name of who runs them.

Actions are the same for all of them: clipped to -1 to 1, 20 a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.libero.package import SUITES


class Protocol(NamedTuple):
    """What an evaluation chooses."""

    picture_convention: str
    image_size: int  # pixels a side
    settle_steps: int  # actions without motion before the first observation, gripper opening
    limits: Mapping[str, int]  # suite -> actions of an episode, without those


LEROBOT_LIMITS: Mapping[str, int] = dict(zip(SUITES, (280, 280, 300, 520, 400), strict=True))
PROTOCOLS = {
    "libero": Protocol("raw", 128, 5, dict.fromkeys(SUITES, 600)),
    "openvla": Protocol("openvla", 256, 10, dict(zip(SUITES, (220, 280, 300, 520, 400), strict=True))),
    "lerobot": Protocol("openvla", 256, 10, LEROBOT_LIMITS),
}
DEFAULT = Protocol("upright", 128, 10, LEROBOT_LIMITS)


def find_protocol(name: Any) -> Protocol:
    """The protocol of this name; None is ours."""
    if name is None:
        return DEFAULT
    if not isinstance(name, str) or name not in PROTOCOLS:
        hint = did_you_mean(str(name), PROTOCOLS)
        raise ConfigError(f"protocol must be one of {', '.join(PROTOCOLS)} or None; got {name!r}.{hint}")
    return PROTOCOLS[name]
