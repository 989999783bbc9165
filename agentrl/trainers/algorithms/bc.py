"""BC: behaviour cloning of a robot's demonstrations by a VLA policy.

The demonstrations are the oracle's, played with a little noise in the training split, or those of a LeRobotDataset. A
*moment* is an observation with the next actions that were right there. The actions' and the state's 1st and 99th
percentile become the range from -1 to 1, kept in the policy's folder. Each picture is shifted and its brightness
changed anew every time it is learned from. One iteration is `steps_per_iteration` optimiser steps; after it the loss on
held-out episodes is measured, and success where `eval_every` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import episode_seed
from agentrl.models.vla.actions import percentile_range
from agentrl.models.vla.spec import VECTORS
from agentrl.rollout.collect import Collector, Start
from agentrl.rollout.demonstrations import GOLD, ControlDemonstrator
from agentrl.rollout.lerobot import read_lerobot
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.imitation import BC
from agentrl.trainers.run.progress import Progress
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.batch import micro_batches
from agentrl.trainers.update.control_batch import ControlRow, PictureBlock, held_by, observed
from agentrl.trainers.update.control_learner import ControlLearner
from agentrl.trainers.update.steps import Steps

MOST_PICTURES = 16.0  # GiB of demonstrations


@dataclass
class Moment(ControlRow):
    """An observation and what is right there."""

    actions: Any = None  # float32 [chunk, numbers]; behind the end of an episode its last action is repeated
    kept: int = 0  # how many of them there were


def train(args: BC, report: Report | None = print, shown: Sequence[Trajectory] | None = None) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder. `shown` are demonstrations that are there
    already, the same ones whenever the run is resumed."""
    shown = demonstrations(args, report or (lambda line: None)) if shown is None else shown
    total = args.iterations * args.steps_per_iteration
    learner = ControlLearner(args, form=args.form(), ranges=ranges_of(shown), total_steps=total)
    with Run(args, "bc", learner, report) as run:
        taught, held_out = divided(shown, args.held_out)
        rows, others = moments(learner, taught), moments(learner, held_out)
        run.report(f"learning from {len(rows):,} moments of {len(taught)} episodes")
        for _ in run.iterations():
            steps, moved = Steps(learner), run.rng("pictures")
            with run.time("update"), run.progress("learning moments", total // args.iterations * args.batch_size) as p:
                learner.progress = p
                for batch in batches(rows, args, run.rng("demonstrations")):
                    steps.take(imitate, learner, args, batch, moved)
                learner.publish()
            run.log_training(steps.means() | held_out_loss(learner, others), episodes=False)
        return run.close()


def imitate(learner: ControlLearner, args: BC, rows: Sequence[Moment], rng: torch.Generator) -> dict[str, float]:
    """One optimiser step: the mean of what the moments lack."""

    def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
        return missed(learner, [rows[index] for index in indices], rng, args).sum() / len(rows), {}

    metrics = learner.step(rows, loss_of)
    return {"imitation": metrics["loss"], "grad_norm": metrics["grad_norm"]}


def missed(learner: ControlLearner, rows: Sequence[Moment], rng: torch.Generator, args: BC | None) -> Tensor:
    """What each moment lacks, [rows]; with options, its pictures are changed first."""
    seen, policy = learner.seen(rows), learner.policy
    if args is not None:
        pictures = {name: augmented(some, args.shift, args.brightness, rng) for name, some in seen.pictures.items()}
        seen = seen._replace(pictures=pictures)
    actions = policy.action_scale(torch.from_numpy(np.stack([row.actions for row in rows])).to(learner.device))
    kept = torch.tensor([row.kept for row in rows], device=learner.device)
    chosen = torch.arange(policy.spec.chunk, device=learner.device) < kept[:, None]
    return policy.imitation_loss(seen, actions, chosen, rng)


@torch.no_grad()
def held_out_loss(learner: ControlLearner, rows: Sequence[Moment]) -> dict[str, float]:
    """The mean over moments that are not learned from; the same noise every time."""
    if not rows:
        return {}
    rng, total = torch.Generator().manual_seed(0), 0.0
    for some in micro_batches(learner.reader.lengths(rows), learner.budget.tokens):
        total += float(missed(learner, [rows[index] for index in some], rng, None).sum())
    return {"held_out": total / len(rows)}


def augmented(pictures: Tensor, shift: int, brightness: float, rng: torch.Generator) -> Tensor:
    """Each picture (uint8 [batch, height, width, 3]) moved by up to `shift` pixels, edges repeated, and with brightness
    and contrast changed by up to that share."""
    count, height, width = pictures.shape[:3]
    down, right = torch.randint(-shift, shift + 1, (2, count, 1), generator=rng).to(pictures.device)
    rows = (torch.arange(height, device=pictures.device) + down).clamp(0, height - 1)
    columns = (torch.arange(width, device=pictures.device) + right).clamp(0, width - 1)
    each = torch.arange(count, device=pictures.device)[:, None, None]
    moved = pictures[each, rows[:, :, None], columns[:, None]]
    if not brightness:
        return moved
    contrast, offset = (torch.rand(2, count, 1, 1, 1, generator=rng).to(pictures.device) * 2 - 1) * brightness
    changed = (moved.float() - 127.5) * (1 + contrast) + 127.5 * (1 + offset)
    return changed.round().clamp(0, 255).to(torch.uint8)


def batches(rows: Sequence[Moment], args: BC, rng: torch.Generator) -> list[list[Moment]]:
    """The batches of an iteration, drawn without repetition as far as the data reach."""
    wanted, size = args.steps_per_iteration * args.batch_size, args.batch_size
    order: list[int] = []
    while len(order) < wanted:
        order += torch.randperm(len(rows), generator=rng).tolist()
    return [[rows[i] for i in order[n * size : (n + 1) * size]] for n in range(args.steps_per_iteration)]


# ---------------------------------------------------------------------- demonstrations


def demonstrations(args: BC, report: Report) -> list[Trajectory]:
    """Episodes that succeeded, played or read; the same ones every time."""
    found = list(read_lerobot(args.data, image_size=picture_size(args))) if args.data else played(args, report)
    good = [trajectory for trajectory in found if trajectory.success and trajectory.fault is None]
    report(f"{len(good)} of {len(found)} demonstrations succeeded")
    if not good:
        raise ConfigError("no demonstration succeeded: there is nothing to imitate")
    if args.data:
        env_id = args.specs()[0].id.rpartition(":")[2]
        for trajectory in good:
            trajectory.env_id = env_id
    PictureBlock(good, MOST_PICTURES)
    return good


def played(args: BC, report: Report) -> list[Trajectory]:
    """The oracle's, in the training split."""
    envs, specs = len(args.specs()), args.specs()
    teacher = ControlDemonstrator(noise=args.noise, seed=args.seed)
    style = {"prompt_style": "step", "history": 0}  # keeps no pictures of the past
    where = {"num_envs": args.num_envs, "timeout": args.env_timeout or None, "hosts": args.hosts}
    collector = Collector(specs, teacher, **where, **style)
    starts = [Start(episode_seed(args.seed, n), n % envs, id=f"demo-{n}") for n in range(args.demonstrations)]
    try:
        with Progress(report, "demonstrations", len(starts)) as advance:
            return collector.collect(starts, advance).trajectories
    finally:
        collector.close()


def picture_size(args: BC) -> int | None:
    """How large the environment's pictures are: those of a data set are made to fit."""
    from agentrl.rollout.episode import make

    first = args.specs()[0]
    env = make(first.id, split="train", **first.kwargs)
    env.close()
    shapes = [part.shape for part in getattr(env.observation_space, "spaces", {}).values()]
    return next((shape[0] for shape in shapes if shape is not None and len(shape) == 3), None)


def ranges_of(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """The percentiles of actions and vectors."""
    steps = [step for trajectory in trajectories for step in trajectory.steps]
    labels = [step.sampling[GOLD] for step in steps if GOLD in step.sampling]
    if not labels or len({len(label) for label in labels}) > 1:
        raise ConfigError("the demonstrations must hold actions of one length; got none, or several lengths")
    vectors = [[x for name in VECTORS for x in getattr(step, name) or ()] for step in steps]
    if len({len(vector) for vector in vectors}) > 1:
        raise ConfigError("the demonstrations must hold the same vectors in every step; got several lengths")
    told = {"action_range": percentile_range(np.array(labels))}
    return told | {"vector_range": percentile_range(np.array(vectors)) if vectors[0] else ()}


def divided(shown: Sequence[Trajectory], share: float) -> tuple[list[Trajectory], list[Trajectory]]:
    """What is learned from, and what is held out: episodes at equal distances."""
    count = min(len(shown) - 1, round(share * len(shown)))
    chosen = {int((number + 0.5) * len(shown) / count) for number in range(count)} if count else set()
    return [one for n, one in enumerate(shown) if n not in chosen], [one for n, one in enumerate(shown) if n in chosen]


def moments(learner: ControlLearner, trajectories: Sequence[Trajectory]) -> list[Moment]:
    """Every step with a label, with the actions that follow."""
    engine, found = learner.engine, list[Moment]()
    spec = engine.spec
    for trajectory in trajectories:
        held, cameras = held_by(trajectory), cameras_of(learner.cameras, trajectory)
        steps = [step for step in trajectory.steps if GOLD in step.sampling]
        labels = np.array([step.sampling[GOLD] for step in steps], np.float32).reshape(len(steps), -1)
        if labels.shape[1] != spec.action_numbers:
            raise ConfigError(f"actions must have {spec.action_numbers} numbers; those of {trajectory.id} differ")
        for place, step in enumerate(steps):
            ids = engine.encode(step.observation.partition("\n")[0])
            seen: dict[str, Any] = {}
            if held is None:
                row = observed(spec, cameras, trajectory, ids, step.images, [step.proprio, step.state])
                seen = {"numbers": row.numbers, "pictures": row.pictures}
            there = None if held is None else held.after(place)
            following = np.minimum(np.arange(place, place + spec.chunk), len(steps) - 1)
            kept = min(spec.chunk, len(steps) - place)
            found.append(Moment(0, list(ids), **seen, held=there, actions=labels[following], kept=kept))
    return found


def cameras_of(cameras: Mapping[str, list[int]], trajectory: Trajectory) -> list[int]:
    """The places of the policy's cameras among a trajectory's pictures."""
    if trajectory.env_id not in cameras:
        raise ConfigError(f"{trajectory.id} was played in {trajectory.env_id!r}, not in {', '.join(cameras)}")
    return cameras[trajectory.env_id]
