"""The endpoint over a model: the same answers as the model itself, shared forward passes, hostile clients."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing, suppress
from itertools import islice
from urllib.parse import urlsplit

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.models.loading import load_model
from agentrl.policies.hf import HFPolicy
from agentrl.policies.openai import OpenAIPolicy, data_url
from agentrl.rollout.episode import make, record_episode
from agentrl.serve.model_server import ModelServer

KEY = "key-of-the-test-0123456789"


def sharpened(name):
    """Fresh weights answer nearly the same to everything; these do not."""
    engine = load_model(name, device="cpu")
    with torch.no_grad():
        for weight in engine.model.parameters():
            if weight.ndim > 1:
                weight.mul_(3)
    return engine


@pytest.fixture(scope="module")
def server():
    with ModelServer(sharpened("tiny-text"), name="tiny", api_key=KEY) as running:
        yield running


def client(server, **options):
    given = {"api_key": KEY, "max_new_tokens": 12, "max_retries": 0, "timeout": 60.0}
    return closing(OpenAIPolicy(server.name, base_url=server.base_url, **{**given, **options}))


def user(text, *pictures):
    return [{"role": "user", "content": text, "images": list(pictures)}]


def ask(server, body, method="POST", path="/v1/chat/completions", **headers):
    """(status, decoded answer) of one raw request."""
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=30)
    sent = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with closing(connection):
        connection.request(method, path, data if method == "POST" else None, sent)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def alive(server):
    return ask(server, b"", "GET", "/v1/models")[1]["data"][0]["id"] == server.name


def hello(**more):
    return {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 3, **more}


# ---------------------------------------------------------------------- the same answers


@pytest.mark.parametrize(("kind", "env_id"), [("tiny-text", "FrozenLake-Text"), ("tiny-vlm", "Sokoban-Visual")])
def test_greedy_play_through_the_endpoint_is_greedy_play_with_the_model(kind, env_id):
    engine = sharpened(kind)
    own = HFPolicy(engine, greedy=True, max_new_tokens=12)
    with (
        ModelServer(engine, name=kind) as running,
        client(running, api_key=None, greedy=True, token_ids=True) as far,
    ):
        for seed in range(2):
            ours, theirs = (record_episode(make(f"agentrl/{env_id}-v0"), policy, seed) for policy in (own, far))
            assert ours.fault is None and theirs.fault is None
            for mine, other in zip(ours.steps, theirs.steps, strict=True):
                assert mine.response_ids == other.response_ids and mine.prompt_ids == other.prompt_ids
                assert (mine.action, mine.finish_reason) == (other.action, other.finish_reason)


def test_log_probabilities_are_those_of_the_model(server):
    with client(server, token_ids=True, logprobs=True, seed=5) as policy:
        answers = policy.act([user("Turn 1"), user("Up " * 30)])
    own = HFPolicy(server.loaded)
    with torch.no_grad():
        found = own.logprobs_of([a.prompt_ids for a in answers], [a.token_ids for a in answers])
    for scores, answer in zip(found, answers, strict=True):
        assert np.allclose(scores.numpy(), answer.logprobs, atol=1e-4)


def test_a_seed_decides_the_answer_whoever_shares_the_batch(server):
    with client(server, seed=7) as policy:
        alone = policy.act([user("a")])[0].text
    with client(server, seed=7) as policy, client(server, seed=8) as other:
        crowd = policy.act([user("a"), *(user("b " * n) for n in range(20))])
        assert crowd[0].text == alone
        assert len({other.act([user("a")])[0].text for _ in range(3)}) > 1


def test_questions_that_arrive_together_share_forward_passes(server):
    before = server.counts
    with client(server, concurrency=32) as policy:
        assert len(policy.act([user("x " * n) for n in range(64)])) == 64
    after = server.counts
    assert after["answered"] - before["answered"] == 64
    assert after["batches"] - before["batches"] <= 32


def test_a_conversation_without_room_is_answered_as_the_model_itself_does(server):
    with client(server) as policy:
        huge, fine = policy.act([user("\t" * 100_000), user("x")])
    assert (huge.text, huge.finish_reason) == ("", "length") and fine.text


# ---------------------------------------------------------------------- who may ask what


@pytest.mark.parametrize(
    "headers", [{"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY[:-1]}]
)
def test_without_the_key_there_is_no_answer(server, headers):
    status, answer = ask(server, hello(), **headers)
    assert status == 401 and answer["error"]["code"] == "invalid_api_key"
    with (
        client(server, api_key="another-key-entirely") as policy,
        pytest.raises(EngineFault, match="API key") as caught,
    ):
        policy.act([user("x")])
    assert KEY not in str(caught.value)


def test_pages_of_other_names_and_other_types_are_turned_away(server):
    assert ask(server, hello(), Host="evil.example:80")[0] == 403
    assert ask(server, hello(), Content_Type="text/plain")[0] == 415
    assert alive(server)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.com", "", "::"])
def test_it_listens_on_loopback_only(host):
    with pytest.raises(ConfigError, match="loopback"):
        ModelServer("tiny-text", host=host)


def test_a_port_in_use_is_said_so(server):
    with pytest.raises(ConfigError, match="port"):
        ModelServer(server.loaded, port=urlsplit(server.base_url).port)
    with pytest.raises(ConfigError, match="port"):
        ModelServer(server.loaded, port=70_000)


# ---------------------------------------------------------------------- hostile requests

BOMB = data_url(np.zeros((3000, 3000, 3), np.uint8))


def content(*parts):
    return hello(messages=[{"role": "user", "content": list(parts)}])


def image(url):
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"", 400, "invalid request"),
        (b"\xff\xfe", 400, "invalid request"),
        (b"[" * 100_000, 400, "invalid request"),
        (b"null", 400, "invalid request"),
        (hello(messages=[]), 400, "messages"),
        (hello(messages=[{"role": "function", "content": "x"}]), 400, "function_call"),
        (hello(messages=[{"role": "user", "content": None}]), 400, "content"),
        (hello(model="gpt-9"), 404, "unknown model"),
        (hello(stream="yes"), 400, "stream"),
        (hello(n=2), 400, "n"),
        (hello(tool_choice="required"), 400, "tool_choice"),
        (hello(messages=[{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]), 400, "tool_calls"),
        (hello(messages=["hi"]), 400, "messages"),
        (hello(stop=""), 400, "stop"),
        (hello(stop=["x"] * 17), 400, "stop"),
        (hello(stop=["x" * 2000]), 400, "stop"),
        (hello(logprobs=True, top_logprobs=21), 400, "top_logprobs"),
        (hello(top_logprobs=2), 400, "logprobs"),
        (hello(response_format={"type": "json_object"}), 400, "response_format"),
        (hello(presence_penalty=1.5), 400, "presence_penalty"),
        (hello(temprature=0), 400, "temprature"),
        (hello(temperature=-1), 400, "temperature"),
        (hello(temperature=1e300), 400, "temperature"),
        (hello(top_p=0), 400, "top_p"),
        (hello(max_tokens=0), 400, "max_tokens"),
        (hello(max_tokens=1 << 40), 400, "max_tokens"),
        (hello(seed="x"), 400, "seed"),
        (content(image("http://127.0.0.1:1/x.png")), 400, "not fetched"),
        (content(image("file:///etc/passwd")), 400, "not fetched"),
        (content(image("data:image/png;base64,AAAA")), 400, "cannot be read"),
        (content(image("data:image/png;base64,****")), 400, "cannot be read"),
        (content(image(BOMB)), 400, "pixels"),
        (content(image(data_url(np.zeros((4, 4, 3), np.uint8)))), 400, "reads no pictures"),
        (content({"type": "text", "text": "<image>"}, image(data_url(np.zeros((4, 4, 3), np.uint8)))), 400, "<image>"),
        (hello(messages=[{"role": "user", "content": "x", "token_ids": [1]}]), 400, "assistant"),
        (hello(messages=[{"role": "assistant", "content": "x", "token_ids": [10**9]}]), 400, "vocabulary"),
        (
            hello(messages=[{"role": "assistant", "content": "x", "token_ids": [0, 0, 0, 1, 2, 3, 4, 5]}]),
            400,
            "special",
        ),
        (hello(messages=[{"role": "user", "content": "\t" * 100_000}]), 400, "context length"),
    ],
)
def test_bad_requests_get_an_error_in_the_usual_shape_and_the_server_goes_on(server, body, status, says):
    got, answer = ask(server, body)
    assert got == status, answer
    assert set(answer["error"]) == {"message", "type", "param", "code"} and says in answer["error"]["message"]
    assert alive(server)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100_000,
        b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"DELETE /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
        b"",
    ],
)
def test_bytes_that_are_no_request_do_not_end_the_server(server, data):
    address = urlsplit(server.base_url)
    place = (address.hostname, address.port)
    # It may hang up while we are still talking.
    with socket.create_connection(place, timeout=10) as connection, suppress(OSError):
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
    assert alive(server)


def test_three_hundred_slow_sockets_keep_nobody_from_the_model(server):
    address = urlsplit(server.base_url)
    half = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
    with ExitStack() as stack:
        for number in range(300):
            slow = stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=20))
            slow.sendall(half if number % 2 else half + b"\r\n{")
        began = time.monotonic()
        assert [ask(server, hello())[0] for _ in range(5)] == [200] * 5
        assert time.monotonic() - began < 20


def test_a_model_that_fails_is_an_error_of_the_server_and_a_fault_here(server, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("device-side assert")

    with monkeypatch.context() as patched, client(server) as policy:
        patched.setattr(server.loaded.model, "forward", fail)
        with pytest.raises(EngineFault, match="device-side assert"):
            policy.act([user("x")])
    assert ask(server, hello())[0] == 200


def test_too_many_questions_are_put_off(server, monkeypatch):
    busy, gate, forward = threading.Event(), threading.Event(), server.loaded.model.forward

    def slow(*args, **others):
        busy.set()
        gate.wait(20)
        return forward(*args, **others)

    monkeypatch.setattr(server.loaded.model, "forward", slow)
    monkeypatch.setattr(server._batcher._waiting, "maxsize", 2)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, server, hello())
        assert busy.wait(20)  # questions that come together are answered together: the others must come later
        others = [pool.submit(ask, server, hello()) for _ in range(7)]
        put_off = [each.result()[0] for each in islice(as_completed(others, timeout=20), 5)]
        gate.set()
        statuses = sorted(each.result()[0] for each in (first, *others))
    assert put_off == [429] * 5 and statuses == [200] * 3 + [429] * 5


def test_a_question_whose_client_left_is_not_worked_on(server, monkeypatch):
    busy, gate, forward = threading.Event(), threading.Event(), server.loaded.model.forward

    def slow(*args, **others):
        busy.set()
        gate.wait(30)
        return forward(*args, **others)

    monkeypatch.setattr(server.loaded.model, "forward", slow)
    before = server.counts["answered"]
    with client(server, timeout=1.2) as policy, ThreadPoolExecutor(1) as pool:
        patient = pool.submit(ask, server, hello())  # holds the model up
        assert busy.wait(20)
        with pytest.raises(EngineFault, match="no answer in time"):
            policy.act([user("x"), user("y")])
        time.sleep(1.5)  # time to notice
        gate.set()
        assert patient.result(30)[0] == 200
    assert ask(server, hello())[0] == 200
    assert server.counts["answered"] - before == 2


def test_closing_does_not_wait_for_a_long_answer():
    running = ModelServer(sharpened("tiny-text"), name="tiny")
    endless = hello(max_tokens=4000, temperature=0, messages=[{"role": "user", "content": "x"}])
    running.loaded.stops = frozenset()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, running, endless)
        until = time.monotonic() + 20
        while not running.loaded.model._forward_pre_hooks and time.monotonic() < until:
            time.sleep(0.01)
        running.close()
        status, answer = asked.result(20)
    assert status == 500 and "closing" in answer["error"]["message"]
    assert not running._batcher._thread.is_alive() and not running.loaded.model._forward_pre_hooks


def test_closing_frees_the_port_and_refuses_clients():
    running = ModelServer(load_model("tiny-text", device="cpu"), name="tiny")
    running.close()
    with client(running, api_key=None) as policy, pytest.raises(EngineFault, match="no connection"):
        policy.act([user("x")])
