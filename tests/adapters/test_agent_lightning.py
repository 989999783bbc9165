"""Agent Lightning's gateway without any code: a policy whose base URL names the rollout plays behind it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager

import pytest

from agentrl.core.interpreter import CHECKOUT
from agentrl.policies.openai import OpenAIPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from tests.adapters.library_check import ENV_KWARGS, SEEDS, TEXT, VISUAL, check_row, compare, episode_of, play
from tests.adapters.scripted_endpoint import scripted_endpoint

SERVER = CHECKOUT / ".venv-agentlightning" / "bin" / "agl-server"


@contextmanager
def gateway(folder):
    """The URL of a server of Agent Lightning's own."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [SERVER, "host=127.0.0.1", f"port={port}", "default_proxy.model_name=scripted"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url, until = f"http://127.0.0.1:{port}", time.monotonic() + 120
        while True:
            try:
                ask(url, "openapi.json")
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.3)
        yield url
    finally:
        process.kill()
        process.wait()


def ask(url, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.library("agentlightning")
def test_a_policy_behind_its_gateway_plays_the_episodes_of_our_collector_and_is_recorded(tmp_path):
    found = {}
    with gateway(tmp_path) as url, scripted_endpoint(TEXT, VISUAL) as endpoint:
        ask(url, "api/models", [{"model": "scripted", "endpoint": endpoint, "version": 7}])
        for env_id in (TEXT, VISUAL):
            found[env_id] = compare([behind(url, env_id, seed) for seed in SEEDS], play(env_id))
    version = re.search(r"(?m)^agentlightning==(.+)$", (CHECKOUT / "scripts/libraries/agentlightning.txt").read_text())
    assert version is not None
    remarks = {"turn rewards": "as events"}
    check_row("Agent Lightning", version[1], text=found[TEXT], pictures=found[VISUAL], remarks=remarks)


def behind(url, env_id, seed):
    """An episode behind the gateway, which must have recorded every call and reward of it."""
    (rollout,) = ask(url, "api/rollouts", [{"input": {"seed": seed}}])
    name = rollout["rollout_id"]
    base = f"{url}/proxy/rollout/{name}/attempt/0/mode/train/openai/v1"
    policy = OpenAIPolicy("scripted", base_url=base, api_key="none", max_retries=1)
    collector = Collector([EnvSpec(env_id, dict(ENV_KWARGS))], policy, num_envs=1)
    (trajectory,) = collector.collect([Start(seed)]).trajectories
    collector.close()
    episode = episode_of(trajectory)
    for reward in episode.rewards or []:
        ask(url, f"api/rollouts/{name}/attempt/0/events", {"event_type": "reward", "data": {"value": reward}})
    events = ask(url, f"api/rollouts/{name}/events")
    kinds = [event["event_type"] for event in events]
    assert kinds.count("model_request") == len(episode.actions)
    assert [event["data"]["value"] for event in events if event["event_type"] == "reward"] == episode.rewards
    return episode
