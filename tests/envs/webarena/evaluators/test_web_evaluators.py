"""Evaluators: every hand-made case gets its score in every dialect, and what cannot be evaluated gets none."""

from __future__ import annotations

from typing import Any

import pytest

from agentrl.core.errors import ConfigError, EnvFault, JudgeFault
from agentrl.core.judging import Verdict
from agentrl.envs.webarena.evaluators.evaluate import evaluate, missing
from agentrl.envs.webarena.evaluators.judge import AnswerQuestion
from tests.envs.webarena.evaluators.answer_cases import CASES
from tests.envs.webarena.evaluators.hand_made import HandMadeBackend, answer_task, task_with
from tests.envs.webarena.evaluators.place_cases import LAST, OTHER, PAGES, SHOP, TARGETS, URLS

NOWHERE = HandMadeBackend({}, "about:blank")


def both(cases: list[Any]) -> list[Any]:
    """Each case once for each dialect; BrowserGym's differs from WebArena's in the texts of pages only."""
    return [
        pytest.param(*case[:-3], dialect, case[place], id=f"{dialect}: {case[-1]} {number}")
        for number, case in enumerate(cases)
        for place, dialect in ((-3, "lite"), (-2, "webarena"), (-2, "browsergym"))
        if not (dialect == "browsergym" and "decode" in case[-1])
    ]


@pytest.mark.parametrize(("wanted", "answer", "dialect", "score"), both(CASES))
def test_answers(wanted: dict[str, Any], answer: str, dialect: str, score: int) -> None:
    result = evaluate(answer_task(wanted), answer, NOWHERE, dialect)
    assert result.score == score
    assert bool(result.lacks) == (score == 0)


@pytest.mark.parametrize(("reference", "note", "url", "dialect", "score"), both(URLS))
def test_addresses(reference: str, note: str | None, url: str, dialect: str, score: int) -> None:
    task = task_with({"eval_types": ["url_match"], "reference_url": reference, "url_note": note})
    assert evaluate(task, None, HandMadeBackend({}, url), dialect).score == score


def test_an_address_without_a_page_does_not_count() -> None:
    task = task_with({"eval_types": ["url_match"], "reference_url": LAST})
    assert evaluate(task, None, HandMadeBackend({}, LAST, status=404)).lacks == [f"the page {LAST} must exist"]


@pytest.mark.parametrize(("target", "dialect", "score"), both(TARGETS))
def test_pages(target: dict[str, Any], dialect: str, score: int) -> None:
    task = task_with({"eval_types": ["program_html"], "program_html": [target]})
    result = evaluate(task, None, HandMadeBackend(PAGES, LAST), dialect)
    assert result.score == score, result.checks


@pytest.mark.parametrize(("dialect", "score"), [("lite", 0), ("webarena", 1), ("browsergym", 0)])
def test_only_webarena_decodes_entities(dialect: str, score: int) -> None:
    target = {"url": "last", "required_contents": {"must_include": ["items & more"]}}
    task = task_with({"eval_types": ["program_html"], "program_html": [target]})
    assert evaluate(task, None, HandMadeBackend(PAGES, LAST), dialect).score == score


def test_all_kinds_of_evaluation_must_pass() -> None:
    everything = {
        "eval_types": ["string_match", "url_match", "program_html"],
        "reference_answers": {"must_include": ["12"]},
        "reference_url": LAST,
        "program_html": [{"url": OTHER, "required_contents": {"must_include": ["13"]}}],
    }
    task = task_with(everything)
    assert evaluate(task, "12", HandMadeBackend(PAGES, LAST)).score == 1
    assert evaluate(task, "12", HandMadeBackend(PAGES, OTHER)).lacks == [f"the address must match {LAST}"]
    result = evaluate(task, "14", HandMadeBackend({**PAGES, OTHER: "<p>0"}, OTHER))
    assert result.score == 0
    assert [check.kind for check in result.checks if not check.passed] == ["answer", "address", "page"]


