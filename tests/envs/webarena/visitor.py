"""Somebody who visits a site without a browser: opens pages, sends forms, follows redirects, keeps cookies."""

from __future__ import annotations

from typing import Any, Self
from urllib.parse import urljoin

from lxml import html

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World


class Visitor:
    """The agent, or a guest, on one site; in its first state unless a world is given. Sites add what they show."""

    site: str  # as in `PLACES`
    data: str  # the name of the site's database

    def __init__(self, world: World | None = None, *, guest: bool = False) -> None:
        self.world = world or World()
        self.origin = PLACES[self.site].origin
        self.cookies: dict[str, str] = {} if guest else dict(cookies((self.site,))[self.origin])
        self.address, self.response = self.origin, Response()

    @property
    def db(self) -> Database:
        return self.world.database(self.data)

    def get(self, path: str) -> Self:
        """Open a page."""
        return self._ask("GET", path)

    def post(self, path: str, form: dict[str, Any] | list[tuple[str, Any]] | None = None) -> Self:
        """Send a form without looking at it."""
        pairs = form.items() if isinstance(form, dict) else form or ()
        return self._ask("POST", path, tuple((name, str(value)) for name, value in pairs))

    def _ask(self, method: str, path: str, form: tuple[tuple[str, str], ...] = ()) -> Self:
        self.address = urljoin(self.address, path)
        self.response = self.world.fetch(Request(method, self.address, form, dict(self.cookies)))
        for name, value in self.response.cookies.items():
            self.cookies.pop(name, None)
            if value is not None:
                self.cookies[name] = value
        return self if self.response.location is None else self._ask("GET", self.response.location)

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def source(self) -> str:
        return self.response.text

    @property
    def path(self) -> str:
        """Where the visitor is."""
        return self.address.removeprefix(self.origin)

    @property
    def page(self) -> Any:
        return html.document_fromstring(self.source)

    @property
    def kind(self) -> str:
        return self.page.find(".//body").get("data-page")

    def all(self, selector: str) -> list[Any]:
        """Elements of the page."""
        return self.page.cssselect(selector)

    def texts(self, selector: str) -> list[str]:
        """Their texts, with single spaces."""
        return [" ".join(element.text_content().split()) for element in self.all(selector)]
