"""`Batch`: many copies of one MuJoCo model, simulated at once by MuJoCo Warp.

Everything is a torch tensor whose first dimension is the world, on the device where the simulation runs: nothing is
copied to the processor. On a GPU a step is recorded once as a CUDA graph and then repeated. The numbers are float32, so
that a world goes nearly, not exactly, as it does in MuJoCo itself.
"""

# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from agentrl.envs.common.mujoco.arm import FASTEST
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.warp.loading import mjw, torch, wp

mujoco = load()
Rows = dict[str, torch.Tensor]  # name of an array of the simulation -> a row for each world
STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")  # what the future depends on
SEEN = ("xpos", "xquat", "xmat", "site_xpos", "site_xmat")  # what follows from it
ROWS_OF_CONTACT = 4  # of the constraint solver, at most on average; more in a world is an overflow
SPARE_CONTACTS, WHOLE = 32, 32  # room in each world beside twice the contacts of the fullest start, in units of 32
# A world whose contacts had no room is wrong; a solver that stopped early is not.
NO_ROOM = int(
    mjw.OverflowType.NEFC
    | mjw.OverflowType.NJMAX_NNZ
    | mjw.OverflowType.BROADPHASE
    | mjw.OverflowType.NARROWPHASE
    | mjw.OverflowType.CCD
)


class Law(Protocol):
    """A law of control for all worlds of a batch."""

    steps: int  # of the simulator in an action
    actions: torch.Tensor  # what is done next, a row for each world
    memory: Rows  # what it remembers between actions

    def begin(self, data: Any) -> None:
        """Episodes begin; `data` knows the poses of this moment."""
        ...

    def __call__(self, number: Any, data: Any) -> None:
        """Launch kernels that set the controls of step `number[0]` of an action; `data` knows the poses of this
        moment. The launches must be the same in every step."""
        ...


