"""A gateway that is killed at any moment has recorded every answer that a client received in full."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import openai
import pytest

from agentrl.models.loading import load_model
from agentrl.rollout.call_pool import CallPool
from agentrl.serve.model_server import ModelServer


def start(base_url, folder):
    words = ["gateway", "--upstream", base_url, "--output", str(folder), "--port", "0", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "agentrl.cli", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return process, json.loads(process.stdout.readline())["address"]


def agent(address, name, received, ended):
    """Ask, whole and streamed in turn, until the gateway is gone."""
    url = f"{address}sessions/{name}/v1"
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=20) as client:
        for number in range(10_000):
            given = {"model": "tiny", "messages": [{"role": "user", "content": f"{name} {number}"}], "max_tokens": 4}
            try:
                if number % 2:
                    chunks = list(client.chat.completions.create(**given, stream=True))
                    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
                    if not chunks[-1].choices[0].finish_reason:
                        continue  # cut off: not received in full
                    identity = chunks[0].id
                else:
                    answer = client.chat.completions.create(**given)
                    text, identity = answer.choices[0].message.content, answer.id
            except openai.APIError:
                if ended.is_set():
                    return
                raise
            received[name, identity] = text


def kill_at_random_moments(times, folder, seed):
    generator = random.Random(seed)
    received: dict = {}
    with ModelServer(load_model("tiny-text", device="cpu"), name="tiny") as engine:
        for trial in range(times):
            process, address = start(engine.base_url, folder)
            ended, before = threading.Event(), len(received)
            names = [f"run-{trial}-{index}" for index in range(4)]
            threads = [threading.Thread(target=agent, args=(address, name, received, ended)) for name in names]
            for thread in threads:
                thread.start()
            until = time.monotonic() + 60
            while len(received) == before and time.monotonic() < until:
                time.sleep(0.005)
            time.sleep(generator.uniform(0, 0.5))
            ended.set()
            os.kill(process.pid, signal.SIGKILL)
            process.wait(20)
            process.stdout.close()
            for thread in threads:
                thread.join(60)
            assert len(received) > before
    with CallPool(folder, read_only=True) as pool:
        recorded = {}
        for session in pool.sessions.values():
            for number in range(len(session.calls)):
                call = pool.call(session.name, number)
                recorded[session.name, call.answer["id"]] = call.text
                assert call.response_ids and len(call.logprobs) == len(call.response_ids)
    lost = {identity for identity, text in received.items() if recorded.get(identity) != text}
    assert not lost, f"{len(lost)} of {len(received)} answers were lost"
    return len(received), len(recorded)


def test_killed_at_three_random_moments_nothing_that_was_received_is_lost(tmp_path):
    kill_at_random_moments(3, tmp_path / "pool", seed=0)


@pytest.mark.long
def test_killed_at_twenty_random_moments_nothing_that_was_received_is_lost(tmp_path):
    kill_at_random_moments(20, tmp_path / "pool", seed=1)
