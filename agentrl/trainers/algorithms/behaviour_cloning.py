"""Behaviour cloning: a small network learns the oracle's actions, from numbers or from pictures, on a processor.

Plays demonstrations on the train split, learns from them by regression, and returns the network; `ControlPolicy` plays
it, and `examples/clone_robot.py` is the whole of it on the command line.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch.nn.functional import smooth_l1_loss

from agentrl.core.arguments import number_from_zero, positive_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.seeding import episode_seed
from agentrl.models.control_net import ControlNet, ControlSpec
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import ControlData, ControlDemonstrator, control_data
from agentrl.rollout.episode import make
from agentrl.rollout.lerobot import read_lerobot
from agentrl.rollout.trajectory import Trajectory

Report = Callable[[str], Any]
WARM_UP = 0.05  # of the steps, in which the learning rate rises
SHIFT = 2  # pixels that pictures are moved at random, so that no single pixel is learned by heart


@dataclass(kw_only=True)
class BehaviourCloning:
    """What to imitate, and how long."""

    env: str
    """Environment id."""
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """Arguments of the environment: obs_mode="state" to learn from numbers, image_size=64 for small pictures."""
    vectors: tuple[str, ...] = ()
    """Vectors of the observation to learn from; default: all that it has."""
    pictures: tuple[str, ...] = ()
    """Pictures of the observation to learn from; default: all that it has."""
    demonstrations: int = 100
    """Episodes to demonstrate; those that end without success are not learned from."""
    data: str = ""
    """Learn from this folder with a LeRobotDataset instead; its cameras and vectors must be those of `env`."""
    noise: float = 0.1
    """Standard deviation of the noise in what is demonstrated (what is learned has none)."""
    chunk: int = 1
    """Actions that are predicted at a time."""
    steps: int = 2000
    """Optimiser steps."""
    batch_size: int = 128
    """Samples of an optimiser step."""
    lr: float = 1e-3
    """Learning rate; a cosine schedule takes it to 0."""
    hidden: int = 256
    """Width of the hidden layers."""
    seed: int = 0
    """Seed of the demonstrations and of the learning."""

    def __post_init__(self) -> None:
        for name in ("demonstrations", "chunk", "steps", "batch_size", "hidden"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("seed", self.seed, at_least=0)
        number_from_zero("noise", self.noise)
        positive_number("lr", self.lr)
        if "split" in self.env_kwargs:
            raise ConfigError("demonstrations are played on the train split; leave split out of env_kwargs")


def train(args: BehaviourCloning, report: Report = print) -> ControlNet:
    """Play the demonstrations, or read them, and learn from them."""
    spec, cameras = network_spec(args)
    played = read_demonstrations(args, spec, cameras, report) if args.data else demonstrate(args, report)
    data = control_data(played, list(spec.vectors), spec.pictures, cameras, args.chunk)
    report(f"learning from {len(data.actions):,} samples of {len(played)} episodes")
    return learn(args, spec, data, report)


def demonstrate(args: BehaviourCloning, report: Report = print) -> list[Trajectory]:
    """Successful episodes of the oracle, with noise; the same ones every time."""
    began = time.perf_counter()
    collector = Collector(
        [EnvSpec(args.env, args.env_kwargs)],
        ControlDemonstrator(noise=args.noise, seed=args.seed),
        num_envs=1,
        prompt_style="step",  # which keeps no pictures of the past
        history=0,
    )
    try:
        starts = [Start(episode_seed(args.seed, number)) for number in range(args.demonstrations)]
        found = collector.collect(starts).trajectories
    finally:
        collector.close()
    good = [trajectory for trajectory in found if trajectory.success]
    report(f"{len(good)} of {len(found)} demonstrations succeeded ({time.perf_counter() - began:.0f} s)")
    if not good:
        raise ConfigError(f"the oracle of {args.env} solved none of {len(found)} episodes: there is nothing to imitate")
    return good


def read_demonstrations(
    args: BehaviourCloning, spec: ControlSpec, cameras: list[str], report: Report = print
) -> list[Trajectory]:
    """Successful episodes of a data set, with pictures as large as the environment's."""
    good, seen = [], 0
    for trajectory in read_lerobot(args.data, image_size=spec.picture_size or None):
        seen += 1
        first = trajectory.steps[0]
        found = {"cameras": len(first.images), "numbers an action": len(first.action)}
        wanted = {"cameras": len(cameras) if spec.pictures else found["cameras"], "numbers an action": len(spec.low)}
        for name, count in spec.vectors.items():
            found[f"numbers in {name}"], wanted[f"numbers in {name}"] = len(getattr(first, name) or ()), count
        if found != wanted:
            raise ConfigError(f"{args.data} must fit {args.env}, which has {wanted}; got {found}")
        good += [trajectory] if trajectory.success else []
    report(f"{len(good)} of {seen} demonstrations of {args.data} succeeded")
    if not good:
        raise ConfigError(f"{args.data} holds no episode that succeeded: there is nothing to imitate")
    return good


