"""The real `openai` client against a live endpoint: what it sends is accepted, what it asks for is there."""

from __future__ import annotations

import json
import math
import random
import socket
import threading
import time
from contextlib import closing
from urllib.parse import urlsplit

import openai
import pytest
import torch

from agentrl.core.judging import JudgeRequest
from agentrl.judges.outcome import OutcomeJudge
from agentrl.models.loading import load_model
from agentrl.models.sampling import log_distribution
from agentrl.policies.hf import HFPolicy
from agentrl.serve.model_answers import TextStream
from agentrl.serve.model_server import ModelServer
from agentrl.serve.stop_text import StopText

HI = [{"role": "user", "content": "hi"}]


@pytest.fixture(scope="module")
def server():
    engine = load_model("tiny-text", device="cpu")
    with torch.no_grad():
        for weight in engine.model.parameters():  # fresh weights answer nearly the same to everything; these do not
            if weight.ndim > 1:
                weight.mul_(3)
    with ModelServer(engine, name="tiny") as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=60) as made:
        yield made


def ask(client, messages=HI, **options):
    given = {"max_tokens": 8, "seed": 3, **options}
    return client.chat.completions.create(model="tiny", messages=messages, **given)


@pytest.fixture(scope="module")
def plain(client):
    """The answer to the plain request."""
    return ask(client)


# ---------------------------------------------------------------------- what clients send


def test_an_answer_can_be_sent_back_as_it_came(client, plain):
    first = plain.choices[0].message
    for said in (first, first.model_dump() | {"tool_calls": None, "refusal": None}):
        answer = ask(client, [*HI, said, {"role": "user", "content": "and now?"}])
        assert answer.usage.prompt_tokens > plain.usage.prompt_tokens


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": []},
        {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "none"},
        {"tool_choice": "auto", "parallel_tool_calls": True},
        {"frequency_penalty": 0, "presence_penalty": 0.0, "logit_bias": {}, "n": 1},
        {"response_format": {"type": "text"}, "modalities": ["text"]},
        {"user": "somebody", "metadata": {"a": "b"}, "store": False, "service_tier": "auto"},
        {"extra_body": {"tool_calls": None, "anything": None, "prompt_cache_key": "x", "top_k": -1}},
        {"stream": False, "reasoning_effort": "low"},
    ],
)
def test_harmless_fields_change_nothing(client, plain, fields):
    assert ask(client, **fields).choices[0].message.content == plain.choices[0].message.content


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "yes", "tool_calls": None, "refusal": None, "annotations": [], "audio": None},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "reasoning_content": "hm"},
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "hi"}]},
    ],
)
def test_harmless_parts_of_messages_are_accepted(client, message):
    assert ask(client, [message, *HI]).choices[0].finish_reason in ("stop", "length")


def test_a_refusal_is_read_as_what_was_said(client):
    refused = {"role": "assistant", "content": None, "refusal": "no way"}
    said = {"role": "assistant", "content": "no way"}
    counts = [ask(client, [message, *HI], max_tokens=1).usage.prompt_tokens for message in (refused, said)]
    assert counts[0] == counts[1]


def test_the_model_can_be_looked_up(client):
    assert [model.id for model in client.models.list()] == ["tiny"] == [client.models.retrieve("tiny").id]
    with pytest.raises(openai.NotFoundError, match="unknown model"):
        client.models.retrieve("gpt-9")


# ---------------------------------------------------------------------- stop


def test_a_stop_string_ends_the_answer_and_is_not_in_it(client):
    whole = ask(client, max_tokens=24).choices[0].message.content
    assert len(whole) > 8
    generator = random.Random(0)
    for _ in range(5):
        place, length = generator.randrange(1, len(whole) - 3), generator.randrange(1, 4)
        stop = whole[place : place + length]
        answer = ask(client, max_tokens=24, stop=[stop, "never in it \u2603"])
        assert answer.choices[0].message.content == whole[: whole.find(stop)]
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage.completion_tokens <= 24


def test_a_stop_string_that_does_not_come_changes_nothing(client, plain):
    assert ask(client, stop="\u2603" * 5).choices[0].message.content == plain.choices[0].message.content


