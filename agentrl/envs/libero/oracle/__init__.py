"""A scripted player: the next action from the true state, whatever has happened before.

It has no memory. Conditions of the goal that do not hold are worked on in a fixed order; each by skills that look at
where the hand and the objects are now. So it goes on from any state, of a snapshot or after somebody else's mistakes.
"""

from agentrl.envs.libero.oracle.plan import next_action, problem

__all__ = ["next_action", "problem"]
