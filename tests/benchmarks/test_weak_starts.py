"""Weak starts: seeds of an environment are kept together, compared level by level, and replace what was kept before."""

from __future__ import annotations

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.weak_starts import figures, merged, rows, write
from tests.viewer.run_folders import eval_line, train_line, write_run

LEVELS = 20


def evaluated(iteration: int, wins: int, env: str, *, greedy: bool) -> dict:
    outcomes = "1" * wins + "0" * (LEVELS - wins)
    return eval_line(iteration, wins / LEVELS, greedy=greedy, episodes=LEVELS, env_id=env, outcomes=outcomes)


def recipe_run(folder: Path, env: str, seed: int, before: int, after: int) -> Path:
    rng = random.Random(seed)
    for stage, wins in (("imitation", before), ("rl", after)):
        lines = [evaluated(2, wins + greedy, env, greedy=bool(greedy)) for greedy in (0, 1)]
        write_run(folder / stage, [*(train_line(i, 2, rng) for i in (1, 2)), *lines])
    stages = [{"name": name, "arguments": {"seed": seed}} for name in ("imitation", "rl")]
    (folder / "plan.json").write_text(json.dumps({"recipe": "weak", "stages": stages}))
    return folder


@pytest.fixture
def lakes(tmp_path: Path) -> list[Path]:
    return [recipe_run(tmp_path / f"lake-{seed}", "agentrl/Lake-v0", seed, 4, 12 + seed) for seed in (1, 0)]


def test_gains_are_those_of_the_same_levels(lakes: list[Path], tmp_path: Path) -> None:
    first, second, whole, *greedy = rows(merged(lakes, tmp_path))
    assert first == ("Lake", "0", "sampled", "0.200", "0.600", "+0.400", "8 / 0", "8e-03")
    assert second[:6] == ("Lake", "1", "sampled", "0.200", "0.650", "+0.450")
    assert whole[:3] == ("Lake", "all", "sampled") and whole[5].startswith("+0.425 [+") and whole[6] == "17 / 0"
    assert [row[3] for row in greedy] == ["0.250"] * 3


def test_runs_replace_what_was_kept_of_their_environment_only(lakes: list[Path], tmp_path: Path) -> None:
    write(merged(lakes, tmp_path), tmp_path)
    box = recipe_run(tmp_path / "box", "agentrl/Box-v0", 0, 5, 6)
    again = recipe_run(tmp_path / "again", "agentrl/Lake-v0", 3, 1, 2)
    held = merged([box, again], tmp_path)
    assert {env: [kept["seed"] for kept in seeds] for env, seeds in held.items()} == {
        "agentrl/Lake-v0": [3],
        "agentrl/Box-v0": [0],
    }
    write(held, tmp_path)
    assert merged([], tmp_path) == held
    assert all(ElementTree.fromstring(svg) is not None for svg in figures(held).values())
