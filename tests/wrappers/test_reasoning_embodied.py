"""Rewards for true words in homes and on tables: paid to who writes the truth, not to who guesses."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.response import build_response, fields_of
from agentrl.wrappers import Reasoning, ReasoningReward

HOME = "agentrl/Navigation"
TABLES = [f"agentrl/PrimitiveSkill-{task}" for task in ("Place", "Stack", "Drawer", "Align")]
WAYS = [("natural", "rule"), ("structured", "rule"), ("structured", "structured")]
BLIND = {
    "natural": "The target is behind me or ahead. The red cube is at (0, 0, 20) or (50, 50, 20). The apple is near.",
    "structured": '{"target_direction_to_player": ["ahead", "left"], "red_cube_position": [[0, 0, 20], [50, 50, 20]]}',
}


def stack(env_id: str, representation: str, judge: str, strategy: str = "grounding_worldmodeling") -> Any:
    return ReasoningReward(Reasoning(gym.make(env_id), strategy, representation), judge)


@pytest.mark.parametrize(("representation", "judge"), WAYS)
@pytest.mark.parametrize("game", [HOME, *TABLES])
def test_the_truth_is_paid_and_blind_words_are_not(game: str, representation: str, judge: str) -> None:
    env = stack(f"{game}-Text-v0", representation, judge)
    env.reset(seed=0)
    gold = env.get_wrapper_attr("gold")()
    actions = gold.rpartition("<answer>")[2].partition("</answer>")[0]
    saved = env.get_wrapper_attr("snapshot")()
    *_, info = env.step(gold)
    assert info["reward_terms"]["grounding"] == info["reward_terms"]["worldmodeling"] == 0.5
    env.get_wrapper_attr("restore")(saved)
    strategy = "grounding_worldmodeling"
    parts = dict.fromkeys(fields_of(strategy), BLIND[representation]) | {"answer": actions}
    *_, info = env.step(build_response(strategy, parts))
    assert info["format"] is True and info["valid"] is True
    assert info["reward_terms"]["grounding"] == info["reward_terms"]["worldmodeling"] == 0.0
    env.close()


@pytest.mark.parametrize("strategy", ["grounding", "worldmodeling"])
@pytest.mark.parametrize("kind", ["Text", "Visual"])
@pytest.mark.parametrize("game", [HOME, *TABLES])
def test_every_id_takes_the_judges_that_can_score_it(game: str, kind: str, strategy: str) -> None:
    for representation, judge in WAYS:
        stack(f"{game}-{kind}-v0", representation, judge, strategy).close()
    with pytest.raises(ConfigError, match="use judge='rule'"):
        stack(f"{game}-{kind}-v0", "natural", "structured", strategy)
    extract = {"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9", "protocol": "extract"}
    ReasoningReward(Reasoning(gym.make(f"{game}-{kind}-v0"), strategy), extract, deferred=True).close()
