"""An administrator of the shop without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agentrl.envs.webarena.sites.world import World
from tests.envs.webarena.visitor import Visitor


class Browser(Visitor):
    """The agent in the administration."""

    site, data = "shopping_admin", "store"

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
    return Browser(admin.world, guest=True)
