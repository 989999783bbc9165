"""What an environment needs of a simulated task, whatever simulates it: `procedural` or the `official` package."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.libero.task_ids import Chosen

SOURCES = {
    "procedural": "agentrl.envs.libero.procedural:ProceduralSimulation",
    "official": "agentrl.envs.libero.official.simulation:OfficialSimulation",
}
PICTURES = {"image": "agentview", "wrist_image": "eye_in_hand"}  # name in the observation -> camera


class Simulation(Protocol):
    """One task at a time. Metres and radians in the world's frame."""

    @property
    def conditions(self) -> dict[str, bool]:
        """Those of the goal, and which hold now."""
        ...

    def begin(self, chosen: Chosen) -> None:
        """Set a task up at one of its starts."""
        ...

    def step(self, action: np.ndarray) -> bool:
        """Run one action; is the goal reached?"""
        ...

    def frame(self, camera: str, size: int) -> np.ndarray:
        """A picture of this moment, uint8 [size, size, 3]."""
        ...

    def proprio(self) -> np.ndarray:
        """Position and axis-angle of the gripper, and the joints of its two fingers: eight numbers."""
        ...

    def names(self) -> tuple[list[str], list[str]]:
        """The objects, what the task is about first, and the joints of drawers, doors and knobs."""
        ...

    def numbers(self) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of each of the objects, then the values of the joints."""
        ...

    def held(self) -> str | None:
        """The object between the fingers."""
        ...

    def save(self) -> dict[str, Any]:
        """Everything the future depends on, as values that msgpack can write."""
        ...

    def load(self, chosen: Chosen, data: dict[str, Any]) -> None:
        """Inverse of `save`; ValueError if the data does not fit the task."""
        ...

    def close(self) -> None:
        """Free what it holds; `begin` takes it again."""
        ...


def make_simulation(
    assets: Any, python: str | None = None, assets_folder: str | None = None, image_size: int = 128
) -> Simulation:
    """The simulation with these assets; a sentence says why there is none. The arguments after the first are about
    the official ones."""
    if not isinstance(assets, str) or assets not in SOURCES:
        raise ConfigError(
            f"assets must be one of {', '.join(SOURCES)}; got {assets!r}.{did_you_mean(str(assets), SOURCES)}"
        )
    module, _, attribute = SOURCES[assets].partition(":")
    make = getattr(import_module(module), attribute)
    return make() if assets == "procedural" else make(python, assets_folder, image_size)
