"""Any Text or Visual environment as a task of inspect-ai, to evaluate models that it can reach and look at its viewer.

    # sokoban.py: `inspect eval sokoban.py --model openai/gpt-5`, then `inspect view`
    from agentrl.adapters.inspect_ai import environment
    from inspect_ai import task

    @task
    def sokoban(episodes: int = 20):
        return environment("agentrl/Sokoban-Visual-v0", episodes)

It runs where inspect-ai is installed, a virtual environment of its own. A sample is an episode: with the same seed and
split those of `agentrl eval`. A fault of an environment is the sample's error, never a score.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportCallIssue=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentrl.adapters.chat import ChatEpisode, ChatMessage
from agentrl.core.errors import MissingLibrary
from agentrl.core.seeding import episode_seed

try:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        Content,
        ContentImage,
        ContentReasoning,
        ContentText,
    )
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
except ImportError as error:
    raise MissingLibrary("inspect-ai", "inspect-ai==0.3.285 openai") from error


def environment(
    env_id: str, episodes: int = 100, seed: int = 0, split: str = "test", env_kwargs: dict[str, Any] | None = None
) -> Task:
    """`episodes` episodes of an environment, scored by success and by reward."""
    seeds = [episode_seed(seed, index) for index in range(episodes)]
    return of_seeds(env_id, seeds, {"split": split, **(env_kwargs or {})})


def of_seeds(env_id: str, seeds: Sequence[int], env_kwargs: dict[str, Any] | None = None) -> Task:
    """The task that plays exactly these seeds."""
    samples = [Sample(input=f"{env_id}, seed {seed}", id=seed, metadata={"seed": seed}) for seed in seeds]
    return Task(
        dataset=MemoryDataset(samples, name=env_id), solver=play(env_id, env_kwargs), scorer=[success(), reward()]
    )


@solver
def play(env_id: str, env_kwargs: dict[str, Any] | None = None) -> Solver:
    """The episode of a sample's seed: the model answers until it is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode, actions = ChatEpisode(env_id, env_kwargs), list[str]()
        try:
            state.messages = [_message(one) for one in await episode.reset_async(state.metadata["seed"])]
            while not episode.over:
                state = await generate(state)
                actions.append(_answer(state.output.message))
                state.messages += [_message(one) for one in await episode.step_async(actions[-1])]
        finally:
            episode.close()
        ends = {"terminated": episode.terminated, "truncated": episode.truncated}
        state.metadata |= {"actions": actions, "rewards": episode.rewards, "success": episode.success, **ends}
        state.completed = True
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def success() -> Scorer:
    """Was the task solved?"""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=float(state.metadata["success"]))

    return score


@scorer(metrics=[mean(), stderr()])
def reward() -> Scorer:
    """The sum over the turns; those of each turn are in its metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        rewards = state.metadata["rewards"]
        return Score(value=sum(rewards), metadata={"rewards": rewards})

    return score


def _answer(message: ChatMessageAssistant) -> str:
    """What the model wrote: inspect-ai takes `<think>` out of replies."""
    parts = [] if isinstance(message.content, str) else message.content
    return "".join(part.text for part in parts if isinstance(part, ContentReasoning)) + message.text


def _message(message: ChatMessage) -> ChatMessageSystem | ChatMessageUser:
    """A message in OpenAI's form as one of inspect-ai's."""
    kind, content = {"system": ChatMessageSystem, "user": ChatMessageUser}[message["role"]], message["content"]
    if isinstance(content, str):
        return kind(content=content)
    parts: list[Content] = [
        ContentText(text=part["text"]) if part["type"] == "text" else ContentImage(image=part["image_url"]["url"])
        for part in content
    ]
    return kind(content=parts)