def test_what_is_not_asked_for_is_not_looked_at() -> None:
    task = task_with({"eval_types": ["url_match"], "reference_url": LAST, "reference_answers": {"exact_match": "x"}})
    assert evaluate(task, "", HandMadeBackend({}, LAST)).score == 1


# ---------------------------------------------------------------------- helpers

MEMBERS = """<html><body><table><tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@ann</span></td>
<td class="col-max-role"><span>Owner</span></td></tr><tr><td data-label="Account">
<span class="gl-avatar-labeled-sublabel">@bob</span></td><td class="col-max-role"><span>Developer</span></td></tr>
</table></body></html>"""
ADDRESSES = {"shopping": SHOP}
TOKEN = f"{SHOP}/rest/default/V1/integration/admin/token"
REVIEWS = f"{SHOP}/rest/V1/products/B1/reviews"
REPLIES = {
    TOKEN: "secret",
    f"{SHOP}/rest/V1/orders": {"items": [{"increment_id": "000000170"}]},
    REVIEWS: [
        {"nickname": "old", "ratings": [{"rating_name": "Rating", "percent": 20}]},
        {"nickname": "new", "ratings": [{"rating_name": "Rating", "percent": 80}]},
    ],
    f"{SHOP}/rest/V1/products/B2/reviews": [],
}


ROLE = "func:gitlab_get_project_memeber_role(__page__, {!r})"
REVIEW = "func:shopping_get_sku_latest_review_{}({!r})"


@pytest.mark.parametrize("dialect", ["lite", "webarena"])
@pytest.mark.parametrize(
    ("place", "contents", "score"),
    [
        ({"locator": ROLE.format("bob")}, {"exact_match": "Developer"}, 1),
        ({"locator": ROLE.format("ann")}, {"exact_match": "Developer"}, 0),
        ({"locator": ROLE.format("eve")}, {"exact_match": "Developer"}, 0),
        ({"url": "func:reddit_get_post_url('__last_url__')"}, {"must_include": ["post"]}, 1),
        ({"url": "func:shopping_get_latest_order_url()"}, {"must_include": ["order 170"]}, 1),
        ({"locator": REVIEW.format("author", "B1")}, {"exact_match": "new"}, 1),
        ({"locator": REVIEW.format("rating", "B1")}, {"must_include": ["80"]}, 1),
        ({"locator": REVIEW.format("rating", "B2")}, {"must_include": ["80"]}, 0),
    ],
)
def test_helper_functions(place: dict[str, str], contents: dict[str, Any], score: int, dialect: str) -> None:
    last = "http://forum.test/f/books/7/a-title/-/comment/9"
    pages = {
        last: MEMBERS,
        "http://forum.test/f/books/7/": "<p>the post",
        f"{SHOP}/sales/order/view/order_id/170/": "<p>order 170",
    }
    target = {**place, "required_contents": contents}
    task = task_with({"eval_types": ["program_html"], "program_html": [target]})
    backend = HandMadeBackend(pages, last, REPLIES)
    assert evaluate(task, None, backend, dialect, addresses=ADDRESSES).score == score


@pytest.mark.parametrize(
    "call",
    [
        "func:open('/etc/passwd')",
        "func:__import__('os').system('true')",
        "func:reddit_get_post_url(open)",
        "func:reddit_get_post_url()",
        "func:reddit_get_post_url('a', 'b')",
        "func:reddit_get_post_url(url='a')",
        "func:[].append(1)",
        "func:",
        "func:" + "(" * 1000,
    ],
)
def test_only_known_helpers_are_ever_called(call: str) -> None:
    task = task_with(
        {"eval_types": ["program_html"], "program_html": [{"url": call, "required_contents": {"exact_match": "a"}}]}
    )
    with pytest.raises(EnvFault, match="cannot be run"):
        evaluate(task, None, NOWHERE)


# ---------------------------------------------------------------------- no score where there is no verdict


def broken_judge(question: AnswerQuestion) -> bool:
    raise RuntimeError("the judge is out of order")


