"""DigiRL: online rounds of imitation, filtered by two values: of the instruction, and of each step.

A round plays the tasks of the first one again (or new ones, with `curriculum`) and puts all episodes into a buffer,
failures too. Of what is drawn from it, the actor imitates

1. trajectories that did better than was expected of their instruction, the largest differences first;
2. in these, actions whose step-level advantage is above `min_advantage`.

Both values are read from one critic, which predicts the outcome of the episode: the value of an instruction is its
value of the first state, the value of a step its value before that step's action.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentrl.trainers.arguments.phases import DigiRL
from agentrl.trainers.run.phases import Phases, experience
from agentrl.trainers.run.replay import Record, drawn, replayed
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.off_policy import (
    Experience,
    make_off_policy_learner,
    train_actor,
    train_critic,
    values_at_starts,
)
from agentrl.trainers.update.outcomes import instruction_filter


def train(args: DigiRL, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_off_policy_learner(args)
    with Run(args, "digirl", learner, report) as run:
        phases = Phases(args, run, keep_failures=True, capacity=args.buffer_size)
        for _ in run.iterations():
            records = phases.play()
            metrics = {}
            with run.time("update"):
                if records:
                    both = experience(records) + past(args, phases, records)
                    known = experience(phases.buffer.episodes + records) if args.critic_on_all else both
                    metrics = train_critic(args, run, learner, known)
                    passed = instruction_filter(
                        both.outcomes, instruction_values(learner, both), args.instruction_share
                    )
                    metrics |= train_actor(args, run, learner, both.only(passed))
                    metrics["instructions_passed"] = sum(passed) / len(passed)
                learner.publish()
            phases.remember(records)
            run.log_training(metrics, phase=phases.metrics)
        return run.close()


def past(args: DigiRL, phases: Phases, records: Sequence[Record]) -> Experience:
    """Actions of earlier rounds that are learned from again, drawn at random."""
    buffer = phases.buffer.records
    most = int(args.replay_limit * sum(record.actions for record in records))
    eligible = [[bool(step.response_ids) for step in record.trajectory.steps] for record in buffer]
    found = replayed(buffer, drawn(eligible, most, phases.run.rng("replay")))
    phases.metrics["replay"] = {"eligible": sum(map(sum, eligible)), "limit": most, "actions": found.actions}
    return found


def instruction_values(learner: Learner, experience: Experience) -> list[float]:
    """The predicted success of each trajectory's instruction: the value of what the policy was asked first."""
    firsts = [(one, one.steps[0]) for one in experience.trajectories]
    prompts = [learner.prompt(one, step.prompt_ids or [], step.images) for one, step in firsts]
    return values_at_starts(learner, prompts).amin(-1).tolist()
