"""Generators in processes of their own, on this machine.

Threads of one process take turns at Python: an update asks a GPU for thousands of small operations, and waits for its
turn before each while a generator asks for as many. A process has its own. Its model is a copy, and new weights come
through memory that both sides share. One that dies or hangs is replaced and asked again.
"""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from agentrl.core.errors import EngineFault, WorkerFault
from agentrl.core.policy import Conversation, Generation, Policy
from agentrl.core.shared_memory import shared_memory
from agentrl.core.worker import Worker
from agentrl.trainers.parallel.generators import Engine, RemotePolicy, finish, own_copy, size_of

log = logging.getLogger(__name__)

START_SECONDS = 600.0  # of a process, which loads libraries and a model
MAX_FRAME = 1 << 31  # bytes of a message: many pictures
ALIGNMENT = 64  # bytes


def room(parameter: Tensor) -> int:
    """Bytes that it gets in shared memory, so that the next one begins at a whole number of `ALIGNMENT`."""
    return -(-size_of([parameter]) // ALIGNMENT) * ALIGNMENT


def laid_out(memory: mmap.mmap, model: nn.Module) -> dict[str, Tensor]:
    """The parameters of a model, one after the other in shared memory."""
    held, start = {}, 0
    for name, parameter in model.named_parameters():
        raw = torch.frombuffer(memory, dtype=torch.uint8, count=size_of([parameter]), offset=start)
        held[name] = raw.view(parameter.dtype).view(parameter.shape)
        start += room(parameter)
    return held


class SharedWeights:
    """The newest published weights, in memory that generators in other processes read."""

    def __init__(self, model: nn.Module, version: int) -> None:
        self._model, self.version = model, version
        self.bytes = sum(map(room, model.parameters()))
        self.descriptor = shared_memory("weights", self.bytes)
        weakref.finalize(self, os.close, self.descriptor)
        self._held = laid_out(mmap.mmap(self.descriptor, self.bytes), model)
        self.lock = threading.Lock()  # while somebody reads or writes
        self.publish(version)

    @torch.no_grad()
    def publish(self, version: int) -> None:
        """Hold what the model has now; waits while a generator is copying."""
        with self.lock:
            for name, parameter in self._model.named_parameters():
                self._held[name].copy_(parameter, non_blocking=True)
            finish(self._model)
            self.version = version


class GeneratorServer:
    """The side in the process; `given` and `memory` are descriptors."""

    def __init__(self, given: int, memory: int, size: int) -> None:
        with open(os.dup(given), "rb") as file:
            file.seek(0)
            engine, make_policy, device, threads = pickle.load(file)
        torch.set_num_threads(threads)  # another number gives other last bits
        self._model = engine.model.to(device)
        self._held = laid_out(mmap.mmap(memory, size), self._model)
        self._policy: Any = make_policy(engine)

    @torch.no_grad()
    def refresh(self, version: int) -> None:
        """Take the weights in the shared memory."""
        for name, parameter in self._model.named_parameters():
            parameter.copy_(self._held[name])
        finish(self._model)
        self._policy.version = version

    def act(self, asked: bytes) -> bytes:
        """The answers to conversations under keys, or what the policy raised."""
        conversations, keys = pickle.loads(asked)
        try:
            return pickle.dumps(self._policy.act(conversations, keys=keys), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            return pickle.dumps(error)


class GeneratorProcess(RemotePolicy):
    """A process of this machine that answers; one that died, or gave no answer within `seconds`, is replaced and asked
    again."""

    def __init__(
        self,
        engine: Engine,
        make_policy: Callable[[Any], Policy],
        local: Any,
        weights: SharedWeights,
        seconds: float,
    ) -> None:
        super().__init__(local)
        self._weights, self.bytes = weights, size_of(engine.model.parameters())
        copy, device = own_copy(engine), engine.model.device
        copy.model.to("cpu")
        given = pickle.dumps((copy, make_policy, device, torch.get_num_threads()), pickle.HIGHEST_PROTOCOL)
        descriptor = shared_memory("generator", len(given))
        weakref.finalize(self, os.close, descriptor)
        with open(os.dup(descriptor), "wb") as file:
            file.write(given)
        self._worker = Worker(
            "agentrl.trainers.parallel.generator_processes:GeneratorServer",
            [descriptor, weights.descriptor, weights.bytes],
            descriptors=[descriptor, weights.descriptor],
            deadline=seconds,
            start_deadline=START_SECONDS,
            max_frame=MAX_FRAME,
        )
        self._version: int | None = None  # of the weights there

    def refresh(self) -> None:
        """Newer weights are taken with the next question, so that one deadline holds for both."""

    def act(self, conversations: Sequence[Conversation], envs: Any = None, *, keys: Sequence[str]) -> list[Generation]:
        """One answer to each conversation."""
        asked = pickle.dumps((list(conversations), list(keys)), pickle.HIGHEST_PROTOCOL)
        try:
            try:
                found = self._answers(asked)
            except WorkerFault as fault:
                self._replaced(fault)
                found = self._answers(asked)
        except WorkerFault as fault:
            raise EngineFault(
                f"a generator in a process of its own gave no answer, nor did the one in its place: {fault}"
            ) from fault
        if isinstance(found, Exception):
            raise found
        return found

    def _answers(self, asked: bytes) -> list[Generation] | Exception:
        with self._weights.lock:
            if self._version != self._weights.version:
                self._worker.call("refresh", self._weights.version)
                self._version = self._weights.version
        return pickle.loads(self._worker.call("act", asked))

    def _replaced(self, fault: WorkerFault) -> None:
        """The next call starts another process, with the weights of the run's start."""
        log.warning("a generator is replaced: %s", fault)
        self.restarts, self.hung = self.restarts + 1, self.hung + (fault.reason == "deadline")
        self._version = None

    def close(self) -> None:
        """End the process."""
        self._worker.close()
