"""Hedging does not pay, hostile texts do not hurt, and the figures say so."""

from __future__ import annotations

import time

import pytest

from agentrl.core.judging import JudgeRequest
from agentrl.judges import selfcheck
from agentrl.judges.fuzz import random_texts
from agentrl.judges.hedging import guessing_score, hedging_texts, random_states
from agentrl.judges.report import report
from agentrl.judges.rule import RuleJudge


@pytest.mark.parametrize("game", ("sokoban", "frozenlake"))
def test_no_hedge_beats_guessing_on_real_states(game, request):
    states = [state.to_json() for state in request.getfixturevalue({"sokoban": "rooms"}.get(game, "lakes"))[:1000]]
    texts, guess = hedging_texts(game), guessing_score(states)
    assert len(texts) >= 40 and len(set(texts)) == len(texts)
    for text in texts:
        requests = [
            JudgeRequest("", "", ("grounding", "worldmodeling")[i % 2], text, state) for i, state in enumerate(states)
        ]
        mean = sum(verdict.score for verdict in RuleJudge().score_sync(requests)) / len(states)
        assert mean <= guess, (mean, guess, text)


def test_guessing_earns_one_ninth_in_sokoban():
    assert guessing_score(random_states("sokoban", 4000)) == pytest.approx(1 / 9, abs=0.015)


def test_the_report_has_every_figure():
    figures = report(states=20, texts=50)
    assert figures["corpus"]["heldout"]["recall"] >= 0.95 and figures["corpus"]["train"]["statements"] >= 300
    assert [(row["game"], row["purpose"]) for row in figures["hedging"]] == [
        ("sokoban", "grounding"),
        ("sokoban", "worldmodeling"),
        ("frozenlake", "grounding"),
        ("frozenlake", "worldmodeling"),
    ]
    assert figures["random_texts"]["exceptions"] == 0


def test_random_texts_are_varied_and_repeatable():
    texts = list(random_texts(1000))
    assert texts == list(random_texts(1000)) and len(set(texts)) > 900
    assert max(map(len, texts)) > 100_000 and any("中" in text for text in texts)


@pytest.mark.parametrize(("name", "check"), selfcheck.RULE_CHECKS)
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
    state = random_states("sokoban", 1)[0]

    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        request = JudgeRequest("", "", "grounding", text, state)
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            RuleJudge().score_sync([request])
            best = min(best, time.process_time() - start)
        return best

    assert seconds(5900) < 12 * seconds(1450) + 0.02  # four times the text; a square would be sixteen times
    assert seconds(1_000_000) < 0.5
