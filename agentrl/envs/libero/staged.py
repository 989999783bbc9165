"""`reward="staged"`: part of the reward on the way, from the facts of the goal.

Stages pay for the best moment of an episode so far: what is undone and done again is not paid twice, and a goal that
stands still pays nothing. A solved episode earns 1 altogether, as without stages, and any other less than half.
"""

from __future__ import annotations

from collections.abc import Mapping

REWARDS = ("success", "staged")
SHARE = 0.5  # of the reward that stages can pay
GRASPED = 0.5  # of a condition, while what it is about is in the gripper


def progress(conditions: Mapping[str, bool], held: str | None) -> float:
    """How much of a goal is reached, from 0 to 1; a condition is text such as `On akita_black_bowl_1 plate_1`."""
    reached = [1.0 if holds else GRASPED * (text.split()[1] == held) for text, holds in conditions.items()]
    return sum(reached) / len(reached)


def stage_terms(first: float, best: float, now: float, success: bool) -> dict[str, float]:
    """What a step earns where progress was `first` at the start, `best` so far and is `now`."""
    if success:
        return {"success": 1.0 - SHARE * (best - first)}
    return {"stage": SHARE * (now - best)} if now > best else {}
