"""The kit passes a healthy environment of every kind and catches one broken in each way it claims to catch."""

from __future__ import annotations

import json
import random
import sys
import types
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.registry import Family
from agentrl.testing import CHECKS, Check, KitBudget, Report, check_env, interface, runner
from agentrl.testing.compare import difference, digest
from agentrl.testing.hostility import hostile_action

sys.path.insert(0, str(Path(__file__).parent))  # where the kit's other processes find the environments too
import kit_environments as kit

HEALTHY = "kit/TinyEnv-v0"
LAKE = "agentrl/FrozenLake-Visual-v0"
MEGA = 900_000  # characters that only a huge reply has
SLOW = {"process_determinism", "hostile"}  # run only on environments that should fail them, and on healthy ones
BROKEN_NAMES = [row[0].__name__ for row in kit.BROKEN]


def detail_of(report: Report, name: str) -> str:
    return next(check.detail for check in report.checks if check.name == name)


# ---------------------------------------------------------------------- healthy and broken environments


@pytest.mark.parametrize("kind", ["text", "visual", "grid", "control"])
def test_a_healthy_environment_passes_every_check(kind: str) -> None:
    report = check_env(HEALTHY, kind=kind)
    assert report.passed, str(report)
    assert [check.name for check in report.checks] == list(CHECKS)
    assert all(check.detail for check in report.checks)


@pytest.mark.parametrize("cls", kit.LESS_ABLE)
def test_an_environment_that_can_do_less_passes_and_the_details_say_what_is_missing(cls: type) -> None:
    report = check_env(f"kit/{cls.__name__}-v0")
    assert report.passed, str(report)
    expected = {
        "NoOracle": ("oracle", "NoOracle has no oracle()"),
        "SomeScripts": ("oracle", "; no script for 12: train '"),
        "ClumsyScript": ("oracle", "; fails "),
        "RealSite": ("snapshot", "not supported"),
        "OneTask": ("seed_determinism", "one task"),
        "Chatty": ("spec", "JSON"),
    }
    name, words = expected[cls.__name__]
    assert words in detail_of(report, name)
    assert [check.name for check in report.skipped] == ([name] if name == "snapshot" or cls is kit.NoOracle else [])


@pytest.mark.filterwarnings("ignore:.*this environment is deprecated")
@pytest.mark.parametrize(("cls", "check", "caught_by", "kwargs"), kit.BROKEN, ids=BROKEN_NAMES)
def test_a_broken_environment_fails_its_check(cls: type, check: str, caught_by: set[str], kwargs: dict) -> None:
    names = [name for name in CHECKS if name not in SLOW or name in caught_by]
    report = check_env(f"kit/{cls.__name__}-v0", checks=names, episodes=5, **kwargs)
    failed = {found.name for found in report.failures}
    assert check in failed, str(report)
    assert failed == caught_by, str(report)
    assert report.status == "failed" and not report.passed


def test_every_check_has_a_broken_environment() -> None:
    assert {check for _, check, *_ in kit.BROKEN} == set(CHECKS)


def test_an_exception_inside_the_environment_is_the_failure_of_that_check_with_its_place() -> None:
    detail = detail_of(check_env("kit/HoldsAFunction-v0", checks=["pickling"]), "pickling")
    assert "lambda" in detail and "forks.py" in detail
    detail = detail_of(check_env("kit/StumblesOverNul-v0", checks=["hostile"]), "hostile")
    assert "embedded null character" in detail and "ValueError" in detail


# ---------------------------------------------------------------------- environments that cannot be made


def test_a_missing_extra_is_unavailable_and_does_not_pass() -> None:
    report = check_env("kit/NeedsASimulator-v0")
    assert (report.status, report.passed) == ("unavailable", False)
    assert "pip install 'agentrl-suite[robots]'" in report.checks[0].detail


def test_a_constructor_that_raises_is_a_failure_whose_detail_can_be_printed_anywhere() -> None:
    report = check_env("kit/FallsApart-v0")
    assert report.status == "failed" and "RuntimeError" in report.checks[0].detail
    str(report).encode("utf-8")


def test_arguments_that_the_environment_refuses_are_the_mistake_of_the_caller() -> None:
    with pytest.raises(ConfigError, match='Did you mean "max_turns"'):
        check_env(HEALTHY, max_turn=3)


def test_an_environment_of_another_family_fails() -> None:
    report = check_env("kit/NotOurs-v0")
    assert report.status == "failed" and "AgentEnv" in report.checks[0].detail


