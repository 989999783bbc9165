"""A judge or scorer spec gives the object it describes, or an error that says what to write instead."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from agentrl.core import specs
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.judging import Judge, JudgeRequest, Scorer, Verdict, scorer_name
from agentrl.core.specs import known_kinds, register_spec, resolve, to_json

MODULE = """
from agentrl.core.judging import Verdict

class FixedJudge:
    def __init__(self, score=1.0, *, model: str = "none", strict=False):
        if score > 1: raise ValueError("score above one")
        self.value, self.model = score, model
    async def score(self, requests): return self.score_sync(requests)
    def score_sync(self, requests): return [Verdict(self.value, "fixed") for _ in requests]

class NeedyJudge(FixedJudge):
    def __init__(self, model, temperature): pass

class AnythingJudge(FixedJudge):
    def __init__(self, **arguments): self.arguments = arguments

class HeavyJudge(FixedJudge):
    def __init__(self):
        import a_heavy_package.models

class HalfJudge:
    def score_sync(self, requests): return []

class EqualPixels:
    def score_pairs(self, pairs): return [float((a == b).mean()) for a, b in pairs]

live = FixedJudge()
touched = []
def touch(**arguments): touched.append(arguments)
"""


@pytest.fixture(autouse=True)
def own_table(monkeypatch):
    monkeypatch.setattr(specs, "_TABLE", {role: {} for role in specs.ROLES})


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of judges that nobody has imported yet."""
    (tmp_path / "some_judges.py").write_text(MODULE)
    (tmp_path / "broken_judges.py").write_text("import a_heavy_package.models\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "some_judges"
    for name in ("some_judges", "broken_judges"):
        sys.modules.pop(name, None)


def request() -> JudgeRequest:
    return JudgeRequest(id="1", env_id="e", purpose="grounding", text="t", state={})


def test_a_registered_kind_is_imported_only_when_it_is_needed(module):
    register_spec("judge", "fixed", f"{module}:FixedJudge")
    assert module not in sys.modules
    judge = resolve("judge", "fixed")
    assert isinstance(judge, Judge) and judge.score_sync([request()]) == [Verdict(1.0, "fixed")]


def test_a_dict_passes_arguments_and_stays_as_it_was(module):
    register_spec("judge", "fixed", f"{module}:FixedJudge")
    spec = {"kind": "fixed", "score": 0.25, "model": "m"}
    judge = resolve("judge", spec)
    assert (judge.value, judge.model) == (0.25, "m")
    assert spec == {"kind": "fixed", "score": 0.25, "model": "m"}


def test_a_class_of_ones_own_needs_no_registration(module):
    assert resolve("judge", f"{module}:FixedJudge").value == 1.0
    assert resolve("judge", {"kind": f"{module}:AnythingJudge", "x": 1}).arguments == {"x": 1}


def test_scorers_score_pairs_of_pictures(module):
    scorer = resolve("scorer", f"{module}:EqualPixels")
    black, white = np.zeros((2, 2, 3), np.uint8), np.ones((2, 2, 3), np.uint8)
    assert isinstance(scorer, Scorer) and scorer.score_pairs([(black, black), (black, white)]) == [1.0, 0.0]


def test_a_scorer_without_a_name_is_called_by_its_class(module):
    assert scorer_name(resolve("scorer", f"{module}:EqualPixels")) == "EqualPixels"


def test_a_scorer_says_its_own_name(module):
    scorer = resolve("scorer", f"{module}:EqualPixels")
    scorer.name = "equal_pixels-2.0"
    assert scorer_name(scorer) == "equal_pixels-2.0"


@pytest.mark.parametrize("name", ["", 3, "two words", "a/b", "x" * 65, "-dash", b"bytes", "line\n"])
def test_a_name_that_no_metric_can_have_is_refused(module, name):
    scorer = resolve("scorer", f"{module}:EqualPixels")
    scorer.name = name
    with pytest.raises(ConfigError, match="name of the scorer EqualPixels"):
        scorer_name(scorer)


def test_an_object_that_fits_is_returned_as_it_is(module):
    judge = resolve("judge", f"{module}:FixedJudge")
    assert resolve("judge", judge) is judge


def test_an_unknown_kind_suggests_the_nearest_and_lists_all(module):
    register_spec("judge", "rule", f"{module}:FixedJudge")
    register_spec("judge", "llm", f"{module}:FixedJudge")
    with pytest.raises(ConfigError) as caught:
        resolve("judge", "ruler")
    assert 'Did you mean "rule"?' in str(caught.value) and "llm, rule" in str(caught.value)
    with pytest.raises(ConfigError, match="unknown scorer 'rule'"):
        resolve("scorer", "rule")


@pytest.mark.parametrize("spec", [None, 3, 1.5, True, b"rule", ["rule"], ("rule", {}), object(), print])
def test_what_is_no_spec_is_refused_with_what_would_be(spec):
    with pytest.raises(ConfigError, match=r"score\(\) and score_sync\(\)"):
        resolve("judge", spec)


@pytest.mark.parametrize("spec", [{}, {"kind": None}, {"kind": 3}, {"model": "m"}, {"Kind": "rule"}])
def test_a_dict_without_a_kind_is_refused(spec):
    with pytest.raises(ConfigError, match='needs "kind"'):
        resolve("judge", spec)


def test_a_class_in_place_of_an_object_is_refused(module):
    judge = type(resolve("judge", f"{module}:FixedJudge"))
    with pytest.raises(ConfigError, match="the class FixedJudge"):
        resolve("judge", judge)


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("FixedJudge", {"modle": "m"}, r"'modle'.*Did you mean \"model\".*score, model, strict"),
        ("FixedJudge", {3: 4}, "names; got 3"),
        ("FixedJudge", {"score": 2}, "score above one"),
        ("FixedJudge", {"score": "high"}, "score"),
        ("NeedyJudge", {"model": "m"}, "needs temperature"),
        ("NeedyJudge", {}, "needs model, temperature"),
    ],
)
def test_bad_arguments_are_named(module, kind, arguments, expected):
    with pytest.raises(ConfigError, match=expected):
        resolve("judge", {"kind": f"{module}:{kind}", **arguments})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("some_judges:Missing", "has no Missing"),
        ("some_judges:HalfJudge", "must be a class with"),
        ("some_judges:EqualPixels", "must be a class with"),
        ("some_judges:live", "must be a class with"),
        ("no_such_module:Judge", "no_such_module"),
        ("broken_judges:Judge", "a_heavy_package"),
        ("some_judges:HeavyJudge", "a_heavy_package"),
        ("some judges:Judge", "unknown judge"),
        ("a:b:c", "unknown judge"),
        ("", "unknown judge"),
    ],
)
def test_a_place_that_holds_no_judge_is_refused(module, kind, expected):
    with pytest.raises(ConfigError, match=expected):
        resolve("judge", kind)


