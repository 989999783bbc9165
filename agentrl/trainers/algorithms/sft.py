"""SFT: imitation of demonstrations by maximum likelihood.

The demonstrations are the oracle's, or another player's (`player`), played in the environments; a share `mistake_rate`
of the turns is random, so that what is learned is a start for reinforcement learning rather than the end of it. Only
the replies are learned, not the prompts. One iteration is `steps_per_iteration` optimiser steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import episode_seed
from agentrl.rollout.collect import Collector, Start
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter, with_pictures
from agentrl.trainers.arguments.imitation import SFT
from agentrl.trainers.parallel.rollout import collect_distributed
from agentrl.trainers.run.folder import DEMONSTRATIONS
from agentrl.trainers.run.progress import Progress
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.batch import Batch, Row
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.steps import Steps
from agentrl.trainers.update.word_substitution import WordSubstituter, substitute_words


def train(args: SFT, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = Learner(args, total_steps=args.iterations * args.steps_per_iteration)
    with Run(args, "sft", learner, report) as run:
        taught = demonstrations(args, run)
        if args.save_demonstrations:
            run.processes.on_main(lambda: keep(run.folder / DEMONSTRATIONS, taught))
        rows = Batch(taught).rows
        if not rows:
            raise ConfigError("the demonstrations hold no tokens to learn from")
        substituter = WordSubstituter(learner.engine.tokenizer) if args.word_substitution else None
        for _ in run.iterations():
            steps, words = Steps(learner), run.rng("words")
            sequences = args.steps_per_iteration * args.batch_size // run.processes.size
            with run.time("update"), run.progress("learning sequences", sequences) as learner.progress:
                for batch in batches(rows, args, run.rng("demonstrations")):
                    if substituter is not None:
                        batch = substitute_words(batch, args.word_substitution, substituter, words)
                    steps.take(imitate, learner, batch)
                learner.publish()
            run.log_training(steps.means(), episodes=False)
        return run.close()


def keep(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Write them to a file, in place of what a run that was stopped has left there."""
    path.unlink(missing_ok=True)
    with TrajectoryWriter(path) as writer:
        for trajectory in trajectories:
            writer.write(trajectory)


def imitate(learner: Learner, rows: Sequence[Row]) -> dict[str, float]:
    """One optimiser step: the mean negative log-likelihood of the reply tokens."""
    whole = sum(len(row.targets) for row in rows)

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        found = learner.outputs([rows[index] for index in indices], values=False)
        return -(found.logprobs * found.mask).sum() / whole, {}

    metrics = learner.step(rows, loss_of)
    return {"nll": metrics["loss"], "grad_norm": metrics["grad_norm"]}


def batches(rows: Sequence[Row], args: SFT, rng: torch.Generator) -> list[list[Row]]:
    """The batches of an iteration, drawn without repetition as far as the data reach."""
    wanted = args.steps_per_iteration * args.batch_size
    order: list[int] = []
    while len(order) < wanted:
        order += torch.randperm(len(rows), generator=rng).tolist()
    size = args.batch_size
    return [[rows[i] for i in order[n * size : (n + 1) * size]] for n in range(args.steps_per_iteration)]


def demonstrations(args: SFT, run: Run) -> list[Trajectory]:
    """Read from the file, or played; the same ones every time."""
    engine = run.learner.engine
    if args.data:
        found = [trajectory for trajectory in with_pictures(args.data) if trajectory.fault is None]
    else:
        run.report(f"playing {args.demonstrations} demonstrations")
        teacher = Demonstrator(
            engine,
            player=args.player,
            mistake_rate=args.mistake_rate,
            mistake_kind=args.mistake_kind,
            description_noise=args.description_noise,
            seed=args.seed,
        )
        collector = Collector(
            args.specs(),
            teacher,
            num_envs=-(-args.num_envs // run.processes.size),
            prompt_style=args.prompt_style,
            history=args.history,
            timeout=args.env_timeout or None,
            hosts=args.hosts,
        )
        envs = len(args.specs())
        starts = [Start(episode_seed(args.seed, n), n % envs, id=f"demo-{n}") for n in range(args.demonstrations)]
        with Progress(run.report, "demonstrations", len(starts) // run.processes.size) as advance:
            played = collect_distributed(run.processes, collector, starts, advance).trajectories
        found = [trajectory for trajectory in played if trajectory.fault is None]
        collector.close()
    own = Demonstrator(engine).tokenizer_hash
    if any(trajectory.tokenizer != own for trajectory in found):
        raise ConfigError("the demonstrations were written with another tokenizer than the model's")
    if not found:
        raise ConfigError("there are no demonstrations to learn from")
    return found
