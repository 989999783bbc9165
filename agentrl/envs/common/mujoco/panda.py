"""A Franka Panda for MuJoCo, built in code from its published kinematics: no mesh files.

Lengths, joint limits and torques are those of Franka's documentation (Denavit-Hartenberg parameters in Craig's
convention); masses are rounded, and inertias follow from shapes that stand in for the real housings. The arm is
gravity compensated and moved by a position servo at each joint, so it holds still wherever it is told to.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import pi
from typing import Any, NamedTuple

from agentrl.envs.common.gripper import OPENING
from agentrl.envs.common.mujoco.loading import load

mujoco = load()

Vector = tuple[float, float, float]
JOINTS = tuple(f"panda_joint{number}" for number in range(1, 8))
FINGERS = ("panda_finger_left", "panda_finger_right")
SITE = "panda_grasp"  # the point between the finger pads: its z axis is the direction of approach, fingers move along y
GRIPPER = "panda_gripper"  # actuator: the distance of each finger from the middle

# Seconds by which a joint stays behind its target. The same for all: joints that move at once arrive together, so
# that the gripper stays on a straight line.
LAG = 0.05

WHITE, GREY, DARK, RUBBER = (0.93, 0.94, 0.95), (0.62, 0.64, 0.67), (0.16, 0.17, 0.19), (0.28, 0.29, 0.31)
KNOB = 0.004  # radius of what touches on a pad
HIDDEN = 3  # the group of geoms that are not drawn
# A heavy arm would sink deep into light things with MuJoCo's default softness.
HARD = {"solref": (0.006, 1.0), "solimp": (0.95, 0.99, 0.001, 0.5, 2.0)}
ARM_TOUCHES = {"contype": 2, "conaffinity": 1, **HARD}  # everything but itself


class Shape(NamedTuple):
    """A capsule or a cylinder between two points, or a box from corner to corner."""

    kind: str
    start: Vector
    end: Vector
    radius: float = 0.0
    colour: Vector = WHITE


@dataclass(frozen=True)
class Link:
    """A link, the joint that moves it, and what it looks like. `turn` is the angle about x of Craig's convention."""

    offset: Vector
    turn: float
    limits: tuple[float, float]
    torque: float
    stiffness: float
    mass: float
    shapes: tuple[Shape, ...]


