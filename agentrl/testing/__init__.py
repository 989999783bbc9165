"""The public test kit: does an environment keep the contract of `AgentEnv`?

    from agentrl.testing import check_env

    report = check_env("agentrl/Sokoban-Text-v0", boxes=2)
    print(report)
    report.raise_for_failure()

It takes the id of any environment registered with Gymnasium, your own included.
"""

from __future__ import annotations

from agentrl.registry import KitBudget
from agentrl.testing.report import Check, Report
from agentrl.testing.runner import CHECKS, check_env

__all__ = ["CHECKS", "Check", "KitBudget", "Report", "check_env"]
