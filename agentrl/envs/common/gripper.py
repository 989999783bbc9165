"""A Panda's gripper, whatever simulates it."""

from __future__ import annotations

from math import cos, sin

import numpy as np

OPENING = 0.04  # metres that each finger travels
TIP = 0.0095  # the fingers end this far below the point between their pads


def pointing_down(yaw: float) -> np.ndarray:
    """The gripper's rotation when it points down; at yaw 0 the fingers move along y."""
    return np.array([[cos(yaw), sin(yaw), 0.0], [sin(yaw), -cos(yaw), 0.0], [0.0, 0.0, -1.0]])
