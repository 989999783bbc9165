"""The old place of `agentrl.envs.grid.sokoban`: specs and programs that name it still work."""

from agentrl.envs.grid.sokoban import *  # noqa: F403