def test_an_unregistered_id_raises() -> None:
    with pytest.raises(gym.error.UnregisteredEnv):
        check_env("kit/Nothing-v0")


@pytest.mark.parametrize("arguments", [{"checks": ["snapshots"]}, {"episodes": 0}, {"episodes": "3"}, {"seed": -1}])
def test_bad_arguments_of_the_kit_raise(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        check_env(HEALTHY, **arguments)


def test_an_unknown_check_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match='Did you mean "snapshot"'):
        check_env(HEALTHY, checks=["snapshots"])


# ---------------------------------------------------------------------- other processes


def test_the_module_prefix_of_an_id_is_imported() -> None:
    report = check_env(f"kit_environments:{HEALTHY}", checks=["gymnasium", "process_determinism", "spec"])
    assert report.passed, str(report)


def test_a_class_as_entry_point_fails_the_spec_check_alone() -> None:
    gym.register("kit/ByClass-v0", entry_point=kit.TinyEnv)
    report = check_env("kit/ByClass-v0", checks=["spec", "process_determinism"])
    assert [check.name for check in report.failures] == ["spec"], str(report)


def test_an_entry_point_that_no_other_process_can_import_is_said_so() -> None:
    gym.register("kit/Local-v0", entry_point=lambda **arguments: kit.TinyEnv(**arguments))
    module = types.ModuleType("only_here")
    module.TinyEnv = kit.TinyEnv
    sys.modules["only_here"] = module
    gym.register("kit/OnlyHere-v0", entry_point="only_here:TinyEnv")
    gym.register("kit/Script-v0", entry_point="__main__:TinyEnv")
    sys.modules["__main__"].TinyEnv = kit.TinyEnv
    try:
        for name, words in {"Local": "local to a function", "OnlyHere": "only_here", "Script": "script"}.items():
            detail = detail_of(check_env(f"kit/{name}-v0", checks=["process_determinism"]), "process_determinism")
            assert words in detail
    finally:
        del sys.modules["only_here"], sys.modules["__main__"].TinyEnv


# ---------------------------------------------------------------------- the kit as a guest


def test_the_kit_leaves_the_global_generators_as_it_found_them() -> None:
    random.seed(5), np.random.seed(5)
    before = random.getstate(), digest(np.random.get_state())
    assert check_env(HEALTHY, checks=[name for name in CHECKS if name != "process_determinism"]).passed
    assert not check_env("kit/UsesRandomModule-v0", checks=["random_state"]).passed
    assert (random.getstate(), digest(np.random.get_state())) == before


def test_without_pygame_the_human_mode_is_not_tried_and_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interface, "find_spec", lambda name: None)
    report = check_env(HEALTHY, checks=["gymnasium", "rendering"])
    assert report.passed
    for name in ("gymnasium", "rendering"):
        assert "pygame is not installed" in detail_of(report, name)


def test_warnings_count_even_if_the_caller_has_silenced_gymnasium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym.logger, "min_level", gym.logger.ERROR)
    assert not check_env("kit/WarnsInReset-v0", checks=["gymnasium"]).passed
    assert gym.logger.min_level == gym.logger.ERROR


def test_chosen_checks_run_alone_and_in_the_given_order() -> None:
    report = check_env(HEALTHY, checks=["prompt", "close"], episodes=1, seed=7)
    assert [check.name for check in report.checks] == ["prompt", "close"] and report.passed


# ---------------------------------------------------------------------- budgets


def test_a_budget_limits_how_much_is_played() -> None:
    report = check_env(HEALTHY, checks=["hostile", "pickling"], budget=KitBudget(episodes=2, hostile_replies=30))
    assert report.passed
    assert detail_of(report, "hostile").startswith("30 actions")
    assert detail_of(report, "pickling") == "copied at 2 moments"


