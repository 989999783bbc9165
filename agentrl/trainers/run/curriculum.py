"""What a phase plays: tasks of the training split, or new ones made from those that failed so far.

New tasks pass three filters: they have not been proposed before in this phase and have not failed before (or not been
played at all), the generator says that they can be solved, and the critic's value of their first state lies in a
window, so that they are neither hopeless nor easy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from agentrl.core.errors import AgentRLError, ConfigError, Fault
from agentrl.core.seeding import env_choice_rng, episode_seed, mixed_seed, run_seed
from agentrl.core.task_generator import Task, TaskGenerator
from agentrl.core.untrusted import check_environment
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.episode import make
from agentrl.rollout.llm_tasks import LLMTasks, open_task_generator
from agentrl.trainers.arguments.phases import PhaseArguments
from agentrl.trainers.run.replay import Played, TaskSet
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.off_policy import values_at_starts

DROPPED = ("duplicates", "infeasible", "unplayable", "too_hard", "too_easy")
COUNTS = ("proposed", *DROPPED, "kept", "filled")
GENERATORS = "generators"  # in the run's memory: what they remember, for a resumed run
SPARE = 2  # proposals for each task that is still wanted: some will be filtered out
SEEDS = 64  # failed tasks that a round of proposals begins from; the next round has others


class TaskSource:
    """The training tasks of one of the run's environments, and its generator; neither where it has no tasks."""

    def __init__(self, spec: EnvSpec, *, isolated: bool = False, generator: Any = "own") -> None:
        self.tasks: Sequence[str] = ()
        self.generator: TaskGenerator | None = None
        try:
            self._env = make(spec.id, split="train", **spec.kwargs)
        except AgentRLError:
            if not isolated:
                raise
            return  # it may work in a process of its own only
        env: Any = self._env.unwrapped
        if hasattr(env, "tasks") and hasattr(env, "task_generator"):
            self.tasks, self.generator = env.tasks(), open_task_generator(generator, env)

    def state_dict(self) -> dict[str, Any] | None:
        """Of the generator, where it remembers anything: the environments' own do not."""
        return self.generator.state_dict() if isinstance(self.generator, LLMTasks) else None

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Inverse of `state_dict`."""
        if state is not None and isinstance(self.generator, LLMTasks):
            self.generator.load_state_dict(state)

    def draw(self, count: int, rng: np.random.Generator) -> list[Task | None]:
        """Training tasks, none twice before all have come."""
        if not len(self.tasks):
            return [None] * count
        found: list[Task | None] = []
        while len(found) < count:
            size = min(count - len(found), len(self.tasks))
            found += [Task(self.tasks[int(place)]) for place in rng.choice(len(self.tasks), size, replace=False)]
        return found


class Curriculum:
    """Chooses the tasks of each phase. What it draws follows from the run's seed and the number of the phase."""

    def __init__(self, args: PhaseArguments, run: Run) -> None:
        self.args, self.run = args, run
        self.specs = args.specs()
        made_by = args.generator
        self.sources = [TaskSource(spec, isolated=args.hosts > 0, generator=made_by) for spec in self.specs]
        for spec, source in zip(self.specs, self.sources, strict=True):
            if source.generator is None:
                run.report(f"{spec.id} has no list of tasks: every phase plays seeds of its own there")
        for source, state in zip(self.sources, run.memory.get(GENERATORS, ()), strict=False):
            source.load_state_dict(state)

    def training_tasks(self, phase: int, count: int) -> list[Played]:
        """Of the training split; environments by weight."""
        rng = self._rng(phase)
        sizes = enumerate(self._sizes(phase, count))
        return [Played(env, task) for env, size in sizes for task in self.sources[env].draw(size, rng)]

    def _rng(self, phase: int) -> np.random.Generator:
        return np.random.default_rng(run_seed(self.args.seed, phase, "tasks"))

    def _sizes(self, phase: int, count: int) -> list[int]:
        """How many tasks each environment of the mix gets."""
        weights = np.array([spec.weight for spec in self.specs], dtype=float)
        drawn = env_choice_rng(self.args.seed, phase).choice(len(weights), count, p=weights / weights.sum())
        return np.bincount(drawn, minlength=len(weights)).tolist()

    # ------------------------------------------------------------------ new tasks

    def new_tasks(
        self, phase: int, count: int, failures: TaskSet, known: TaskSet
    ) -> tuple[list[Played], dict[str, int]]:
        """Tasks like those that failed and none of the known ones, and what became of the proposals.

        Where the generator finds too few, tasks that failed and then training tasks fill the places: a phase has its
        size in any case.
        """
        rng, counts = self._rng(phase), Counter[str](dict.fromkeys(COUNTS, 0))
        chosen: list[Played] = []
        for env, size in enumerate(self._sizes(phase, count)):
            made = self._generate(env, size, failures.of(env), set(known.of(env)), rng, counts)
            found = [Played(env, task) for task in made]
            counts["kept"] += len(found)
            missing = size - len(found)
            counts["filled"] += missing
            chosen += found + self._filled(env, missing, failures.of(env), rng)
        self._say(phase, count, counts)
        self._remember()
        return chosen, dict(counts)

    def _remember(self) -> None:
        """What generators know by now, for a resumed run and for the log."""
        states = self.run.processes.on_main(lambda: [source.state_dict() for source in self.sources])
        if any(states):
            self.run.memory[GENERATORS] = states
        for spec, state in zip(self.specs, states, strict=True):
            if state:
                told = ", ".join(f"{count} {name}" for name, count in state["counts"].items() if count)
                self.run.report(f"the task generator of {spec.id} so far: {told or 'nothing asked'}")

    def _say(self, phase: int, count: int, counts: Counter[str]) -> None:
        """A phase of old tasks learns, too: nothing else would show that the curriculum is not at work."""
        if counts["filled"]:
            self.run.report(
                f"curriculum: {counts['kept']} new tasks of {count}, out of {counts['proposed']} proposals; "
                f"{counts['filled']} places go to tasks that failed, and to training tasks"
            )
        if not counts["kept"] and any(source.generator is not None for source in self.sources):
            dropped = ", ".join(f"{counts[name]} {name}" for name in DROPPED if counts[name]) or "none dropped"
            detail = f"phase {phase} has no new task, out of {counts['proposed']} proposals ({dropped})"
            self.run.report(f"warning: no_new_tasks: {detail}")
            self.run.log("warning", {"iteration": phase, "warning": "no_new_tasks", "detail": detail})

    def _filled(self, env: int, missing: int, failed: Sequence[Task], rng: np.random.Generator) -> list[Played]:
        again = [Played(env, task) for task in _some(failed, missing, rng)]
        return again + [Played(env, task) for task in self.sources[env].draw(missing - len(again), rng)]

    def _generate(
        self,
        env: int,
        size: int,
        failed: Sequence[Task],
        seen: set[Task],
        rng: np.random.Generator,
        counts: Counter[str],
    ) -> list[Task]:
        """Rounds of proposals, until there are enough or the rounds are over."""
        generator, kept = self.sources[env].generator, []
        for _ in range(self.args.proposal_rounds if generator is not None else 0):
            wanted = size - len(kept)
            if not wanted:
                break
            proposed = self._proposed(env, _some(failed, SEEDS, rng), SPARE * wanted, rng)
            if not proposed:
                break
            counts["proposed"] += len(proposed)
            fresh = self._solvable(env, self._not_seen(proposed, seen, counts), counts)
            kept += self._fitting(env, fresh, counts)[:wanted]
        return kept

    def _proposed(self, env: int, failed: Sequence[Task], count: int, rng: np.random.Generator) -> list[Any]:
        """What the generator says; a generator that fails (an endpoint that is away) costs the phase no more than its
        new tasks. Of several processes one asks, since an endpoint would answer each differently."""
        generator = self.sources[env].generator
        assert generator is not None
        own = np.random.default_rng(int(rng.integers(2**63)))  # `rng` stays the same in all processes

        def ask() -> list[dict[str, Any]]:
            try:
                return [task.to_json() for task in generator.propose(failed, count, own) if isinstance(task, Task)]
            except Fault as fault:
                self.run.report(f"curriculum: the task generator of {self.specs[env].id} fails: {fault}")
                return []

        return [Task.from_json(data) for data in self.run.processes.on_main(ask)]

    def _not_seen(self, proposed: Sequence[Task], seen: set[Task], counts: Counter[str]) -> list[Task]:
        fresh = []
        for task in proposed:
            if task in seen:
                counts["duplicates"] += 1
            else:
                seen.add(task)
                fresh.append(task)
        return fresh

    def _solvable(self, env: int, tasks: Sequence[Task], counts: Counter[str]) -> list[Task]:
        generator = self.sources[env].generator
        assert generator is not None

        def ask() -> list[bool]:
            return [_says_feasible(generator, task) for task in tasks]

        flags = self.run.processes.on_main(ask)
        counts["infeasible"] += flags.count(False)
        return [task for task, flag in zip(tasks, flags, strict=True) if flag]

    def _fitting(self, env: int, tasks: Sequence[Task], counts: Counter[str]) -> list[Task]:
        """Those whose first state the critic (its lowest head, or any) values within the window."""
        played = [Played(env, task) for task in tasks]
        collector, starts = self.collector(0, played)
        try:
            shown = collector.openings(starts)
        finally:
            collector.close()
        counts["unplayable"] += sum(one is None for one in shown)
        pairs = [(task, one) for task, one in zip(tasks, shown, strict=True) if one is not None]
        learner = self.run.learner
        if learner.critic is None or not pairs:
            return [task for task, _ in pairs]
        encoder = learner.engine.encoder
        values = values_at_starts(learner, [encoder.encode(conversation) for _, conversation in pairs]).double()
        if self.args.window_heads == "lowest":
            values = values.amin(1, keepdim=True)
        fits = ((values >= self.args.value_low) & (values <= self.args.value_high)).any(1)
        hard = ~fits & (values < self.args.value_low).any(1)
        counts["too_hard"] += int(hard.sum())
        counts["too_easy"] += int((~fits & ~hard).sum())
        return [task for (task, _), fit in zip(pairs, fits.tolist(), strict=True) if fit]

    # ------------------------------------------------------------------ playing them

    def collector(self, phase: int, played: Sequence[Played]) -> tuple[Collector, list[Start]]:
        """Environments for these tasks, with their own arguments where they have any, and where each episode begins."""
        specs, places, starts = list(self.specs), dict[str, int](), []
        seed = mixed_seed(self.args.seed, phase)
        for number, one in enumerate(played):
            place, task = _place_of(one, specs, places), None if one.task is None else one.task.id
            starts.append(Start(episode_seed(seed, number), place, task=task, id=f"{phase}-{number}"))
        return self.run.make_collector(self.run.policy, "train", specs), starts


def _some(tasks: Sequence[Task], most: int, rng: np.random.Generator) -> list[Task]:
    """At most so many of them, in random order."""
    return [tasks[int(place)] for place in rng.permutation(len(tasks))[:most]]


def _place_of(played: Played, specs: list[EnvSpec], places: dict[str, int]) -> int:
    """The place of a task's environment in the mix; one with arguments of its own is added."""
    if played.task is None or not played.task.kwargs:
        return played.env
    own = dict(played.task.kwargs)
    key = json.dumps([played.env, own], sort_keys=True)
    if key not in places:
        spec = specs[played.env]
        check_environment(spec.id.rpartition(":")[2], own)  # they may come out of a file
        places[key] = len(specs)
        specs.append(EnvSpec(spec.id, {**spec.kwargs, **own}, spec.wrappers, spec.weight))
    return places[key]


def _says_feasible(generator: TaskGenerator, task: Task) -> bool:
    try:
        return bool(generator.feasible(task))
    except (ConfigError, Fault):  # not a task of this environment, or nobody could say
        return False
