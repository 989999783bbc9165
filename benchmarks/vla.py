"""`agentrl bench vla`: the loop of a VLA policy on a robot, and its passes and updates beside a plain PyTorch loop.

The loop is that of `agentrl train ppo`: Meta-World simulated and drawn at 64 px in hosts (one a core), chunks of 5 by
`tiny-vla`, one update of each batch. Its rate counts control steps by the clock of whole iterations, and the split says
where their seconds went: simulating and drawing, the policy, the update. The plain loop calls the same network on
tensors that lie ready: what is lost to reading observations, records and rows is the difference. On a GPU the same
command measures the GPU; the simulator stays on the processor.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import agentrl
from agentrl.core.measure import compare, machine, result
from agentrl.rollout.collect import Collector, Start
from agentrl.trainers import PPO
from agentrl.trainers.algorithms.ppo import update
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.learner import make_learner

ENV, PIXELS = "agentrl/MetaWorld-button-press-topdown-v0", 64
PLAIN = "PyTorch"
REQUIRED = 0.7  # of the plain loop


def run(quick: bool = False, model: str = "tiny-vla") -> dict[str, Any]:
    """All of it."""
    episodes, iterations, repeats = (4, 1, 2) if quick else (32, 3, 5)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        args = PPO(
            env=ENV,
            env_kwargs={"image_size": PIXELS},
            model=model,
            output=str(Path(folder) / "run"),
            episodes=episodes,
            num_envs=episodes,
            iterations=iterations,
            minibatches=1,
            hosts=min(os.cpu_count() or 1, episodes),
            variant="turn",
            critic="shared",
            kl_coef=0.0,
            report=False,
        )
        learner = make_learner(args)
        with Run(args, "ppo", learner, lambda line: None) as training:
            batch, spent, steps, whole = loop(args, learner, training, iterations)
            obs = {"obs": "image", "px": PIXELS, "num_envs": episodes}
            mine = agentrl.__version__
            rows.append(result("whole loop", "agentrl", mine, [steps / whole], "control steps/s", **obs))
            for part, seconds in spent.items():
                rows.append(result(f"share of {part}", "agentrl", mine, [seconds / whole], "of the time", **obs))
            rows += passes(learner, training, batch, repeats, obs)
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


def passes(learner: Any, training: Run, batch: Any, repeats: int, obs: dict[str, Any]) -> list[dict[str, Any]]:
    """Chunks drawn a second: by the policy from observations, and by the network from tensors."""
    rows = batch.rows[: min(64, len(batch.rows))]
    spec, policy = learner.engine.spec, training.policy
    told = {"text": "Push the button down from above."}
    seen = [told | {"proprio": row.numbers} | dict(zip(spec.cameras, row.pictures, strict=True)) for row in rows]
    conversations = [[{"role": "user", "content": "", "observation": one}] for one in seen]
    ready, model = learner.seen(rows), learner.policy
    noise = torch.rand(len(rows), model.noise_numbers, device=model.device)

    def plain() -> None:
        with torch.inference_mode():
            model.draw(ready, noise).actions.cpu()

    found = {"agentrl": rates(lambda: policy.act(conversations), len(rows), repeats)}
    found[PLAIN] = rates(plain, len(rows), repeats)
    return [result("policy passes", name, version(name), one, "chunks/s", **obs) for name, one in found.items()]


def updates(args: Any, learner: Any, batch: Any, repeats: int, obs: dict[str, Any]) -> list[dict[str, Any]]:
    """Chunks learned from a second: by the trainer from a batch, and by a loop of ten lines."""
    count, model = len(batch.rows), learner.policy
    ready = learner.seen(batch.rows)
    record = torch.stack([torch.from_numpy(row.record) for row in batch.rows]).to(model.device)
    step = torch.full((count,), -1, device=model.device)
    old = model.score(ready, record, step).logprobs.detach()
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
    found = {"agentrl": rates(ours, count, repeats), PLAIN: rates(plain, count, repeats)}
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
