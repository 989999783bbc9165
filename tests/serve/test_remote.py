"""Remote environments: to the bit what they are here, one by one and as a vector, also after a server was lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError, SessionFault, SnapshotError
from agentrl.policies import load_policy
from agentrl.policies.random import RandomPolicy
from agentrl.registry import FAMILIES, TABLE, family_of
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.serve import protocol
from agentrl.serve.env_server import EnvServer
from agentrl.serve.remote import RemoteEnv, RemoteVectorEnv
from agentrl.serve.sessions import Limits, Sessions

LAKE, REMOTE = "agentrl/FrozenLake-Text-v0", "agentrl/Remote-v0"
ROOT = Path(__file__).parents[2]
ONE_EACH: dict[str, dict[str, Any]] = {  # one id of each family, with little to draw
    "agentrl/Sokoban-Visual-v0": {},
    "agentrl/Navigation-Text-v0": {},
    "agentrl/SVG-Visual-v0": {"image_size": 48},
    "agentrl/WebShop-Text-v0": {},
    "agentrl/ALFWorld-Text-v0": {},
    "agentrl/MultiHopQA-Text-v0": {"pages": 1_000},
    "agentrl/PaperSearch-Text-v0": {"papers": 10_000},
    "agentrl/WebArenaLite-Text-v0": {},
    "agentrl/PrimitiveSkill-Place-Text-v0": {},
    "agentrl/LIBERO-Spatial-v0": {"obs_mode": "state"},
    "agentrl/MetaWorld-reach-v0": {"obs_mode": "state"},
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with EnvServer(Sessions(hosts=1)) as server:
        yield server.url


@contextmanager
def process(*options: str, **variables: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """`agentrl serve` in a process of its own."""
    command = [sys.executable, "-m", "agentrl.cli", "serve", "--json", "--port", "0", *options]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings) as server:
        try:
            assert server.stdout is not None
            yield server, json.loads(server.stdout.readline())["url"]
        finally:
            server.kill()


def same(one: Any, other: Any) -> bool:
    """Equal in every bit and type; tuples arrive as lists."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def play(env_id: str, url: str, seeds: range, turns: int, **kwargs: Any) -> None:
    here = gym.make(env_id, **kwargs)
    there = gym.make(REMOTE, url=url, env_id=env_id, **kwargs)
    try:
        assert there.action_space == here.action_space and there.observation_space == here.observation_space
        for seed in seeds:
            policy = RandomPolicy(seed=seed)
            assert same(here.reset(seed=seed), there.reset(seed=seed))
            assert there.unwrapped.system_prompt == here.unwrapped.system_prompt
            for _ in range(turns):
                action = policy.sample(here)
                found = here.step(action)
                assert same(found, there.step(action))
                if found[2] or found[3]:
                    break
    finally:
        here.close()
        there.close()


@pytest.mark.parametrize("env_id", ONE_EACH)
def test_one_id_of_each_family_plays_the_same_to_the_bit(env_id, url) -> None:
    play(env_id, url, range(5), 2, **ONE_EACH[env_id])


def test_every_family_has_an_id_above() -> None:
    assert [family_of(env_id) for env_id in ONE_EACH] == list(FAMILIES)


@pytest.mark.long
@pytest.mark.parametrize("env_id", [entry.id for entry in TABLE])
def test_every_id_plays_the_same_to_the_bit(env_id, url) -> None:
    play(env_id, url, range(5), 30)


def test_oracle_state_picture_and_fork_are_those_of_the_environment(url) -> None:
    here = gym.make("agentrl/FrozenLake-Visual-v0", render_mode="rgb_array")
    there = gym.make(REMOTE, url=url, env_id="agentrl/FrozenLake-Visual-v0", render_mode="rgb_array")
    here.reset(seed=4)
    there.reset(seed=4)
    base: Any = there.unwrapped
    assert base.oracle() == here.unwrapped.oracle() and base.state() == here.unwrapped.state().to_json()
    assert base.snapshot() == agentrl.snapshot(here) and same(there.render(), here.render())
    blob = agentrl.snapshot(there)
    after = there.step("Down")
    agentrl.restore(there, blob)
    assert same(there.step("Down"), after)
    with pytest.raises(SnapshotError):
        base.restore(b"nonsense")
    there.close()


