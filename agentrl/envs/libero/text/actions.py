"""The primitives of a language model: those of PrimitiveSkill, and two for drawers, doors and knobs."""

from __future__ import annotations

from agentrl.envs.common.primitives import Grammar

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
