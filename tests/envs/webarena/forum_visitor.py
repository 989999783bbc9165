"""Somebody who visits the forum without a browser: opens pages, fills in forms and follows redirects."""

from __future__ import annotations

from typing import Any

from lxml import html

from agentrl.envs.webarena.sites.forum.text import slug
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World

ORIGIN = PLACES["reddit"].origin
AGENT = "MarvelsGrantMan136"


class Visitor:
    """A member (the agent, unless it is a guest) of a forum in its first state."""

    def __init__(self, world: World | None = None, *, guest: bool = False) -> None:
        self.world = world or World()
        self.db = self.world.database("forum")
        self.cookies = {} if guest else dict(cookies(("reddit",))[ORIGIN])
        self.url, self.status, self.source = "", 0, ""

    def open(self, path: str) -> Visitor:
        """Open a page."""
        return self._ask(Request("GET", ORIGIN + path, cookies=dict(self.cookies)))

    def post(self, path: str, **fields: str) -> Visitor:
        """Send a form without looking at it; `__` in a name stands for brackets: title__x is title[x]."""
        return self.send(path, {_bracketed(name): value for name, value in fields.items()})

    def send(self, path: str, fields: dict[str, str]) -> Visitor:
        """Send these fields."""
        return self._ask(Request("POST", ORIGIN + path, form=tuple(fields.items()), cookies=dict(self.cookies)))

    def submit(self, form: Any, **fields: str) -> Visitor:
        """Send a form of the page with what it holds, except for these fields."""
        held = {
            name: control.value if control.tag != "textarea" else (control.text or "").removeprefix("\n")
            for control in form.xpath(".//input | .//textarea | .//select")
            if (name := control.get("name"))
            and (control.get("type") != "checkbox" or control.get("checked") is not None)
        }
        held = {name: value or "" for name, value in held.items()} | {_bracketed(name): fields[name] for name in fields}
        return self.send(form.get("action"), held)

    def _ask(self, request: Request) -> Visitor:
        response: Response = self.world.fetch(request)
        for name, value in response.cookies.items():
            self.cookies.pop(name, None)
            if value is not None:
                self.cookies[name] = value
        if response.location is not None:
            return self.open(response.location)
        self.url, self.status, self.source = request.url.removeprefix(ORIGIN), response.status, response.text
        return self

    # ------------------------------------------------------------------ what is seen

    def all(self, selector: str) -> list[Any]:
        """All elements that match."""
        return html.document_fromstring(self.source).cssselect(selector)

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
