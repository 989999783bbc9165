"""A chat endpoint in OpenAI's form that gives the scripted answers of `library_check`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from agentrl.adapters.chat import ChatEpisode
from tests.adapters.library_check import ENV_KWARGS, SEEDS, answer, shown_by, shown_in

OTHERWISE = "Right"


@contextmanager
def scripted_endpoint(*env_ids: str) -> Iterator[str]:
    """Its base URL. Whose turn it is follows from the conversation alone, so that episodes may run side by side; in
    other episodes it always says `OTHERWISE`."""
    games = [ChatEpisode(env_id, ENV_KWARGS) for env_id in env_ids]
    openings = {shown_in(game.reset(seed))[0]: seed for game in games for seed in SEEDS}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(completion(asked, openings)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def completion(asked: dict[str, Any], openings: dict[str, int]) -> dict[str, Any]:
    """The answer to a request."""
    messages = asked["messages"]
    seed = openings.get(shown_by(next(message for message in messages if message["role"] == "user")["content"]))
    turn = sum(message["role"] == "assistant" for message in messages)
    said = OTHERWISE if seed is None else answer(seed, turn)
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    facts = {"id": "scripted", "object": "chat.completion", "created": 0, "model": asked["model"]}
    return {**facts, "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
