"""One VLA policy for all tasks of a LIBERO suite: imitation, practice on the GPU, and what both are worth in MuJoCo.

    python -m benchmarks.libero.vla_rl imitate  --folder runs/vla            # the oracle's demonstrations, then BC
    python -m benchmarks.libero.vla_rl practise --folder runs/vla            # GRPO (or --algorithm ppo) in MuJoCo Warp
    python -m benchmarks.libero.vla_rl measure  --folder runs/vla            # before and after, in MuJoCo
    python -m benchmarks.libero.vla_rl films    --folder runs/vla            # nine episodes as runs/vla/films/*.gif
    python -m benchmarks.libero.vla_rl page     --folder runs/vla            # the results as a table for the page

Each command stops by itself after `--minutes` (7 by default) and goes on where it stopped when it is given again. On
one H200 with 16 cores 400 demonstrations took 80 seconds, 200 optimiser steps of imitation 10, an iteration of
`practise` with 960 episodes 25, once kernels were in Warp's cache. A machine without OpenGL measures right and shuffled
instructions alone, with pictures drawn by Warp from MuJoCo's states; where there is OpenGL, `--pictures opengl
--perturbed` adds each factor and level (18 conditions). Figures go to benchmarks/results/libero_vla.json.

`--env agentrl/LIBERO-Goal-v0 --folder runs/goal` is the same for ten goals in one scene, where only the instruction
tells what is wanted: success with right instructions less that with shuffled ones says whether it is read.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import agentrl
from agentrl.envs.libero.task_ids import Chosen, TaskIds
from agentrl.envs.libero.world import suites
from agentrl.models.vla.loading import load_vla
from agentrl.models.vla.spec import fitted
from agentrl.policies.vla import VLAPolicy
from agentrl.rollout.episode import make
from agentrl.trainers import BC, GRPO, PPO, train
from agentrl.trainers.algorithms import bc
from benchmarks.libero.vla_demos import demonstrations
from benchmarks.libero.vla_measure import RIGHT, Episode, Painter, conditions, film, measure, told
from benchmarks.libero.warp_play import Oracles

RESULTS = Path(__file__).parents[1] / "results" / "libero_vla.json"
MOST_WEIGHTS = 30_000_000


def main(words: list[str] | None = None) -> None:
    """Run a part of the experiment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=sorted(COMMANDS))
    parser.add_argument("--folder", type=Path, required=True, help="of the demonstrations and runs")
    parser.add_argument("--env", default="agentrl/LIBERO-Spatial-v0")
    parser.add_argument("--numbers", type=int, nargs="+", default=None, help="of the tasks; all by default")
    parser.add_argument("--device", default=None, help="the GPU by default; cpu for a check with tiny numbers")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--minutes", type=float, default=7.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="small-vla")
    parser.add_argument("--family", choices=("tokens", "flow"), default="tokens", help="of the policy")
    parser.add_argument("--chunk", type=int, default=8)
    parser.add_argument("--size", type=int, default=96, help="pixels of a picture's side")
    parser.add_argument("--max-turns", type=int, default=280)
    parser.add_argument("--demonstrations", type=int, default=40, help="of each task")
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--imitations", type=int, default=16, help="iterations of imitation")
    parser.add_argument("--steps", type=int, default=200, help="optimiser steps of each")
    parser.add_argument("--algorithm", choices=("ppo", "grpo"), default="grpo")
    parser.add_argument("--iterations", type=int, default=60, help="of practice")
    parser.add_argument("--episodes", type=int, default=960, help="of an iteration of practice")
    parser.add_argument("--places", type=int, default=48, help="starts of each task to practise from")
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--starts", type=int, default=20, help="of each task, for measuring")
    parser.add_argument("--pictures", choices=("warp", "opengl"), default="warp")
    parser.add_argument("--perturbed", action="store_true")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(words)
    options.suite = next(one.kwargs["suite"] for one in agentrl.registry.known() if one.id == options.env)
    options.numbers = options.numbers or list(range(len(suites()[options.suite])))
    options.tasks = len(options.numbers)
    torch.set_float32_matmul_precision("high")
    COMMANDS[options.what](options)


def say(line: str) -> None:
    """To whoever waits."""
    print(line, file=sys.stderr, flush=True)


