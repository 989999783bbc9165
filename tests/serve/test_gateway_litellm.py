"""litellm in a virtual environment of its own plays through the gateway: recorded tokens are the engine's own."""

from __future__ import annotations

import subprocess

import pytest

from agentrl.core.interpreter import CHECKOUT
from agentrl.models.loading import load_model
from agentrl.serve.gateway import Gateway
from agentrl.serve.model_server import ModelServer


@pytest.mark.library("litellm")
def test_an_agent_of_litellm_is_recorded_token_for_token(tmp_path, monkeypatch):
    seen = []
    with ModelServer(load_model("tiny-text", device="cpu"), name="tiny-text") as engine:
        submit = engine._batcher.submit

        def watched(job):
            answer = submit(job)
            seen.append((job.prompt.ids, answer))
            return answer

        monkeypatch.setattr(engine._batcher, "submit", watched)
        with Gateway(engine.base_url, tmp_path) as gateway:
            python = CHECKOUT / ".venv-litellm" / "bin" / "python"
            words = [
                python,
                CHECKOUT / "examples" / "litellm_play.py",
                "--base-url",
                gateway.url("lite"),
                "--turns",
                "3",
            ]
            done = subprocess.run(words, capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, done.stderr[-2000:]
            steps = gateway.pool.trajectory("lite").steps
    assert len(steps) == len(seen) >= 1
    for step, (prompt, answer) in zip(steps, seen, strict=True):
        assert step.prompt_ids == prompt and step.response_ids == list(answer.result().ids)
        assert step.logprobs == pytest.approx(list(answer.result().logprobs), abs=1e-6)
        assert step.info["missing"] == []
