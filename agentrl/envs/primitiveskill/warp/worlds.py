"""`SkillWorlds`: a task in many worlds, whose scripts take turns.

The scripts of `Primitives` decide on the processor, where a table of MuJoCo's takes the state of the world that is
asked about: whether a point is in reach, at which yaw the gripper fits, what it holds, how far the task is done. That
happens a dozen times in an action. What they command is carried out on the device, in all worlds at once (`Arms`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import FINGERS
from agentrl.envs.common.warp.batch import STATE, Batch, Rows
from agentrl.envs.common.warp.law import ArmPlace
from agentrl.envs.common.warp.loading import torch
from agentrl.envs.common.warp.pictures import Camera
from agentrl.envs.common.warp.steering import Steering
from agentrl.envs.primitiveskill.backend import Action, Result, Start
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.motion import Command, Grip
from agentrl.envs.primitiveskill.mujoco.backend import MujocoBackend
from agentrl.envs.primitiveskill.mujoco.scene import CAMERA
from agentrl.envs.primitiveskill.shapes import MOVABLE
from agentrl.envs.primitiveskill.starts import candidate, solved_attempt
from agentrl.envs.primitiveskill.table import Table
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.warp.arms import IDLE, Arms, order

mujoco = load()
PLACES = ("qpos", "mocap_pos", "mocap_quat")  # what a script looks at
Done = list[tuple[Result, Scene]]  # what each action of a turn did, and the scene after it
Turn = Generator[Command, bool | None, Done]


class Begun(NamedTuple):
    """A start as it is played."""

    attempt: int
    start: Start
    scene: Scene


class SkillWorlds:
    """A task in `count` worlds, with the first `starts` starts of a split."""

    def __init__(self, env: PrimitiveSkillEnv, count: int, device: torch.device, starts: int) -> None:
        self.task, self.instruction = env.task, env.task.instruction
        self.names: list[str] = list(env.tasks()[:starts])
        self.table = MujocoBackend()  # has the state of one world at a time
        self.begun, placed = self._prepare(env)
        model = self.table.model
        self.batch = Batch(model, self.table.data, count, device, Steering)
        # Then boxes touch in up to eight points, as in MuJoCo, and not in four: stacked cubes need them.
        self.batch.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_NATIVECCD)
        self.starts: Rows = {name: torch.tensor(rows, device=device) for name, rows in placed.items()}
        self._place, self._arms = ArmPlace.of(model), Arms(self.batch, self.table._motion)
        things = self.begun[0].start.things
        self._bodies = torch.tensor([model.body(thing.name).id for thing in things], device=device)
        drawers = [model.joint(thing.name).qposadr[0] for thing in things if thing.shape == "drawer"]
        self._drawers = torch.tensor(drawers, dtype=torch.long, device=device)
        owner = torch.tensor(model.geom_bodyid, device=device)
        self._fingers = [owner == model.body(name).id for name in FINGERS]
        self._movable = [owner == model.body(thing.name).id for thing in things if thing.shape in MOVABLE]
        self._camera = None
        if env.kind == "visual":
            self._camera = Camera(model, self.table.data, self.batch, CAMERA, env.image_size)
        self.numbers = 3 * len(things) + len(drawers) + 4 + len(self._movable)  # of `state`

    def _prepare(self, env: PrimitiveSkillEnv) -> tuple[list[Begun], dict[str, np.ndarray]]:
        """Every start that the oracle solves, set up by MuJoCo; leaves the table at the one with most contacts."""
        begun: list[Begun] = []
        rows: dict[str, list[np.ndarray]] = {part: [] for part in STATE}
        trial, fullest, most = Table("mujoco"), 0, -1
        for number in range(len(self.names)):

            def draw(attempt: int, number: int = number) -> Start:
                return candidate(self.task, env.split, number, attempt)

            attempt = solved_attempt(self.task, trial, f"{env.split}-{number}", draw)
            start = draw(attempt)
            if begun and start.things != begun[0].start.things:
                raise ConfigError('simulator="warp" needs a task whose starts all have the same things')
            self.table.begin(start)
            begun.append(Begun(attempt, start, Scene.of(start, self.table)))
            for part in STATE:
                rows[part].append(getattr(self.table.data, part).copy())
            if self.table.data.ncon > most:
                fullest, most = number, self.table.data.ncon
        self.table.begin(begun[fullest].start)
        return begun, {part: np.array(values, dtype=np.float32) for part, values in rows.items()}

    # ------------------------------------------------------------------ what is seen

    def observe(self, name: str) -> torch.Tensor:
        """`image`, or `state`: millimetres but for the flags at its end."""
        if name == "image":
            assert self._camera is not None
            return self._camera.draw()
        seen, qpos, fingers = self.batch.seen, self.batch.state["qpos"], self._place.qpos + 7
        lengths = [
            seen["xpos"][:, self._bodies].flatten(1),
            qpos[:, self._drawers],
            seen["site_xpos"][:, self._place.site],
            qpos[:, fingers : fingers + 2].mean(1, keepdim=True),
        ]
        return torch.cat([1000 * torch.cat(lengths, 1), self.held().float()], 1)

    def held(self) -> torch.Tensor:
        """Which movable thing is between the fingers, bool [count, things]; the batch has looked."""
        left, right = self._fingers
        grasped = [self.batch.touching(left, one) & self.batch.touching(right, one) for one in self._movable]
        return torch.stack(grasped, 1)

    # ------------------------------------------------------------------ what is done

    def play(self, turns: Sequence[Sequence[Action]]) -> list[Done | None]:
        """Carry out a turn in each world, all at once; None where the simulation diverged. Such a world is put back
        where it was, and every other one stays as it was when its own turn was over."""
        kept, everyone = self.batch.rows(), torch.ones(self.batch.count, dtype=torch.bool, device=self.batch.device)
        outcomes: list[Done | None] = [[] for _ in turns]
        scripts = {world: self._turn(actions) for world, actions in enumerate(turns) if actions}
        answers: dict[int, bool | None] = dict.fromkeys(scripts)
        self._arms.begin()
        while True:
            over = self._resume(scripts, answers, outcomes)
            if over:
                for name, rows in kept.items():
                    rows[over] = self.batch.state[name][over]
            if not scripts:
                break
            finished, free, broken = self._arms.tick()
            for world in np.flatnonzero(broken).tolist():
                scripts.pop(world).close()
                outcomes[world] = None
                self._arms.tell([world], [IDLE], [None])
            answers = {world: bool(free[world]) for world in np.flatnonzero(finished & ~broken).tolist()}
        self.batch.write(kept, everyone)
        return outcomes

    def _turn(self, actions: Sequence[Action]) -> Turn:
        """The script of a whole turn, up to the task's end."""
        done: Done = []
        for action in actions:
            result = yield from self.table.script(action)
            done.append((result, Scene.of(self.begun[0].start, self.table)))
            if self.task.solved(done[-1][1]):
                break
        return done

    def _resume(self, scripts: dict[int, Turn], answers: dict[int, Any], outcomes: list[Done | None]) -> list[int]:
        """Let scripts go on after what they commanded was done, to their next commands; which turns are over?"""
        worlds, orders, openings, over = list(answers), [], [], []
        if not worlds:
            return over
        which = torch.tensor(worlds, device=self.batch.device)
        rows = {part: self.batch.state[part][which].cpu().numpy() for part in PLACES}
        for place, world in enumerate(worlds):
            self._enter({part: values[place] for part, values in rows.items()})
            opening, answer = None, answers[world]
            try:
                while isinstance(command := scripts[world].send(answer), Grip):
                    opening, answer = command.opening, None
                orders.append(order(command, self.table._motion))
            except StopIteration as end:
                outcomes[world] = end.value
                del scripts[world]
                over.append(world)
                orders.append(IDLE)
            openings.append(opening)
        self._arms.tell(worlds, orders, openings)
        return over

    def _enter(self, places: dict[str, np.ndarray]) -> None:
        """Bring the table on the processor into the state of a world."""
        data = self.table.data
        for part, values in places.items():
            getattr(data, part)[:] = values
        mujoco.mj_fwdPosition(self.table.model, data)
