"""One LIBERO environment, in the interpreter that has the package; `agentrl` calls it through its supervised worker."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

import numpy as np
from agentrl_libero_frames import FrameGuard, check_renderer

CAMERAS = {"agentview": "agentview", "eye_in_hand": "robot0_eye_in_hand"}
SETTLING = 5  # steps without motion after a start is loaded, as in LIBERO's own evaluation
HUB, DOWNLOADED = "lerobot/libero-assets", "~/.cache/libero/assets"  # the package's own choice
REST = np.array([0, 0, 0, 0, 0, 0, -1.0])


class Server:
    """Tasks of LIBERO, one at a time. Files that it writes go into `folder`."""

    def __init__(self, folder: str, assets: str = "") -> None:
        self._package = os.path.join(_folder_of("libero"), "libero")
        self._assets = assets
        self._env: Any = None
        self._bddl = ""
        self._write_config(folder)

    def _write_config(self, folder: str) -> None:
        """LIBERO asks questions on the terminal when it is imported without this file."""
        os.makedirs(folder, exist_ok=True)
        paths = {"benchmark_root": self._package, "datasets": os.path.join(folder, "datasets")}
        paths.update(bddl_files=os.path.join(self._package, "bddl_files"))
        paths.update(init_states=os.path.join(self._package, "init_files"), assets=self.assets() or "")
        with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as file:
            json.dump(paths, file)  # JSON is YAML
        os.environ["LIBERO_CONFIG_PATH"] = folder

    def assets(self) -> str:
        """The folder of LIBERO's assets, or nothing where there is none."""
        for folder in (self._assets, os.path.join(self._package, "assets"), os.path.expanduser(DOWNLOADED)):
            if folder and os.path.isdir(os.path.join(folder, "scenes")):
                return folder
        return ""

    def download(self) -> str:
        """Fetch the assets from the model hub to where the package looks for them."""
        from huggingface_hub import snapshot_download

        return snapshot_download(HUB, repo_type="dataset", local_dir=os.path.expanduser(DOWNLOADED))

    def begin(self, suite: str, task: str, start: Any, seed: int, size: int) -> dict[str, Any]:
        """Set a task up: in the state `start` of the simulator, or, for None, at places drawn from `seed`."""
        self._open(os.path.join(self._package, "bddl_files", suite, f"{task}.bddl"))
        self._env.seed(seed)
        self._env.reset()
        if start is not None:
            self._env.set_init_state(np.asarray(start, dtype=float))
        for _ in range(SETTLING):
            self._env.step(REST)
        self._guard = FrameGuard()
        self._check_pictures(size)
        return self.look()

    def _open(self, bddl: str) -> None:
        if self._env is not None and self._bddl == bddl:
            return
        self.close()
        import libero.libero as package  # pyright: ignore[reportMissingImports]

        package._assets_path_cache = self.assets()
        from libero.libero.envs import OffScreenRenderEnv  # pyright: ignore[reportMissingImports]

        # A hard reset makes a new simulation, after which the renderer may show old memory.
        self._env = OffScreenRenderEnv(bddl_file_name=bddl, use_camera_obs=False, hard_reset=False, ignore_done=True)
        self._bddl = bddl

    def _check_pictures(self, size: int) -> None:
        sim = self._env.sim
        before = sim.get_state()

        def move() -> None:
            sim.data.qpos[:7] += 0.3
            sim.forward()

        def put_back() -> None:
            sim.set_state(before)
            sim.forward()

        check_renderer(lambda: self._draw("agentview", size), move, put_back)

    def step(self, action: Any) -> dict[str, Any]:
        """Run one action."""
        self._env.step(np.asarray(action, dtype=float))
        return self.look()

    def look(self) -> dict[str, Any]:
        """All that can be measured now."""
        inner = self._env.env
        seen = inner._get_observations(force_update=True)
        goal = [(" ".join([fact[0].capitalize(), *fact[1:]]), fact) for fact in inner.parsed_problem["goal_state"]]
        return {
            "position": np.asarray(seen["robot0_eef_pos"], dtype=float),
            "quaternion": np.asarray(seen["robot0_eef_quat"], dtype=float)[[3, 0, 1, 2]],
            "fingers": np.asarray(seen["robot0_gripper_qpos"], dtype=float),
            "interest": [str(name) for name in inner.obj_of_interest],
            "poses": {name: self._pose(name) for name in inner.objects_dict},
            "joints": self._joints(),
            "conditions": {text: bool(inner._eval_predicate(fact)) for text, fact in goal},
            "held": self._held(),
        }

    def _pose(self, name: str) -> Any:
        inner = self._env.env
        body = inner.obj_body_id[name]
        return np.concatenate([inner.sim.data.body_xpos[body], inner.sim.data.body_xquat[body]])

    def _joints(self) -> dict[str, float]:
        inner = self._env.env
        names = [joint for fixture in inner.fixtures_dict.values() for joint in fixture.joints]
        return {name: float(inner.sim.data.get_joint_qpos(name)) for name in names}

    def _held(self) -> str | None:
        inner = self._env.env
        gripper = inner.robots[0].gripper
        for name, thing in inner.objects_dict.items():
            if inner._check_grasp(gripper=gripper, object_geoms=thing):
                return name
        return None

    def frame(self, camera: str, size: int) -> Any:
        """A picture of this moment, the right way up."""
        picture = self._draw(camera, size)
        self._guard.check(camera, self._env.sim.data.qpos.copy(), picture)
        return picture

    def _draw(self, camera: str, size: int) -> Any:
        drawn = self._env.sim.render(width=size, height=size, camera_name=CAMERAS[camera])
        return np.ascontiguousarray(drawn[::-1])

    def close(self) -> None:
        """Free the environment."""
        if self._env is not None:
            self._env.close()
            self._env = None


def _folder_of(package: str) -> str:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f"{package} is not installed")
    return next(iter(found.submodule_search_locations))
