"""What an asynchronous run would reach on other machines, by discrete events from measured latencies.

Environments come in batches that are stepped and answered as one; a loop that was measured has batches of one. A batch
is stepped, waits for a generator, is answered, and is stepped again; the trainer takes so many transitions for an
update. Where `turns` are given, batches play episodes: a move that begins one, and one for each answer; they begin as
bounded staleness admits them. All durations are fixed: what is left out is chance, communication between machines, and
that work on one GPU slows other work on it down.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from agentrl.core.errors import ConfigError

Placement = Literal["colocated", "hybrid", "disaggregated"]
UPDATES = 12  # simulated; the first third is not counted


@dataclass(frozen=True)
class Pipeline:
    """A loop of simulators, generators and a trainer; seconds of each, and how they are driven."""

    batches: int  # of environments
    envs: int  # of a batch
    step_seconds: float  # of one step of a batch, for each of those that are stepped in one call
    generate_base: float  # of one call of a generator
    generate_each: float  # of each environment in it
    update_seconds: float
    steps: float  # of every batch, that an update takes
    simulators: int = 0  # which share the batches; 0: one for each
    step_base: float = 0.0  # of one call of a simulator
    max_steps: int = 1  # batches that are stepped in one call
    pinned: bool = False  # a batch has its own simulator
    turns: int = 0  # of an episode; 0: episodes are not looked at
    max_wait: float = 0.0  # seconds that a generator waits for a full call
    generators: int = 1
    max_batches: int = 1  # of environments, that a generator answers together
    rollout_async: bool = True
    train_async: bool = True
    max_staleness: int = 2


@dataclass(frozen=True)
class Outcome:
    """Transitions a second, and the share of the time that each group works."""

    throughput: float
    utilisation: Mapping[str, float]

    @property
    def bottleneck(self) -> str:
        """The group that works most."""
        return max(self.utilisation, key=lambda group: self.utilisation[group])


def simulate(pipeline: Pipeline, updates: int = UPDATES) -> Outcome:
    """Run the loop for some updates."""
    return _Simulation(pipeline).run(updates)


class _Simulation:
    def __init__(self, pipeline: Pipeline) -> None:
        self.p, self.now, self.order = pipeline, 0.0, 0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        simulators = pipeline.simulators or pipeline.batches
        self.work = pipeline.steps * pipeline.batches / (pipeline.turns or 1)  # of an update, as `begun` counts
        self.to_begin = deque(range(pipeline.batches))  # an episode, or a step where there are none
        self.to_step: list[deque[int]] = [deque() for _ in range(simulators if pipeline.pinned else 1)]
        self.free = [1] * simulators if pipeline.pinned else [simulators]
        self.to_answer: deque[tuple[float, int]] = deque()  # since when, and which batch
        self.free_generators = pipeline.generators
        self.answering = 0  # batches that are answered already in a lockstep round, or being answered
        self.answers = [0] * pipeline.batches  # of the episode that each plays
        self.begun = self.done = self.updates = 0  # steps of batches, or episodes; updates
        self.training = False
        self.busy: dict[str, float] = dict.fromkeys(("simulators", "generators", "trainer"), 0.0)

    def run(self, updates: int) -> Outcome:
        """Until so many updates are done."""
        skipped, start, before = updates // 3, 0.0, dict(self.busy)
        self.go_on()
        while self.updates < updates:
            self.now, _, what = heapq.heappop(self.events)
            what()
            if self.updates == skipped and not start:
                start, before = self.now, dict(self.busy)
            self.go_on()
        p, seconds = self.p, self.now - start
        workers = {"simulators": p.simulators or p.batches, "generators": p.generators, "trainer": 1}
        shares = {name: (self.busy[name] - before[name]) / seconds / workers[name] for name in self.busy}
        return Outcome((updates - skipped) * p.steps * p.batches * p.envs / seconds, shares)

    def go_on(self) -> None:
        """Begin whatever can begin now."""
        p, work = self.p, self.work
        if not self.training and self.done >= round((self.updates + 1) * work):
            self.training = True
            self.later(p.update_seconds, "trainer", self.updated)
        ahead = p.max_staleness if p.train_async else 0
        while self.to_begin and self.begun < round((self.updates + 1 + ahead) * work):
            self.begun += 1
            self.inbox(self.to_begin.popleft())
        for place, inbox in enumerate(self.to_step):
            while inbox and self.free[place]:
                self.free[place] -= 1
                taken = [inbox.popleft() for _ in range(min(p.max_steps, len(inbox)))]
                seconds = p.step_base + p.step_seconds * len(taken)
                self.later(seconds, "simulators", lambda taken=taken, place=place: self.stepped(taken, place))
        while self.to_answer and self.free_generators and self.goes():
            taken = [self.to_answer.popleft()[1] for _ in range(min(p.max_batches, len(self.to_answer)))]
            self.free_generators -= 1
            self.answering += len(taken)
            seconds = p.generate_base + p.generate_each * p.envs * len(taken)
            self.later(seconds, "generators", lambda taken=taken: self.answered(taken))

    def goes(self) -> bool:
        """Does a generator answer what waits, or wait for more?"""
        all_wait = len(self.to_answer) + self.answering == self.p.batches - len(self.to_begin)
        if not self.p.rollout_async:
            return all_wait
        late = self.now >= self.to_answer[0][0] + self.p.max_wait
        return late or all_wait or len(self.to_answer) >= self.p.max_batches

    def inbox(self, batch: int) -> None:
        """A batch waits for its simulator."""
        self.to_step[batch % len(self.to_step)].append(batch)

    def stepped(self, taken: Sequence[int], place: int) -> None:
        """Some batches ask, or their episodes are over."""
        self.free[place] += 1
        for batch in taken:
            if self.p.turns and self.answers[batch] == self.p.turns:
                self.answers[batch], self.done = 0, self.done + 1
                self.to_begin.append(batch)
            else:
                self.to_answer.append((self.now, batch))
        if 0 < self.p.max_wait < math.inf:
            self.later(self.p.max_wait, None, lambda: None)

    def answered(self, taken: Sequence[int]) -> None:
        """A generator is free, and its batches are stepped again."""
        self.free_generators += 1
        if self.p.turns:
            self.answering -= len(taken)
            for batch in taken:
                self.answers[batch] += 1
                self.inbox(batch)
            return
        self.done += len(taken)
        if self.p.rollout_async:
            self.answering -= len(taken)
            self.to_begin.extend(taken)
        elif self.answering == self.p.batches:  # in step: nobody goes on before all are answered
            self.answering = 0
            self.to_begin.extend(range(self.p.batches))

    def updated(self) -> None:
        """The trainer is free."""
        self.training, self.updates = False, self.updates + 1

    def later(self, seconds: float, group: str | None, what: Callable[[], None]) -> None:
        """Somebody works for so long; then this happens."""

        def ended() -> None:
            if group is not None:
                self.busy[group] += seconds
            what()

        self.order += 1
        heapq.heappush(self.events, (self.now + seconds, self.order, ended))


# ---------------------------------------------------------------------- GPUs


def placed(one: Pipeline, gpus: int, placement: Placement, share: float = 0.75) -> Pipeline:
    """The loop of one GPU that has everything, on so many GPUs.

    colocated: every GPU has simulators, a generator and a part of the trainer. hybrid: `share` of them have simulators,
    the others generators, and all train. disaggregated: `share` of them have simulators and generators, the others
    train. The environments of a GPU with simulators stay as many; an update takes as many steps of each.
    """
    if placement == "colocated":
        playing, generators, training = gpus, gpus, gpus
    elif placement == "hybrid":
        playing = max(1, round(share * gpus))
        generators, training = gpus - playing, gpus
    else:
        playing = generators = max(1, round(share * gpus))
        training = gpus - playing
    if not generators or not training:
        raise ConfigError(f"{placement} with a share of {share:g} leaves no GPU for the others of {gpus}")
    work = playing / training  # of what one GPU learns from in an update
    several = {"batches": one.batches * playing, "simulators": one.simulators * playing, "generators": generators}
    return replace(one, update_seconds=one.update_seconds * work, **several)


# ---------------------------------------------------------------------- fitting


def fit(shapes: Sequence[Pipeline], measured: Sequence[float], start: tuple[float, float, float]) -> list[float]:
    """Seconds of a step, of a generator for each environment, and of an update, with which the loops of these shapes
    reach the measured throughputs (as near as may be, in the logarithm).

    What is not the bottleneck has no slope, so the search begins at several places.
    """
    target, best = np.log(np.array(measured)), (np.inf, np.log(np.array(start)))

    def missed(x: np.ndarray) -> np.ndarray:
        found = [simulate(with_seconds(shape, np.exp(x)), UPDATES // 2).throughput for shape in shapes]
        return np.log(np.array(found)) - target

    for factors in ((1.0, 1.0, 1.0), (1.0, 1.0, 0.2), (2.0, 0.5, 0.5), (0.5, 2.0, 0.5)):
        found = descend(missed, np.log(np.array(start) * factors))
        best = min(best, found, key=lambda one: one[0])
        if best[0] < 1e-3:
            break
    return [float(value) for value in np.exp(best[1])]


def descend(missed: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> tuple[float, np.ndarray]:
    """By Levenberg and Marquardt's steps: the root mean square of what is missed, and where."""
    now, damping = missed(x), 1e-3
    for _ in range(30):
        slopes = np.stack([(missed(x + step) - now) / 1e-4 for step in 1e-4 * np.eye(len(x))], axis=1)
        move = np.linalg.solve(slopes.T @ slopes + damping * np.eye(len(x)), -slopes.T @ now)
        place = x + np.clip(move, -0.5, 0.5)
        trial = missed(place)
        if np.square(trial).sum() < np.square(now).sum():
            x, now, damping = place, trial, damping / 3
        else:
            damping *= 4
        if math.sqrt(np.square(now).mean()) < 1e-4 or damping > 1e5:
            break
    return math.sqrt(np.square(now).mean()), x


