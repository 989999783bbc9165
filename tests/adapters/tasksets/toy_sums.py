"""A taskset of verifiers as its users write them: one question, one answer, two rewards and a metric."""

from __future__ import annotations

import verifiers.v1 as vf


class SumsConfig(vf.TasksetConfig):
    """How many numbers a question has."""

    numbers: int = 2


class SumsData(vf.TaskData):
    """A question's answer."""

    answer: str


class SumsTask(vf.Task[SumsData, vf.State, vf.TaskConfig]):
    """The sum, and a little for being short."""

    @vf.reward
    async def right(self, task: SumsData, trace: vf.Trace) -> float:
        """Is it the sum?"""
        return float(trace.last_reply == task.answer)

    @vf.reward(weight=0.5)
    async def short(self, trace: vf.Trace) -> float:
        """Is it nothing but a number?"""
        return float(trace.last_reply.isdigit())

    @vf.metric
    async def length(self, trace: vf.Trace) -> float:
        """Characters."""
        return len(trace.last_reply)


class SumsTaskset(vf.Taskset[SumsTask, SumsConfig]):
    """Thirty sums."""

    def load(self):
        """One after the other."""
        for first in range(30):
            numbers = list(range(first, first + self.config.numbers))
            question = " + ".join(map(str, numbers)) + " ="
            data = SumsData(prompt=question, system_prompt="Answer with a number.", answer=str(sum(numbers)))
            yield SumsTask(data, self.config.task)


__all__ = ["SumsTaskset"]
