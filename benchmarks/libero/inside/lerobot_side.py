"""lerobot's own LIBERO environment and processor, in an interpreter that has lerobot and LIBERO's package."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np


class Lerobot:
    """One task at a time, as `lerobot-eval` sees it: its environment, `preprocess_observation`, its LIBERO step."""

    def __init__(self, folder: str, assets: str) -> None:
        found = find_spec("libero")
        assert found is not None and found.submodule_search_locations
        package = os.path.join(next(iter(found.submodule_search_locations)), "libero")
        os.makedirs(folder, exist_ok=True)
        paths = {"benchmark_root": package, "datasets": folder, "assets": assets}
        paths |= {"bddl_files": os.path.join(package, "bddl_files"), "init_states": os.path.join(package, "init_files")}
        with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as file:
            json.dump(paths, file)
        os.environ["LIBERO_CONFIG_PATH"] = folder
        import libero.libero as libero  # pyright: ignore[reportMissingImports]

        libero._assets_path_cache = assets
        self._env: Any = None

    def begin(self, suite: str, task: int, start: int, seed: int) -> dict[str, Any]:
        """The first observation of a start, raw and after the processor."""
        from lerobot.envs.libero import LiberoEnv, _get_suite  # pyright: ignore[reportMissingImports]

        self.close()
        self._env = LiberoEnv(_get_suite(suite), task, suite, obs_type="pixels_agent_pos", episode_index=start)
        # LIBERO adds to this list whenever it loads a scene and never clears it, so that with every reset the same seed
        # draws other places of fixtures in tasks that begin with an open drawer or a knob turned on.
        self._env._env.env.object_property_initializers.clear()
        observation, _ = self._env.reset(seed=seed)
        return self._seen(observation)

    def step(self, action: Any) -> dict[str, Any]:
        """Run one action."""
        observation, reward, terminated, _, _ = self._env.step(np.asarray(action))
        return {**self._seen(observation), "reward": float(reward), "terminated": bool(terminated)}

    def facts(self) -> dict[str, Any]:
        """What it says about itself."""
        env = self._env
        space = {"low": env.action_space.low, "high": env.action_space.high}
        return {"lerobot": version("lerobot"), "limit": env._max_episode_steps, "task": env.task_description, **space}

    def _seen(self, observation: dict[str, Any]) -> dict[str, Any]:
        from lerobot.envs.utils import preprocess_observation  # pyright: ignore[reportMissingImports]
        from lerobot.processor.env_processor import LiberoProcessorStep  # pyright: ignore[reportMissingImports]

        batch = {"pixels": {name: value[None] for name, value in observation["pixels"].items()}}
        state = {
            part: {name: np.asarray(value)[None] for name, value in values.items()}
            for part, values in observation["robot_state"].items()
        }
        processed = LiberoProcessorStep().observation(preprocess_observation({**batch, "robot_state": state}))
        raw = {f"{part}.{name}": value[0] for part, values in state.items() for name, value in values.items()}
        return {"processed": {key: value[0].numpy() for key, value in processed.items()}, "raw": raw}

    def close(self) -> None:
        """Free the environment."""
        if self._env is not None:
            self._env.close()
            self._env = None
