"""`RepetitionPenalty`: a wrong description that is repeated again and again costs something."""

from __future__ import annotations

import hashlib
import heapq
import re
import threading
import unicodedata
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import msgspec

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.core.settling import repetition_term
from agentrl.wrappers.base import AgentWrapper, StepResult, add_term, find_layer
from agentrl.wrappers.reasoning_reward import ReasoningReward

TERM = "repetition"
_NO_WORD = re.compile(r"[\W_]+")


class RepetitionPenalty(AgentWrapper):
    """Takes `penalty` off a turn with a description that is both repetitive and wrong.

    Repetitive: it was among the `top_k` most frequent descriptions of the past when it was written (observations and
    predictions together, compared without regard to case, spaces and, in plain sentences, punctuation). Wrong: the
    judge gave it less than `threshold`. Both must hold, so an agent is free to repeat what is true, and to be wrong in
    a new way. The term `repetition` is there once a turn, whichever and however many descriptions deserve it.

    A description without a verdict is never penalised. While it is pending and repetitive, the term `repetition` is
    pending as well (a description that is already known to be wrong decides at once), and `settle` decides it with the
    verdict; `info["repetition"]` keeps what is needed for that.

    Evaluation never feeds the counter: it is fed only if `training` is True, by default when the environment's split
    is "train". What training has counted still counts in an evaluation that shares its counter.

    Memory is bounded by `capacity` descriptions. The counter is this wrapper's own and part of its snapshot, unless
    `counter` names one that all environments of the process with the same name share. A shared counter belongs to no
    single environment: a snapshot carries it so that another process can continue with it, but restoring does not take
    counts away from the others (it fills a counter that is still empty, and no other).
    """

    needs = "ReasoningReward"

    def __init__(
        self,
        env: gym.Env,
        top_k: int = 10,
        threshold: float = 0.7,
        penalty: float = -0.1,
        counter: str | None = None,
        capacity: int = 4096,
        training: bool | None = None,
    ) -> None:
        numbers = {"top_k": top_k, "threshold": threshold, "penalty": penalty, "capacity": capacity}
        super().__init__(env, **numbers, counter=counter, training=training)
        if find_layer(env, ReasoningReward) is None:
            raise ConfigError("RepetitionPenalty needs the verdicts of a ReasoningReward inside it")
        if find_layer(env, RepetitionPenalty) is not None:
            raise ConfigError("there is a RepetitionPenalty in this stack already")
        self.threshold, self.penalty = finite_number("threshold", threshold), finite_number("penalty", penalty)
        if self.penalty > 0:
            raise ConfigError(f"penalty must be 0 or less; got {penalty!r}")
        if training is not None and not isinstance(training, bool):
            raise ConfigError(
                f"training must be True, False or None (the environment's split decides); got {training!r}"
            )
        self.training = getattr(env.unwrapped, "split", "train") == "train" if training is None else training
        self._own = FrequencyTable(top_k, capacity)
        self.counter = counter
        if counter is not None:
            shared_table(counter, self._own.top_k, self._own.capacity)  # complain now, not in the middle of a rollout

    @property
    def table(self) -> FrequencyTable:
        """The counts that decide what is repetitive."""
        # Looked up each time: a wrapper that was pickled to another process finds the shared table there.
        if self.counter is None:
            return self._own
        return shared_table(self.counter, self._own.top_k, self._own.capacity)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The counts continue from episode to episode."""
        obs, info = self.env.reset(seed=seed, options=options)
        return obs, {**info, TERM: self._facts([])}

    def step(self, action: Any) -> StepResult:
        """Play the turn, look its descriptions up, then count them."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        table = self.table
        said = {request["term"]: normalised(request) for request in info.get("judge_requests", [])}
        info = {**info, TERM: self._facts([term for term, text in said.items() if table.is_frequent(text)])}
        if self.training:
            for text in said.values():
                table.add(text)
        value, open_question = repetition_term(info[TERM], info.get("verdicts", {}))
        if open_question:
            info["pending"] = [*info.get("pending", []), TERM]
        elif value is not None:
            reward, info = add_term(reward, info, TERM, value)
        return obs, reward, terminated, truncated, info

    def _facts(self, frequent: list[str]) -> dict[str, Any]:
        return {"frequent": frequent, "threshold": self.threshold, "penalty": self.penalty}

    # ------------------------------------------------------------------ fork

    def snapshot(self) -> bytes:
        """The counts."""
        return msgspec.msgpack.encode(self.table.to_json())

    def restore(self, blob: bytes) -> None:
        """Go on with these counts (a shared counter: only if it has none yet)."""
        probe = FrequencyTable(self._own.top_k, self._own.capacity)
        try:
            probe.load(msgspec.msgpack.decode(blob))
        except Exception as error:
            raise SnapshotError(f"the snapshot does not fit {type(self).__name__}: {error}") from error
        if self.counter is None or not len(self.table):
            self.table.load(probe.to_json())


