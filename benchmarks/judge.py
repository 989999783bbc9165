"""`agentrl bench judge`: descriptions and predictions judged per second by the rule judge, on one core.

Seconds are those of the processor, so that other work on the machine does not count against the judge.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import agentrl
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.measure import machine, result
from agentrl.judges.grammar.chunker import remembered_chunks
from agentrl.judges.rule import RuleJudge, remembered_reading
from benchmarks.judges import corpus
from benchmarks.judges.states import visited_states

REQUIRED_RATE = 5000.0  # judgements a second
CASES = {
    "new sentences": True,  # nothing remembered: the parser's own speed
    "new texts of known sentences": False,  # what a training run sees: agents repeat themselves
}


def run(quick: bool = False) -> dict[str, Any]:
    """Judge the whole labelled corpus over and over; the peer of the ratio is the rate that is required."""
    seconds, repeats = (0.2, 1) if quick else (1.0, 5)
    results = [_row(case, rates(judging(forget), seconds, repeats)) for case, forget in CASES.items()]
    ratios = [_ratio(row["case"], row["value"]) for row in results]
    return {
        "schema": 1,
        "name": "judge",
        "machine": machine(),
        "threads": 1,
        "results": results,
        "peers": {},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def rates(work: Callable[[], int], seconds: float, repeats: int) -> list[float]:
    """Things done in a second of processor time, once for each repeat."""
    work()  # warm caches
    found = []
    for _ in range(repeats):
        done, start = 0, time.process_time()
        while (spent := time.process_time() - start) < seconds:
            done += work()
        found.append(done / spent)
    return found


def judging(forget: bool) -> Callable[[], int]:
    """Every statement of the corpus against a state of its environment, in one batch."""
    judge, batch = RuleJudge(), requests()

    def work() -> int:
        remembered_reading.cache_clear()
        if forget:
            remembered_chunks.cache_clear()
        verdicts = judge.score_sync(batch)
        if not all(isinstance(verdict, Verdict) for verdict in verdicts):
            raise AssertionError("a statement of the corpus could not be judged")
        return len(batch)

    return work


def requests() -> list[JudgeRequest]:
    """The statements of both splits, each about another state."""
    statements = [statement for split in corpus.SPLITS for statement in corpus.load(split)]
    ids = {statement.env for statement in statements}
    states = {env_id: itertools.cycle(visited_states(env_id, 500)) for env_id in sorted(ids)}
    return [
        JudgeRequest(str(index), statement.env, statement.purpose, statement.text, next(states[statement.env]))
        for index, statement in enumerate(statements)
    ]


def _row(case: str, found: list[float]) -> dict[str, Any]:
    return result(case, "agentrl rule judge", agentrl.__version__, found, "judgements/s", obs="text")


def _ratio(case: str, rate: float) -> dict[str, Any]:
    ratio = rate / REQUIRED_RATE
    return {"case": case, "ours": rate, "peer": REQUIRED_RATE, "ratio": ratio, "required": 1, "pass": ratio >= 1}