BASE = (
    Shape("box", (-0.155, -0.085, 0.0), (0.09, 0.085, 0.055)),
    Shape("capsule", (-0.02, 0.0, 0.05), (0.0, 0.0, 0.09), 0.078),
    Shape("cylinder", (0.0, 0.0, 0.12), (0.0, 0.0, 0.148), 0.068, DARK),
    Shape("box", (-0.175, -0.05, 0.01), (-0.15, 0.05, 0.045), colour=DARK),
)
LINKS = (
    Link(
        (0.0, 0.0, 0.333), 0.0, (-2.8973, 2.8973), 87.0, 4500.0, 3.0,
        (
            Shape("capsule", (0.0, 0.0, -0.15), (0.0, 0.0, -0.02), 0.066),
            Shape("cylinder", (0.0, -0.075, 0.0), (0.0, 0.075, 0.0), 0.064),
        ),
    ),
    Link(
        (0.0, 0.0, 0.0), -pi / 2, (-1.7628, 1.7628), 87.0, 4500.0, 3.0,
        (
            Shape("cylinder", (0.0, 0.0, -0.088), (0.0, 0.0, 0.088), 0.050, DARK),
            Shape("capsule", (0.0, -0.03, 0.0), (0.0, -0.15, 0.0), 0.064),
        ),
    ),
    Link(
        (0.0, -0.316, 0.0), pi / 2, (-2.8973, 2.8973), 87.0, 4500.0, 2.5,
        (
            Shape("cylinder", (0.0, 0.0, -0.128), (0.0, 0.0, -0.104), 0.059, DARK),
            Shape("capsule", (0.0, 0.0, -0.085), (0.025, 0.0, -0.035), 0.056),
            Shape("cylinder", (0.0825, -0.07, 0.0), (0.0825, 0.07, 0.0), 0.054),
        ),
    ),
    Link(
        (0.0825, 0.0, 0.0), pi / 2, (-3.0718, -0.0698), 87.0, 4500.0, 2.5,
        (
            Shape("cylinder", (0.0, 0.0, -0.082), (0.0, 0.0, 0.082), 0.044, DARK),
            Shape("capsule", (-0.045, 0.035, 0.0), (-0.0825, 0.085, 0.0), 0.055),
        ),
    ),
    Link(
        (-0.0825, 0.384, 0.0), -pi / 2, (-2.8973, 2.8973), 12.0, 1500.0, 2.2,
        (
            Shape("cylinder", (0.0, 0.0, -0.262), (0.0, 0.0, -0.240), 0.056, DARK),
            Shape("capsule", (0.0, 0.0, -0.215), (0.0, 0.045, -0.09), 0.052),
            Shape("capsule", (0.0, 0.045, -0.11), (0.0, 0.035, -0.01), 0.042),
            Shape("cylinder", (0.0, -0.052, 0.0), (0.0, 0.062, 0.0), 0.047),
        ),
    ),
    Link(
        (0.0, 0.0, 0.0), pi / 2, (-0.0175, 3.7525), 12.0, 1500.0, 1.5,
        (
            Shape("cylinder", (0.0, 0.0, -0.066), (0.0, 0.0, 0.066), 0.038, DARK),
            Shape("capsule", (0.015, 0.0, 0.0), (0.075, 0.0, 0.0), 0.046),
        ),
    ),
    Link(
        (0.088, 0.0, 0.0), pi / 2, (-2.8973, 2.8973), 12.0, 1500.0, 0.7,
        (
            Shape("cylinder", (0.0, 0.0, 0.035), (0.0, 0.0, 0.075), 0.047),
            Shape("cylinder", (0.0, 0.0, 0.075), (0.0, 0.0, 0.107), 0.036, DARK),
        ),
    ),
)  # fmt: skip
HAND = (
    Shape("box", (-0.030, -0.102, 0.004), (0.030, 0.102, 0.052)),
    Shape("capsule", (0.0, -0.080, 0.046), (0.0, 0.080, 0.046), 0.022),
    Shape("box", (-0.018, -0.090, 0.050), (0.018, 0.090, 0.0695), colour=DARK),
)
FINGER = (  # the left one, from the plane where both meet towards +y
    Shape("box", (-0.0105, 0.005, 0.004), (0.0105, 0.024, 0.026), colour=GREY),
    Shape("box", (-0.0095, 0.006, 0.024), (0.0095, 0.015, 0.0545), colour=GREY),
)
PAD = Shape("box", (-0.0095, 0.0, 0.0345), (0.0095, 0.007, 0.0545), colour=RUBBER)


def add_panda(spec: Any, position: Vector, angle: float = 0.0) -> Any:
    """Stand an arm in a scene, facing `angle` (0: along x); returns its base.

    Sets the scene's integrator, because stiff servos need an implicit one, and lets a simulation that diverges stay so
    instead of beginning anew in silence.
    """
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    base = spec.worldbody.add_body(name="panda_base", pos=position, quat=_about_z(angle))
    _add_shapes(base, BASE, mass=3.0)
    body = base
    for name, link in zip(JOINTS, LINKS, strict=True):
        turned = _quaternion((1.0, 0.0, 0.0), link.turn)
        body = body.add_body(name=name.replace("joint", "link"), pos=link.offset, quat=turned, gravcomp=1.0)
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1), range=link.limits, armature=0.1)
        _add_shapes(body, link.shapes, link.mass)
        damping = LAG * link.stiffness
        _add_servo(spec, name, mujoco.mjtTrn.mjTRN_JOINT, link.stiffness, damping, link.torque, link.limits)
    _add_hand(spec, body)
    return base


