"""Starts with other things on the table, and with everything a little elsewhere."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin

from agentrl.envs.common.perturb import Perturbation
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.tasks.scene import cube, free

# By level, from 1.
DISTRACTORS = (1, 2, 3)
SHIFT = (10.0, 20.0, 30.0)  # mm, of everything together
TURN = (0.15, 0.35, 0.60)  # radians either way, of each cube

OTHERS = (  # in no task
    cube("blue_cube", (0.16, 0.30, 0.86)),
    cube("purple_cube", (0.52, 0.20, 0.66)),
    cube("white_cube", (0.93, 0.93, 0.91)),
    cube("black_cube", (0.09, 0.09, 0.10)),
    Thing("lime", "sphere", 24.0, (0.55, 0.80, 0.15)),
)
AREA = (170.0, 250.0)  # mm from the middle that distractors may be in x and in y
SPOTS = 2000


def perturbed_start(start: Start, change: Perturbation, task: str, attempt: int) -> Start:
    """A start as a perturbation changes it; another attempt, another draw. What stands together moves together."""
    if level := change.level("poses"):
        random = change.random("poses", task, attempt)
        angle = random.uniform(0, 2 * pi)
        cubes = {thing.name for thing in start.things if thing.shape == "cube"}
        places = {}
        for name, (x, y, turned) in start.places.items():
            turn = TURN[level - 1] * random.choice((-1.0, 1.0)) if name in cubes else 0.0
            x, y = round(x + SHIFT[level - 1] * cos(angle)), round(y + SHIFT[level - 1] * sin(angle))
            places[name] = float(x), float(y), float(turned + turn)
        start = replace(start, places=places)
    if level := change.level("distractors"):
        random = change.random("distractors", task, attempt)
        things, places = [*start.things], dict(start.places)
        for number in random.permutation(len(OTHERS))[: DISTRACTORS[level - 1]]:
            spots = random.uniform([-AREA[0], -AREA[1]], AREA, (SPOTS, 2)).round().tolist()
            x, y = next((spot for spot in spots if free((spot[0], spot[1]), places.values())), spots[0])
            things.append(OTHERS[number])
            places[OTHERS[number].name] = x, y, 0.0
        start = replace(start, things=tuple(things), places=places)
    return replace(start, look=(change, task))
