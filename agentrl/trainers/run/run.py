"""A training run: its folder, its clock, its metrics, its checkpoints. Everything but the algorithm.

All randomness of an iteration follows from the run's seed and the iteration's number; what else survives from one
iteration to the next is in the checkpoint. So a run that was killed and resumed ends with the same bits.

Of several processes each has a `Run`; the main process writes the folder and reports, the others only compute.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError, MissingExtra, SnapshotUnsupported
from agentrl.core.lock import FolderLock
from agentrl.core.manifest import signed
from agentrl.core.measure import usable_cores
from agentrl.core.secrecy import scrub
from agentrl.core.seeding import env_choice_rng, episode_seed, mixed_seed, run_seed
from agentrl.core.untrusted import trusted_arguments
from agentrl.rollout.collect import Collection, Collector, CollectorBase, EnvSpec, Start, grouped
from agentrl.rollout.episode import own_arguments
from agentrl.rollout.error_types import to_columns
from agentrl.rollout.evaluate import evaluate, split_word
from agentrl.rollout.prompts import for_policy
from agentrl.rollout.starts import on_device
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.parallel.rollout import collect_distributed
from agentrl.trainers.run.asynchronous import AsyncRun
from agentrl.trainers.run.checkpoint import checkpoints, load_checkpoint, newest_checkpoint, save_checkpoint
from agentrl.trainers.run.folder import (
    CHECKPOINTS,
    CONFIG,
    METRICS,
    RunState,
    check_inputs,
    check_same_run,
    cut_metrics,
    evaluations_before,
    input_hashes,
    measured,
    read_config,
    run_folder,
    versions,
)
from agentrl.trainers.run.metrics import combined, episode_metrics, finite, summary_line, why_unknown
from agentrl.trainers.run.monitor import Monitor
from agentrl.trainers.run.progress import Progress
from agentrl.trainers.run.prompting import prompting_changes
from agentrl.trainers.run.trackers import make_trackers
from agentrl.trainers.run.vllm_engine import VLLMRolloutEngine
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import Learner, TrainingFault

log = logging.getLogger(__name__)

Report = Callable[[str], Any]
WARM_UP = 3  # iterations in which models are still compiled and steps recorded
FEW = 1000  # objects; Python 3.12 begins with some hundreds that the garbage collector leaves out
RARELY = 10  # times as many new objects as usual before the garbage collector looks through all old ones
# Seconds for which one thread of an asynchronous run may keep others from Python (5 ms by itself). Every operation on a
# tensor lets others in, and a trainer asks for thousands: beside four busy threads it is twice as quick that way.
TURN = 0.001
UNDER_WAY = "under_way"  # in a checkpoint's memory: the episodes that an asynchronous run had begun
UNSAVED = "unsaved"  # in place of a collector's memory: why there is none


def cpu_threads(hosts: int, device: torch.device, usual: int) -> int:
    """Threads of torch on the processor. Beside a GPU they have little to do, and wait for each other without sleeping:
    on cores that hosts use, that made an update six times as slow. So they get what hosts leave."""
    return usual if device.type == "cpu" or not hosts else max(1, min(usual, usable_cores() - hosts))


class Run:
    """One run in its folder; use as a context manager."""

    def __init__(self, arguments: RunArguments, algorithm: str, learner: Learner, report: Report | None = None) -> None:
        self.arguments, self.algorithm, self.learner = arguments, algorithm, learner
        self.processes = learner.processes
        self.report: Report = (report or log.info) if self.processes.is_main else (lambda text: None)
        self._threads = torch.get_num_threads()
        torch.set_num_threads(arguments.threads or cpu_threads(arguments.hosts, learner.device, self._threads))
        self._lock: FolderLock | None = None
        self.folder = Path(self.processes.on_main(self._own_folder))
        try:
            self._start()
        except BaseException:
            self._release()
            raise

    def _own_folder(self) -> str:
        """Make the folder and keep other processes out of it."""
        folder = run_folder(self.arguments, self.algorithm)
        self._lock = FolderLock(folder)
        return str(folder)

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _start(self) -> None:
        arguments, learner = self.arguments, self.learner
        self.rollout_engine = VLLMRolloutEngine(arguments, learner) if arguments.engine == "vllm" else None
        self.policy = self.sampler(greedy=False, seed=arguments.seed)
        self.asynchronous = AsyncRun(self) if getattr(arguments, "asynchronous", False) else None
        self.collector: CollectorBase = (
            self.make_collector(self.policy, "train") if self.asynchronous is None else self.asynchronous.collector
        )
        self.monitor, self.iteration, self.episodes = Monitor(), 0, 0
        self.collection = Collection([], {}, 0, 0)
        self.memory: dict[str, Any] = {}  # an algorithm's own, as JSON types: a part of every checkpoint
        self.seconds: dict[str, float] = {}
        self._stop: str | None = None
        self._frozen = False
        self._resumed = self._unsaved = False
        self._resume() if arguments.resume else self.processes.on_main(self._begin)
        names = arguments.trackers if self.processes.is_main else ()
        self.trackers = make_trackers(names, self.folder, arguments.to_json(), self.folder.name)
        changes = None if self._resumed else prompting_changes(arguments)
        if changes == []:
            self.report(f"prompts as the model was trained: {arguments.prompt_style}")
        for change in changes or []:  # a model that was trained with other prompts has to learn these first
            self.report(f"warning: {change}")
            self.log("warning", {"warning": "prompts", "detail": change})
        self.collector.pool.make_one_of_each()
        self._memories()  # whether wrappers can be saved is not found out at the first checkpoint

    # ------------------------------------------------------------------ start, resume, end

    def _begin(self) -> None:
        trained = [path for path in checkpoints(self.folder / CHECKPOINTS) if path.name != "step_0"]
        if (self.folder / METRICS).exists() or trained:
            raise ConfigError(f"{self.folder} holds a run already; choose another output, or set resume")
        self._write_config()

    def _write_config(self) -> None:
        content = {
            "algorithm": self.algorithm,
            "arguments": self.arguments.to_json(),
            "environments": [spec.id for spec in self.arguments.specs()],
            "versions": versions() | ({} if self.rollout_engine is None else self.rollout_engine.versions()),
            "device": str(self.learner.device),
            "inputs": input_hashes(self.arguments, self.learner.engine.folder),
        }
        try:
            write_atomically(self.folder / CONFIG, json.dumps(signed(scrub(content)), indent=1).encode())
        except OSError as error:
            raise ConfigError(f"the run folder cannot be written: {error}; choose another output") from error

    def _resume(self) -> None:
        newest = self.processes.on_main(self._newest)
        if newest is None:  # what there is of metrics will be written again
            self.processes.on_main(self._write_config)
            self.processes.on_main(lambda: (self.folder / METRICS).exists() and os.truncate(self.folder / METRICS, 0))
            return
        state = RunState.from_json(load_checkpoint(self.folder / CHECKPOINTS / newest, self.learner))
        self._resumed = True
        self.iteration, self.episodes = state.step, state.episodes
        self.policy.calls = state.calls
        self.memory = state.memory
        self.monitor = Monitor.from_json(state.monitor)
        memories = [state.collector, *state.collectors]  # of as many processes as there were
        if reason := next((memory[UNSAVED] for memory in memories if UNSAVED in memory), None):
            raise ConfigError(f"the run in {self.folder} cannot be resumed: {reason}")
        if self.asynchronous is not None:
            self.asynchronous.resume(self.memory.pop(UNDER_WAY, None))
        else:
            self.collector.load_state_dict(memories[self.processes.rank % len(memories)])
        self.report(f"resuming after iteration {self.iteration}")
        if problem := self.processes.on_main(lambda: cut_metrics(self.folder / METRICS, state)):
            self.report(f"warning: {problem}")

    def _newest(self) -> str | None:
        """The name of the checkpoint to resume from, once this is known to be the run that wrote it."""
        newest = newest_checkpoint(self.folder / CHECKPOINTS, RunState.from_json)
        config = read_config(self.folder, newest)
        if config is not None:
            check_same_run(config, self.arguments, self.algorithm)
        if config is not None and newest is not None:
            check_inputs(config, self.arguments, self.learner.engine.folder)
        return None if newest is None else newest.name

    def __enter__(self) -> Run:
        self._thresholds = gc.get_threshold()
        young, middle, old = self._thresholds
        gc.set_threshold(young, middle, RARELY * old)  # episodes are no garbage, and there are thousands of them
        self._turn = sys.getswitchinterval()
        if self.asynchronous is not None:
            sys.setswitchinterval(min(TURN, self._turn))
        self._handlers = {}
        if threading.current_thread() is threading.main_thread():
            for name in (signal.SIGTERM, signal.SIGINT):
                self._handlers[name] = signal.signal(name, self._asked_to_stop)
        return self

    def __exit__(self, *problem: Any) -> None:
        for name, handler in self._handlers.items():
            signal.signal(name, handler)
        try:
            if self.asynchronous is not None:
                self.asynchronous.close()
            self.collector.close()
            if self.rollout_engine is not None:
                self.rollout_engine.close()
            for tracker in self.trackers:
                tracker.close()
        finally:
            sys.setswitchinterval(self._turn)
            if not self.arguments.threads:  # nobody asked for another number
                torch.set_num_threads(self._threads)
            gc.set_threshold(*self._thresholds)
            if self._frozen:
                gc.unfreeze()
            self._release()

    def _asked_to_stop(self, number: int, frame: Any) -> None:
        if self._stop is not None:  # the second time means it
            raise KeyboardInterrupt
        self._stop = signal.Signals(number).name
        self.report(f"{self._stop}: stopping after this iteration; a second signal stops at once")

    @property
    def stopped(self) -> str | None:
        """The signal that ended the run early, if one did."""
        return self._stop

    # ------------------------------------------------------------------ iterations

    def iterations(self) -> Iterator[int]:
        """The numbers of the remaining iterations, from 1; each ends with its checkpoint where one is due."""
        total, every = self.arguments.iterations, self.arguments.save_every
        if not self._resumed:
            if self.arguments.eval_at_start:
                self.evaluate_when_due()
            elif self.arguments.eval_every and prompting_changes(self.arguments) == []:
                for line in evaluations_before(self.arguments):
                    self.log("eval", line)
            self.checkpoint()
        stop, first = self._asked(), self.iteration + 1
        while self.iteration < total and stop is None:
            self._started, self.seconds = time.perf_counter(), {}
            yield self.iteration + 1
            self.iteration += 1
            if self.asynchronous is not None:
                self.asynchronous.rollouts.updated()
            if self.iteration < first + WARM_UP and (self._frozen or gc.get_freeze_count() < FEW):  # else the caller's
                # Models, libraries and compiled code stay until the end. The garbage collector would look through all
                # of it every other iteration, which takes up to half a second; `close` lets it do so again.
                gc.collect()
                gc.freeze()
                self._frozen = True
            self.evaluate_when_due()
            stop = self._asked()  # looked at once: a signal from now on stops after the next iteration
            if self.iteration % every == 0 or self.iteration == total or stop is not None:
                self.checkpoint()

    def _asked(self) -> str | None:
        """The signal that asked any of the processes to stop."""
        agreed = next((name for name in self.processes.gather(self._stop) if name), None)
        self._stop = agreed or self._stop  # a signal may have come since this process was asked
        return agreed

    def rng(self, purpose: str) -> torch.Generator:
        """Random numbers for this iteration and purpose, the same in every run with this seed."""
        return torch.Generator().manual_seed(run_seed(self.arguments.seed, self.iteration + 1, purpose))

    def progress(self, what: str, total: int) -> Progress:
        """Call it after each of `total` things, inside its context; it reports how far they are if they take long."""
        return Progress(self.report, f"iteration {self.iteration + 1}, {what}", total)

    @contextlib.contextmanager
    def time(self, what: str) -> Iterator[None]:
        """Count the time inside under `what`."""
        begin = time.perf_counter()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - begin

    @contextlib.contextmanager
    def updating(self, batch: Batch) -> Iterator[torch.Generator]:
        """Inside, the learner learns from a batch: this counts the time, reports how far it is if that takes long, and
        gives the random numbers that the mini-batches are drawn with."""
        self.learner.iteration = self.iteration
        options = self.arguments
        passes = getattr(options, "epochs", 1) + getattr(options, "critic_epochs", 0)
        rows = passes * len(batch.rows) // self.processes.size
        with self.time("update"), self.progress("learning sequences", rows) as self.learner.progress:
            yield self.rng("minibatches")

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        """A full disk ends the run with a message that says what to do."""
        try:
            yield
        except OSError as error:
            raise TrainingFault(f"the run folder cannot be written: {error}; make room and resume") from error

    def _memories(self) -> list[dict[str, Any]]:
        """What the wrappers of every process remember. Where that cannot be saved, the run says so once, goes on, and
        cannot be resumed."""
        if self.asynchronous is not None:  # episodes are being played all the time
            return [{}]
        try:
            memory = self.collector.state_dict()
        except SnapshotUnsupported as error:
            memory = {UNSAVED: str(error)}
        found = self.processes.gather(memory)
        reason = next((memory[UNSAVED] for memory in found if UNSAVED in memory), None)
        if reason and not self._unsaved:
            self._unsaved = True
            self.report(f"warning: this run cannot be resumed: {reason}")
            self.log("warning", {"warning": "not_resumable", "detail": reason})
        return found

    def checkpoint(self) -> Path:
        """Write one now."""
        memory, *others = self._memories()
        state = RunState(
            algorithm=self.algorithm,
            step=self.iteration,
            episodes=self.episodes,
            calls=self.policy.calls,
            monitor=self.monitor.to_json(),
            collector=memory,
            collectors=others,
            memory=self.memory | ({} if self.asynchronous is None else {UNDER_WAY: self.asynchronous.state_dict()}),
            **measured(self.folder / METRICS),
        )
        folder = self.folder / CHECKPOINTS
        return save_checkpoint(folder, self.iteration, self.learner, state.to_json(), self.arguments.save_total_limit)

    # ------------------------------------------------------------------ episodes

    def sampler(self, *, greedy: bool, seed: int, engine: Any = None) -> Any:
        """The policy as it generates; by another copy of its weights, if that is given."""
        if self.rollout_engine is not None:
            return self.rollout_engine.sampler(greedy=greedy, seed=seed)
        return self.learner.sampler(greedy=greedy, seed=seed, engine=engine)

    def make_collector(self, policy: Any, split: str, specs: Sequence[EnvSpec] = ()) -> Collector:
        """Environments in which a policy plays; the run's own, or others like them."""
        arguments = self.arguments
        playing = self.training_specs(policy, specs)
        if any(map(on_device, playing)):
            from agentrl.rollout.device_collect import DeviceCollector

            options = {**self.collector_options(), "memory": getattr(arguments, "picture_memory", 4.0)}
            return DeviceCollector(playing, policy, split=split, **options)
        return Collector(playing, policy, split=split, **self.collector_options())

    def training_specs(self, policy: Any, specs: Sequence[EnvSpec] = ()) -> list[EnvSpec]:
        """The environments of the run, or others, as the policy and the critic need them."""
        found = [for_policy(spec, policy) for spec in specs or self.arguments.specs()]
        if not getattr(self.arguments, "critic_truth", False):
            return found
        return [replace(spec, wrappers=(*spec.wrappers, {"wrapper": "GoldInfo"})) for spec in found]

    def collector_options(self) -> dict[str, Any]:
        """How episodes are played, whoever decides when."""
        arguments = self.arguments
        return {
            "num_envs": self._side_by_side(),
            "prompt_style": arguments.prompt_style,
            "history": arguments.history,
            "timeout": arguments.env_timeout or None,
            "hosts": arguments.hosts,
            "judge": arguments.deferred_judge(),
        }

    def _side_by_side(self) -> int:
        """Episodes that this process plays at the same time."""
        return -(-self.arguments.num_envs // self.processes.size)

    def collect(self, episodes: int, group_size: int = 1, extra: int = 0) -> list[Trajectory]:
        """The episodes of this iteration whose reward is known. The rest is counted in the metrics.

        `extra` numbers further rounds of the same iteration: other tasks, counted together with the first.
        """
        if self.asynchronous is not None:
            collection = self.asynchronous.take(episodes)
        else:
            assert isinstance(self.collector, Collector)
            collection = self.play(self.starts(episodes, group_size, extra), self.collector)
        if not extra:
            self.keep_some(collection.trajectories)
        self.collection = combined(self.collection, collection) if extra else collection
        known = [trajectory for trajectory in collection.trajectories if trajectory.reward is not None]
        if not known and not extra:
            raise TrainingFault(f"no episode of this iteration has a known reward: {why_unknown(collection)}")
        return known

    def play(self, starts: Sequence[Start], collector: Collector) -> Collection:
        """Episodes of the policy as it is now, shared out among the processes."""
        self.policy.version = self.iteration
        with self.progress("playing episodes", len(starts) // self.processes.size) as advance:
            collection = collect_distributed(self.processes, collector, starts, advance)
        if self.rollout_engine is not None:
            self.rollout_engine.rest()
        for name, value in collection.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + value
        self.episodes += len(collection.trajectories)
        return collection

    def starts(self, episodes: int, group_size: int = 1, extra: int = 0, iteration: int | None = None) -> list[Start]:
        """Tasks of this iteration (or another one), which no other iteration has; environments by weight."""
        count, number = max(1, episodes // group_size), self.iteration if iteration is None else iteration
        weights = np.array([spec.weight for spec in self.arguments.specs()], dtype=float)
        # A further round may be of any size, so its tasks are not counted on from those of the first rounds.
        seed = mixed_seed(self.arguments.seed, number + 1, extra) if extra else self.arguments.seed
        first, name = (0, f"{number + 1}-extra{extra}") if extra else (number * count, f"{number + 1}")
        chosen = env_choice_rng(seed, number).choice(len(weights), size=count, p=weights / weights.sum())
        seeds = [episode_seed(seed, first + index) for index in range(count)]
        pairs = enumerate(zip(seeds, chosen, strict=True))
        starts = [Start(seed, int(env), id=f"{name}-{place}") for place, (seed, env) in pairs]
        return grouped(starts, group_size) if group_size > 1 else starts

    def keep_some(self, trajectories: Sequence[Trajectory]) -> None:
        """Write those of this iteration that `save_trajectories` asks for."""
        wanted = self.arguments.save_trajectories
        if not wanted or not self.processes.is_main:
            return
        path = self.folder / "trajectories" / f"iteration_{self.iteration + 1:06d}.jsonl"
        for stale in (path, path.with_suffix(".parquet")):  # of a run that was stopped in or after this iteration
            stale.unlink(missing_ok=True)
        with self._disk(), TrajectoryWriter(path) as writer:
            for trajectory in trajectories if wanted < 0 else trajectories[:wanted]:
                writer.write(trajectory)

    # ------------------------------------------------------------------ metrics

    def log(self, kind: str, metrics: dict[str, Any]) -> None:
        """Append a line of metrics, show it to the monitor and the trackers."""
        if not self.processes.is_main:
            return
        line = scrub({"iteration": self.iteration + (kind == "train"), "kind": kind, **metrics}, names=False)
        with self._disk(), open(self.folder / METRICS, "a") as file:
            file.write(json.dumps(finite(line)) + "\n")
        for tracker in self.trackers:
            tracker.log(line, line["iteration"])
        if kind == "warning":
            return
        for warning in self.monitor.update(line):
            self.report(f"warning: {warning['warning']}: {warning['detail']}")
            self.log("warning", warning)

    def log_training(self, loss: dict[str, float], episodes: bool = True, **further: Any) -> None:
        """The line of an iteration: what was played, what was learned, how long it took, and an algorithm's own."""
        total = time.perf_counter() - self._started
        known = sum(self.seconds.values())
        seconds = {**self.seconds, "other": max(0.0, total - known), "total": total}
        learner = self.learner
        padding = sum(learner.padding) / len(learner.padding) if learner.padding else 0.0
        metrics: dict[str, Any] = episode_metrics(self.collection) if episodes else {}
        generated = metrics.pop("generated", 0)
        metrics |= {
            "episodes_total": self.episodes,
            "loss": {**loss, "skipped_steps": learner.skipped_steps},
            "lr": learner.optimiser.param_groups[0]["lr"],
            "tokens": {"generated": generated, "trained": learner.trained_tokens, "padding": padding},
            "seconds": seconds,
            **further,
        }
        if self.rollout_engine is not None:
            metrics["engine"] = self.rollout_engine.metrics()
        if self.asynchronous is not None:
            metrics["async"] = self.asynchronous.metrics()
        learner.padding, learner.trained_tokens, learner.skipped_steps = [], 0, 0
        self.log("train", metrics)
        self.report(summary_line(self.iteration + 1, self.arguments.iterations, metrics))

    def evaluate_when_due(self) -> None:
        """Success on tasks of the evaluation split, the same ones each time."""
        arguments = self.arguments
        last = self.iteration == arguments.iterations
        if not arguments.eval_every or not (last or self.iteration % arguments.eval_every == 0):
            return
        for spec in arguments.eval_specs():
            for mode in arguments.eval_modes:
                self.evaluate(spec, greedy=mode == "greedy")

    def evaluate(self, spec: Any, *, greedy: bool) -> None:
        """One measurement of one environment."""
        arguments = self.arguments
        word = split_word(arguments.eval_split)
        self.learner.publish()
        with Progress(self.report, f"{word} episodes", arguments.eval_episodes // self.processes.size) as advance:
            result = evaluate(
                spec.id,
                self.sampler(greedy=greedy, seed=mixed_seed(arguments.seed, self.iteration)),
                arguments.eval_episodes,
                seed=0,
                split=arguments.eval_split,
                env_kwargs=spec.kwargs,
                wrappers=spec.wrappers,
                num_envs=self._side_by_side(),
                prompt_style=arguments.prompt_style,
                history=arguments.history,
                processes=self.processes if self.processes.distributed else None,
                on_episode=advance,
            )
        metrics = {key: value for key, value in result.to_json().items() if key not in ("schema", "id", "spec")}
        metrics["seconds_total"] = metrics.pop("seconds")
        played = {"env_id": spec.id, "env_kwargs": own_arguments(result.spec), "greedy": greedy}
        played["temperature"] = None if greedy else arguments.temperature
        seen = {"outcomes": result.outcomes, "by_task": to_columns(result.tasks)}
        self.log("eval", {**played, **metrics, **seen})
        low, high = result.success_ci or (0.0, 0.0)
        how = "greedy" if greedy else f"sampled at {arguments.temperature:g}"
        self.report(
            f"[{self.iteration}/{arguments.iterations}] {word} success of {spec.id}, {how}: "
            f"{result.success or 0:.3f} [{low:.3f}, {high:.3f}] ({result.episodes} episodes)"
        )

    def close(self) -> Path:
        """After the last iteration: trajectories as parquet, the report, the folder."""
        self.processes.on_main(self._finish)
        return self.folder

    def _finish(self) -> None:
        from agentrl.rollout.parquet import to_parquet
        from agentrl.viewer.run_report import write_run_report

        kept = self.folder / "trajectories"
        for left_over in kept.glob("*.parquet.*"):  # by a process that was killed while it converted
            left_over.unlink()
        try:
            for path in sorted(kept.glob("*.jsonl")):
                to_parquet(path)
        except MissingExtra as error:  # without pyarrow they stay what they are, which every reader takes too
            self.report(f"trajectories stay JSON lines: {error}")
        if self.arguments.report:
            with trusted_arguments(spec.kwargs for spec in (*self.arguments.specs(), *self.arguments.eval_specs())):
                write_run_report(self.folder, play_again=True)
