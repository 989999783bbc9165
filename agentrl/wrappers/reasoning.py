"""The place that specs name which were recorded before `Reasoning` had a `format_rule`: rebuilt from them, it keeps the
rule it had. New code imports `Reasoning` from `agentrl.wrappers`."""

from __future__ import annotations

from typing import Any

from agentrl.wrappers import reasoning_format


class Reasoning(reasoning_format.Reasoning):
    """`agentrl.wrappers.Reasoning` with the paper's rule for the format reward unless told otherwise."""

    def __init__(self, *arguments: Any, format_rule: str = "paper", **options: Any) -> None:
        super().__init__(*arguments, format_rule=format_rule, **options)
