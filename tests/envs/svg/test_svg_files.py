"""Targets from files: tolerant of bad rows, and it says how many there were."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium as gym
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import agentrl
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.envs.svg.targets import load_collection, svg_column
from agentrl.envs.svg.targets.icons import draw
from agentrl.envs.svg.targets.pen import Rng

QUICK = {"scorers": [{"scorer": "colours", "weight": 5.0}], "image_size": 48}
GOOD = [draw(Rng("file", i), 1 + i % 3) for i in range(40)]  # of all splits
BAD = {
    "refused: not_xml": "<svg><circle",
    "refused: element": "<svg><script>1</script></svg>",
    "refused: empty": "   ",
    "blank": '<svg viewBox="0 0 9 9"><g/></svg>',
    "duplicate": GOOD[0] + "\n",
}


def test_a_folder_is_searched_in_depth_and_bad_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for number, code in enumerate(GOOD[:6]):
        (tmp_path / ("deep/er" if number % 2 else "deep") / f"{number}.svg").write_text(code)
    for number, code in enumerate(BAD.values()):
        (tmp_path / f"zz{number}.svg").write_text(code)
    (tmp_path / "binary.svg").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge.svg").write_text(" " * (1 << 20) + "<svg/>")
    (tmp_path / "readme.txt").write_text(GOOD[7])
    collection = load_collection(str(tmp_path))
    assert len(collection.codes) == 6
    assert collection.skipped == {**dict.fromkeys(BAD, 1), "unreadable": 2}
    assert collection.report().startswith("6 SVGs usable, 7 skipped (1 blank")


@pytest.mark.parametrize("column", ["Svg", "svg", "SVG", "svg_code", "code"])
def test_json_lines_take_any_likely_column(tmp_path: Path, column: str) -> None:
    rows = [json.dumps({"Filename": f"{i}.svg", column: code}) for i, code in enumerate(GOOD[:5])]
    rows += ["", "{half", "17", "null", json.dumps({"Filename": "x"}), json.dumps({column: 5}), json.dumps(GOOD[9])]
    (tmp_path / "icons.jsonl").write_text("\n".join(rows))
    collection = load_collection(str(tmp_path / "icons.jsonl"))
    assert len(collection.codes) == 6 and collection.skipped == {"unreadable": 5}


def test_numbers_of_thousands_of_digits_cost_their_line_only(tmp_path: Path) -> None:
    rows = [json.dumps({"svg": GOOD[0]}), '{"width": ' + "9" * 5000 + "}", json.dumps({"svg": GOOD[1]})]
    (tmp_path / "icons.jsonl").write_text("\n".join(rows))
    assert sum(load_collection(str(tmp_path / "icons.jsonl")).skipped.values()) == 1


def test_parquet_in_the_layout_of_svg_icons_simple(tmp_path: Path) -> None:
    table = {"Filename": [f"{i}.svg" for i in range(43)], "Svg": [*GOOD, None, "<svg", ""]}
    pq.write_table(pa.table(table), tmp_path / "icons.parquet")
    collection = load_collection(str(tmp_path / "icons.parquet"))
    assert len(collection.codes) == 40
    assert collection.skipped == {"unreadable": 1, "refused: not_xml": 1, "refused: empty": 1}


def test_splits_of_a_file_share_nothing_and_cover_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "icons.jsonl").write_text("\n".join(json.dumps({"svg": code}) for code in GOOD))
    owned = []
    for split in SPLITS:
        env = gym.make("agentrl/SVG-Visual-v0", targets=str(tmp_path / "icons.jsonl"), split=split, **QUICK)
        tasks = list(env.unwrapped.tasks())
        assert all(task.startswith("svg:") for task in tasks)
        _, info = env.reset(seed=3)
        assert info["task"] in tasks
        owned += tasks
        env.close()
    assert len(owned) == len(set(owned)) == 40


def test_an_environment_on_files_is_solved_by_its_oracle_and_survives_copies(tmp_path: Path) -> None:
    (tmp_path / "icons.jsonl").write_text("\n".join(json.dumps({"svg": code}) for code in GOOD))
    kwargs = {"targets": str(tmp_path / "icons.jsonl"), "icons": 3, **QUICK}
    env, other = (gym.make("agentrl/SVG-Visual-v0", **kwargs) for _ in range(2))
    assert len(env.unwrapped.tasks()) == 3
    env.reset(seed=1)
    agentrl.restore(other, agentrl.snapshot(env))
    for each in (env, other):
        each.step(each.unwrapped.oracle())
        *_, info = each.step(each.unwrapped.oracle())
        assert info["success"] and info["metrics"]["colours"] == 1.0
    assert env.unwrapped.targets.collection.skipped == {}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "icons.jsonl"
    file.write_text(json.dumps({"svg": GOOD[0]}))
    first = load_collection(str(file))
    assert load_collection(str(file)) is first
    file.write_text("\n".join(json.dumps({"svg": code}) for code in GOOD[:3]))
    assert len(load_collection(str(file)).codes) == 3


@pytest.mark.parametrize("name", ["missing.jsonl", "missing", "icons.txt", "broken.parquet", "other.parquet"])
def test_a_path_that_cannot_be_read_names_the_argument(tmp_path: Path, name: str) -> None:
    (tmp_path / "icons.txt").write_text(GOOD[0])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    pq.write_table(pa.table({"name": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(ConfigError, match="targets"):
        load_collection(str(tmp_path / name))


def test_a_split_without_a_single_target_says_what_was_skipped(tmp_path: Path) -> None:
    (tmp_path / "icons.jsonl").write_text("\n".join(json.dumps({"svg": code}) for code in BAD.values()))
    with pytest.raises(ConfigError, match=r"split dev.*skipped.*1 blank"):
        gym.make("agentrl/SVG-Visual-v0", targets=str(tmp_path / "icons.jsonl"), split="dev", **QUICK)


def test_the_likeliest_column_wins() -> None:
    assert svg_column(["text", "Svg", "code"]) == "Svg"
    assert svg_column(["Filename", "CONTENT"]) == "CONTENT"
    assert svg_column(["Filename"]) is None
