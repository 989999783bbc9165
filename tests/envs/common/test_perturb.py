"""Which factors are changed, how strongly, and from which random stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.perturb import FACTORS, HIGHEST, UNCHANGED, read_perturbation


def test_text_and_dicts_say_the_same_and_level_0_changes_nothing() -> None:
    both = read_perturbation("camera:1, light:2")
    assert both == read_perturbation({"light": 2, "camera": 1, "poses": 0}) and str(both) == "light:2,camera:1"
    assert [both.level(factor) for factor in FACTORS] == [2, 1, 0, 0, 0, 0]
    assert not any(read_perturbation(nothing) for nothing in (None, "", {}, "light:0", {"poses": 0}))
    assert read_perturbation("light:0") == UNCHANGED


def test_a_draw_is_that_of_task_factor_and_seed_and_not_of_the_level() -> None:
    def drawn(
        perturb: str, seed: int = 0, factor: str = "light", task: str = "a:test:1", attempt: int = 0
    ) -> list[int]:
        return read_perturbation(perturb, seed).random(factor, task, attempt).integers(1000, size=4).tolist()

    assert drawn("light:1") == drawn("light:3,camera:2") == [392, 84, 959, 162]
    others = [drawn("light:1", seed=1), drawn("light:1", factor="camera"), drawn("light:1", task="a:test:2")]
    others.append(drawn("light:1", attempt=1))
    assert len({tuple(values) for values in [*others, drawn("light:1")]}) == 5


BAD = [
    ("lite:1", "a factor of perturb must be one of light, .* got 'lite'. Did you mean \"light\""),
    ("light", "the level of light must be a whole number from 0 to 3; got ''"),
    ("light:4", "from 0 to 3; got 4"),
    ("light:-1", "from 0 to 3; got '-1'"),
    ("light:1,light:2", "each factor once; got 'light' twice"),
    ({"light": True}, "from 0 to 3; got True"),
    ({"light": 1.0}, "from 0 to 3; got 1.0"),
    ({2: 1}, "a factor of perturb must be one of"),
    (7, "perturb must be text such as"),
]


@pytest.mark.parametrize(("perturb", "words"), BAD)
def test_wrong_factors_and_levels_are_refused_in_one_sentence(perturb: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_perturbation(perturb)
    with pytest.raises(ConfigError, match="perturb_seed must be"):
        read_perturbation("light:1", seed=-1)


@pytest.mark.extra_robots
def test_patterns_go_further_from_the_colour_with_the_level_and_stay_muted() -> None:
    from agentrl.envs.common.mujoco.looks import pattern

    colour, far = (0.78, 0.66, 0.50), []
    for seed in range(6):
        drawn = [pattern(colour, level, np.random.default_rng(seed)) / 255 for level in range(1, HIGHEST + 1)]
        far.append([np.abs(one - colour).mean() for one in drawn])
        assert np.ptp(drawn[-1], axis=2).max() < 0.25, "a cube's colours are 0.45 apart and more"
    assert (np.diff(far, axis=1) > 0).all()
