"""`World`: all sites of one episode, with their data as this episode has changed it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agentrl.core.cache import on_forget
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, Place, base_file

NOWHERE = Response("<!doctype html><title>No such site</title><p>This site cannot be reached.", 404)


class Recent:
    """The answers that were asked for last, shared by all threads of the process."""

    def __init__(self, most: int, largest: int) -> None:
        self._answers: OrderedDict[Any, Response] = OrderedDict()
        self._most, self._largest = most, largest
        self._lock = threading.Lock()

    def get(self, key: Any) -> Response | None:
        """The answer under this key, if it is kept."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def put(self, key: Any, answer: Response) -> None:
        """Keep an answer; those that nobody asked for longest make room."""
        if len(answer.body) <= self._largest:
            with self._lock:
                self._answers[key] = answer
                while len(self._answers) > self._most:
                    self._answers.popitem(last=False)

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._answers.clear()


_unchanged = Recent(most=500, largest=200_000)
on_forget.append(_unchanged.clear)


class World:
    """Answers every request of an episode. Databases are opened when they are first needed."""

    def __init__(self) -> None:
        self._databases: dict[str, Database] = {}
        self._lock = threading.RLock()  # an episode may be stepped from several threads, one after the other

    def fetch(self, request: Request) -> Response:
        """The answer of the site that the address belongs to; redirects are not followed."""
        place = place_of(request.url)
        if place is None:
            return NOWHERE
        with self._lock:
            database = self.database(place.data)
            if request.method != "GET" or request.headers or request.body or database.writes:
                return place.site.handle(request, database)
            # While nothing is changed, a page is the same in every episode of this process: it need not be made again.
            key = database.path, request.url, request.cookies.get(place.site.cookie)
            found = _unchanged.get(key)
            if found is None:
                found = place.site.handle(request, database)
                if not database.writes and found.status < 500:
                    _unchanged.put(key, found)
            return found

    def database(self, data: str) -> Database:
        """The data of that name ("store", "forum", "code", "map")."""
        with self._lock:
            if data not in self._databases:
                self._databases[data] = Database(base_file(data))
            return self._databases[data]

    @property
    def writes(self) -> int:
        """How often anything was written: two moments with the same number have the same data."""
        return sum(database.writes for database in self._databases.values())

    def changes(self) -> dict[str, Any]:
        """Every row that the episode has changed: data -> table -> id -> row, None where it was deleted."""
        return {name: database.changes for name, database in self._databases.items() if database.changes}

    def clear(self) -> None:
        """Back to the base data."""
        with self._lock:
            for database in self._databases.values():
                database.clear()

    def save(self) -> dict[str, Any]:
        """All changes, as values that msgpack can write."""
        with self._lock:
            return {name: database.save() for name, database in self._databases.items() if database.writes}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Replace all changes by saved ones; ValueError if they do not fit."""
        with self._lock:
            self.clear()
            for name, changes in saved.items():
                if name not in {place.data for place in PLACES.values()}:
                    raise ValueError(f"there is no data {name!r}")
                self.database(name).load(changes)

    def close(self) -> None:
        """Close all connections; what was changed is lost."""
        with self._lock:
            for database in self._databases.values():
                database.close()
            self._databases.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {"saved": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        World.__init__(self)
        self.load(state["saved"])


def place_of(url: str) -> Place | None:
    """The site that answers an address."""
    try:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return None
    return next((place for place in PLACES.values() if place.origin == origin), None)