def test_a_small_budget_holds_a_huge_reply_too(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []
    step = kit.TinyEnv.step
    monkeypatch.setattr(
        kit.TinyEnv, "step", lambda env, action: lengths.append(len(str(action)[:MEGA])) or step(env, action)
    )
    check_env(HEALTHY, checks=["hostile"], budget=KitBudget(hostile_replies=7))
    assert len(lengths) == 7 and max(lengths) == MEGA


def test_a_check_over_its_seconds_fails_and_says_what_to_change() -> None:
    report = check_env(HEALTHY, checks=["info", "prompt"], budget=KitBudget(episodes=3, seconds=1e-9))
    assert not report.passed and len(report.failures) == 2
    detail = detail_of(report, "info")
    assert "more than the budget of 1e-09 s" in detail and "3 episodes" in detail and "KitBudget" in detail


def test_ids_of_the_table_have_the_budget_of_their_family(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = KitBudget(episodes=2, image_size=64)
    monkeypatch.setattr(runner, "family_of", lambda env_id: Family("grid", (), kit=budget) if env_id == LAKE else None)
    sizes = []
    monkeypatch.setitem(CHECKS, "spaces", lambda subject: sizes.append((subject.episodes, subject.kwargs)) or "looked")
    check_env(LAKE, checks=["spaces"])
    check_env(f"agentrl:{LAKE}", checks=["spaces"], episodes=1, image_size=96)
    check_env(HEALTHY, checks=["spaces"])
    assert sizes == [(2, {"image_size": 64}), (1, {"image_size": 96}), (KitBudget().episodes, {})]


# ---------------------------------------------------------------------- the report


def test_the_report_is_the_json_of_the_contract() -> None:
    report = Report("some/Env-v0", "failed", 1.5, (Check("info", True, "fine"), Check("close", False, "bang")))
    assert json.loads(json.dumps(report.to_json())) == {
        "id": "some/Env-v0",
        "status": "failed",
        "pass": False,
        "seconds": 1.5,
        "checks": [
            {"name": "info", "pass": True, "skipped": False, "detail": "fine"},
            {"name": "close", "pass": False, "skipped": False, "detail": "bang"},
        ],
    }
    assert report.failures == (Check("close", False, "bang"),)


def test_the_report_reads_well_and_raises_with_its_details() -> None:
    report = Report("some/Env-v0", "failed", 1.5, (Check("info", True, "fine"), Check("close", False, "bang")))
    assert str(report).splitlines() == [
        "some/Env-v0: failed (2 checks, 1.5 s)",
        "  pass  info   fine",
        "  FAIL  close  bang",
    ]
    with pytest.raises(AssertionError, match="bang"):
        report.raise_for_failure()
    Report("some/Env-v0", "ok", 0.1, (Check("info", True, "fine"),)).raise_for_failure()


# ---------------------------------------------------------------------- what the checks stand on


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (True, 1),
        ([1], (1,)),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {}),
        (np.zeros(2, np.uint8), np.zeros(2, np.int8)),
        (np.zeros((1, 2)), np.zeros((2, 1))),
        (np.array([0.0]), np.array([1e-12])),
        ("a", "a "),
        ("\ud800", "\ud801"),
    ],
)
def test_different_values_are_told_apart(left: Any, right: Any) -> None:
    assert difference(left, right) is not None
    assert digest(left) != digest(right)


@pytest.mark.parametrize("value", [{"a": float("nan"), "b": [np.nan]}, np.array([np.nan, 1]), {3, "x"}, "\ud800", None])
def test_a_value_is_the_same_as_itself_rebuilt(value: Any) -> None:
    assert difference(value, value) is None
    reordered = dict(reversed(value.items())) if isinstance(value, dict) else value
    assert digest(value) == digest(reordered)


def test_a_difference_names_its_place() -> None:
    assert "['rows'][1]" in (difference({"rows": [1, 2]}, {"rows": [1, 3]}) or "")


def test_hostile_actions_have_every_kind_of_nastiness() -> None:
    env = gym.make(HEALTHY, disable_env_checker=True)
    actions = [hostile_action(env, np.random.default_rng(i), i) for i in range(1000)]
    texts = [action for action in actions if isinstance(action, str)]
    assert any(len(text) >= 900_000 for text in texts)
    assert any("\0" in text for text in texts)
    assert any("\ud800" <= char <= "\udfff" for text in texts if len(text) < 1000 for char in text)
    assert any(text.count("<answer>") > 1 for text in texts)
    assert {type(None), bytes, list, int, float, dict, np.ndarray} <= {type(action) for action in actions}


def test_hostile_arrays_have_wrong_shapes_types_and_values() -> None:
    env = gym.make(HEALTHY, kind="control", disable_env_checker=True)
    actions = [hostile_action(env, np.random.default_rng(i), i) for i in range(500)]
    arrays = [action for action in actions if isinstance(action, np.ndarray) and action.dtype.kind == "f"]
    assert any(array.shape != (1,) for array in arrays)
    assert any(array.dtype != np.float32 for array in arrays)
    assert any(np.isnan(array).any() for array in arrays)
    assert any((np.abs(array) > 1).any() for array in arrays)
