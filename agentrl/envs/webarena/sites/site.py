"""`Site`: routes from addresses to functions that answer, templates, accounts and messages; nothing of any one site."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, TypeVar

from agentrl.core.errors import MissingExtra
from agentrl.envs.webarena.layout.text import font_file
from agentrl.envs.webarena.sites.calendar import CALENDAR, month_page
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Request, Response

try:
    import jinja2
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("jinja2", "web") from error

PACKAGE = "agentrl.envs.webarena.sites"
# Every base file has this table. `message` is shown once on the next page.
SESSION_TABLE = """CREATE TABLE session (
    id INTEGER PRIMARY KEY, site TEXT NOT NULL, token TEXT NOT NULL, user_id INTEGER, message TEXT NOT NULL DEFAULT ''
);
CREATE INDEX session_token ON session (site, token);"""
FONT = "site.ttf"
Found = TypeVar("Found")
STATIC_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".ttf": "font/ttf",
}


class NotFound(Exception):
    """There is no such page."""


class Forbidden(Exception):
    """The visitor may not see this page or do this."""


class LoginNeeded(Exception):
    """The page is for members; the browser is sent to the login page."""


def existing(found: Found | None) -> Found:
    """What was looked up for a page; `NotFound` where there is none."""
    if found is None:
        raise NotFound
    return found


Handler = Callable[["Context"], Response]


@dataclass(frozen=True)
class Route:
    """Requests with this method whose path matches this pattern go to this function."""

    method: str
    pattern: re.Pattern[str]
    handler: Handler


@dataclass
class Context:
    """One request on its way: what was asked, by whom, and the means to answer."""

    site: Site
    request: Request
    db: Database
    params: dict[str, str] = field(default_factory=dict)  # parts of the path
    session: sqlite3.Row | None = None
    _cookies: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        token = self.request.cookies.get(self.site.cookie)
        if token:
            self.session = self.db.row("SELECT * FROM session WHERE site = ? AND token = ?", self.site.name, token)

    # ------------------------------------------------------------------ what was asked

    def query(self, name: str, default: str = "") -> str:
        """The last field of that name behind the question mark."""
        return dict(self.request.query).get(name, default)

    def form(self, name: str, default: str = "") -> str:
        """The last field of that name in the posted form."""
        return dict(self.request.form).get(name, default)

    def forms(self, name: str) -> list[str]:
        """All fields of that name in the posted form."""
        return [value for key, value in self.request.form if key == name]

    def number(self, text: str, default: int = 0, most: int = 10**9) -> int:
        """A whole number out of hostile text, between 0 and `most`."""
        return min(int(text), most) if re.fullmatch(r"[0-9]{1,12}", text.strip()) else default

    def record(self, table: str, name: str = "id", **values: Any) -> sqlite3.Row:
        """The row whose id is this part of the path, which must have these values; `NotFound` without one."""
        row = existing(self.db.get(table, self.number(self.params[name])))
        if any(row[column] != value for column, value in values.items()):
            raise NotFound
        return row

    # ------------------------------------------------------------------ who asks

    @property
    def user(self) -> sqlite3.Row | None:
        """The account that is logged in."""
        if self.session is None or self.session["user_id"] is None:
            return None
        return self.db.get(self.site.user_table, self.session["user_id"])

    @property
    def member(self) -> sqlite3.Row:
        """The account that is logged in; `LoginNeeded` without one."""
        user = self.user
        if user is None:
            raise LoginNeeded
        return user

    def visit(self) -> sqlite3.Row:
        """The visitor's session, made where there is none yet (a guest who fills a cart needs one)."""
        if self.session is None:
            count = self.db.value("SELECT count(*) FROM session") + 1
            token = session_token(self.site.name, f"visit-{count}")
            row_id = self.db.insert("session", site=self.site.name, token=token, user_id=None, message="")
            self._cookies[self.site.cookie] = token
            self.session = self.db.get("session", row_id)
        assert self.session is not None
        return self.session

    def log_in(self, user_id: int) -> None:
        """From now on the visitor is this user. What belongs to the session stays."""
        self._set_session(user_id=user_id)

    def log_out(self) -> None:
        """The visitor is a guest again."""
        self.session = None
        self._cookies[self.site.cookie] = None

    def _set_session(self, **values: Any) -> None:
        row_id = self.visit()["id"]
        self.db.update("session", row_id, **values)
        self.session = self.db.get("session", row_id)

    # ------------------------------------------------------------------ answers

    def page(self, template: str, /, *, status: int = 200, **values: Any) -> Response:
        """A page of the site. Templates also see `context`, `user`, `site`, `message` and what `Site.shared` gives."""
        message = self.session["message"] if self.session is not None else ""
        if message:
            self._set_session(message="")
        shared = self.site.shared(self)
        body = self.site.template(template).render(
            {"context": self, "site": self.site, "user": self.user, "message": message, **shared, **values}
        )
        return Response(body, status, cookies=self._cookies)

    def redirect(self, location: str, message: str = "") -> Response:
        """Send the browser to another page; `message` is shown there once ("error: ..." in red)."""
        if message:
            self._set_session(message=message)
        return Response(status=302, location=location, cookies=self._cookies)

    def json(self, text: str, status: int = 200) -> Response:
        """A JSON document."""
        return Response(text, status, "application/json", cookies=self._cookies)


