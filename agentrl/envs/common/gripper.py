"""A Panda and its gripper, whatever simulates them."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

READY = (0.0, 0.25, 0.0, -2.35, 0.0, 2.6, pi / 4)  # joints of a posture away from all limits, gripper down
OPENING = 0.04  # metres that each finger travels
TIP = 0.0095  # the fingers end this far below the point between their pads


def pointing_down(yaw: float) -> np.ndarray:
    """The gripper's rotation when it points down; at yaw 0 the fingers move along y."""
    return np.array([[cos(yaw), sin(yaw), 0.0], [sin(yaw), -cos(yaw), 0.0], [0.0, 0.0, -1.0]])
