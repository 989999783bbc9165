"""Plays an environment through an MCP client as the oracle of a local twin would."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from mcp import Client

from agentrl.rollout.episode import make

SEEDS = range(7, 27)  # scripted experts of robots fail from some starts


class Episode(NamedTuple):
    """What the oracle does from a seed, and what comes of it."""

    seed: int
    actions: list[str]
    texts: list[str]  # of the observations after each action
    rewards: list[float]


def solved_episode(env_id: str, **kwargs: Any) -> Episode:
    """The first one of `SEEDS` that the oracle solves."""
    env = make(env_id, **kwargs)
    try:
        for seed in SEEDS:
            env.reset(seed=seed)
            episode, over = Episode(seed, [], [], []), False
            while not over and (action := env.unwrapped.oracle()) is not None:
                observation, reward, terminated, truncated, info = env.step(action)
                episode.actions.append(action)
                episode.texts.append(observation["text"])
                episode.rewards.append(float(reward))
                over = terminated or truncated
            if over and info["success"]:
                return episode
    finally:
        env.close()
    raise AssertionError(f"the oracle solves {env_id} from none of the seeds {SEEDS}")


async def call(client: Client, tool: str, **arguments: Any) -> tuple[list[Any], dict[str, Any]]:
    """What a tool shows, and the facts at the end."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.content[:-1], json.loads(result.content[-1].text)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The error that a tool gives."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    return result.content[0].text


async def play(client: Client, episode: Episode) -> dict[str, Any]:
    """Play a solved episode again: every text and reward must be that of the twin. Gives the last facts."""
    seen, facts = await call(client, "reset", seed=episode.seed)
    name = facts["episode"]
    for action, text, reward in zip(episode.actions, episode.texts, episode.rewards, strict=True):
        assert facts["over"] is False
        seen, facts = await call(client, "step", episode=name, action=action)
        shown = "".join("<image>" if part.type == "image" else part.text for part in seen)
        assert shown == text and facts["reward"] == reward and facts["episode"] == name
    assert facts["over"] and facts["success"]
    return facts
