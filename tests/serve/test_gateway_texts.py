"""The gateway in front of an engine that answers as vLLM does, text completions among it: prompts of text and of token
ids, requests that it refuses, clients that leave."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from agentrl.rollout.call_pool import CallPool
from agentrl.serve.connections import BackgroundServer
from agentrl.serve.gateway import Gateway
from agentrl.serve.model_answers import DONE, event
from agentrl.serve.site import address, listen

SAID = " on and on"
HEAD = {"id": "cmpl-1", "created": 0, "model": "echo", "object": "text_completion"}


class Engine:
    """Answers every prompt with `SAID`, a character a token. A prompt with "odd" in it must not ask for tokens; one
    with "slow" is answered by a single token, until the client has gone."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.left = threading.Event()

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        tokens = body.get("return_token_ids")
        if tokens and "odd" in body["prompt"]:
            return JSONResponse({"error": {"message": "no tokens here"}}, 400)
        if not body.get("stream"):
            told = {"prompt_token_ids": ids_of(body["prompt"]), "token_ids": ids_of(SAID)} if tokens else {}
            scores = {"tokens": list(SAID), "token_logprobs": [-0.5] * len(SAID)} if body.get("logprobs") else None
            choice = {"index": 0, "text": SAID, "finish_reason": "stop", "logprobs": scores, **told}
            return JSONResponse({**HEAD, "choices": [choice]})
        return StreamingResponse(self.events(body), media_type="text/event-stream")

    async def events(self, body: dict[str, Any]) -> Any:
        try:
            for number, sign in enumerate(SAID):
                told = {"token_ids": [ord(sign)]} if body.get("return_token_ids") else {}
                told |= {} if number or not told else {"prompt_token_ids": ids_of(body["prompt"])}
                scores = {"tokens": [sign], "token_logprobs": [-0.5]} if body.get("logprobs") else None
                ended = "stop" if number == len(SAID) - 1 else None
                choice = {"index": 0, "text": sign, "finish_reason": ended, "logprobs": scores, **told}
                yield event({**HEAD, "choices": [choice]})
                if "slow" in body["prompt"]:
                    await asyncio.sleep(60)
            yield DONE
        finally:
            if "slow" in body["prompt"]:
                self.left.set()


def ids_of(prompt: str | list[int]) -> list[int]:
    return [ord(sign) for sign in prompt] if isinstance(prompt, str) else prompt


@pytest.fixture(scope="module")
def engine() -> Iterator[tuple[Engine, str]]:
    made = Engine()
    listener = listen("127.0.0.1", 0)
    app = Starlette(routes=[Route("/v1/completions", made.complete, methods=["POST"])])
    with BackgroundServer(app, listener):
        yield made, f"{address(listener)}v1"


@pytest.fixture
def gateway(engine, tmp_path) -> Iterator[Gateway]:
    with Gateway(engine[1], tmp_path / "pool") as running:
        yield running


def agent(gateway: Gateway, session: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=gateway.url(session), api_key="none", max_retries=0, timeout=30)


def ask(client: openai.OpenAI, prompt: Any, **options: Any) -> Any:
    return client.completions.create(model="echo", prompt=prompt, **options)


def test_texts_that_grow_are_one_branch_whole_and_streamed_and_others_open_their_own(gateway) -> None:
    with agent(gateway, "texts") as client:
        first = ask(client, "Go").choices[0]
        assert first.text == SAID and first.logprobs is None and not hasattr(first, "token_ids")
        chunks = list(ask(client, f"Go{SAID} left", stream=True))
        assert "".join(chunk.choices[0].text for chunk in chunks) == SAID
        assert chunks[-1].choices[0].finish_reason == "stop"
        assert not any(hasattr(chunk.choices[0], "token_ids") or chunk.choices[0].logprobs for chunk in chunks)
        ask(client, "Stay")
        ask(client, ids_of(f"Stay{SAID}"))  # token ids are another way to speak: a branch of its own
        ask(client, [*ids_of(f"Stay{SAID}"), *ids_of(SAID), 33])
        again = ask(client, "Go").choices[0]
    assert again.text == first.text
    told = gateway.pool.sessions["texts"].to_json()
    assert told["parents"] == [None, 0, None, None, 3] and told["calls"] == 5
    prompts = ["Go", f"Go{SAID} left", "Stay", f"Stay{SAID}", f"Stay{SAID}{SAID}!"]
    with CallPool(gateway.pool.folder, read_only=True) as pool:
        steps = pool.trajectory("texts").steps
    assert [step.prompt_ids for step in steps] == [ids_of(prompt) for prompt in prompts]
    for step in steps:
        assert step.response_ids == ids_of(SAID) and step.logprobs == [-0.5] * len(SAID) and not step.info["missing"]


def test_a_request_that_is_refused_with_tokens_is_recorded_without_and_the_next_one_has_them(gateway, engine) -> None:
    for prompts in (["odd", "even"], ["even", "odd", "odder", "even again"]):
        session = f"refusals-{len(prompts)}"
        with Gateway(engine[1], gateway.pool.folder / session) as fresh, agent(fresh, session) as client:
            for prompt in prompts:
                assert ask(client, prompt).choices[0].text == SAID
            missing = [step.info["missing"] for step in fresh.pool.trajectory(session).steps]
        nothing = ["token_ids", "prompt_token_ids", "logprobs"]
        # An engine whose first answer had no tokens is not asked again; one that gave some once is.
        assert missing == ([nothing, nothing] if prompts[0] == "odd" else [[], nothing, nothing, []])


def test_a_client_that_leaves_in_the_middle_ends_the_engines_work_and_is_not_recorded(gateway, engine) -> None:
    body = {"model": "echo", "prompt": "slow", "stream": True}
    with httpx.stream("POST", f"{gateway.url('left')}/completions", json=body, timeout=30) as response:
        next(response.iter_raw())
    assert engine[0].left.wait(20)
    with agent(gateway, "left") as client:
        ask(client, "Go")
    assert gateway.pool.sessions["left"].to_json()["calls"] == 1
