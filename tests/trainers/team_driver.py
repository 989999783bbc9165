"""One of the processes of some training runs: `python -m tests.trainers.team_driver RUNS.json`.

The file holds a list of [algorithm, arguments]; all are trained one after the other, so that torch is imported once.
An error ends a run, not the process, if its type and text are the same in all processes: they are printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

import agentrl  # noqa: F401
from agentrl.cli.algorithms import arguments_class, train_function
from agentrl.core.errors import AgentRLError
from agentrl.trainers.distributed import leave


def main(runs: list[tuple[str, dict[str, Any]]]) -> None:
    """Train them all; a line of output for each that failed."""
    torch.set_num_threads(1)
    for number, (algorithm, arguments) in enumerate(runs):
        try:
            train_function(algorithm)(arguments_class(algorithm).from_json(arguments), say=print)
        except AgentRLError as error:
            print(f"run {number}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    leave()


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
