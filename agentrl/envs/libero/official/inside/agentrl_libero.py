"""One LIBERO environment, in the interpreter that has the package; `agentrl` calls it through its supervised worker."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

import numpy as np
from agentrl_libero_frames import FrameGuard, check_renderer

CAMERAS = {"agentview": "agentview", "eye_in_hand": "robot0_eye_in_hand"}
HUB, DOWNLOADED = "lerobot/libero-assets", "~/.cache/libero/assets"  # the package's own choice
ROBOT = ("eef_pos", "eef_quat", "gripper_qpos", "gripper_qvel", "joint_pos", "joint_vel")  # robosuite's names
DRAWN = tuple(f"{kind}_{what}" for kind in ("geom", "site", "cam") for what in ("xpos", "xmat"))
DRAWN += ("light_xpos", "light_xdir")  # what a picture shows of the simulator's data
REST = np.array([0, 0, 0, 0, 0, 0, -1.0])


class Server:
    """Tasks of LIBERO, one at a time. Files that it writes go into `folder`.

    robosuite observes 20 times a second by a clock of its own, one step of the simulator (2 ms) before an action ends.
    Policies have seen such observations, so they are what is returned here. Pictures are drawn when asked for, of the
    same moment.
    """

    def __init__(self, folder: str, assets: str = "") -> None:
        found = importlib.util.find_spec("libero")
        if found is None or not found.submodule_search_locations:
            raise ImportError("libero is not installed")
        self._package = os.path.join(next(iter(found.submodule_search_locations)), "libero")
        self._assets = assets
        self._env: Any = None
        self._bddl = ""
        self._moment: dict[str, Any] = {}  # where everything was when robosuite observed last
        # LIBERO asks questions on the terminal when it is imported without this file.
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

    def begin(self, suite: str, task: str, start: Any, seed: int, size: int, settle_steps: int) -> dict[str, Any]:
        """Set a task up: in the state `start` of the simulator, or, for None, at places drawn from `seed`; then let it
        settle."""
        bddl = os.path.join(self._package, "bddl_files", suite, f"{task}.bddl")
        if self._env is None or self._bddl != bddl:
            self.close()
            import libero.libero as package  # pyright: ignore[reportMissingImports]

            package._assets_path_cache = self.assets()
            from libero.libero.envs import OffScreenRenderEnv  # pyright: ignore[reportMissingImports]

            # A hard reset makes a new simulation, after which the renderer may show old memory.
            self._env = OffScreenRenderEnv(
                bddl_file_name=bddl, use_camera_obs=False, hard_reset=False, ignore_done=True
            )
            self._bddl = bddl
            self._keep_moments()
        self._env.seed(seed)
        self._env.reset()
        if start is not None:
            self._env.set_init_state(np.asarray(start, dtype=float))
        gripper = self._env.env.robots[0].gripper
        gripper.current_action = np.zeros(gripper.dof)  # robosuite keeps where the last episode left it
        for _ in range(settle_steps):
            self._env.step(REST)
        self._guard = FrameGuard()
        self._check_pictures(size)
        return self.look()

    def _keep_moments(self) -> None:
        """Note where everything is whenever robosuite observes."""
        from robosuite.utils.observables import Observable, sensor  # pyright: ignore[reportMissingImports]

        @sensor(modality="agentrl")
        def moment(_: Any) -> float:
            self._moment = self._poses()
            return 0.0

        observable = Observable("agentrl_moment", moment, sampling_rate=self._env.env.control_freq)
        observable.set_active(False)  # it is no part of what is seen
        self._env.env.add_observable(observable)

    def _poses(self) -> dict[str, Any]:
        return {name: getattr(self._env.sim.data, name).copy() for name in DRAWN}

    def _set_poses(self, poses: dict[str, Any]) -> None:
        for name, values in poses.items():
            getattr(self._env.sim.data, name)[:] = values

    def _check_pictures(self, size: int) -> None:
        now = self._poses()
        moved = {**now, "geom_xpos": now["geom_xpos"] + 0.1}
        check_renderer(
            lambda: self._draw("agentview", size), lambda: self._set_poses(moved), lambda: self._set_poses(now)
        )

    def step(self, action: Any) -> dict[str, Any]:
        """Run one action."""
        self._env.step(np.asarray(action, dtype=float))
        return self.look()

    def look(self) -> dict[str, Any]:
        """What robosuite has observed of the robot, and all else as it is now."""
        inner = self._env.env
        seen = inner._get_observations()
        data, robot, things = inner.sim.data, inner.robots[0], inner.objects_dict.items()
        joints = [joint for fixture in inner.fixtures_dict.values() for joint in fixture.joints]
        held = (name for name, thing in things if inner._check_grasp(gripper=robot.gripper, object_geoms=thing))
        goal = [(" ".join([fact[0].capitalize(), *fact[1:]]), fact) for fact in inner.parsed_problem["goal_state"]]
        return {
            "robot": {name: np.asarray(seen[f"robot0_{name}"], dtype=float) for name in ROBOT},
            "interest": [str(name) for name in inner.obj_of_interest],
            "poses": {
                name: np.concatenate([data.body_xpos[body], data.body_xquat[body]])
                for name, body in ((name, inner.obj_body_id[name]) for name in inner.objects_dict)
            },
            "joints": {name: float(data.get_joint_qpos(name)) for name in joints},
            "conditions": {text: bool(inner._eval_predicate(fact)) for text, fact in goal},
            "held": next(held, None),
        }

    def frame(self, camera: str, size: int) -> Any:
        """A picture of the observed moment, the right way up."""
        now = self._poses()
        self._set_poses(self._moment)
        try:
            picture = self._draw(camera, size)
        finally:
            self._set_poses(now)
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
