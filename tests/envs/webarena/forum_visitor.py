"""Somebody who visits the forum without a browser."""

from __future__ import annotations

from typing import Any, Self

from agentrl.envs.webarena.sites.forum.text import slug
from tests.envs.webarena.visitor import Visitor as AnyVisitor

AGENT = "MarvelsGrantMan136"


class Visitor(AnyVisitor):
    """A member (the agent, unless it is a guest) of the forum."""

    site, data = "reddit", "forum"

    @property
    def url(self) -> str:
        return self.path

    def open(self, path: str) -> Self:
        """Open a page."""
        return self.get(path)

    def post(self, path: str, **fields: str) -> Self:
        """Send a form without looking at it; `__` in a name stands for brackets: title__x is title[x]."""
        return self.send(path, {_bracketed(name): value for name, value in fields.items()})

    def send(self, path: str, fields: dict[str, str]) -> Self:
        """Send these fields."""
        return super().post(path, fields)

    def submit(self, form: Any, **fields: str) -> Self:
        """Send a form of the page with what it holds, except for these fields."""
        held = {
            name: control.value if control.tag != "textarea" else (control.text or "").removeprefix("\n")
            for control in form.xpath(".//input | .//textarea | .//select")
            if (name := control.get("name"))
            and (control.get("type") != "checkbox" or control.get("checked") is not None)
        }
        held = {name: value or "" for name, value in held.items()} | {_bracketed(name): fields[name] for name in fields}
        return self.send(form.get("action"), held)

    # ------------------------------------------------------------------ what is seen

    def one(self, selector: str) -> Any:
        """The first element that matches."""
        return self.all(selector)[0]

    def text(self, selector: str) -> str:
        """Its text."""
        return self.one(selector).text_content().strip()

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that match."""
        return [element.text_content().strip() for element in self.all(selector)]

    # ------------------------------------------------------------------ records

    def path_of(self, where: str, *values: Any) -> str:
        """The address of the first submission that fits."""
        row = self.db.row(
            f"SELECT s.*, f.name AS forum FROM submission s JOIN forum f ON f.id = s.forum_id WHERE {where}", *values
        )
        assert row is not None, where
        return f"/f/{row['forum']}/{row['id']}/{slug(row['title'])}"

    @property
    def id(self) -> int:
        """The agent's number."""
        return self.db.value("SELECT id FROM user WHERE username = ?", AGENT)


def _bracketed(name: str) -> str:
    first, *parts = name.split("__")
    return first + "".join(f"[{part}]" for part in parts)
