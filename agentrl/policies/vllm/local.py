"""vLLM's engine in a supervised process of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentrl.core.errors import EngineFault, WorkerFault
from agentrl.core.worker import Worker
from agentrl.policies.vllm.backend import INSIDE, EngineLost, Reply, Request
from agentrl.policies.vllm.interpreter import Interpreter

TARGET = "agentrl_vllm_engine:Engine"
LARGEST_FRAME = 1 << 30
# With the engine core in this very process a tiny model is up in seconds, and dies with it.
VARIABLES = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


class LocalBackend:
    """Starts the process on first use. A call beyond `deadline` seconds ends it."""

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
            "max_frame": LARGEST_FRAME,
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
        found = self._call("generate", [asdict(request) for request in requests])
        return [
            Reply(ids, scores, reason == "stop", versions, prompt) for ids, scores, reason, versions, prompt in found
        ]

    def score(self, requests: Sequence[Request], temperature: float) -> list[list[float]]:
        """The log-probabilities of the prompts' own tokens and of the answers'."""
        return self._call("score", [asdict(request) for request in requests], float(temperature))

    def load(self, path: Path, version: str) -> None:
        """One call at a time: nothing is being answered while this runs."""
        self._call("load", str(path), version)

    def stop(self) -> None:
        """End the process; the next call starts another."""
        self._worker.close()
        self._worker = Worker(TARGET, **self._arguments)

    def _call(self, method: str, *args: Any) -> Any:
        try:
            return self._worker.call(method, *args)
        except WorkerFault as fault:
            message = f"vLLM's engine: {fault}"
            if fault.reason in ("died", "deadline", "memory", "protocol"):
                raise EngineLost(message) from fault
            raise EngineFault(message) from fault
