"""`agentrl bench gateway`: what the gateway adds to a call, beside the same call without it.

The engine is a process that answers at once with 64 tokens, their ids and log-probabilities, so that nothing but the
way is measured. One client asks it directly and through the gateway in turn, whole and streamed; every call of the
gateway is on disk before its answer ends. `added` is the difference of the medians; rates of the clock want an idle
machine, so that the gateway's processor time of a call stands beside it.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agentrl.core.measure import CHECKOUT, machine, result

LIMIT = 2.0  # ms that a whole answer may take longer
TOKENS = 64
WORDS = "Four score and seven years ago our fathers brought forth on this continent. " * 8


def run(quick: bool = False) -> dict[str, Any]:
    """Ask directly and through the gateway, in turn."""
    calls = 200 if quick else 1000
    with tempfile.TemporaryDirectory() as folder, _process("-m", "benchmarks.gateway") as (_, engine):
        words = ["-m", "agentrl.cli", "gateway", "--upstream", f"{engine['address']}v1", "--port", "0", "--json"]
        with _process(*words, "--output", folder) as (gateway, facts):
            rows, ratios = [], []
            for case, stream in (("whole", False), ("streamed", True)):
                found, seconds = _measure(engine["address"], facts["address"], gateway.pid, calls, stream)
                rows += [result(case, name, "", times, "ms") for name, times in found.items()]
                rows.append(result(case, "gateway's processor time", "", [1000 * seconds / calls], "ms"))
                added = statistics.median(found["gateway"]) - statistics.median(found["direct"])
                if not stream:
                    told = {"case": "p50 added to a whole answer, ms (peer: the limit)", "ours": added, "peer": LIMIT}
                    ratios.append({**told, "ratio": LIMIT / added, "required": 1.0, "pass": added <= LIMIT})
    return {
        "schema": 1,
        "name": "gateway",
        "machine": machine() | {"load": os.getloadavg()[0]},
        "threads": 1,
        "results": rows,
        "peers": {},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def _measure(engine: str, gateway: str, process: int, calls: int, stream: bool) -> tuple[dict[str, list[float]], float]:
    """Milliseconds of each call by either way, and the seconds of processor time that the gateway took for them."""
    ways = {
        "direct": (http.client.HTTPConnection(urlsplit(engine).netloc), "/v1/chat/completions"),
        "gateway": (http.client.HTTPConnection(urlsplit(gateway).netloc), "/sessions/bench/v1/chat/completions"),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    before = 0.0
    for number in range(-20, calls):  # the first ones warm both up
        before = _processor_seconds(process) if number == 0 else before
        content = f"{number} {stream} {WORDS}"
        body = json.dumps({"model": "x", "messages": [{"role": "user", "content": content}], "stream": stream}).encode()
        for name, (connection, path) in ways.items():
            start = time.perf_counter()
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{name} answered {answer.status}")
            if number >= 0:
                found[name].append(1000 * (time.perf_counter() - start))
    spent = _processor_seconds(process) - before
    for connection, _ in ways.values():
        connection.close()
    return found, spent


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _process(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A Python process that says in a line of JSON where it listens."""
    paths = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)


def serve() -> None:
    """The engine that answers at once, until it is ended."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route

    from agentrl.serve.connections import limited_server
    from agentrl.serve.model_answers import DONE, event
    from agentrl.serve.site import address, listen

    ids = list(range(TOKENS))
    scores = [{"token": " on", "logprob": -0.5, "bytes": None, "top_logprobs": []} for _ in ids]
    head = {"id": "chatcmpl-x", "created": 0, "model": "x"}
    end = {"index": 0, "finish_reason": "stop"}
    message = {"role": "assistant", "content": " on" * TOKENS}
    choice = end | {"message": message, "logprobs": {"content": scores}, "token_ids": ids}
    prompt = list(range(200))
    whole = head | {"object": "chat.completion", "choices": [choice], "prompt_token_ids": prompt}
    chunks = [
        head
        | {"object": "chat.completion.chunk", "prompt_token_ids": prompt}
        | {
            "choices": [
                {"index": 0, "delta": {"content": " on"}, "logprobs": {"content": [score]}, "token_ids": [token]}
            ]
        }
        for token, score in zip(ids, scores, strict=True)
    ]
    chunks.append(head | {"object": "chat.completion.chunk", "choices": [end | {"delta": {}}]})
    answer, events = json.dumps(whole).encode(), [*map(event, chunks), DONE]

    async def complete(request: Request) -> Response:
        if b'"stream":true' not in (await request.body()).replace(b" ", b""):
            return Response(answer, media_type="application/json")

        async def said():
            for one in events:
                yield one

        return StreamingResponse(said(), media_type="text/event-stream")

    listener = listen("127.0.0.1", 0)
    print(json.dumps({"address": address(listener)}), flush=True)
    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    limited_server(app).run(sockets=[listener])


if __name__ == "__main__":
    serve()
