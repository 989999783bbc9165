"""Asks for the key on every address of vLLM's server.

vLLM itself guards what begins with /v1 and the like; the routes that pause it or replace its weights stand open.
"""

from __future__ import annotations

import hmac
import os
from typing import Any

KEY_VARIABLE = "VLLM_API_KEY"
OPEN = ("/health",)  # says nothing but that the server is up


class RequireKey:
    """An ASGI layer that lets only requests with the key through."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.expected = f"Bearer {os.environ[KEY_VARIABLE]}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on, or answer 401."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN or self._knows_key(scope):
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 401, "headers": head})
        await send({"type": "http.response.body", "body": b'{"error": {"message": "wrong or missing API key"}}'})

    def _knows_key(self, scope: Any) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(given, self.expected)
