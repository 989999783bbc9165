"""The `dom` back end: pages are loaded, labelled, filled in, sent and remembered without a browser."""

from __future__ import annotations

import msgspec
import pytest

from agentrl.envs.webarena.browsing.backend import ActionFailed
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.sites.messages import Request, Response

HOME = "http://forum.localhost/"


class FakeWorld:
    """Answers with the pages it was given, and keeps what was asked."""

    def __init__(self, pages: dict[str, str | Response]) -> None:
        self.pages, self.asked = pages, []

    def fetch(self, request: Request) -> Response:
        self.asked.append(request)
        found = self.pages.get(request.path, Response("not found", 404, "text/plain"))
        return found if isinstance(found, Response) else Response(found)


def browse(pages: dict[str, str | Response]) -> DomBackend:
    """A back end that shows the page "/"."""
    backend = DomBackend(FakeWorld(pages))  # type: ignore[arg-type]
    backend.start([HOME], {})
    return backend


def test_a_click_on_a_link_opens_it_and_back_returns() -> None:
    backend = browse({"/": "<p><a href='/next'>next</a>", "/next": "<title>Next</title><p>there"})
    backend.click(0)
    assert (backend.view().url, backend.view().title) == (HOME + "next", "Next")
    backend.back()
    assert backend.view().url == HOME
    with pytest.raises(ActionFailed, match="earlier"):
        backend.back()


def test_a_saved_back_end_goes_on_in_another() -> None:
    backend = browse({"/": "<form action=/s><input name=q><button>Go</button></form>", "/s": "<p>found"})
    backend.type(0, "tea \ud800")
    saved = msgspec.msgpack.decode(msgspec.msgpack.encode(backend.save()))
    other = DomBackend(backend.world)
    other.load(saved)
    other.click(1)
    assert other.view().url == HOME + "s?q=tea+%EF%BF%BD"
