"""The figures behind the rule judge: how well it reads, what hedging earns, what hostile texts do."""

from __future__ import annotations

import time
from typing import Any

from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.core.state import State
from agentrl.judges.fitting import DESCRIPTIONS
from agentrl.judges.rule import RuleJudge
from benchmarks.judges import corpus
from benchmarks.judges import texts as texts_of
from benchmarks.judges.fuzz import random_texts
from benchmarks.judges.hedging import guessing_score, hedging_scores, hedging_texts
from benchmarks.judges.injections import INJECTIONS
from benchmarks.judges.room import ENV_ID
from benchmarks.judges.states import envs_declaring, envs_with_relations, visited_states


def report(states: int = 1000, texts: int = 10_000) -> dict[str, Any]:
    """Everything, as plain numbers: `corpus`, `hedging` and `random_texts`."""
    return {
        "corpus": {split: corpus.measure(corpus.load(split))._asdict() for split in corpus.SPLITS},
        "hedging": [hedging(env_id, purpose, states) for env_id in envs_with_relations() for purpose in DESCRIPTIONS],
        "random_texts": hostile(texts),
    }


def hedging(env_id: str, purpose: Purpose, states: int = 1000) -> dict[str, Any]:
    """The best of the hedging texts against honest guessing."""
    relations = corpus.vocabulary(env_id).relations
    sample, texts = visited_states(env_id, states), hedging_texts(relations)
    scores = hedging_scores(texts, env_id, sample, purpose)
    best = max(range(len(texts)), key=scores.__getitem__)
    guess = guessing_score(relations, sample)
    return {
        "env": env_id,
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
    judge, states = RuleJudge(), [(env_id, visited_states(env_id, 1)[0]) for env_id in envs_with_relations()]
    relations = corpus.vocabulary(states[0][0]).relations
    for kind in filter(envs_declaring, texts_of.KINDS):
        labelled = texts_of.load(kind, "train")[0]
        states.append((labelled.env, labelled.cases[0][0]))
    exceptions = wrong = 0
    slowest = 0.0
    for index, text in enumerate(random_texts(count, relations)):
        env_id, state = states[index % len(states)]
        request = JudgeRequest(str(index), env_id, DESCRIPTIONS[index // len(states) % 2], text, state)
        start = time.perf_counter()
        try:
            (verdict,) = judge.score_sync([request])
            wrong += not (isinstance(verdict, Verdict) and 0 <= verdict.score <= 1)
        except Exception:
            exceptions += 1
        slowest = max(slowest, time.perf_counter() - start)
    return {"texts": count, "exceptions": exceptions, "bad_verdicts": wrong, "slowest_seconds": slowest}


def injection_shift(text: str, state: State) -> dict[str, Any]:
    """How far orders to the judge, written before or after a description, move its mean score."""

    def mean(texts: list[str]) -> float:
        verdicts = RuleJudge().score_sync([JudgeRequest("", ENV_ID, "grounding", each, state) for each in texts])
        return sum(verdict.score for verdict in verdicts if isinstance(verdict, Verdict)) / len(texts)

    score = mean([text])
    before, after = mean([f"{attack} {text}" for attack in INJECTIONS]), mean([f"{text} {a}" for a in INJECTIONS])
    shift = max(abs(before - score), abs(after - score))
    figures = {"injections": len(INJECTIONS), "score": score, "mean_before": before, "mean_after": after}
    return {**figures, "largest_shift": shift}
