"""Papers and questions from files: read as Semantic Scholar and RealScholarQuery write them, refused with the line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.cache import forget_caches
from agentrl.core.errors import ConfigError
from agentrl.envs.papersearch.env import PaperSearchEnv
from agentrl.envs.papersearch.official import OfficialLibrary
from tests.envs.papersearch.paper_files import TITLES, write_library, write_lines


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    forget_caches()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return write_library(tmp_path / "data")


def test_papers_abstracts_and_citations_are_joined(folder: Path) -> None:
    library = OfficialLibrary(str(folder))
    assert len(library) == 5 and [library.paper(number).title for number in range(5)] == list(TITLES)
    assert [library.paper_id(number) for number in range(5)] == ["2001.00000", "2001.00001", "2001.00002", "13", "14"]
    paper = library.paper(1)
    assert (paper.authors, paper.year, paper.venue) == (("Ada Lake",), "2001", "Waters")
    assert paper.abstract == "We look at b frozen /b water."  # nothing that could pass for a tag
    assert library.neighbours(0).tolist() == [3, 2, 1] and library.neighbours(2).tolist() == [0, 1]
    assert library.search("frozen") == (1,)
    assert library.number("2001.00001v7") == 1 and library.number("13") == 3 and library.number("11") is None


def test_answers_are_found_by_id_or_title_and_absent_ones_count(folder: Path) -> None:
    env = PaperSearchEnv(data_dir=folder, split="test")
    assert env.tasks() == ["test:ice", "test:odd"]  # none of the answers to the third is here
    env.reset(options={"task": "test:ice"})
    assert env.state().relevant == ("2001.00001", "2001.00002")
    observation, reward, _, _, _ = env.step("search(ice)")
    assert reward == pytest.approx(2 - 0.4) and "[2001.00001] [NEW] Ice on Lakes" in observation["text"]
    env.reset(options={"task": "test:odd"})
    assert env.oracle() is None  # half of the answers cannot be found
    env.reset(options={"task": "test:ice"})
    env._asked = replace(env._asked, absent=1)
    env.step("search(ice)")
    assert env.recall == 2 / 3 and env.oracle() is None
    env.reset(options={"task": "test:odd"})
    env.step("search(birds)")
    assert env.recall == 0.5 and list(env._pool) == [3]


def test_nothing_is_left_out_of_the_pool_where_nobody_has_scored(folder: Path) -> None:
    env = PaperSearchEnv(data_dir=folder, split="test")
    env.reset(options={"task": "test:ice"})
    env.step("search(lakes)\nexpand(2001.00000)")
    assert sorted(env._pool) == [0, 1, 2, 3] and not env.show_scores
    _, _, _, _, info = env.step("finish()")
    assert info["metrics"]["precision@all"] == 0.5 and info["success"]


def test_scores_of_a_selector_are_shown_paid_and_counted(folder: Path) -> None:
    scores = [("2001.00001", 0.9), ("2001.00000", 0.3), ("13", 0.001), ("9999.99999", 1.0)]
    write_lines(folder / "scores.jsonl", [{"qid": "ice", "paper_id": name, "score": score} for name, score in scores])
    env = PaperSearchEnv(data_dir=folder, split="test", threshold=0.5)
    env.reset(options={"task": "test:ice"})
    observation, reward, *_ = env.step("search(lakes shore)")
    assert reward == pytest.approx(1.2 - 0.4) and "(0.90)" in observation["text"]
    assert sorted(env._pool) == [0, 1]


def test_the_oracle_plays_questions_from_files_through_the_kit(folder: Path) -> None:
    with gym.make("agentrl/PaperSearch-Text-v0", data_dir=str(folder), split="test") as env:
        base: Any = env.unwrapped
        base.reset(options={"task": "test:ice"})
        *_, info = base.step(base.oracle())
        assert info["success"]


def test_the_oracle_finishes_when_all_that_is_there_is_found(folder: Path) -> None:
    answers = [*TITLES, "No Such Paper"]
    write_lines(folder / "dev.jsonl", [{"question": "What of lakes?", "answer": answers}])
    env = PaperSearchEnv(data_dir=folder, split="dev")
    env.reset(seed=0)
    turns = []
    while (turn := env.oracle()) is not None:
        turns.append(turn)
        *_, info = env.step(turn)
    assert turns[-1] == "finish()" and info["success"] and env.recall == 5 / 6


def test_changed_files_are_read_again(folder: Path) -> None:
    assert len(OfficialLibrary(str(folder))) == 5
    write_lines(folder / "papers-1.jsonl", [{"paperId": "abc", "title": "New", "outCitations": ["10"]}])
    library = OfficialLibrary(str(folder))
    assert len(library) == 6 and library.neighbours(5).tolist() == [0]


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("papers-1.jsonl", "{", "papers-1.jsonl, line 2: Input data was truncated"),
        ("papers-1.jsonl", "[1]", "papers-1.jsonl, line 2: Expected `object`, got `array`"),
        ("papers-1.jsonl", '{"corpusid": 5}', "line 2: Object missing required field `title`"),
        ("papers-1.jsonl", '{"title": "x"}', "line 2: a paper must have a title, and an id in corpusid"),
        ("papers-1.jsonl", '{"corpusid": [], "title": "x"}', "line 2: Expected `int | str | null`, got `array`"),
        ("papers-1.jsonl", '{"corpusid": 5, "title": "\xff"}', "line 2: "),
        ("abstracts-1.jsonl", '{"corpusid": 5, "abstract": 3}', "line 2: Expected `str | null`, got `int`"),
        ("citations-1.jsonl", '{"citingcorpusid": 5}', "line 2: Object missing required field `citedcorpusid`"),
        ("train.jsonl", '{"question": "x"}', "line 2: a question must have words in question and answers"),
        ("train.jsonl", '{"question": "x", "answer": [3]}', "line 2: Expected `str`, got `int` - at `$.answer[0]`"),
        ("scores.jsonl", '{"qid": "x", "paper_id": "13", "score": 2}', "line 2: Expected `float` <= 1"),
    ],
)
def test_a_broken_line_is_named_in_one_sentence(folder: Path, name: str, line: str, message: str) -> None:
    (folder / name).write_text(f"\n{line}\n", encoding="latin-1")
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        OfficialLibrary(str(folder))
    assert "\n" not in str(caught.value)


def test_two_questions_of_one_name_and_broken_archives_are_refused(folder: Path) -> None:
    question = {"qid": "a", "question": "x", "answer": [TITLES[0]]}
    write_lines(folder / "dev.jsonl", [question, question])
    with pytest.raises(ConfigError, match=r"line 2: there is another question with the qid 'a'"):
        OfficialLibrary(str(folder))
    (folder / "abstracts-0.jsonl.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(ConfigError, match=r"abstracts-0\.jsonl\.gz cannot be read"):
        OfficialLibrary(str(folder))
