"""What the benchmark of asynchronous training makes of the metrics of its loops."""

from __future__ import annotations

from typing import Any

import pytest

import agentrl  # noqa: F401
from agentrl.algorithms import arguments_class
from benchmarks.async_training import WAYS, Case, Measured, Report, bound_of, cases, stages_of

SHAPE: dict[str, Any] = {"num_envs": 4, "env_kwargs": {}}


def in_step() -> Measured:
    line = {"turns_mean": 5.0, "episodes": 8, "seconds": {"environment": 2.0, "generate": 1.0, "update": 0.75}}
    return Measured([4.0, 4.0], [line, line], 32.0)


def overlapped(seconds: float, answers: int) -> Measured:
    told = {"utilisation": {}, "dropped_episodes": 2, "generator_batches": {"2": answers // 4, "4": answers // 8}}
    line = {"turns_mean": 5.0, "episodes": 8, "seconds": {"wait": 0.5, "update": 1.0}, "async": told}
    return Measured([seconds], [line], 8.0)


def test_the_bound_is_all_stages_beside_the_slowest_and_the_trainer_has_the_rest() -> None:
    assert stages_of(in_step()) == {"environment": 2.0, "generate": 1.0, "trainer": 1.0}
    assert bound_of(in_step()) == 2.0 and in_step().rate == in_step().played == 10.0


def test_transitions_that_waited_from_before_do_not_count() -> None:
    loop = overlapped(2.0, answers=24)  # 40 transitions are trained meanwhile
    assert (loop.trained, loop.played, loop.rate) == (20.0, 12.0, 12.0)


@pytest.mark.parametrize(("seconds", "passes"), [(2.2, True), (3.5, False)])
def test_a_case_passes_by_its_gain_or_its_share_of_the_bound(seconds, passes) -> None:
    report, case = Report(), Case("ppo", {}, steps=8)
    report.add("toy", "sync", case, SHAPE, in_step(), in_step())
    report.add("toy", "both", case, SHAPE, overlapped(seconds, answers=40), in_step())
    found = report.to_json()
    assert found["pass"] is passes
    rate = 40 / seconds
    assert [ratio["ratio"] for ratio in found["ratios"]] == pytest.approx([rate / 20, rate / 10])
    rows = {(row["case"], row["impl"]): row["value"] for row in found["results"]}
    assert rows["toy", "both"] == pytest.approx(rate)
    assert rows["toy: control steps", "sync"] == 80.0 and rows["toy: dropped", "both"] == 0.2
    assert rows["toy", "bound, 2.00 x sync"] == 20.0


@pytest.mark.parametrize("quick", [True, False])
def test_all_options_are_those_of_a_run(quick) -> None:
    for case in cases(quick).values():
        for way in WAYS.values():
            given = {**case.options, **(case.asynchronous if way else {}), **way}
            args = arguments_class(case.algorithm).from_json(given)
            assert args.asynchronous == bool(way) and args.specs()
        if case.start is not None:
            assert arguments_class(case.start.algorithm).from_json(case.start.options).eval_every == 0
