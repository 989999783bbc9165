"""A training run: its folder, its clock, its metrics, its checkpoints. Everything but the algorithm.

All randomness of an iteration follows from the run's seed and the iteration's number; what else survives from one
iteration to the next stands in the checkpoint. So a run that was killed and resumed ends with the same bits.

Of several processes each has a `Run`; the first one writes the folder and speaks, the others only work.
"""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.policies.hf import HFPolicy
from agentrl.policies.random import mixed_seed
from agentrl.policies.vllm import VLLMPolicy
from agentrl.rollout.collect import Collection, Collector, Start, grouped
from agentrl.rollout.evaluate import episode_seed, evaluate
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter
from agentrl.trainers.arguments import RunArguments
from agentrl.trainers.checkpoint import load_checkpoint, save_checkpoint
from agentrl.trainers.exchange import play_together
from agentrl.trainers.learner import Learner
from agentrl.trainers.memory import TrainingFault
from agentrl.trainers.players import VLLMPlayers
from agentrl.trainers.run_figures import episode_figures, finite, summary_line, together, trouble
from agentrl.trainers.run_folder import CONFIG, METRICS, check_same_run, cut, run_folder, versions
from agentrl.trainers.trackers import make_trackers
from agentrl.trainers.watch import Watch

log = logging.getLogger(__name__)

Say = Callable[[str], Any]


