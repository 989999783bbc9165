"""The table and what stands on it, as a ManiSkill environment: its Panda, its table, our things.

Only `backend` imports this, after it has made sure that ManiSkill is there.
"""
# pyright: reportMissingImports=false
# ManiSkill exists for x86-64 only, and types are checked everywhere.

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Any

import numpy as np

from agentrl.core.errors import MissingExtra
from agentrl.envs.common.gripper import OPENING, READY
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.shapes import (
    BASE,
    CABINET,
    DRAWER,
    EYE,
    HANDLE,
    LOOKS_AT,
    METAL,
    MIDDLE,
    SHADE,
    TRAVEL,
    VIEW,
    Board,
    boxes,
    opening_of,
)

try:
    import sapien
    from mani_skill.envs.sapien_env import BaseEnv
    from mani_skill.sensors.camera import Camera, CameraConfig
    from mani_skill.utils import sapien_utils
    from mani_skill.utils.scene_builder.table import TableSceneBuilder
except ImportError as error:
    raise MissingExtra("mani_skill", "maniskill") from error

Pose = sapien.Pose
RATE = 50  # ticks of the controller a second
UPRIGHT = sapien.Pose(q=[cos(pi / 4), 0.0, sin(pi / 4), 0.0])  # sapien's cylinders lie along x


class Tabletop(BaseEnv):
    """One arm behind a table with the things of a start; built anew for each, so that nothing is left of the last."""

    def __init__(self, start: Start, sim_backend: str) -> None:
        self.start = start
        super().__init__(
            num_envs=1,
            obs_mode="none",
            reward_mode="none",
            control_mode="pd_ee_pose",  # holds the wrist's orientation, which the controller of positions lets drift
            robot_uids="panda",
            sim_backend=sim_backend,
            render_backend="cpu",
            sim_config={"control_freq": RATE, "sim_freq": 2 * RATE},
        )

    def begin(self, start: Start) -> None:
        """Set the table anew."""
        self.start = start
        self.reset(seed=0, options={"reconfigure": True})

    def look(self, size: int) -> np.ndarray:
        """The table from the viewer's place, uint8 [size, size, 3]."""
        name = f"viewer_{size}"
        if name not in self.scene.human_render_cameras:
            pose = sapien_utils.look_at(eye=EYE, target=LOOKS_AT)
            config = CameraConfig(name, pose, size, size, VIEW * pi / 180, 0.01, 10.0, shader_pack="default")
            self.scene.human_render_cameras[name] = Camera(config, self.scene)
        return self.render_rgb_array(name)[0].cpu().numpy().astype(np.uint8)

    # ---------------------------------------------------------------- hooks of ManiSkill

    def _load_agent(self, options: dict) -> None:
        super()._load_agent(options, sapien.Pose(p=BASE))

    def _load_scene(self, options: dict) -> None:
        self.table_scene = TableSceneBuilder(self, robot_init_qpos_noise=0.0)
        self.table_scene.build()
        self.bodies: dict[str, Any] = {}  # by name: what has a pose
        self.drawers: dict[str, Any] = {}  # by name: what has a joint
        for thing in self.start.things:
            x, y, angle = self.start.places[thing.name]
            turn = [cos(angle / 2), 0.0, 0.0, sin(angle / 2)]
            self._ADD[thing.shape](self, thing, sapien.Pose([x / 1000, y / 1000, 0.0], turn))

    def _initialize_episode(self, env_idx: Any, options: dict) -> None:
        self.table_scene.initialize(env_idx)
        self.agent.reset(np.array([*READY, OPENING, OPENING]))
        for thing in self.start.things:
            if thing.shape == "drawer":
                self.drawers[thing.name].set_qpos(np.array([[opening_of(thing, self.start.values)]], np.float32))

    # ---------------------------------------------------------------- things

    def _add_cube(self, thing: Thing, pose: Any) -> None:
        builder, side = self.scene.create_actor_builder(), thing.size / 1000
        builder.add_box_collision(half_size=[side] * 3, density=400.0)
        builder.add_box_visual(half_size=[side] * 3, material=_paint(thing.colour))
        self._add_movable(builder, thing, pose)

    def _add_sphere(self, thing: Thing, pose: Any) -> None:
        builder, radius = self.scene.create_actor_builder(), thing.size / 1000
        builder.add_sphere_collision(radius=radius, density=400.0)
        builder.add_sphere_visual(radius=radius, material=_paint(thing.colour))
        stalk = sapien.Pose([0.0, 0.0, 1.15 * radius], UPRIGHT.q)
        builder.add_cylinder_visual(stalk, 0.09 * radius, 0.25 * radius, material=_paint((0.35, 0.22, 0.12)))
        leaf = sapien.Pose([0.0, 0.3 * radius, 1.25 * radius])
        builder.add_box_visual(leaf, [0.16 * radius, 0.3 * radius, 0.03 * radius], material=_paint((0.25, 0.55, 0.2)))
        self._add_movable(builder, thing, pose)
        self.bodies[thing.name].set_angular_damping(10.0)  # fruit is not quite round: it soon stops rolling

    def _add_movable(self, builder: Any, thing: Thing, pose: Any) -> None:
        builder.initial_pose = sapien.Pose([*pose.p[:2], thing.size / 1000], pose.q)
        self.bodies[thing.name] = builder.build(name=thing.name)

    def _add_disc(self, thing: Thing, pose: Any) -> None:
        builder = self.scene.create_actor_builder()
        builder.add_cylinder_visual(UPRIGHT, thing.size / 1000, 0.0006, material=_paint(thing.colour))
        builder.initial_pose = pose
        self.bodies[thing.name] = builder.build_kinematic(name=thing.name)

    def _add_drawer(self, thing: Thing, pose: Any) -> None:
        builder, size = self.scene.create_articulation_builder(), thing.size / 1000
        cabinet = builder.create_link_builder()
        cabinet.set_name(f"{thing.name}_cabinet")
        _add_boards(cabinet, CABINET, thing, [SHADE * part for part in thing.colour])
        drawer = builder.create_link_builder(cabinet)
        drawer.set_name(thing.name)
        drawer.set_joint_name(f"{thing.name}_slide")
        drawer.set_joint_properties(
            "prismatic",
            limits=[[0.0, TRAVEL * size]],
            pose_in_parent=sapien.Pose([0.0, 0.0, size * MIDDLE]),
            pose_in_child=sapien.Pose(),
            friction=0.05,
            damping=8.0,
        )
        _add_boards(drawer, DRAWER, thing, thing.colour)
        _add_boards(drawer, HANDLE, thing, METAL)
        builder.initial_pose = pose
        self.drawers[thing.name] = articulation = builder.build(name=thing.name, fix_root_link=True)
        self.bodies[thing.name] = articulation.links_map[thing.name]
        self.bodies[f"{thing.name}_cabinet"] = articulation.links_map[f"{thing.name}_cabinet"]

    _ADD = {"cube": _add_cube, "sphere": _add_sphere, "disc": _add_disc, "drawer": _add_drawer}


def _paint(colour: Sequence[float]) -> Any:
    linear = [part**2.2 for part in colour]  # sapien's colours are linear, ours those of a screen
    return sapien.render.RenderMaterial(base_color=[*linear, 1.0], roughness=0.7, specular=0.2)


def _add_boards(link: Any, boards: Sequence[Board], thing: Thing, colour: Sequence[float]) -> None:
    for middle, half in boxes(boards, thing):
        link.add_box_collision(sapien.Pose(middle), half, density=300.0)
        link.add_box_visual(sapien.Pose(middle), half, material=_paint(colour))
