"""Options of the trainers that learn in phases: play tasks, label the episodes, learn from them and from the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments import fraction
from agentrl.trainers.env_specs import json_option
from agentrl.trainers.off_policy_arguments import OffPolicyArguments


@dataclass(kw_only=True)
class PhaseArguments(OffPolicyArguments):
    """What a phase plays, who says how it ended, and what is replayed."""

    iterations: int = 8
    """Number of phases: play, label, learn."""
    save_every: int = 1
    """Write a checkpoint every N phases (and at the end)."""
    tasks_per_phase: int = 500
    """Tasks of a phase."""
    attempts: int = 1
    """Episodes of each task."""
    start_tasks: int = 0
    """Training tasks that the first policy plays before anything is learned: their successes fill the replay buffer,
    and their failures are the seeds of the first new tasks. 0: as many as tasks_per_phase."""
    curriculum: bool = True
    """New tasks in every phase, made from those that failed so far; off: all phases play the tasks of the first."""
    first_tasks: Literal["generated", "training"] = "generated"
    """What the first phase plays: new tasks, or tasks of the training split."""
    value_low: float = 0.05
    """New tasks whose first state the critic values less are too hard ..."""
    value_high: float = 0.75
    """... and those that it values more are too easy."""
    generator: str = "own"
    """Who makes new tasks: "own" (the environment), or a language model, as a JSON object such as {"kind": "llm",
    "model": ..., "base_url": ..., "prompt": 1}. Its tasks have no evaluator, so they need orm."""
    proposal_rounds: int = 5
    """How often the generator is asked before a phase makes do with fewer new tasks."""
    orm: str = ""
    """The judge that labels the episodes of all phases (an outcome reward model): a kind or a JSON object. Without one
    the environment's own evaluator does, as it does before the first phase in any case."""
    replay_limit: float = 2.0
    """Replayed actions, at most: this many for each action of the phase."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tasks_per_phase", "attempts", "proposal_rounds"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("start_tasks", self.start_tasks, at_least=0)
        if not fraction("value_low", self.value_low) <= fraction("value_high", self.value_high):
            raise ConfigError(f"value_low must not exceed value_high; got {self.value_low!r} and {self.value_high!r}")
        if finite_number("replay_limit", self.replay_limit) < 0:
            raise ConfigError(f"replay_limit must not be negative; got {self.replay_limit!r}")
        if isinstance(self.generator_spec(), dict) and not self.orm:
            raise ConfigError("generator: tasks of a language model have no evaluator; give orm, a judge of outcomes")
        self.orm_spec()

    def generator_spec(self) -> Any:
        """Who makes new tasks, as a spec."""
        is_object = self.generator.lstrip().startswith("{")
        return json_option("generator", self.generator, dict) if is_object else self.generator

    def orm_spec(self) -> Any:
        """The judge that labels episodes, as a spec; None for the environment's own evaluator."""
        is_object = self.orm.lstrip().startswith("{")
        return json_option("orm", self.orm, dict) if is_object else self.orm or None