def test_a_spec_cannot_call_what_is_no_judge(module):
    with pytest.raises(ConfigError, match="must be a class with"):
        resolve("judge", {"kind": f"{module}:touch", "command": "anything"})
    assert sys.modules[module].touched == []


@pytest.mark.parametrize("target", ["broken_judges:Judge", "some_judges:HeavyJudge", "a_heavy_package:Judge"])
def test_a_missing_dependency_names_its_extra(module, target):
    register_spec("judge", "heavy", target, extra="judges")
    with pytest.raises(MissingExtra, match=r"a_heavy_package is not installed.*agentrl-suite\[judges\]"):
        resolve("judge", "heavy")


def test_a_hole_in_agentrl_itself_is_not_blamed_on_an_extra():
    register_spec("judge", "lost", "agentrl.no_such_part:Judge", extra="judges")
    with pytest.raises(ConfigError, match="no_such_part"):
        resolve("judge", "lost")


def test_registering_twice_is_fine_and_differently_is_not():
    for _ in range(2):
        register_spec("judge", "rule", "a.b:C")
    assert known_kinds("judge") == ("rule",) and known_kinds("scorer") == ()
    with pytest.raises(ConfigError, match=r"a\.b:C already"):
        register_spec("judge", "rule", "a.b:D")


@pytest.mark.parametrize(
    "arguments",
    [
        ("jugde", "k", "a:B"),
        ("judge", "", "a:B"),
        ("judge", "a:B", "a:B"),
        ("judge", None, "a:B"),
        ("judge", "k", "a.B"),
        ("judge", "k", None),
        ("judge", "k", "os:system('x')"),
    ],
)
def test_a_bad_registration_is_refused(arguments):
    with pytest.raises(ConfigError):
        register_spec(*arguments)


def test_an_unknown_role_is_refused():
    with pytest.raises(ConfigError, match="judge, scorer"):
        resolve("referee", "rule")


def test_json_specs_come_back_as_equal_copies():
    spec = {"kind": "llm", "model": "m", "options": {"stop": ["a", None], "t": 0.5, "n": 2, "yes": True}}
    back = to_json(spec)
    assert back == spec == json.loads(json.dumps(back))
    back["options"]["stop"].append("b")
    assert spec["options"]["stop"] == ["a", None]
    assert to_json("rule") == "rule"
    assert to_json({"kind": "k", "pair": (1, 2)}) == {"kind": "k", "pair": [1, 2]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (object(), "live object"),
        (None, "NoneType"),
        ({"kind": "llm", "client": object()}, r"spec\.client"),
        ({"kind": "llm", "stop": ["a", {1}]}, r"spec\.stop\[1\]"),
        ({"kind": "llm", "t": float("nan")}, r"spec\.t"),
        ({"kind": "llm", "map": {1: 2}}, "key 1"),
    ],
)
def test_what_has_no_json_form_is_named(spec, expected):
    with pytest.raises(ConfigError, match=expected):
        to_json(spec)


class Picky:
    """Refuses its arguments and repeats them."""

    def __init__(self, key: str) -> None:
        raise ValueError(f"bad key {key}")

    async def score(self, requests):
        return []

    def score_sync(self, requests):
        return []


def test_a_refused_argument_is_named_but_its_value_is_not_shown():
    from agentrl.core.redact import protect

    protect("canary-key-123456")
    register_spec("judge", "picky", f"{__name__}:Picky")
    with pytest.raises(ConfigError, match="key") as caught:
        resolve("judge", {"kind": "picky", "key": "canary-key-123456"})
    assert "canary" not in str(caught.value)
