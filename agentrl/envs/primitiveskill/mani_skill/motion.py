"""The arm among the things on the table, in ManiSkill. Imported like `scene`."""
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, pi, sin
from typing import Any

import numpy as np

from agentrl.core.errors import EnvFault
from agentrl.envs.common.gripper import OPENING, READY, TIP, pointing_down
from agentrl.envs.primitiveskill.backend import Thing
from agentrl.envs.primitiveskill.mani_skill.scene import RATE, Pose, Tabletop
from agentrl.envs.primitiveskill.motion import HARD, Motion
from agentrl.envs.primitiveskill.shapes import BASE, CABINET, DRAWER, MOVABLE, boxes

GRASPED = 0.5  # newtons with which each finger presses on what is held
TOUCHES = 0.01  # newtons
SQUEEZE = -0.01  # metres: where closing fingers aim, past the middle, so that they press
FINGER = 0.012  # metres: half the width and half the thickness of a finger
HAND = ("panda_hand", "panda_leftfinger", "panda_rightfinger")


class SapienArm:
    """ManiSkill's Panda under its controller of gripper poses."""

    def __init__(self, table: Tabletop) -> None:
        self.table, self.robot = table, table.agent.robot
        self._kinematics = self.robot._objs[0].create_pinocchio_model()
        self._tool = [link.name for link in self.robot.links].index(table.agent.ee_link_name)
        self._limits = self.robot.get_qlimits()[0].cpu().numpy().T
        self._opening = OPENING
        self.steer(*self.pose())

    def grip(self, opening: float) -> None:
        """Tell each finger how far from the middle to go; 0 grasps."""
        self._opening = opening if opening > 0 else SQUEEZE

    def steer(self, position: np.ndarray, rotation: np.ndarray) -> None:
        """Aim at a pose, gripper down."""
        yaw = atan2(rotation[1, 0], rotation[0, 0])
        self._aim = [*(position - np.array(BASE)), pi, 0.0, -yaw]

    def advance(self) -> None:
        """Simulate one tick; `EnvFault` if the simulation diverges."""
        fingers = (self._opening - SQUEEZE) / (OPENING - SQUEEZE) * 2 - 1
        self.table.step(np.array([*self._aim, fingers], np.float32))
        if not np.isfinite(self.pose()[0]).all():
            raise EnvFault("the simulation diverged: the arm is nowhere")

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the gripper is now."""
        matrix = self.table.agent.tcp.pose.sp.to_transformation_matrix().astype(float)
        return matrix[:3, 3], matrix[:3, :3]

    def opening(self) -> float:
        """How far the fingers are from the middle, on average."""
        return float(self.robot.get_qpos()[0, -2:].mean())

    def solve(self, position: np.ndarray, rotation: np.ndarray) -> np.ndarray | None:
        """Joints at which the gripper has a pose, searched from the ready posture; None if it is out of reach."""
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = rotation, position - np.array(BASE)
        moving = np.array([1] * 7 + [0] * 2)
        joints, found, _ = self._kinematics.compute_inverse_kinematics(
            self._tool, Pose(frame), np.array([*READY, OPENING, OPENING]), moving, max_iterations=300
        )
        joints = np.array(joints)
        inside = (joints >= self._limits[0] - 0.01) & (joints <= self._limits[1] + 0.01)
        return joints[:7] if found and inside.all() else None


class ManiSkillMotion(Motion):
    """Reads contacts and poses from ManiSkill."""

    arm: SapienArm
    settling, slack = 30, 0.05  # the arm's servos are soft: it follows a moving target by three centimetres
    tick = 1 / RATE

    def __init__(self, table: Tabletop) -> None:
        self.table, self.arm = table, SapienArm(table)
        self.things = {thing.name: thing for thing in table.start.things}
        flat = {thing.name for thing in table.start.things if thing.shape == "disc"}
        self._solid = {name: body for name, body in table.bodies.items() if name not in flat}
        self._solid["table"] = table.table_scene.table
        links = table.agent.robot.links_map
        self._hand = [links[name] for name in HAND]

    def _force(self, one: Any, other: Any) -> float:
        """Newtons between two bodies."""
        return float(self.table.scene.get_pairwise_contact_forces(one, other).norm())

    def held(self) -> str | None:
        """The thing that both fingers press."""
        for name, thing in self.things.items():
            fingers = self._hand[1:] if thing.shape in MOVABLE else []
            if fingers and all(self._force(finger, self._solid[name]) > GRASPED for finger in fingers):
                return name
        return None

    def at(self, name: str) -> np.ndarray:
        """The middle of a thing."""
        return np.array(self.table.bodies[name].pose.sp.p, float)

    def side(self, name: str) -> np.ndarray:
        """The direction of a cube's x axis."""
        return self.table.bodies[name].pose.sp.to_transformation_matrix()[:3, 0]

    def blocked(self) -> bool:
        """Does the hand press against anything?"""
        return self._presses(besides=None)

    def landed(self, name: str) -> bool:
        """Does a held thing touch anything but the arm, or the hand press against anything else?"""
        mine = self._solid[name]
        touching = any(self._force(mine, body) > TOUCHES for other, body in self._solid.items() if other != name)
        return touching or self._presses(besides=name)

    def _presses(self, besides: str | None) -> bool:
        others = [body for name, body in self._solid.items() if name != besides]
        return sum(self._force(part, body) for part in self._hand for body in others) > HARD

    def fits(self, point: np.ndarray, yaw: float, opening: float, held: str | None) -> bool:
        """Would the fingers, opened that far, touch nothing at a point but what they hold?"""
        rotation = pointing_down(yaw)
        if self.arm.solve(point, rotation) is None:
            return False
        fingers = [point + side * (opening + FINGER) * rotation[:, 1] for side in (-1, 1)]
        low = point[2] - TIP
        for name, thing in self.things.items():
            for middle, half, turned in self._boxes(name, thing) if name != held else ():
                if middle[2] + half[2] > low:
                    apart = [np.abs(turned.T @ (finger - middle))[:2] - half[:2] for finger in fingers]
                    if any((distance < FINGER).all() for distance in apart):
                        return False
        return True

    def _boxes(self, name: str, thing: Thing) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The boxes that a thing is made of: middles, half sides and rotations."""
        if thing.shape in MOVABLE:
            yield self.at(name), np.full(3, thing.size / 1000), self._upright(name)
        if thing.shape == "drawer":
            for part, boards in ((name, DRAWER), (f"{name}_cabinet", CABINET)):
                turned = self._upright(part)
                for middle, half in boxes(boards, thing):
                    yield self.at(part) + turned @ middle, half, turned

    def _upright(self, name: str) -> np.ndarray:
        """The rotation of a body about the vertical, as if it stood upright."""
        x, y, _ = self.side(name)
        angle = atan2(y, x)
        return np.array([[cos(angle), -sin(angle), 0.0], [sin(angle), cos(angle), 0.0], [0.0, 0.0, 1.0]])
