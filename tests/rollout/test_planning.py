"""The simulation of asynchronous runs: exact where the answer is known, near what a paper measured."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.paper_throughputs import TABLE_4, errors_of
from agentrl.rollout.planning import Pipeline, fit, latencies, measured_loop, placed, propose, simulate

ONE = Pipeline(
    batches=1, envs=8, step_seconds=2.0, generate_base=0.2, generate_each=0.1, update_seconds=6.0, steps=5
)  # a step and an answer take 3 s, five of each and an update 21


def test_in_step_the_stages_add_up() -> None:
    sync = replace(ONE, rollout_async=False, train_async=False)
    assert simulate(sync).throughput == pytest.approx(40 / 21)
    four = replace(sync, batches=4, envs=2)  # the same environments in four parts: one generator answers them in turn
    assert simulate(four).throughput == pytest.approx(40 / (5 * (2.0 + 4 * 0.4) + 6))
    together = replace(four, max_batches=4)
    assert simulate(together).throughput == pytest.approx(40 / 21)


def test_asynchronous_training_hides_the_quicker_side() -> None:
    found = simulate(ONE)
    assert found.throughput == pytest.approx(40 / 15, rel=0.02) and found.bottleneck == "simulators"
    slow = simulate(replace(ONE, update_seconds=40.0))
    assert slow.throughput == pytest.approx(40 / 40, rel=0.02) and slow.bottleneck == "trainer"
    assert slow.utilisation["trainer"] == pytest.approx(1.0, abs=0.02)


def test_asynchronous_rollouts_reach_the_rate_of_their_slower_side() -> None:
    many = replace(ONE, batches=4, envs=2, simulators=1, step_seconds=0.5, update_seconds=0.001)
    assert simulate(replace(many, steps=50)).throughput == pytest.approx(8 / 2.0, rel=0.02)


def test_a_bound_of_no_staleness_is_a_synchronous_loop() -> None:
    assert simulate(replace(ONE, max_staleness=0)).throughput == simulate(replace(ONE, train_async=False)).throughput


def test_placements_share_the_gpus_out() -> None:
    colocated, hybrid = placed(ONE, 8, "colocated"), placed(ONE, 8, "hybrid")
    assert (colocated.batches, colocated.generators, colocated.update_seconds) == (8, 8, 6.0)
    assert (hybrid.batches, hybrid.generators, hybrid.update_seconds) == (6, 2, 4.5)
    apart = placed(ONE, 8, "disaggregated", 0.5)
    assert (apart.batches, apart.generators, apart.update_seconds) == (4, 4, 6.0)
    with pytest.raises(ConfigError, match="leaves no GPU"):
        placed(ONE, 1, "hybrid")


def test_a_fit_finds_the_seconds_that_made_the_figures() -> None:
    shapes = [
        replace(ONE, rollout_async=False, train_async=False),
        replace(ONE, batches=4, envs=2, train_async=False),
        replace(ONE, batches=4, envs=2),
    ]
    truth = [2.0, 0.11, 4.0]
    rates = [
        simulate(replace(s, step_seconds=2.0, generate_base=0.0, generate_each=0.11, update_seconds=4.0)).throughput
        for s in shapes
    ]
    assert fit(shapes, rates, (1.0, 0.05, 6.0)) == pytest.approx(truth, rel=0.03)


def test_three_columns_of_the_papers_table_predict_the_other_four() -> None:
    one_gpu = [replace(column, gpus=1, throughput=column.throughput / 8) for column in TABLE_4.columns]
    found = errors_of(replace(TABLE_4, columns=one_gpu))
    assert max(abs(one.error) for one in found if one.role == "fitted") < 0.01
    predicted = [one.error for one in found if one.role == "predicted"]
    assert len(predicted) == 4 and max(map(abs, predicted)) < 0.105


# ---------------------------------------------------------------------- from a timeline


def test_episodes_begin_as_staleness_admits_them_and_a_simulator_plays_its_own() -> None:
    one = Pipeline(
        batches=2,
        envs=1,
        step_seconds=1.0,
        generate_base=0.0,
        generate_each=0.0,
        update_seconds=0.0,
        steps=2,
        simulators=2,
        max_steps=2,
        pinned=True,
        turns=2,
    )  # an update takes two episodes, each of three moves
    assert simulate(replace(one, train_async=False)).throughput == pytest.approx(4 / 3)
    assert simulate(replace(one, simulators=1)).throughput == pytest.approx(4 / 6, rel=0.02)
    base = replace(one, simulators=1, step_seconds=0.0, step_base=1.0, max_batches=2, train_async=False)
    assert simulate(base).throughput == pytest.approx(4 / 3)  # both in one call


def timeline(updates: int = 5) -> Any:
    """Of a loop in which a step takes 10 ms and 1 ms a slot, a batch 20 ms and 2 ms a request."""
    spans, marks, now = [], [], 0.0
    for update in range(updates):
        for size in (4, 8, 4):
            moves = size * 3 // 2  # the first of an episode begins it
            spans.append(("simulators", 0, now, now + 0.01 + 0.001 * moves, moves))
            spans.append(("generators", 0, now, now + 0.02 + 0.002 * size, size))
            now += 0.05
        spans.append(("trainer", 0, now - 0.15, now, 8))
        marks.append((now, update + 1))
    return SimpleNamespace(workers={"simulators": 1, "generators": 1, "trainer": 1}, spans=spans, updates=marks)


def test_latencies_are_read_from_a_timeline() -> None:
    found = latencies(timeline().spans)
    assert (found.step_base, found.step_each) == pytest.approx((0.01, 0.001))
    assert (found.generate_base, found.generate_each) == pytest.approx((0.02, 0.002))
    assert (found.turns, found.episodes, found.requests) == (2, 8, 16) and found.update == pytest.approx(0.15)


def test_calls_of_one_size_that_cost_differently_keep_their_sum() -> None:
    """Where beginning an episode is free, calls of eight that begin some cost less; a plan needs what all took."""
    spans = [row for row in timeline().spans if row[0] != "simulators"]
    calls = [0.08] * 14 + [0.0] * 6
    found = latencies(spans + [("simulators", 0, 0.0, seconds, 8) for seconds in calls])
    assert (found.step_base, found.step_each) == pytest.approx((0.0, sum(calls) / (8 * len(calls))))


def test_a_measured_loop_leads_to_options_that_are_no_slower() -> None:
    given = {"num_envs": 8, "simulator_batch": 4, "max_batch": 4, "max_wait": 0.005, "max_staleness": 2}
    loop, found, rate = measured_loop(timeline(), **given)
    assert (loop.batches, loop.turns, loop.steps) == (8, 2, 2) and rate == pytest.approx(16 / 0.15)
    options, outcome = propose(found, simulators=1, generators=1, num_envs=8, max_staleness=2)[0]
    assert outcome.throughput >= 0.99 * simulate(loop).throughput
    assert set(options) == {"num_envs", "simulator_batch", "max_batch", "max_wait_ms"}


def test_a_timeline_that_says_too_little_is_refused() -> None:
    given = {"num_envs": 8, "simulator_batch": 4, "max_batch": 4, "max_wait": 0.005, "max_staleness": 2}
    with pytest.raises(ConfigError, match="three updates"):
        measured_loop(timeline(2), **given)
    with pytest.raises(ConfigError, match="no spans of trainer"):
        latencies([span for span in timeline().spans if span[0] != "trainer"])
