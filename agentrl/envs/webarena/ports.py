"""The sites for clients of others, which know them by ports: one for each site, and one for the start page.

Clients that name a key have a world of their own under it: in the header `X-Agentrl-World`, or in a cookie, which the
address `/.world?key=...` gives a browser. All others share one world. `/.reset`, or `/reset` of the start page's port,
undoes what the client's world has seen, `/status` tells BrowserGym that it is done.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from agentrl.core.errors import ConfigError
from agentrl.envs.common.visitors import Visitors
from agentrl.envs.webarena.sites import messages
from agentrl.envs.webarena.sites.places import Place, cookies
from agentrl.envs.webarena.sites.world import World

KEY, HEADER = "agentrl_world", "x-agentrl-world"
READY = "Ready for duty!"  # what BrowserGym waits for after a reset
_KEY = re.compile(r"[\w.-]{1,80}", re.ASCII)


class WorldsByKey:
    """Which site is asked, in which world, and the answer with the addresses that clients know."""

    def __init__(
        self, places: Mapping[str, Place], at: Mapping[str, str], start: str, visitors: Visitors[World], logged_in: bool
    ) -> None:
        if set(at) != set(places):
            raise ConfigError(f"every site needs an address: {', '.join(places)}; got {', '.join(at)}")
        self.places, self.start, self.logged_in = places, start, logged_in
        self.origins = {places[name].origin: url.rstrip("/") for name, url in at.items()}
        self.addresses = {name: url.rstrip("/") + urlsplit(places[name].url).path for name, url in at.items()}
        self._by_port = {urlsplit(url).port: name for name, url in at.items()}
        self._named = re.compile("(?:" + "|".join(map(re.escape, self.origins)) + r")(?![\w.:-])")
        self._visitors, self._names, self._shared = visitors, dict[str, str](), World()
        self._lock = threading.Lock()

    def site_at(self, server: tuple[str, int] | None) -> str | None:
        """The site that this port is for; None for the start page's."""
        return self._by_port.get(server[1]) if server else None

    def answer(self, request: Request, site: str | None) -> tuple[Response | None, World]:
        """What the paths answer that belong to no site, and the client's world."""
        path, asked = request.scope["path"], request.query_params
        if path == "/.world" and _KEY.fullmatch(asked.get("key", "")):
            return self._entered(asked["key"], asked.get("to", "/")), self._world(asked["key"])
        world = self._world(request.headers.get(HEADER) or request.cookies.get(KEY, ""))
        if path == "/.reset" or (site is None and path == "/reset"):
            world.clear()
            done = PlainTextResponse("reset\n")
            return (RedirectResponse("/", 303) if request.method == "POST" else done), world
        if site is None and path == "/status":
            return PlainTextResponse(READY), world
        return (None if site or path == "/" else PlainTextResponse("page not found\n", 404)), world

    def _entered(self, key: str, to: str) -> Response:
        """Send a browser on with the cookie of its world; every port of this host gets it. Logged in, where asked."""
        own = any(to.startswith((f"{address}/", f"{address}?")) or to == address for address in self.origins.values())
        response = RedirectResponse(to if own or re.match(r"/(?![/\\])", to) else "/", 303)
        response.set_cookie(KEY, key, httponly=True, samesite="lax")
        given = cookies(tuple(self.places)) if self.logged_in else {}
        for place in self.places.values():
            token = given.get(place.origin, {}).get(place.site.cookie)
            if token is None:
                response.delete_cookie(place.site.cookie)
            else:
                response.set_cookie(place.site.cookie, token, httponly=True, samesite="lax")
        return response

    def _world(self, key: str) -> World:
        """The world under a key, made where there is none."""
        if not _KEY.fullmatch(key):
            return self._shared
        with self._lock:
            world = self._visitors.find(self._names.get(key))
            if world is None:
                self._names = {known: name for known, name in self._names.items() if name in self._visitors}
                self._names[key], world = self._visitors.welcome(World)
            return world

    def passed_on(self, found: messages.Response, set_cookies: Callable[[Response], None]) -> Response:
        """A site's answer with the addresses of the ports in it."""
        body = self._named.sub(self._moved, found.body) if isinstance(found.body, str) else found.body
        response = Response(body, found.status, {"Cache-Control": found.cache_control}, media_type=found.content_type)
        if found.location is not None:
            response.headers["location"] = self._named.sub(self._moved, found.location)
        set_cookies(response)
        return response

    def _moved(self, found: re.Match[str]) -> str:
        return self.origins[found[0]]
