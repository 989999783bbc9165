"""`agentrl export lerobot`: what `agentrl eval --output` kept becomes a LeRobotDataset."""

from __future__ import annotations

from pathlib import Path

from agentrl.rollout.lerobot import read_lerobot
from agentrl.rollout.trajectory_file import read_trajectories

PUCK = "tests.toy_control:toy/Puck-v0"


def test_episodes_that_eval_kept_are_exported(agentrl_cli, tmp_path: Path) -> None:
    kept, data = tmp_path / "kept", tmp_path / "data"
    for policy, more in (("oracle", ()), ("human", ("--env-kwargs", '{"max_turns": 2}'))):
        done = agentrl_cli(
            "eval", PUCK, "--policy", policy, "--episodes", "2", "--output", str(kept / policy), *more,
            stdin="1 0\n0 1\n0 0\n0 -1\n",
        )  # fmt: skip
        assert done.status == 0, done.err
    files = sorted(kept.glob("*/trajectories/*.jsonl"))
    done = agentrl_cli("export", "lerobot", *map(str, files), "--output", str(data), "--json")
    solved = [one for path in files for one in read_trajectories(path) if one.success]
    steps = sum(len(one.steps) for one in solved)
    assert done.json == {
        "schema": 1, "format": "lerobot", "output": str(data), "episodes": 2, "frames": steps, "tasks": 1, "left_out": 2
    }  # fmt: skip
    assert [len(one.steps) for one in read_lerobot(data)] == [len(one.steps) for one in solved]
    again = agentrl_cli("export", "lerobot", *map(str, files), "--output", str(tmp_path / "all"), "--failures")
    assert again.status == 0 and f"{tmp_path / 'all'}: 4 episodes" in again.out
    person = [step.action for one in list(read_lerobot(tmp_path / "all"))[:2] for step in one.steps]
    assert person == [[1, 0], [0, 1], [0, 0], [0, -1]]  # files in the order of their names


def test_what_cannot_be_exported_is_said_in_one_line(agentrl_cli, tmp_path: Path) -> None:
    done = agentrl_cli("export", "lerobot", "--output", str(tmp_path / "data"))
    assert done.status == 2
    done = agentrl_cli("export", "lerobot", str(tmp_path / "nothing.jsonl"), "--output", str(tmp_path / "data"))
    assert done.status == 2 and "nothing.jsonl" in done.err and not (tmp_path / "data").exists()
    done = agentrl_cli("export", "rlds", "some.jsonl", "--output", str(tmp_path / "data"))
    assert done.status == 2 and "lerobot" in done.err
