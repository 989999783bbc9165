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
    from agentrl.trainers.arguments import RunArguments

# name -> (module:arguments, what it is), below agentrl.trainers.algorithms; `train(arguments, report)` of the module is
# the algorithm.
ROOM = "agentrl.trainers.algorithms"
ALGORITHMS: dict[str, tuple[str, str]] = {
    "sft": ("sft:SFT", "imitation of demonstrations, partly wrong ones if you like"),
    "ppo": ("ppo:PPO", "PPO with a critic: masked, vanilla, turn or bilevel credit"),
    "steppo": ("steppo:StepPO", "StepPO: one advantage and one ratio per step"),
    "grpo": ("grpo:GRPO", "GRPO, Dr. GRPO, DAPO: trajectories compared with their group, no critic"),
    "rloo": ("rloo:RLOO", "RLOO: trajectories compared with the others of their group"),
    "reinforce_pp": ("reinforce_pp:ReinforcePP", "REINFORCE++: returns whitened over the batch"),
    "gspo": ("gspo:GSPO", "GSPO: GRPO with one probability ratio per sequence"),
    "gigpo": ("gigpo:GiGPO", "GiGPO: trajectories compared, and steps from the same observation"),
    "webrl": ("webrl:WebRL", "WebRL: new tasks from failures, learned off-policy with past successes"),
    "digirl": ("digirl:DigiRL", "DigiRL: online imitation filtered by values of task and step"),
    "awr": ("awr:AWR", "advantage-weighted regression on a fixed set of episodes"),
    "filtered_bc": ("filtered_bc:FilteredBC", "imitation of the policy's own best episodes"),
    "orm": ("orm:ORM", "an outcome reward model: was the task done? YES or NO"),
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
    """The dataclass of an algorithm's options."""
    module, _, name = ALGORITHMS[check_algorithm(algorithm)][0].partition(":")
    return getattr(import_module(f"{ROOM}.{module}"), name)


def train_function(algorithm: str) -> Any:
    """`train(arguments, report)` of an algorithm."""
    module = ALGORITHMS[check_algorithm(algorithm)][0].partition(":")[0]
    return import_module(f"{ROOM}.{module}").train