def with_seconds(shape: Pipeline, seconds: Sequence[float] | np.ndarray) -> Pipeline:
    """A shape with the three latencies that `fit` finds."""
    step, each, update = map(float, seconds)
    return replace(shape, step_seconds=step, generate_base=0.0, generate_each=each, update_seconds=update)


# ---------------------------------------------------------------------- what a run has measured


@dataclass(frozen=True)
class Latencies:
    """Of a run's timeline: a call is `base` and `each` for every slot or request in it."""

    step_base: float
    step_each: float
    generate_base: float
    generate_each: float
    update: float
    episodes: float  # of an update
    turns: float  # of an episode

    @property
    def requests(self) -> float:
        """Of an update."""
        return self.episodes * self.turns


def latencies(spans: Sequence[Sequence[Any]]) -> Latencies:
    """From rows of group, worker, begin, end and size; `ConfigError` where a group has not worked."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for group in ("simulators", "generators", "trainer"):
        rows = [(float(r[3]) - float(r[2]), float(r[4])) for r in spans if r[0] == group]
        if not rows:
            raise ConfigError(f"the timeline has no spans of {group}; let the run make a few more updates")
        lines[group] = rows
    fitted = {group: _line(lines[group]) for group in ("simulators", "generators")}
    update = float(np.median([seconds for seconds, _ in lines["trainer"]]))
    moves, requests = (sum(size for _, size in lines[group]) for group in ("simulators", "generators"))
    # An episode has one move more than it has requests. (Those of an update would be too many: rollouts run ahead.)
    turns = max(1.0, requests / max(1.0, moves - requests))
    episodes = float(np.mean([size for _, size in lines["trainer"]]))
    return Latencies(*fitted["simulators"], *fitted["generators"], update, episodes, turns)


def _line(rows: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Base and slope by least squares, neither below 0."""
    seconds, sizes = np.array(rows).T
    if len(set(sizes.tolist())) < 2:  # the mean, as the line keeps it, too: calls that begin episodes cost less
        return 0.0, float(seconds.sum() / max(1.0, sizes.sum()))
    slope, base = np.polyfit(sizes, seconds, 1)
    if base < 0 or slope < 0:
        each = float((seconds @ sizes) / (sizes @ sizes))
        return (0.0, each) if base < 0 else (float(seconds.mean()), 0.0)
    return float(base), float(slope)


