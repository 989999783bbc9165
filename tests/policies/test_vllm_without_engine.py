"""The vLLM policy without an engine: arguments, messages, files, and servers that misbehave."""

from __future__ import annotations

import contextlib
import copy
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from agentrl.core import interpreter
from agentrl.core.errors import ConfigError, EngineFault, MissingExtra
from agentrl.core.interpreter import MissingInterpreter, find_interpreter
from agentrl.models import resolve_model
from agentrl.models.loading import load_model
from agentrl.policies import load_policy
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.backend import VLLM, EngineLost
from agentrl.policies.vllm.engine import load_reader
from agentrl.policies.vllm.server import Client, PortTaken, Refused, free_port
from agentrl.policies.vllm.weights import WeightFiles, checkpoint_weights

QUESTION = [{"role": "user", "content": "Which way?"}]


# ---------------------------------------------------------------------- where vLLM is


def test_an_interpreter_without_vllm_is_told_what_to_type() -> None:
    with pytest.raises(MissingInterpreter, match=r"run: scripts/setup\.sh vllm") as missing:
        load_policy("vllm:tiny-text", python=sys.executable)
    fault = missing.value
    assert isinstance(fault, MissingExtra) and isinstance(fault, ImportError)
    assert (fault.package, fault.extra) == ("vllm", "vllm") and sys.executable in str(fault)
    assert "pip install vllm" in str(fault) and "AGENTRL_VLLM_PYTHON" in str(fault)
    assert str(copy.copy(fault)) == str(fault)


def test_the_environment_variable_names_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_VLLM_PYTHON", sys.executable)
    with pytest.raises(MissingInterpreter, match="has no vllm"):
        find_interpreter(VLLM)


