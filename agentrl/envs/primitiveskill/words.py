"""What a picture of the table would show, in words and without a coordinate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from agentrl.envs.primitiveskill.backend import WORKSPACE
from agentrl.envs.primitiveskill.state import spoken
from agentrl.envs.primitiveskill.tasks.scene import Scene

GUIDES = {
    "natural": "One sentence for each object: its name and where its centre is, such as: The red cube is at "
    "(40, -110, 20). Then any other value that you were given, and what the gripper holds.",
    "structured": "A JSON object with the position of each object as [x, y, z] in millimetres under the key "
    '"<name>_position", such as "red_cube_position", and any other value that you were given under its own name.',
}
RULES = """\
You move a robot arm over a table. Read the instruction and carry it out.
Coordinates are whole millimetres. You face the negative x axis: the smaller x, the farther away. Negative y is to \
your left, positive y to your right, z is up, and the table top is z = 0. The position of an object is its centre.
Actions:
- pick(x,y,z): grasp the object whose centre is at this point, and lift it.
- place(x,y,z): put the held object down with its centre at this point. It is lowered until it rests on something, so \
a z that is too high does no harm.
- push(x1,y1,z1,x2,y2,z2): move the closed gripper from the first point straight to the second, pushing what is in its \
way. Begin beside the object, not inside it.
Points must lie in the workspace: {workspace}. An action can fail, for example when nothing is there to grasp; the \
feedback says so.
You are given the positions of all objects in a mixed order and without names. Find out from {view} which is which.
Write up to {actions} actions a turn, separated by |; they run in order. You have {turns} turns.
Reply with the actions alone, or put them between <answer> and </answer>.
Example: to put a blue cube at (40,-110,20) onto a white one at (-60,75,20), the answer is \
pick(40,-110,20)|place(-60,75,60)."""


def rules(view: str, actions: int, turns: int) -> str:
    """The system prompt; `view` is "the picture" or "the description"."""
    return RULES.format(workspace=workspace(), view=view, actions=actions, turns=turns)


def workspace() -> str:
    """The limits in words."""
    return ", ".join(f"{axis} {low:g} to {high:g}" for axis, (low, high) in zip("xyz", WORKSPACE, strict=True))


def facts(instruction: str, points: Iterable[tuple[int, int, int]], values: Mapping[str, int]) -> list[str]:
    """What is told in numbers each turn: the task, the limits, nameless positions and other measurements."""
    listed = ", ".join(f"({x},{y},{z})" for x, y, z in points)
    lines = [f"Instruction: {instruction}", f"Workspace: {workspace()}", f"Object positions: [{listed}]"]
    return [*lines, f"Other information: {json.dumps(dict(values))}"] if values else lines


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
    below = [other for other in scene.positions if other != name]
    support = ""
    if scene.held == name:
        support = ", in the gripper"
    elif inside := next((other for other in below if scene.inside(name, other)), None):
        support = f", in {spoken(inside)}"
    elif on := next((other for other in below if scene.on(name, other)), None):
        support = f", on {spoken(on)}"
    return f"{spoken(name).capitalize()} is {side}, {depth}{support}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(spoken, names))
