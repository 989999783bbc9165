"""`RepetitionPenalty`: a wrong description that is repeated again and again costs something."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import gymnasium as gym
import msgspec

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.core.settling import repetition_term
from agentrl.wrappers.base import AgentWrapper, StepResult, add_term, find_layer
from agentrl.wrappers.frequency import FrequencyTable, shared_table
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
        self.training = _training(env, training)
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


def _training(env: gym.Env, training: Any) -> bool:
    if training is None:
        return getattr(env.unwrapped, "split", "train") == "train"
    if not isinstance(training, bool):
        raise ConfigError(f"training must be True, False or None (the environment's split decides); got {training!r}")
    return training