class SpeechlessJudge:
    """A judge behind an endpoint that is down."""

    async def score(self, requests: Any) -> list[Any]:
        return self.score_sync(requests)

    def score_sync(self, requests: Any) -> list[Any]:
        return [JudgeFault("no answer") for _ in requests]


class EagerJudge(SpeechlessJudge):
    """Says yes to whatever contains "right" and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def score_sync(self, requests: Any) -> list[Any]:
        self.asked += requests
        return [Verdict(float("right" in request.text), "test") for request in requests]


@pytest.mark.parametrize("judge", [broken_judge, SpeechlessJudge(), lambda *_: "maybe", lambda *_: 7])
@pytest.mark.parametrize("wanted", [{"fuzzy_match": ["a sentence"]}, {"fuzzy_match": "N/A"}])
def test_a_judge_that_fails_leaves_no_score(judge: Any, wanted: dict[str, Any]) -> None:
    with pytest.raises(JudgeFault):
        evaluate(answer_task(wanted), "my answer", NOWHERE, judge=judge)


def test_a_language_model_that_cannot_be_reached_leaves_no_score() -> None:
    away = {"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0, "cache": False}
    with pytest.raises(JudgeFault):
        evaluate(answer_task({"fuzzy_match": ["a sentence"]}), "my answer", NOWHERE, judge=away)


def test_a_failed_check_needs_no_judge() -> None:
    task = answer_task({"must_include": ["x"], "fuzzy_match": ["y"]})
    assert evaluate(task, "y", NOWHERE, judge=broken_judge).score == 0


def test_a_site_that_does_not_answer_leaves_no_score() -> None:
    page = {"url": f"{SHOP}/down", "required_contents": {"must_include": ["x"]}}
    task = task_with({"eval_types": ["program_html"], "program_html": [page]})
    with pytest.raises(EnvFault, match="does not answer"):
        evaluate(task, None, HandMadeBackend(PAGES, LAST))
    both_kinds = {"eval_types": ["url_match", "program_html"], "reference_url": OTHER, "program_html": [page]}
    assert evaluate(task_with(both_kinds), None, HandMadeBackend(PAGES, LAST)).score == 0  # it cannot become 1


def test_a_page_that_only_a_browser_can_evaluate_leaves_no_score() -> None:
    page = {"locator": "document.querySelector('b').offsetWidth", "required_contents": {"exact_match": "7"}}
    task = task_with({"eval_types": ["program_html"], "program_html": [page]})
    with pytest.raises(EnvFault, match="without a browser"):
        evaluate(task, None, HandMadeBackend(PAGES, LAST))


def test_a_judge_sees_the_task_and_the_right_answer() -> None:
    judge = EagerJudge()
    task = answer_task({"fuzzy_match": ["one", "two"]}, intent="Which numbers?")
    assert evaluate(task, "quite right", NOWHERE, "lite", judge).score == 1
    assert [request.state for request in judge.asked] == [{"task": "Which numbers?", "right answer": "one, two"}]
    assert judge.asked[0].purpose == "answer"
    assert evaluate(task, "quite right", NOWHERE, "webarena", judge).score == 1
    assert len(judge.asked) == 3  # webarena asks about each reference
    assert evaluate(task, "wrong", NOWHERE, "webarena", judge).score == 0
    assert len(judge.asked) == 4  # and stops at the first that fails


def test_a_function_may_judge() -> None:
    task = answer_task({"fuzzy_match": ["one", "two"]})
    assert evaluate(task, "1 and 2", NOWHERE, judge=lambda question: question.right_answer == "one, two").score == 1
    assert evaluate(task, "1 and 2", NOWHERE, judge=lambda question: 0.2).score == 0


def test_a_judge_compares_the_reasons_why_a_task_cannot_be_done() -> None:
    judge = EagerJudge()
    task = answer_task({"fuzzy_match": "N/A"}, note="There is no such order")
    assert evaluate(task, "N/A", NOWHERE, judge=judge).score == 1
    assert not judge.asked  # the sign itself needs no judge
    assert evaluate(task, "there is none, right?", NOWHERE, judge=judge).score == 1
    assert "There is no such order" in judge.asked[0].state["right answer"]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("There is no order of this kind", 1),
        ("The shop has no such order", 1),
        ("There is an order", 0),
        ("I am lost", 0),
    ],
)
def test_rules_compare_the_reasons_why_a_task_cannot_be_done(answer: str, score: int) -> None:
    task = answer_task({"fuzzy_match": "N/A"}, note="There is no order")
    assert evaluate(task, answer, NOWHERE).score == score


def test_what_cannot_be_a_judge_or_a_dialect_is_refused() -> None:
    task = answer_task({"fuzzy_match": ["x"]})
    with pytest.raises(ConfigError, match="judge must be"):
        evaluate(task, "x", NOWHERE, judge=7)
    with pytest.raises(ConfigError, match="unknown judge"):
        evaluate(task, "x", NOWHERE, judge="no-such-judge")
    with pytest.raises(ConfigError, match="cannot be written as JSON"):
        evaluate(task, "x", NOWHERE, judge={"kind": "llm", "model": object()})
    for wrong in ("structured", {"kind": "outcome", "model": "m"}):
        with pytest.raises(ConfigError, match="answer"):
            evaluate(task, "x", NOWHERE, judge=wrong)
    with pytest.raises(ConfigError, match="dialect must be one of"):
        evaluate(task, "x", NOWHERE, dialect="visual")
    with pytest.raises(ConfigError, match="no evaluator"):
        evaluate(task_with(None), "x", NOWHERE)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- hostile answers


@pytest.mark.parametrize("dialect", ["lite", "webarena"])
@pytest.mark.parametrize(
    "answer",
    ["\0" * 1000, "\ud800\udfff", "a" * 3_000_000, "5. " * 500_000, "'" * 500_000, "(" * 200_000, "\u202e" * 9, None],
    ids=["NUL", "surrogates", "long", "stops", "quotes", "brackets", "marks", "none"],
)
def test_hostile_answers_score_nothing_and_break_nothing(answer: str | None, dialect: str) -> None:
    for wanted in ({"exact_match": "x"}, {"must_include": ["5x"]}, {"fuzzy_match": ["11 min"]}, {"fuzzy_match": "N/A"}):
        assert evaluate(answer_task(wanted, note="no such thing"), answer, NOWHERE, dialect).score == 0


# ---------------------------------------------------------------------- on the way


def test_what_is_missing_is_said_before_the_end() -> None:
    everything = {
        "eval_types": ["string_match", "url_match", "program_html"],
        "reference_answers": {"must_include": ["12"]},
        "reference_url": OTHER,
        "program_html": [{"url": OTHER, "required_contents": {"must_include": ["14"]}}],
    }
    backend = HandMadeBackend(PAGES, LAST)
    assert missing(task_with(everything), backend) == [
        "the answer must be given",
        f"the address must match {OTHER}",
        f"the page {OTHER} must include '14'",
    ]
    down = {"url": "http://down.test", "required_contents": {"exact_match": "1"}}
    lacks = missing(task_with({**everything, "program_html": [down]}), backend)
    assert lacks[-1] == "a page cannot be looked at: http://down.test does not answer"


def test_pages_need_not_be_looked_at_twice() -> None:
    page = {"url": OTHER, "required_contents": {"must_include": ["13"]}}
    task = task_with({"eval_types": ["program_html"], "program_html": [page, {**page, "url": "last"}]})
    pages, seen = dict(PAGES), {}
    backend = HandMadeBackend(pages, LAST)
    assert len(missing(task, backend, seen=seen)) == 1
    pages[OTHER] = pages[LAST] = "<p>13 and 14"
    assert missing(task, backend, seen=seen) == []  # the agent's own page is always looked at
    pages[OTHER] = "<p>15"
    assert missing(task, backend, seen=seen) == []
    assert len(missing(task, backend)) == 1
