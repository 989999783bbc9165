"""The policy behind an endpoint: answers in order, trouble as faults, the key nowhere."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import closing

import numpy as np
import pytest

from agentrl.core.completion import Malformed, read_completion
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.policies import load_policy
from agentrl.policies.openai import OpenAIPolicy, said, wire_message
from agentrl.rollout.evaluate import evaluate
from agentrl.serve.model_requests import read_picture
from benchmarks.judges.faulty_endpoint import FaultyEndpoint, completion

LAKE = "agentrl/FrozenLake-Text-v0"
HASTY = {"timeout": 0.4, "deadline": 3.0, "backoff": 0.01, "max_backoff": 0.05, "max_retries": 2}


def user(text, **more):
    return [{"role": "user", "content": text, **more}]


def policy_for(endpoint, **options):
    return closing(OpenAIPolicy("m", base_url=endpoint.base_url, **{**HASTY, **options}))


def echo(call):
    return call.body["messages"][-1]["content"].upper()


# ---------------------------------------------------------------------- answers


def test_answers_come_in_the_order_of_the_conversations_and_no_more_at_once_than_allowed():
    with FaultyEndpoint(answer=echo, latency=0.01) as endpoint, policy_for(endpoint, concurrency=5) as policy:
        answers = policy.act([user(f"text {number}") for number in range(40)])
        assert [answer.text for answer in answers] == [f"TEXT {number}" for number in range(40)]
        assert 2 <= endpoint.peak <= 5
        assert policy.act([]) == []
    first = answers[0]
    assert (first.action, first.finish_reason, first.token_ids, first.logprobs) == ("TEXT 0", "stop", None, None)
    assert first.sampling == {"model": "m", "temperature": 1.0, "max_tokens": 512, "greedy": False}
    assert policy.metrics()["tokens_out"] == 400


def test_it_answers_inside_a_running_event_loop_and_beside_it():
    async def both(policy):
        waited = policy.act([user("a")])
        return waited + await policy.act_async([user("b"), user("c")])

    with FaultyEndpoint(answer=echo) as endpoint, policy_for(endpoint) as policy:
        assert [answer.text for answer in asyncio.run(both(policy))] == ["A", "B", "C"]


def test_what_is_sent_is_what_was_chosen_and_every_request_has_its_own_seed():
    options = {"temperature": 0.5, "top_p": 0.9, "max_new_tokens": 7, "extra_body": {"max_tokens": None, "top_k": 4}}
    with FaultyEndpoint(answer=echo) as endpoint, policy_for(endpoint, seed=3, **options) as policy:
        policy.act([user("a"), user("a")])
        policy.act([user("a")])
        bodies = [call.body for call in endpoint.calls]
    assert {body["seed"] for body in bodies} and len({body["seed"] for body in bodies}) == 3
    assert all(0 <= body["seed"] < 1 << 31 for body in bodies)
    assert bodies[0] | {"seed": 0} == {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 4,
        "seed": 0,
    }


def test_greedy_asks_for_temperature_zero():
    with FaultyEndpoint(answer=echo) as endpoint, policy_for(endpoint, greedy=True) as policy:
        assert policy.act([user("a")])[0].sampling["greedy"] is True
        assert endpoint.calls[0].body["temperature"] == 0.0


@pytest.mark.parametrize(
    ("message", "reason", "expected"),
    [
        ({"content": "Up"}, "stop", ("Up", "stop")),
        ({"content": ""}, "stop", ("", "stop")),  # a model may end its turn at once
        ({"content": "Up"}, "length", ("Up", "length")),
        ({"content": None}, "length", ("", "length")),  # thought until its tokens ran out
        ({"content": ""}, "content_filter", ("", "content_filter")),
        ({"content": None}, "content_filter", ("", "content_filter")),
        ({"content": None, "refusal": "I will not"}, "stop", ("I will not", "refusal")),
        ({"content": "Up"}, None, ("Up", "unknown")),
        ({"content": "Up"}, "eos", ("Up", "unknown")),
        ({"content": None}, "stop", None),
        ({"content": None, "tool_calls": []}, "tool_calls", None),
        ({"content": ""}, None, None),
        ({}, None, None),
    ],
)
def test_finish_reasons_say_what_happened(message, reason, expected):
    body = json.dumps({"choices": [{"message": message, "finish_reason": reason}]}).encode()
    if expected is None:
        with pytest.raises(Malformed):
            said(read_completion(body).choice)
    else:
        assert said(read_completion(body).choice) == expected


# ---------------------------------------------------------------------- trouble


@pytest.mark.parametrize("fault", ["429", "429-after", "500", "hang", "close", "half", "schema", "empty", "drip"])
def test_trouble_that_passes_costs_time_only(fault):
    with FaultyEndpoint(lambda call: fault if call.attempt == 1 else "ok", echo) as endpoint:
        with policy_for(endpoint, timeout=1.0) as policy:
            (answer,) = policy.act([user("a long enough text " * 4)])
            assert answer.text.startswith("A LONG")
        assert len(endpoint.calls) == 2


@pytest.mark.parametrize("fault", ["429", "500", "hang", "close", "half"])
def test_trouble_that_stays_is_a_fault_that_names_the_endpoint_and_never_an_empty_answer(fault):
    behave = lambda call: fault if "bad" in call.question else "ok"  # noqa: E731
    with FaultyEndpoint(behave, echo) as endpoint, policy_for(endpoint) as policy:
        with pytest.raises(EngineFault, match=r"failed on 1 of 3 requests.*server runs") as caught:
            policy.act([user("a"), user("bad"), user("b")])
        assert endpoint.base_url in str(caught.value)
        assert caught.value.__cause__ is None and caught.value.__suppress_context__ is False
        assert policy.act([user("c")])[0].text == "C"  # the next batch is asked as usual


def test_a_dead_endpoint_makes_faulty_episodes_not_failed_ones():
    saved = []
    with FaultyEndpoint(answer=echo) as endpoint:
        endpoint.outage(None)
        with policy_for(endpoint, max_retries=1) as policy:
            result = evaluate(LAKE, policy, episodes=2, on_trajectory=saved.append)
    assert (result.faults, result.success, result.reward_mean) == (2, None, None)
    assert [trajectory.fault["kind"] for trajectory in saved] == ["EngineFault"] * 2
    assert all(trajectory.reward is None for trajectory in saved)


def test_several_choices_are_no_answer():
    def several(call):
        return {**completion("x"), "choices": completion("x")["choices"] * 2}

    with (
        FaultyEndpoint(answer=several) as endpoint,
        policy_for(endpoint) as policy,
        pytest.raises(EngineFault, match="2 choices"),
    ):
        policy.act([user("a")])


@pytest.mark.parametrize(
    ("ids", "scores"), [([1, 2], [-0.1]), ([1], [0.5]), ("text", None), ([1.5], [-0.1]), ([1], ["x"])]
)
def test_tokens_that_do_not_fit_are_refused(ids, scores):
    def odd(call):
        whole = completion("x", {"content": [{"token": "x", "logprob": each} for each in scores or []]})
        whole["choices"][0]["token_ids"] = ids
        return whole

    options = {"token_ids": True, "logprobs": True}
    with (
        FaultyEndpoint(answer=odd) as endpoint,
        policy_for(endpoint, **options) as policy,
        pytest.raises(EngineFault),
    ):
        policy.act([user("a")])


# ---------------------------------------------------------------------- secrets

CANARY = "canary/0123456789+abcdef"


@pytest.mark.parametrize("way", ["argument", "variable"])
def test_the_key_is_sent_and_appears_nowhere_else(way, monkeypatch, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("CANARY_KEY", CANARY)
    key = {"api_key": CANARY} if way == "argument" else {"api_key_env": "CANARY_KEY"}

    def leak(call):
        return completion(f"your key is {call.headers['authorization']}")

    saved, written = [], []
    with FaultyEndpoint(answer=leak, headers={"X-Echo": CANARY}) as endpoint:
        with policy_for(endpoint, **key) as policy:
            result = evaluate(LAKE, policy, episodes=1, on_trajectory=saved.append)
            written += [repr(policy), str(vars(policy)), str(result), str(saved)]
            endpoint.behave = lambda call: "half"
            with pytest.raises(EngineFault) as caught:
                policy.act([user("x")])
        assert endpoint.calls[0].headers["authorization"] == f"Bearer {CANARY}"
    written += [str(caught.value), repr(caught.value.__cause__), repr(caught.value.__context__)]
    written += [record.getMessage() + str(record.args) for record in caplog.records]
    written += capsys.readouterr()
    assert "[redacted]" in written[3]
    assert any("httpcore" in record.name for record in caplog.records)
    assert not [text for text in written if CANARY in text or "0123456789+abcdef" in text]


def test_without_an_endpoint_of_ones_own_a_key_is_needed():
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        load_policy("openai:some-model").act([user("a")])


# ---------------------------------------------------------------------- messages and arguments


def test_pictures_travel_inside_the_message_and_arrive_as_they_were():
    pictures = [np.random.default_rng(seed).integers(0, 256, (9, 5, 3), dtype=np.uint8) for seed in range(2)]
    sent = wire_message(user("a <image> b <image>", images=pictures)[0])
    kinds = [part["type"] for part in sent["content"]]
    assert kinds == ["text", "image_url", "text", "image_url"]
    arrived = [read_picture(part["image_url"]["url"]) for part in sent["content"] if part["type"] == "image_url"]
    assert all(np.array_equal(*pair) for pair in zip(pictures, arrived, strict=True))


def test_only_role_and_text_leave_the_house_unless_token_ids_are_wanted():
    message = {"role": "assistant", "content": "Up\ud800", "token_ids": [1, 2], "observation": object()}
    assert wire_message(message) == {"role": "assistant", "content": "Up?"}
    assert wire_message(message, token_ids=True) == {"role": "assistant", "content": "Up?", "token_ids": [1, 2]}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"temperature": -1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"concurrency": 0}, "concurrency"),
        ({"timeout": 0}, "timeout"),
        ({"max_retries": -1}, "max_retries"),
        ({"requests_per_minute": 0}, "requests_per_minute"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "https://me:secret@host/v1"}, "credentials"),
        ({"api_key": "a\nb"}, "api_key"),
        ({"api_key": ""}, "api_key"),
        ({"extra_body": {"stream": True}}, "stream"),
        ({"extra_body": ["x"]}, "extra_body"),
        ({"logprobs": True, "greedy": True}, "temperature=1.0"),
        ({"tempreature": 1.0}, "it takes: .*temperature"),
    ],
)
def test_arguments_that_cannot_work_are_refused(options, says):
    with pytest.raises(ConfigError, match=says) as caught:
        load_policy("openai:m", **options)
    assert "secret" not in str(caught.value)


def test_what_is_no_conversation_is_refused():
    policy = OpenAIPolicy("m", base_url="http://127.0.0.1:9/v1")
    for conversation in ([], [{"role": "robot", "content": "x"}], [{"role": "user", "content": None}]):
        with pytest.raises(ConfigError):
            policy.act([conversation])
