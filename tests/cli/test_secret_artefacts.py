"""Keys that stand inside a judge's spec: they reach the endpoint, and no file, page, tracker or message."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import pytest

import agentrl
from agentrl.cli.train_options import read_words
from agentrl.cli.training_plan import Plan, PlannedRun, make_plan
from agentrl.core.errors import ConfigError
from agentrl.core.redact import MASK
from agentrl.trainers.algorithms.ppo import PPO
from agentrl.trainers.run.folder import check_same_run
from agentrl.trainers.run.trackers import make_trackers
from agentrl.wrappers import Reasoning, ReasoningReward
from benchmarks.judges.faulty_endpoint import FaultyEndpoint

LAKE = "agentrl/FrozenLake-Text-v0"
BOTH = ("--strategy", "grounding_worldmodeling")
SMALL = ("--threads", "1", "--max-new-tokens", "4", "--num-envs", "4", "--episodes", "4", "--minibatches", "1")
CANARIES = ("canary-one-0815", 'canary "two" & \\ 4711', "canary-three-é-42", "canary-four-1234")


@pytest.fixture
def echoing():
    """An endpoint whose model repeats the keys it was sent."""

    def answer(call):
        said = f"{call.body.get('extra')} {CANARIES[0]} {CANARIES[1]}"
        return json.dumps({"code": call.code, "reasoning": said, "verdict": "YES"})

    with FaultyEndpoint(answer=answer) as endpoint:
        yield endpoint


def spec_of(base_url: str, cache: str | bool = False) -> dict:
    one, two, three, four = CANARIES
    extra = {"api_key": one, "extra": [{"X-Auth-Token": two}], "credentials": {"user": three}, "apiKey": [four]}
    return {"kind": "llm", "model": "m", "base_url": base_url, "extra_body": extra, "cache": cache}


def spellings(canary: str) -> list[str]:
    """How it could stand in a file; the middle of a base64 text does not depend on where it begins."""
    inner = [base64.b64encode(b"x" * shift + canary.encode())[4:-4].decode() for shift in range(3)]
    return [canary, json.dumps(canary)[1:-1], *inner]


def assert_clean(*texts: str | bytes) -> None:
    for text in texts:
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        for canary in CANARIES:
            for spelling in spellings(canary):
                assert spelling.encode() not in data, spelling
        assert b"canary" not in data


def assert_clean_files(folder: Path, least: int) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) >= least
    for path in files:
        assert_clean(str(path), path.read_bytes())


def test_a_training_run_leaves_no_key_anywhere(agentrl_cli, echoing, tmp_path):
    run, judge = tmp_path / "run", json.dumps(spec_of(echoing.base_url, str(tmp_path / "replies.sqlite")))
    words = ("ppo", "--output", str(run), "--iterations", "1", *SMALL)
    options = (*BOTH, "--judge", judge, "--trackers", "tensorboard", "--save-trajectories", "-1", "--env", LAKE)
    done = agentrl_cli("train", *words, *options, "--json")
    assert done.status == 0, done.err
    assert_clean(done.out, done.err)
    assert {"config.json", "metrics.jsonl", "report.html", "tensorboard", "checkpoints"} <= {
        path.name for path in run.iterdir()
    }
    assert_clean_files(tmp_path, 12)
    assert MASK in (run / "config.json").read_text() and MASK in (run / "report.html").read_text()
    # What was not stored must be given again.
    done = agentrl_cli("train", "--resume", str(run), "--iterations", "2")
    assert done.status == 2 and "give judge again" in done.err
    (planned,) = make_plan(read_words(["--resume", str(run), "--judge", judge])).runs
    check_same_run(json.loads((run / "config.json").read_text()), planned.arguments, "ppo")


def test_evaluating_and_judging_leave_no_key_anywhere(agentrl_cli, echoing, tmp_path):
    judge, folder = json.dumps(spec_of(echoing.base_url, str(tmp_path / "replies.sqlite"))), tmp_path / "a"
    words = ("--policy", "oracle", "--episodes", "3", *BOTH, "--judge", judge, "--output", str(folder), "--json")
    done = agentrl_cli("eval", LAKE, *words)
    saved = folder / "trajectories" / "FrozenLake-Text-v0_oracle.jsonl"
    assert done.status == 0 and echoing.calls and echoing.calls[0].body["api_key"] == CANARIES[0]
    assert f"\"why\":\"[{{'X-Auth-Token': '{MASK}" in saved.read_text()
    again = agentrl_cli("judge", str(saved), "--judge", judge, "--output", str(tmp_path / "b.parquet"), "--json")
    assert again.status == 0
    table = agentrl_cli("judge", str(saved), "--judge", judge, "--against", judge)
    assert_clean(done.out, done.err, again.out, again.err, table.out, table.err)
    assert (tmp_path / "replies.sqlite").stat().st_size
    assert_clean_files(tmp_path, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"api_key": CANARIES[0]},
        {"base_url": f"https://me:{CANARIES[0]}@localhost/v1"},
        {"base_url": f"https://localhost/v1?api_key={CANARIES[0]}"},
        {"headers": {"Authorization": f"Bearer {CANARIES[0]}"}},
        {"model": "", "extra_body": {"password": CANARIES[0]}},
    ],
)
def test_what_is_refused_is_not_written_before(agentrl_cli, tmp_path, changes):
    judge = json.dumps({"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9/v1", **changes})
    words = ("ppo", "--output", str(tmp_path / "run"), "--iterations", "1", "--judge", judge, *BOTH, *SMALL)
    done = agentrl_cli("train", *words, "--env", LAKE, "--json")
    assert done.status == 2, done.err
    assert_clean(done.out, done.err)
    assert_clean_files(tmp_path, 0)


def test_a_recipe_of_several_stages_keeps_no_key_in_its_plan(tmp_path):
    arguments = PPO(strategy="grounding", judge=json.dumps(spec_of("http://127.0.0.1:9/v1")), output=str(tmp_path))
    Plan(tmp_path, [PlannedRun("play", "ppo", arguments)], several=True).write()
    assert_clean_files(tmp_path, 1)
    with pytest.raises(ConfigError, match="give judge again"):
        PPO.from_json(arguments.to_json())


def test_trackers_get_no_key(tmp_path, monkeypatch):
    given = []
    stub = SimpleNamespace(Settings=lambda **settings: None, init=lambda **arguments: given.append(arguments))
    monkeypatch.setitem(sys.modules, "wandb", stub)
    monkeypatch.setenv("WANDB_MODE", "offline")
    arguments = PPO(env=(json.dumps({"id": LAKE, "kwargs": {"hub_token": CANARIES[3]}}),))
    make_trackers(["wandb"], tmp_path, arguments.to_json(), "run")
    assert given and MASK in str(given)
    assert_clean(str(given))


def test_snapshots_hold_no_key():
    env = ReasoningReward(Reasoning(gym.make(LAKE), "grounding"), judge=spec_of("http://127.0.0.1:9/v1"))
    env.reset(seed=0)
    blob = agentrl.snapshot(env)
    assert_clean(blob)
    agentrl.restore(env, blob)


@pytest.mark.parametrize("option", ["--judge", "--wrap", "--env-kwargs"])
def test_a_typing_mistake_does_not_print_the_key(agentrl_cli, option, tmp_path):
    broken = json.dumps(spec_of("http://127.0.0.1:9/v1"))[:-1]
    for verb in (("eval", LAKE, "--policy", "oracle"), ("train", "ppo", "--output", str(tmp_path / "run"))):
        done = agentrl_cli(*verb, *BOTH, option, broken, "--json")
        assert done.status == 2
        assert_clean(done.out, done.err)
