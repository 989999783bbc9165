"""A guard against pictures of the past.

After a hard reset, robosuite's renderer may return old memory: a valid picture of a moment that is gone. Nothing in
such a picture gives it away, but it does not change when the simulation does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

VISIBLE = 0.02  # metres or radians by which a joint must have moved to be seen in a picture


class StaleFrame(RuntimeError):
    """A picture did not change although the simulation did."""


class FrameGuard:
    """Compares each picture with the one before it, camera by camera."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Any, bytes]] = {}

    def check(self, camera: str, joints: Any, picture: Any) -> None:
        """`StaleFrame` if this picture is the last one of the camera although a joint has visibly moved since."""
        pixels = picture.tobytes()
        before = self._last.get(camera)
        if before is not None and len(before[0]) == len(joints) and pixels == before[1]:
            if float(abs(before[0] - joints).max()) > VISIBLE:
                raise StaleFrame(f"the renderer returned an old picture of {camera}: the simulation is started again")
            return  # keep the older joints: many small motions add up
        self._last[camera] = joints.copy(), pixels


def check_renderer(draw: Callable[[], Any], move: Callable[[], None], put_back: Callable[[], None]) -> None:
    """`StaleFrame` if a picture stays the same when the arm is moved; the simulation is left as it was."""
    before = draw().tobytes()
    move()
    try:
        if draw().tobytes() == before:
            raise StaleFrame("the renderer's picture did not change when the arm was moved")
    finally:
        put_back()
