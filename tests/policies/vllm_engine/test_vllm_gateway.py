"""vLLM's own OpenAI server behind the gateway: what is recorded is what the engine says of the same request."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from agentrl.core.interpreter import find_interpreter
from agentrl.models import tiny
from agentrl.models.tokenizer import TEXT_SPECIALS, tiny_tokenizer
from agentrl.policies.vllm.backend import VLLM
from agentrl.rollout.call_pool import CallPool
from agentrl.serve.gateway import Gateway
from agentrl.serve.site import address, listen

pytestmark = pytest.mark.vllm
SURROUNDINGS = {"HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of vLLM's server, for a tiny model with heads as wide as its kernels for processors need."""
    folder = tmp_path_factory.mktemp("vllm")
    tokenizer = tiny_tokenizer(TEXT_SPECIALS)
    config = tiny._text_config(tokenizer)
    config.head_dim = 32
    tiny.write_model(folder / "model", config, tokenizer)
    with listen("127.0.0.1", 0) as free:
        url = address(free)
    command = [find_interpreter(VLLM).python, "-m", "vllm.entrypoints.openai.api_server", "--model", "model"]
    command += [
        "--dtype",
        "float32",
        "--enforce-eager",
        "--max-model-len",
        "512",
        "--logprobs-mode",
        "processed_logprobs",
    ]
    command += ["--host", "127.0.0.1", "--port", url.rstrip("/").rpartition(":")[2]]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **SURROUNDINGS}, stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_for(f"{url}health", process, folder / "log")
        yield f"{url}v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise AssertionError(log.read_text()[-3000:])


def the_engines_own(client: openai.OpenAI, **asked: Any) -> tuple[Any, ...]:
    """Prompt, answer and log-probabilities of a request that is sent without a gateway."""
    extra = {"extra_body": {"return_token_ids": True}}
    if "messages" in asked:
        found = client.chat.completions.create(**asked, logprobs=True, **extra).model_dump()
        (choice,) = found["choices"]
        scores = [one["logprob"] for one in choice["logprobs"]["content"]]
        return found["prompt_token_ids"], choice["token_ids"], scores
    (choice,) = client.completions.create(**asked, logprobs=0, **extra).model_dump()["choices"]
    return choice["prompt_token_ids"], choice["token_ids"], choice["logprobs"]["token_logprobs"]


def test_what_is_recorded_are_the_engines_own_tokens_whole_and_streamed(server: str, tmp_path: Path) -> None:
    talk: list[dict[str, str]] = [{"role": "system", "content": "Play."}]
    expected: list[tuple[Any, ...]] = []
    with Gateway(server, tmp_path / "pool") as gateway:
        agent = openai.OpenAI(base_url=gateway.url("one"), api_key="none", max_retries=0, timeout=120)
        alone = openai.OpenAI(base_url=server, api_key="none", max_retries=0, timeout=120)
        with agent, alone:
            for turn in range(3):
                talk.append({"role": "user", "content": f"Turn {turn}. Where to?"})
                asked: dict[str, Any] = {"model": "model", "messages": list(talk), "max_tokens": 12, "seed": turn}
                if turn == 1:
                    chunks = list(agent.chat.completions.create(stream=True, **asked))
                    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
                else:
                    said = agent.chat.completions.create(**asked).choices[0].message.content or ""
                expected.append(the_engines_own(alone, **asked))
                talk.append({"role": "assistant", "content": said})
            text = {"model": "model", "prompt": "The lake is", "max_tokens": 8, "seed": 5}
            agent.completions.create(**text)
            expected.append(the_engines_own(alone, **text))
    with CallPool(tmp_path / "pool", read_only=True) as pool:
        steps = pool.trajectory("one").steps
    assert [step.info["missing"] for step in steps] == [[]] * 4
    assert [(step.prompt_ids, step.response_ids) for step in steps] == [one[:2] for one in expected]
    for step, (_, ids, scores) in zip(steps, expected, strict=True):
        assert step.logprobs == pytest.approx(scores, abs=1e-5) and len(scores) == len(ids) > 0
