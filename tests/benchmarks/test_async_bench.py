"""The benchmark of asynchronous training, on stages of milliseconds."""

from __future__ import annotations

import agentrl  # noqa: F401
from agentrl.rollout.starts import EnvSpec
from benchmarks.asynchronous import LOOSE, REQUIRED, Profile, async_loop, measure
from benchmarks.stages import SLEEPING


def profile(**stages: float) -> Profile:
    spec = EnvSpec(SLEEPING, {"turns": 2, "seconds": stages["simulator"]})
    in_parts = {"simulators": 1, "simulator_batch": 8, "max_batch": 8}
    return Profile(spec, base=0.0, each=stages["generator"], update=stages["trainer"], asynchronous=in_parts)


def test_every_way_is_measured_beside_the_bound_of_its_stages() -> None:
    rows, ratios = measure("toy", profile(simulator=0.001, generator=0.001, trainer=0.06), 3)
    found = {row["impl"]: row["value"] for row in rows if row["case"] == "toy"}
    assert {"sync", "rollout", "train", "both", "gated"} < set(found)
    (bound,) = [row for row in rows if row["impl"].startswith("bound,")]
    (processor,) = [row for row in rows if row["impl"] == "bound of the processor"]
    assert processor["value"] > found["sync"]  # its stages sleep
    spent = {row["case"]: row["value"] for row in rows if row["impl"] == "sync" and row["unit"] == "s"}
    slowest = max(spent.values())
    assert abs(bound["value"] * slowest - 64) < 1e-6 and spent["toy: update"] >= 0.06
    beside_bound = [ratio for ratio in ratios if "bound" in ratio["case"]]
    assert [ratio["required"] for ratio in beside_bound] == list(REQUIRED.values())
    assert all(ratio["pass"] == (ratio["ratio"] >= ratio["required"]) for ratio in beside_bound)
    assert [ratio["ratio"] > 0 for ratio in ratios if "planned" in ratio["case"]] == [True]


def test_nothing_is_dropped_where_the_bound_is_loose() -> None:
    rates, told = async_loop(profile(simulator=0.0, generator=0.0, trainer=0.01), 4, LOOSE, {})
    assert rates[0] > 0 and told["dropped"] == 0.0
