"""A person at the keyboard."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.policies.human import HumanPolicy, printable, read_action
from agentrl.wrappers import ActionChunks
from tests.toy_control import PuckEnv


def person(*lines):
    """A policy that reads these lines, and the list of what it shows."""
    shown, waiting = [], list(lines)

    def read(_):
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    return HumanPolicy(read=read, show=shown.append), shown


def test_a_line_is_the_action_and_rules_are_shown_once():
    policy, shown = person("Up, Left", "Down")
    start = [{"role": "system", "content": "the rules"}, {"role": "user", "content": "Turn 1"}]
    (answer,) = policy.act([start])
    assert (answer.text, answer.action) == ("Up, Left", "Up, Left")
    policy.act([[*start, {"role": "assistant", "content": "Up, Left"}, {"role": "user", "content": "Turn 2"}]])
    assert [text.strip() for text in shown] == ["the rules", "Turn 1", "Turn 2"]


def test_the_end_of_the_input_is_a_fault_and_not_an_answer():
    policy, _ = person()
    with pytest.raises(EngineFault, match="input ended"):
        policy.act([[{"role": "user", "content": "?"}]])


def test_numbered_actions_are_typed_by_name_or_number_and_mistakes_are_asked_again():
    env = gym.make("agentrl/FrozenLake-Grid-v0")
    policy, shown = person("lfet", "9", "-1", " LEFT ")
    assert policy.act([[]], [env])[0].action == 0
    assert 'Did you mean "left"' in shown[0]
    assert len(shown) == 3


@pytest.mark.parametrize(("typed", "action"), [("3", 3), ("+2", 2), ("up", 3), ("Down", 1)])
def test_read_action_accepts_names_and_numbers(typed, action):
    assert read_action(typed, gym.make("agentrl/FrozenLake-Grid-v0")) == action


@pytest.mark.parametrize("typed", ["", "4", "--1", "²", "٣x", "up up", "1.0", "9" * 5000, "\x1b[2J"])
def test_read_action_refuses_everything_else_in_words(typed):
    with pytest.raises(ConfigError, match="is not an action") as caught:
        read_action(typed, gym.make("agentrl/FrozenLake-Grid-v0"))
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 400


def test_text_environments_get_the_line_as_it_is_and_odd_spaces_are_refused():
    assert read_action(" any text ", gym.make("agentrl/FrozenLake-Text-v0")) == " any text "
    odd = SimpleNamespace(action_space=gym.spaces.MultiBinary(3))
    with pytest.raises(ConfigError, match="cannot be typed"):
        read_action("0.5", odd)


@pytest.mark.parametrize("typed", ["0.5 -1", "[0.5, -1]", " .5,-1.0 "])
def test_continuous_actions_are_typed_as_numbers(typed):
    assert read_action(typed, PuckEnv()).tolist() == [0.5, -1.0]
    assert read_action(f"{typed}; 0 0", ActionChunks(PuckEnv(), 3)).tolist() == [[0.5, -1.0], [0.0, 0.0]]


@pytest.mark.parametrize("typed", ["", "1", "1 2 3", "up", "nan 0", "2 0", "0 0; 0 0", "1e999 0", "9" * 5000])
def test_other_numbers_are_refused_in_words(typed):
    with pytest.raises(ConfigError, match="an action") as caught:
        read_action(typed, PuckEnv())
    assert len(str(caught.value)) < 200


def test_text_from_outside_cannot_drive_the_terminal():
    assert printable("a\x1b[2Jb\r\x07\n\tc\u202e") == "a\ufffd[2Jb\ufffd\ufffd\n\tc\ufffd"
