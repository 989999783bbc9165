"""A browser without a screen, signed in at the administration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest
from lxml import html

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World

ORIGIN = PLACES["shopping_admin"].origin


class Browser:
    """Opens pages and sends forms; follows redirects; keeps cookies."""

    def __init__(self, world: World, *, signed_in: bool = True) -> None:
        self.world = world
        self.cookies = dict(cookies(("shopping_admin",))[ORIGIN]) if signed_in else {}
        self.url, self.response = ORIGIN, Response()

    @property
    def db(self) -> Database:
        return self.world.database("store")

    def get(self, path: str) -> Browser:
        return self._ask("GET", path)

    def post(self, path: str, form: dict[str, Any] | list[tuple[str, Any]] | None = None) -> Browser:
        pairs = form.items() if isinstance(form, dict) else form or ()
        return self._ask("POST", path, tuple((name, str(value)) for name, value in pairs))

    def _ask(self, method: str, path: str, form: tuple[tuple[str, str], ...] = ()) -> Browser:
        self.url = urljoin(self.url, path)
        self.response = self.world.fetch(Request(method, self.url, form, dict(self.cookies)))
        for name, value in self.response.cookies.items():
            if value is None:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return self if self.response.location is None else self._ask("GET", self.response.location)

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def page(self) -> Any:
        return html.fromstring(self.response.text)

    @property
    def kind(self) -> str:
        return self.page.get("data-page") or self.page.find(".//body").get("data-page")

    def text(self, selector: str = "body") -> str:
        """The visible text of all that match, with single spaces."""
        return " ".join(" ".join(found.text_content().split()) for found in self.page.cssselect(selector))

    def rows(self) -> list[list[str]]:
        """The cells of the grid on the page."""
        return [
            [" ".join(cell.text_content().split()) for cell in row.cssselect("td")]
            for row in self.page.cssselect("tr.data-row")
        ]

    def found(self) -> int:
        """How many records the grid says there are."""
        match = re.search(r"(\d+) records found", self.text())
        assert match is not None
        return int(match[1])

    def fields(self, action: str) -> dict[str, str]:
        """The fields of the form with this action, as a browser would send them without touching any."""
        form = next(form for form in self.page.cssselect("form") if form.get("action") == action)
        values: dict[str, str] = {}
        for field in form.cssselect("input, select, textarea"):
            if field.get("type") in ("checkbox", "radio") and field.get("checked") is None:
                continue
            if field.tag == "select":
                chosen = field.cssselect("option[selected]") or field.cssselect("option")
                values[field.get("name")] = chosen[0].get("value")
            else:
                values[field.get("name")] = field.text or "" if field.tag == "textarea" else field.get("value", "")
        return values

    def submit(self, action: str, **changes: Any) -> Browser:
        """Fill in a form of this page and send it."""
        return self.post(action, {**self.fields(action), **changes})


@pytest.fixture(scope="session")
def shared_world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture
def admin(shared_world: World) -> Iterator[Browser]:
    """The administrator's browser; every test begins with the base data."""
    shared_world.clear()
    yield Browser(shared_world)
    shared_world.clear()


@pytest.fixture
def stranger(admin: Browser) -> Browser:
    """A browser that nobody has signed in with."""
    return Browser(admin.world, signed_in=False)
