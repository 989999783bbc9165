"""Actions of continuous control: whatever a policy hands over, as an array that a simulator can run, or as a sentence.

Kept apart from the environments because wrappers read actions in the same way.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from gymnasium import spaces


def read_control(action: Any, space: spaces.Box) -> np.ndarray | str:
    """`action` as a new array of `space`, or what is wrong with it; total, whatever it is.

    Arrays of any floating type and plain lists of numbers are taken. Arrays of other types are not: an array of whole
    numbers or of booleans is more often a mistake (an index, a mask) than a motion.
    """
    problem = _misfit(action, space)
    if not problem:
        try:
            if isinstance(action, np.ndarray) and action.dtype == space.dtype:
                values = action.copy()
            else:
                with np.errstate(over="ignore"):  # becomes infinite, which is refused below
                    values = np.array(action, dtype=space.dtype)
        except (OverflowError, TypeError, ValueError):  # a whole number beyond every float, an odd number class
            problem = "got a number that is none"
        else:
            inside = (values >= space.low) & (values <= space.high)  # False for NaN
            if inside.all():
                return values
            place = int(np.argmin(inside))
            problem = f"got {values.flat[place]:g} at place {place}"
    return f"an action must be {describe_box(space)}; {problem}"


def _misfit(action: Any, space: spaces.Box) -> str:
    """What is wrong with the form of an action, before its numbers are looked at."""
    if isinstance(action, np.ndarray):
        if action.shape != space.shape:
            return f"got the shape {tuple(action.shape)}"
        return "" if action.dtype.kind == "f" else f"got the type {action.dtype}"
    if not isinstance(action, (list, tuple)):
        return f"got {type(action).__name__}"
    if len(action) != space.shape[0]:
        return f"got {len(action)} values"
    numbers = [isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) for value in action]
    return "" if len(space.shape) == 1 and all(numbers) else f"got a {type(action).__name__} of something else"


def describe_box(space: spaces.Box) -> str:
    """The members of a space of actions in words: "an array of 4 floats from -1 to 1"."""
    size = " x ".join(map(str, space.shape))
    low, high = np.unique(space.low), np.unique(space.high)
    if len(low) == len(high) == 1:
        return f"an array of {size} floats from {low[0]:g} to {high[0]:g}"
    return f"an array of {size} floats within the bounds of the action space"


def action_text(action: np.ndarray) -> str:
    """An action in a few characters."""
    return "[" + ", ".join([f"{value:.3g}" for value in np.ravel(action).tolist()]) + "]"