class Batch:
    """`count` worlds of a model. `fullest` is a state of the model with as many contacts as any start has."""

    def __init__(self, model: Any, fullest: Any, count: int, device: torch.device, law: Callable[[Any, int], Law]):
        self.count, self.device = count, device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._warp_stream = wp.stream_from_torch(self._stream) if self._stream is not None else None
        host = copy.copy(model)
        host.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)  # Warp never resets by itself
        contacts = -(-(2 * fullest.ncon + SPARE_CONTACTS) // WHOLE) * WHOLE
        with self.working():
            self.model = mjw.put_model(host)
            self.model.opt.warn_overflow = 0
            self.data = mjw.put_data(host, fullest, count, nconmax=contacts, njmax=ROWS_OF_CONTACT * contacts)
            self.law = law(model, count)
            self._number = wp.zeros(1, dtype=int)  # of the step in its action
            self.model.callback.control = lambda _, data: self.law(self._number, data)
            self.state: Rows = {**{name: wp.to_torch(getattr(self.data, name)) for name in STATE}, **self.law.memory}
            self.seen: Rows = {name: wp.to_torch(getattr(self.data, name)) for name in SEEN}
            contact = self.data.contact
            self._geoms, self._contact_world = wp.to_torch(contact.geom), wp.to_torch(contact.worldid)
            self._contact_rows, self._forces = wp.to_torch(contact.efc_address), wp.to_torch(self.data.efc.force)
            self._contacts, self._overflow = wp.to_torch(self.data.nacon), wp.to_torch(self.data.overflow)
        self._step, self._look = Repeated(self._simulate, device), Repeated(self._find_poses, device)
        self._follow = Repeated(lambda: mjw.kinematics(self.model, self.data), device)

    @contextmanager
    def working(self) -> Iterator[None]:
        """What is launched inside goes to a stream of this batch, which begins where the present one is, so that
        several batches work side by side; `join` waits for it."""
        if self._stream is None:
            with wp.ScopedDevice("cpu"):
                yield
            return
        self._stream.wait_stream(torch.cuda.current_stream(self.device))
        there = wp.ScopedDevice(wp.device_from_torch(self.device))
        with torch.cuda.stream(self._stream), there, wp.ScopedStream(self._warp_stream):
            yield

    def join(self) -> None:
        """Whatever is launched next waits for this batch."""
        if self._stream is not None:
            torch.cuda.current_stream(self.device).wait_stream(self._stream)

    # ---------------------------------------------------------------- going on

    def act(self, actions: torch.Tensor) -> None:
        """Run an action in each world."""
        self.law.actions.copy_(actions)
        self._overflow.zero_()
        wp.to_torch(self._number).zero_()
        for _ in range(self.law.steps):
            self._step()

    def look(self) -> None:
        """Make poses and contacts those of this moment; the simulator's steps leave older ones."""
        self._look()

    def follow(self) -> None:
        """Make poses those of this moment, and leave contacts and their forces as the last step found them."""
        self._follow()

    def rows(self) -> Rows:
        """The state of all worlds, for `write`."""
        return {name: values.clone() for name, values in self.state.items()}

    def write(self, rows: Mapping[str, torch.Tensor], where: torch.Tensor) -> None:
        """Give the worlds of a mask other states."""
        for name, given in rows.items():
            values = self.state[name]
            mask = where.view(-1, *(1,) * (values.dim() - 1))
            values.copy_(torch.where(mask, given.to(values.dtype), values))

    def begin(self, rows: Mapping[str, torch.Tensor]) -> None:
        """Put all worlds at the beginnings of episodes, which the law knows nothing of yet."""
        self.write(rows, torch.ones(self.count, dtype=torch.bool, device=self.device))
        self.look()
        self.law.begin(self.data)

    def broken(self) -> torch.Tensor:
        """Which worlds diverged in their last action: no number, an absurd speed, or more contacts than fit."""
        position, speed = self.state["qpos"], self.state["qvel"]
        sane = position.isfinite().all(1) & (speed.square().sum(1) < FASTEST**2)  # false for a NaN
        return ~sane | (self._overflow & NO_ROOM != 0)

    def _simulate(self) -> None:
        mjw.step(self.model, self.data)
        wp.launch(count, dim=1, inputs=[self._number])

    def _find_poses(self) -> None:
        mjw.kinematics(self.model, self.data)
        mjw.com_pos(self.model, self.data)
        mjw.camlight(self.model, self.data)
        mjw.collision(self.model, self.data)

    # ---------------------------------------------------------------- touching

    def touching(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """In which worlds a geom of one group touches one of another; the groups are masks of the model's geoms, for
        all worlds [ngeom] or for each of them [count, ngeom]."""
        worlds, found = self._between(first, second)
        return torch.zeros(self.count, device=self.device, dtype=torch.int32).index_add_(0, worlds, found.int()) > 0

    def pressure(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Newtons with which the geoms of two groups pressed against each other in the last step, in each world."""
        worlds, found = self._between(first, second)
        row = self._contact_rows[:, 0].long()  # of the normal force
        known = found & (row >= 0) & (row < self._forces.shape[1])
        force = self._forces[worlds, row.clamp(0, self._forces.shape[1] - 1)]
        return torch.zeros(self.count, device=self.device).index_add_(0, worlds, torch.where(known, force, 0.0))

    def _between(self, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The world of every contact, and which contacts are between the groups."""
        worlds = self._contact_world.clamp(0, self.count - 1).long()
        a, b = self._geoms[:, 0].clamp(min=0).long(), self._geoms[:, 1].clamp(min=0).long()
        known = torch.arange(len(a), device=self.device) < self._contacts  # rows beyond are older
        first, second = (group.expand(self.count, -1) for group in (first, second))
        return worlds, known & ((first[worlds, a] & second[worlds, b]) | (second[worlds, a] & first[worlds, b]))


@wp.kernel
def count(number: wp.array[int]) -> None:
    """One more."""
    number[0] = number[0] + 1


class Repeated:
    """A function that launches kernels and nothing else. On a GPU its launches are recorded in the second call, when
    all kernels are compiled, and from then on repeated as a whole."""

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._function, self._recorded = function, None if device.type == "cuda" else False
        self._called = False

    def __call__(self) -> None:
        """Launch everything once."""
        if self._recorded is None and self._called:
            with wp.ScopedCapture(stream=wp.get_stream()) as capture:
                self._function()
            self._recorded = capture.graph
        if self._recorded:
            wp.capture_launch(self._recorded, stream=wp.get_stream())
        else:
            self._function()
        self._called = True