def test_nothing_found_anywhere_is_the_same_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AGENTRL_VLLM_PYTHON", raising=False)
    monkeypatch.setattr(interpreter, "CHECKOUT", tmp_path)
    (tmp_path / "vllm").mkdir()  # a folder of that name is no vLLM
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingInterpreter, match=r"vllm is not installed; run: python3 -m venv .venv-vllm"):
        find_interpreter(VLLM)


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/true", "/bin/ls"])
def test_something_that_is_no_python_is_refused(python: str) -> None:
    with pytest.raises(ConfigError, match="must be a Python interpreter"):
        VLLMEngine("tiny-text", python=python)


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"mode": "thread"}, "mode"),
        ({"dtype": "int8"}, "dtype"),
        ({"deadline": 0}, "deadline"),
        ({"deadline": float("nan")}, "deadline"),
        ({"max_model_len": 1}, "max_model_len"),
        ({"batch_size": 0}, "batch_size"),
        ({"base_url": "ftp://somewhere"}, "base_url"),
        ({"base_url": "http://user:secret@localhost:1"}, "credentials"),
    ],
)
def test_arguments_that_cannot_work_are_named(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        VLLMEngine("tiny-text", **options)


@pytest.mark.parametrize("options", [{"temperature": 0}, {"top_p": 2}, {"top_k": -1}, {"max_new_tokens": 0}])
def test_sampling_parameters_are_those_of_the_transformers_policy(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        VLLMPolicy("tiny-text", **options)
    with pytest.raises(ConfigError, match="unknown model"):
        VLLMPolicy("no-such-model")


def test_the_reader_knows_what_the_transformers_engine_knows() -> None:
    for name in ("tiny-text", "tiny-vlm"):
        reader, engine = load_reader(name), load_model(name, "cpu")
        assert (reader.stops, reader.context, reader.folder) == (engine.stops, engine.context, engine.folder)
        assert reader.encoder.image_token == engine.encoder.image_token


def test_a_damaged_folder_is_a_config_error(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "x.safetensors"):
        (tmp_path / name).write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_reader(tmp_path)


# ---------------------------------------------------------------------- prompts


@pytest.fixture
def blind() -> Iterator[VLLMPolicy]:
    """A policy that never gets to ask anybody."""
    with VLLMEngine("tiny-vlm", base_url="http://127.0.0.1:9") as engine:
        yield VLLMPolicy(engine)


def test_every_picture_is_one_token_on_the_way_and_has_the_size_our_processor_gives_it(blind: VLLMPolicy) -> None:
    pictures = [np.zeros((64, 96, 3), np.uint8), np.full((50, 70, 3), 9, np.uint8)]
    talk: Any = [{"role": "user", "content": "<image><image> here", "images": pictures}]
    prompt = blind.encode(talk)
    request = blind._request(prompt, 5, 0)
    image = blind.engine.reader.encoder.image_token
    assert request.ids.count(image) == 2 and len(request.ids) < len(prompt.ids)
    assert request.images[0] is not None and request.images[0].shape == (64, 96, 3)
    assert request.images[1].shape == (64, 64, 3) and request.images[1].dtype == np.uint8
    assert [token for token in request.ids if token != image] == [token for token in prompt.ids if token != image]


def test_a_prompt_whose_pictures_are_gone_is_refused(blind: VLLMPolicy) -> None:
    talk: Any = [{"role": "user", "content": "<image>", "images": [np.zeros((64, 64, 3), np.uint8)]}]
    bare = blind.engine.reader.encoder.encode(talk)
    with pytest.raises(ConfigError, match="pictures themselves"):
        blind.answer([bare])


def test_a_greedy_request_keeps_the_temperature_of_its_log_probabilities(blind: VLLMPolicy) -> None:
    greedy = VLLMPolicy(blind.engine, temperature=0.5, top_p=0.3, greedy=True)
    sent = greedy._request(greedy.encode(QUESTION), 5, 0).sampling  # pyright: ignore[reportArgumentType]
    assert (sent["temperature"], sent["top_k"], sent["top_p"]) == (0.5, 1, 1.0)


def test_rows_and_calls_have_their_own_seeds(blind: VLLMPolicy) -> None:
    prompt = blind.encode(QUESTION)  # pyright: ignore[reportArgumentType]
    seeds = [blind._request(prompt, 5, row).sampling["seed"] for row in range(3)]
    blind.calls += 1
    seeds += [blind._request(prompt, 5, row).sampling["seed"] for row in range(3)]
    assert len(set(seeds)) == 6 and all(0 <= seed < 1 << 63 for seed in seeds)


def test_an_address_where_nobody_is_costs_a_second_try_and_is_a_fault(blind: VLLMPolicy) -> None:
    with pytest.raises(EngineFault, match="cannot be reached"):
        blind.act([QUESTION, QUESTION])  # pyright: ignore[reportArgumentType]
    assert blind.metrics()["retries"] == 2 and blind.metrics()["restarts"] == 0


# ---------------------------------------------------------------------- weights


@pytest.mark.parametrize("name", ["tiny-text", "tiny-vlm"])
def test_weights_travel_under_the_names_of_the_checkpoint(name: str) -> None:
    weights = checkpoint_weights(load_model(name, "cpu").model)
    with safe_open(str(next(resolve_model(name).glob("*.safetensors"))), "pt") as file:
        assert sorted(weights) == sorted(file.keys())


def test_only_the_newest_whole_set_of_weights_is_kept() -> None:
    files = WeightFiles()
    first = files.write({"a": torch.ones(2), "b": torch.arange(6).view(2, 3).t()})
    with safe_open(first, "pt") as file:
        assert file.get_tensor("b").tolist() == [[0, 3], [1, 4], [2, 5]]
    files.keep(first)
    failed = files.write({"a": torch.zeros(2)})
    files.discard(failed)
    assert Path(first).exists() and not Path(failed).exists() and files.newest == first
    second = files.write({"a": torch.zeros(2)})
    files.keep(second)
    folder = Path(first).parent
    assert not Path(first).exists() and folder.stat().st_mode & 0o077 == 0, "nobody else's to read"
    files.close()
    assert not folder.exists() and files.newest is None


def test_weights_that_cannot_be_written_are_a_fault() -> None:
    files = WeightFiles()
    folder = Path(files.write({"a": torch.ones(1)})).parent
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    with pytest.raises(EngineFault, match="cannot be written"):
        files.write({"a": torch.ones(1)})


# ---------------------------------------------------------------------- a server that misbehaves


class Answers(BaseHTTPRequestHandler):
    """Says what the test wants."""

    protocol_version = "HTTP/1.1"  # connections stay open

    def do_GET(self) -> None:
        self._answer({"data": [{"max_model_len": 128}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(self.server.said)  # type: ignore[attr-defined]

    def _answer(self, said: Any) -> None:
        status, body = said if isinstance(said, tuple) else (200, said)
        time.sleep(self.server.delay)  # type: ignore[attr-defined]
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the client may have left
            self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Any]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    http.said, http.delay = {}, 0.0  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    yield http
    http.shutdown()
    http.server_close()


def policy_at(server: Any, **options: Any) -> VLLMPolicy:
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    return VLLMPolicy(VLLMEngine("tiny-text", base_url=url, **options), max_new_tokens=3)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ((404, {}), "--enable-scale-out"),
        ((500, {"error": "boom"}), "HTTP 500"),
        ((401, {}), "refuses the key"),
        ((200, b"<html>"), "not JSON"),
        ({"choices": []}, "cannot be read"),
        ({"choices": [{"token_ids": [1], "logprobs": None, "finish_reason": "stop"}]}, "0 log-probabilities of 1"),
        ({"choices": [{"token_ids": ["x"], "logprobs": None, "finish_reason": "stop"}]}, "cannot be read"),
        (
            {"choices": [{"token_ids": [], "logprobs": None, "finish_reason": "stop"}], "prompt_token_ids": [1]},
            "encoded the prompt differently",
        ),
    ],
)
def test_answers_that_make_no_sense_are_faults(server: Any, said: Any, word: str) -> None:
    server.said = said
    with pytest.raises(EngineFault, match=word):
        policy_at(server).act([QUESTION])  # pyright: ignore[reportArgumentType]


def test_a_server_that_hangs_is_given_up_after_the_deadline(server: Any) -> None:
    client = Client(f"http://127.0.0.1:{server.server_address[1]}", lambda: "key", deadline=0.3)
    assert client.get("/v1/models", 5.0) and client.get("/v1/models", 5.0), "a connection that has been used"
    server.delay, begun = 3.0, time.monotonic()
    with pytest.raises(EngineLost, match="in time"):
        client.get("/v1/models")
    assert time.monotonic() - begun < 2.5
    with pytest.raises(EngineLost, match="in time"):
        client.post_all("/x", [{}, {}])
    client.close()


def test_a_server_that_takes_no_weights_says_how_to_start_it(server: Any) -> None:
    server.said = (404, {})
    engine = policy_at(server).engine
    with pytest.raises(EngineFault, match="VLLM_SERVER_DEV_MODE=1"):
        engine.update_weights({"a": torch.ones(1)})
    with pytest.raises(EngineFault, match="partly old and partly new"):
        VLLMPolicy(engine).act([QUESTION])  # pyright: ignore[reportArgumentType]


def test_a_connection_that_was_closed_meanwhile_is_opened_again(server: Any) -> None:
    client = Client(f"http://127.0.0.1:{server.server_address[1]}", lambda: "key", deadline=5.0)
    for _ in range(3):
        assert client.get("/v1/models")["data"]
    server.said = (418, {})
    with pytest.raises(Refused) as refused:
        client.post("/x")
    assert refused.value.status == 418
    client.close()


def test_a_port_is_free_or_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(PortTaken, match="taken"):
            free_port(taken.getsockname()[1])
    assert 1024 <= free_port(0) <= 65535
