"""The gateway: agents are recorded by their base_url alone, token for token, and nothing they got is lost."""

from __future__ import annotations

import json
import threading

import httpx
import openai
import pytest

from agentrl.core.errors import ConfigError
from agentrl.models.loading import load_model
from agentrl.rollout.call_pool import CallPool
from agentrl.rollout.token_rows import token_rows
from agentrl.rollout.trajectory import Trajectory
from agentrl.serve.gateway import Gateway
from agentrl.serve.model_server import ModelServer
from agentrl.trainers.update.batch import rows_of

HI = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
KEY = "key-of-the-client-0123456789"


@pytest.fixture(scope="module")
def engine():
    with ModelServer(load_model("tiny-text", device="cpu"), name="tiny") as running:
        yield running


@pytest.fixture
def truth(engine, monkeypatch):
    """What the engine itself read and wrote, call by call."""
    seen, submit = [], engine._batcher.submit

    def watched(job):
        answer = submit(job)
        seen.append((job.prompt.ids, answer))
        return answer

    monkeypatch.setattr(engine._batcher, "submit", watched)
    return lambda: [(prompt, answer.result().ids, answer.result().logprobs) for prompt, answer in seen]


@pytest.fixture
def gateway(engine, tmp_path):
    with Gateway(engine.base_url, tmp_path / "pool") as running:
        yield running


def client(gateway, session, **options):
    return openai.OpenAI(base_url=gateway.url(session), api_key=KEY, max_retries=0, timeout=60, **options)


def ask(agent, messages=HI, **options):
    given = {"max_tokens": 4, "seed": 1, **options}
    return agent.chat.completions.create(model="tiny", messages=messages, **given)


def post(gateway, path, body):
    return httpx.post(f"{gateway.address}{path}", json=body, timeout=30)


def steps_are(trajectory, truth):
    found = [(step.prompt_ids, step.response_ids, step.logprobs) for step in trajectory.steps]
    for (prompt, ids, scores), (engine_prompt, engine_ids, engine_scores) in zip(found, truth, strict=True):
        assert prompt == engine_prompt and ids == list(engine_ids)
        assert scores == pytest.approx(list(engine_scores), abs=1e-6)


# ---------------------------------------------------------------------- recording


def test_an_agent_that_compacts_its_history_is_recorded_token_for_token(gateway, truth):
    with client(gateway, "one") as agent:
        messages = list(HI)
        for turn in range(3):  # a conversation that grows, whole and streamed
            if turn == 1:
                text = "".join(chunk.choices[0].delta.content or "" for chunk in ask(agent, messages, stream=True))
                messages.append({"role": "assistant", "content": text})
            else:
                messages.append(ask(agent, messages).choices[0].message)
            messages.append({"role": "user", "content": f"turn {turn}"})
        compacted = [HI[0], {"role": "user", "content": "So far: turns 0 to 2. Go on."}]
        compacted.append(ask(agent, compacted).choices[0].message)
        ask(agent, [*compacted, {"role": "user", "content": "and now?"}])
    told = gateway.pool.sessions["one"].to_json()
    assert told["parents"] == [None, 0, 1, None, 3] and told["branches"] == 2
    steps_are(gateway.pool.trajectory("one"), truth())
    branches = [gateway.pool.trajectory("one", branch=leaf) for leaf in (2, 4)]
    assert [[step.info["call"] for step in branch.steps] for branch in branches] == [[0, 1, 2], [3, 4]]
    with CallPool(gateway.pool.folder, read_only=True) as again:  # what is on disk is all there is
        assert again.trajectory("one").to_json() == gateway.pool.trajectory("one").to_json()


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_client_did_not_ask_for_is_hidden_and_what_it_asked_for_is_there(gateway, engine, stream):
    def bodies(base_url, **options):
        with httpx.stream(
            "POST",
            f"{base_url}/chat/completions",
            json={"model": "tiny", "messages": HI, "max_tokens": 3, "seed": 5, "stream": stream, **options},
        ) as response:
            text = response.read().decode()
        lines = [line[6:] for line in text.split("\n\n") if line.startswith("data: {")] if stream else [text]
        found = [json.loads(line) for line in lines]
        return [{name: value for name, value in body.items() if name not in ("id", "created")} for body in found]

    for number, options in enumerate([{}, {"logprobs": True}, {"return_token_ids": True}]):
        assert bodies(gateway.url(f"hidden-{number}-{stream}"), **options) == bodies(engine.base_url, **options)