def measured_loop(
    timeline: Any, *, num_envs: int, simulator_batch: int, max_batch: int, max_wait: float, max_staleness: int
) -> tuple[Pipeline, Latencies, float]:
    """The loop that a run's timeline shows, its latencies, and the requests of trained episodes that it answered a
    second, between the first and the last of its updates."""
    workers, spans, marks = (getattr(timeline, name) for name in ("workers", "spans", "updates"))
    if len(marks) < 3:
        raise ConfigError(f"the timeline must show three updates at least; got {len(marks)}")
    if spans and min(span[2] for span in spans) > marks[0][0]:  # the oldest are forgotten
        marks = [mark for mark in marks if mark[0] >= min(span[2] for span in spans)]
    begin, end = marks[0][0], marks[-1][0]
    found = latencies([span for span in spans if span[2] >= begin and span[3] <= end])
    rate = found.requests * (len(marks) - 1) / (end - begin)
    loop = loop_of(
        found,
        simulators=workers["simulators"],
        generators=workers["generators"],
        num_envs=num_envs,
        simulator_batch=simulator_batch,
        max_batch=max_batch,
        max_wait=max_wait,
    )
    return replace(loop, max_staleness=max_staleness, train_async=max_staleness > 0), found, rate


def loop_of(
    found: Latencies,
    *,
    simulators: int,
    generators: int,
    num_envs: int,
    simulator_batch: int,
    max_batch: int,
    max_wait: float,
) -> Pipeline:
    """A loop with these latencies and options; `max_wait` in seconds."""
    turns = max(1, round(found.turns))
    return Pipeline(
        batches=num_envs,
        envs=1,
        step_seconds=found.step_each,
        step_base=found.step_base,
        generate_base=found.generate_base,
        generate_each=found.generate_each,
        update_seconds=found.update,
        steps=found.episodes * turns / num_envs,
        simulators=min(simulators, num_envs),
        generators=generators,
        max_steps=max(1, simulator_batch),
        max_batches=max(1, max_batch),
        max_wait=max_wait,
        pinned=True,
        turns=turns,
    )


