"""Asynchronous runs in two processes: equal to synchronous ones in step, resumed with other numbers, ended together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.manifest import read_object
from agentrl.rollout.parquet import iterate_parquet
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.trainers.algorithms import grpo
from agentrl.trainers.parallel.async_rollouts import AsyncRollouts
from agentrl.trainers.parallel.ranks import ProcessGroup
from agentrl.trainers.run.asynchronous import AsyncRun
from agentrl.trainers.run.checkpoint import newest_checkpoint
from tests.trainers import toys
from tests.trainers.parallel.test_async_runs import IN_STEP, TRAINERS
from tests.trainers.runs import assert_equal_runs, lines
from tests.trainers.warm import WarmProcess

DRIVER = "tests.trainers.parallel.team_driver"
SIZE, GROUPS = 4, 4  # of an update
EPISODES, ITERATIONS = GROUPS * SIZE, 4
MORE = tuple(name for name in TRAINERS if name != "grpo")
RUN: dict[str, Any] = {
    "env_kwargs": {"turns": 2},
    "group_size": SIZE,
    "episodes": EPISODES,
    "iterations": ITERATIONS,
    "save_every": 1,
    "save_trajectories": -1,
}
EXACT: dict[str, Any] = IN_STEP | {"max_batch": EPISODES}
BOUND: dict[str, Any] = {"asynchronous": True, "max_staleness": 2, "iterations": 500}


def run_of(model: Path, output: Path, algorithm: str = "grpo", **more: Any) -> list[Any]:
    return [algorithm, getattr(toys, algorithm)(model, output, **(RUN | more)).to_json()]


def jobs(model: Path, root: Path) -> list[dict[str, Any]]:
    def one(name: str, **more: Any) -> list[Any]:
        return run_of(model, root / name, **more)

    again = BOUND | {"resume": True}
    raising = {"iterations": 3, "env_kwargs": {"turns": 2, "trouble": "raise", "trouble_every": 5}}
    refusing = {"turns": 2, "trouble": "refuse", "trouble_every": 1}
    return [
        {"name": "in step", "size": 2, "runs": [one("sync"), one("exact", **EXACT)]},
        {"name": "cut", "size": 2, "runs": [one("cut", **EXACT)], "trouble": "SIGKILL", "lines": 2},
        {"name": "resumed", "size": 2, "runs": [one("cut", **EXACT, resume=True)]},
        {"name": "two", "size": 2, "runs": [one("moved", **BOUND)], "trouble": "SIGKILL", "lines": 2},
        {"name": "one", "size": 0, "runs": [one("moved", **again)], "trouble": "SIGKILL", "lines": 2, "rank": 0},
        {"name": "faults", "size": 2, "runs": [one("faults", **BOUND | raising, dynamic_sampling_rounds=3)]},
        {"name": "refused", "size": 2, "runs": [one("refused", **BOUND | {"env_kwargs": refusing})]},
    ]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("async_team")


@pytest.fixture(scope="module")
def outcomes(undecided: Path, root: Path, warm: WarmProcess) -> dict[str, Any]:
    """Everything that takes several processes, done once."""
    found = warm.run(DRIVER, jobs(undecided, root))
    enough = BOUND | {"resume": True, "iterations": len(lines(root / "moved", "train")) + 3}
    last = {"name": "two again", "size": 2, "runs": [run_of(undecided, root / "moved", **enough)]}
    return found | warm.run(DRIVER, [last])


@pytest.fixture(scope="module")
def more_outcomes(undecided: Path, root: Path, warm: WarmProcess) -> dict[str, Any]:
    """The algorithms that only `make test-all` compares."""

    def both(name: str) -> list[Any]:
        given = {"algorithm": name, "iterations": 2}
        ways = (("sync", {}), ("exact", EXACT))
        return [run_of(undecided, root / f"{name}_{way}", **given, **options) for way, options in ways]

    return warm.run(DRIVER, [{"name": name, "size": 2, "runs": both(name)} for name in MORE])


def assert_done(outcome: dict[str, Any]) -> None:
    assert set(outcome["codes"]) == {0}, outcome["said"]


def numbers_trained_on(folder: Path) -> list[int]:
    """The numbers of the groups, once for each episode."""
    names = [
        one.id or ""
        for path in (folder / "trajectories").iterdir()
        for one in (iterate_parquet(path) if path.suffix == ".parquet" else TrajectoryReader(path))
    ]
    parts = [name.partition(".")[0].split("-") for name in names]
    return sorted((int(iteration) - 1) * GROUPS + int(place) for iteration, place in parts)


def test_in_step_without_staleness_two_processes_train_as_two_synchronous_ones_to_the_bit(outcomes, root) -> None:
    assert_done(outcomes["in step"])
    assert_equal_runs(root / "sync", root / "exact", ITERATIONS)
    for line in lines(root / "exact", "train"):
        assert line["async"]["staleness"] == {"0": EPISODES} and line["async"]["generators"] == 2


@pytest.mark.long
@pytest.mark.parametrize("name", MORE)
def test_so_do_two_processes_with_other_algorithms(name, more_outcomes, root) -> None:
    assert_done(more_outcomes[name])
    assert_equal_runs(root / f"{name}_sync", root / f"{name}_exact", 2)


def test_an_exact_run_of_which_a_process_was_killed_ends_with_the_same_bits(outcomes, root) -> None:
    assert outcomes["cut"]["codes"] == [1, -9], outcomes["cut"]["said"]
    assert "ProcessFault" in outcomes["cut"]["said"][0]
    assert_done(outcomes["resumed"])
    assert "4 groups of episodes that were under way begin again" in outcomes["resumed"]["said"][0]
    assert_equal_runs(root / "exact", root / "cut", ITERATIONS)


def test_a_run_that_goes_on_with_other_numbers_of_processes_trains_on_every_group_once(outcomes, root) -> None:
    assert outcomes["two"]["codes"] == [1, -9] and outcomes["one"]["codes"] == [-9], outcomes["two"]["said"]
    assert_done(outcomes["two again"])
    assert "groups of episodes that were under way begin again" in outcomes["two again"]["said"][0]
    told, trained = lines(root / "moved", "train"), numbers_trained_on(root / "moved")
    assert sum(line["async"]["begun_again"] > 0 for line in told) == 2  # what a killed process said may be lost
    assert all(line["episodes"] == EPISODES == sum(line["async"]["staleness"].values()) for line in told)
    assert max(line["loss"]["staleness_max"] for line in told) <= 2
    groups = trained[::SIZE]
    assert trained == [number for number in groups for _ in range(SIZE)] and len(set(groups)) == len(groups)
    checkpoint = newest_checkpoint(root / "moved" / "checkpoints")
    assert checkpoint is not None and len(groups) == GROUPS * len(told)
    state = read_object(checkpoint / "state.json")["memory"]["under_way"]
    dropped = sum(line["async"]["dropped_groups"] for line in told)
    assert not set(groups) & set(state["begun"])
    assert len(groups) + len(state["begun"]) + dropped == state["next"]


def test_faults_of_environments_are_those_of_their_episodes_alone_and_other_groups_are_played_for_them(
    outcomes, root
) -> None:
    assert_done(outcomes["faults"])
    told = lines(root / "faults", "train")
    assert len(told) == 3 and 0 < sum(line["faults"] for line in told) < sum(line["episodes"] for line in told)
    assert all(line["episodes"] % SIZE == 0 and line["episodes"] >= EPISODES for line in told)
    assert max(line["episodes"] for line in told) > EPISODES


def test_a_round_of_fewer_groups_than_processes_asks_nothing_of_the_others() -> None:
    nothing: Any = None
    second = AsyncRollouts(nothing, nothing, batch=EPISODES, group_size=SIZE, processes=ProcessGroup(1, 2))
    assert second.gate.batch == EPISODES // 2 and second.take(SIZE).trajectories == []


def test_what_ends_one_process_ends_both_with_its_message(outcomes) -> None:
    assert outcomes["refused"]["codes"] == [1, 1]
    assert all("ConfigError: nothing to play in here" in said for said in outcomes["refused"]["said"])


def test_a_cluster_that_a_run_starts_has_one_trainer(undecided, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = AsyncRun.__init__

    def of_two(self: AsyncRun, run: Any) -> None:
        run.processes.size = 2
        refuse(self, run)

    monkeypatch.setattr(AsyncRun, "__init__", of_two)
    with pytest.raises(ConfigError, match="start one with `ray start`"):
        grpo.train(toys.grpo(undecided, tmp_path / "run", asynchronous=True, cluster="ray", hosts=2))
