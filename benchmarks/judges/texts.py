"""Labelled texts about directions and points: what each earns in some states, for measuring judges.

Each line of `corpus/bearing-*.jsonl` and `corpus/points-*.jsonl` is a text with its `env`, `purpose` and `cases`: what
a trajectory records of some states, as far as it matters, and the score that the text deserves there. The rules were
written with the training files at hand; the held-out files were written when the rules were finished and have not been
used to change them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from agentrl.core.errors import ConfigError
from agentrl.core.judging import Judge, JudgeRequest, Purpose, Verdict
from agentrl.judges.rule import RuleJudge
from benchmarks.judges.corpus import FOLDER, SPLITS
from benchmarks.judges.states import envs_declaring

KINDS = ("bearing", "points")
Case = tuple[dict[str, Any], float]  # state, score


class LabelledText(NamedTuple):
    """A text, and what it earns in some states."""

    env: str
    purpose: Purpose
    text: str
    cases: tuple[Case, ...]


class Accuracy(NamedTuple):
    """How well texts of one purpose are judged."""

    texts: int
    exact: float  # share of the texts that are judged right in every state
    cases: float  # share of the verdicts that are right


def load(kind: str, split: str) -> list[LabelledText]:
    """The texts about "bearing" or "points" of "train" or "heldout"."""
    path = FOLDER / f"{kind}-{split}.jsonl"
    if not path.is_file():
        raise ConfigError(
            f"the labelled texts ({path.name}) are missing: they come with a checkout of agentrl, not with an "
            "installed package"
        )
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [LabelledText(row["env"], row["purpose"], row["text"], tuple(map(tuple, row["cases"]))) for row in rows]


def measure(texts: list[LabelledText], judge: Judge | None = None) -> Accuracy:
    """How often a judge, by default the rule judge, gives the score of the label."""
    judge = judge or RuleJudge()
    exact = right = cases = 0
    for one in texts:
        requests = [JudgeRequest("", one.env, one.purpose, one.text, state) for state, _ in one.cases]
        verdicts = judge.score_sync(requests)
        pairs = zip(verdicts, one.cases, strict=True)
        hits = [isinstance(found, Verdict) and abs(found.score - score) < 1e-3 for found, (_, score) in pairs]
        exact, right, cases = exact + all(hits), right + sum(hits), cases + len(hits)
    return Accuracy(len(texts), exact / max(1, len(texts)), right / max(1, cases))


def accuracies() -> dict[str, Accuracy]:
    """The figures by kind, purpose and split, of the kinds whose environments are installed."""
    found = {}
    for kind in filter(envs_declaring, KINDS):
        for split in SPLITS:
            texts = load(kind, split)
            for purpose in dict.fromkeys(one.purpose for one in texts):
                found[f"{kind} {purpose} {split}"] = measure([one for one in texts if one.purpose == purpose])
    return found
