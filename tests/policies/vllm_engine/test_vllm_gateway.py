"""The gateway in front of vLLM: recorded tokens and log-probabilities are those of the engine, chat and text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from agentrl.policies.vllm import VLLMEngine
from agentrl.policies.vllm.server import ServerBackend
from agentrl.serve.gateway import Gateway
from tests.policies.vllm_engine.test_vllm_server import key_of

pytestmark = pytest.mark.vllm

HI: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which way?"}]


@pytest.fixture(scope="module")
def engine() -> Iterator[VLLMEngine]:
    """One for all tests."""
    with VLLMEngine("tiny-text", mode="server", max_model_len=512, deadline=120.0) as started:
        started.start()
        yield started


def test_calls_behind_the_gateway_are_recorded_token_for_token(engine: VLLMEngine, tmp_path: Path) -> None:
    assert isinstance(engine.backend, ServerBackend)
    url, key = f"{engine.backend.client.address}/v1", key_of(engine)
    with (
        openai.OpenAI(base_url=url, api_key=key) as direct,
        Gateway(url, tmp_path, upstream_key=key) as gateway,
        openai.OpenAI(base_url=gateway.url("one"), api_key="none", max_retries=0) as agent,
    ):
        model = direct.models.list().data[0].id
        way: Any = {"model": model, "max_tokens": 6, "temperature": 0.0}
        tokens: Any = {"extra_body": {"return_token_ids": True}}
        answer = agent.chat.completions.create(messages=HI, **way)
        assert answer.choices[0].logprobs is None and not hasattr(answer.choices[0], "token_ids")
        more = [*HI, answer.choices[0].message.model_dump(), {"role": "user", "content": "And now?"}]
        streamed = list(agent.chat.completions.create(messages=more, stream=True, **way))
        compacted = [{"role": "user", "content": "So far: nothing."}]
        agent.chat.completions.create(messages=compacted, **way)
        agent.completions.create(prompt="Up, Left", **way)
        wanted: list[Any] = [
            direct.chat.completions.create(messages=said, logprobs=True, **way, **tokens)
            for said in (HI, more, compacted)
        ]
        text: Any = direct.completions.create(prompt="Up, Left", logprobs=1, **way, **tokens)
        trajectory = gateway.pool.trajectory("one")
        assert gateway.pool.sessions["one"].to_json()["parents"] == [None, 0, None, None]
    assert streamed[-1].choices[0].finish_reason
    for step, other in zip(trajectory.steps[:3], wanted, strict=True):
        assert step.prompt_ids == other.prompt_token_ids and step.response_ids == other.choices[0].token_ids
        assert step.logprobs == pytest.approx([one.logprob for one in other.choices[0].logprobs.content], abs=1e-4)
    last, other = trajectory.steps[3], text.choices[0]
    assert last.prompt_ids == other.prompt_token_ids and last.response_ids == other.token_ids
    assert last.logprobs == pytest.approx(other.logprobs.token_logprobs, abs=1e-4)
