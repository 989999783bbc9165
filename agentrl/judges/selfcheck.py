"""The named checks behind `agentrl check judges`: each returns figures, so that a pass can be read, not only seen.

Add a check by appending a function to `CHECKS`; it returns `(passed, detail)` and may raise (a raise is a failure).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrl.judges import selfcheck_llm
from agentrl.judges.relations import Relation
from agentrl.judges.scoring import score_relations

Check = Callable[[], tuple[bool, str]]


def golden_numbers() -> tuple[bool, str]:
    """The reference figures of the two scoring rules."""
    lake = score_relations(
        "frozenlake",
        [Relation("target", "above", "right"), Relation("hole", "below", "left")],
        [Relation("target", "above", "left"), Relation("hole", "same", "right"), Relation("hole", "below", "left")],
    )[0]
    room = score_relations(
        "sokoban",
        [Relation("target", "above", "left"), Relation("box", "above", "right")],
        [Relation("target", "above", "left"), Relation("box", "same", "right")],
    )[0]
    return abs(lake - 0.55) < 1e-9 and abs(room - 0.5) < 1e-9, f"FrozenLake {lake:.4f} (0.55), Sokoban {room:.4f} (0.5)"


CHECKS: list[tuple[str, Check]] = [("golden numbers", golden_numbers), *selfcheck_llm.CHECKS]


def run() -> list[dict[str, Any]]:
    """Every check: `[{"name", "pass", "detail"}]`."""
    return [_run_one(name, check) for name, check in CHECKS]


def _run_one(name: str, check: Check) -> dict[str, Any]:
    try:
        passed, detail = check()
    except Exception as error:
        passed, detail = False, f"{type(error).__name__}: {error}"
    return {"name": name, "pass": bool(passed), "detail": detail}
