"""Actions of continuous control: whatever a policy hands over, as an array that a simulator can run, or as a sentence.

Kept apart from the environments because wrappers read actions in the same way.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

OUT_OF_RANGE = ("clip", "refuse")  # what becomes of finite numbers beyond the bounds of the action space


class Control(NamedTuple):
    """An action within the bounds of its space."""

    values: np.ndarray  # a new array
    clipped: int = 0  # how many of its numbers were beyond the bounds


def read_control(action: Any, space: spaces.Box, out_of_range: str = "refuse") -> Control | str:
    """`action` as an array of `space`, or what is wrong with it; total, whatever it is.

    Arrays and torch tensors of any floating type and plain lists of numbers are taken, alone or as the only row of a
    batch. Arrays of other types are not: an array of whole numbers or of booleans is more often a mistake (an index, a
    mask) than a motion. Finite numbers out of range are clipped with `out_of_range="clip"`.
    """
    try:
        plain = _only_row(as_array(action), space)
        problem = _misfit(plain, space)
        values = np.zeros(0) if problem else np.array(plain, dtype=np.float64)
    except (OverflowError, RuntimeError, TypeError, ValueError):  # beyond every float, an odd class, a lost device
        problem, values = "got a number that is none", np.zeros(0)
    if not problem:
        with np.errstate(over="ignore"):  # becomes infinite, which is out of range
            rounded = values.astype(space.dtype)
        inside = (rounded >= space.low) & (rounded <= space.high)  # False for NaN
        if inside.all():
            return Control(rounded)
        good = np.isfinite(values) if out_of_range == "clip" else inside
        if good.all():
            within = np.clip(values, space.low, space.high).astype(space.dtype)
            return Control(within, int(inside.size - inside.sum()))
        place = int(np.argmin(good))
        problem = f"got {values.flat[place]:g} at place {place}"
    return f"an action must be {describe_box(space)}; {problem}"


def as_array(action: Any) -> Any:
    """A torch tensor, of any device and floating type, as an array; anything else as it is."""
    if type(action).__module__.partition(".")[0] != "torch" or not hasattr(action, "detach"):
        return action
    action = action.detach().cpu()
    return (action.float() if action.is_floating_point() else action).numpy()  # numpy has no bfloat16


def _only_row(action: Any, space: spaces.Box) -> Any:
    """The only row of a batch of one; anything else as it is."""
    if isinstance(action, np.ndarray):
        return action[0] if action.shape == (1, *space.shape) else action
    alone = isinstance(action, (list, tuple)) and len(action) == 1
    return action[0] if alone and isinstance(action[0], (list, tuple, np.ndarray)) else action


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
