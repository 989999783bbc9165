"""The figures behind the rule judge: how well it reads, what hedging earns, what hostile texts do."""

from __future__ import annotations

import time
from typing import Any

from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.judges import corpus
from agentrl.judges.fuzz import random_texts
from agentrl.judges.hedging import guessing_score, hedging_scores, hedging_texts, random_states
from agentrl.judges.injections import INJECTIONS
from agentrl.judges.relations import Game
from agentrl.judges.rule import PURPOSES, RuleJudge

GAMES: tuple[Game, ...] = ("sokoban", "frozenlake")


def report(states: int = 1000, texts: int = 10_000) -> dict[str, Any]:
    """Everything, as plain numbers: `corpus`, `hedging` and `random_texts`."""
    return {
        "corpus": {split: corpus.measure(corpus.load(split))._asdict() for split in corpus.SPLITS},
        "hedging": [hedging(game, purpose, states) for game in GAMES for purpose in PURPOSES],
        "random_texts": hostile(texts),
    }


def hedging(game: Game, purpose: Purpose, states: int = 1000) -> dict[str, Any]:
    """The best of the hedging texts against honest guessing."""
    sample, texts = random_states(game, states), hedging_texts(game)
    scores = hedging_scores(texts, sample, purpose)
    best = max(range(len(texts)), key=scores.__getitem__)
    guess = guessing_score(sample)
    return {
        "game": game,
        "purpose": purpose,
        "texts": len(texts),
        "states": states,
        "guessing": guess,
        "best_hedge": scores[best],
        "best_text": texts[best][:120],
        "pass": scores[best] <= guess,
    }


def hostile(count: int = 10_000) -> dict[str, Any]:
    """Exceptions, verdicts out of range and the slowest of many random texts."""
    judge, states = RuleJudge(), [random_states(game, 1)[0] for game in GAMES]
    exceptions = wrong = 0
    slowest = 0.0
    for index, text in enumerate(random_texts(count)):
        request = JudgeRequest(str(index), "", PURPOSES[index // 2 % 2], text, states[index % 2])
        start = time.perf_counter()
        try:
            (verdict,) = judge.score_sync([request])
            wrong += not (isinstance(verdict, Verdict) and 0 <= verdict.score <= 1)
        except Exception:
            exceptions += 1
        slowest = max(slowest, time.perf_counter() - start)
    return {"texts": count, "exceptions": exceptions, "bad_verdicts": wrong, "slowest_seconds": slowest}


def injection_shift(text: str, state: dict[str, Any]) -> dict[str, Any]:
    """How far orders to the judge, written before or after a description, move its mean score."""

    def mean(texts: list[str]) -> float:
        verdicts = RuleJudge().score_sync([JudgeRequest("", "", "grounding", each, state) for each in texts])
        return sum(verdict.score for verdict in verdicts if isinstance(verdict, Verdict)) / len(texts)

    score = mean([text])
    before, after = mean([f"{attack} {text}" for attack in INJECTIONS]), mean([f"{text} {a}" for a in INJECTIONS])
    shift = max(abs(before - score), abs(after - score))
    figures = {"injections": len(INJECTIONS), "score": score, "mean_before": before, "mean_after": after}
    return {**figures, "largest_shift": shift}
