"""The whole loop from the command line: eval into a file, judge the file, compare judges; check judges."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from agentrl.rollout.parquet import to_parquet
from agentrl.rollout.trajectory_file import read_trajectories

ROOM = "agentrl/Sokoban-Text-v0"
KEPT = "trajectories/Sokoban-Text-v0_oracle.jsonl"
EXACT = "tests.toy_judges:Exact"
BOTH = ("--strategy", "grounding_worldmodeling")


@pytest.fixture
def saved(agentrl_cli, tmp_path: Path):
    """A file of oracle episodes; options of eval decide how they were judged."""

    def make(*options: str, name: str = "a", episodes: int = 4) -> Path:
        folder = tmp_path / name
        words = ("--policy", "oracle", "--episodes", str(episodes), *BOTH, *options, "--output", str(folder), "--json")
        done = agentrl_cli("eval", ROOM, *words)
        assert done.status == 0, done.err
        return folder / KEPT

    return make


def test_eval_writes_trajectories_whose_rewards_are_those_it_reports(agentrl_cli, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ("--policy", "oracle", "--episodes", "5", *BOTH, "--judge", EXACT, "--output", str(folder), "--json")
    result = agentrl_cli("eval", ROOM, *words).json
    trajectories = read_trajectories(folder / KEPT)
    assert len(trajectories) == 5
    assert sum(t.reward for t in trajectories) / 5 == pytest.approx(result["reward_mean"])
    assert result["reward_terms"]["grounding"] == result["reward_terms"]["worldmodeling"] == 0.5 * result["turns_mean"]
    assert [entry["name"] for entry in result["spec"]["additional_wrappers"]] == ["Reasoning", "ReasoningReward"]


def test_deferred_evaluations_are_settled_by_judge(agentrl_cli, saved, tmp_path: Path) -> None:
    path, out = saved("--deferred"), tmp_path / "out.jsonl"
    before = path.read_bytes()
    assert all(t.reward is None for t in read_trajectories(path))
    result = agentrl_cli("judge", str(path), "--judge", EXACT, "--output", str(out), "--json").json
    assert result["settled"] == result["trajectories"] == 4 and result["faults"] == result["pending"] == 0
    assert result["scores"] == {"grounding": 1.0, "worldmodeling": 1.0}
    assert result["rewards"]["before"] == {"known": 0, "mean": None}
    assert result["rewards"]["after"]["known"] == 4
    assert path.read_bytes() == before
    paid = read_trajectories(saved("--judge", EXACT, name="b"))
    assert [t.reward for t in read_trajectories(out)] == [t.reward for t in paid]


def test_parquet_files_are_judged_like_json_lines(agentrl_cli, saved, tmp_path: Path) -> None:
    path = saved("--deferred")
    lines = agentrl_cli("judge", str(path), "--judge", EXACT, "--json").json
    closed, out = to_parquet(path), tmp_path / "out.parquet"
    result = agentrl_cli("judge", str(closed), "--judge", EXACT, "--output", str(out), "--json").json
    assert result["judged"] == lines["judged"] > 0 and result["rewards"] == lines["rewards"]
    assert not any(trajectory.pending for trajectory in read_trajectories(out))


def test_pending_can_be_settled_in_the_file_itself_and_only_pending(agentrl_cli, saved) -> None:
    path = saved("--deferred")
    assert "--pending" in agentrl_cli("judge", str(path), "--judge", EXACT, "--output", str(path)).err
    done = agentrl_cli("judge", str(path), "--judge", EXACT, "--output", str(path), "--pending", "--json")
    assert done.json["settled"] == 4
    again = agentrl_cli("judge", str(path), "--judge", "tests.toy_judges:Down", "--pending", "--json")
    assert again.status == 0 and again.json["requests"] == 0


def test_another_judge_gives_other_rewards_and_an_outage_gives_none(agentrl_cli, saved, tmp_path: Path) -> None:
    path = saved("--judge", EXACT)
    half = '{"kind": "tests.toy_judges:Constant", "value": 0.5}'
    result = agentrl_cli("judge", str(path), "--judge", half, "--json").json
    turns = sum(len(t.steps) for t in read_trajectories(path))
    assert result["rewards"]["before"]["mean"] - result["rewards"]["after"]["mean"] == pytest.approx(0.5 * turns / 4)
    done = agentrl_cli("judge", str(path), "--judge", "tests.toy_judges:Down", "--json")
    assert done.status == 1
    assert done.json["faults"] == done.json["requests"] == 2 * turns
    assert done.json["rewards"]["after"] == {"known": 0, "mean": None}


def test_agreement_between_two_judges_and_with_the_file(agentrl_cli, saved) -> None:
    path = str(saved("--judge", EXACT))
    same = agentrl_cli("judge", path, "--judge", EXACT, "--against", "recorded", "--json").json["agreement"]
    assert same["all"]["rate"] == 1.0 and same["all"]["mean_difference"] == 0.0
    assert set(same) == {"all", "grounding", "worldmodeling"}
    other = agentrl_cli("judge", path, "--judge", EXACT, "--against", "tests.toy_judges:ByLength", "--json").json
    found = other["agreement"]["all"]
    assert found["pairs"] == other["distinct"] and found["mean_difference"] > 0 and found["means"][0] == 1.0
    assert found["correlation"] is None  # one of them gave everybody 1
    down = agentrl_cli("judge", path, "--judge", EXACT, "--against", "tests.toy_judges:Down", "--json").json
    assert down["agreement"]["all"]["pairs"] == 0 and down["agreement"]["all"]["missing"] == other["distinct"]
    strict = agentrl_cli(
        "judge", path, "--judge", EXACT, "--against", "tests.toy_judges:ByLength", "--threshold", "0", "--json"
    ).json
    assert strict["agreement"]["all"]["rate"] == 1.0


def test_with_pending_the_comparison_is_still_between_the_two_judges(agentrl_cli, saved) -> None:
    path = str(saved("--judge", EXACT))
    words = ("--judge", "tests.toy_judges:Constant", "--against", "recorded", "--pending", "--json")
    assert agentrl_cli("judge", path, *words).json["agreement"]["all"]["means"] == [0.5, 1.0]


def test_tables_show_the_figures(agentrl_cli, saved) -> None:
    done = agentrl_cli("judge", str(saved("--judge", EXACT)), "--judge", EXACT, "--against", "recorded")
    assert done.status == 0
    for part in ("mean score, grounding", "kappa", "reward after", "worldmodeling"):
        assert part in done.out


def test_keys_are_not_printed_and_not_written(agentrl_cli, saved, tmp_path: Path) -> None:
    keyed = '{"kind": "tests.toy_judges:Keyed", "api_key": "canary-key-0815"}'
    path, out = saved("--judge", keyed), tmp_path / "out.jsonl"
    done = agentrl_cli("judge", str(path), "--judge", keyed, "--against", keyed, "--output", str(out), "--json")
    evaluated = agentrl_cli("eval", ROOM, "--episodes", "1", *BOTH, "--judge", keyed, "--json")
    everything = path.read_text() + out.read_text() + done.out + done.err + evaluated.out + evaluated.err
    assert "canary" not in everything and done.json["judged"] > 0


def test_wrap_takes_any_wrapper(agentrl_cli, tmp_path: Path) -> None:
    wrap = (
        '[{"wrapper": "Reasoning", "strategy": "grounding"}, '
        f'{{"wrapper": "ReasoningReward", "judge": "{EXACT}"}}, {{"wrapper": "RepetitionPenalty", "top_k": 3}}]'
    )
    result = agentrl_cli("eval", ROOM, "--policy", "oracle", "--episodes", "2", "--wrap", wrap, "--json").json
    assert [entry["name"] for entry in result["spec"]["additional_wrappers"]][-1] == "RepetitionPenalty"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--judge", "rule"), "need --strategy"),
        (("--deferred",), "need --strategy"),
        (("--strategy", "grouding"), 'Did you mean "grounding"'),
        (("--strategy", "free_think", "--judge", EXACT), "neither observation nor prediction"),
        ((*BOTH, "--judge", "no-such-judge"), "unknown judge"),
        ((*BOTH, "--judge", "{"), "--judge takes a JSON object"),
        ((*BOTH, "--representation", "smell"), "representation 'smell'"),
        (("--wrap", "{}"), "--wrap takes a JSON list"),
        (("--wrap", "["), "--wrap takes a JSON list"),
        (("--wrap", '[{"wrapper": "Histroy"}]'), 'Did you mean "History"'),
    ],
)
def test_eval_refuses_what_cannot_work(agentrl_cli, words: tuple[str, ...], says: str) -> None:
    done = agentrl_cli("eval", ROOM, "--episodes", "1", *words, "--json")
    assert done.status == 2 and says in done.json["error"]


def test_an_older_file_is_never_written_over(agentrl_cli, saved) -> None:
    path = saved("--deferred", episodes=1)
    done = agentrl_cli("eval", ROOM, "--episodes", "1", "--output", str(path.parents[1]))
    assert done.status == 2 and "already exists" in done.err
    assert len(read_trajectories(path)) == 1


@pytest.mark.parametrize(
    ("content", "words", "says"),
    [
        (None, (), "cannot read"),
        ("", (), "no trajectory"),
        ("dear diary\n", (), "line 1"),
        ('{"schema": 1, "steps": []}\n', ("--judge", "no-such-judge"), "unknown judge"),
        ('{"schema": 1, "steps": []}\n', ("--judge", "{"), "JSON object"),
        ('{"schema": 1, "steps": [{"info": {"judge_requests": 1}}]}\n', ("--judge", EXACT), "cannot be read"),
    ],
)
def test_judge_refuses_what_cannot_work(agentrl_cli, tmp_path: Path, content: Any, words: Any, says: str) -> None:
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_text(content)
    done = agentrl_cli("judge", str(path), *(words or ("--judge", EXACT)), "--json")
    assert done.status == 2 and says in done.json["error"]


def test_a_judge_that_cannot_be_reached_says_so_at_once(agentrl_cli, saved, monkeypatch) -> None:
    monkeypatch.setattr("agentrl.core.endpoint.SECONDS_TO_CONNECT", 0.1)
    with socket.socket() as nobody:  # bound, but not listening
        nobody.bind(("127.0.0.1", 0))
        judge = {"kind": "llm", "model": "m", "base_url": f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"}
        done = agentrl_cli("judge", str(saved("--deferred")), "--judge", json.dumps(judge | {"cache": False}), "--json")
    said = done.err.splitlines()
    assert done.status == 1 and "different requests in 4 trajectories" in said[0]
    assert [line for line in said if "no verdict: no connection (connection refused)" in line] == said[1:2]
    assert "does the server run at http://127.0.0.1" in done.json["first_fault"] and not done.json["judged"]


def test_a_half_written_file_is_judged_as_far_as_it_goes(agentrl_cli, saved) -> None:
    path = saved("--deferred")
    path.write_bytes(path.read_bytes()[:-200])
    assert agentrl_cli("judge", str(path), "--judge", EXACT, "--json").json["trajectories"] == 3


# ---------------------------------------------------------------------- check judges


@pytest.fixture
def selfcheck(monkeypatch):
    """`benchmarks.judges.selfcheck` with the given result."""

    def install(run: Any) -> None:
        monkeypatch.setattr("benchmarks.judges.selfcheck.run", run)

    return install


@pytest.mark.parametrize("good", [True, False])
def test_check_judges_reports_like_an_environment(agentrl_cli, selfcheck, good: bool) -> None:
    checks = [{"name": "gold", "pass": True, "detail": "1.0"}, {"name": "injections", "pass": good, "detail": "0.01"}]
    selfcheck(lambda say: checks)
    done = agentrl_cli("check", "judges", "--json")
    assert done.status == (0 if good else 1)
    (entry,) = done.json["envs"]
    assert entry["id"] == "judges" and entry["checks"] == checks and entry["pass"] is good is done.json["pass"]
    shown = agentrl_cli("check", "judges").out
    assert "what was measured" in shown and "injections" in shown and "0.01" in shown


def test_check_judges_that_break_or_check_nothing_do_not_pass(agentrl_cli, selfcheck) -> None:
    def broken(say: Any) -> Any:
        raise RuntimeError("boom")

    selfcheck(broken)
    assert "boom" in agentrl_cli("check", "judges", "--json").json["envs"][0]["checks"][0]["detail"]
    selfcheck(lambda say: [])
    assert agentrl_cli("check", "judges", "--json").status == 1
