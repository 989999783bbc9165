"""Starts vLLM's own server so that it ends with its parent process: `python agentrl_vllm_serve.py OPTIONS...`.

The server imports this module again, by its name, for `RequireKey`.
"""

from __future__ import annotations

import hmac
import os
import runpy
import signal
import sys
import threading
from typing import Any

SERVER = "vllm.entrypoints.openai.api_server"
KEY_VARIABLE = "VLLM_API_KEY"
OPEN = ("/health",)  # says nothing but that the server is up


class RequireKey:
    """An ASGI layer that lets only requests with the key through, whatever their address.

    vLLM itself guards what begins with /v1 and the like; the routes that pause it or replace its weights stand open.
    """

    def __init__(self, app: Any) -> None:
        self.app = app
        self.expected = f"Bearer {os.environ[KEY_VARIABLE]}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on, or answer 401."""
        guarded = scope["type"] in ("http", "websocket") and scope["path"] not in OPEN
        if not guarded or hmac.compare_digest(dict(scope["headers"]).get(b"authorization", b""), self.expected):
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 401, "headers": head})
        await send({"type": "http.response.body", "body": b'{"error": {"message": "wrong or missing API key"}}'})


def leave_with_parent() -> None:
    """Wait until the other end of our standard input goes away, then end the whole process group."""
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Serve until ended."""
    threading.Thread(target=leave_with_parent, daemon=True).start()
    sys.argv[0] = SERVER
    runpy.run_module(SERVER, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
