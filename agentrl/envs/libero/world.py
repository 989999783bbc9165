"""A LIBERO task as a MuJoCo simulation: the scene of its BDDL file with object models of our own.

Metres and radians in the frame of LIBERO's own scenes: x points away from the arm, y to its left, z up. The camera
`agentview` looks from +x back to the arm, so that y goes to the right in its pictures.
"""

from __future__ import annotations

from math import atan2, pi
from typing import Any, NamedTuple

import numpy as np

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.common.mujoco import physics, pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.arm import TorqueArm
from agentrl.envs.libero.bddl import Problem
from agentrl.envs.libero.objects import model_of
from agentrl.envs.libero.objects.model import Joint
from agentrl.envs.libero.objects.sculptor import GLOWING
from agentrl.envs.libero.package import suites
from agentrl.envs.libero.predicates import holds
from agentrl.envs.libero.scene import AGENT_VIEW, SURFACE, WRIST, arena_of, fixtures_of, load_scene
from agentrl.envs.libero.starts import Start, joints_of, make_start, named_joints, place

__all__ = ["AGENT_VIEW", "WRIST", "Grasp", "Handle", "Start", "World", "suites"]

mujoco = load()
CAMERAS = (AGENT_VIEW, WRIST)


class Handle(NamedTuple):
    """What the gripper takes to move a joint of a fixture, where it is now."""

    joint: str
    position: np.ndarray
    along: np.ndarray  # unit vector: the direction in which the bar extends
    outward: np.ndarray  # unit vector: away from the fixture
    value: float  # of the joint now
    limits: tuple[float, float]  # of the joint


class Grasp(NamedTuple):
    """One way to take an object from above."""

    position: np.ndarray  # the point between the finger pads
    yaw: float  # as in `agentrl.envs.common.gripper.pointing_down`: fingers move along y at 0
    width: float  # between the fingers, once closed


