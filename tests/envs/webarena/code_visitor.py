"""Somebody who visits the code host without a browser: opens pages, fills in their forms, follows redirects."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urljoin

from lxml import html

from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World

ORIGIN = PLACES["gitlab"].origin


class Visitor:
    """The agent, or a guest, on the code host in its first state."""

    def __init__(self, *, guest: bool = False) -> None:
        self.world = World()
        self.db = self.world.database("code")
        self.cookies = {} if guest else dict(cookies(("gitlab",))[ORIGIN])
        self.url, self.status, self.source = "", 0, ""

    def open(self, path: str) -> Visitor:
        """Open a page, following redirects."""
        return self._ask(Request("GET", urljoin(ORIGIN, path), cookies=dict(self.cookies)))

    def send(self, path: str, fields: dict[str, str] | None = None) -> Visitor:
        """Post fields without looking at a form."""
        form = tuple((fields or {}).items())
        return self._ask(Request("POST", urljoin(ORIGIN, path), form=form, cookies=dict(self.cookies)))

    def submit(self, selector: str, fields: dict[str, str | None] | None = None, button: str = "") -> Visitor:
        """Fill in a form of the page (None takes a field out) and press a button of it."""
        (form, *_) = self.all(selector)
        held = [pair for pair in form.form_values() if pair[0] not in (fields or {})]
        held = [(name, value.replace("\r\n", "\n")) for name, value in held]
        held += [(name, value) for name, value in (fields or {}).items() if value is not None]
        pressed = [b for b in form.iter("button") if b.get("name") and b.text_content().strip() == button]
        held += [(b.get("name"), b.get("value", "")) for b in pressed]
        action = urljoin(ORIGIN + self.url, form.get("action") or "")
        if (form.get("method") or "get").lower() == "get":
            return self.open(f"{action}?{urlencode(held)}")
        return self._ask(Request("POST", action, form=tuple(held), cookies=dict(self.cookies)))

    def all(self, selector: str) -> list[Any]:
        """Elements of the page."""
        return html.fromstring(self.source).cssselect(selector)

    def text(self, selector: str) -> str:
        """The text of the first of them."""
        return " ".join(self.all(selector)[0].text_content().split())

    def texts(self, selector: str) -> list[str]:
        """The texts of all of them."""
        return [" ".join(element.text_content().split()) for element in self.all(selector)]

    def _ask(self, request: Request) -> Visitor:
        response = self.world.fetch(request)
        for name, value in response.cookies.items():
            self.cookies = {key: old for key, old in self.cookies.items() if key != name}
            if value is not None:
                self.cookies[name] = value
        if response.location is not None:
            return self.open(urljoin(request.url, response.location))
        self.url, self.status, self.source = request.url.removeprefix(ORIGIN), response.status, response.text
        return self
