"""A process that has trained once, so that everything heavy is imported, and runs functions in forks of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]


class WarmProcess:
    """Starts it; `model` is what it trains once."""

    def __init__(self, model: Path) -> None:
        few = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-m", "tests.trainers.warm", str(model)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=REPOSITORY, env={**os.environ, **few}, **pipes)

    def run(self, module: str, *arguments: Any) -> Any:
        """What `module.main(*arguments)` returns in a fork, all of it JSON; an assertion fails if it raises."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([module, arguments]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "returned" in answer, answer["raised"]
        return answer["returned"]

    def close(self) -> None:
        """End it."""
        self.process.communicate()


def answer(module: str, arguments: list[Any]) -> None:
    """In a fork: write what the function returns, or how it failed; what is printed meanwhile goes elsewhere."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        try:
            told = {"returned": import_module(module).main(*arguments)}
        except BaseException:
            told = {"raised": traceback.format_exc()}
        out.write(json.dumps(told) + "\n")


def main(model: str) -> None:
    """Serve until standard input ends."""
    import torch
    from torch.distributed.fsdp import fully_shard  # noqa: F401 (heavy)

    from agentrl.trainers.algorithms import ppo
    from tests.trainers.run.kill_driver import arguments

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        ppo.train(arguments(Path(folder), model, iterations=1), report=lambda text: None)
    for line in sys.stdin:
        if child := os.fork():
            os.waitpid(child, 0)
            continue
        try:
            answer(*json.loads(line))
        finally:
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
