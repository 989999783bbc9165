"""`Arms`: `Motion.move` and `Motion.wait` in all worlds of a batch, a tick at a time and without leaving the device."""

from __future__ import annotations

import numpy as np

from agentrl.envs.common.warp.batch import Batch
from agentrl.envs.common.warp.law import ArmPlace
from agentrl.envs.common.warp.loading import torch
from agentrl.envs.primitiveskill.motion import ARRIVED, HARD, TURNED, Move, Wait, smooth
from agentrl.envs.primitiveskill.mujoco.backend import MujocoMotion

UNTIL = ("", "blocked", "behind", "landed")


# What an arm does now, in numbers: whether it moves (1) or its servos keep their targets (0); where the move starts and
# its way, 3 each; the yaw at its start, the turn and the yaw at its end; the ticks on the way; the ticks after which it
# is over at the latest (0: there is nothing to do); what ends it early; the body that lands.
IDLE = [0.0] * 10 + [1.0, 0.0, 0.0, -1.0]


def order(command: Move | Wait, motion: MujocoMotion) -> list[float]:
    """A command in numbers, for an arm that is where the motion's is."""
    if isinstance(command, Wait):
        return [*IDLE[:11], command.ticks, *IDLE[12:]]
    start, way, turned, turn, ticks = motion.course(command)
    body = motion.model.body(command.held).id if command.held else -1
    limits = ticks, ticks + motion.settling - 1, UNTIL.index(command.until), body
    return [1.0, *start, *way, turned, turn, command.yaw, *limits]


class Arms:
    """The arms of a batch whose law is `Steering`."""

    def __init__(self, batch: Batch, motion: MujocoMotion) -> None:
        self.batch, self._slack = batch, motion.slack
        self._place = ArmPlace.of(motion.model)
        names = [motion.model.body(body).name for body in motion.model.geom_bodyid]
        self._of_arm = torch.tensor([name.startswith("panda_") for name in names], device=batch.device)
        self._owner = torch.tensor(motion.model.geom_bodyid, device=batch.device)
        self._orders = torch.tensor([IDLE] * batch.count, device=batch.device)
        self._ticks = torch.zeros(batch.count, device=batch.device)
        self._openings = torch.zeros(batch.count, device=batch.device)

    def begin(self) -> None:
        """A turn begins: all arms rest, and the fingers go on as they are told."""
        self._orders[:] = torch.tensor(IDLE, device=self.batch.device)
        self._openings.copy_(self.batch.state["ctrl"][:, self._place.gripper])

    def tell(self, worlds: list[int], orders: list[list[float]], openings: list[float | None]) -> None:
        """Give the arms of some worlds something to do, and where to hold their fingers if that changes."""
        device, which = self.batch.device, torch.tensor(worlds, device=self.batch.device)
        self._orders[which] = torch.tensor(orders, dtype=torch.float32, device=device)
        self._ticks[which] = 0.0
        told = torch.tensor([np.nan if one is None else one for one in openings], dtype=torch.float32, device=device)
        self._openings[which] = torch.where(told.isnan(), self._openings[which], told)

    def tick(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Simulate one tick everywhere: which arms have done what they were told, which of these were not stopped on
        the way, and which worlds diverged."""
        batch, columns = self.batch, self._orders.unbind(1)
        moves, (turned, turn, yaw, ticks, limit, until, body) = columns[0] > 0, columns[7:]
        start, way = self._orders[:, 1:4], self._orders[:, 4:7]
        self._ticks += 1
        share = smooth((self._ticks / ticks).clamp(max=1.0))
        reference = start + share[:, None] * way
        yaw = torch.where((share < 1.0) & (turn.abs() > TURNED), turned + share * turn, yaw)
        batch.act(torch.cat([reference, torch.stack([yaw, self._openings, moves.float()], 1)], 1))
        blocked, touches = self._feel(body)  # before `follow`: what the last step found
        batch.follow()
        at = batch.seen["site_xpos"][:, self._place.site]
        behind = (at - reference).square().sum(1) > self._slack**2
        signs = torch.stack([torch.zeros_like(blocked), blocked, behind, blocked | touches])
        stopped = moves & signs.gather(0, until.long()[None])[0]
        arrived = moves & (self._ticks >= ticks) & ((at - start - way).abs().amax(1) < ARRIVED)
        busy = limit > 0
        finished = busy & (stopped | arrived | (self._ticks >= limit))
        found = torch.stack([finished, ~stopped, busy & batch.broken()]).cpu().numpy()
        return found[0], found[1], found[2]

    def _feel(self, body: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the arm presses against anything but a body, and where that body touches anything but the arm."""
        landing = self._owner == body.long()[:, None]
        blocked = self.batch.pressure(self._of_arm, ~(self._of_arm | landing)) > HARD
        return blocked, self.batch.touching(landing, ~(self._of_arm | landing))