class Run:
    """One run in its folder; use as a context manager."""

    def __init__(self, arguments: RunArguments, algorithm: str, learner: Learner, say: Say | None = None) -> None:
        self.arguments, self.algorithm, self.learner = arguments, algorithm, learner
        self.team = learner.team
        self.say: Say = (say or log.info) if self.team.first else (lambda text: None)
        if arguments.threads:
            torch.set_num_threads(arguments.threads)
        self.folder = Path(self.team.lead(lambda: str(run_folder(arguments, algorithm))))
        self.players = VLLMPlayers(arguments, learner) if arguments.engine == "vllm" else None
        self.policy = self.sampler(greedy=False, seed=arguments.seed)
        self.collector = self._make_collector(self.policy, "train")
        self.watch, self.iteration, self.episodes = Watch(), 0, 0
        self.collection = Collection([], {}, 0, 0)
        self.seconds: dict[str, float] = {}
        self._stop: str | None = None
        self._resumed = False
        self._resume() if arguments.resume else self.team.lead(self._begin)
        names = arguments.trackers if self.team.first else ()
        self.trackers = make_trackers(names, self.folder, arguments.to_json(), self.folder.name)

    # ------------------------------------------------------------------ beginning and end

    def _begin(self) -> None:
        if (self.folder / METRICS).exists():
            raise ConfigError(f"{self.folder} holds a run already; choose another output, or go on with resume")
        self._write_config()

    def _write_config(self) -> None:
        content = {
            "algorithm": self.algorithm,
            "arguments": self.arguments.to_json(),
            "environments": [spec.id for spec in self.arguments.specs()],
            "versions": versions() | ({} if self.players is None else self.players.versions()),
            "device": str(self.learner.device),
        }
        try:
            write_atomically(self.folder / CONFIG, json.dumps(content, indent=1).encode())
        except OSError as error:
            raise ConfigError(f"the run folder cannot be written: {error}; choose another output") from error

    def _resume(self) -> None:
        config = self.folder / CONFIG
        if not config.exists():
            return self._begin_again()
        check_same_run(json.loads(config.read_text()), self.arguments, self.algorithm)
        state = load_checkpoint(self.folder / "checkpoints", self.learner)
        if state is None:
            return self._begin_again()
        self._resumed = True
        self.iteration, self.episodes = int(state["step"]), int(state["episodes"])
        self.policy.calls = int(state["calls"])
        self.watch = Watch.from_json(state["watch"])
        memories = [state["collector"], *state.get("collectors", [])]  # of as many processes as there were
        self.collector.load_state_dict(memories[self.team.rank % len(memories)])
        self.team.lead(lambda: cut(self.folder / METRICS, int(state["metrics_bytes"])))
        self.say(f"going on after iteration {self.iteration}")

    def _begin_again(self) -> None:
        """No checkpoint was reached: what there is of metrics is from before, and will be written again."""
        self.team.lead(self._write_config)
        self.team.lead(lambda: cut(self.folder / METRICS, 0))

    def __enter__(self) -> Run:
        self._handlers = {}
        if threading.current_thread() is threading.main_thread():
            for name in (signal.SIGTERM, signal.SIGINT):
                self._handlers[name] = signal.signal(name, self._asked_to_stop)
        return self

    def __exit__(self, *problem: Any) -> None:
        for name, handler in self._handlers.items():
            signal.signal(name, handler)
        self.collector.close()
        if self.players is not None:
            self.players.close()
        for tracker in self.trackers:
            tracker.close()

    def _asked_to_stop(self, number: int, frame: Any) -> None:
        if self._stop is not None:  # the second time means it
            raise KeyboardInterrupt
        self._stop = signal.Signals(number).name
        self.say(f"{self._stop}: stopping after this iteration; once more stops at once")

    @property
    def stopped(self) -> str | None:
        """The signal that ended the run early, if one did."""
        return self._stop

    # ------------------------------------------------------------------ iterations

    def iterations(self) -> Iterator[int]:
        """The numbers of the iterations that are left, from 1; each ends with its checkpoint where one is due."""
        total, every = self.arguments.iterations, self.arguments.save_every
        if not self._resumed:
            if self.arguments.eval_at_start:
                self.evaluate_when_due()
            self.checkpoint()
        stop = self._asked()
        while self.iteration < total and stop is None:
            self._started, self.seconds = time.perf_counter(), {}
            yield self.iteration + 1
            self.iteration += 1
            self.evaluate_when_due()
            stop = self._asked()  # looked at once: a signal from now on stops after the next iteration
            if self.iteration % every == 0 or self.iteration == total or stop is not None:
                self.checkpoint()

    def _asked(self) -> str | None:
        """The signal that asked any of the processes to stop."""
        agreed = next((name for name in self.team.gather(self._stop) if name), None)
        self._stop = agreed or self._stop  # a signal may have come since this process was asked
        return agreed

    def dice(self, purpose: int) -> torch.Generator:
        """Random numbers for this iteration and purpose, the same in every run with this seed."""
        return torch.Generator().manual_seed(mixed_seed(self.arguments.seed, self.iteration + 1, purpose))

    @contextlib.contextmanager
    def time(self, what: str) -> Iterator[None]:
        """Count the time inside under `what`."""
        begin = time.perf_counter()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - begin

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        """A disk that is full ends the run with a word on what to do."""
        try:
            yield
        except OSError as error:
            raise TrainingFault(
                f"the run folder cannot be written: {error}; make room and go on with resume"
            ) from error

    def checkpoint(self) -> Path:
        """Write one now."""
        memory, *others = self.team.gather(self.collector.state_dict())
        state = {
            "algorithm": self.algorithm,
            "episodes": self.episodes,
            "calls": self.policy.calls,
            "watch": self.watch.to_json(),
            "collector": memory,
            **({"collectors": others} if others else {}),
            "metrics_bytes": (self.folder / METRICS).stat().st_size if (self.folder / METRICS).exists() else 0,
        }
        folder = self.folder / "checkpoints"
        return save_checkpoint(folder, self.iteration, self.learner, state, self.arguments.keep)

    # ------------------------------------------------------------------ episodes

    def sampler(self, *, greedy: bool, seed: int) -> HFPolicy | VLLMPolicy:
        """The policy as a player."""
        arguments = self.arguments
        if self.players is not None:
            return self.players.sampler(greedy=greedy, seed=seed)
        return HFPolicy(
            self.learner.engine,
            temperature=arguments.temperature,
            top_p=arguments.top_p,
            max_new_tokens=arguments.max_new_tokens,
            batch_size=arguments.generation_batch,
            greedy=greedy,
            seed=seed,
        )

    def _make_collector(self, policy: Any, split: str) -> Collector:
        arguments = self.arguments
        return Collector(
            arguments.specs(),
            policy,
            split=split,
            num_envs=self._side_by_side(),
            prompt_style=arguments.prompt_style,
            history=arguments.history,
            timeout=arguments.env_timeout or None,
            isolate=arguments.isolate,
            judge=arguments.deferred_judge(),
        )

    def _side_by_side(self) -> int:
        """Episodes that this process plays at the same time."""
        return -(-self.arguments.num_envs // self.team.size)

    def collect(self, episodes: int, group_size: int = 1, extra: int = 0) -> list[Trajectory]:
        """Play the episodes of this iteration; those whose reward is known. The rest is counted in the metrics.

        `extra` numbers further rounds of the same iteration: other tasks, counted together with the first.
        """
        self.policy.version = self.iteration
        collection = play_together(self.team, self.collector, self.starts(episodes, group_size, extra))
        for name, value in collection.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + value
        self.episodes += len(collection.trajectories)
        if not extra:
            self._keep_some(collection.trajectories)
        self.collection = together(self.collection, collection) if extra else collection
        known = [trajectory for trajectory in collection.trajectories if trajectory.reward is not None]
        if not known and not extra:
            raise TrainingFault(f"no episode of this iteration can be learned from: {trouble(collection)}")
        return known

    def starts(self, episodes: int, group_size: int = 1, extra: int = 0) -> list[Start]:
        """Where the episodes of this iteration begin: tasks that no other iteration has, environments by weight."""
        count, number = max(1, episodes // group_size), self.iteration
        weights = np.array([spec.weight for spec in self.arguments.specs()], dtype=float)
        # A further round may be of any size, so its tasks are not counted on from those of the first rounds.
        seed = mixed_seed(self.arguments.seed, number + 1, extra) if extra else self.arguments.seed
        first, name = (0, f"{number + 1}-extra{extra}") if extra else (number * count, f"{number + 1}")
        dice = np.random.default_rng(np.random.SeedSequence([seed, 1, number]))
        chosen = dice.choice(len(weights), size=count, p=weights / weights.sum())
        seeds = [episode_seed(seed, first + index) for index in range(count)]
        pairs = enumerate(zip(seeds, chosen, strict=True))
        starts = [Start(seed, int(env), id=f"{name}-{place}") for place, (seed, env) in pairs]
        return grouped(starts, group_size) if group_size > 1 else starts

    def _keep_some(self, trajectories: Sequence[Trajectory]) -> None:
        wanted = self.arguments.save_trajectories
        if not wanted or not self.team.first:
            return
        path = self.folder / "trajectories" / f"iteration_{self.iteration + 1:06d}.jsonl"
        for stale in (path, path.with_suffix(".parquet")):  # of a run that was stopped in or after this iteration
            stale.unlink(missing_ok=True)
        with self._disk(), TrajectoryWriter(path) as writer:
            for trajectory in trajectories if wanted < 0 else trajectories[:wanted]:
                writer.write(trajectory)

    # ------------------------------------------------------------------ figures

    def log(self, kind: str, figures: dict[str, Any]) -> None:
        """Append a line of metrics, show it to the watch and the trackers."""
        if not self.team.first:
            return
        line = {"iteration": self.iteration + (kind == "train"), "kind": kind, **figures}
        with self._disk(), open(self.folder / METRICS, "a") as file:
            file.write(json.dumps(finite(line)) + "\n")
        for tracker in self.trackers:
            tracker.log(line, line["iteration"])
        if kind == "warning":
            return
        for warning in self.watch.update(line):
            self.say(f"warning: {warning['warning']}: {warning['detail']}")
            self.log("warning", warning)

    def log_training(self, loss: dict[str, float], episodes: bool = True) -> None:
        """The line of an iteration: what was played, what was learned, how long it took."""
        total = time.perf_counter() - self._started
        known = sum(self.seconds.values())
        seconds = {**self.seconds, "other": max(0.0, total - known), "total": total}
        learner = self.learner
        padding = sum(learner.padding) / len(learner.padding) if learner.padding else 0.0
        figures: dict[str, Any] = episode_figures(self.collection) if episodes else {}
        generated = figures.pop("generated", 0)
        figures |= {
            "episodes_total": self.episodes,
            "loss": loss,
            "lr": learner.optimiser.param_groups[0]["lr"],
            "tokens": {"generated": generated, "trained": learner.trained_tokens, "padding": padding},
            "seconds": seconds,
        }
        if self.players is not None:
            figures["engine"] = self.players.metrics()
        learner.padding, learner.trained_tokens = [], 0
        self.log("train", figures)
        self.say(summary_line(self.iteration + 1, self.arguments.iterations, figures))

    def evaluate_when_due(self) -> None:
        """Held-out success, on the same tasks each time."""
        arguments = self.arguments
        last = self.iteration == arguments.iterations
        if not arguments.eval_every or not (last or self.iteration % arguments.eval_every == 0):
            return
        for spec in arguments.specs():
            for mode in arguments.eval_modes:
                self.evaluate(spec, greedy=mode == "greedy")

    def evaluate(self, spec: Any, *, greedy: bool) -> None:
        """One measurement of one environment."""
        arguments = self.arguments
        self.learner.publish()
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
            team=self.team if self.team.together else None,
        )
        figures = {key: value for key, value in result.to_json().items() if key not in ("schema", "id", "spec")}
        figures["seconds_total"] = figures.pop("seconds")
        self.log("eval", {"env_id": spec.id, "greedy": greedy, **figures})
        low, high = result.success_ci or (0.0, 0.0)
        how = "greedy" if greedy else f"sampled at {arguments.temperature:g}"
        self.say(
            f"[{self.iteration}/{arguments.iterations}] held-out success of {spec.id}, {how}: "
            f"{result.success or 0:.3f} [{low:.3f}, {high:.3f}] ({result.episodes} episodes)"
        )

    def close(self) -> Path:
        """After the last iteration: trajectories as parquet, the report, the folder."""
        self.team.lead(self._finish)
        return self.folder

    def _finish(self) -> None:
        from agentrl.viewer.run_report import write_run_report

        self._close_trajectories()
        if self.arguments.report:
            write_run_report(self.folder)

    def _close_trajectories(self) -> None:
        """As parquet; without pyarrow they stay what they are, which every reader takes too."""
        from agentrl.rollout.parquet import to_parquet

        kept = self.folder / "trajectories"
        for left_over in kept.glob("*.parquet.*"):  # by a process that was killed while it converted
            left_over.unlink()
        try:
            for path in sorted(kept.glob("*.jsonl")):
                to_parquet(path)
        except MissingExtra as error:
            self.say(f"trajectories stay JSON lines: {error}")
