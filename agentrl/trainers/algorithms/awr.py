"""AWR: advantage-weighted regression on a fixed set of episodes.

The critic learns the outcomes first; then every action is imitated with weight `min(exp(A/beta), max_weight)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentrl.core.errors import ConfigError
from agentrl.trainers.run.phases import OfflineArguments, experience, offline_records, plays
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.off_policy import make_off_policy_learner, train_actor, train_critic


@dataclass(kw_only=True)
class AWR(OfflineArguments):
    """Imitate actions by their advantage."""

    loss: Literal["webrl", "released", "kl_target", "reinforce", "awr", "bc"] = "awr"
    """Advantage-weighted regression: no other works here."""
    lam: float = 0.0
    """The share of the next step's value in an advantage; 0: the discounted outcome less the value, as in the paper."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss != "awr":
            raise ConfigError(f"loss must be awr; got {self.loss!r}")


def train(args: AWR, report: Report | None = None) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_off_policy_learner(args)
    with Run(args, "awr", learner, report) as run:
        records = []
        for iteration in run.iterations():
            records = records or offline_records(args, run)
            played = experience(records)
            with run.time("update"):
                metrics = train_critic(args, run, learner, played) | train_actor(args, run, learner, played)
                learner.publish()
            run.log_training(metrics, episodes=plays(args, iteration))
        return run.close()
