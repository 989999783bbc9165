"""`EmbeddedSites`: the sites of this package as an episode meets them; `LiveSites` is the same for real sites."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.backend import Backend, View
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.evaluators.evaluate import missing
from agentrl.envs.webarena.evaluators.pages import Seen
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.shop.base import cart_items
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.schema import WebTask


class EmbeddedSites:
    """The sites' data, and a browser on them: "dom", or "browser" for Chromium."""

    accounts = None  # evaluators know them

    def __init__(self, backend: str) -> None:
        self.world = World()
        if backend == "dom":
            self.backend: Backend = DomBackend(self.world)
        else:
            from agentrl.envs.webarena.browsing.browser import BrowserBackend  # an extra

            self.backend = BrowserBackend(self.world)
        self.forget()

    def start(self, task: WebTask) -> None:
        """All sites as they were, the agent logged in on those of the task, and its first pages open."""
        self.world.clear()
        self.backend.start(task.start_url.split(" |AND| "), cookies(task.sites))

    def forget(self) -> None:
        """What was looked up before belongs to another episode."""
        self._found: tuple[View, tuple[str, ...]] | None = None
        self._seen: tuple[Any, Seen] = (None, {})  # what was on the pages that the evaluator looks at, and when

    def missing(self, task: WebTask, dialect: str, at_end: tuple[str, ...]) -> tuple[str, ...]:
        """What the evaluator of a task still misses, nothing without one. Looked up once for every view; the pages it
        looks at are opened again only after something was written or a cookie has changed."""
        view = self.backend.view()
        if self._found is None or self._found[0] is not view:
            now = (self.world.writes, {origin: dict(jar) for origin, jar in self.backend.cookies.items()})
            if self._seen[0] != now:
                self._seen = (now, {})
            found = () if task.eval is None else tuple(missing(task, self.backend, dialect, seen=self._seen[1]))
            self._found = (view, found)
        return self._found[1]

    def cart(self) -> tuple[str, ...]:
        """What the agent has in the shopping cart: "2 x name"."""
        place = PLACES["shopping"]
        token = self.backend.cookies.get(place.origin, {}).get(place.site.cookie)
        if token is None:
            return ()
        db = self.world.database(place.data)
        session = db.row("SELECT id, user_id FROM session WHERE site = ? AND token = ?", place.site.name, token)
        if session is None:
            return ()
        return tuple(f"{item['qty']} x {item['name']}" for item in cart_items(db, session["user_id"], session["id"]))
