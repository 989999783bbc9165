"""`import agentrl` is quick and light, and Gymnasium can do it by itself."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("torch", "pygame", "playwright", "imageio", "PIL", "matplotlib", "pettingzoo", "tyro", "rich")


def python(code: str) -> str:
    """The output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_import_pulls_in_nothing_heavy() -> None:
    loaded = json.loads(python("import agentrl, json, sys; print(json.dumps(sorted(sys.modules)))"))
    assert "agentrl" in loaded and "gymnasium" in loaded
    assert [name for name in loaded if name.partition(".")[0] in HEAVY] == []


def test_playing_a_text_environment_pulls_in_nothing_heavy() -> None:
    code = """
import json, sys, gymnasium as gym
env = gym.make("agentrl:agentrl/Sokoban-Text-v0")
env.reset(seed=1)
env.step("Up")
print(json.dumps(sorted(sys.modules)))
"""
    assert [name for name in json.loads(python(code)) if name.partition(".")[0] in HEAVY] == []


def test_gymnasium_imports_agentrl_when_the_id_says_so() -> None:
    code = """
import gymnasium as gym
env = gym.make("agentrl:agentrl/Sokoban-Visual-v0")
obs, info = env.reset(seed=7)
print(env.spec.id, sorted(obs), obs["image"].shape)
"""
    assert python(code).split("\n")[0] == "agentrl/Sokoban-Visual-v0 ['image', 'text'] (192, 192, 3)"


def test_public_names_can_be_reached_and_unknown_ones_are_refused() -> None:
    code = """
import agentrl
assert callable(agentrl.snapshot) and callable(agentrl.restore)
for name in ("AgentEnv", "AnyText", "ConfigError", "Outcome", "State", "Turn"):
    assert getattr(agentrl, name).__name__ == name and name in dir(agentrl)
try:
    agentrl.nonsense
except AttributeError as error:
    print(error)
"""
    assert "nonsense" in python(code)
