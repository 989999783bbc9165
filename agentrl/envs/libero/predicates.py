"""When a fact of a task is true. Close to LIBERO's own definitions; where ours differ, it is said.

* `In thing region`: the middle of the thing is inside the region's rectangle, and a point of it inside the region's
  heights: its middle, or the point 3 cm above its lowest one if it is taller. (LIBERO takes the origin of its model,
  which tall things have low.)
* `On thing other`: they touch, the thing is the higher one, and their middles are within 3 cm of each other as seen
  from above.
* `On thing region`: the middle of the thing is above the region's rectangle, the thing touches what has the region, and
  its lowest point is at the region's height, within 2 cm. (LIBERO allows its origin to be 10 cm above, and asks for
  no touch on tables.)
* `Open`, `Close`, `Turnon`, `Turnoff`: the joint's value is beyond a limit, which is LIBERO's. Drawers are open from
  14 cm on and shut behind zero (they go in by up to 1 cm), microwave doors open from 1.3 rad on and shut within 0.005,
  knobs on from 0.5 rad on and off below zero (they go to -0.01). A thing with several drawers is open when one is, and
  shut when all are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.libero.bddl import Condition, Fact

if TYPE_CHECKING:
    from agentrl.envs.libero.world import World

NEAR = 0.03  # metres between middles, from above
TALL = 0.03  # metres above the lowest point of something tall
SLACK = 0.01  # metres below a region's floor
LEVEL = 0.02  # metres from the lowest point to the surface it stands on


def holds(world: World, condition: Condition | Fact) -> bool:
    """Is it true now? The simulation must be forwarded."""
    if isinstance(condition, Fact):
        if condition.predicate in ("open", "close", "turnon", "turnoff"):
            enough = any if condition.predicate in ("open", "turnon") else all
            joints = world.joints_about(condition.arguments[0])
            return enough(joint.holds(condition.predicate, world.joint(name)) for name, joint in joints)
        thing, where = condition.arguments
        if thing not in world.objects:
            raise ConfigError(f"{thing!a} cannot be moved, so that it cannot be asked where it is")
        if where in world.problem.regions:
            return _at_region(world, condition.predicate, thing, where)
        if condition.predicate == "in":
            raise ConfigError(f"In needs a region; got {where!a}")
        apart = world.position(thing) - world.position(where)
        return bool(apart[2] > 0 and np.hypot(*apart[:2]) < NEAR and world.touching(thing, where))
    if condition.operator == "not":
        return not holds(world, condition.parts[0])
    join = all if condition.operator == "and" else any
    return join(holds(world, part) for part in condition.parts)


def _at_region(world: World, predicate: str, thing: str, region: str) -> bool:
    """Is a thing in or on a region?"""
    (middle, rotation), half, position = world.pose(region), world.size(region), world.position(thing)
    offset = rotation.T @ (position - middle)  # in the region's frame
    if not (np.abs(offset[:2]) < half[:2]).all():
        return False
    lowest = world.lowest(thing)
    if predicate == "in":
        height = position[2] - lowest
        low = offset[2] - height + min(height, TALL)
        return bool(-half[2] - SLACK < low < half[2])
    level = bool(abs(lowest - middle[2]) < LEVEL)
    return level and world.touching(thing, world.problem.regions[region].target)
