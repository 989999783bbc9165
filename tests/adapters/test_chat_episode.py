"""An episode as a chat: the same episode as our collector's, with pictures, in a thread, and over when it is over."""

from __future__ import annotations

import asyncio
import threading

import gymnasium as gym
import pytest

from agentrl.adapters.chat import ChatEpisode
from agentrl.core.errors import ConfigError
from agentrl.rollout.prompts import rules_of
from tests.adapters.library_check import ENV_KWARGS, SEEDS, TEXT, VISUAL, Episode, answer, compare, play, shown_in


def outcome(episode, seed, actions, messages):
    return Episode(
        seed=seed,
        actions=actions,
        reward=episode.reward,
        rewards=episode.rewards,
        terminated=episode.terminated,
        truncated=episode.truncated,
        success=episode.success,
        shown=shown_in(messages),
    )


def played(episode, seed):
    messages, actions = episode.reset(seed), []
    while not episode.over:
        actions.append(answer(seed, len(actions)))
        messages += [{"role": "assistant", "content": actions[-1]}, *episode.step(actions[-1])]
    return outcome(episode, seed, actions, messages)


@pytest.mark.parametrize("env_id", [TEXT, VISUAL])
def test_the_episodes_are_those_of_the_collector(env_id):
    episode = ChatEpisode(env_id, ENV_KWARGS)  # one environment for all: every reset begins anew
    assert {"rewards", "shown"} < compare([played(episode, seed) for seed in SEEDS], play(env_id))
    episode.close()


def test_the_chat_begins_with_the_rules_and_wrappers_change_them():
    plain, thinking = ChatEpisode(TEXT, ENV_KWARGS), ChatEpisode(TEXT, ENV_KWARGS, [{"wrapper": "Reasoning"}])
    rules = [episode.reset(0)[0] for episode in (plain, thinking)]
    assert rules[0] == {"role": "system", "content": rules_of(gym.make(TEXT, **ENV_KWARGS))}
    assert rules[1]["content"] != rules[0]["content"] and plain.reset(0)[1]["role"] == "user"


def test_nothing_can_be_answered_before_the_beginning_and_after_the_end():
    episode = ChatEpisode(TEXT, ENV_KWARGS)
    with pytest.raises(ConfigError, match="call reset"):
        episode.step("Up")
    played(episode, 2)
    assert episode.over and not episode.success and len(episode.rewards) == 2
    with pytest.raises(ConfigError, match="the episode is over"):
        episode.step("Up")
    assert len(episode.rewards) == 2 and len(episode.reset(2)) == 2 and episode.rewards == [] and not episode.over


def test_the_environment_works_in_a_thread_while_the_loop_goes_on():
    where = set()

    class Noted(gym.Wrapper):
        def reset(self, **kwargs):
            where.add(threading.current_thread())
            return super().reset(**kwargs)

        def step(self, action):
            where.add(threading.current_thread())
            return super().step(action)

    async def play_async(seed):
        episode, actions = ChatEpisode(TEXT, ENV_KWARGS), []
        episode.env = Noted(episode.env)
        messages = await episode.reset_async(seed)
        while not episode.over:
            actions.append(answer(seed, len(actions)))
            messages += await episode.step_async(actions[-1])
        return outcome(episode, seed, actions, messages)

    async def all_at_once():
        return await asyncio.gather(*map(play_async, SEEDS))

    compare(asyncio.run(all_at_once()), play(TEXT))
    assert where and threading.main_thread() not in where
