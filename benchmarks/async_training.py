"""What `--async` adds to real training on one GPU with its cores, beside the bound of full overlap.

    python -m benchmarks.async_training --cases libero sites --output runs/async > async_training.json

Two loops, each first in step, then asynchronously with the same batch, model and hosts, and a generator in a process:

    libero  PPO of a VLA policy, LIBERO-Spatial simulated and drawn by hosts, chunks of 5
    sites   GRPO of SmolLM2 on the tasks of the map, after a short imitation that teaches it the form of an action

The bound is (sum of stages) / (slowest stage), as the synchronous loop has measured them: what perfect overlap would
give if each stage had a machine of its own. Here policy and update share a GPU. The stage of the trainer is the update
and whatever else is neither played nor generated. Rates are transitions by the clock of whole iterations, after the
first ones, in which hosts start and kernels are compiled. In asynchronous loops episodes may wait for the trainer from
before, so what counts is the lower of the transitions trained and those played. A case passes with a gain of 60 % or
90 % of its bound.

Every figure is told on stderr when it is known, and `OUTPUT/result.json` is written again after each loop. `--pages`
gets the reports, with the timelines, and the metrics. `--sync`, `--async` and `--both` change options of the runs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import torch

import agentrl
from agentrl.algorithms import Stage, arguments_class, train_function
from agentrl.core.measure import machine, result
from agentrl.models.vla.loading import load_vla
from agentrl.viewer.run_report import write_run_report
from benchmarks.asynchronous import processor_seconds
from benchmarks.learning.webrl_worlds import REAL, chain
from benchmarks.sample_efficiency import changes, final_policy

CORES = os.cpu_count() or 1
WARM_UP = 3  # iterations that are not measured
FEWEST, MOST = 3, 10_000  # iterations that are; and the run's own, so that episodes begin until it is stopped
WAYS: dict[str, dict[str, Any]] = {
    "sync": {},
    "both": {"asynchronous": True, "max_staleness": 4},
    "gated": {"asynchronous": True, "max_staleness": 1},
}
APART = {"generator_processes": True}  # of the asynchronous ways
GAIN, SHARE = 1.6, 0.9  # times the synchronous rate, or of the bound
COMMON = {
    "eval_every": 0,
    "save_every": 1000,
    "save_trajectories": 0,
    "report": False,
    "seed": 0,
    "iterations": MOST,
    "kl_coef": 0.0,
    "compile": "off",
    "minibatches": 4,
}


@dataclass(frozen=True)
class Case:
    """What is trained, how it is played in step and asynchronously, and the imitation before it."""

    algorithm: str
    options: dict[str, Any]
    asynchronous: dict[str, Any] = field(default_factory=dict)
    start: Stage | None = None
    steps: int = 1  # control steps of a transition: the chunk of a VLA policy


@dataclass
class Measured:
    """A loop: seconds and metrics of its iterations, after the warm-up."""

    seconds: list[float]
    lines: list[dict[str, Any]]
    processor: float  # seconds, of all iterations

    def transitions(self) -> list[float]:
        """Trained in each iteration."""
        return [line["turns_mean"] * line["episodes"] for line in self.lines]

    def rates(self) -> list[float]:
        """Transitions a second of each iteration."""
        return [count / spent for count, spent in zip(self.transitions(), self.seconds, strict=True)]

    @property
    def trained(self) -> float:
        """Transitions a second."""
        return sum(self.transitions()) / sum(self.seconds)

    @property
    def played(self) -> float:
        """Answers of the generators a second, which are transitions; in step each is trained."""
        batches = [line["async"]["generator_batches"] for line in self.lines if "async" in line]
        count = sum(int(size) * often for one in batches for size, often in one.items())
        return count / sum(self.seconds) if batches else self.trained

    @property
    def rate(self) -> float:
        """Transitions a second that could go on for ever."""
        return min(self.trained, self.played)

    def mean(self, *path: str) -> float:
        """Of a metric."""
        found = []
        for line in self.lines:
            value: Any = line
            for name in path:
                value = value.get(name, 0.0)
            found.append(value)
        return sum(found) / len(found)


def cases(quick: bool) -> dict[str, Case]:
    """By name; with `quick` small enough for a check on two cores."""
    few, batch, hosts = (4, 4, 2) if quick else (64, 96, CORES)
    turns = 16 if quick else 160
    libero = {
        "env": ["agentrl/LIBERO-Spatial-v0"],
        "env_kwargs": {"image_size": 32 if quick else 96, "max_turns": turns},
        "model": "tiny-vla" if quick else "small-vla",
        "variant": "turn",
        "critic": "shared",
        "lr": 1e-5,
        "episodes": few,
        "num_envs": few,
        "hosts": hosts,
        "token_budget": 16_384 if quick else 131_072,
        "picture_memory": 16.0,
    }
    pages = {"env_kwargs": json.loads(REAL.task["env_kwargs"])}
    sites = {
        **REAL.task,
        "env": [REAL.env],
        **pages,
        "group_size": 2 if quick else 4,
        "lr": 1e-6,
        "episodes": batch,
        "num_envs": batch,
        "hosts": hosts,
    }
    (imitation,) = chain(REAL)
    short = {"demonstrations": 256, "iterations": 1, "steps_per_iteration": 40, "num_envs": 64, "eval_every": 0}
    if quick:
        small = {"model": "tiny-web", "history": 0, "max_new_tokens": 8, "token_budget": 2048}
        pages["env_kwargs"]["max_turns"] = 3
        sites |= small
        short |= {**small, "demonstrations": 8, "steps_per_iteration": 1, "batch_size": 8, "num_envs": 4}
    # Twice as many slots: half of them wait for the generator while the others are played, and a batch is a full one.
    return {
        "libero": Case("ppo", {**COMMON, **libero}, {**APART, "num_envs": 2 * few, "max_wait_ms": 15.0}),
        "sites": Case(
            "grpo",
            {**COMMON, **sites},
            {**APART, "num_envs": 2 * batch, "max_wait_ms": 30.0},
            Stage("sft", {**imitation.options, **pages, "report": False, **short}),
        ),
    }


def measure(name: str, case: Case, given: argparse.Namespace, found: Report) -> None:
    """All ways of a case, in step first."""
    options = dict(case.options)
    if given.model:
        options["model"] = given.model
    elif case.start is not None:
        start = given.output / f"{name}-start"
        trained(case.start, start)
        options["model"] = str(final_policy(start))
    if name == "libero":
        case = replace(case, steps=load_vla(options["model"], "cpu").spec.chunk)
    in_step = None
    for way in given.ways:
        own = {**options, **changes(given.both)}
        if way == "sync":
            own |= changes(given.sync)
        else:
            own |= {**case.asynchronous, **WAYS[way], **changes(given.asynchronous)}
        loop = loop_of(Stage(case.algorithm, own), given.output / f"{name}-{way}", given)
        in_step = loop if way == "sync" else in_step
        found.add(name, way, case, own, loop, in_step)
        write(given.output / "result.json", found.to_json())


def trained(stage: Stage, folder: Path, seconds: float = math.inf) -> tuple[list[float], list[float]]:
    """Run a stage until it ends, or was measured for so long; the seconds at which its iterations ended, and the
    processor's until then."""
    shutil.rmtree(folder, ignore_errors=True)
    ends, processor = list[float](), list[float]()

    def hear(line: str) -> None:
        tell(f"  {line}")
        if not line.startswith("["):  # no summary of an iteration
            return
        ends.append(time.perf_counter())
        processor.append(processor_seconds())
        if len(ends) >= WARM_UP + FEWEST and ends[-1] - ends[WARM_UP - 1] >= seconds:
            signal.raise_signal(signal.SIGTERM)  # the run ends after this iteration

    arguments = arguments_class(stage.algorithm).from_json({**stage.options, "output": str(folder)})
    train_function(stage.algorithm)(arguments, hear)
    return ends, processor


