"""A toy environment whose every figure can be computed by hand."""

from __future__ import annotations

import gymnasium as gym
import pytest

from agentrl.core.errors import EnvFault
from agentrl.core.policy import Generation
from agentrl.core.spaces import AnyText

TOY_ID = "rollout-tests/Toy-v0"


class ToyEnv(gym.Env):
    """Two turns. "yes" in the second one is success and worth 3; every turn costs 1; "break" is a fault."""

    made = 0
    closed = 0
    render_mode = None
    system_prompt = "Say yes."

    def __init__(self, split="train", pending=False, breaks=None):
        type(self).made += 1
        self.action_space, self.observation_space = AnyText(("yes", "no")), gym.spaces.Dict({"text": AnyText()})
        self.split, self.pending, self.breaks = split, pending, breaks

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn = 0
        if self.breaks == "reset":
            raise EnvFault("no backend")
        return {"text": f"turn 0 of {seed}"}, {"task": "t"}

    def step(self, action):
        if action == "break":
            raise EnvFault("the backend is gone")
        self.turn += 1
        success = self.turn == 2 and action == "yes"
        terms = {"cost": -1.0, **({"yes": 3.0} if success else {})}
        info = {
            "success": success,
            "valid": action in ("yes", "no"),
            "effective": action == "yes",
            "format": action == "yes" if action != "no" else None,
            "reward_terms": terms,
            "pending": ["judge"] if self.pending else [],
            "actions": [action],
        }
        return {"text": f"turn {self.turn}"}, sum(terms.values()), success, self.turn == 2 and not success, info

    def close(self):
        type(self).closed += 1


class Script:
    """A policy that plays episodes from a list, each a list of actions; remembers what it was shown."""

    name = "script"

    def __init__(self, *episodes):
        self.episodes, self.seen = [list(episode) for episode in episodes], []

    def act(self, conversations, envs=None):
        (conversation,) = conversations
        self.seen.append(list(conversation))
        while self.episodes and not self.episodes[0]:
            self.episodes.pop(0)
        text = self.episodes[0].pop(0)
        return [Generation(text, text)]


@pytest.fixture
def toy():
    """The id of the toy, registered for one test."""
    ToyEnv.made = ToyEnv.closed = 0
    gym.register(TOY_ID, entry_point=ToyEnv, disable_env_checker=True, order_enforce=False)
    yield TOY_ID
    del gym.registry[TOY_ID]


@pytest.fixture
def script():
    """The scripted policy."""
    return Script


@pytest.fixture
def toy_class():
    """Counts how often it was made and closed."""
    return ToyEnv
