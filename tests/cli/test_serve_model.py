"""`agentrl serve-model` as a real process, and evaluations against it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

LAKE = "agentrl/FrozenLake-Text-v0"
KEY = "key-of-the-process-0123456789"


@contextmanager
def start(*words, **environment):
    """A server; ended whatever happens, since a test that fails would wait for it for ever."""
    with subprocess.Popen(
        [sys.executable, "-m", "agentrl.cli", "serve-model", *words, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def endpoint():
    """Where tiny-text is served, by a process of its own."""
    with start("tiny-text", AGENTRL_SERVE_KEY=KEY) as process:
        ready = json.loads(process.stdout.readline())
        assert ready == {"schema": 1, "base_url": ready["base_url"], "model": "tiny-text", "key": True}
        yield ready["base_url"]
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0 and "answered" in said
        assert KEY not in said and "Traceback" not in said


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def figures(done):
    assert done.status == 0, done.err
    assert KEY not in done.out + done.err
    return {name: value for name, value in done.json.items() if name not in ("seconds", "policy")}


@pytest.mark.long  # tests/serve/test_model_server.py compares greedy play within one process
def test_a_greedy_evaluation_through_the_endpoint_equals_that_of_the_model(agentrl_cli, endpoint, tmp_path):
    # One at a time: in a batch with others the last digits of a probability may differ.
    words = ("eval", LAKE, "--episodes", "4", "--json", "--greedy", "--max-new-tokens", "16", "--num-envs", "1")
    there = ("--policy", "openai:tiny-text", "--base-url", endpoint, "--policy-kwargs", '{"token_ids": true}')
    near = agentrl_cli(*words, "--policy", "hf:tiny-text", "--output", str(tmp_path / "near"))
    far = agentrl_cli(*words, *there, "--output", str(tmp_path / "far"))
    assert figures(near) == figures(far)
    assert far.json["policy"] == "openai:tiny-text"
    said = []
    for name in ("near", "far"):
        (kept,) = (tmp_path / name / "trajectories").iterdir()
        text = kept.read_text()
        assert KEY not in text
        said.append([[step["action"] for step in json.loads(line)["steps"]] for line in text.splitlines()])
    assert said[0] == said[1] and any(action for turns in said[0] for action in turns)


def test_react_plays_through_the_endpoint(agentrl_cli, endpoint, tmp_path):
    kwargs = ("--policy-kwargs", '{"max_new_tokens": 16, "examples": 1}', "--output", str(tmp_path / "run"))
    done = agentrl_cli(
        "eval", LAKE, "--policy", "react:openai:tiny-text", "--base-url", endpoint, "--episodes", "3", "--json", *kwargs
    )
    result = figures(done)
    assert (result["faults"], result["metrics"]["scored"]) == (0, 3)
    records = [json.loads(line) for line in next((tmp_path / "run").glob("trajectories/*")).read_text().splitlines()]
    assert all(step["finish_reason"] in ("stop", "length") for record in records for step in record["steps"])


def test_a_wrong_key_is_a_fault_of_every_episode_and_the_verb_fails(agentrl_cli, endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "some-other-key-987654321")
    done = agentrl_cli(
        "eval", LAKE, "--policy", "openai:tiny-text", "--base-url", endpoint, "--episodes", "2", "--json"
    )
    assert done.status == 1 and done.json["faults"] == 2 and done.json["success"] is None
    assert "EngineFault" in done.err and "some-other-key" not in done.out + done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--policy-kwargs", '{"api_key": "x"}'), "must not contain a key"),
        (("--policy-kwargs", "[]"), "JSON object"),
        (("--policy-kwargs", '{"max_tokns": 1}'), "max_tokns"),
        (("--base-url", "nowhere"), "base_url"),
    ],
)
def test_options_that_cannot_work_are_one_line(agentrl_cli, words, says):
    done = agentrl_cli("eval", LAKE, "--policy", "openai:m", "--episodes", "1", *words)
    assert done.status == 2 and says in done.err and len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [(("tiny-txt",), 'Did you mean "tiny-text"'), (("tiny-text", "--host", "0.0.0.0"), "loopback")],
)
def test_what_cannot_be_served_is_one_line(agentrl_cli, words, says):
    done = agentrl_cli("serve-model", *words)
    assert done.status == 2 and says in done.err