class Site:
    """A web site. A subclass or an instance adds routes with `get` and `post`; `{name}` in a path matches one part of
    it, `{name:path}` any number of parts. More special routes come first."""

    user_table = "user"
    login_path = "/login"

    def __init__(self, name: str, folder: str, cookie: str, *, user_table: str = "user", login_path: str = "/login"):
        self.name, self.folder, self.cookie = name, folder, cookie
        self.user_table, self.login_path = user_table, login_path
        self.routes: list[Route] = []

    def get(self, *paths: str) -> Callable[[Handler], Handler]:
        """Register a function for GET requests of these paths."""
        return self._register("GET", paths)

    def post(self, *paths: str) -> Callable[[Handler], Handler]:
        """Register a function for POST requests of these paths."""
        return self._register("POST", paths)

    def _register(self, method: str, paths: tuple[str, ...]) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self.routes.extend(Route(method, path_pattern(path), handler) for path in paths)
            return handler

        return register

    def shared(self, context: Context) -> Mapping[str, Any]:
        """What every template of the site sees; override or replace it."""
        return {}

    def handle(self, request: Request, db: Database) -> Response:
        """Answer a request. An exception of a page becomes a page with status 500, and its changes are undone."""
        if request.method == "GET" and request.path.startswith("/static/"):
            return static(self.folder, request.path.removeprefix("/static/"))
        try:
            with db.atomic():
                if request.method == "GET" and request.path == CALENDAR:
                    return month_page(Context(self, request, db))
                for route in self.routes:
                    if route.method == request.method and (found := route.pattern.fullmatch(request.path)):
                        return route.handler(Context(self, request, db, found.groupdict()))
                raise NotFound
        except LoginNeeded:
            return Response(status=302, location=self.login_path)
        except NotFound:
            return self._error(request, db, 404, "Page not found")
        except Forbidden:
            return self._error(request, db, 403, "You are not allowed to do this")
        except Exception as error:
            return self._error(request, db, 500, f"Something went wrong ({type(error).__name__})")

    def _error(self, request: Request, db: Database, status: int, text: str) -> Response:
        return Context(self, request, db).page("error.html", status=status, text=text)

    def template(self, name: str) -> jinja2.Template:
        """A compiled template of the site's folder, or one that all sites share."""
        return _templates(self.folder).get_template(name)


def path_pattern(path: str) -> re.Pattern[str]:
    """The regular expression of a route; a slash at the end is optional."""
    parts = re.split(r"\{(\w+)(:path)?\}", path.rstrip("/"))
    pattern = re.escape(parts[0])
    for name, deep, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        pattern += f"(?P<{name}>{'.+?' if deep else '[^/]+'})" + re.escape(text)
    return re.compile(pattern + "/?")


def session_token(site: str, key: str) -> str:
    """The secret of a session; the same in every process. Base data holds sessions with the key of the account."""
    return blake2b(f"{site}|{key}".encode(), digest_size=12).hexdigest()


@cache
def _templates(folder: str) -> jinja2.Environment:
    loaders = [jinja2.PackageLoader(f"{PACKAGE}.{folder}"), jinja2.PackageLoader(PACKAGE)]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


@lru_cache(256)  # names come from visitors
def static(folder: str, name: str) -> Response:
    """A file of a site's `static` folder, or of the one that all sites share."""
    if name == FONT:
        return Response(font_file(), content_type=STATIC_TYPES[".ttf"], lasting=True)
    suffix = name[name.rfind(".") :]
    if suffix in STATIC_TYPES and re.fullmatch(r"[\w-]+\.\w+", name):
        for package in (f"{PACKAGE}.{folder}", PACKAGE):
            found = files(package).joinpath("static", name)
            if found.is_file():
                return Response(found.read_bytes(), content_type=STATIC_TYPES[suffix], lasting=True)
    return Response("not found", 404, "text/plain; charset=utf-8")