def _add_hand(spec: Any, wrist: Any) -> None:
    hand = wrist.add_body(name="panda_hand", pos=(0.0, 0.0, 0.107), quat=_about_z(-pi / 4), gravcomp=1.0)
    _add_shapes(hand, HAND, mass=0.7)
    hand.add_site(name=SITE, pos=(0.0, 0.0, 0.1034), size=(0.005, 0.005, 0.005), group=5)
    both = spec.add_tendon(name=GRIPPER)
    for name, angle in zip(FINGERS, (0.0, pi), strict=True):
        finger = hand.add_body(name=name, pos=(0.0, 0.0, 0.0584), quat=_about_z(angle), gravcomp=1.0)
        finger.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(0, 1, 0), range=(0.0, OPENING), armature=0.1, damping=5.0
        )
        _add_shapes(finger, FINGER, mass=0.08)
        _add_shapes(finger, (PAD,), mass=0.02, contype=0, conaffinity=0)
        # What touches in place of the pad: a knob at each corner. Two flat boxes would touch at eight points, which
        # takes the solver four times as long; what is held neither slips nor turns between four, and round things are
        # cradled.
        for x, z in product((-0.0055, 0.0055), (0.0385, 0.0505)):
            finger.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=(x, KNOB, z), size=(KNOB, 0.0, 0.0), mass=0.0, group=HIDDEN,
                condim=4, friction=(1.5, 0.02, 0.0001), priority=1, **ARM_TOUCHES,
            )  # fmt: skip
        both.wrap_joint(name, 0.5)
    mirror = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=FINGERS[0], name2=FINGERS[1])
    mirror.objtype, mirror.data[:2], mirror.solref = mujoco.mjtObj.mjOBJ_JOINT, (0.0, 1.0), (0.005, 1.0)
    _add_servo(spec, GRIPPER, mujoco.mjtTrn.mjTRN_TENDON, 2500.0, 60.0, 50.0, (0.0, OPENING))


def _add_servo(spec: Any, name: str, kind: Any, stiffness: float, damping: float, limit: float, span: Any) -> None:
    servo = spec.add_actuator(name=name, target=name, trntype=kind)
    servo.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    servo.gainprm[0], servo.biasprm[1], servo.biasprm[2] = stiffness, -stiffness, -damping
    servo.ctrlrange, servo.forcerange = span, (-limit, limit)


def _add_shapes(body: Any, shapes: tuple[Shape, ...], mass: float, **settings: Any) -> None:
    for shape in shapes:
        geom = body.add_geom(mass=mass / len(shapes), rgba=(*shape.colour, 1.0), **(ARM_TOUCHES | settings))
        if shape.kind == "box":
            geom.type = mujoco.mjtGeom.mjGEOM_BOX
            geom.pos = [(a + b) / 2 for a, b in zip(shape.start, shape.end, strict=True)]
            geom.size = [abs(b - a) / 2 for a, b in zip(shape.start, shape.end, strict=True)]
        else:
            geom.type = getattr(mujoco.mjtGeom, f"mjGEOM_{shape.kind.upper()}")
            geom.fromto, geom.size = (*shape.start, *shape.end), (shape.radius, 0.0, 0.0)


def _about_z(angle: float) -> Any:
    return _quaternion((0.0, 0.0, 1.0), angle)


def _quaternion(axis: Vector, angle: float) -> Any:
    import numpy as np

    found = np.empty(4)
    mujoco.mju_axisAngle2Quat(found, axis, angle)
    return found


def set_damping(joint: Any, damping: float) -> None:
    """Set the damping of a joint of a spec; newer versions of MuJoCo have a polynomial there."""
    joint.damping = damping if isinstance(joint.damping, float) else (damping, 0.0, 0.0)
