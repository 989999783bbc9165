"""The structured judge: golden numbers, what never pays, tolerances, and every kind of hostile text."""

from __future__ import annotations

import itertools
import json
import random
import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrl.core.claims import Claims, Value
from agentrl.core.errors import JudgeFault
from agentrl.core.judging import ChecksEnv, Judge, JudgeRequest, Verdict
from agentrl.core.specs import resolve
from agentrl.core.state import State
from agentrl.judges.structured import StructuredJudge, best_total, read_object, score_values

CUP = (Value("kind"), Value("colour", tolerance=16), Value("at", tolerance=2))
VALUES = (
    Value("page"),
    Value("price", weight=0.5, tolerance=0.01),
    Value("options", many=True),
    Value("words", many=True),
    Value("cups", many=True, fields=CUP),
)
TRUTH = {
    "page": "item",
    "price": 12.5,
    "options": {"size": "large", "colour": "red"},
    "words": ["a", "b", "b"],
    "cups": [
        {"kind": "mug", "colour": "#0080ff", "at": [10, 20]},
        {"kind": "glass", "colour": None, "at": [50, 60]},
    ],
    "not declared": 7,
}


@dataclass(frozen=True)
class Kitchen(State):
    """A state with declared values."""

    facts: str = json.dumps(TRUTH)

    @classmethod
    def claims(cls) -> Claims:
        return CLAIMS

    def structured(self) -> dict[str, Any]:
        return json.loads(self.facts)


CLAIMS = Claims(values=VALUES)


def judged(text: Any, state: Any = None, purpose: Any = "grounding") -> Any:
    state = Kitchen() if state is None else state
    (verdict,) = StructuredJudge().score_sync([JudgeRequest("1", "", purpose, text, state, "structured")])
    return verdict


def score(claimed: dict[str, Any], true: dict[str, Any] = TRUTH) -> float:
    return judged(json.dumps(claimed), Kitchen(json.dumps(true))).score


def f1(key: str, claimed: Any) -> float:
    return judged(json.dumps({key: claimed})).evidence["f1"][key]


def test_it_is_the_judge_called_structured():
    judge = resolve("judge", "structured")
    assert isinstance(judge, StructuredJudge) and isinstance(judge, Judge) and isinstance(judge, ChecksEnv)


# ---------------------------------------------------------------------- golden numbers


def test_the_truth_scores_one_and_keys_that_are_not_declared_do_not_count():
    assert score(TRUTH) == score({**TRUTH, "not declared": 8, "more": [1]}) == 1.0
    assert judged(f"I see:\n```json\n{json.dumps(TRUTH)}\n```\nThat is all.").score == 1.0


@pytest.mark.parametrize("text", ("", "nothing", "{}", "[]", "{", "}{", "null", '"page"', "item", "{page: item}"))
def test_nothing_scores_nothing(text):
    assert judged(text).score == 0.0


def test_weights_are_those_that_are_declared():
    assert score({**TRUTH, "page": "search"}) == pytest.approx(3.5 / 4.5)
    assert score({**TRUTH, "price": None}) == pytest.approx(4 / 4.5)
    assert score({"page": "item"}) == pytest.approx(1 / 4.5)


@pytest.mark.parametrize(
    ("key", "claimed", "expected"),
    (
        ("page", " ITEM ", 1.0),
        ("page", "items", 0.0),
        ("page", ["item"], 0.0),  # one value, not a list of guesses
        ("price", "12.5", 0.0),
        ("price", True, 0.0),
        ("options", {"size": "Large", "colour": "red"}, 1.0),
        ("options", {"size": "large"}, 2 / 3),  # one right of one, of two
        ("options", {"size": "large", "colour": "blue"}, 0.5),
        ("options", {"size": "large", "colour": "red", "shape": "round"}, 4 / 5 * 2 / 3),  # F1, diluted
        ("options", ["large", "red"], 0.0),
        ("words", ["b", "a", "b"], 1.0),
        ("words", ["b", "a", "a"], 2 / 3),  # one "a" is there, and "b" was said once
        ("words", ["b", "b"], 4 / 5),
        ("words", "a", 2 / 4),  # one entry
        ("cups", TRUTH["cups"][:1], 2 / 3),
        ("cups", [{"kind": "mug"}, {"kind": "glass"}], (1 / 3 + 1 / 2) / 2),  # of three fields, and of two
        ("cups", [{**TRUTH["cups"][0], "kind": "jug"}, TRUTH["cups"][1]], (2 / 3 + 1) / 2),
        ("cups", ["mug", "glass"], 0.0),
    ),
)
def test_golden_numbers(key, claimed, expected):
    assert f1(key, claimed) == pytest.approx(expected)


