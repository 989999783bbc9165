"""Pages about the episodes of a trajectory file: each episode can be reached, and a file can do nothing but be read."""

from __future__ import annotations

import json
import re
import sys
from urllib.parse import urldefrag

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import write_trajectories
from agentrl.viewer.episode_pages import write_episode_pages
from tests.core.markup import HOSTILE, Tags
from tests.viewer.run_folders import played


def file_of(path, trajectories):
    write_trajectories(path, trajectories, path.parent / "images")
    return path


@pytest.fixture(scope="module")
def episodes():
    return played(0.5, 0, count=7)


def links_of(path):
    return [held["href"] for tag, held in Tags(path.read_text()).found if tag == "a"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_every_episode_is_reached_from_the_overview(tmp_path, episodes, suffix):
    found = write_episode_pages(file_of(tmp_path / f"train.{suffix}", episodes), per_page=3)
    assert (found.pages, found.episodes, found.more, found.damaged) == (3, 7, False, 0)
    assert found.overview == tmp_path / "train-episodes" / "index.html"
    links = links_of(found.overview)
    assert len(links) == 7
    for number, (file, anchor) in enumerate(map(urldefrag, links), 1):
        page = (found.overview.parent / file).read_text()
        assert anchor == f"episode-{number}" and f'id="{anchor}"' in page
    said = Tags(found.overview.read_text()).text
    for name in ("environmentagentrl/FrozenLake-Text-v0", "splittrain", "modeno language model", "policyhf:tiny-text"):
        assert name in said, name
    solved = sum(episode.success for episode in episodes)
    assert f"{100 * solved / 7:.1f} % solved" in said
    page = Tags((found.overview.parent / "page_1.html").read_text()).text
    assert "Turn 1" in page and "<think>" in page and "What the agent is told" in page


def test_plays_of_one_task_are_taken_together(tmp_path, episodes):
    """Ten plays of each of two tasks, one always solved and one never, are as sure as two plays."""
    won, lost = (next(one for one in episodes if one.success is done) for done in (True, False))
    pages = write_episode_pages(file_of(tmp_path / "a.jsonl", [won, lost] * 10))
    assert "20 episodes of 2 tasks; 50.0 % solved (95 % interval 9.5 % to 90.5 %" in pages.overview.read_text()


def test_the_pages_of_a_run_name_its_model_and_algorithm(tmp_path, episodes):
    (tmp_path / "config.json").write_text('{"algorithm": "grpo", "arguments": {"model": "tiny-text"}}')
    for one in episodes:
        for step in one.steps:
            step.sampling = {"greedy": False, "temperature": 0.7}
    pages = write_episode_pages(file_of(tmp_path / "trajectories" / "a.jsonl", episodes))
    for path in (pages.overview, pages.overview.parent / "page_1.html"):
        said = Tags(path.read_text()).text
        assert "modesampled at temperature 0.7" in said and "modeltiny-text" in said and "algorithmgrpo" in said


def test_pages_are_leafed_through_in_order(tmp_path, episodes):
    folder = write_episode_pages(file_of(tmp_path / "a.jsonl", episodes), tmp_path / "out", per_page=3).overview.parent
    assert set(links_of(folder / "page_1.html")) == {"index.html", "page_2.html"}
    assert set(links_of(folder / "page_2.html")) == {"index.html", "page_1.html", "page_3.html"}
    assert set(links_of(folder / "page_3.html")) == {"index.html", "page_2.html"}


def test_a_part_of_a_long_file(tmp_path, episodes):
    path = file_of(tmp_path / "a.jsonl", episodes)
    found = write_episode_pages(path, first=3, episodes=2)
    assert (found.episodes, found.more) == (2, True) and "holds more" in found.overview.read_text()
    assert links_of(found.overview) == ["page_1.html#episode-3", "page_1.html#episode-4"]
    assert not write_episode_pages(path, first=6, episodes=2).more
    with pytest.raises(ConfigError, match="has no episode 8"):
        write_episode_pages(path, first=8)
    with pytest.raises(ConfigError, match="per_page"):
        write_episode_pages(path, per_page=0)


def test_damaged_lines_are_counted_and_other_files_refused(tmp_path, episodes):
    path = file_of(tmp_path / "a.jsonl", episodes)
    path.write_bytes(b"{half a li\n" + path.read_bytes() + b"[]\n")
    found = write_episode_pages(path)
    assert (found.episodes, found.damaged) == (7, 2) and "2 of its lines" in found.overview.read_text()
    for name, content in {"empty.jsonl": b"", "other.jsonl": b"{}\n", "bad.parquet": b"PAR1 no"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ConfigError):
            write_episode_pages(tmp_path / name)
        assert not (tmp_path / f"{name.partition('.')[0]}-episodes").exists()


def test_a_hostile_file_is_shown_and_nothing_more(tmp_path):
    (tmp_path / "wicked.py").write_text("raise SystemExit('imported')")
    step = Step(
        observation=HOSTILE, action=HOSTILE, response=HOSTILE, images=["../secret"], reward_terms={HOSTILE: 1.0}
    )
    step.info = {"actions": [HOSTILE, {"deep": [1]}], "success": "yes"}
    spec = {"id": "wicked:Env-v0", "entry_point": "wicked:Env", "kwargs": {"scorer": "wicked:Scorer"}}
    names = {"env_id": "wicked:Env-v0", "policy": HOSTILE, "split": HOSTILE, "task": "1"}
    bad = Trajectory(steps=[step] * 130, spec=spec, system_prompt=HOSTILE, fault={"kind": HOSTILE}, **names)
    (tmp_path / "a.jsonl").write_text(json.dumps(bad.to_json()) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        found = write_episode_pages(tmp_path / "a.jsonl", play_again=True)
    assert "wicked" not in sys.modules
    for path in found.overview.parent.iterdir():
        tags = Tags(path.read_text())
        assert not any(tag in ("script", "img", "iframe") for tag, _ in tags.found)
        assert not any(name.startswith("on") or name == "style" for _, held in tags.found for name in held)
        assert all(re.fullmatch(r"(index|page_\d+)\.html(#episode-\d+)?", href) for href in links_of(path))
    assert "30 more turns" in (found.overview.parent / "page_1.html").read_text()
