"""Record what environments and trainers do, and compare it after a change that must not alter behaviour.

    python scripts/behaviour.py record FOLDER     # before the change
    python scripts/behaviour.py compare FOLDER    # after it: prints every difference, exit status 1 if there is one

Add `envs` or `trainers` for one half. Compare on the machine that recorded: trainers round differently elsewhere.

Recorded for every id: 20 seeded episodes (observations, pictures, rewards, info, prompts), snapshots with what
follows them, a wrapped stack with judge rewards; for every algorithm: metrics and weights of a short run. `compare`
runs it again and also resumes the new run from its first checkpoint. Numbers of trainers are compared within 1e-6.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl
from agentrl.envs.grid.sokoban_duo import parallel_env
from agentrl.registry import TABLE
from agentrl.wrappers.build import wrap

SEEDS = range(20)
TURNS = 4
STACK = [
    {"wrapper": "Reasoning", "strategy": "grounding_worldmodeling"},
    {"wrapper": "ReasoningReward", "judge": "rule"},
    {"wrapper": "History"},
]
ALGORITHMS: dict[str, list[str]] = {
    "sft": [
        "sft",
        "--demonstrations",
        "32",
        "--steps-per-iteration",
        "2",
        "--batch-size",
        "8",
        "--mistake-rate",
        "0.3",
    ],
    **{f"ppo-{v}": ["ppo", "--variant", v] for v in ("masked", "vanilla", "turn", "bilevel")},
    "ppo-released": ["ppo", "--variant", "bilevel", "--form", "released", "--critic", "shared"],
    "ppo-judged": ["ppo", "--strategy", "grounding", "--judge", "rule", "--max-new-tokens", "24"],
    "steppo": ["steppo"],
    "steppo-conversation": ["steppo", "--prompt-style", "conversation", "--kl-in", "loss", "--kl-estimator", "k3"],
    "steppo-tokens": ["steppo", "--no-step-gae", "--no-step-ratio"],
    **{name: [name, "--group-size", "4"] for name in ("grpo", "rloo", "gspo", "gigpo", "reinforce_pp")},
}
COMMON = [
    *("--iterations", "2", "--save-every", "1", "--save-total-limit", "9", "--num-envs", "8", "--max-new-tokens", "6"),
    *("--lr", "1e-3", "--threads", "1", "--eval-every", "2", "--eval-episodes", "8", "--minibatches", "2"),
    *("--dtype", "float32", "--no-report"),
]


def digest(value: Any) -> str:
    """A short hash of JSON values, arrays and bytes."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()[:20]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [value.shape, str(value.dtype), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    return value.tolist() if isinstance(value, np.generic) else str(value)


# ---------------------------------------------------------------------- environments


def reply(env: gym.Env, seed: int, turn: int) -> Any:
    """The oracle's turn, now and then a bad one."""
    gold = env.get_wrapper_attr("gold")() if env.has_wrapper_attr("gold") else env.unwrapped.oracle()
    if isinstance(env.action_space, gym.spaces.Discrete):
        return (seed + turn) % 4 if gold is None or seed % 3 == 1 else gold
    if gold is None or (seed % 3 == 1 and turn == 0):
        return "Up, sideways"
    return gold if seed % 3 == 0 else f"<answer>{gold}</answer>" if "<" not in str(gold) else gold


def play(env: gym.Env, seed: int, turns: range) -> list[Any]:
    """What some turns give."""
    found = []
    for turn in turns:
        action = reply(env, seed, turn)
        obs, reward, terminated, truncated, info = env.step(action)
        info.pop("anchor", None)
        found.append([action, obs, reward, terminated, truncated, info])
        if terminated or truncated:
            break
    return found