@pytest.mark.parametrize("number", (12.49, 12.5, 12.51, 12.495))
def test_a_number_within_the_tolerance_is_right(number):
    assert f1("price", number) == 1.0


@pytest.mark.parametrize("number", (12.489, 12.511, -12.5, 0, 1e300, int("9" * 400)))
def test_a_number_beyond_the_tolerance_is_wrong(number):
    assert f1("price", number) == 0.0


@pytest.mark.parametrize(
    ("colour", "right"), (("#1070ef", True), ("#0080FF", True), ("#1170ef", False), ("blue", False), ("#0080f", False))
)
def test_a_colour_may_differ_by_its_tolerance_in_each_channel(colour, right):
    cup = {**TRUTH["cups"][0], "colour": colour}
    assert f1("cups", [cup, TRUTH["cups"][1]]) == pytest.approx(1.0 if right else (2 / 3 + 1) / 2)


@pytest.mark.parametrize(("at", "right"), (([12, 18], True), ([12.1, 20], False), ([10, 20, 0], False), (10, False)))
def test_positions_are_compared_number_by_number(at, right):
    cup = {**TRUTH["cups"][0], "at": at}
    assert f1("cups", [cup, TRUTH["cups"][1]]) == pytest.approx(1.0 if right else (2 / 3 + 1) / 2)


def test_what_is_empty_in_truth_counts_only_when_something_is_claimed():
    true = {"page": "search", "price": None, "options": {}, "words": [], "cups": None}
    assert score({"page": "search"}, true) == score(true, true) == 1.0
    assert score({"page": "search", "price": 3}, true) == pytest.approx(1 / 1.5)
    assert score({}, true) == 0.0


# ---------------------------------------------------------------------- what never pays


@given(st.permutations(TRUTH["cups"]), st.permutations(TRUTH["words"]), st.permutations(list(TRUTH["options"])))
def test_order_does_not_matter(cups, words, names):
    options = {name: TRUTH["options"][name] for name in names}
    assert score({**TRUTH, "cups": cups, "words": words, "options": options}) == 1.0


def test_the_order_of_wrong_claims_does_not_matter_either():
    rng = random.Random(0)
    draw = lambda: {"kind": rng.choice("ab"), "colour": rng.choice("cd"), "at": [rng.randrange(5), 0]}  # noqa: E731
    for _ in range(10):
        said, true = [draw() for _ in range(rng.randrange(1, 90))], [draw() for _ in range(rng.randrange(1, 90))]
        found = {
            round(score_values(VALUES, {"cups": rng.sample(said, len(said))}, {"cups": true})[0], 9) for _ in range(3)
        }
        assert len(found) == 1


@pytest.mark.parametrize("choices", (2, 9, 30))
def test_listing_every_possibility_earns_less_than_one_guess(choices):
    words = [str(number) for number in range(choices)]
    true = {"words": ["0"]}
    everything, _ = score_values(VALUES, {"words": words}, true)
    guess = sum(score_values(VALUES, {"words": [word]}, true)[0] for word in words) / choices
    assert everything < guess == pytest.approx(1 / choices)


def test_two_objects_are_not_two_guesses():
    wrong = json.dumps({**TRUTH, "page": "search"})
    assert judged(f"{json.dumps(TRUTH)} {wrong}").score == judged(f"{wrong}\n{json.dumps(TRUTH)}").score == 0.0
    assert judged('{"page": "item", "page": "search"}').score == 0.0  # of a repeated key the last one counts


