"""A server of our own: loopback, a key on every address, pictures, new weights, a taken port, an end."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.backend import EngineLost
from agentrl.policies.vllm.server import Refused, ServerBackend
from agentrl.policies.vllm.weights import checkpoint_weights
from tests.policies.vllm_engine.kit import CLOSE, conversations, largest_error, perturb, pictures_of, trainer_scores

pytestmark = pytest.mark.vllm

ADDRESSES = ("/v1/models", "/inference/v1/generate", "/collective_rpc", "/pause", "/update_weights", "/metrics", "/")


@pytest.fixture(scope="module")
def hf() -> LoadedModel:
    """The trainer's side."""
    return load_model("tiny-vlm", "cpu", "float32")


@pytest.fixture(scope="module")
def engine() -> Iterator[VLLMEngine]:
    """One for all tests; they run in order, and the last ends it."""
    with VLLMEngine("tiny-vlm", mode="server", max_model_len=512, deadline=60.0, transfer="ipc") as started:
        started.start()
        yield started


def backend_of(engine: VLLMEngine) -> ServerBackend:
    assert isinstance(engine.backend, ServerBackend)
    return engine.backend


def key_of(engine: VLLMEngine) -> str:
    environment = Path(f"/proc/{backend_of(engine).pid}/environ").read_bytes().split(b"\0")
    return next(one for one in environment if one.startswith(b"VLLM_API_KEY=")).partition(b"=")[2].decode()


def status(engine: VLLMEngine, path: str, key: str | None) -> int:
    address = backend_of(engine).client.address.removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
    connection.request("GET" if path in ("/v1/models", "/metrics", "/health") else "POST", path, b"{}", headers)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def check_agreement(engine: VLLMEngine, hf: LoadedModel) -> None:
    for pictures in (False, True):
        talks = conversations(4, pictures=pictures)
        way = {"temperature": 0.7, "top_p": 0.9}
        policy = VLLMPolicy(engine, max_new_tokens=6, **way)
        said = policy.act(talks)
        wanted = trainer_scores(hf, talks, said, **way)
        assert largest_error([one.logprobs for one in said], wanted) < CLOSE
        given = [[one.prompt_ids for one in said], [one.token_ids for one in said], pictures_of(talks)]
        assert largest_error(policy.logprobs_of(*given), wanted) < CLOSE


def test_text_and_pictures_agree_before_and_after_an_update_of_all_weights(engine: VLLMEngine, hf: LoadedModel) -> None:
    check_agreement(engine, hf)
    perturb(hf.model, seed=1)
    engine.update_weights(checkpoint_weights(hf.model), version=3)
    check_agreement(engine, hf)
    assert VLLMPolicy(engine, max_new_tokens=2).act(conversations(1))[0].version == 3
    assert engine.restarts == 0


def test_the_same_calls_give_the_same_answers(engine: VLLMEngine) -> None:
    talks = conversations(1) * 4
    once, twice = (VLLMPolicy(engine, max_new_tokens=6, seed=8).act(talks) for _ in range(2))
    assert [one.token_ids for one in once] == [one.token_ids for one in twice]
    assert len({tuple(one.token_ids) for one in once}) > 1


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize("key", [None, "wrong", ""])
def test_nobody_gets_in_without_the_key(engine: VLLMEngine, path: str, key: str | None) -> None:
    assert status(engine, path, key) == 401


def test_the_key_is_on_no_command_line_and_only_health_is_open(engine: VLLMEngine) -> None:
    key = key_of(engine)
    assert len(key) > 30 and status(engine, "/v1/models", key) == 200 and status(engine, "/health", None) == 200
    words = Path(f"/proc/{backend_of(engine).pid}/cmdline").read_bytes()
    assert key.encode() not in words and b"127.0.0.1" in words
    assert key not in repr(engine.__dict__) and key not in backend_of(engine).output


def test_a_running_server_is_used_with_its_key_and_refuses_another(
    engine: VLLMEngine, hf: LoadedModel, monkeypatch
) -> None:
    url = backend_of(engine).client.address + "/v1"
    monkeypatch.setenv("SOME_KEY", key_of(engine))
    with VLLMEngine("tiny-vlm", base_url=url, api_key_env="SOME_KEY", deadline=60.0) as guest:
        assert guest.interpreter is None
        check_agreement(guest, hf)
        assert guest.context == 512, "what the server reads, not what the model could"
    assert engine.backend.start() == 512, "closing a guest ends nobody's server"
    monkeypatch.setenv("SOME_KEY", "wrong-key-for-this-server")
    with pytest.raises(EngineFault, match="refuses the key") as refused:
        VLLMPolicy(VLLMEngine("tiny-vlm", base_url=url, api_key_env="SOME_KEY")).act(conversations(1))
    assert isinstance(refused.value, Refused) and "wrong-key" not in str(refused.value)


def test_a_port_that_is_taken_is_named(engine: VLLMEngine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with VLLMEngine("tiny-vlm", mode="server", port=port) as late, pytest.raises(ConfigError, match=str(port)):
            late.start()


def test_half_an_update_leaves_the_server_silent_and_a_dead_server_is_replaced(
    engine: VLLMEngine, hf: LoadedModel
) -> None:
    perturb(hf.model, seed=2)
    weights = checkpoint_weights(hf.model)
    wrong = weights | {max(weights): weights[max(weights)][:1]}
    with pytest.raises(EngineFault, match="update of the engine's weights failed"):
        engine.update_weights(wrong)
    with pytest.raises(EngineFault, match="partly old and partly new"):
        VLLMPolicy(engine).act(conversations(1))
    with contextlib.suppress(EngineLost):  # an engine that broke on it may have taken the server along
        assert backend_of(engine).client.get("/is_paused")["is_paused"] is True
    old = backend_of(engine).pid
    assert old is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(old, signal.SIGKILL)  # and dies on top of it
    engine.update_weights(weights, version=8)
    assert backend_of(engine).pid != old and engine.restarts >= 1
    check_agreement(engine, hf)


def test_the_server_ends_when_whoever_started_it_is_gone(engine: VLLMEngine) -> None:
    process = backend_of(engine)._process
    assert process is not None and process.stdin is not None
    group = process.pid
    process.stdin.close()  # as the kernel does when we die
    process.wait(60)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.2)
    pytest.fail("something of the server is still there")
