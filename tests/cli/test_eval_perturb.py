"""`agentrl eval --perturb`: one changed world, or a table by factor and level."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.extra_robots
ALIGN = ("eval", "agentrl/PrimitiveSkill-Align-Text-v0", "--episodes", "2", "--env-kwargs", '{"max_turns": 1}')


def test_a_factor_without_a_level_is_played_at_every_level_beside_the_unchanged_world(agentrl_cli, tmp_path) -> None:
    output = tmp_path / "out"
    done = agentrl_cli(*ALIGN, "--perturb", "instructions", "--output", str(output))
    assert done.status == 0 and "success in changed worlds" in done.out and "level 3" in done.out
    assert done.out.count("0.000 [0.000, 0.658]") == 4, "with intervals"
    results = json.loads((output / "results.json").read_text())["results"]
    assert [one.get("perturb") for one in results] == [None, *(f"instructions:{level}" for level in (1, 2, 3))]
    assert all(one["episodes"] == 2 and one["faults"] == 0 for one in results)
    assert "instructions:3" in (output / "report.html").read_text()
    assert len(list((output / "trajectories").iterdir())) == 4


def test_factors_with_levels_are_one_world(agentrl_cli) -> None:
    done = agentrl_cli(*ALIGN, "--perturb", "instructions:2", "light:1", "--json")
    assert done.status == 0 and done.json["perturb"] == "light:1,instructions:2"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lite:1",), "a factor of perturb must be one of light"),
        (("lite",), "a factor of perturb must be one of light"),
        (("light:7",), "the level of light must be a whole number from 0 to 3; got 7"),
        (("light", "camera:1"), "--perturb must be factors with levels or factors without"),
    ],
)
def test_wrong_words_are_refused_in_one_sentence(agentrl_cli, words, sentence) -> None:
    done = agentrl_cli(*ALIGN, "--perturb", *words)
    assert done.status == 2 and sentence in done.err


def test_all_is_every_factor() -> None:
    from agentrl.cli.perturb import read_perturbations

    assert len(read_perturbations(["all"])) == 1 + 6 * 3 and read_perturbations([]) == [""]
