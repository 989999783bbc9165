"""Runs on a Ray cluster: equal to synchronous ones where that can be, and not stopped by a machine that is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.parquet import iterate_parquet
from tests.adapters.libraries import run_in
from tests.trainers import toys
from tests.trainers.runs import assert_equal_runs, lines

LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def on_cluster(case: str, model: Path, output: Path) -> dict[str, Any]:
    told = run_in("ray", "tests/trainers/parallel/cluster_driver.py", case, str(model), str(output), timeout=280)
    return json.loads(told.splitlines()[-1])


def test_hosts_are_the_simulators_of_a_cluster(nano: Path, tmp_path: Path) -> None:
    for missing in ({"hosts": 1}, {"asynchronous": True}):
        with pytest.raises(ConfigError, match="hosts of 1 or more"):
            toys.ppo(nano, tmp_path, cluster="ray", **missing)


@pytest.mark.library("ray")
@pytest.mark.timeout(600)
class TestRay:
    """Needs Ray."""

    def test_in_step_a_run_equals_the_synchronous_one_to_the_bit_and_nobody_else_can_reach_the_cluster(
        self, undecided: Path, tmp_path: Path
    ) -> None:
        told = on_cluster("in_step", undecided, tmp_path)
        assert_equal_runs(tmp_path / "sync", tmp_path / "cluster", 2)
        (last, *_) = reversed(lines(tmp_path / "cluster", "train"))
        assert last["async"]["machines"] == 1 and last["async"]["memory_bytes"]["published"] > 0
        assert told["listening"] and set(told["listening"]) <= LOOPBACK

    def test_a_run_whose_generator_hangs_ends_with_the_bits_of_the_synchronous_one(
        self, undecided: Path, tmp_path: Path
    ) -> None:
        assert on_cluster("hung", undecided, tmp_path) == {"stopped": 1, "left": []}
        assert_equal_runs(tmp_path / "sync", tmp_path / "cluster", 4)
        (last, *_) = reversed(lines(tmp_path / "cluster", "train"))
        assert last["async"]["restarts"] == {"hosts": 0, "generators": 1, "hung_generators": 1}

    def test_two_processes_on_one_cluster_train_as_two_synchronous_ones_to_the_bit(
        self, undecided: Path, tmp_path: Path
    ) -> None:
        assert on_cluster("team", undecided, tmp_path) == {"codes": [0, 0]}
        assert_equal_runs(tmp_path / "sync", tmp_path / "cluster", 2)
        (last, *_) = reversed(lines(tmp_path / "cluster", "train"))
        assert last["async"]["machines"] == 3 and last["async"]["generators"] == 2

    def test_a_machine_that_is_killed_costs_no_episode_that_was_complete(self, undecided: Path, tmp_path: Path) -> None:
        assert on_cluster("killed", undecided, tmp_path) == {"killed": 1}
        told = lines(tmp_path / "run", "train")
        assert len(told) == 8 and all(line["episodes"] == 16 and line["faults"] == 0 for line in told)
        first, last = told[0]["async"], told[-1]["async"]
        assert (first["machines"], last["machines"]) == (3, 2)
        assert last["restarts"]["hosts"] > 0 and last["restarts"]["generators"] > 0
        assert sum(line["async"]["dropped_episodes"] for line in told) == 0
        names = [one.id for path in (tmp_path / "run/trajectories").glob("*") for one in iterate_parquet(path)]
        assert len(names) == len(set(names)) == 8 * 16

    def test_a_wrong_token_is_refused_in_bounded_time(self, nano: Path, tmp_path: Path) -> None:
        told = on_cluster("refused", nano, tmp_path)
        wrong, none, nobody = (told[name].split(maxsplit=2) for name in ("wrong", "none", "nobody"))
        assert wrong[0] == "token" and float(wrong[1]) < 90 and "refused the token" in wrong[2]
        assert none[0] == "token" and "wants a token" in none[2]
        assert nobody[0] == "unreachable" and float(nobody[1]) < 60