def test_an_identical_request_is_one_call_and_gets_the_same_answer(gateway, truth):
    with client(gateway, "again") as agent:
        first, second = ask(agent), ask(agent)
        streamed = [list(ask(agent, stream=True)) for _ in range(2)]
        assert ask(agent, seed=2).id != first.id
    assert first == second and len(truth()) == 3 == len(gateway.pool.sessions["again"].calls)
    texts = ["".join(chunk.choices[0].delta.content or "" for chunk in chunks) for chunks in streamed]
    assert texts[0] == texts[1] == first.choices[0].message.content
    assert streamed[1][-1].choices[0].finish_reason == first.choices[0].finish_reason


def test_equal_requests_at_the_same_time_are_asked_once(gateway, engine, truth, monkeypatch):
    gate, forward = threading.Event(), engine.loaded.model.forward

    def slow(*args, **others):
        gate.wait(20)
        return forward(*args, **others)

    monkeypatch.setattr(engine.loaded.model, "forward", slow)
    answers = []
    with client(gateway, "race") as agent:
        threads = [threading.Thread(target=lambda: answers.append(ask(agent))) for _ in range(3)]
        for thread in threads:
            thread.start()
        threading.Timer(0.3, gate.set).start()
        for thread in threads:
            thread.join(30)
    assert len(answers) == 3 and len({answer.id for answer in answers}) == 1 == len(truth())


def test_the_header_is_the_second_way(gateway, engine):
    url = f"{gateway.address}v1"
    with openai.OpenAI(base_url=url, api_key="none", default_headers={"x-session-id": "by-header"}) as agent:
        ask(agent)
        assert [model.id for model in agent.models.list()] == ["tiny"]
    assert len(gateway.pool.sessions["by-header"].calls) == 1
    with openai.OpenAI(base_url=url, api_key="none") as nobody, pytest.raises(openai.BadRequestError, match="session"):
        ask(nobody)


def test_an_engine_that_gives_no_tokens_is_recorded_as_such(gateway, engine, monkeypatch):
    from agentrl.serve import model_requests

    def read(body):
        if b"return_token_ids" in body or b'"logprobs"' in body:
            raise model_requests.BadRequest("Unrecognized request argument supplied: return_token_ids")
        return model_requests.read_request(body)

    monkeypatch.setattr("agentrl.serve.model_server.read_request", read)
    with client(gateway, "bare") as agent:
        assert ask(agent).choices[0].message.content is not None
        ask(agent, seed=2)
    steps = gateway.pool.trajectory("bare").steps
    for step in steps:
        assert (step.prompt_ids, step.response_ids, step.logprobs) == (None, None, None)
        assert step.info["missing"] == ["token_ids", "prompt_token_ids", "logprobs"]


def test_errors_of_the_engine_pass_and_are_not_recorded(gateway):
    with client(gateway, "wrong") as agent:
        with pytest.raises(openai.NotFoundError, match="unknown model"):
            agent.chat.completions.create(model="gpt-9", messages=HI)
        with pytest.raises(openai.BadRequestError, match="context length"):
            ask(agent, [{"role": "user", "content": "\t" * 5_000}], stream=True)
    assert "wrong" not in gateway.pool.sessions


def test_an_engine_that_is_not_there_is_an_error(tmp_path):
    with Gateway("http://127.0.0.1:9/v1", tmp_path) as gateway, client(gateway, "x") as agent:
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError, match="does not answer"):
                ask(agent, stream=stream)


def test_keys_are_in_no_record(engine, tmp_path):
    with Gateway(engine.base_url, tmp_path, upstream_key="key-of-the-upstream-987654") as gateway:
        with client(gateway, "leak") as agent:
            ask(agent, [{"role": "user", "content": f"My keys: {KEY} key-of-the-upstream-987654"}])
        told = post(gateway, "sessions/leak/reward", {"reward": 1}).text
    written = gateway.pool.path.read_text() + told
    assert KEY not in written and "key-of-the-upstream" not in written and "[redacted]" in written


# ---------------------------------------------------------------------- rewards, marks, batches


