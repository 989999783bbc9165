"""OpenEnv both ways: our environments behind its server, and environments behind a server as Gymnasium environments."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from http.server import HTTPServer, SimpleHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import gymnasium as gym
import pytest

from agentrl.core.errors import ConfigError, EnvFault, MissingLibrary
from agentrl.core.interpreter import CHECKOUT
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.episode import make
from agentrl.rollout.evaluate import evaluate
from tests.adapters.libraries import trained
from tests.adapters.library_check import (
    ENV_KWARGS,
    SEEDS,
    TEXT,
    VISUAL,
    ScriptedPolicy,
    check_row,
    compare,
    episode_of,
    from_json,
    play,
)

ID, PYTHON = "agentrl/OpenEnv-v0", CHECKOUT / ".venv-openenv" / "bin" / "python"
DRIVER = Path(__file__).with_name("openenv_driver.py")
VARIABLES = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "ignore"}
IDLE = 8  # seconds
library = pytest.mark.library("openenv")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A process that serves on a port of its own."""

    def __init__(self, *words: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([PYTHON, *words, str(port)], env=VARIABLES)

    def wait(self) -> None:
        until = time.monotonic() + 240
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=10):
                    return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < until
                time.sleep(0.3)

    def end(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def servers():
    """Ours with Text, ours with Visual, and an environment that is written for OpenEnv."""
    serve = ("-m", "agentrl.adapters.openenv", "--env-kwargs", json.dumps(ENV_KWARGS))
    started = [
        Server(*serve, TEXT, "--idle-seconds", str(IDLE), "--port"),
        Server(*serve, VISUAL, "--port"),
        Server(str(DRIVER), "serve"),
    ]
    try:
        for server in started:
            server.wait()
        yield started
    finally:
        for server in started:
            server.end()


def driver(*words: str) -> str:
    done = subprocess.run([PYTHON, DRIVER, *words], capture_output=True, text=True, env=VARIABLES, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


def through_client(url):
    collector = Collector([EnvSpec(ID, {"url": url})], ScriptedPolicy())
    played = collector.collect([Start(seed) for seed in SEEDS]).trajectories
    collector.close()
    return [episode_of(trajectory) for trajectory in played]


# ---------------------------------------------------------------------- with OpenEnv


@library
def test_its_client_and_ours_play_the_episodes_of_our_collector(servers):
    found = {}
    for env_id, server in zip((TEXT, VISUAL), servers[:2], strict=True):
        ours = play(env_id)
        found[env_id] = compare(from_json(driver("play", server.url)), ours)
        assert compare(through_client(server.url), ours) == found[env_id]
    version = re.search(r"(?m)^openenv==(.+)$", (CHECKOUT / "scripts/libraries/openenv.txt").read_text())
    assert version is not None
    check_row("OpenEnv", version[1], text=found[TEXT], pictures=found[VISUAL])


@library
def test_the_task_api_names_tasks_that_reset_plays(servers):
    told = json.loads(driver("tasks", servers[0].url, TEXT.rpartition("/")[2]))
    tasks = make(TEXT, **ENV_KWARGS, split="test").unwrapped.tasks()
    assert told["splits"] == ["train", "dev", "test"] and told["count"] == len(tasks)
    assert told["task"] == {"id": tasks[3], "index": 3} and told["played"] == tasks[3]


@library
def test_our_client_looks_like_the_environment(servers):
    here, there = gym.make(VISUAL, **ENV_KWARGS, split="test"), make(ID, url=servers[1].url, split="test")
    task = here.unwrapped.tasks()[5]
    seen = [env.reset(seed=1, options={"task": task}) for env in (here, there)]
    assert seen[0][0]["text"] == seen[1][0]["text"] and (seen[0][0]["image"] == seen[1][0]["image"]).all()
    assert seen[1][0] in there.observation_space and seen[1][1]["task"] == task
    assert there.get_wrapper_attr("system_prompt") == here.unwrapped.system_prompt
    with pytest.raises(EnvFault, match=r"arguments of reset must be seed, .*; got \['colour'\]"):
        there.reset(options={"colour": 1})
    there.close()


@library
def test_an_environment_of_openenv_is_evaluated_and_its_errors_are_faults(servers):
    kwargs = {"url": servers[2].url, "action_field": "message", "observation_field": "reply"}
    result = evaluate(ID, "copy", episodes=4, env_kwargs=kwargs)
    assert (result.episodes, result.faults) == (4, 0) and result.turns_mean == 2
    env = make(ID, **kwargs)
    observation, _ = env.reset(seed=3)
    assert observation == {"text": "Say 1."}
    assert env.step("1") == ({"text": "Yes."}, 1.0, False, False, {})
    assert env.step("2") == ({"text": "No."}, 0.0, True, False, {})
    env.reset(seed=3)
    with pytest.raises(EnvFault, match=r"step: the environment broke"):
        env.step("break")
    with pytest.raises(EnvFault, match=r"the session is lost"):
        env.step("1")
    env.reset(seed=3)
    env.close()
    with pytest.raises(ConfigError, match=r"action_field must be one of message; got 'text'"):
        make(ID, url=servers[2].url)


@library
@pytest.mark.timeout(900)
def test_a_tiny_model_trains_on_an_openenv_server(servers, tmp_path):
    kwargs = {"url": servers[2].url, "action_field": "message", "observation_field": "reply"}
    for episode in trained(tmp_path / "run", ID, kwargs):
        assert episode.steps[0].observation.startswith("Say ") and len(episode.steps) == 2


@library
def test_an_idle_session_ends_and_the_next_reset_begins_another(servers):
    env = make(ID, url=servers[0].url)
    first, _ = env.reset(seed=2)
    time.sleep(IDLE + 7)  # the server looks every five seconds
    with pytest.raises(EnvFault, match=r"the session was idle and has ended"):
        env.step("Up")
    assert env.reset(seed=2)[0] == first
    env.step("Up")
    env.close()


@library
def test_a_hung_and_a_lost_server_are_typed_faults(servers):
    server = servers[2]
    env = make(ID, url=server.url, action_field="message", observation_field="reply", timeout=2)
    env.reset(seed=3)
    server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(EnvFault, match=r"step: no answer within 2 s"):
        env.step("1")
    with pytest.raises(EnvFault, match=r"reset: no answer within 2 s"):
        env.reset(seed=3)
    server.process.send_signal(signal.SIGCONT)
    env.reset(seed=3)
    server.end()
    with pytest.raises(EnvFault, match=r"/ws step: "):
        env.step("1")
    with pytest.raises(EnvFault, match=r"/ws reset: .*refused"):
        env.reset(seed=3)
    with pytest.raises(EnvFault, match=r"gave no schema"):  # it did answer before: not the user's mistake
        make(ID, url=server.url, action_field="message", observation_field="reply")
    env.close()


# ---------------------------------------------------------------------- without


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://somewhere", 7])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(ConfigError, match=r"url must be that of an OpenEnv server, such as http://127.0.0.1:8000; got"):
        make(ID, url=url)


def test_nobody_there_and_another_server_are_refused_in_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match=r"url must be that of an OpenEnv server; .* gave no schema: .*refused"):
        make(ID, url=f"http://127.0.0.1:{free_port()}")
    (tmp_path / "schema").write_text('{"action": {}}')
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with HTTPServer(("127.0.0.1", 0), lambda *args: handler(*args, directory=str(tmp_path))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(ConfigError, match=r"gave no schema: 'properties'"):
            make(ID, url=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


@pytest.mark.skipif(find_spec("openenv") is not None, reason="OpenEnv is installed here")
def test_the_server_says_how_to_install_openenv():
    with pytest.raises(MissingLibrary, match=r"pip install openenv==0.10.0 .*scripts/setup.sh library:openenv"):
        import agentrl.adapters.openenv  # noqa: F401