@pytest.mark.parametrize("stops", [["abc"], ["aab", "b"], ["ab", "abab"], ["aaa"], []])
def test_stop_text_is_what_searching_the_whole_text_finds(stops):
    generator = random.Random(1)
    for _ in range(300):
        text = "".join(generator.choice("abc") for _ in range(generator.randrange(12)))
        finder, found, rest = StopText(stops), "", text
        while rest and not finder.found:
            cut = generator.randrange(1, 4)
            found, rest = found + finder.take(rest[:cut]), rest[cut:]
        found += finder.rest()
        seen = text[: len(text) - len(rest)]
        places = [seen.find(stop) for stop in stops if stop in seen]
        assert finder.found == bool(places) and found == (text[: min(places)] if places else text)


# ---------------------------------------------------------------------- log-probabilities of alternatives


def test_alternatives_are_those_of_the_model(client, server):
    answer = ask(client, logprobs=True, top_logprobs=5, max_tokens=4, extra_body={"return_token_ids": True})
    choice = answer.choices[0]
    tokens = choice.logprobs.content
    assert [len(token.top_logprobs) for token in tokens] == [5] * len(choice.token_ids)
    with torch.no_grad():
        read = torch.tensor([answer.prompt_token_ids + choice.token_ids])
        logits = server.loaded.model(input_ids=read).logits[0, len(answer.prompt_token_ids) - 1 : -1]
    expected = log_distribution(logits, 1.0).topk(5)
    for token, scores, ids in zip(tokens, expected.values.tolist(), expected.indices.tolist(), strict=True):
        assert [each.logprob for each in token.top_logprobs] == pytest.approx(scores, abs=1e-4)
        assert [each.token for each in token.top_logprobs] == [server.loaded.tokenizer.decode([i]) for i in ids]
    assert sum(math.exp(each.logprob) for each in tokens[0].top_logprobs) <= 1 + 1e-6


def test_the_greedy_token_is_the_first_alternative(client):
    answer = ask(client, temperature=0, logprobs=True, top_logprobs=1, max_tokens=6)
    for token in answer.choices[0].logprobs.content:
        assert (token.top_logprobs[0].token, token.top_logprobs[0].logprob) == (token.token, token.logprob)


def test_an_outcome_judge_reads_its_chance(server, monkeypatch):
    (no,) = server.loaded.tokenizer("no", add_special_tokens=False)["input_ids"]

    def favour(model, arguments, found):
        found.logits[..., no] = found.logits.amax(-1) + 3
        return found

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    task = {"instruction": "buy a lamp", "actions": ["click[buy now]"], "page": "Thank you"}
    hook = server.loaded.model.register_forward_hook(favour)
    try:
        with closing(OutcomeJudge("tiny", server.base_url, cache=False)) as judge:
            (verdict,) = judge.score_sync([JudgeRequest("1", "shop", "outcome", "", task, "natural")])
    finally:
        hook.remove()
    assert verdict.score < 0.1 and verdict.evidence["mass"] > 0.2


# ---------------------------------------------------------------------- streams


def test_a_stream_is_the_answer_in_pieces(client):
    for options in ({"temperature": 0}, {"max_tokens": 24, "seed": 9}, {"stop": ["e", " "]}):
        whole = ask(client, **options)
        chunks = list(ask(client, stream=True, stream_options={"include_usage": True}, **options))
        said = [chunk.choices[0].delta.content or "" for chunk in chunks[:-1]]
        assert "".join(said) == whole.choices[0].message.content
        assert chunks[0].choices[0].delta.role == "assistant" and len({chunk.id for chunk in chunks}) == 1
        assert [c.choices[0].finish_reason for c in chunks[:-1] if c.choices[0].finish_reason] == [
            whole.choices[0].finish_reason
        ]
        assert chunks[-1].choices == [] and chunks[-1].usage == whole.usage


