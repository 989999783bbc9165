"""The old place of `agentrl.envs.grid.sokoban_duo`: specs and programs that name it still work."""

from agentrl.envs.grid.sokoban_duo import *  # noqa: F403
