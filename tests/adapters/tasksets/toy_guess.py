"""A taskset of verifiers with an environment that talks for several turns, without end."""

from __future__ import annotations

import itertools

import verifiers.v1 as vf


class GuessData(vf.TaskData):
    """The number to find."""

    number: int


class GuessTask(vf.Task[GuessData, vf.State, vf.TaskConfig]):
    """No reward of its own."""


class GuessEnvConfig(vf.EnvConfig):
    """One agent."""

    player: vf.AgentConfig = vf.AgentConfig()


class GuessEnv(vf.Env[GuessEnvConfig]):
    """Higher or lower, until the number is found."""

    async def run(self, task, agents):
        """An episode."""
        found = False
        async with agents.player.interaction(task) as talk:
            segment = await talk.turn("Guess a number below 100.")
            while not segment.terminated and not found:
                if segment.last_reply == "break":
                    raise RuntimeError("the environment broke")
                guess = int(segment.last_reply)
                found = guess == task.data.number
                if not found:
                    segment = await talk.turn("higher" if guess < task.data.number else "lower")
        talk.trace.record_reward("found", float(found), 1.0)


class GuessTaskset(vf.Taskset[GuessTask, vf.TasksetConfig]):
    """Never ends."""

    INFINITE = True

    def load(self):
        """Numbers that follow from the position."""
        for index in itertools.count():
            yield GuessTask(GuessData(prompt=None, number=index * 37 % 100), self.config.task)


__all__ = ["GuessEnv", "GuessTaskset"]
