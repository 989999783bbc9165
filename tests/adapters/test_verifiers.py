"""verifiers 0.4 itself, in a virtual environment of its own: its `vf-eval` plays as our collector does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentrl.rollout.prompts import rules_of
from tests.adapters.libraries import run_in
from tests.adapters.library_check import ENV_KWARGS, SEEDS, TEXT, VISUAL, Episode, check_row, compare, play, shown_in


class Endpoint(ThreadingHTTPServer):
    """An OpenAI endpoint whose model knows its answers by heart: it answers what our own collector would have asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers = {}
        for env_id in (TEXT, VISUAL):
            rules = rules_of(gym.make(env_id, **ENV_KWARGS))
            for one in play(env_id):
                assert one.shown
                for turn, said in enumerate(one.actions):
                    self.answers[asked(rules, one.shown[: turn + 1], one.actions[:turn])] = said


def asked(rules: str, shown: list[str], said: list[str]) -> str:
    return json.dumps([rules, shown, said])


class Answering(BaseHTTPRequestHandler):
    """Streams, as verifiers asks for it."""

    server: Endpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        first, *messages = request["messages"]
        said = [text_of(message["content"]) for message in messages if message["role"] == "assistant"]
        answer = self.server.answers.get(asked(text_of(first["content"]), shown_in(messages), said))
        if first["role"] != "system" or answer is None:
            self.send_error(400, "our collector asks something else")
            return
        self.send_response(200)
        stream = bool(request.get("stream"))
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.end_headers()
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        whole = {"id": "1", "created": 0, "model": request["model"], "object": "chat.completion"}
        message = {"role": "assistant", "content": answer}
        if not stream:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.wfile.write(json.dumps({**whole, "choices": [choice], "usage": usage}).encode())
            return
        whole["object"] += ".chunk"
        choices = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": "stop"}]
        chunks = [{**whole, "choices": [{"index": 0, **choice}]} for choice in choices] + [
            {**whole, "choices": [], "usage": usage}
        ]
        for line in [*map(json.dumps, chunks), "[DONE]"]:
            self.wfile.write(f"data: {line}\n\n".encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing."""


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = Endpoint()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def evaluated(folder: Path, endpoint: str, env_id: str, monkeypatch: pytest.MonkeyPatch) -> list[Episode]:
    """What vf-eval wrote about the eight episodes."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = ["agentrl-verifiers", "--env.taskset.env-id", env_id, "--env.taskset.env-kwargs", json.dumps(ENV_KWARGS)]
    words += ["-n", str(len(SEEDS)), "-m", "scripted", "--no-push", "--output-dir", str(folder)]
    words += ["--client.base-url", endpoint, "--client.api-key-var", "OPENAI_API_KEY"]
    run_in("verifiers", ".venv-verifiers/bin/vf-eval", *words)
    (file,) = folder.rglob("traces.jsonl")
    return [episode_of(json.loads(line)) for line in file.read_text().splitlines()]


def episode_of(written: dict[str, Any]) -> Episode:
    (trace,) = written["traces"]
    assert written["ok"] and trace["ok"] and trace["metrics"] == {"success": float(trace["info"]["success"])}
    messages = [node["message"] for node in trace["nodes"]]
    return Episode(
        seed=trace["task"]["data"]["seed"],
        actions=[message["content"] for message in messages if message["role"] == "assistant"],
        reward=trace["rewards"]["env"]["score"],
        rewards=trace["info"]["turn_rewards"],
        shown=shown_in(messages),
        **{name: trace["info"][name] for name in ("terminated", "truncated", "success")},
    )


@pytest.mark.library("verifiers")
@pytest.mark.timeout(900)
def test_vf_eval_plays_text_and_pictures_as_our_collector_does(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for kind, env_id in {"text": TEXT, "pictures": VISUAL}.items():
        found[kind] = compare(evaluated(tmp_path / kind, endpoint, env_id, monkeypatch), play(env_id))
    check_row("verifiers", "0.4.0", **found, remarks={"turn rewards": "carried"})