def network_spec(args: BehaviourCloning) -> tuple[ControlSpec, list[str]]:
    """What the network reads and writes, and the names of all pictures of an observation, in order."""
    env = make(args.env, **args.env_kwargs)
    env.close()
    parts, actions = env.observation_space, env.action_space
    if not isinstance(parts, spaces.Dict) or not isinstance(actions, spaces.Box):
        raise ConfigError(f"behaviour cloning needs named observations and arrays as actions; {args.env} has others")
    shapes = {name: part.shape for name, part in parts.spaces.items() if isinstance(part, spaces.Box)}
    known = {size: [name for name, shape in shapes.items() if len(shape) == size] for size in (1, 3)}
    cameras = [name for name in getattr(env.unwrapped, "pictures", known[3]) if name in shapes]
    vectors = _chosen("vectors", args.vectors, known[1])
    pictures = _chosen("pictures", args.pictures, cameras)
    return ControlSpec(
        vectors={name: shapes[name][0] for name in vectors},
        pictures=tuple(pictures),
        picture_size=shapes[pictures[0]][0] if pictures else 0,
        low=tuple(actions.low.tolist()),
        high=tuple(actions.high.tolist()),
        chunk=args.chunk,
        hidden=args.hidden,
        trained_on=args.env,
    ), cameras


def _chosen(what: str, asked: tuple[str, ...], known: list[str]) -> list[str]:
    for name in asked:
        if name not in known:
            raise ConfigError(f"{what} must be among {', '.join(known) or 'none'}; got {name!r}")
    return list(asked) if asked else sorted(known)


def learn(args: BehaviourCloning, spec: ControlSpec, data: ControlData, report: Report = print) -> ControlNet:
    """Regression of the actions on what was sensed."""
    torch.manual_seed(args.seed)
    random, began = np.random.default_rng(args.seed), time.perf_counter()
    net = ControlNet(spec)
    net.fit_scale(torch.from_numpy(data.numbers))
    optimiser = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, args.steps))
    losses = []
    net.train()
    for step in range(1, args.steps + 1):
        chosen = random.integers(len(data.actions), size=args.batch_size)
        pictures = {name: torch.from_numpy(_shifted(held[chosen], random)) for name, held in data.pictures.items()}
        found = net(torch.from_numpy(data.numbers[chosen]), pictures)
        loss = smooth_l1_loss(found, torch.from_numpy(data.actions[chosen]), beta=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if step % max(1, args.steps // 10) == 0:
            report(
                f"step {step}: loss {np.mean(losses[-args.steps // 10 :]):.4f} ({time.perf_counter() - began:.0f} s)"
            )
    net.eval()
    return net


def _rate(step: int, steps: int) -> float:
    rising = min(1.0, (step + 1) / max(1.0, WARM_UP * steps))
    return rising * 0.5 * (1.0 + float(np.cos(np.pi * min(1.0, step / steps))))


def _shifted(pictures: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Each picture moved by a few pixels of its own, edges repeated."""
    count, height, width = pictures.shape[:3]
    down, right = random.integers(0, 2 * SHIFT + 1, size=(2, count, 1))
    padded = np.pad(pictures, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    rows, columns = down + np.arange(height), right + np.arange(width)
    return padded[np.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]]
