"""The sites for a person with a browser: all of them on one loopback port, told apart by their host names.

`http://map.localhost:8000/` is answered by the same site as `http://map.localhost/` in an episode, with the same bytes.
The one difference: attributes with an absolute address of a site, and redirects to one, get the port, since a link from
one site to another would lead nowhere without it. On port 80 nothing differs.

Every visitor has a world of its own. A host cannot see the cookies of another, so that a browser which is new to a host
is sent to the start page's address, which knows the visitor, and back with the visitor's name; there it gets the cookie
of that visitor, and the one of an account that is logged in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, MissingExtra, did_you_mean
from agentrl.envs.common.visitors import NoRoom, Visitors
from agentrl.envs.webarena.ports import KEY, WorldsByKey
from agentrl.envs.webarena.sites import messages
from agentrl.envs.webarena.sites.home.site import ABOUT
from agentrl.envs.webarena.sites.places import PLACES, Place, base_file, cookies
from agentrl.envs.webarena.sites.site import static
from agentrl.envs.webarena.sites.world import World

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import PlainTextResponse, RedirectResponse, Response
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "web") from error

COOKIE = "agentrl_visitor"
ENTRANCE = "/.visitor"  # the one path that no site answers: it gives a browser the visitor's cookie
MAX_FORM = 8 << 20  # bytes; sites take fields of a megabyte
MAX_FIELDS = 1_000  # of a form
FORM_TYPE = "application/x-www-form-urlencoded"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
STYLE = """main { padding: 32px 40px; width: 1000px; } h1 { padding: 0 0 8px 0; } p { padding: 0 0 16px 0; }
.card { border: 1px solid #c9ced6; padding: 14px 18px; margin: 0 0 12px 0; display: flex; gap: 24px; }
.card h2 { width: 260px; } .about { flex: 1; } .account { width: 300px; color: #66707c; font-size: 13px; }"""


def start_page(
    places: Mapping[str, Place],
    port: int | None,
    changes: Mapping[str, Any],
    addresses: Mapping[str, str] | None = None,
) -> str:
    """The HTML. `changes` is what the visitor has changed: data -> table -> rows; `addresses` are those of the sites,
    where they have ports of their own."""
    cards = ""
    for name, place in places.items():
        title, about = ABOUT[name]
        parts, account = urlsplit(place.url), place.account
        address = f"http://{parts.hostname}{f':{port}' if port else ''}{parts.path or '/'}"
        address = address if addresses is None else addresses[name]
        who = f"{escape(account.name)}<br>password {escape(account.password)}" if account else "no account is needed"
        cards += (
            f'<div class="card"><h2><a href="{escape(address)}">{escape(title)}</a></h2>'
            f'<div class="about">{escape(about)}<br>{escape(address)}</div><div class="account">{who}</div></div>\n'
        )
    rows = sum(len(table) for tables in changes.values() for table in tables.values())
    changed = "nothing" if not rows else "1 record" if rows == 1 else f"{rows} records"
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Web sites</title>'
        f'<link rel="stylesheet" href="/static/base.css"><style>{STYLE}</style></head>\n<body data-page="start">\n'
        "<main>\n<h1>Web sites</h1>\n<p>These are the sites that agents work on. What you change, only you see; you "
        f"are logged in everywhere.</p>\n{cards}"
        f'<form method="post" action="/reset"><p>You have changed {changed} so far.</p>'
        '<button type="submit">Reset everything</button></form>\n</main>\n</body>\n</html>\n'
    )


class WebSites:
    """The application; `app` is what an ASGI server runs."""

    def __init__(self, names: tuple[str, ...], most: int, idle: float, logged_in: bool = True) -> None:
        self.logged_in = logged_in
        self.places = {name: PLACES[name] for name in names}
        for data in {place.data for place in self.places.values()}:
            base_file(data)  # built before the first visitor comes
        self._by_host = {urlsplit(place.url).hostname: name for name, place in self.places.items()}
        origins = "|".join(re.escape(place.origin) for place in self.places.values())
        self._addresses = re.compile(rf'\s(?:href|src|action)="(?:{origins})(?=[/"?#])')
        self.visitors = Visitors[World](most, idle)
        self.facts: dict[str, Any] = {"sites": {name: place.url for name, place in self.places.items()}}
        self.parts = tuple(self.places)  # what may have a port of its own
        self._ports: WorldsByKey | None = None

    def at_ports(self, addresses: Mapping[str, str], start: str) -> None:
        """Answer under these addresses from now on, one for each site, and the start page under its own."""
        self._ports = WorldsByKey(self.places, addresses, start, self.visitors, self.logged_in)
        self.facts = {"sites": self._ports.addresses, "start": start}

    @property
    def summary(self) -> str:
        """What is served, in a few words."""
        return f"{len(self.places)} web sites"

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, whichever site it is for."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        host = _Host.of(request)
        if self._ports is not None:
            response = await self._at_port(request, host, self._ports)
            own = " ".join(("'self'", *self._ports.origins.values()))
        else:
            response = await self._answer(request, host)
            own = f"'self' http://*.localhost{host.suffix} {_start_url(request)}"
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; font-src 'self'; "
            f"form-action {own}; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers.setdefault("Cache-Control", "no-store")
        await response(scope, receive, send)

    async def _answer(self, request: Request, host: _Host) -> Response:
        if request.method not in METHODS:
            return PlainTextResponse("this method is not known here\n", 405)
        path, name = request.scope["path"], self._by_host.get(host.name)
        if path.startswith("/static/"):  # the same for everybody
            folder = self.places[name or next(iter(self.places))].site.folder
            found = static(folder, path.removeprefix("/static/"))
            return _passed_on(found, found.body)
        if name is None:
            return await self._at_start(request, host)
        if path == ENTRANCE:
            return self._let_in(request, name)
        world = self.visitors.find(request.cookies.get(COOKIE))
        if world is None:
            back = _target(request) if request.method == "GET" else urlsplit(PLACES[name].url).path
            return RedirectResponse(f"{_start_url(request)}/enter?site={name}&to={quote(back, safe='')}", 303)
        return await self._from_site(request, host, self.places[name], world)

    async def _at_port(self, request: Request, host: _Host, ports: WorldsByKey) -> Response:
        """The same where every site has a port of its own, which says which one is asked."""
        path, name = request.scope["path"], ports.site_at(request.scope.get("server"))
        if request.method not in METHODS:
            return PlainTextResponse("this method is not known here\n", 405)
        if path.startswith("/static/"):
            found = static(self.places[name or self.parts[0]].site.folder, path.removeprefix("/static/"))
            return _passed_on(found, found.body)
        try:
            special, world = await run_in_threadpool(ports.answer, request, name)
        except NoRoom:
            return PlainTextResponse("All places are taken at the moment. Try again in some minutes.\n", 503)
        if special is not None or name is None:
            page = start_page(self.places, host.port, world.changes(), ports.addresses)
            return special or Response(page, media_type="text/html")
        return await self._from_site(request, host, self.places[name], world)

    async def _at_start(self, request: Request, host: _Host) -> Response:
        """Requests for no site: the start page, the way to a site, and its button."""
        visitor = request.cookies.get(COOKIE)
        match request.scope["path"]:
            case "/":
                world = self.visitors.find(visitor)
                changed = {} if world is None else await run_in_threadpool(world.changes)
                page = start_page(self.places, host.port, changed)
                return Response(page, media_type="text/html")
            case "/enter":
                return await self._enter(request, host, visitor)
            case "/reset" if request.method == "POST":
                await run_in_threadpool(self.visitors.forget, visitor)
                response = RedirectResponse("/", 303)
                response.delete_cookie(COOKIE)
                return response
            case _:
                return PlainTextResponse("page not found\n", 404)

    async def _enter(self, request: Request, host: _Host, visitor: str | None) -> Response:
        """Send a browser back to the site it came from, with the name of its visitor; a new one if it has none."""
        place = self.places.get(request.query_params.get("site", ""))
        if place is None:
            return PlainTextResponse("site not found\n", 404)
        name = visitor if self.visitors.find(visitor) is not None else None
        if name is None:
            try:
                name, _ = await run_in_threadpool(self.visitors.welcome, World)
            except NoRoom:
                return PlainTextResponse("All places are taken at the moment. Try again in some minutes.\n", 503)
        fields = urlencode({"name": name, "to": request.query_params.get("to", "/")})
        response = RedirectResponse(f"{place.origin}{host.suffix}{ENTRANCE}?{fields}", 303)
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax")
        return response

    def _let_in(self, request: Request, site: str) -> Response:
        """Give a browser the visitor's cookie for this host, and that of the account which is logged in."""
        name, path = request.query_params.get("name", ""), request.query_params.get("to", "/")
        if name not in self.visitors:
            return RedirectResponse(_start_url(request), 303)
        response = RedirectResponse(path if re.match(r"/(?![/\\])", path) else "/", 303)
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax")
        place = self.places[site]
        account = cookies((site,)).get(place.origin, {}) if self.logged_in else {}
        _set_cookies(response, {place.site.cookie: None} | account)
        return response

    async def _from_site(self, request: Request, host: _Host, place: Place, world: World) -> Response:
        body = await _body(request)
        if body is None:
            return PlainTextResponse("this form is too large\n", 413)
        is_form = request.headers.get("content-type", "").split(";")[0].strip().lower() == FORM_TYPE
        try:  # in a thread: others are answered meanwhile
            fields = await run_in_threadpool(_fields, body) if is_form else ()
        except ValueError:
            return PlainTextResponse("this form has too many fields\n", 413)
        asked = messages.Request(
            "GET" if request.method == "HEAD" else request.method,
            place.origin + _target(request),
            fields,
            {name: value for name, value in request.cookies.items() if name not in (COOKIE, KEY)},
            b"" if is_form else body,
            {name.lower(): value for name, value in request.headers.items()},
        )
        found = await run_in_threadpool(world.fetch, asked)
        if self._ports is not None:
            return self._ports.passed_on(found, partial(_set_cookies, values=found.cookies))
        response = _passed_on(found, self.linked(found.body, host.suffix))
        if found.location is not None:
            origins = (known.origin for known in self.places.values())
            here = (known for known in origins if re.match(rf"{re.escape(known)}(?:[/?#]|$)", found.location))
            origin = next(here, "")
            port = host.suffix if origin else ""
            response.headers["location"] = f"{origin}{port}{found.location.removeprefix(origin)}"
        _set_cookies(response, found.cookies)
        return response

    def linked(self, body: str | bytes, port: str) -> str | bytes:
        """A page whose links to sites lead to this port (":8000")."""
        return self._addresses.sub(rf"\g<0>{port}", body) if port and isinstance(body, str) else body


def make_site(
    *,
    sites: tuple[str, ...] = tuple(PLACES),
    max_sessions: int = 100,
    idle_minutes: float = 30.0,
    logged_in: bool = True,
    **unknown: Any,
) -> WebSites:
    """The sites of these names (default: all), for at most `max_sessions` visitors at a time, who are `logged_in`."""
    if unknown:
        known = "sites, max_sessions, idle_minutes and logged_in"
        raise ConfigError(f"the sites take {known}; got {', '.join(sorted(unknown))}")
    if isinstance(sites, str) or not sites:
        raise ConfigError(f"sites must be a list with some of {', '.join(PLACES)}; got {sites!r}")
    for name in sites:
        if name not in PLACES:
            raise ConfigError(f"there is no site {name!r}.{did_you_mean(str(name), PLACES)}")
    most = whole_number("max_sessions", max_sessions, at_least=1)
    return WebSites(tuple(sites), most, 60 * positive_number("idle_minutes", idle_minutes), bool(logged_in))


class _Host(NamedTuple):
    """What the browser calls this machine."""

    name: str
    port: int | None

    @classmethod
    def of(cls, request: Request) -> _Host:
        """Out of the Host header."""
        host = request.headers.get("host", "").lower()
        found = re.fullmatch(r"(\[[0-9a-f:.]*\]|[a-z0-9.-]*)(?::([0-9]{1,5}))?", host)
        return cls("", None) if found is None else cls(found[1], int(found[2]) if found[2] else None)

    @property
    def suffix(self) -> str:
        """What follows the name of a host in addresses."""
        return f":{self.port}" if self.port not in (None, 80) else ""


def _passed_on(found: messages.Response, body: str | bytes) -> Response:
    headers = {"Cache-Control": found.cache_control}
    return Response(body, found.status, headers, media_type=found.content_type)


def _start_url(request: Request) -> str:
    """Where the start page is: the address that the server listens on."""
    host, port = request.scope.get("server") or ("127.0.0.1", 80)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _target(request: Request) -> str:
    """Path and query as the browser sent them."""
    path = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    query = request.scope.get("query_string", b"")
    return (path.split(b"?")[0] + (b"?" + query if query else b"")).decode("latin-1")


def _set_cookies(response: Response, values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            response.delete_cookie(name)
        else:
            response.set_cookie(name, value, httponly=True, samesite="lax")


def _fields(body: bytes) -> messages.Fields:
    """What a form holds; `ValueError` for one with too many fields."""
    return tuple(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS))


async def _body(request: Request) -> bytes | None:
    """What was posted; None where it is too large."""
    pieces, size = list[bytes](), 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > MAX_FORM:
                return None
            pieces.append(piece)
    except ClientDisconnect:
        return b""
    return b"".join(pieces)