def record_env(env_id: str, wrappers: list[dict[str, Any]], folder: Path, **kwargs: Any) -> dict[str, Any]:
    """Hashes of episodes; snapshots are written to the folder."""
    env = make(env_id, wrappers, **kwargs)
    found: dict[str, Any] = {"prompt": digest(env.get_wrapper_attr("system_prompt"))}
    tasks = env.unwrapped.tasks()
    found["tasks"] = digest([len(tasks), tasks[0], tasks[len(tasks) // 2]])
    for seed in SEEDS:
        start = env.reset(seed=seed)
        start[1].pop("anchor", None)
        first = [start, play(env, seed, range(1))]
        if seed < 4 and not first[1][-1][3]:
            blob = folder / f"{digest([env_id, wrappers, kwargs])}_{seed}.blob"
            if not blob.exists():
                blob.write_bytes(agentrl.snapshot(env))
            other = make(env_id, wrappers, **kwargs)
            agentrl.restore(other, blob.read_bytes())
            found[f"fork {seed}"] = digest(play(other, seed, range(1, TURNS)))
        rest = [] if first[1][-1][2] is True or first[1][-1][3] else play(env, seed, range(1, TURNS))
        following = env.reset()
        following[1].pop("anchor", None)
        found[f"seed {seed}"] = digest([first, rest, following, env.unwrapped.render() if env.render_mode else None])
    env.close()
    return found


def make(env_id: str, wrappers: list[dict[str, Any]], **kwargs: Any) -> gym.Env:
    """An environment in its wrappers."""
    return wrap(gym.make(env_id, render_mode="rgb_array", **kwargs), wrappers)


def environments(folder: Path) -> Iterator[tuple[str, Any]]:
    """Every id, some splits and stacks, vectors, the two-player game."""
    for entry in TABLE:
        yield entry.id, record_env(entry.id, [], folder)
        yield f"{entry.id} test", record_env(entry.id, [], folder, split="test")
    for name in ("FrozenLake-Text", "Sokoban-Visual"):
        yield f"{name} stack", record_env(f"agentrl/{name}-v0", STACK, folder)
    yield "lake 8", record_env("agentrl/FrozenLake-Text-v0", [], folder, size=8, slippery=True)
    yield "boxes 2", record_env("agentrl/Sokoban-Text-v0", [], folder, boxes=2)
    for name in ("FrozenLake", "Sokoban"):
        envs = gym.make_vec(f"agentrl/{name}-Grid-v0", 16, "vector_entry_point")
        log: list[Any] = [envs.reset(seed=3)]
        rng = np.random.default_rng(0)
        log += [envs.step(rng.integers(0, 4, 16)) for _ in range(40)]
        yield f"{name} vector", digest(log)
    for kind in ("text", "visual", "grid"):
        duo = parallel_env(kind=kind)
        log = []
        for seed in range(5):
            log.append(duo.reset(seed=seed))
            for _ in range(3):
                log.append(duo.step({a: 1 if kind == "grid" else "Left, Up" for a in duo.agents}) if duo.agents else 0)
        yield f"duo {kind}", digest(log)


# ---------------------------------------------------------------------- trainers


def run_cli(*words: str) -> None:
    """The command line, quietly."""
    done = subprocess.run([sys.executable, "-m", "agentrl.cli", *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"agentrl {' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def train(name: str, folder: Path) -> dict[str, Any]:
    """A short run into the folder."""
    words = ALGORITHMS[name]
    rest = [] if words[0] == "sft" else ["--episodes", "16"]
    run_cli("train", words[0], *COMMON, *rest, *words[1:], "--output", str(folder))
    return result(folder)


def result(folder: Path) -> dict[str, Any]:
    """Numbers of a run folder: metrics without times, norms of the last weights."""
    from safetensors.numpy import load_file

    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        for key in ("seconds", "seconds_total", "time", "engine"):
            line.pop(key, None)
    weights = {}
    for path in sorted((folder / "checkpoints" / "step_2").rglob("*.safetensors")):
        for key, weight in load_file(path).items():
            weights[key] = float(np.abs(weight.astype(np.float64)).sum())
    return {"metrics": lines, "weights": weights}


def resume(finished: Path, scratch: Path) -> dict[str, Any]:
    """Continue a copy of a run from its first checkpoint."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(finished, scratch)
    shutil.rmtree(scratch / "checkpoints" / "step_2")
    run_cli("train", "--resume", str(scratch))
    return result(scratch)


# ---------------------------------------------------------------------- comparing


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Where two recordings differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}, key=str):
            if key not in old or key not in new:
                yield f"{path}.{key}: only {'after' if key in new else 'before'}"
            else:
                yield from differences(old[key], new[key], f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif isinstance(old, float) and isinstance(new, float):
        if not math.isclose(old, new, rel_tol=1e-6, abs_tol=1e-6):
            yield f"{path}: {old!r} before, {new!r} after"
    elif old != new:
        yield f"{path}: {old!r} before, {new!r} after"


def main(verb: str, target: str, what: str = "all", *names: str) -> int:
    """Record or compare; `names` choose some of the trainers' runs."""
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    recorded = folder / "behaviour.json"
    known: dict[str, Any] = json.loads(recorded.read_text()) if recorded.exists() else {}
    found: dict[str, Any] = {}
    if what in ("all", "envs"):
        for name, value in environments(folder):
            found[name] = value
            print("env", name, flush=True)
    if what in ("all", "trainers"):
        for name in names or ALGORITHMS:
            place = folder / "runs" / name if verb == "record" else folder / "again" / name
            shutil.rmtree(place, ignore_errors=True)
            found[f"train {name}"] = train(name, place)
            if verb == "compare":
                found[f"resume {name}"] = resume(place, folder / "resumed" / name)
                known[f"resume {name}"] = known[f"train {name}"]
            print("train", name, flush=True)
    if verb == "record":
        recorded.write_text(json.dumps({**known, **found}, indent=1, sort_keys=True))
        return 0
    old = {name: known[name] for name in found if name in known}
    lines = list(differences(old, found))
    print("\n".join(lines) or f"no difference in {len(found)} recordings")
    return 1 if lines else 0


if __name__ == "__main__":
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    sys.exit(main(*sys.argv[1:]))
