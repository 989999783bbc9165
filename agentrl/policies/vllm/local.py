"""vLLM's engine in a supervised process of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentrl.core.errors import EngineFault, WorkerFault
from agentrl.core.interpreter import Interpreter
from agentrl.core.worker import Worker
from agentrl.policies.vllm.backend import INSIDE, EngineLost, Reply, Request, start_fault

TARGET = "agentrl_vllm_engine:Engine"
MAX_FRAME = 1 << 30
# With the engine core in this very process a tiny model is up in seconds, and dies with it.
VARIABLES = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
SLICE = 2.0  # seconds between two signs of life


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
            found |= {row: answer for row, answer in self._proceed()}
        return [found[row] for row in range(len(requests))]

    def _proceed(self) -> Any:
        try:
            return self._call("proceed", SLICE)
        except EngineLost:
            raise
        except EngineFault as fault:  # in the middle of its work: who knows what state it is in
            raise EngineLost(str(fault)) from fault

    def _call(self, method: str, *args: Any) -> Any:
        try:
            return self._worker.call(method, *args)
        except WorkerFault as fault:
            message = f"vLLM's engine: {fault}"
            if fault.reason in ("died", "deadline", "memory", "protocol"):
                raise EngineLost(message) from fault
            raise (start_fault(message) if fault.reason == "start" else EngineFault(message)) from fault
