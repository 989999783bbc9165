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

# name -> (module:arguments, what it is); the module's `train(arguments, report)` is the algorithm.
ALGORITHMS: dict[str, tuple[str, str]] = {
    "sft": ("agentrl.trainers.sft:SFT", "imitation of demonstrations, partly wrong ones if you like"),
    "ppo": ("agentrl.trainers.ppo:PPO", "PPO with a critic: masked, vanilla, turn or bilevel credit"),
    "steppo": ("agentrl.trainers.steppo:StepPO", "StepPO: one advantage and one ratio per step"),
    "grpo": ("agentrl.trainers.grpo:GRPO", "GRPO, Dr. GRPO, DAPO: trajectories compared with their group, no critic"),
    "rloo": ("agentrl.trainers.rloo:RLOO", "RLOO: trajectories compared with the others of their group"),
    "reinforce_pp": ("agentrl.trainers.reinforce_pp:ReinforcePP", "REINFORCE++: returns whitened over the batch"),
    "gspo": ("agentrl.trainers.gspo:GSPO", "GSPO: GRPO with one probability ratio per sequence"),
    "gigpo": ("agentrl.trainers.gigpo:GiGPO", "GiGPO: trajectories compared, and steps from the same observation"),
    "webrl": ("agentrl.trainers.webrl:WebRL", "WebRL: new tasks from failures, learned off-policy with past successes"),
    "digirl": ("agentrl.trainers.digirl:DigiRL", "DigiRL: online imitation filtered by values of task and step"),
    "awr": ("agentrl.trainers.awr:AWR", "advantage-weighted regression on a fixed set of episodes"),
    "filtered_bc": ("agentrl.trainers.filtered_bc:FilteredBC", "imitation of the policy's own best episodes"),
    "orm": ("agentrl.trainers.orm:ORM", "an outcome reward model: was the task done? YES or NO"),
}
OLDEST = ("ppo", "steppo", "grpo", "rloo", "reinforce_pp", "gspo", "gigpo")  # had no such options at first
# Options that were added with another default than what all runs had until then: what a record without them means.
# By algorithm; "" is for all of them.
MEANT_BEFORE: dict[str, dict[str, Any]] = {
    "": {"format_rule": "paper"},
    **{name: {"old_logprobs": "behaviour", "correction": "none"} for name in OLDEST},
}
for _name in ("grpo", "rloo", "gspo", "gigpo"):
    MEANT_BEFORE[_name]["even_by"] = "reward"
for _name in ("ppo", "steppo"):
    MEANT_BEFORE[_name]["critic_start"] = "zero"
MEANT_BEFORE["gspo"] |= {"clip_low": 3e-4, "clip_high": 4e-4}
MEANT_BEFORE["gigpo"]["anchors"] = "observation"


@dataclass(frozen=True)
class Stage:
    """A planned training run: of a recipe, of a run folder, of an experiment. Its options have not been checked yet."""

    algorithm: str
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        check_algorithm(self.algorithm)


def as_meant(algorithm: str, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a run as it wrote them down, with what it meant by those that have been added or changed since."""
    meant = {**MEANT_BEFORE[""], **MEANT_BEFORE.get(algorithm, {}), **recorded}
    if algorithm == "ppo" and recorded.get("variant") == "turn" and "critic_epochs" not in recorded:
        meant["form"] = "released"  # turns had no other form before there were critic_epochs
    return meant


def check_algorithm(name: str) -> str:
    """The name, or a `ConfigError` with the nearest one."""
    if name not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise ConfigError(f"unknown algorithm {name!a}.{did_you_mean(name, ALGORITHMS)} There are: {known}.")
    return name


def arguments_class(algorithm: str) -> type[RunArguments]:
    """The dataclass of an algorithm's options."""
    module, _, name = ALGORITHMS[check_algorithm(algorithm)][0].partition(":")
    return getattr(import_module(module), name)


def train_function(algorithm: str) -> Any:
    """`train(arguments, report)` of an algorithm."""
    return import_module(ALGORITHMS[check_algorithm(algorithm)][0].partition(":")[0]).train
