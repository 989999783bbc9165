"""Hedging does not pay, hostile texts do not hurt, and the figures say so."""

from __future__ import annotations

import time

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.judging import JudgeRequest
from agentrl.judges.grammar.chunker import remembered_chunks
from agentrl.judges.rule import RuleJudge, remembered_reading
from benchmarks.judges import corpus, selfcheck
from benchmarks.judges.accuracy import report
from benchmarks.judges.fuzz import random_texts
from benchmarks.judges.hedging import guessing_score, hedging_texts
from benchmarks.judges.states import envs_with_relations, visited_states

ROOM_ID, LAKE_ID = "agentrl/Sokoban-Text-v0", "agentrl/FrozenLake-Text-v0"
ROOMS = corpus.vocabulary(ROOM_ID).relations


@pytest.mark.parametrize("count", [300, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("env_id", (ROOM_ID, LAKE_ID))
def test_no_hedge_beats_guessing_on_real_states(env_id, count):
    relations, states = corpus.vocabulary(env_id).relations, visited_states(env_id, count)
    texts, guess = hedging_texts(relations), guessing_score(relations, states)
    assert len(texts) >= 40 and len(set(texts)) == len(texts)
    for text in texts:
        requests = [
            JudgeRequest("", env_id, ("grounding", "worldmodeling")[i % 2], text, state)
            for i, state in enumerate(states)
        ]
        mean = sum(verdict.score for verdict in RuleJudge().score_sync(requests)) / len(states)
        assert mean <= guess, (mean, guess, text)


def test_guessing_earns_one_ninth_without_half_credit():
    assert guessing_score(ROOMS, visited_states(ROOM_ID, 4000)) == pytest.approx(1 / 9, abs=0.015)


def test_the_report_has_every_figure():
    figures = report(states=20, texts=50)
    assert figures["corpus"]["heldout"]["recall"] >= 0.95 and figures["corpus"]["train"]["statements"] >= 300
    purposes = ("grounding", "worldmodeling")
    assert envs_with_relations() == [LAKE_ID, ROOM_ID]
    assert [(row["env"], row["purpose"]) for row in figures["hedging"]] == [
        (env_id, purpose) for env_id in (LAKE_ID, ROOM_ID) for purpose in purposes
    ]
    assert figures["random_texts"]["exceptions"] == 0


def test_random_texts_are_varied_and_repeatable():
    texts = list(random_texts(1000, ROOMS))
    assert texts == list(random_texts(1000, ROOMS)) and len(set(texts)) > 900
    assert max(map(len, texts)) > 100_000 and any("中" in text for text in texts)


LONG = (selfcheck.hedging_does_not_pay, selfcheck.hostile_texts)


@pytest.mark.parametrize(
    ("name", "check"),
    [pytest.param(name, check, marks=[pytest.mark.long] * (check in LONG)) for name, check in selfcheck.RULE_CHECKS],
)
def test_every_check_of_the_rule_judge_passes_and_gives_its_figures(name, check):
    assert (name, check) in selfcheck.CHECKS
    passed, detail = check()
    assert passed and any(character.isdigit() for character in detail), detail


def test_a_check_that_raises_fails_alone(monkeypatch):
    def broken() -> tuple[bool, str]:
        raise RuntimeError("no luck")

    monkeypatch.setattr(selfcheck, "CHECKS", [("broken", broken), ("fine", lambda: (True, "1 of 1"))])
    assert selfcheck.run() == [
        {"name": "broken", "pass": False, "detail": "RuntimeError: no luck"},
        {"name": "fine", "pass": True, "detail": "1 of 1"},
    ]


@pytest.mark.parametrize(
    "unit",
    (
        "the ",
        "left and ",
        "one ",
        "the player's ",
        "a box and ",
        "(1, 2) ",
        "{",
        "[",
        "#_P_#\n",
        "box is above box ",
        ", ",
    ),
)
def test_time_grows_no_faster_than_the_text(unit):
    state = visited_states(ROOM_ID, 1)[0]

    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        request = JudgeRequest("", ROOM_ID, "grounding", text, state)
        best = 9.0
        for _ in range(3):
            remembered_reading.cache_clear()
            remembered_chunks.cache_clear()
            start = time.process_time()
            RuleJudge().score_sync([request])
            best = min(best, time.process_time() - start)
        return best

    assert seconds(5900) < 12 * seconds(1450) + 0.02  # four times the text; a square would be sixteen times
    assert seconds(1_000_000) < 5


def test_without_the_labelled_statements_one_sentence_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(corpus, "FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=r"^the labelled statements \(train\.jsonl\) are missing: .* a checkout"):
        corpus.load("train")
