"""A registered environment is a tested environment: the public kit runs over the whole table."""

from __future__ import annotations

import pytest

from agentrl.registry import TABLE
from agentrl.testing import check_env


@pytest.mark.parametrize("env_id", [entry.id for entry in TABLE])
def test_environment_keeps_the_contract(env_id: str) -> None:
    check_env(env_id).raise_for_failure()