def test_a_stream_carries_log_probabilities_and_token_ids(client):
    options = {"logprobs": True, "top_logprobs": 2, "extra_body": {"return_token_ids": True}}
    whole, chunks = ask(client, **options), list(ask(client, stream=True, **options))
    tokens = [token for chunk in chunks if chunk.choices[0].logprobs for token in chunk.choices[0].logprobs.content]
    assert tokens == whole.choices[0].logprobs.content
    assert [token for chunk in chunks for token in chunk.choices[0].token_ids] == whole.choices[0].token_ids
    assert chunks[0].prompt_token_ids == whole.prompt_token_ids


def test_streams_come_while_the_model_writes(server, client, monkeypatch):
    gate, forward, calls = threading.Event(), server.loaded.model.forward, []

    def slow(*args, **others):
        calls.append(1)
        if len(calls) > 3:
            gate.wait(20)
        return forward(*args, **others)

    monkeypatch.setattr(server.loaded, "stops", frozenset())
    monkeypatch.setattr(server.loaded.model, "forward", slow)
    stream = iter(ask(client, stream=True, logprobs=True, max_tokens=8))
    early = [next(stream) for _ in range(4)]  # the opening and three tokens, before the fourth can be computed
    assert len(early) == 4 and not gate.is_set()
    gate.set()
    assert sum(1 for _ in stream) == 6  # five tokens and the end


def test_a_stream_nobody_reads_ends(server, client, monkeypatch):
    monkeypatch.setattr(server.loaded, "stops", frozenset())
    forward = server.loaded.model.forward

    def slow(*args, **others):
        time.sleep(0.005)
        return forward(*args, **others)

    monkeypatch.setattr(server.loaded.model, "forward", slow)
    calls = server.counts["answered"]
    stream = ask(client, stream=True, logprobs=True, max_tokens=4000)
    for _, _ in zip(range(3), stream, strict=False):  # the model is at work
        pass
    stream.close()
    until = time.monotonic() + 15  # all the tokens would take longer than 20 s
    while server.counts["answered"] == calls and time.monotonic() < until:
        time.sleep(0.02)
    assert server.counts["answered"] == calls + 1


def test_a_model_that_fails_in_a_stream_is_an_error_of_the_client(server, client, monkeypatch):
    forward, calls = server.loaded.model.forward, []

    def fail(*args, **others):
        calls.append(1)
        if len(calls) > 2:
            raise RuntimeError("device-side assert")
        return forward(*args, **others)

    monkeypatch.setattr(server.loaded, "stops", frozenset())
    with monkeypatch.context() as patched:
        patched.setattr(server.loaded.model, "forward", fail)
        with pytest.raises(openai.APIError, match="device-side assert"):
            list(ask(client, stream=True))
    assert ask(client).choices


def test_what_is_wrong_with_a_request_is_said_before_a_stream_begins(client):
    with pytest.raises(openai.BadRequestError, match="context length"):
        ask(client, [{"role": "user", "content": "\t" * 5_000}], stream=True)


def test_events_are_lines_that_end_with_done(server):
    address = urlsplit(server.base_url)
    body = json.dumps({"model": "tiny", "messages": HI, "stream": True, "max_tokens": 3}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=20) as raw:
        raw.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        found = b""
        while piece := raw.recv(65536):
            found += piece
    assert b"text/event-stream" in found and b"data: [DONE]\n\n" in found


def test_text_that_comes_in_pieces_is_the_whole_text(server):
    tokenizer, generator = server.loaded.tokenizer, random.Random(2)
    plain = [i for i in range(len(tokenizer)) if i not in server.loaded.stops]
    words = tokenizer("Grüße, 你好 🙂🙃 — é\u0301 ok", add_special_tokens=False)["input_ids"]
    for trial in range(60):
        ids = words if trial == 0 else [generator.choice(plain) for _ in range(generator.randrange(1, 60))]
        stream = TextStream(tokenizer.decode)
        assert "".join(map(stream.take, ids)) + stream.rest() == tokenizer.decode(ids)


def test_greedy_text_is_that_of_the_policy(server, client):
    (own,) = HFPolicy(server.loaded, greedy=True, max_new_tokens=8).act([HI])
    assert ask(client, temperature=0).choices[0].message.content == own.text
