"""What a picture of the table would show, in words and without a coordinate."""

from __future__ import annotations

from collections.abc import Iterable

from agentrl.envs.primitiveskill.state import spoken
from agentrl.envs.primitiveskill.tasks.scene import Scene

SIDE, DEPTH = 60.0, 40.0  # mm from the middle of the table


def describe(scene: Scene) -> list[str]:
    """Roughly where each thing is, what is on what, and the order from left to right and from near to far: as much as
    is needed to match a list of positions with names."""
    names = list(scene.positions)
    facts = [_where(scene, name) for name in names]
    if len(names) > 1:
        across = sorted(names, key=lambda name: (round(scene.positions[name][1]), scene.positions[name][2]))
        away = sorted(names, key=lambda name: (-round(scene.positions[name][0]), scene.positions[name][2]))
        facts += [f"From left to right: {_listed(across)}.", f"From near to far: {_listed(away)}."]
    return facts


def _where(scene: Scene, name: str) -> str:
    """One sentence, such as "The red cube is to your left, near you, on the left target."."""
    x, y, _ = scene.positions[name]
    side = "to your left" if y < -SIDE else "to your right" if y > SIDE else "in the middle"
    depth = "near you" if x > DEPTH else "far from you" if x < -DEPTH else "at half the distance"
    return f"{spoken(name).capitalize()} is {side}, {depth}{_support(scene, name)}."


def _support(scene: Scene, name: str) -> str:
    if scene.held == name:
        return ", in the gripper"
    below = [other for other in scene.positions if other != name]
    if inside := next((other for other in below if scene.inside(name, other)), None):
        return f", in {spoken(inside)}"
    on = next((other for other in below if scene.on(name, other)), None)
    return f", on {spoken(on)}" if on else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(spoken, names))