def test_a_vector_is_the_single_ones_and_a_step_is_one_frame(url, monkeypatch) -> None:
    read, sent = protocol.read_frame, []

    def counted(data: bytes) -> Any:
        sent.append(read(data).__struct_config__.tag)
        return read(data)

    monkeypatch.setattr(protocol, "read_frame", counted)
    envs = gym.make_vec(REMOTE, 6, url=url, env_id=LAKE, vectorization_mode="vector_entry_point")
    assert isinstance(envs, RemoteVectorEnv)
    single = [gym.make(LAKE) for _ in range(6)]
    seen, _ = envs.reset(seed=10)
    assert [text for text in seen["text"]] == [env.reset(seed=10 + i)[0]["text"] for i, env in enumerate(single)]
    sent.clear()
    seen, rewards, terminated, _, info = envs.step(("Down",) * 6)
    assert sent == ["step_many"]
    found = [env.step("Down") for env in single]
    assert [turn[1] for turn in found] == rewards.tolist() and [turn[2] for turn in found] == terminated.tolist()
    assert list(info["task"]) == [turn[-1]["task"] for turn in found]
    envs.close()


def test_records_of_a_collector_are_those_made_here(url) -> None:
    found = []
    for spec in (EnvSpec(LAKE), EnvSpec(REMOTE, {"url": url, "env_id": LAKE})):
        collector = Collector([spec], load_policy("random", seed=2), num_envs=3, split="dev")
        found.append(collector.collect([Start(seed) for seed in range(6)]).trajectories)
        collector.close()
    for here, there in zip(*found, strict=True):
        assert (there.env_id, there.split, there.task) == (LAKE, "dev", here.task)
        assert here.steps == there.steps and here.reward == there.reward


def test_eval_plays_a_served_environment(url, capsys) -> None:
    from agentrl.cli.main import main

    kwargs = json.dumps({"url": url, "env_id": LAKE})
    asked = ["eval", REMOTE, "--env-kwargs", kwargs, "--policy", "oracle", "--episodes", "5", "--json"]
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out)["success"] == 1.0


def test_a_server_that_dies_is_a_fault_and_the_next_reset_finds_the_new_one() -> None:
    with process(LAKE) as (server, url):
        env = gym.make(REMOTE, url=url, env_id=LAKE)
        first = env.reset(seed=1)
        server.kill()
        server.wait()
        with pytest.raises(SessionFault) as lost:
            env.step("Down")
        assert lost.value.reason == "connection" and lost.value.to_json()["kind"] == "SessionFault"
        with pytest.raises(SessionFault):
            env.reset(seed=1)
    with process(LAKE, "--port", url.rsplit(":", 1)[1].split("/")[0]):
        assert same(env.reset(seed=1), first)
    env.close()


def test_an_episode_that_was_reaped_is_opened_again_by_reset() -> None:
    with EnvServer(Sessions([LAKE], limits=Limits(idle_seconds=0.5))) as server:
        env = gym.make(REMOTE, url=server.url, env_id=LAKE)
        first = env.reset(seed=1)
        while len(server.sessions):
            time.sleep(0.05)
        with pytest.raises(SessionFault) as gone:
            env.step("Down")
        assert gone.value.reason in ("unknown", "connection")
        assert same(env.reset(seed=1), first)
        env.close()


def test_sigterm_lets_an_open_episode_end() -> None:
    with process(LAKE, "--drain-seconds", "30") as (server, url):
        env = gym.make(REMOTE, url=url, env_id=LAKE)
        env.reset(seed=1)
        server.send_signal(signal.SIGTERM)
        assert env.step(env.unwrapped.oracle())[1] is not None
        env.close()
        assert server.wait(60) == 0


def test_what_cannot_be_opened_says_why(url) -> None:
    with pytest.raises(ConfigError, match="must be an address"):
        RemoteEnv("http://127.0.0.1", LAKE)
    with pytest.raises(ConfigError, match="on the server"):
        RemoteEnv(url, LAKE, render_mode="human")
    with pytest.raises(ConfigError, match="Did you mean"):
        RemoteEnv(url, "agentrl/FrozenLake-Txt-v0")
    with pytest.raises(SessionFault, match="failed"):
        RemoteEnv("ws://127.0.0.1:9/ws", LAKE)


def test_another_version_is_refused_in_one_sentence(url, monkeypatch) -> None:
    monkeypatch.setattr("agentrl.serve.remote.versions_of", lambda _: {"agentrl": "9.9.9", "environment": None})
    with pytest.raises(ConfigError, match=r"^agentrl must have the same version on both sides; got 9\.9\.9 there"):
        RemoteEnv(url, LAKE)
    told = {**protocol.versions_of(LAKE), "environment": "1"}
    monkeypatch.setattr(protocol, "versions_of", lambda _: {**told, "environment": "2"})
    with pytest.raises(ConfigError, match=r"the package of .* must have the same version"):
        protocol.check_versions(LAKE, told)
