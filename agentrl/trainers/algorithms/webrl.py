"""WebRL: a curriculum of new tasks made from failures, learned off-policy together with replayed successes.

After the policy has imitated demonstrations (`agentrl train sft`), a phase is

1. new tasks, made from those that failed so far, within the critic's window and feasible;
2. episodes of the policy on them, labelled by an outcome reward model (or the environment's own evaluator);
3. actions of past successes that the policy finds neither easy nor strange, by their perplexity;
4. the critic, by cross-entropy with the outcome, then the policy, by `(beta*log(pi/pi_ref) - A)^2`, where pi_ref is the
   policy at the beginning of the phase;
5. successes into the replay buffer, failures into the failure set.

Ablations are options: `--no-curriculum`, `--no-replay`, `--replay-failures`, `--loss reinforce` (no KL),
`--no-critic-on-replay`, `--beta`, `--perplexity-low` and `--perplexity-high`; `--loss kl_target` is the paper's other
target, `--loss good_actions` imitation of actions with a good advantage.

What else may teach more, each off by default: `--critic-on-all`, `--gamma 1`, `--negative-weight`, `--per-token`,
`--replay-window quantiles`, `--no-repeat-tasks`. The published code differs from the paper: it is `--loss released
--critic-heads 2 --window-heads any --replay-demonstrations --one-success-per-task --fresh-optimiser`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentrl.trainers.arguments.phases import WebRL
from agentrl.trainers.run.folder import start_demonstrations
from agentrl.trainers.run.phases import Phases, experience, read_records
from agentrl.trainers.run.replay import Record, drawn, in_window, quantile_window, replayed
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.off_policy import (
    Experience,
    make_off_policy_learner,
    perplexities,
    train_actor,
    train_critic,
)


def train(args: WebRL, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = make_off_policy_learner(args)
    with Run(args, "webrl", learner, report) as run:
        demonstrations = read_records(start_demonstrations(args), run) if args.replay_demonstrations else []
        phases = Phases(
            args,
            run,
            keep_failures=args.replay_failures,
            one_per_task=args.one_success_per_task,
            demonstrations=demonstrations,
        )
        for _ in run.iterations():
            records = phases.play()
            metrics = {}
            with run.time("update"):
                played, past = experience(records), replay(args, phases, records)
                if records:
                    both = played + past
                    known = both if args.critic_on_replay else played
                    if args.critic_on_all:
                        known = experience(phases.buffer.episodes) + played
                    metrics = train_critic(args, run, learner, known)
                    # The KL target holds for actions that the reference itself would take.
                    metrics |= train_actor(args, run, learner, played if args.loss == "kl_target" else both)
                learner.publish()
            phases.remember(records)
            run.log_training(metrics, phase=phases.metrics)
        return run.close()


def replay(args: WebRL, phases: Phases, records: Sequence[Record]) -> Experience:
    """Actions of the buffer that are learned from again: those in the perplexity window, up to the limit."""
    buffer, counts = phases.buffer.records, phases.metrics.setdefault("replay", {})
    if not args.replay or not records:
        return experience([])
    if not buffer:
        phases.run.report(f"phase {phases.number}: the replay buffer is empty")
        return experience([])
    found = perplexities(phases.run.learner, [record.trajectory for record in buffer])
    low, high = args.perplexity_low, args.perplexity_high
    if args.replay_window == "quantiles":
        low, high = quantile_window(found, args.quantile_low, args.quantile_high)
        counts |= {"perplexity_low": low, "perplexity_high": high}
    eligible = in_window(found, low, high)
    most = int(args.replay_limit * sum(record.actions for record in records))
    past = replayed(buffer, drawn(eligible, most, phases.run.rng("replay")))
    counts |= {"eligible": sum(map(sum, eligible)), "limit": most, "actions": past.actions}
    return past
