"""Sites for tests of back ends: pages given as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.sites.messages import Request, Response

HOME = "http://forum.localhost/"
LONG = '<div style="height:3000px">long</div>'
Answer = str | Response | Callable[[Request], Response]


class FakeWorld:
    """Answers with the pages it was given, and keeps what was asked."""

    def __init__(self, pages: dict[str, Answer]) -> None:
        self.pages = pages
        self.asked: list[Request] = []

    def fetch(self, request: Request) -> Response:
        self.asked.append(request)
        found = self.pages.get(request.path, Response("not found", 404, "text/plain"))
        if callable(found):
            return found(request)
        return found if isinstance(found, Response) else Response(found)


def browse(home: str, **pages: Answer) -> DomBackend:
    """A back end that shows `home`; the others are under their names."""
    world: Any = FakeWorld({"/": home, **{f"/{name}": answer for name, answer in pages.items()}})
    backend = DomBackend(world)
    backend.start([HOME], {})
    return backend


def asked(backend: DomBackend) -> Request:
    """What the back end asked for last."""
    world: Any = backend.world
    return world.asked[-1]
