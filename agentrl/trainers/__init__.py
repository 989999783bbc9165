"""Trainers: an algorithm is a dataclass of arguments and a `train` function.

    from agentrl.trainers import StepPO, train

    folder = train(StepPO(env="agentrl/FrozenLake-Text-v0", iterations=10))

`algorithms` has one file for each, `update` the mathematics, `run` the run folder, `parallel` several processes.
Training needs torch (the extra `train`), which is loaded when it begins; `arguments` does not.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrl.algorithms import ALGORITHMS, arguments_class, train_function
from agentrl.core.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from agentrl.trainers.arguments.imitation import BC, ORM, SFT
    from agentrl.trainers.arguments.phases import AWR, DigiRL, FilteredBC, WebRL
    from agentrl.trainers.arguments.policy import GRPO, GSPO, PPO, RLOO, GiGPO, ReinforcePP, StepPO
    from agentrl.trainers.arguments.run import RunArguments

__all__ = [  # noqa: RUF022 (as in the table of algorithms)
    "SFT", "BC", "PPO", "StepPO", "GRPO", "RLOO", "ReinforcePP", "GSPO", "GiGPO", "WebRL", "DigiRL", "AWR",
    "FilteredBC", "ORM", "train",
]  # fmt: skip
NAMES = {place.partition(":")[2]: algorithm for algorithm, (place, _) in ALGORITHMS.items()}

if find_spec("torch") is None:
    raise MissingExtra("torch", "train")


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return arguments_class(NAMES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def train(arguments: RunArguments, report: Callable[[str], Any] | None = print) -> Path:
    """Train by the algorithm whose arguments these are, and return the run folder; `report` hears of the progress."""
    algorithm = NAMES.get(type(arguments).__name__)
    if algorithm is None or type(arguments) is not arguments_class(algorithm):
        raise ConfigError(f"arguments must be those of an algorithm, such as StepPO(...); got {arguments!r}")
    return train_function(algorithm)(arguments, report)
