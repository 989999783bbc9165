"""What a language model is told: names and places of things, in millimetres over the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agentrl.core.seeding import named_noise
from agentrl.envs.common.primitives import Grammar
from agentrl.envs.libero.world import World

WORKSPACE = {"x": (-600.0, 400.0), "y": (-500.0, 500.0), "z": (0.0, 500.0)}  # millimetres
LINE = ("x1", "y1", "z1", "x2", "y2", "z2")
VERBS = {
    "pick": ("x", "y", "z"),
    "place": ("x", "y", "z"),
    "push": LINE,
    "pull": LINE,
    "turn": ("x", "y", "z", "angle"),
}
GRAMMAR = Grammar(VERBS, {**WORKSPACE, "angle": (-180.0, 180.0)})
TOOLS = {
    "pick": "Grasp the object whose centre is at a point, and lift it.",
    "place": "Put the held object down with its centre at a point.",
    "push": "Move the closed gripper from one point straight to another.",
    "pull": "Take the handle at the first point and lead it to the second.",
    "turn": "Take the knob at a point and turn it by an angle, counterclockwise if positive.",
}


Told = Callable[[np.ndarray], tuple[int, int, int]]
RULES = """\
You move a robot arm over a table, or over the floor. Read the instruction and carry it out.
Coordinates are whole millimetres. The arm stands at negative x and faces positive x: the larger x, the farther from \
the arm. Positive y is to the arm's left, negative y to its right, z is up, and the table top is z = 0. The \
instruction is given from opposite the arm: seen from there, right is positive y, left is negative y, and the \
front is at large x. The position of an object is its centre.
Actions:
- pick(x,y,z): grasp the object whose centre is at this point, and lift it.
- place(x,y,z): put the held object down with its centre at this point. It is lowered until it stands on something, so \
a z that is too high does no harm.
- push(x1,y1,z1,x2,y2,z2): move the closed gripper from the first point straight to the second, pushing what is in its \
way. Begin beside the object, not inside it.
- pull(x1,y1,z1,x2,y2,z2): take the handle at the first point and lead it to the second; opens and closes drawers and \
doors.
- turn(x,y,z,angle): take the knob at this point and turn it by whole degrees, counterclockwise if positive.
Points must lie in the workspace: {workspace}. An action can fail; the feedback says so.
Write up to {actions} actions a turn, separated by |; they run in order. You have {turns} turns.
Reply with the actions alone, or put them between <answer> and </answer>.
Example: to put a mug at (40,-110,38) onto a plate at (-60,75,9), the answer is pick(40,-110,38)|place(-60,75,60)."""


def rules(actions: int, turns: int) -> str:
    """The system prompt."""
    limits = ", ".join(f"{axis} {low:g} to {high:g}" for axis, (low, high) in WORKSPACE.items())
    return RULES.format(workspace=limits, actions=actions, turns=turns)


def listing(world: World, told: Told, order: str) -> list[str]:
    """Objects by kind in an order drawn from `order`, so that neither names nor places in the list give an answer
    away; then fixtures, their places, and their handles."""
    names = list(world.objects)
    mixed = [names[place] for place in named_noise(0, [order], len(names))[0].argsort()]
    lines = ["Objects:", *(f"- {_kind(world, name)} at {_said(told(world.position(name)))}" for name in mixed)]
    if world.fixtures:
        lines.append("Furniture:")
    for name in world.fixtures:
        regions = world.problem.regions.items()
        places = [region for region, where in regions if where.target == name and not where.rectangles]
        lines.append(f"- {_kind(world, name)} at {_said(told(world.position(name)))}")
        lines += [f"  - {_part(region, name)} at {_said(told(world.position(region)))}" for region in places]
        lines += [f"  - {_handle(world, told, joint, name)}" for joint in world.joints if joint.startswith(name)]
    return lines


def held(world: World) -> str:
    """What the gripper holds, in a sentence."""
    name = world.held()
    return "The gripper is empty." if name is None else f"The gripper holds the {_kind(world, name)}."


def _handle(world: World, told: Told, joint: str, fixture: str) -> str:
    handle, value = world.handle(joint), world.joint(joint)
    words = _part(joint, fixture).replace(" level", " drawer").replace("microjoint", "door").replace("button", "knob")
    where = f"{'knob' if words == 'knob' else words + ' handle'} at {_said(told(handle.position))}"
    if joint.endswith("_level"):
        x, y, z = (round(float(part), 1) + 0.0 for part in handle.outward)
        most = round(1000 * max(map(abs, handle.limits)))
        return f"{where}, open by {round(1000 * abs(value))} of {most} mm, opens along ({x}, {y}, {z})"
    return f"{where}, turned by {round(np.degrees(value))} of {round(np.degrees(max(handle.limits, key=abs)))} degrees"


def _kind(world: World, name: str) -> str:
    return world.kinds[name].replace("_", " ")


def _part(name: str, fixture: str) -> str:
    return name.removeprefix(f"{fixture}_").replace("_", " ")


def _said(at: tuple[int, int, int]) -> str:
    return f"({at[0]},{at[1]},{at[2]})"
