"""Judging afterwards: pending terms in bulk, or everything again by another judge.

Playing never waits for a judge: a step carries the requests it wants judged (`info["judge_requests"]`, see
`agentrl.wrappers.ReasoningReward`). Here they are collected over many trajectories, asked once each however often they
occur, in batches, and entered as they come in. What a judge does not answer stays pending, with the reason: calling
again later settles the rest. `Settler` does so in a thread while other episodes are still being played.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import msgspec

from agentrl.core.arguments import whole_number
from agentrl.core.env_class import state_type_of
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import ChecksEnv, Judge, JudgeRequest, Purpose, Verdict
from agentrl.core.secrecy import scrub
from agentrl.core.settling import outcome_term, repetition_term
from agentrl.core.specs import resolve
from agentrl.core.verdicts import Answer, ask, fault_json, verdict_json
from agentrl.rollout.trajectory import Step, Trajectory, plain

BATCH = 1024
REPETITION = "repetition"


@dataclass
class Report:
    """What a round of judging did. `requests` occur in the steps, `distinct` of them were asked."""

    requests: int = 0
    distinct: int = 0
    judged: int = 0  # of the requests
    faults: int = 0  # of the requests: asked, and still pending
    settled: int = 0  # trajectories that have a reward now and had none before
    pending: int = 0  # trajectories that still wait for a term
    cost: float = 0.0
    seconds: float = 0.0
    first_fault: str = ""  # what the judge said instead of its first missing verdict

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


class StoredRequest(msgspec.Struct):
    """A request as a step carries it."""

    id: str
    env_id: str
    purpose: Purpose
    text: str
    state: dict[str, Any]
    term: str
    weight: Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
    representation: str = "natural"
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None  # of outcomes: all or nothing

    def to_request(self) -> JudgeRequest:
        """What a judge gets to see."""
        return JudgeRequest(self.id, self.env_id, self.purpose, self.text, self.state, self.representation)

    @property
    def content(self) -> str:
        """Equal for requests that ask the same, wherever they come from."""
        return json.dumps([self.env_id, self.purpose, self.text, self.state, self.representation], sort_keys=True)


class StoredVerdict(msgspec.Struct):
    """The part of a verdict that counts."""

    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


class StoredRepetition(msgspec.Struct):
    """What `RepetitionPenalty` knew when the step was played."""

    frequent: list[str]
    threshold: float
    penalty: float


class StoredJudging(msgspec.Struct):
    """What a step's info says about judging; reading it checks the types, since files can hold anything."""

    judge_requests: list[StoredRequest] = []
    verdicts: dict[str, StoredVerdict] = {}
    judge_faults: dict[str, dict[str, Any]] = {}
    repetition: StoredRepetition | None = None


def settle(
    trajectories: Sequence[Trajectory],
    judge: Any,
    *,
    batch_size: int = BATCH,
    again: bool = False,
    on_batch: Callable[[int, Report], Any] | None = None,
) -> Report:
    """Have all pending requests judged and fill in terms and rewards, in place.

    `judge` is a JSON spec or an object. With `again=True` requests that have a verdict are judged anew as well; where
    the judge then fails, the old verdict is gone and the term pending, because a file should hold one judge's word.
    `on_batch` is told after every batch how many distinct requests it held, and what has come of all so far.
    """
    size = whole_number("batch_size", batch_size, at_least=1)
    round_ = _Round(trajectories, resolve("judge", judge), again)
    try:
        for batch in round_.batches(size):
            round_.enter(batch, ask(round_.judge, [stored.to_request() for stored in batch]))
            if on_batch is not None:
                on_batch(len(batch), round_.report)
    finally:  # also after an interrupt: what has been judged is kept
        report = round_.finish()
    return report


def judging_of(step: Step) -> StoredJudging:
    """The requests of a step, pending and judged, and the verdicts; `ConfigError` if it holds something else there."""
    try:
        return msgspec.convert(step.info, StoredJudging)
    except msgspec.ValidationError as error:
        raise ConfigError(f"a step holds requests or verdicts that cannot be read: {error}") from error


def check_judge(judge: Any, trajectories: Sequence[Trajectory]) -> None:
    """`ConfigError` where a judge says of every environment in the trajectories that it cannot score it."""
    if not isinstance(judge, ChecksEnv):
        return
    asked: dict[tuple[str, str], dict[Purpose, None]] = {}
    for step in (step for trajectory in trajectories for step in trajectory.steps):
        for stored in judging_of(step).judge_requests:
            asked.setdefault((stored.env_id, stored.representation), {})[stored.purpose] = None
    refusals = []
    for (env_id, representation), purposes in asked.items():
        try:
            judge.check_env(env_id, state_type_of(env_id).claims(), representation, tuple(purposes))
        except JudgeFault:  # an environment that is not known here: its requests say so one by one
            return
        except ConfigError as error:
            refusals.append(error)
    if asked and len(refusals) == len(asked):
        raise refusals[0]


