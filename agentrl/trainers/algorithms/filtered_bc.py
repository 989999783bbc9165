"""Filtered behaviour cloning: imitation of the policy's own best episodes.

Successes at or above a percentile of all scores are imitated. Scores are 0 or 1 by the environment's own evaluator, so
that these are all successes, or the probabilities of an outcome reward model.
"""

from __future__ import annotations

from pathlib import Path

from agentrl.trainers.arguments.phases import FilteredBC
from agentrl.trainers.run.phases import experience, offline_records, plays
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.off_policy import make_off_policy_learner, train_actor
from agentrl.trainers.update.outcomes import percentile_filter


def train(args: FilteredBC, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_off_policy_learner(args, critic=False)
    with Run(args, "filtered_bc", learner, report) as run:
        records = []
        for iteration in run.iterations():
            records = records or offline_records(args, run)
            high = percentile_filter([record.label.score for record in records], args.percentile)
            best = [passed and record.success for passed, record in zip(high, records, strict=True)]
            with run.time("update"):
                metrics = train_actor(args, run, learner, experience(records).only(best))
                learner.publish()
            kept = {"trajectories": float(sum(best)), "kept_fraction": sum(best) / len(best)}
            run.log_training(metrics | kept, episodes=plays(args, iteration))
        return run.close()
