"""`evaluate`: the score of a finished task, 1 or 0, with what was checked; `missing`: what a running one still lacks.

Everything that can be decided by rules comes first: a judge is asked only where its verdict decides the score. Where a
check cannot be made (`EnvFault`: a site does not answer; `JudgeFault`: no verdict) the fault is raised and there is no
score, unless another check has failed already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentrl.core.errors import ConfigError, EnvFault, Fault
from agentrl.envs.webarena.backend import Backend
from agentrl.envs.webarena.evaluators.answers import Dialect, check_dialect, clean_answer, exact_match, unmet, url_match
from agentrl.envs.webarena.evaluators.judge import AnswerJudge, AnswerQuestion, answer_judge
from agentrl.envs.webarena.evaluators.pages import Pages, Seen
from agentrl.envs.webarena.sites.places import Account
from agentrl.envs.webarena.tasks.addresses import default_addresses
from agentrl.envs.webarena.tasks.schema import NOT_ACHIEVABLE, HtmlTarget, Requirements, WebTask

MAX_ANSWER = 1_000_000  # characters that are compared
NOT_FOUND = 404


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `lack` says in words what is missing; it is empty where the check passed."""

    kind: str  # "answer", "address" or "page"
    lack: str = ""

    @property
    def passed(self) -> bool:
        """Is nothing lacking?"""
        return not self.lack


@dataclass(frozen=True)
class Result:
    """The score of a task and how it came about."""

    score: float
    checks: tuple[Check, ...]

    @property
    def lacks(self) -> list[str]:
        """What is missing, in words."""
        return [check.lack for check in self.checks if check.lack]


@dataclass(frozen=True)
class Evaluator:
    """What all checks of one evaluation share."""

    task: WebTask
    backend: Backend
    dialect: Dialect
    pages: Pages

    # ------------------------------------------------------------------ by rules

    def place_checks(self) -> Iterator[Check]:
        """Where the agent is and what the pages show; no answer is needed, and no judge asked."""
        evaluation = self.task.eval
        if evaluation is None:
            return
        if "url_match" in evaluation.eval_types and evaluation.reference_url is not None:
            view = self.backend.view()
            found = url_match(evaluation.reference_url, view.url, self.dialect, evaluation.url_note)
            lack = "" if found else f"the address must match {evaluation.reference_url}"
            if found and view.status == NOT_FOUND:  # an address that anybody can type
                lack = f"the page {view.url} must exist"
            yield Check("address", lack)
        for target in self.targets():
            text, where = self.pages.text_of(target, self.dialect), name_of(target)
            if text is None:
                yield Check("page", f"{where} must exist")
            else:
                lacks = self.unmet(target.required_contents, text, is_answer=False)
                yield Check("page", " and ".join(f"{where} {lack}" for lack in lacks))

    def targets(self) -> tuple[HtmlTarget, ...]:
        """The places on pages that the task looks at."""
        evaluation = self.task.eval
        assert evaluation is not None
        return (evaluation.program_html or ()) if "program_html" in evaluation.eval_types else ()

    def answer_checks(self, answer: str) -> Iterator[Check]:
        """The answer, compared with the wanted one by rules."""
        wanted = self.wanted_answer()
        if wanted is not None:
            lacks = self.unmet(wanted, clean_answer(answer, self.dialect), is_answer=True)
            yield Check("answer", " and ".join(f"the answer {lack}" for lack in lacks))

    def unmet(self, wanted: Requirements, text: str, *, is_answer: bool) -> Iterator[str]:
        """What a text lacks."""
        return unmet(wanted, text, self.dialect, is_answer=is_answer, instruction=self.task.intent)

    def wanted_answer(self) -> Requirements | None:
        """What the answer must be like; None where none is asked for."""
        evaluation = self.task.eval
        assert evaluation is not None
        return evaluation.reference_answers if "string_match" in evaluation.eval_types else None

    # ------------------------------------------------------------------ by a judge

    def judged_checks(self, answer: str, judge: AnswerJudge) -> Iterator[Check]:
        """The answer and the texts on pages that need judgement."""
        wanted = self.wanted_answer()
        if wanted is not None and wanted.fuzzy_match is not None:
            yield self._judged("answer", "the answer", wanted.fuzzy_match, clean_answer(answer, self.dialect), judge)
        for target in self.targets():
            if target.required_contents.fuzzy_match is not None:
                text = self.pages.text_of(target, self.dialect) or ""
                yield self._judged("page", name_of(target), target.required_contents.fuzzy_match, text, judge)

    def _judged(self, kind: str, where: str, references: tuple[str, ...], text: str, judge: AnswerJudge) -> Check:
        """`lite` asks once about all references, `webarena` once about each, `browsergym` so about those of answers."""
        if references == (NOT_ACHIEVABLE,):
            assert self.task.eval is not None
            question = AnswerQuestion(self.task.intent, (), text, reason=self.task.eval.string_note or "")
            passed = exact_match(NOT_ACHIEVABLE, text, self.dialect) or judge(question)
        else:
            together = self.dialect == "lite" or (self.dialect == "browsergym" and kind == "page")
            groups = [references] if together else [(reference,) for reference in references]
            passed = all(judge(AnswerQuestion(self.task.intent, group, text, together=references)) for group in groups)
        return Check(kind, "" if passed else f"{where} must say {', '.join(references)!r}")


