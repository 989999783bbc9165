"""Rows of trajectories with pictures hold the pictures that their prompts showed, no more and no fewer."""

from __future__ import annotations

import pytest

from agentrl.models.loading import load_model
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.trainers.update.batch import Batch

PICTURE_TOKENS = 16  # of 128 x 128 pixels, in the tiny model


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_every_row_has_one_picture_for_each_place_of_one(style):
    engine = load_model("tiny-vlm", "cpu", "float32")
    spec = EnvSpec("agentrl/FrozenLake-Visual-v0", {"image_size": 128})
    collector = Collector([spec], Demonstrator(engine, mistake_rate=1.0), prompt_style=style, num_envs=4)
    played = collector.collect([Start(seed) for seed in range(6)]).trajectories
    collector.close()
    assert {trajectory.prompt_style for trajectory in played} == {style}
    assert max(len(trajectory.steps) for trajectory in played) > 1
    place = engine.model.config.image_token_id
    for row in Batch(played).rows:
        assert len(row.images) * PICTURE_TOKENS == row.ids.count(place) > 0
