"""LIBERO: a robot arm carries out instructions at tables, by continuous control."""

from __future__ import annotations

import itertools
from array import array
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.envs.common.control import ControlEnv, ControlState
from agentrl.envs.libero.controller import ROBOT_STATE, proprio
from agentrl.envs.libero.oracle import next_action
from agentrl.envs.libero.playing import POSE, LiberoTasks, state_size
from agentrl.envs.libero.protocols import find_protocol
from agentrl.envs.libero.simulation import PICTURES, ProceduralSimulation, make_simulation
from agentrl.envs.libero.task_ids import find_suite

PROPRIO = 8


@dataclass(frozen=True)
class LiberoState(ControlState):
    """Where everything is, what is held, and which conditions of the goal hold."""

    held: str | None = None
    conditions: dict[str, bool] = field(default_factory=dict)

    def structured(self) -> dict[str, Any]:
        """The numbers by name, what is held, and the conditions."""
        return {**super().structured(), "held": self.held, "conditions": dict(self.conditions)}

    def to_json(self) -> dict[str, Any]:
        """Every field."""
        return {
            "instruction": self.instruction,
            "proprio": list(self.proprio),
            "objects": {name: list(values) for name, values in self.objects.items()},
            "held": self.held,
            "conditions": dict(self.conditions),
        }

    def anchor(self) -> str:
        """All numbers, as quickly as they can be written: this is asked for in every step."""
        numbers = itertools.chain(self.proprio, *self.objects.values())
        return f"{self.instruction} {array('d', numbers).tobytes().hex()}"


