"""Prints what becomes of LIBERO's 130 tasks in scenes of our own models: made, drawn, at rest, not solved at the start.

python scripts/libero_tasks.py [START ...]        starts such as test/0 test/25 train/1; test/0 and train/0 if none
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import numpy as np

from agentrl.core.errors import AgentRLError
from agentrl.envs.libero.world import AGENT_VIEW, WRIST, World, suites

TICKS = 100  # of the controller, in which nothing may move
FAR = 0.01  # metres
SIZE = 64  # pixels of the pictures


@dataclass
class Row:
    """One task."""

    suite: str
    task: str
    made: bool = False
    drawn: bool = False
    drift: float = 0.0  # metres: the farthest that anything went by itself
    moved: float = 0.0  # metres: the farthest that anything stands from where the start says
    problems: list[str] = field(default_factory=list)


def look(suite: str, task: str, starts: list[str]) -> Row:
    """Begin a task at these starts, and wait."""
    row = Row(suite, task)
    try:
        world = World(suite, task)
        row.made = True
        for name in starts:
            _wait(world, name, row)
    except AgentRLError as error:
        row.problems.append(str(error))
    return row


def _wait(world: World, name: str, row: Row) -> None:
    start = world.start(name)
    world.reset(start)
    if world.goal_holds():
        row.problems.append(f"{name}: the goal holds at the start")
    row.drawn = all(world.draw(camera, SIZE).std() > 5 for camera in (AGENT_VIEW, WRIST))
    before = {thing: world.position(thing) for thing in world.objects}
    for thing, place in before.items():
        row.moved = max(row.moved, float(np.hypot(*(place[:2] - start.places[thing][:2]))))
    for _ in range(TICKS):
        world.arm.advance()
    world.arm.pose()  # where everything is now
    for thing, place in before.items():
        drift = float(np.linalg.norm(world.position(thing) - place))
        row.drift = max(row.drift, drift)
        if drift > FAR:
            row.problems.append(f"{name}: {thing} went {1000 * drift:.0f} mm by itself")


def main() -> int:
    """All tasks; 1 if fewer than 90 % are as they should be."""
    starts = sys.argv[1:] or ["test/0", "train/0"]
    rows = [look(suite, task, starts) for suite, tasks in suites().items() for task in tasks]
    print(f"{'suite':15} {'task':85} made drawn drift mm moved mm  problems")
    for row in rows:
        made, drawn = ("yes" if value else "NO" for value in (row.made, row.drawn))
        distances = f"{1000 * row.drift:8.1f} {1000 * row.moved:8.1f}"
        print(f"{row.suite:15} {row.task[:85]:85} {made:4} {drawn:5} {distances}  {'; '.join(row.problems)}")
    good = sum(row.made and row.drawn and not row.problems for row in rows)
    print(f"{good} of {len(rows)} tasks are made, drawn and at rest, at {', '.join(starts)}")
    return 0 if good >= 0.9 * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
