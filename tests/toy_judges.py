"""Judges for tests: one that is right about grids, and several that fail in their own way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.envs.grid.frozenlake import FrozenLakeState
from agentrl.envs.grid.sokoban import SokobanState
from agentrl.wrappers.reasoning import describe


class Toy:
    """Asynchronous is the same as synchronous."""

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Any]:
        return self.score_sync(requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Any]:
        return [self.one(request) for request in requests]

    def one(self, request: JudgeRequest) -> Any:
        raise NotImplementedError


def truth(request: JudgeRequest) -> str:
    """What a gold reply says about the state of a request."""
    kind = SokobanState if "Sokoban" in request.env_id else FrozenLakeState
    return describe(kind(tuple(request.state["rows"])), request.representation)


class Exact(Toy):
    """1 for exactly what gold says, 0 otherwise."""

    def one(self, request: JudgeRequest) -> Verdict:
        return Verdict(float(request.text == truth(request).strip()), "exact", {"truth": truth(request)}, cost=0.25)


class Constant(Toy):
    """The same score for everybody; the spec can say which."""

    def __init__(self, value: float = 0.5) -> None:
        self.value = value

    def one(self, request: JudgeRequest) -> Verdict:
        return Verdict(self.value, "constant")


class ByLength(Toy):
    """A score that depends on the text and nothing else."""

    def one(self, request: JudgeRequest) -> Verdict:
        return Verdict((len(request.text) % 11) / 10, "length")


class Down(Toy):
    """An outage; the message quotes what it should not."""

    def one(self, request: JudgeRequest) -> JudgeFault:
        return JudgeFault("503 from the endpoint, Authorization: Bearer canary-4711-canary")


class Raising(Toy):
    """Breaks instead of answering."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error or RuntimeError("socket closed")

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Any]:
        raise self.error


class Says(Toy):
    """Answers each request with whatever it was given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def one(self, request: JudgeRequest) -> Any:
        return self.answer


class Short(Toy):
    """Loses an answer."""

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Any]:
        return [Verdict(1.0, "short")] * (len(requests) - 1)


class Counting(Exact):
    """Remembers what it was asked, batch by batch."""

    batches: ClassVar[list[list[JudgeRequest]]] = []

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Any]:
        type(self).batches.append(list(requests))
        return super().score_sync(requests)


class Flaky(Exact):
    """Fails on the first request it has not failed on yet, then answers."""

    def __init__(self, failures: int = 1) -> None:
        self.failures = failures

    def one(self, request: JudgeRequest) -> Any:
        if self.failures:
            self.failures -= 1
            return JudgeFault("try again")
        return super().one(request)


class OftenAway(Toy):
    """Answers about half of the requests; which ones depends on them and on how many they are, and on nothing else."""

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Any]:
        numbers = [sum(request.id.encode()) for request in requests]
        answers = [Verdict(float(number % 4 > 1), "number") for number in numbers]
        away = JudgeFault("come back later")
        return [one if (n + len(numbers)) % 2 else away for n, one in zip(numbers, answers, strict=True)]


class Keyed(Exact):
    """Takes a key, as a judge behind an endpoint would."""

    def __init__(self, api_key: str = "") -> None:
        self.api_key = api_key