def loop_of(stage: Stage, folder: Path, given: argparse.Namespace) -> Measured:
    """Run a loop and read what it measured; its report and its metrics are copied to `pages`."""
    tell(f"{folder.name}: {stage.algorithm} {json.dumps(dict(stage.options))}")
    ends, processor = trained(stage, folder, given.seconds)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["kind"] == "train"]
    if given.pages is not None:
        given.pages.mkdir(parents=True, exist_ok=True)
        shutil.copy(write_run_report(folder), given.pages / f"{folder.name}.html")
        for kept in ("metrics.jsonl", "timeline.json"):
            if (folder / kept).exists():
                shutil.copy(folder / kept, given.pages / f"{folder.name}-{kept}")
    seconds = [end - begin for begin, end in pairwise(ends[WARM_UP - 1 :])]
    return Measured(seconds, lines[WARM_UP:], processor[-1] - processor[WARM_UP - 1])


class Report:
    """The rows and ratios found so far."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.ratios: list[dict[str, Any]] = []
        self.reached: dict[str, bool] = {}

    def add(
        self, case: str, way: str, setting: Case, options: dict[str, Any], loop: Measured, in_step: Measured | None
    ) -> None:
        """What a loop measured."""
        shape = {"num_envs": options["num_envs"], "px": options["env_kwargs"].get("image_size")}
        shape["obs"] = "image" if shape["px"] else "text"
        self.row(case, way, "transitions/s", loop.rates(), **shape, value=loop.rate)
        if setting.steps > 1:
            steps = [setting.steps * rate for rate in loop.rates()]
            self.row(f"{case}: control steps", way, "steps/s", steps, **shape, value=setting.steps * loop.rate)
        if way == "sync":
            self._stages(case, loop)
        else:
            self._overlap(case, way, loop, in_step)

    def row(self, case: str, impl: str, unit: str, values: list[float], **shape: Any) -> None:
        """Keep a row, and say it."""
        self.rows.append(result(case, impl, agentrl.__version__, values, unit, **shape) | shape)
        spread = f" ({min(values):.4g} to {max(values):.4g})" if len(values) > 1 else ""
        tell(f"{case}, {impl}: {self.rows[-1]['value']:.4g} {unit}{spread}")

    def _stages(self, case: str, loop: Measured) -> None:
        stages = stages_of(loop)
        for name, spent in stages.items():
            self.row(f"{case}: {name}", "sync", "s", [spent])
        self.row(f"{case}: update alone", "sync", "s", [loop.mean("seconds", "update")])
        self.row(case, f"bound, {bound_of(loop):.2f} x sync", "transitions/s", [bound_of(loop) * loop.rate])
        each = loop.processor / sum(loop.transitions())
        self.row(case, "bound of the processor", "transitions/s", [CORES / each])

    def _overlap(self, case: str, way: str, loop: Measured, in_step: Measured | None) -> None:
        for group in ("simulators", "generators", "trainer"):
            self.row(f"{case}: busy {group}", way, "share", [loop.mean("async", "utilisation", group)])
        dropped, kept = loop.mean("async", "dropped_episodes"), loop.mean("episodes")
        self.row(f"{case}: dropped", way, "share", [dropped / (dropped + kept)])
        for what, rate in (("trained", loop.trained), ("played", loop.played)):
            self.row(f"{case}: {what}", way, "transitions/s", [rate])
        self.row(f"{case}: update alone", way, "s", [loop.mean("seconds", "update")])
        self.row(f"{case}: waiting", way, "s", [loop.mean("seconds", "wait")])
        if in_step is None:
            return
        bound = bound_of(in_step) * in_step.rate
        for against, peer, required in (("the bound", bound, SHARE), ("sync", in_step.rate, GAIN)):
            ratio = loop.rate / peer
            facts = {"case": f"{case}, {way}, beside {against}", "ours": loop.rate, "peer": peer}
            self.ratios.append({**facts, "ratio": ratio, "required": required, "pass": ratio >= required})
            self.reached[case] = self.reached.get(case, False) or ratio >= required
            tell(f"{facts['case']}: {ratio:.3f} (required {required})")

    def to_json(self) -> dict[str, Any]:
        """As other benchmarks; a case passes by its gain or by its share of the bound, loose or gated."""
        device = {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}
        return {
            "schema": 1,
            "name": "async_training",
            "machine": machine() | device,
            "threads": torch.get_num_threads(),
            "results": self.rows,
            "peers": {},
            "ratios": self.ratios,
            "pass": bool(self.reached) and all(self.reached.values()),
        }


def stages_of(loop: Measured) -> dict[str, float]:
    """Seconds of an iteration in step; what is neither played nor generated is the trainer's."""
    found = {name: loop.mean("seconds", name) for name in ("environment", "generate")}
    return found | {"trainer": sum(loop.seconds) / len(loop.seconds) - sum(found.values())}


