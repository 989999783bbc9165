"""The table of algorithms that `agentrl train` knows, and the stages that recipes and experiments are made of.

Strings only: reading the table does not need torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentrl.core.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from agentrl.trainers.arguments.run import RunArguments

# name -> (module:arguments, what it is); `train(arguments, report)` in agentrl/trainers/algorithms/NAME.py is the rest.
ALGORITHMS: dict[str, tuple[str, str]] = {
    "sft": ("agentrl.trainers.arguments.imitation:SFT", "imitation of demonstrations, partly wrong ones if you like"),
    "bc": ("agentrl.trainers.arguments.imitation:BC", "imitation of a robot's demonstrations, by a VLA policy"),
    "ppo": ("agentrl.trainers.arguments.policy:PPO", "PPO with a critic: masked, vanilla, turn or bilevel credit"),
    "steppo": ("agentrl.trainers.arguments.policy:StepPO", "StepPO: one advantage and one ratio per step"),
    "grpo": (
        "agentrl.trainers.arguments.policy:GRPO",
        "GRPO, Dr. GRPO, DAPO: trajectories compared with their group, no critic",
    ),
    "rloo": ("agentrl.trainers.arguments.policy:RLOO", "RLOO: trajectories compared with the others of their group"),
    "reinforce_pp": ("agentrl.trainers.arguments.policy:ReinforcePP", "REINFORCE++: returns whitened over the batch"),
    "gspo": ("agentrl.trainers.arguments.policy:GSPO", "GSPO: GRPO with one probability ratio per sequence"),
    "gigpo": (
        "agentrl.trainers.arguments.policy:GiGPO",
        "GiGPO: trajectories compared, and steps from the same observation",
    ),
    "webrl": (
        "agentrl.trainers.arguments.phases:WebRL",
        "WebRL: new tasks from failures, learned off-policy with past successes",
    ),
    "digirl": (
        "agentrl.trainers.arguments.phases:DigiRL",
        "DigiRL: online imitation filtered by values of task and step",
    ),
    "awr": ("agentrl.trainers.arguments.phases:AWR", "advantage-weighted regression on a fixed set of episodes"),
    "filtered_bc": ("agentrl.trainers.arguments.phases:FilteredBC", "imitation of the policy's own best episodes"),
    "orm": ("agentrl.trainers.arguments.imitation:ORM", "an outcome reward model: was the task done? YES or NO"),
}


@dataclass(frozen=True)
class Stage:
    """A planned training run: of a recipe, of a run folder, of an experiment. Its options have not been checked yet."""

    algorithm: str
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        check_algorithm(self.algorithm)


def check_algorithm(name: str) -> str:
    """The name, or a `ConfigError` with the nearest one."""
    if name not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise ConfigError(f"unknown algorithm {name!a}.{did_you_mean(name, ALGORITHMS)} There are: {known}.")
    return name


def arguments_class(algorithm: str) -> type[RunArguments]:
    """The dataclass of an algorithm's options; this needs no torch."""
    module, _, name = ALGORITHMS[check_algorithm(algorithm)][0].partition(":")
    return getattr(import_module(module), name)


def train_function(algorithm: str) -> Any:
    """`train(arguments, report)` of an algorithm."""
    return import_module(f"agentrl.trainers.algorithms.{check_algorithm(algorithm)}").train