@given(st.dictionaries(st.sampled_from([*TRUTH, "x"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)))  # fmt: skip
def test_any_object_has_a_score_between_nothing_and_one(claimed):
    verdict = judged(json.dumps(claimed))
    assert isinstance(verdict, Verdict) and 0 <= verdict.score < 1
    json.dumps(verdict.evidence)


# ---------------------------------------------------------------------- hostile texts


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_any_string_gets_a_verdict(text):
    for tried in (text, "{" + text, f'{{"page": "{text}"}}'):
        assert isinstance(judged(tried), Verdict)


@pytest.mark.parametrize(
    "text",
    (
        "{" * 1_000_000,
        '{"a":' * 200_000,
        '{"a":' * 4000 + "1" + "}" * 4000,
        '{"words": ' + "[" * 9000 + "]" * 9000 + "}",
        '{"price": ' + "9" * 15_000 + "}",
        '{"words": [' + ",".join(['"x"'] * 4000) + "]}",
        '{"cups": [' + ",".join(['{"kind":"mug"}'] * 1200) + "]}",
        '{"options": {' + ",".join(f'"{i}":"large"' for i in range(1000)) + "}}",
        '{"page": "\ud800"}',
        "\x00{}\x00",
    ),
)
def test_hostile_texts_take_no_time_and_earn_nothing(text):
    many = Kitchen(json.dumps({**TRUTH, "cups": TRUTH["cups"] * 100}))
    started = time.process_time()
    assert judged(text, many).score < 0.01
    assert time.process_time() - started < 10


def test_an_object_is_found_inside_a_text():
    assert read_object('so {"a": {"b": 1}} it is') == {"a": {"b": 1}}
    assert read_object('{"a": 1} and }') is None


# ---------------------------------------------------------------------- requests that cannot be judged


@pytest.mark.parametrize(
    ("request_", "says"),
    (
        (JudgeRequest("1", "", "outcome", "{}", Kitchen()), "got 'outcome'"),
        (JudgeRequest("1", "", "grounding", None, Kitchen()), "got NoneType"),  # type: ignore[arg-type]
        (JudgeRequest("1", "", "grounding", "{}", 3), "got int"),  # type: ignore[arg-type]
        (JudgeRequest("1", "", "grounding", "{}", State()), "State declares no claims"),
        (JudgeRequest("1", "example/Nothing-v0", "grounding", "{}", {}), "unknown environment"),
        (JudgeRequest("1", "", "grounding", "{}", Kitchen("{")), "Kitchen gives no structured form"),
    ),
)
def test_what_cannot_be_judged_is_a_fault_and_never_a_score(request_, says):
    (fault,) = StructuredJudge().score_sync([request_])
    assert isinstance(fault, JudgeFault) and says in str(fault)


class KitchenEnv(gym.Env):
    """An environment of another package, as far as judges look at it."""

    state_type = Kitchen


def test_a_recorded_dictionary_is_judged_by_what_its_environments_state_declares():
    gym.register("example/Kitchen-v3", entry_point=f"{__name__}:KitchenEnv")
    try:
        verdict = StructuredJudge().score_sync(
            [JudgeRequest("1", "example/Kitchen-v3", "worldmodeling", json.dumps(TRUTH), TRUTH)]
        )
    finally:
        del gym.registry["example/Kitchen-v3"]
    assert verdict == [Verdict(1.0, "structured", {"f1": dict.fromkeys([value.key for value in VALUES], 1.0)})]


# ---------------------------------------------------------------------- pairing


def test_pairing_earns_the_most_there_is():
    rng = random.Random(1)
    for _ in range(300):
        rows, columns = sorted((rng.randint(1, 5), rng.randint(1, 5)))
        credits = [[rng.choice((0.0, 0.5, 1.0, rng.random())) for _ in range(columns)] for _ in range(rows)]
        best = max(sum(map(list.__getitem__, credits, p)) for p in itertools.permutations(range(columns), rows))
        assert best_total(credits) == pytest.approx(best)
        assert best_total([list(column) for column in zip(*credits, strict=True)]) == pytest.approx(best)
