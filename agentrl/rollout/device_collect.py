"""Episodes of a VLA policy in many worlds on one device: nothing but flags leaves it while they are played.

    agentrl train ppo --env agentrl/... --env-kwargs '{"simulator": "warp"}' --model FOLDER ...

The worlds are those of `gym.make_vec(..., simulator="warp")`. The policy answers all of them in one pass, from the
tensors that were drawn there; a whole chunk is carried out before anything is looked at again; and what the update
needs stays in `DeviceRows`. Records are written when all episodes are over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError, EngineFault, EnvFault, Fault
from agentrl.models.vla.body import Seen
from agentrl.models.vla.policy_net import Drawn
from agentrl.policies.vla import VLAPolicy, noise_between
from agentrl.rollout.collect import Collection, Collector, Finished, Job, OnTrajectory, Timings, collection, timed
from agentrl.rollout.device_records import End, Facts, Recorder
from agentrl.rollout.device_rows import DeviceRows
from agentrl.rollout.episode import check_policy
from agentrl.rollout.prompts import rules_of
from agentrl.rollout.starts import EnvSpec, Start, alone, checked_starts
from agentrl.rollout.trajectory import Trajectory


@dataclass
class Worlds:
    """The worlds of an environment of the mix."""

    env: Any
    facts: Facts
    places: dict[str, int]  # id of a start -> number of its task
    ids: Tensor  # the instructions' tokens, a row for each world
    mask: Tensor
    prompts: list[list[int]]

    @property
    def rows_each(self) -> int:
        """Of an episode: its chunks, and what is seen behind the last."""
        return -(-self.env.max_turns // self.facts.chunk) + 1


class DeviceCollector(Collector):
    """Plays starts in waves: each world one of them, and those that are over wait for the others of their wave.

    A start without a task gets one by its place in the list, so that every task has as many: the n-th seed plays task n
    modulo their number, from the start that the seed says. Sampling is seeded as in `Collector`: the same starts give
    the same episodes, as far as both simulators go the same way. `num_envs` is how many worlds there are; they are
    shared out among the tasks. `memory` is how many GiB the pictures of an iteration may take.

    A world that diverges is a fault of its episode, which is begun again up to `retries` times and then recorded with
    it. An answer that is not finite is an `EngineFault`, and none of the chunks that were answered is carried out.
    """

    policy: Any

    def __init__(self, envs: Sequence[EnvSpec], policy: Any, *, memory: float = 4.0, **options: Any) -> None:
        if not isinstance(policy, VLAPolicy):
            raise ConfigError('simulator="warp" is for policies of robots (vla:FOLDER)')
        super().__init__([alone(spec) for spec in envs], policy, **options)
        for spec in envs:
            if spec.kwargs.get("simulator") != "warp" or len(spec.wrappers) > 1:
                raise ConfigError(
                    f'all environments must have simulator="warp" and no wrappers of their own; got {spec}'
                )
        if self.hosts or self.timeout or self.judge is not None:
            raise ConfigError('simulator="warp" works in this process, without hosts, env_timeout and judge')
        self.specs, self.memory = tuple(envs), memory
        self._worlds: dict[int, Worlds] = {}
        self._rows: DeviceRows | None = None

    def close(self) -> None:
        """Free the worlds and the rows."""
        super().close()
        self._worlds.clear()
        self._rows = None

    def collect(self, starts: Sequence[Start], on_trajectory: OnTrajectory | None = None) -> Collection:
        """Play every start once; records come when all are over."""
        found, tally = dict[int, Trajectory](), Timings()

        def finished(index: int, trajectory: Trajectory, fault: Fault | None) -> None:
            found[index] = trajectory
            if on_trajectory is not None:
                on_trajectory(trajectory)

        self.play(starts, finished, tally)
        return collection(found, tally)

    def play(
        self, starts: Sequence[Start], finished: Finished, tally: Timings, record_engine_faults: bool = False
    ) -> None:
        """Play every start and hand the records over."""
        jobs, ends = self._jobs(checked_starts(starts, self.envs)), dict[int, End]()
        if any(job.start.opening for job in jobs):
            raise ConfigError('simulator="warp" begins episodes at their beginnings; got a start with an opening')
        with timed(tally, "environment"):
            for number in dict.fromkeys(job.start.env for job in jobs):
                self._choose_tasks([job for job in jobs if job.start.env == number], self._open(number))
        rows, each = self._make_rows(jobs)
        waiting = jobs
        while waiting:
            wave = self._next_wave(waiting)
            ends |= Wave(self._worlds[wave[0].start.env], self.policy, rows, wave, each).play(tally)
            again = [job for job in wave if job.fault is not None and job.attempts <= self.retries]
            tally.retries += len(again)
            waiting = [job for job in waiting if job not in wave] + again
        with timed(tally, "generate"):
            recorder = Recorder(rows, self.policy)
            for job in jobs:
                facts, end = self._worlds[job.start.env].facts, ends[job.index]
                finished(job.index, recorder.write(job, facts, end, job.index * each), job.fault)

    # ------------------------------------------------------------------ worlds, starts and rows

    def _open(self, number: int) -> Worlds:
        """The worlds of an environment of the mix, made when they are needed first."""
        if number not in self._worlds:
            spec, policy, place = self.specs[number], self.policy, self.pool.reserve(number)
            handle = self.pool.open(place)
            check_policy(policy, handle.env, handle.env_id)
            facts = Facts(handle.env_id, handle.spec, rules_of(handle.env), policy.chunk)
            self.pool.give_back(place)
            given = {"split": self.split, "obs_text": False, **spec.kwargs}
            env: Any = gym.make_vec(spec.id, self.num_envs, "vector_entry_point", autoreset_mode="Disabled", **given)
            device = policy.loaded.model.device
            if env.device != device:
                raise ConfigError(
                    f"the policy is on {device} and {spec.id} on {env.device}; they must be on one device"
                )
            prompts = [policy.loaded.encode(one) for one in env.instructions]
            ids, mask = (part.to(device) for part in policy.loaded.batch_ids(prompts))
            places = {name: number for number, task in enumerate(env.tasks) for name in task.names}
            self._worlds[number] = Worlds(env, facts, places, ids, mask, prompts)
        return self._worlds[number]

    def worlds(self, number: int) -> Any:
        """The vector environment of an environment of the mix."""
        return self._open(number).env

    def _choose_tasks(self, jobs: Sequence[Job], worlds: Worlds) -> None:
        """Every start gets the id of what it plays."""
        numbers = {seed: place for place, seed in enumerate(dict.fromkeys(job.start.seed for job in jobs))}
        tasks = worlds.env.tasks
        for job in jobs:
            name, seed = job.start.task, job.start.seed
            if name is None:
                known = tasks[numbers[seed] % len(tasks)].names
                job.start = replace(job.start, task=known[seed % len(known)])
            elif name not in worlds.places:
                raise ConfigError(f"task must be one of the {len(worlds.places)} starts on the device; got {name!r}")

    def _make_rows(self, jobs: Sequence[Job]) -> tuple[DeviceRows, int]:
        """Room for all chunks of all jobs, and how many rows each of them has."""
        each = max(self._worlds[job.start.env].rows_each for job in jobs)
        if self._rows is None or self._rows.count < len(jobs) * each:
            self._rows = DeviceRows(self.policy.spec, len(jobs) * each, self.policy.loaded.model.device, self.memory)
        self._rows.use += 1
        return self._rows, each

    def _next_wave(self, waiting: Sequence[Job]) -> list[Job]:
        """Of one environment as many as it has worlds for, of each task."""
        number = waiting[0].start.env
        worlds, wave = self._worlds[number], []
        free = [len(task.rows) for task in worlds.env.tasks]
        for job in waiting:
            task = worlds.places[str(job.start.task)] if job.start.env == number else -1
            if task >= 0 and free[task]:
                free[task] -= 1
                wave.append(job)
        return wave


class Wave:
    """Episodes side by side, each in a world of its own."""

    def __init__(
        self, worlds: Worlds, policy: VLAPolicy, rows: DeviceRows, jobs: Sequence[Job], rows_each: int
    ) -> None:
        self.worlds, self.policy, self.rows = worlds, policy, rows
        tasks = len(worlds.env.tasks)
        free = [iter(range(task, worlds.env.num_envs, tasks)) for task in range(tasks)]
        self.seats: dict[int, Job] = {next(free[worlds.places[str(job.start.task)]]): job for job in jobs}
        self.playing = np.zeros(worlds.env.num_envs, bool)
        self.playing[list(self.seats)] = True
        self.first = {world: job.index * rows_each for world, job in self.seats.items()}
        self.turn, self.ends = 0, dict[int, End]()

    def play(self, tally: Timings) -> dict[int, End]:
        """How each episode ended, by the index of its job."""
        with timed(tally, "environment"):
            seen = self._begin()
        while self.playing.any():
            worlds = torch.from_numpy(np.flatnonzero(self.playing)).to(self.rows.device)
            at = torch.tensor([self.first[world] + self.turn for world in worlds.tolist()], device=self.rows.device)
            self.rows.observe(at, seen, worlds)
            with timed(tally, "generate"):
                drawn, actions = self._ask(seen, worlds)
            self.rows.answer(at, drawn, actions)
            tally.turns += len(worlds)
            with timed(tally, "environment"):
                seen = self._carry_out(actions, at, worlds)
        return self.ends

    def _begin(self) -> dict[str, Tensor]:
        env = self.worlds.env
        names = [env.tasks[world % len(env.tasks)].names[0] for world in range(env.num_envs)]
        for world, job in self.seats.items():
            names[world] = str(job.start.task)
            job.attempts, job.fault = job.attempts + 1, None
        seen, _ = env.reset(options={"task": names})
        return seen

    def _ask(self, seen: dict[str, Tensor], worlds: Tensor) -> tuple[Drawn, Tensor]:
        """What the policy draws in some worlds, and the actions that it means."""
        policy, network = self.policy, self.policy.loaded.model
        jobs = [self.seats[world] for world in worlds.tolist()]
        keys = [f"{job.name}/{job.attempts}/{self.turn}" for job in jobs]
        noise = noise_between(policy.seed, keys, network.noise_numbers)
        pictures = {name: seen[name][worlds] for name in policy.spec.cameras}
        read = Seen(self.rows.vectors(seen)[worlds], pictures, self.worlds.ids[worlds], self.worlds.mask[worlds])
        policy.calls += 1
        with torch.inference_mode():
            try:
                drawn = network.draw(
                    read.to(network.device), noise.to(network.device),
                    temperature=policy.temperature, greedy=policy.greedy,
                )  # fmt: skip
            except RuntimeError as error:
                raise EngineFault(f"the VLA policy failed: {type(error).__name__}: {error}") from error
            actions = network.action_scale.back(drawn.actions)
            if not bool(actions.isfinite().all() & drawn.logprobs.isfinite().all() & read.numbers.isfinite().all()):
                what = "policy's actions are" if bool(read.numbers.isfinite().all()) else "robot's state is"
                raise EngineFault(f"the {what} not finite; nothing was carried out")
            low, high = (actions.new_tensor(bound) for bound in (policy.spec.action_low, policy.spec.action_high))
            return drawn, actions.clamp(low, high)

    def _carry_out(self, actions: Tensor, at: Tensor, worlds: Tensor) -> dict[str, Tensor]:
        """Chunks in the worlds that are still playing; what they show then."""
        env, rows = self.worlds.env, self.rows
        chunks = torch.zeros((env.num_envs, *actions.shape[1:]), device=env.device)
        chunks[worlds] = actions.to(env.device)
        played = env.play_chunk(chunks, self.playing)
        rows.rewards[at], rows.ran[at] = played.rewards[worlds], played.ran[worlds].long()
        flags = torch.stack([played.terminated, played.truncated, played.broken]).cpu().numpy()
        over = self.playing & flags.any(0)
        self.turn += 1
        for world in np.flatnonzero(over).tolist():
            job, (terminated, truncated, broken) = self.seats[world], flags[:, world].tolist()
            job.fault = EnvFault(f"the simulation of {job.start.task} diverged") if broken else None
            self.ends[job.index] = End(
                self.turn, terminated, truncated, self.worlds.prompts[world], env.instructions[world]
            )
        ended = torch.from_numpy(over).to(rows.device)[worlds]
        rows.observe(at[ended] + 1, played.seen, worlds[ended])  # what nobody answers any more
        self.playing &= ~over
        return played.seen
