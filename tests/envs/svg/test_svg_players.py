"""Baselines of SVG reconstruction: half of the truth earns more than nothing and less than all of it."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.errors import ConfigError
from agentrl.policies import load_policy
from agentrl.rollout.evaluate import evaluate
from agentrl.wrappers import Reasoning

QUICK = {"scorers": [{"scorer": "classical", "weight": 5.0}], "image_size": 64}
NAMES = ("svg-blank", "svg-colours", "svg-boxes", "oracle")


def test_scores_are_ordered_as_knowledge_is() -> None:
    scores = {name: evaluate("agentrl/SVG-Visual-v0", name, 20, env_kwargs=QUICK).reward_mean for name in NAMES}
    blank, colours, boxes, oracle = (scores[name] or 0.0 for name in NAMES)
    assert blank == pytest.approx(0, abs=1e-9) and oracle == pytest.approx(10)
    assert 0.3 < colours < 8 and 0.3 < boxes < 8, scores


@pytest.mark.parametrize("name", NAMES[:3])
def test_they_keep_to_a_format_that_is_asked_for(name: str) -> None:
    env = Reasoning(gym.make("agentrl/SVG-Visual-v0", **QUICK), "grounding")
    env.reset(seed=3)
    (answer,) = load_policy(name).act([[]], [env])
    *_, info = env.step(answer.action)
    assert info["format"] and info["valid"]
    env.close()


@pytest.mark.parametrize("name", NAMES[:3])
def test_they_say_that_other_environments_have_no_target(name: str) -> None:
    env = gym.make("agentrl/Sokoban-Text-v0")
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="SVG targets"):
        load_policy(name).act([[]], [env])
    env.close()


def test_boxes_stand_where_the_shapes_are_and_stripes_have_their_colours() -> None:
    env = gym.make("agentrl/SVG-Visual-v0", **QUICK)
    task = '<svg viewBox="0 0 100 100"><circle cx="30" cy="40" r="10" fill="crimson"/></svg>'
    env.reset(options={"task": task})
    boxes, stripes = (load_policy(name).act([[]], [env])[0].text for name in ("svg-boxes", "svg-colours"))
    assert '<rect x="20.00" y="30.00" width="20.00" height="20.00" fill="#808080"' in boxes
    assert '<rect x="0.00" y="0.00" width="4.00" height="100.00" fill="#dc143c"' in stripes
    env.close()