def on_device(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of the worlds of MuJoCo Warp."""
    return {
        "simulator": "warp", "device": options.device, "tasks": list(options.numbers),
        "image_size": options.size, "max_turns": options.max_turns,
    }  # fmt: skip


def run_options(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """What both runs share: their folder, which is resumed where it is there."""
    folder = options.folder / name
    resume = (folder / "config.json").exists()
    return {
        "env": (options.env,), "output": str(folder), "resume": resume, "seed": options.seed, "report": False,
        "device": options.device or "auto", "save_trajectories": 0, "save_every": 1, "minibatches": 8,
        "token_budget": 16_384 if options.device == "cpu" else 131_072,
    }  # fmt: skip


def stop_after(minutes: float) -> threading.Timer:
    """Ask the run to stop cleanly, as Ctrl-C does once."""
    timer = threading.Timer(60 * max(minutes, 0.1), os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    return timer


def imitate(options: argparse.Namespace) -> None:
    """Demonstrations, and a policy that imitates them."""
    begun, kwargs = time.monotonic(), on_device(options)
    single = {name: kwargs[name] for name in ("image_size", "max_turns")}
    with make(options.env, split="train", **single) as env:
        spec = fitted(load_vla(options.model, "cpu").spec, env, options.env, chunk=options.chunk)
    del kwargs["max_turns"]  # the oracle may take as long as the suite allows
    shown = demonstrations(options, options.env, kwargs, spec)
    args = BC(
        **run_options(options, "imitation"), env_kwargs=single,
        model=options.model, family=options.family, chunk=options.chunk,
        iterations=options.imitations, steps_per_iteration=options.steps, batch_size=256, warmup=100, lr=1e-3,
    )  # fmt: skip
    timer = stop_after(options.minutes - (time.monotonic() - begun) / 60)
    bc.train(args, say, shown)
    timer.cancel()


def practise(options: argparse.Namespace) -> None:
    """Go on from the imitation, in many worlds at once."""
    timer = stop_after(options.minutes)
    shared = {
        **run_options(options, "practice"), "env_kwargs": {**on_device(options), "starts": options.places},
        "model": str(newest(options, "imitation")),
        "iterations": options.iterations, "episodes": options.episodes, "num_envs": options.episodes,
        "lr": options.lr, "clip_high": 0.28, "kl_coef": 0.0, "picture_memory": 16.0,
    }  # fmt: skip
    if options.algorithm == "ppo":
        critic = {"variant": "turn", "critic": "shared", "critic_warmup": 2, "turn_gamma": 0.99, "turn_lam": 0.95}
        args: Any = PPO(**shared, **critic)
    else:
        args = GRPO(**shared, group_size=8, drop_zero_variance=True)
    train(args, say)
    timer.cancel()


def newest(options: argparse.Namespace, run: str) -> Path:
    """The policy of the last checkpoint of a run."""
    found = list((options.folder / run / "checkpoints").glob("step_*/policy"))
    return max(found, key=lambda path: int(path.parent.name.removeprefix("step_")))


def measure_both(options: argparse.Namespace) -> None:
    """Each policy under each condition; what was measured before is kept, unless the policy is another by now."""
    end, path = time.monotonic() + 60 * options.minutes, options.folder / "measured.json"
    measured: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    ids = TaskIds(options.suite, options.numbers, "test")
    tasks = ids[: options.starts * options.tasks]
    instructions = [Chosen(options.suite, number, "test", 0).instruction for number in options.numbers]
    painter = None if options.pictures == "opengl" else Painter(options.env, tasks, options.size, options.device)
    policies = {run: newest(options, run) for run in ("imitation", "practice") if (options.folder / run).exists()}
    with Oracles(options.processes) as processes:
        for condition, episodes in conditions(tasks, instructions, perturbed=options.perturbed).items():
            for run, folder in policies.items():
                policy = VLAPolicy(folder, greedy=True, device=options.device or "auto")
                weights = sum(part.numel() for part in policy.loaded.model.parameters())
                assert weights <= MOST_WEIGHTS, weights
                known = measured.setdefault(run, {}).setdefault(condition, {})
                given = {"policy": f"{folder.parent.name}", "pictures": options.pictures, "weights": weights}
                if {name: known.get(name) for name in given} == given and set(tasks) <= set(known["success"]):
                    continue
                if time.monotonic() > end:
                    return say("stopped; give the same command again to go on")
                success = measure(policy, options.env, episodes, processes, painter, options.max_turns)
                known |= {**given, "success": dict(zip(tasks, success, strict=True))}
                path.write_text(json.dumps(measured, indent=1))
                say(f"{run}, {condition}: {sum(success)} of {len(success)}")
    keep(options, measured)


def films(options: argparse.Namespace) -> None:
    """Nine episodes of each policy, the tasks in turn."""
    tasks = list(TaskIds(options.suite, options.numbers, "test")[:9])
    painter = None if options.pictures == "opengl" else Painter(options.env, tasks, options.size, options.device)
    with Oracles(options.processes) as processes:
        for run in ("imitation", "practice"):
            if not (options.folder / run).exists():
                continue
            policy = VLAPolicy(newest(options, run), greedy=True, device=options.device or "auto")
            frames: list[list[np.ndarray]] = [[] for _ in tasks]
            episodes = [Episode(task) for task in tasks]
            success = measure(
                policy, options.env, episodes, processes, painter, options.max_turns,
                lambda n, picture, kept=frames: kept[n].append(picture),
            )  # fmt: skip
            film(frames, success, options.folder / "films" / f"{run}.gif")


def keep(options: argparse.Namespace, measured: dict[str, Any]) -> None:
    """The results of this suite, beside those of others."""
    results = json.loads(options.json.read_text()) if options.json.exists() else {"schema": 1, "name": "libero_vla"}
    # A folder may hold one of the two policies alone.
    before, after = (measured.get(run) or next(iter(measured.values())) for run in ("imitation", "practice"))
    found = {name: told(before[name]["success"], after[name]["success"]) for name in before if name in after}
    by_task = {}
    for number in options.numbers:
        own = [{s: won for s, won in run[RIGHT]["success"].items() if f"/{number}:" in s} for run in (before, after)]
        by_task[Chosen(options.suite, number, "test", 0).instruction] = told(*own)
    results[options.suite] = {
        "policies": {run: {n: v for n, v in one[RIGHT].items() if n != "success"} for run, one in measured.items()},
        "practice": {"algorithm": options.algorithm, "iterations": practised(options.folder / "practice")},
        "conditions": found,
        "tasks": by_task,
    }
    options.json.write_text(json.dumps(results, indent=1) + "\n")


def practised(folder: Path) -> list[dict[str, Any]]:
    """What each iteration came to, drawn at temperature 1 from the starts that it learned from."""
    path = folder / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [
        {name: line[name] for name in ("iteration", "episodes", "success", "success_ci", "turns_mean", "seconds")}
        for line in lines
        if line["kind"] == "train"
    ]


def page(options: argparse.Namespace) -> None:
    """The results of a suite as Markdown."""
    found = json.loads(options.json.read_text())[options.suite]
    print("| iteration | success in practice | chunks an episode | seconds, of them simulator and update |")
    print("|---|---|---|---|")
    for row in found["practice"]["iterations"]:
        spent = [f"{row['seconds'][part]:.1f}" for part in ("total", "environment", "update")]
        success = f"{row['success']:.3f} {spelled(row['success_ci'])}"
        print(f"| {row['iteration']} | {success} | {row['turns_mean']:.1f} | {', '.join(spent)} |")
    print()
    for title in ("conditions", "tasks"):
        print(f"| {title.removesuffix('s')} | starts | imitation | and practice | growth |\n|---|---|---|---|---|")
        for name, row in found[title].items():
            shares = [f"{row[one]['success']:.3f} {spelled(row[one]['interval'])}" for one in ("before", "after")]
            growth = f"{row['growth']['mean']:+.3f} {spelled(row['growth']['interval'])}"
            print(f"| {name} | {row['starts']} | {' | '.join(shares)} | {growth} |")
        print()


def spelled(interval: list[float] | None) -> str:
    """As text."""
    return "" if interval is None else f"({interval[0]:.3f} to {interval[1]:.3f})"


COMMANDS = {"imitate": imitate, "practise": practise, "measure": measure_both, "films": films, "page": page}

if __name__ == "__main__":
    main()