def evaluate(
    task: WebTask,
    answer: str | None,
    backend: Backend,
    dialect: str = "lite",
    judge: object = "rule",
    addresses: Mapping[str, str] | None = None,
    accounts: Mapping[str, Account] | None = None,
) -> Result:
    """The score of a task whose placeholders are replaced. `answer` is None where the agent gave none; `judge` is
    "rule", a function, or what `agentrl.core.specs.resolve` takes. `addresses` and `accounts` are those of the sites,
    the embedded ones by default. Raises `Fault` where the score cannot be known."""
    if task.eval is None:
        raise ConfigError("the task has no evaluator: only a judge of outcomes can score it")
    pages = Pages(backend, default_addresses() if addresses is None else addresses, accounts=accounts)
    evaluator = Evaluator(task, backend, check_dialect(dialect), pages)
    answer = (answer or "")[:MAX_ANSWER]
    ask = answer_judge(judge)
    checks: list[Check] = []
    try:
        checks.extend(evaluator.answer_checks(answer))  # they cost nothing
        for check in evaluator.place_checks():  # one by one: a fault leaves those before it
            checks.append(check)
        if all(check.passed for check in checks):
            checks.extend(evaluator.judged_checks(answer, ask))
    except Fault:
        if all(check.passed for check in checks):
            raise
    return Result(float(all(check.passed for check in checks)), tuple(checks))


def missing(
    task: WebTask,
    backend: Backend,
    dialect: str = "lite",
    addresses: Mapping[str, str] | None = None,
    seen: Seen | None = None,
) -> list[str]:
    """What the task still lacks, in words, as far as it can be seen before an answer is given. `seen` spares another
    look at pages: give the same dictionary again as long as neither the sites' data nor the cookies change."""
    if task.eval is None:
        return []
    pages = Pages(backend, default_addresses() if addresses is None else addresses, seen, quick=True)
    evaluator = Evaluator(task, backend, check_dialect(dialect), pages)
    lacks = ["the answer must be given"] if evaluator.wanted_answer() is not None else []
    try:
        return lacks + [check.lack for check in evaluator.place_checks() if check.lack]
    except EnvFault as fault:
        return [*lacks, f"a page cannot be looked at: {fault}"]


def name_of(target: HtmlTarget) -> str:
    """A target in words."""
    page = "the page" if target.url == "last" else f"the page {target.url}"
    return f"{target.locator} of {page}" if target.locator.strip() else page
