"""A registered environment is a tested environment: the public kit runs over the whole table."""

from __future__ import annotations

from typing import Any

import pytest

from agentrl.registry import TABLE
from agentrl.testing import check_env

# The contract is the environment's; a similarity network would take minutes over it, and has tests of its own.
QUICK: dict[str, dict[str, Any]] = {"agentrl/SVG-Visual-v0": {"scorers": [{"scorer": "classical", "weight": 5.0}]}}


@pytest.mark.parametrize("env_id", [entry.id for entry in TABLE])
def test_environment_keeps_the_contract(env_id: str) -> None:
    check_env(env_id, **QUICK.get(env_id, {})).raise_for_failure()