def test_rewards_marks_and_versions_become_trajectories_and_batches(gateway):
    for number in range(3):
        assert post(gateway, "policy", {"version": number}).json() == {"version": number}
        with client(gateway, f"task-{number}") as agent:
            answer = ask(agent).choices[0].message
            ask(agent, [*HI, answer, {"role": "user", "content": "more"}])
    assert gateway.pool.trajectory("task-0").reward is None and gateway.pool.take(9) == []
    post(gateway, "sessions/task-0/reward", {"reward": 0.25, "call": 0, "name": "format"})
    for number in range(3):
        post(gateway, f"sessions/task-{number}/reward", {"reward": number + 0.5})
        post(gateway, f"sessions/task-{number}/mark", {"mark": "group", "value": "lake"})
    post(gateway, "sessions/task-0/reward", {"reward": 1.0})  # replaces the one before
    post(gateway, "sessions/task-2/mark", {"mark": "exclude"})
    first = gateway.pool.trajectory("task-0")
    assert [step.reward_terms for step in first.steps] == [{"format": 0.25}, {"reward": 1.0}]
    assert (first.reward, first.group_id, first.terminated) == (1.25, "lake", True)
    assert [step.version for step in gateway.pool.trajectory("task-1").steps] == [1, 1]

    def batch(**wanted):
        lines = post(gateway, "batch", wanted).text.splitlines()
        return [Trajectory.from_json(json.loads(line)) for line in lines]

    assert batch(at_least=3, without=["exclude"]) == []
    (fresh,) = batch(version=1, without=["exclude"])
    written = [token for step in fresh.steps for token in step.response_ids]
    assert fresh.id == "task-1"
    assert [row.ids[place] for row in rows_of(fresh) for place in row.targets] == written
    assert sum(sum(row.mask) for row in token_rows(fresh)) == len(written)
    assert [one.id for one in batch(most=1)] == ["task-0"] and [one.id for one in batch(only=["exclude"])] == ["task-2"]
    assert batch() == []  # each is handed out once


def test_a_pool_is_continued_after_a_restart(engine, tmp_path):
    with Gateway(engine.base_url, tmp_path) as gateway, client(gateway, "long") as agent:
        answer = ask(agent)
    with open(tmp_path / "calls.jsonl", "ab") as file:
        file.write(b'{"kind":"call","session":"lo')  # the half line of a process that was killed
    with Gateway(engine.base_url, tmp_path) as gateway, client(gateway, "long") as agent:
        assert ask(agent).id == answer.id
        ask(agent, [*HI, answer.choices[0].message, {"role": "user", "content": "more"}])
        assert gateway.pool.sessions["long"].to_json()["parents"] == [None, 0]
        with pytest.raises(ConfigError, match="in use"):
            CallPool(tmp_path)
    with CallPool(tmp_path) as pool:
        first, second = pool.trajectory("long").steps
        assert second.prompt_ids[: len(first.prompt_ids)] == first.prompt_ids


# ---------------------------------------------------------------------- who may ask what


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("sessions/..%2Fx/v1/chat/completions", {"model": "tiny", "messages": HI}, 404, "unknown path"),
        ("sessions/a b/v1/chat/completions", {"model": "tiny", "messages": HI}, 400, "name"),
        ("sessions/.x/v1/chat/completions", {"model": "tiny", "messages": HI}, 400, "name"),
        ("sessions/x/v1/chat/completions", {"model": "tiny", "messages": HI, "n": 2}, 400, "one answer"),
        ("sessions/x/v1/chat/completions", {"model": "tiny", "messages": [3]}, 400, "messages"),
        ("sessions/x/v1/chat/completions", {"messages": HI}, 400, "model"),
        ("sessions/x/v1/completions", {"model": "tiny", "prompt": ["a", "b"]}, 400, "one text"),
        ("sessions/x/v1/embeddings", {}, 404, "unknown path"),
        ("sessions/nobody/reward", {"reward": 1}, 404, "unknown session"),
        ("sessions/known/reward", {"reward": "much"}, 400, "reward"),
        ("sessions/known/reward", {"reward": 1, "call": 7}, 400, "call"),
        ("sessions/known/reward", {"reward": 1, "why": "x"}, 400, "why"),
        ("sessions/known/mark", {"mark": "A B"}, 400, "mark"),
        ("batch", {"most": 0}, 400, "most"),
        ("policy", {"version": -1}, 400, "version"),
    ],
)
def test_bad_requests_are_refused_in_words(gateway, path, body, status, says):
    with client(gateway, "known") as agent:
        ask(agent, max_tokens=1)
    response = post(gateway, path, body)
    assert response.status_code == status and says in response.json()["error"]["message"]
    assert gateway.pool.sessions.keys() == {"known"}


def test_only_whoever_has_the_key_and_speaks_to_loopback_is_answered(engine, tmp_path):
    with pytest.raises(ConfigError, match="loopback"):
        Gateway(engine.base_url, tmp_path, host="0.0.0.0")
    with pytest.raises(ConfigError, match="upstream"):
        Gateway("localhost:8000", tmp_path)
    with Gateway(engine.base_url, tmp_path, api_key=KEY, upstream_key="none-needed") as gateway:
        assert post(gateway, "sessions/x/v1/chat/completions", {}).status_code == 401
        evil = httpx.post(f"{gateway.address}policy", json={"version": 1}, headers={"Host": "evil.example"})
        assert evil.status_code == 403
        with client(gateway, "x") as agent:
            assert ask(agent).choices