def normalised(request: dict[str, Any]) -> str:
    """The description of a request in the form in which it is compared."""
    text = unicodedata.normalize("NFKC", request["text"]).casefold()
    if request.get("representation") == "natural":  # a drawing and a dictionary consist of punctuation
        text = _NO_WORD.sub(" ", text)
    return " ".join(text.split())


# ---------------------------------------------------------------------- which texts come most often


class FrequencyTable:
    """Counts texts and knows the `top_k` most frequent ones at any moment.

    Texts are kept as hashes. When more than `capacity` are known, the rarer half is forgotten (of equally rare ones the
    older), so a text must come again and again to stay. Counts only grow, one at a time: that is why the
    leaders can be kept up to date without sorting anything.
    """

    def __init__(self, top_k: int = 10, capacity: int = 4096) -> None:
        self.top_k = whole_number("top_k", top_k, at_least=1)
        self.capacity = whole_number("capacity", capacity, at_least=2 * self.top_k)
        self._counts: dict[str, int] = {}
        self._leaders: dict[str, int] = {}
        self._lock = threading.Lock()  # environments in several threads may share a table

    def __len__(self) -> int:
        return len(self._counts)

    def count(self, text: str) -> int:
        """How often the text was seen, as far as is remembered."""
        return self._counts.get(_key(text), 0)

    def is_frequent(self, text: str) -> bool:
        """Is it one of the most frequent? What was never seen is not, however few texts there are."""
        return _key(text) in self._leaders

    def add(self, text: str) -> None:
        """Count the text once more."""
        key = _key(text)
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + 1
            if key in self._leaders or len(self._leaders) < self.top_k:
                self._leaders[key] = count
            else:
                last = min(self._leaders, key=self._leaders.__getitem__)
                if count > self._leaders[last]:  # a tie does not unseat anybody
                    del self._leaders[last]
                    self._leaders[key] = count
            if len(self._counts) > self.capacity:
                self._forget_rare()

    def _forget_rare(self) -> None:
        age = {key: index for index, key in enumerate(self._counts)}
        kept = heapq.nlargest(
            self.capacity // 2, self._counts, key=lambda key: (key in self._leaders, self._counts[key], age[key])
        )
        self._counts = {key: self._counts[key] for key in sorted(kept, key=age.__getitem__)}

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        with self._lock:
            return {"counts": dict(self._counts), "leaders": dict(self._leaders)}

    def load(self, data: Mapping[str, Any]) -> None:
        """Inverse of `to_json`; `ValueError` if it cannot be such, and nothing is changed."""
        counts, leaders = _counts(data["counts"]), _counts(data["leaders"])
        if len(counts) > self.capacity or len(leaders) > self.top_k or not leaders.items() <= counts.items():
            raise ValueError("these counts are not from such a table")
        with self._lock:
            self._counts, self._leaders = counts, leaders

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


_SHARED: dict[str, FrequencyTable] = {}
_SHARED_LOCK = threading.Lock()


def shared_table(name: str, top_k: int, capacity: int) -> FrequencyTable:
    """The table of that name in this process; made when first asked for."""
    if not isinstance(name, str) or not name:
        raise ConfigError(f"the name of a shared counter must be a str; got {name!r}")
    with _SHARED_LOCK:
        table = _SHARED.get(name)
        if table is None:
            table = _SHARED[name] = FrequencyTable(top_k, capacity)
    if (table.top_k, table.capacity) != (top_k, capacity):
        raise ConfigError(
            f"counter {name!r} is shared with top_k={table.top_k} and capacity={table.capacity}; use the same here"
        )
    return table


def forget_table(name: str) -> None:
    """Start a shared counter anew (a second training run in one process)."""
    with _SHARED_LOCK:
        _SHARED.pop(name, None)


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _counts(data: Any) -> dict[str, int]:
    fits = isinstance(data, dict) and all(
        isinstance(key, str) and type(count) is int and count > 0 for key, count in data.items()
    )
    if not fits:
        raise ValueError("counts are whole numbers above 0")
    return dict(data)
