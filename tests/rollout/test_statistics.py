"""Golden numbers: tables of Student's distribution, Wilson's formula worked by hand."""

from __future__ import annotations

import math

import pytest

from agentrl.rollout.statistics import (
    effective_size,
    mean,
    mean_interval,
    share_interval,
    student_cdf,
    student_quantile,
    wilson_interval,
)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (8, 10, 0.490162, 0.943318),
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        (1, 1, 0.206549, 1.0),
        (50, 100, 0.403832, 0.596168),
    ],
)
def test_wilson_interval_of_known_cases(successes, trials, low, high):
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=1e-6)


def test_wilson_interval_solves_its_defining_equation():
    for successes, trials in [(3, 17), (199, 200), (1, 1000)]:
        z, rate = 1.959963984540054, successes / trials
        for bound in wilson_interval(successes, trials):
            assert abs(rate - bound) == pytest.approx(z * math.sqrt(bound * (1 - bound) / trials), rel=1e-9)


def test_the_rate_always_lies_in_its_own_interval():
    for trials in range(1, 60):
        for successes in range(trials + 1):
            low, high = wilson_interval(successes, trials)
            assert 0 <= low <= successes / trials <= high <= 1


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(ValueError, match="make no sense"):
        wilson_interval(successes, trials)


@pytest.mark.parametrize(
    ("probability", "freedom", "value"),
    [
        (0.975, 1, 12.7062047),
        (0.975, 2, 4.3026527),
        (0.975, 9, 2.2621572),
        (0.975, 30, 2.0422725),
        (0.975, 200, 1.9718962),
        (0.975, 1000, 1.9623391),
        (0.95, 7, 1.8945786),
        (0.995, 5, 4.0321430),
        (0.025, 9, -2.2621572),
        (0.5, 4, 0.0),
    ],
)
def test_student_quantiles_agree_with_the_tables(probability, freedom, value):
    assert student_quantile(probability, freedom) == pytest.approx(value, abs=1e-6)


def test_the_series_and_the_exact_quantile_meet_where_one_takes_over():
    assert student_cdf(student_quantile(0.975, 201), 201) == pytest.approx(0.975, abs=1e-10)


@pytest.mark.parametrize(("probability", "freedom"), [(0.975, 0), (0.0, 3), (1.0, 3)])
def test_quantiles_that_do_not_exist_are_refused(probability, freedom):
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(probability, freedom)


def test_plays_of_one_task_count_together():
    """Kish's design effect by hand: alike within a task, they are worth as many as there are tasks."""
    tasks = [str(place // 4) for place in range(20)]
    alike = [place < 8 for place in range(20)]
    assert effective_size(alike, tasks) == pytest.approx(5) and share_interval(alike, tasks) == pytest.approx(
        wilson_interval(2, 5)
    )
    assert effective_size([True] * 20, tasks) == 5 and share_interval([True] * 20, tasks)[1] == 1.0
    mixed = [place % 2 == 0 for place in range(20)]  # half of the plays of each task: they say as much as any
    assert effective_size(mixed, tasks) == 20
    alone = [None] * 20
    assert share_interval(alike, alone) == wilson_interval(8, 20) == share_interval(alike, [*map(str, range(20))])
    assert effective_size(alike, ["one"] * 20) == 20 and share_interval([], []) is None
    values = [float(place // 4) for place in range(20)]
    low, high = mean_interval(values, tasks=tasks)
    assert high - low > 2 * (mean_interval(values)[1] - mean_interval(values)[0])
    assert mean_interval(values, tasks=alone) == mean_interval(values)


def test_mean_interval_by_hand():
    # 1..5: mean 3, deviation sqrt(2.5), t(4) = 2.7764451 -> 3 -+ 2.7764451 * sqrt(0.5)
    half = 2.7764451 * math.sqrt(0.5)
    assert mean_interval([1, 2, 3, 4, 5]) == pytest.approx((3 - half, 3 + half), abs=1e-6)
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)


def test_no_sample_no_number():
    assert mean([]) is None
    assert mean_interval([]) is None
    assert mean_interval([1.0]) is None
    assert wilson_interval(0, 0) is None