def propose(
    found: Latencies, *, simulators: int, generators: int, num_envs: int, max_staleness: int
) -> list[tuple[dict[str, float], Outcome]]:
    """Options of a run with their outcomes, the best first; of those that are within a hundredth, the fewest slots and
    the largest batches."""
    wait = min(50.0, max(1.0, round(1000 * found.generate_base, 1)))  # longer never pays: a call costs no more
    tried = []
    for envs in (max(1, num_envs // 2), num_envs, 2 * num_envs, 4 * num_envs):
        for parts in (1, 2, 4, 8):
            shard = max(1, envs // (max(simulators, 1) * parts))
            for batch in sorted({shard * count for count in (1, 2, 4, 8) if shard * count <= envs}):
                given = {"num_envs": envs, "simulator_batch": shard, "max_batch": batch}
                crew = {"simulators": simulators, "generators": generators, "max_wait": wait / 1000}
                loop = replace(
                    loop_of(found, **given, **crew), max_staleness=max_staleness, train_async=max_staleness > 0
                )
                tried.append(({**given, "max_wait_ms": wait}, simulate(loop, UPDATES // 2)))
    best = max(outcome.throughput for _, outcome in tried)
    near = [one for one in tried if one[1].throughput > 0.99 * best]
    return sorted(near, key=lambda one: (one[0]["num_envs"], -one[0]["max_batch"]))
