"""The old place of `agentrl.envs.grid.frozenlake`: specs and programs that name it still work."""

from agentrl.envs.grid.frozenlake import *  # noqa: F403