class World:
    """One task.

    `suite` is one of `suites()`, `task` the name of one of its tasks or its number. `arm` moves the Panda; everything
    else is in `model`, which all worlds of a task share and nobody may change, and `data`. With a `scene` of its own,
    a world may have `distractors`: objects that its task does not know.
    """

    def __init__(
        self,
        suite: str,
        task: str | int,
        scene: tuple[Problem, Any] | None = None,
        distractors: tuple[str, ...] = (),
    ) -> None:
        known = suites()
        if suite not in known:
            hint = did_you_mean(suite, known)
            raise ConfigError(f"unknown suite {suite[:80]!a}.{hint} There are: {', '.join(known)}.")
        tasks = known[suite]
        if isinstance(task, int) and 0 <= task < len(tasks):
            task = tasks[task]
        if task not in tasks:
            hint, last = did_you_mean(task, tasks) if isinstance(task, str) else "", len(tasks) - 1
            raise ConfigError(f"{suite} has no task {str(task)[:120]!a}: it must be a name, or 0 to {last}.{hint}")
        self.suite, self.task = suite, str(task)
        problem, self.model = load_scene(suite, self.task) if scene is None else scene
        self.problem: Problem = problem
        self.data: Any = mujoco.MjData(self.model)
        self.arm = TorqueArm(self.model, self.data)
        self.height = arena_of(problem.name).height  # of what things stand on
        self.objects = tuple(problem.objects)  # what can be moved, as in the BDDL file
        self.distractors = distractors
        self.fixtures = tuple(fixtures_of(problem))  # cabinets, stoves, ...; without the table itself
        self.kinds = {**problem.objects, **fixtures_of(problem)}  # name -> type
        self.joints = tuple(joints_of(problem))  # wooden_cabinet_1_top_level, flat_stove_1_button, ...
        self.addresses = {name: int(self.model.joint(name).qposadr[0]) for name in self.objects}  # in data.qpos
        self._bodies = {
            name: (int(self.model.body(name).id), np.array(model_of(kind).middle)) for name, kind in self.kinds.items()
        }
        self._joint_addresses = {name: int(self.model.joint(name).qposadr[0]) for name in self.joints}
        self._joints_about: dict[str, list[tuple[str, Joint]]] = {}
        free = {int(self.model.joint(name).dofadr[0]) + dof for name in self.objects for dof in range(6)}
        self.fixed_dofs = np.array([dof for dof in range(self.model.nv) if dof not in free])
        self._surface = self.model.geom(SURFACE).id
        self.tables = {name for name in problem.fixtures if name not in self.kinds}
        self._roots = [self.model.body(self.model.body_rootid[body]).name for body in range(self.model.nbody)]
        self._owner_of = [self._roots[body] for body in self.model.geom_bodyid]

    # ---------------------------------------------------------------- beginning

    def start(self, name: str) -> Start:
        """`test/0` to `test/49`: those that LIBERO gives; `train/N`, `dev/N`: drawn from the task's regions."""
        return make_start(self.suite, self.task, self.problem, name)

    def reset(self, start: Start) -> None:
        """Put everything in its place, at rest, and forward the simulation. The same start gives the same state."""
        place(self, start)

    # ---------------------------------------------------------------- the goal

    def goal_holds(self) -> bool:
        """Is the task done now? `data` must be forwarded."""
        return holds(self, self.problem.goal)

    def conditions(self) -> dict[str, bool]:
        """Each fact of the goal, as text such as `On akita_black_bowl_1 plate_1`, and whether it holds."""
        return {str(fact): holds(self, fact) for fact in self.problem.goal.facts()}

    # ---------------------------------------------------------------- where things are

    def position(self, name: str) -> np.ndarray:
        """The middle of an object, fixture or region."""
        return self.pose(name)[0]

    def pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The middle of an object, fixture or region, and its 3 x 3 rotation."""
        if name in self.kinds:
            body, middle = self._bodies[name]
            rotation = self.data.xmat[body].reshape(3, 3).copy()
            return self.data.xpos[body] + rotation @ middle, rotation
        site = self._region(name)
        return self.data.site_xpos[site].copy(), self.data.site_xmat[site].reshape(3, 3).copy()

    def size(self, name: str) -> np.ndarray:
        """Half of the extent of an object, fixture or region along its own axes."""
        if name in self.kinds:
            return np.array(model_of(self.kinds[name]).half)
        return self.model.site_size[self._region(name)].copy()

    def lowest(self, name: str) -> float:
        """The height of the lowest point of an object, as if it were a box."""
        middle, rotation = self.pose(name)
        return float(middle[2] - np.abs(rotation[2]) @ self.size(name))

    def joint(self, name: str) -> float:
        """The value of a fixture's joint: metres or radians."""
        return float(self.data.qpos[self._joint_addresses[name]])

    def joints_about(self, name: str) -> list[tuple[str, Joint]]:
        """The joints of a fixture, or of a region of one, by name."""
        if name not in self._joints_about:
            self._joints_about[name] = list(named_joints(self.problem, name).items())
        return self._joints_about[name]

    def handle(self, name: str) -> Handle:
        """The handle or knob of a joint (`wooden_cabinet_1_top_level`), or of its region (`..._top_region`)."""
        for fixture in self.fixtures:
            for part, described in model_of(self.kinds[fixture]).joints.items():
                if name in (f"{fixture}_{part}", f"{fixture}_{described.region}", fixture):
                    return self._handle(f"{fixture}_{part}", described)
        raise ConfigError(f"{name[:80]!a} has no handle.{did_you_mean(name, self.joints)}")

    def _handle(self, joint: str, described: Joint) -> Handle:
        body = self.data.body(joint)
        rotation = body.xmat.reshape(3, 3)
        upright = described.outward[2] == 0
        return Handle(
            joint,
            body.xpos + rotation @ np.array(described.handle),
            rotation @ np.array([0.0, 0.0, 1.0] if upright else [1.0, 0.0, 0.0]),
            rotation @ np.array(described.outward),
            self.joint(joint),
            described.limits,
        )

    def grasps(self, name: str) -> list[Grasp]:
        """Ways to take an object that stands upright where it is now. Whether the gripper fits there is not checked."""
        middle, rotation = self.pose(name)
        found = []
        for grip in model_of(self.kinds[name]).grips:
            fingers = rotation @ np.array([np.cos(grip.angle), np.sin(grip.angle), 0.0])
            # The fingers are alike: a turn by half is the same grasp. From -67.5 to 112.5 degrees, which the arm's last
            # joint can turn to; the ends lie between the grasps of things that stand straight.
            yaw = (atan2(fingers[0], -fingers[1]) + 3 * pi / 8) % pi - 3 * pi / 8
            found.append(Grasp(middle + rotation @ np.array(grip.middle), yaw, grip.width))
        return found

    # ---------------------------------------------------------------- touching

    def owner(self, geom: int) -> str:
        """The object, fixture or arm (`panda_base`) that a geom belongs to; `world` for the room."""
        return self._owner_of[geom]

    def touching(self, name: str, other: str) -> bool:
        """Do two things touch? The table goes by its own name."""
        return any({name, other} == {self.touched(a), self.touched(b)} for a, b in self.data.contact.geom.tolist())

    def geoms_of(self, name: str) -> np.ndarray:
        """By which of the model's geoms something touches, as a mask. The table goes by its own name."""
        return np.array([self.touched(geom) == name for geom in range(self.model.ngeom)])

    def held(self) -> str | None:
        """The object between the fingers."""
        body = self.arm.grasped()
        name = None if body is None else self._roots[body]
        return name if name in self.objects else None

    # ---------------------------------------------------------------- pictures and saving

    def draw(self, camera: str, size: int) -> np.ndarray:
        """A picture through `agentview` or `eye_in_hand`, uint8 [size, size, 3]. A stove that is on glows."""
        if camera not in CAMERAS:
            raise ValueError(f"the cameras are {' and '.join(CAMERAS)}; got {camera!a}")
        stoves = [name for name in self.fixtures if self.kinds[name] == "flat_stove"]
        hot = any(
            joint.holds("turnon", self.joint(name)) for stove in stoves for name, joint in self.joints_about(stove)
        )
        return pictures.draw(self.model, self.data, camera, size, hidden=() if hot else (GLOWING,))

    def save(self) -> bytes:
        """The state of the simulation: what is loaded continues bit for bit."""
        return physics.save(self.model, self.data)

    def load(self, blob: bytes) -> None:
        """Inverse of `save`; ValueError if the bytes do not belong to this task."""
        physics.load_into(self.model, self.data, blob)

    # ---------------------------------------------------------------- inner

    def _region(self, name: str) -> int:
        site = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, name)
        if site < 0:
            known = [*self.kinds, *self.problem.regions]
            raise ConfigError(f"nothing in this task is called {name[:80]!a}.{did_you_mean(name, known)}")
        return site

    def touched(self, geom: int) -> str:
        """The owner of a geom, where the surface that things stand on is the table's."""
        return next(iter(self.tables)) if geom == self._surface and self.tables else self._owner_of[geom]
