"""Every failed episode gets exactly one type of error, and the rules mean what they say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from trajectories import trajectories

from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector
from agentrl.rollout.error_types import ERROR_TYPES, count_errors, error_type
from agentrl.rollout.starts import EnvSpec, Start
from agentrl.rollout.trajectory import Step, Trajectory


def episode(turns: str, *, ended: bool = False, steps: int | None = None, success: bool = False) -> Trajectory:
    """An episode in short: a place and an action for each turn, as in "Aa Bb!" (! invalid, ~ without effect)."""
    held = []
    for turn in turns.split():
        facts = {"anchor": turn[0], "valid": "!" not in turn, "effective": turn[-1] not in "!~"}
        done = [] if "!" in turn else list(turn[1:].rstrip("~"))
        held.append(Step(action=turn[1:].rstrip("!~"), info={**facts, "actions": done, "success": False}))
    if held:
        held[-1].info["success"] = success
    about = {} if steps is None else {"steps": steps}
    return Trajectory(steps=held, about=about, terminated=ended, truncated=not ended)


@pytest.mark.parametrize(
    ("turns", "facts", "expected"),
    [
        # no reasonable attempt
        ("Ax", {"ended": True}, "no_attempt"),  # gave up at once
        ("Aa! Ab! Ac!", {}, "no_attempt"),  # never an action that could be played
        ("Aa! Aa! Aa! Aa!", {}, "no_attempt"),  # a loop, but not midway
        ("Aa Bx", {"ended": True, "steps": 8}, "no_attempt"),  # 1 of the 7 actions before the end
        ("Aa Bb Cx", {"ended": True, "steps": 8}, "wrong_end"),  # 2 of them are more than a quarter
        ("Ax", {"ended": True, "steps": 1}, "wrong_end"),  # the task takes one action, and it was the wrong one
        ("Aurd", {"ended": True}, "wrong_end"),  # three moves in the turn that ended it
        # stuck midway
        ("Aa Bb Cc Cc Cc", {}, "stuck"),
        ("Aa Bb Cc~ Cc~ Cc~", {}, "stuck"),
        ("Aa Bb Cc! Cc! Cc!", {}, "stuck"),
        ("Aa Bb Ca Bb Ca Bb Ca", {}, "stuck"),  # to and fro
        ("Zz Aa Bb Cc Aa Bb Cc Aa Bb Cc", {}, "stuck"),
        ("As Bs Cs Ds Es", {}, "stuck"),  # the same action everywhere
        ("As Bs Cs Ds Es Es", {"ended": True}, "stuck"),  # stopped by the environment while repeating itself
        ("Aa Bb Cc Cc", {}, "out_of_turns"),  # twice is no loop
        # failed to recover
        ("Aa Bb! Bx", {"ended": True}, "no_recovery"),
        ("Aa Bb~ Bc! Bd!", {}, "no_recovery"),
        ("Aa Bb Cc! Bb Cx", {"ended": True}, "no_recovery"),  # only what had been done before
        ("Aa Bb! Bc Cx", {"ended": True}, "wrong_end"),  # it found another way
        ("Aa Bb Cc!", {}, "out_of_turns"),  # only the very last turn failed
        # the rest
        ("Aa Bb Cx", {"ended": True}, "wrong_end"),
        ("Aa Bb Cc Dd", {}, "out_of_turns"),
        ("Aa Bb", {"success": True, "ended": True}, None),
    ],
)
def test_rules(turns, facts, expected):
    assert error_type(episode(turns, **facts)) == expected


def test_thoughts_do_not_hide_a_repetition():
    same = episode("Aa Bb Cc! Cc! Cc!")
    for number, step in enumerate(same.steps):
        step.action = f"<think>try number {number}</think><answer>{step.action}</answer>"
    assert error_type(same) == "stuck"


def test_unknown_outcomes_are_no_errors():
    broken = episode("Aa Bb")
    broken.fault = {"kind": "EnvFault", "detail": ""}
    waiting = episode("Aa Bb")
    waiting.steps[-1].pending = ["outcome"]
    assert error_type(broken) is None and error_type(waiting) is None and error_type(Trajectory()) is None
    assert error_type(waiting, success=False) == "out_of_turns" and error_type(episode("Aa Bb"), success=True) is None


def test_count_errors_keeps_their_order():
    assert list(count_errors(["wrong_end", None, "stuck", "wrong_end"]).items()) == [("stuck", 1), ("wrong_end", 2)]


@settings(max_examples=40, deadline=None)
@given(trajectories())
def test_any_record_has_one_type_or_none(record):
    failed = record.fault is None and record.steps and not record.pending and not record.success
    assert (error_type(record) in ERROR_TYPES) == bool(failed)


def test_random_walkers_fail_in_ways_that_fit():
    collector = Collector([EnvSpec("agentrl/FrozenLake-Text-v0")], load_policy("random", seed=0), split="dev")
    played = collector.collect([Start(seed) for seed in range(60)]).trajectories
    collector.close()
    failed = [one for one in played if not one.success]
    assert failed and all(error_type(one) in ERROR_TYPES for one in failed)
    assert all(error_type(one) is None for one in played if one.success)
    drowned = [error_type(one) for one in failed if one.terminated]
    assert drowned and set(drowned) <= {"wrong_end", "no_attempt", "no_recovery"}