def bound_of(loop: Measured) -> float:
    """(sum of stages) / (slowest stage)."""
    stages = stages_of(loop).values()
    return sum(stages) / max(stages)


def write(path: Path, content: dict[str, Any]) -> None:
    """As JSON."""
    path.write_text(json.dumps(content, indent=1) + "\n")


def tell(line: str) -> None:
    """With the seconds since the start of the program."""
    since = time.time() - psutil.Process().create_time()
    print(f"{since:7.1f} {line}", file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Measure what was asked for, and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=("libero", "sites"), default=["libero", "sites"])
    parser.add_argument("--ways", nargs="+", choices=tuple(WAYS), default=list(WAYS))
    parser.add_argument("--seconds", type=float, default=20.0, help="measured in each way, after the warm-up")
    parser.add_argument("--model", default="", help="a policy in place of the usual one; no imitation then")
    parser.add_argument("--output", type=Path, default=Path("runs/async_training"))
    parser.add_argument("--pages", type=Path, help="where the report and the metrics of each run are copied")
    parser.add_argument("--both", nargs="*", default=[], metavar="NAME=VALUE", help="options of all runs")
    parser.add_argument("--sync", nargs="*", default=[], metavar="NAME=VALUE", help="options of those in step")
    parser.add_argument("--async", dest="asynchronous", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--quick", action="store_true", help="a check with small figures, that shows nothing")
    given = parser.parse_args(words)
    given.output.mkdir(parents=True, exist_ok=True)
    found, known = Report(), cases(given.quick)
    for name in given.cases:
        measure(name, known[name], given, found)
    report = found.to_json()
    print(json.dumps(report, indent=1))
    return 0 if report["pass"] or given.quick else 1


if __name__ == "__main__":
    raise SystemExit(main())
