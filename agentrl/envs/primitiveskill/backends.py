"""The simulators by name, imported when they are used."""

from __future__ import annotations

from importlib import import_module

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.primitiveskill.backend import Backend

BACKENDS = {
    "mujoco": "agentrl.envs.primitiveskill.mujoco.backend:MujocoBackend",
    "mani_skill": "agentrl.envs.primitiveskill.mani_skill.backend:ManiSkillBackend",
}


def make_backend(name: str) -> Backend:
    """A new simulated table; `MissingExtra` or `ConfigError` says why there is none."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise ConfigError(
            f"backend must be one of {', '.join(BACKENDS)}; got {name!r}.{did_you_mean(str(name), BACKENDS)}"
        )
    module, _, attribute = BACKENDS[name].partition(":")
    return getattr(import_module(module), attribute)()
