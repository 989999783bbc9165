"""Who judges answers that rules of comparison cannot: `"rule"`, a function of one's own, or a judge such as an LLM."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentrl.core.errors import AgentRLError, ConfigError, JudgeFault
from agentrl.core.judging import ChecksEnv, Judge, JudgeRequest, Verdict
from agentrl.core.specs import resolve, to_json
from agentrl.envs.webarena.evaluators.rule_judge import agrees, refuses

RULE = "rule"
ENV_ID = "agentrl/WebArenaLite-Text-v0"


@dataclass(frozen=True)
class AnswerQuestion:
    """Does `answer` say what all `references` say? Where there are none, the task cannot be done: does the answer say
    so, and for this `reason` (if one is known)? `together` are all references of the task, where some are asked about
    at a time."""

    intent: str
    references: tuple[str, ...]
    answer: str
    reason: str = ""
    together: tuple[str, ...] = ()

    @property
    def right_answer(self) -> str:
        """What a right answer says, as one text."""
        if self.references:
            return ", ".join(self.references)
        because = f", because: {self.reason}" if self.reason else ""
        return f"N/A (the task cannot be done{because})"


AnswerJudge = Callable[[AnswerQuestion], bool]


def answer_judge(judge: object) -> AnswerJudge:
    """A judge of answers: "rule"; a function of an `AnswerQuestion` that returns a bool or a score; or what
    `agentrl.core.specs.resolve` takes. One that cannot judge answers is refused with a `ConfigError`; whatever goes
    wrong later is a `JudgeFault`."""
    if isinstance(judge, str) and judge == RULE:
        return by_rule
    if isinstance(judge, (str, Mapping)):
        judge = _from_json(json.dumps(to_json(judge), sort_keys=True))
    if isinstance(judge, Judge):
        model = judge
        if isinstance(model, ChecksEnv):
            model.check_env(ENV_ID, None, "natural", ("answer",))
        return lambda question: _by_model(model, question)
    if callable(judge):
        return lambda question: _by_function(judge, question)
    raise ConfigError(f'judge must be "rule", a function, a judge or its spec; got {type(judge).__name__}')


def by_rule(question: AnswerQuestion) -> bool:
    """The rule judge. It must know all references: what belongs to another one is no wrong guess."""
    if question.references:
        return agrees(question.together or question.references, question.answer, question.intent)
    return refuses(question.reason, question.answer)


def _by_function(function: Callable[..., Any], question: AnswerQuestion) -> bool:
    try:
        verdict = function(question)
    except JudgeFault:
        raise
    except Exception as error:
        raise JudgeFault(f"the judge of answers failed: {type(error).__name__}: {error}") from error
    if not isinstance(verdict, (bool, int, float)) or not 0 <= verdict <= 1:
        raise JudgeFault(f"a judge of answers must return a bool or a score from 0 to 1; got {verdict!r}")
    return verdict >= 0.5


def _by_model(judge: Judge, question: AnswerQuestion) -> bool:
    facts = {"task": question.intent, "right answer": question.right_answer}
    request = JudgeRequest("answer", ENV_ID, "answer", question.answer, facts)
    try:
        verdict = judge.score_sync([request])[0]
    except AgentRLError:
        raise
    except Exception as error:
        raise JudgeFault(f"the judge of answers failed: {type(error).__name__}: {error}") from error
    if isinstance(verdict, Verdict):
        return verdict.score >= 0.5
    raise verdict


@lru_cache(16)  # a judge holds connections and a cache of replies: one for all evaluations
def _from_json(spec: str) -> Judge:
    return resolve("judge", json.loads(spec))
