"""`agentrl bench vla`: the loop of a VLA policy on a robot, and its passes and updates beside a plain PyTorch loop.

The loop is that of `agentrl train ppo`: Meta-World simulated and drawn at 64 px in hosts (one a core), chunks of 5 by
`tiny-vla`, one update of each batch. Its rate counts control steps by the clock of whole iterations, and the split says
where their seconds went: simulating and drawing, the policy, the update. The plain loop calls the same network on
tensors that lie ready: what is lost to reading observations, records and rows is the difference. On a GPU the same
command measures the GPU; the simulator stays on the processor.

With `--simulator warp` the simulator is on the GPU, too: the ten tasks of LIBERO-Spatial in 1,000 worlds, two pictures
of 96 px for each chunk of 8, by `small-vla`. Drawing is what a look at all worlds takes (poses and pictures), times the
looks. On one H200 with its kernels in Warp's cache it is meant to take about five minutes; it was not run there yet.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.core.measure import compare, machine, result
from agentrl.models.vla.loading import load_vla
from agentrl.models.vla.spec import fitted
from agentrl.rollout.collect import Collector, Start
from agentrl.rollout.episode import make
from agentrl.rollout.starts import EnvSpec, alone
from agentrl.trainers import PPO
from agentrl.trainers.algorithms.ppo import update
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.learner import make_learner

PLAIN = "PyTorch"
AT_ONCE = 1024  # chunks that the plain loop learns from in one pass
REQUIRED = 0.7  # of the plain loop


class Setting(NamedTuple):
    """What is played, by how many at once."""

    env: str
    kwargs: dict[str, Any]
    model: str
    chunk: int
    episodes: int
    few: int  # with `quick`
    told: str  # an instruction


SETTINGS = {
    "mujoco": Setting(
        "agentrl/MetaWorld-button-press-topdown-v0", {"image_size": 64}, "tiny-vla", 5, 32, 4,
        "Push the button down from above.",
    ),
    "warp": Setting(
        "agentrl/LIBERO-Spatial-v0", {"image_size": 96, "simulator": "warp"}, "small-vla", 8, 1000, 2,
        "pick up the black bowl on the stove and place it on the plate",
    ),
}  # fmt: skip


def run(quick: bool = False, model: str = "", simulator: str = "mujoco") -> dict[str, Any]:
    """All of it."""
    if simulator not in SETTINGS:
        raise ConfigError(f"simulator must be one of {', '.join(SETTINGS)}; got {simulator!r}")
    setting, rows = SETTINGS[simulator], []
    episodes, iterations, repeats = (setting.few, 1, 2) if quick else (setting.episodes, 3, 5)
    kwargs = dict(setting.kwargs)
    if simulator == "warp" and quick:  # a check without a GPU: two worlds, short episodes, small pictures
        device = "cuda" if torch.cuda.is_available() else "cpu"
        kwargs |= {"max_turns": 16, "image_size": 32, "starts": 1, "tasks": [0], "settle_steps": 1, "device": device}
    with tempfile.TemporaryDirectory() as folder:
        args = PPO(
            env=setting.env,
            env_kwargs=kwargs,
            model=str(fit(model or setting.model, setting, kwargs, Path(folder) / "policy")),
            output=str(Path(folder) / "run"),
            episodes=episodes,
            num_envs=episodes,
            iterations=iterations,
            minibatches=1,
            hosts=0 if simulator == "warp" else min(os.cpu_count() or 1, episodes),
            token_budget=131_072 if torch.cuda.is_available() else 16_384,
            picture_memory=16.0,
            variant="turn",
            critic="shared",
            kl_coef=0.0,
            report=False,
        )
        learner = make_learner(args)
        with Run(args, "ppo", learner, lambda line: None) as training:
            batch, spent, steps, whole = loop(args, learner, training, iterations)
            obs = {"obs": "image", "px": kwargs["image_size"], "num_envs": episodes}
            mine = agentrl.__version__
            rows.append(result("whole loop", "agentrl", mine, [steps / whole], "control steps/s", **obs))
            for part, seconds in spent.items():
                rows.append(result(f"share of {part}", "agentrl", mine, [seconds / whole], "of the time", **obs))
            if simulator == "warp":
                rows.append(drawing(training, batch, iterations, repeats, whole, obs))
            rows += passes(learner, training, batch, repeats, obs, setting.told)
            rows += updates(args, learner, batch, repeats, obs)
    ratios = [compare(rows, case, PLAIN, REQUIRED) for case in ("policy passes", "update")]
    return {
        "schema": 1,
        "name": "vla",
        "machine": machine(),
        "threads": torch.get_num_threads(),
        "results": rows,
        "peers": {"torch": {"installed": True, "version": torch.__version__, "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def fit(model: str, setting: Setting, kwargs: dict[str, Any], folder: Path) -> Path:
    """A policy for this robot, with first weights."""
    loaded = load_vla(model, "cpu")
    if loaded.model is None:
        spec = alone(EnvSpec(setting.env, kwargs))
        with contextlib.closing(make(spec.id, split="train", **spec.kwargs)) as env:
            loaded = loaded.fit(fitted(loaded.spec, env, setting.env, chunk=setting.chunk), 0)
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    return folder


def drawing(
    training: Run, batch: Any, iterations: int, repeats: int, whole: float, obs: dict[str, Any]
) -> dict[str, Any]:
    """The share of the time in which worlds are looked at, a part of the simulator's: once for each chunk of the
    longest episode."""
    collector: Any = training.collector
    looks = max(len(trajectory.steps) for trajectory in batch.trajectories) * iterations
    seconds = [looks / rate for rate in rates(collector.worlds(0).look, 1, repeats)]
    return result("share of drawing", "agentrl", agentrl.__version__, [sum(seconds) / len(seconds) / whole],
                  "of the time", **obs)  # fmt: skip


def loop(args: Any, learner: Any, training: Run, iterations: int) -> tuple[Any, dict[str, float], int, float]:
    """Whole iterations after a first one; the last batch, the seconds of each part, control steps, all seconds."""
    spent, steps, begun, batch = {"simulator": 0.0, "policy": 0.0, "update": 0.0}, 0, 0.0, None
    for number in range(iterations + 1):
        if number == 1:
            spent, steps, begun = dict.fromkeys(spent, 0.0), 0, time.perf_counter()
        starts = [Start(1000 * number + place) for place in range(args.episodes)]
        assert isinstance(training.collector, Collector)
        played = training.play(starts, training.collector)
        batch = learner.batch(played.trajectories)
        updating = time.perf_counter()
        update(args, learner, batch, torch.Generator().manual_seed(number))
        spent["update"] += time.perf_counter() - updating
        spent["simulator"] += played.seconds["environment"]
        spent["policy"] += played.seconds["generate"]
        steps += sum(step.info["ran"] for one in played.trajectories for step in one.steps)
    return batch, spent, steps, time.perf_counter() - begun


def passes(
    learner: Any, training: Run, batch: Any, repeats: int, obs: dict[str, Any], told: str
) -> list[dict[str, Any]]:
    """Chunks drawn a second: by the policy from observations, and by the network from tensors."""
    rows = batch.rows[: min(1000 if batch.rows[0].held else 64, len(batch.rows))]
    spec, policy = learner.engine.spec, training.policy
    ready, model = learner.seen(rows), learner.policy
    noise = torch.rand(len(rows), model.noise_numbers, device=model.device)
    pictures = {name: kept.cpu().numpy() for name, kept in ready.pictures.items()}
    seen = [
        {"text": told, "proprio": numbers} | {name: pictures[name][place] for name in spec.cameras}
        for place, numbers in enumerate(ready.numbers.cpu().numpy())
    ]
    conversations = [[{"role": "user", "content": "", "observation": one}] for one in seen]

    def plain() -> None:
        with torch.inference_mode():
            model.draw(ready, noise).actions.cpu()

    found = {"agentrl": rates(lambda: policy.act(conversations), len(rows), repeats)}
    found[PLAIN] = rates(plain, len(rows), repeats)
    return [result("policy passes", name, version(name), one, "chunks/s", **obs) for name, one in found.items()]


def updates(args: Any, learner: Any, batch: Any, repeats: int, obs: dict[str, Any]) -> list[dict[str, Any]]:
    """Chunks learned from a second: by the trainer from a batch, and by a loop of ten lines."""
    some, model = batch.rows[:AT_ONCE], learner.policy
    count, ready = len(some), learner.seen(some)
    record, step = learner.records(some)
    with torch.no_grad():
        old = model.score(ready, record, step).logprobs
    advantages = torch.randn(count, 1, device=model.device)
    weights = [p for group in learner.optimiser.param_groups for p in group["params"]]
    optimiser = torch.optim.AdamW(weights, lr=1e-9, fused=True)

    def plain() -> None:
        scored = model.score(ready, record, step)
        ratio = (scored.logprobs - old).exp()
        loss = torch.maximum(-ratio * advantages, -ratio.clamp(0.8, 1.2) * advantages).mean()
        loss = loss + learner.critic.every_head(scored.state).square().mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()

    ours = lambda: update(args, learner, batch, torch.Generator().manual_seed(0))  # noqa: E731
    found = {"agentrl": rates(ours, len(batch.rows), repeats), PLAIN: rates(plain, count, repeats)}
    return [result("update", name, version(name), one, "chunks/s", **obs) for name, one in found.items()]


def rates(work: Callable[[], Any], count: int, repeats: int) -> list[float]:
    """Things done a second, after a first time that is not counted."""
    found = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        found.append(count / (time.perf_counter() - begun))
    return found[1:]


def version(impl: str) -> str:
    """Of agentrl or PyTorch."""
    return torch.__version__ if impl == PLAIN else agentrl.__version__
