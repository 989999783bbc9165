"""AWR: advantage-weighted regression on a fixed set of episodes.

The critic learns the outcomes first; then every action is imitated with weight `min(exp(A/beta), max_weight)`.
"""

from __future__ import annotations

from pathlib import Path

from agentrl.trainers.arguments.phases import AWR
from agentrl.trainers.run.phases import experience, offline_records, plays
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.off_policy import make_off_policy_learner, train_actor, train_critic


def train(args: AWR, report: Report | None = print) -> Path:
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
