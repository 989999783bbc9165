"""The tasks simulated by LIBERO's own package with its own assets, in a supervised process."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.core.seeding import mixed_seed
from agentrl.envs.libero.official.interpreter import find_libero, make_worker
from agentrl.envs.libero.package import given_starts
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import suites

BEGIN = 300.0  # seconds that setting a task up may take
SPLITS = ("train", "dev", "test")
NO_ASSETS = (
    "LIBERO's assets are not here: run agentrl setup libero-official where the Hugging Face hub can be reached, or "
    "give it a checkout of LIBERO's repository by --from, or name a folder with the files of lerobot/libero-assets by "
    "assets_folder=..., or use assets='procedural'"
)


class OfficialSimulation:
    """A LIBERO environment in another process. robosuite's controller cannot be saved, so a saved task is the list of
    the actions so far, and loading it repeats them from the start: exact, but slow.

    A process that hangs or dies is killed, its episode ends with a fault, and the next `begin` starts another.
    """

    def __init__(
        self, settle_steps: int = 0, python: str | None = None, assets_folder: str | None = None, image_size: int = 128
    ) -> None:
        self._options: dict[str, Any] = {"settle_steps": settle_steps, "python": python}
        self._options |= {"assets_folder": assets_folder, "image_size": image_size}
        interpreter = find_libero(python)
        self._worker = make_worker(interpreter.python, assets_folder)
        self._chosen: Chosen | None = None
        self._actions: list[list[float]] = []
        self._seen: dict[str, Any] = {}
        try:
            if not self._worker.call("assets"):
                raise ConfigError(NO_ASSETS)
        except BaseException:
            self._worker.close()
            raise

    @property
    def conditions(self) -> dict[str, bool]:
        """Those of the goal, and which hold."""
        return dict(self._seen.get("conditions", {}))

    def begin(self, chosen: Chosen) -> None:
        """Set a task up at one of its starts, and let it settle."""
        name = suites()[chosen.suite][chosen.task]
        start = given_starts(chosen.suite, name)[chosen.start] if chosen.split == "test" else None
        seed = mixed_seed(SPLITS.index(chosen.split), chosen.task, chosen.start) % 2**31
        self._chosen, self._actions, self._seen = None, [], {}
        how = self._options["image_size"], self._options["settle_steps"]
        self._seen = self._worker.call("begin", chosen.suite, name, start, seed, *how, deadline=BEGIN)
        self._chosen = chosen

    def step(self, action: np.ndarray) -> bool:
        """Run one action; is the goal reached?"""
        if self._chosen is None:
            raise EnvFault("the simulator was started again and has no task; call reset()")
        try:
            self._seen = self._worker.call("step", action.astype(np.float64))
        except BaseException:
            self._chosen = None
            raise
        self._actions.append(action.tolist())
        return all(self.conditions.values())

    def frame(self, camera: str, size: int) -> np.ndarray:
        """A picture of this moment."""
        return self._worker.call("frame", camera, size)

    def robot(self) -> dict[str, np.ndarray]:
        """The arm's own state, as robosuite measures it."""
        return self._seen["robot"]

    def names(self) -> tuple[list[str], list[str]]:
        """The objects, what the task is about first, and the joints of fixtures."""
        objects = self._seen["poses"]
        first = [name for name in self._seen["interest"] if name in objects]
        return list(dict.fromkeys([*first, *objects])), list(self._seen["joints"])

    def numbers(self) -> np.ndarray:
        """Position and quaternion of each object, then the joints."""
        objects, joints = self.names()
        return np.concatenate(
            [*(self._seen["poses"][name] for name in objects), [self._seen["joints"][name] for name in joints]]
        )

    def distractors(self) -> dict[str, np.ndarray]:
        """There are none."""
        return {}

    def held(self) -> str | None:
        """The object between the fingers."""
        return self._seen["held"]

    def save(self) -> dict[str, Any]:
        """The actions so far."""
        return {"actions": [list(action) for action in self._actions]}

    def load(self, chosen: Chosen, data: dict[str, Any]) -> None:
        """Repeat the actions from the start."""
        actions = msgspec.convert(data.get("actions"), list[list[float]])
        self.begin(chosen)
        for action in actions:
            self.step(np.array(action))

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"options": self._options, "chosen": self._chosen, "saved": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["options"])
        if state["chosen"] is not None:
            self.load(state["chosen"], state["saved"])
