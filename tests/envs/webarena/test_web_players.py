"""The baseline searches once, follows links whose words the instruction has, and ends with a guess from the page."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentrl  # noqa: F401 (registers the environments)
from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.acting.actions import Action
from agentrl.envs.webarena.players import Memory, NaiveBrowser, naive_action
from agentrl.policies import load_policy
from tests.envs.webarena.web_views import view_of

PAGE = """<nav><a act href="/">Home</a><a act href="/orders">My orders</a></nav>
<input act type="text" name="q" placeholder="Search the shop"><button act>Go</button>
<a act href="/chairs">All chairs of the shop</a><a act href="/oak">Oak chairs</a>
<p>12 chairs are red.</p><p>There are 7 oak chairs in stock.</p>"""
INSTRUCTION = 'How many "Oak Chairs" are in stock?'


def test_it_searches_once_then_follows_the_best_link_then_guesses():
    view, memory = view_of(PAGE), Memory()
    actions = [naive_action(view, INSTRUCTION, memory) for _ in range(4)]
    assert actions == [
        Action("search", 2, "Oak Chairs"),
        Action("click", 5),  # has two words of the instruction
        Action("click", 4),
        Action("exit", text="7"),
    ]


def test_without_anything_that_fits_it_gives_up_with_a_line_of_the_page():
    view = view_of("<a act href='/'>Home</a><p>Nothing to see.</p>")
    assert naive_action(view, "Which colour is it?", Memory()) == Action("exit", text="Nothing to see.")
    assert naive_action(view_of("<p></p>"), "How many?", Memory()) == Action("exit", text="")


@pytest.mark.parametrize("grammar", ["webrl", "webarena", "browsergym"])
def test_it_plays_whole_episodes_alike_every_time(grammar):
    env = gym.make("agentrl/WebArenaLite-Text-v0", action_format=grammar)
    policy = load_policy("webarena-naive")
    played = []
    for _ in range(2):
        _, info = env.reset(seed=3)
        actions, over = [], False
        while not over:
            action = policy.act([[]], [env])[0].text
            *_, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            actions.append(action)
            assert info["valid"]
        played.append(actions)
    assert played[0] == played[1]
    assert 1 < len(played[0]) < 30
    env.close()


def test_other_environments_are_refused():
    env = gym.make("agentrl/FrozenLake-Text-v0")
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="webarena-naive policy needs a WebArena-Lite environment; got FrozenLakeEnv"):
        NaiveBrowser().act([[]], [env])
