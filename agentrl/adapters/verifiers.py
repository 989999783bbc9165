"""Every Text and Visual environment as a taskset of verifiers 0.4, with the environment in which it is played.

    vf-eval agentrl-verifiers --env.taskset.env-id agentrl/Sokoban-Visual-v0 -n 8 -m MODEL --no-push

`agentrl_verifiers` is the module by which verifiers finds both. A task is a seed; the environment is the user of the
conversation and its rules are the system prompt. The reward of an episode is the reward `env` of its trace, `success` a
metric; the rewards of its turns and how it ended are in the trace's `info`. The model is asked by verifiers' own chat
loop, in a local process unless you choose its cloud. A fault of an environment is an error of the episode, not a score.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from agentrl.adapters.chat import ChatEpisode
from agentrl.core.errors import MissingLibrary

try:
    import verifiers.v1 as vf  # pyright: ignore
except ImportError as error:
    raise MissingLibrary("verifiers", "verifiers==0.4.0 uv") from error


class AgentRLConfig(vf.TasksetConfig):
    """Which environment, and the seed of the first task."""

    env_id: str = ""
    env_kwargs: dict[str, Any] = {}
    wrappers: list[dict[str, Any]] = []
    first_seed: int = 0


class AgentRLData(vf.TaskData):
    """What tells a task from the others."""

    seed: int


class AgentRLTask(vf.Task[AgentRLData, vf.State, vf.TaskConfig]):
    """One episode; the environment scores it."""


class AgentRLTaskset(vf.Taskset[AgentRLTask, AgentRLConfig]):
    """A task for every seed."""

    INFINITE = True

    def load(self) -> Iterator[AgentRLTask]:
        """The tasks in the order of their seeds."""
        for seed in itertools.count(self.config.first_seed):
            data = AgentRLData(id=str(seed), name=f"{self.config.env_id}#{seed}", prompt=None, seed=seed)
            yield AgentRLTask(data, self.config.task)


class AgentRLEnvConfig(vf.EnvConfig):
    """The one who plays, as any agent of verifiers: `--env.player.model`, `--env.player.harness.id` ..."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class AgentRLEnv(vf.Env[AgentRLEnvConfig]):
    """Plays the environment of the taskset with the player's answers."""

    async def run(self, task: AgentRLTask, agents: Any) -> None:
        """One episode."""
        about = self.config.taskset
        episode = ChatEpisode(about.env_id, about.env_kwargs, about.wrappers)
        try:
            *rules, seen = await episode.reset_async(task.data.seed)
            if rules and task.data.system_prompt is None:  # a run may give its own
                task = task.with_data(system_prompt=rules[0]["content"])
            async with agents.player.interaction(task) as talk:
                messages = [seen]
                while not episode.over:
                    segment = await talk.turn(messages)
                    if segment.terminated:  # a limit of the run
                        break
                    messages = await episode.step_async(segment.messages[-1].content or "")
                talk.trace.record_reward("env", episode.reward)
                talk.trace.record_metric("success", float(episode.success))
                ends = {"terminated": episode.terminated, "truncated": episode.truncated, "success": episode.success}
                talk.trace.info |= {"turn_rewards": episode.rewards, **ends}
        finally:
            episode.close()


__all__ = ["AgentRLEnv", "AgentRLTaskset"]  # verifiers wants one of each
