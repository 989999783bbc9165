"""`agentrl eval --suite`: every task of a suite from the same starts, success per task."""

from __future__ import annotations

import pytest

from agentrl.rollout.trajectory_file import TrajectoryReader

pytestmark = pytest.mark.extra_robots
KWARGS = ("--env-kwargs", '{"obs_mode": "state", "max_turns": 2, "settle_steps": 0}')


def test_a_suite_is_played_task_by_task_with_intervals(agentrl_cli) -> None:
    done = agentrl_cli("eval", "--suite", "libero_spatial", "--episodes", "12", *KWARGS, "--json")
    found = done.json
    assert done.status == 0 and found["id"] == "agentrl/LIBERO-Spatial-v0" and found["episodes"] == 12
    assert [row["task"] for row in found["tasks"]] == [f"libero_spatial/{number}" for number in range(10)]
    assert [row["episodes"] for row in found["tasks"]] == [2, 2] + [1] * 8
    first = found["tasks"][0]
    assert first["instruction"].startswith("pick up the black bowl between the plate") and first["success"] == 0.0
    assert first["success_ci"] == pytest.approx([0.0, 0.6576], abs=1e-3)


def test_a_suite_in_hosts_plays_the_same_episodes(agentrl_cli, tmp_path) -> None:
    played = []
    for hosts in ("0", "1"):
        folder = tmp_path / hosts
        words = ("--suite", "libero_spatial", "--episodes", "3", "--hosts", hosts, "--output", str(folder))
        assert agentrl_cli("eval", *words, *KWARGS).status == 0
        (path,) = (folder / "trajectories").iterdir()
        played.append(sorted(TrajectoryReader(path), key=lambda one: one.task or ""))
    assert played[0] == played[1] and [len(one.steps) for one in played[0]] == [2, 2, 2]


def test_without_a_number_all_fifty_starts_of_every_task_are_played(monkeypatch) -> None:
    from agentrl.cli import eval as verb
    from agentrl.cli.main import main

    asked = {}

    def stop(env_id, policy, load, given, folder):
        asked.update(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(verb, "play", stop)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        raise SystemExit(main(["eval", "--suite", "libero_goal", *KWARGS]))
    assert asked["episodes"] == len(set(asked["tasks"])) == 500 and asked["tasks"][499] == "libero_goal/9:test:49"


def test_an_unknown_suite_and_a_suite_beside_ids_are_refused(agentrl_cli) -> None:
    done = agentrl_cli("eval", "--suite", "libero_spacial")
    assert done.status == 2 and "--suite must be one of libero_10" in done.err and "libero_spatial" in done.err
    done = agentrl_cli("eval", "agentrl/LIBERO-Goal-v0", "--suite", "libero_goal")
    assert done.status == 2 and "or a suite with --suite" in done.err
