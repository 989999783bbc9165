"""The grid worlds are quick: the whole kit runs on all of them, not only on the one of test_contract.py."""

from __future__ import annotations

import pytest

from agentrl.registry import FAMILIES
from agentrl.testing import check_env

(GRID,) = (family for family in FAMILIES if family.name == "grid")


@pytest.mark.parametrize("env_id", [entry.id for entry in GRID.envs if entry.id != "agentrl/Sokoban-Visual-v0"])
def test_a_grid_world_keeps_the_contract(env_id: str) -> None:
    check_env(env_id, episodes=5).raise_for_failure()
