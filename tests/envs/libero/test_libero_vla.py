"""The experiment with one VLA policy for a suite: its conditions, its episodes in MuJoCo, and what they come to."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from agentrl.envs.libero.task_ids import Chosen, TaskIds
from agentrl.models.vla.loading import load_vla
from agentrl.models.vla.spec import fitted
from agentrl.policies.vla import VLAPolicy
from benchmarks.libero.vla_measure import RIGHT, SHUFFLED, Episode, conditions, film, measure, number_of, told
from benchmarks.libero.vla_rl import keep, page
from benchmarks.libero.warp_play import Oracles
from tests.vla import KINDS, write_nano_vla

SUITE, ID = "libero_goal", "agentrl/LIBERO-Goal-v0"
NUMBERS = [2, 5, 7]
TASKS = TaskIds(SUITE, NUMBERS, "test")[:6]
TOLD = [Chosen(SUITE, number, "test", 0).instruction for number in NUMBERS]


def test_every_condition_plays_the_same_starts_and_shuffled_instructions_are_those_of_other_tasks() -> None:
    found = conditions(TASKS, TOLD, perturbed=True)
    assert len(found) == 2 + 6 * 3 and all([one.task for one in episodes] == TASKS for episodes in found.values())
    for episode in found[SHUFFLED]:
        assert episode.told in TOLD and episode.told != TOLD[NUMBERS.index(number_of(episode.task))]
    assert found["camera:3"][0] == Episode(TASKS[0], perturb="camera:3")
    assert list(conditions(TASKS[:1], TOLD[:1], perturbed=False)) == [RIGHT]


def test_growth_is_paired_over_the_starts_that_both_played() -> None:
    before = dict(zip(TASKS, [True, False, False, True, False, False], strict=True))
    after = dict(zip(TASKS[1:], [True, True, True, False, True], strict=True))
    found = told(before, after)
    assert found["starts"] == 5 and found["growth"]["mean"] == pytest.approx(3 / 5)
    assert found["before"]["success"] == pytest.approx(1 / 5) and found["after"]["success"] == pytest.approx(4 / 5)
    low, high = found["growth"]["interval"]
    assert low < 3 / 5 < high


def test_results_of_a_suite_are_kept_beside_others_and_become_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"libero_spatial": {}}))
    options = argparse.Namespace(json=path, suite=SUITE, numbers=NUMBERS, algorithm="ppo", folder=tmp_path)
    line = {"iteration": 1, "episodes": 9, "success": 0.25, "success_ci": [0.2, 0.3], "turns_mean": 4.0}
    line["seconds"] = {"environment": 2.0, "update": 1.0, "total": 3.5}
    (tmp_path / "practice").mkdir()
    (tmp_path / "practice" / "metrics.jsonl").write_text(
        "".join(json.dumps({**line, "kind": kind, "loss": {}}) + "\n" for kind in ("train", "eval"))
    )
    runs = {
        name: {RIGHT: {"weights": 7, "success": dict.fromkeys(TASKS, won)}}
        for name, won in (("imitation", False), ("practice", True))
    }
    keep(options, runs)
    results = json.loads(path.read_text())
    assert set(results) == {"libero_spatial", SUITE} and results[SUITE]["policies"]["practice"] == {"weights": 7}
    page(options)
    printed = capsys.readouterr().out
    assert "| right instructions | 6 | 0.000 (0.000 to 0.390) | 1.000 (0.610 to 1.000) | +1.000" in printed
    assert f"| {TOLD[2]} | 2 | 0.000" in printed
    assert printed.count("| 1 | 0.250 (0.200 to 0.300) | 4.0 | 3.5, 2.0, 1.0 |") == 1


def test_films_show_nine_episodes_side_by_side_and_how_they_ended(tmp_path: Path) -> None:
    pictures = [[np.full((8, 8, 3), 40 * n, np.uint8) for n in range(length)] for length in (1, 2, 3, 1, 1, 1, 1, 1, 3)]
    film(pictures, [True, *[False] * 8], tmp_path / "films" / "nine.gif")
    shown: Any = Image.open(tmp_path / "films" / "nine.gif")
    with shown:
        assert shown.size == (24, 24) and shown.n_frames == 3 + 1  # the last one is shown for longer
        shown.seek(1)  # the first has ended well and the fourth has not, the second goes on
        first, fourth, second = (shown.convert("RGB").getpixel(at) for at in ((0, 0), (0, 8), (12, 4)))
    assert first[1] > 150 and fourth[0] > 150 and second[0] == pytest.approx(40, abs=8)


@pytest.mark.long
def test_a_policy_plays_in_processes_from_its_pictures_and_is_told_what_the_condition_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_vla(write_nano_vla(tmp_path / "nano"), "cpu")
    kwargs: dict[str, Any] = {"image_size": 16, "max_turns": 4}
    with gym.make(ID, **kwargs) as env:
        policy = VLAPolicy(loaded.fit(fitted(loaded.spec, env, ID, chunk=3, **KINDS["parallel"]), 0), greedy=True)
    heard: list[list[str]] = []
    act = policy.act

    def listen(conversations: Any, **more: Any) -> Any:
        heard.append([one[-1]["observation"]["text"].partition("\n")[0] for one in conversations])
        return act(conversations, **more)

    monkeypatch.setattr(policy, "act", listen)
    episodes = [Episode(TASKS[0]), Episode(TASKS[0], told=TOLD[1]), Episode(TASKS[0], perturb="light:2")]
    with Oracles(1) as processes:
        assert measure(policy, ID, episodes, processes, None, 4) == [False] * 3
    assert heard == [[TOLD[0], TOLD[1], TOLD[0]]] * 2