class _Round:
    """One pass over the trajectories: where each distinct request occurs, and what came of it."""

    def __init__(self, trajectories: Sequence[Trajectory], judge: Judge, again: bool) -> None:
        self.judge, self._trajectories, self._started = judge, trajectories, time.perf_counter()
        self._unknown = [trajectory.reward is None for trajectory in trajectories]
        self._places: dict[str, list[tuple[Step, StoredRequest]]] = {}
        for trajectory in trajectories:
            for step in trajectory.steps:
                for stored in judging_of(step).judge_requests:
                    if again or stored.term in step.pending:
                        self._places.setdefault(stored.content, []).append((step, stored))
        self.report = Report(requests=sum(map(len, self._places.values())), distinct=len(self._places))

    def batches(self, size: int) -> Iterator[list[StoredRequest]]:
        """The distinct requests, `batch_size` at a time."""
        distinct = [places[0][1] for places in self._places.values()]
        return (distinct[start : start + size] for start in range(0, len(distinct), size))

    def enter(self, batch: Sequence[StoredRequest], answers: Sequence[Answer]) -> None:
        """Fill the answers of a batch in, wherever they were asked for."""
        for asked, answer in zip(batch, answers, strict=True):
            places = self._places[asked.content]
            for step, stored in places:
                _enter(step, stored, answer)
            if isinstance(answer, Verdict):
                self.report.judged += len(places)
                self.report.cost += answer.cost
            else:
                self.report.faults += len(places)
                self.report.first_fault = self.report.first_fault or str(scrub(str(answer)))

    def finish(self) -> Report:
        """Add the trajectories up."""
        for trajectory, unknown in zip(self._trajectories, self._unknown, strict=True):
            if trajectory.add_up() is not None and unknown:
                self.report.settled += 1
            self.report.pending += trajectory.pending
        self.report.seconds = time.perf_counter() - self._started
        return self.report


def _enter(step: Step, stored: StoredRequest, answer: Answer) -> None:
    term = stored.term
    # First back to the moment before anybody judged: the term is owed, and a repetition that hung on it too.
    step.info["verdicts"] = {name: said for name, said in step.info.get("verdicts", {}).items() if name != term}
    step.info["judge_faults"] = {name: why for name, why in step.info.get("judge_faults", {}).items() if name != term}
    step.set_terms({name: value for name, value in step.reward_terms.items() if name != term})
    if term not in step.pending:
        step.pending = [*step.pending, term]
    _decide_repetition(step)
    if not isinstance(answer, Verdict):
        step.info["judge_faults"] = {**step.info["judge_faults"], term: fault_json(answer)}
        return
    step.info["verdicts"] = {**step.info["verdicts"], term: plain(verdict_json(answer))}
    step.pending = [name for name in step.pending if name != term]
    step.set_terms({**step.reward_terms, term: outcome_term(stored.weight, answer.score, stored.threshold)})
    _decide_repetition(step)


def _decide_repetition(step: Step) -> None:
    """What `RepetitionPenalty` would have said, had it known these verdicts."""
    facts = step.info.get(REPETITION)
    if facts is None:
        return
    value, open_question = repetition_term(facts, step.info["verdicts"])
    others = {name: term for name, term in step.reward_terms.items() if name != REPETITION}
    step.set_terms(others if value is None else {**others, REPETITION: value})
    owed = [name for name in step.pending if name != REPETITION]
    step.pending = [*owed, REPETITION] if open_question else owed


class Settler:
    """Takes trajectories with pending terms, settles them in the background, gives them back.

    What waits is asked in one go, so that a slow judge gets large batches. An outage leaves terms pending; only a wrong
    configuration raises, in `done` or `wait`, and every trajectory comes back all the same.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._asked: queue.SimpleQueue[tuple[int, Trajectory] | None] = queue.SimpleQueue()
        self._settled: queue.SimpleQueue[tuple[int, Trajectory]] = queue.SimpleQueue()
        self._open, self._closed = 0, False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="judge", daemon=True)
        self._thread.start()

    def add(self, index: int, trajectory: Trajectory) -> None:
        """Have this one settled."""
        self._open += 1
        self._asked.put((index, trajectory))

    def done(self) -> list[tuple[int, Trajectory]]:
        """Those that came back since the last look; never waits."""
        found = []
        while not self._settled.empty():
            found.append(self._settled.get())
        self._open -= len(found)
        self._complain()
        return found

    def wait(self) -> tuple[list[tuple[int, Trajectory]], float]:
        """All others, and the seconds it took to wait for them."""
        started = time.perf_counter()
        found = [self._settled.get() for _ in range(self._open)]
        self._open = 0
        self._complain()
        return found, time.perf_counter() - started

    def close(self) -> None:
        """Ask nothing more: what still waits stays pending, and running requests are not waited for."""
        self._closed = True
        self._asked.put(None)

    def _complain(self) -> None:
        if self._error is not None:
            raise self._error

    def _serve(self) -> None:
        while (first := self._asked.get()) is not None and not self._closed:
            batch = [first]
            while not self._asked.empty() and (more := self._asked.get()) is not None:
                batch.append(more)
            try:
                settle([trajectory for _, trajectory in batch], self._judge)
            except BaseException as error:
                self._error = error
            for one in batch:
                self._settled.put(one)
            if self._closed:
                return