class LiberoEnv(LiberoTasks, ControlEnv):
    """Carry out an instruction with a robot arm: LIBERO's 130 tasks by continuous control.

    ## Description
    A Panda arm stands at a table, or on the floor, among dishes, groceries, books, drawers, a stove or a
    microwave. A sentence says what to do: put a bowl on a plate, open a drawer, turn on the stove, or several things in
    a row. The tasks are LIBERO's: five suites, each with an id of its own.

    | id | tasks | what differs between them |
    |---|---|---|
    | `agentrl/LIBERO-Spatial-v0` | 10 | where the bowl stands that goes onto the plate |
    | `agentrl/LIBERO-Object-v0` | 10 | which object goes into the basket |
    | `agentrl/LIBERO-Goal-v0` | 10 | what is to be done in one and the same scene |
    | `agentrl/LIBERO-10-v0` | 10 | long tasks: two things, one after the other |
    | `agentrl/LIBERO-90-v0` | 90 | everything, in kitchens, living rooms and studies |

    Task files, start positions and conditions of success come from the package `hf-libero`, which `agentrl setup
    libero` fetches once (3 MB). The models of all objects, the rooms and the arm are agentrl's own, of the right names,
    sizes and joints: **scores are not comparable with published LIBERO scores** (see the end of this page).

    ![A task of each suite, seen by both cameras](../../_static/libero.png)

    ## Observations
    - `text`: the instruction, then feedback where there is some. With `obs_text=False` it is left out, so that the
      observation is arrays alone; the instruction is in `info["instruction"]` and in the attribute `instruction`.
    - `image`: `agentview`, the camera in front of the arm, uint8 `[image_size, image_size, 3]`, as
      `picture_convention` says: `"upright"`; `"openvla"`, mirrored left-right, which is what reversing both axes of
      robosuite's pictures makes of them; `"raw"`, upside down, as robosuite gives them.
    - `wrist_image`: `eye_in_hand`, the camera beside the fingers.
    - `proprio`: eight numbers as policies for LIBERO use them: the position of robosuite's grip site (between the
      fingers, 97 mm from the hand) in metres, the hand's orientation by robosuite's `quat2axisangle` (0 to 2 pi, with
      the sign of the quaternion: it does not jump where the gripper points down), both in the world's frame (x away
      from the arm, y to its left, z up), and the joints of the two fingers in metres (0.04 and -0.04: open).
    - With `robot_state=True` also `eef_pos`, `eef_quat` (x, y, z, w), `gripper_qpos`, `gripper_qvel`, `joint_pos`,
      `joint_vel`: what robosuite calls `robot0_eef_pos` and so on.

    With `obs_mode="state"` nothing is drawn, and `state` takes the place of the pictures: position and quaternion
    (w, x, y, z) of each object, those that the task is about first, then the joints of drawers, doors and knobs, then
    zeros up to the length of the suite's longest task. With `task=...` it is as long as that task needs.

    ## Actions
    Seven numbers from -1 to 1 for 0.05 s (20 Hz), scaled as robosuite's `OSC_POSE` is in LIBERO: a change of the
    gripper's position (1 is 0.05 m along x, y and z), a rotation of it as an axis-angle vector in the world's frame (1
    is 0.5 rad), and the fingers: below 0 they open, above 0 they close, at 0 they stay.

    This is robosuite's law: torques pull the gripper to its goal like a critically damped spring (stiffness 150 / s²),
    by the arm's inertia as the gripper feels it, and the arm has robosuite's masses, motors, friction and limits of
    torque (80 and 12 N m). From rest, a full action moves the gripper 6 mm, under way 13 mm a step; the same 20 full
    actions and 40 of rest end within 1 mm of robosuite's own. An action without a rotation keeps the
    orientation that an earlier one asked for; it is part of a snapshot, which continues bit for bit.

    Numbers out of range are clipped, as robosuite does, and counted in `info["clipped"]`; with `out_of_range="refuse"`
    they are refused. Arrays, lists and torch tensors are taken, also of shape (1, 7). An action of the wrong shape or
    type, or with a NaN, is answered with feedback: nothing moves, and the turn counts.

    ## Rewards
    1 when all conditions of the goal hold, else 0. With `reward="staged"` part of it is paid on the way: progress
    is the share of the goal's conditions that hold, where one that does not hold yet counts half while the
    thing that it is about is in the gripper. `stage` pays half of what progress grows beyond its best so far, and
    `success` what is missing from 1. Things that are undone and done again are not paid twice; a solved episode earns
    1, any other less than 0.5.

    ## Episode end
    Terminates when the goal is reached. Truncates after `max_turns` actions (`info["limit"] == "task"`).

    ## Arguments
    - `suite="libero_spatial"`, which the id gives; `task=None`: all of its tasks in turn, or the number or the name of
      one.
    - `protocol=None`, or whose evaluation to repeat. It sets the four options of this table; one that is given beside
      it wins. Limits are for Spatial, Object, Goal, 10 and 90.

      | `protocol` | `picture_convention` | `image_size` | `settle_steps` | `max_turns` |
      |---|---|---|---|---|
      | None | upright | 128 | 10 | 280, 280, 300, 520, 400 |
      | `"libero"` | raw | 128 | 5 | 600 |
      | `"openvla"` | openvla | 256 | 10 | 220, 280, 300, 520, 400 |
      | `"lerobot"` | openvla (after its processor) | 256 | 10 | 280, 280, 300, 520, 400 |

    - `picture_convention=None`: `"upright"`, `"openvla"` or `"raw"`. `image_size=None`, `max_turns=None`.
      `settle_steps=None`: actions `[0, 0, 0, 0, 0, 0, -1]` before the first observation, which open the gripper and let
      things come to rest; they do not count as turns.
    - `obs_mode="image"` or `"state"`, `obs_text=True`, `robot_state=False`, `out_of_range="clip"` or `"refuse"`,
      `split="train"`, `render_mode=None`.
    - `assets="procedural"`: agentrl's own models. `"official"`: LIBERO's own package and assets, which run in a virtual
      environment of their own (`agentrl setup libero-official`), in a supervised process; `python=None` names
      its interpreter, `assets_folder=None` the folder of the assets, where they are not at their usual places. A
      snapshot is the list of actions there, and loading it repeats them. The set-up fetches the assets; where the model
      hub cannot be reached, `--from CHECKOUT` builds their folder from a checkout of
      `Lifelong-Robot-Learning/LIBERO`, with plain stand-ins for textures and visual meshes that it lacks, and lists
      them. What is seen is what robosuite observes, 2 ms before an action ends, as in lerobot's own environment.
      [A page](../../results/libero.md) compares both sources, and this one with lerobot.
    - `reward="success"` or `"staged"`; `perturb=None`, `perturb_seed=0`: see Robustness (`assets="procedural"` alone).
    - `invalid_penalty=0.0`, `whole_turn_penalty=False`; `max_actions_per_turn=1` is all there is (`ActionChunks` runs
      several). `full_info=True`, False: only `success`, `valid` and `effective`.

    A task id is `libero_spatial/3:test:17`: suite, number of the task, split, number of the start. `test` are the 50
    starts that LIBERO gives for each task (heights are those of our models); `train` has 1,000 and `dev` 50 starts of
    each task, drawn from the regions of its file.

    `agentrl eval --suite libero_spatial --policy vla:FOLDER --env-kwargs '{"protocol": "openvla"}'` is the
    benchmark's evaluation, 10 tasks from 50 starts each: success per task and in total, with intervals.

    `gym.make_vec(..., simulator="warp")` plays thousands of worlds on a GPU (`docs/gpus.md`).

    ## Robustness
    `perturb="light:2,camera:1"`, or a dict of the same, changes the world by factors with levels from 0 (not at all) to
    3. What is drawn depends on the task's id, the factor and `perturb_seed` alone: the same for every policy and
    process, and after a snapshot; a higher level goes further the same way.

    | factor | what changes, at levels 1, 2 and 3 |
    |---|---|
    | `light` | 75, 55, 38 % or 108, 116, 125 % of it; tinted by 5, 11, 18 %; from 25, 55, 100 degrees aside |
    | `camera` | `agentview` goes round the table by 4, 8, 14 degrees, up or down by 2, 4, 7, and 2, 5, 9 % away |
    | `textures` | table, floor and wall get other patterns and colours, mixed in by 25, 50, 100 % |
    | `distractors` | up to 1, 3, 5 things of kinds that neither scene nor instruction has, where there is room |
    | `poses` | all objects 10, 20, 30 mm aside together, the arm's joints changed by 0.06, 0.12, 0.20 rad |
    | `instructions` | other verbs; another order of words; a wish in place of a command, with other names of things |

    Nothing collides at the start, no goal holds there, and distractors are not in the `state` vector (they are in the
    truth). `agentrl eval --suite libero_spatial --policy vla:FOLDER --perturb all` prints success by factor and
    level beside the unchanged world; `--perturb light:2 camera:1` plays both at once.

    ![Each factor at levels 0 to 3](../../_static/libero_perturbed.png)

    ## Truth
    `state()` supports `structured`: `proprio`, every object's pose and every joint by name, what is `held`, and the
    `conditions` of the goal with whether each holds. `oracle()` is a scripted player: pick, place, and the handles of
    drawers and knobs, one action at a time from the true state, so that it goes on from any moment. It knows no
    script for the microwave and for the inside of shelves, where a gripper that points down cannot reach.

    ## Honest note
    The scenes are built by agentrl from LIBERO's task files with models of its own, on its own Panda and controller.
    Success is decided by predicates of our own that follow LIBERO's definitions. Scores with `assets="procedural"`
    compare methods with each other; they are not scores on LIBERO. `assets="official"` runs the real one.
    """

    state_type = LiberoState
    oracle_may_fail = True
    safe_arguments = ("protocol", "settle_steps", "robot_state")
    pictures: ClassVar[tuple[str, ...]] = tuple(PICTURES)

    def __init__(
        self,
        *,
        suite: str = "libero_spatial",
        task: str | int | None = None,
        assets: str = "procedural",
        protocol: str | None = None,
        max_turns: int | None = None,
        image_size: int | None = None,
        picture_convention: str | None = None,
        settle_steps: int | None = None,
        robot_state: bool = False,
        python: str | None = None,
        assets_folder: str | None = None,
        **others: Any,
    ) -> None:
        usual = find_protocol(protocol)
        super().__init__(
            max_turns=usual.limits[find_suite(suite)] if max_turns is None else max_turns,
            image_size=usual.image_size if image_size is None else image_size,
            picture_convention=usual.picture_convention if picture_convention is None else picture_convention,
            **others,
        )
        if not isinstance(robot_state, bool):
            raise ConfigError(f"robot_state must be True or False; got {robot_state!r}")
        self.assets, self.protocol, self.robot_state = assets, protocol, robot_state
        steps = usual.settle_steps if settle_steps is None else settle_steps
        self.settle_steps = whole_number("settle_steps", steps, at_least=0, at_most=1000)
        self._choose_tasks(suite, task)
        official = {"python": python, "assets_folder": assets_folder, "image_size": self.image_size}
        self._simulation = make_simulation(assets, self.settle_steps, self.change, **official)
        self._state_size = max(state_size(self.suite, number) for number in self._ids.numbers)
        self._set_spaces(actions=7, proprio=PROPRIO, state=self._state_size)

    # ------------------------------------------------------------------ one control step

    def _simulate(self, action: np.ndarray) -> bool:
        return self._simulation.step(action.astype(np.float64))

    def _frame(self, picture: str) -> np.ndarray:
        return self._simulation.frame(PICTURES[picture], self.image_size)

    def _proprio(self) -> np.ndarray:
        return proprio(self._simulation.robot())

    def _extra_vectors(self) -> dict[str, int]:
        return ROBOT_STATE if self.robot_state else {}

    def _vector(self, name: str) -> np.ndarray:
        return self._simulation.robot()[name]

    def _object_state(self) -> np.ndarray:
        """Poses of the objects, those of the goal first, then joints; zeros behind, up to the suite's longest."""
        values, filled = self._simulation.numbers(), np.zeros(self._state_size)
        filled[: len(values)] = values
        return filled

    def state(self) -> LiberoState:
        """Poses and joints by name, what is held, and the conditions of the goal."""
        simulation, numbers = self._simulation, self._measure("state").tolist()
        objects, joints = simulation.names()
        poses = {name: tuple(numbers[POSE * k : POSE * (k + 1)]) for k, name in enumerate(objects)}
        values = {name: (value,) for name, value in zip(joints, numbers[POSE * len(objects) :], strict=False)}
        others = {name: tuple(pose.tolist()) for name, pose in simulation.distractors().items()}
        proprio, told = tuple(self._measure("proprio").tolist()), {**poses, **values, **others}
        return LiberoState(self.instruction, proprio, told, simulation.held(), simulation.conditions)

    def _draw_text(self) -> str:
        state = self.state()
        numbers = {"proprio": state.proprio, **state.objects}
        facts = [f"{name}: {' '.join(f'{value:.3f}' for value in values)}" for name, values in numbers.items()]
        goal = [f"{'[x]' if holds else '[ ]'} {condition}" for condition, holds in state.conditions.items()]
        told = (self.instruction, self._feedback, self._heading(), *goal, f"held: {state.held or 'nothing'}", *facts)
        return "\n".join(part for part in told if part)

    def oracle(self) -> np.ndarray | None:
        """The next action of a scripted player from wherever the episode is; None where it knows none."""
        if self._over or not isinstance(self._simulation, ProceduralSimulation):
            return None
        action = next_action(self._simulation.world)
        return None if action is None else action.astype(np.float32)
