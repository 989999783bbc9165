"""The actions of an agent: `pick(x,y,z)`, `place(x,y,z)` and `push(x1,y1,z1,x2,y2,z2)`."""

from __future__ import annotations

from agentrl.envs.common.primitives import SEPARATOR, Action, Grammar, Point
from agentrl.envs.primitiveskill.backend import WORKSPACE, Backend, Result

PARAMETERS = {"pick": ("x", "y", "z"), "place": ("x", "y", "z"), "push": ("x1", "y1", "z1", "x2", "y2", "z2")}
GRAMMAR = Grammar(PARAMETERS, dict(zip("xyz", WORKSPACE, strict=True)))
read_turn, read_action = GRAMMAR.read_turn, GRAMMAR.read_action
__all__ = ["GRAMMAR", "PARAMETERS", "SEPARATOR", "Action", "pick", "place", "push", "read_action", "read_turn", "run"]


def run(action: Action, backend: Backend) -> Result:
    """Let the arm do it."""
    return getattr(backend, action.verb)(*action.points())


def pick(at: Point) -> Action:
    """Grasp what is at a point."""
    return Action("pick", GRAMMAR.rounded(at))


def place(at: Point) -> Action:
    """Put down what is held."""
    return Action("place", GRAMMAR.rounded(at))


def push(start: Point, end: Point) -> Action:
    """Move the closed gripper from one point to another."""
    return Action("push", (*GRAMMAR.rounded(start), *GRAMMAR.rounded(end)))
