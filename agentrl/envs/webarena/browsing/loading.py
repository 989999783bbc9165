"""Loading pages: addresses as a browser reads them, requests to the sites with the cookies of their origin, redirects,
style sheets."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Annotated, Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit
from zlib import compress, decompress, decompressobj

import msgspec

from agentrl.core.cache import on_forget
from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.browsing.behaviours import LATE, apply, arrived
from agentrl.envs.webarena.layout.document import Document, document, whole
from agentrl.envs.webarena.sites.messages import Fields, Request, Response
from agentrl.envs.webarena.sites.world import World, place_of

BLANK = "about:blank"
_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")
_KEPT = "!#$%&'()*+,/:;=?@[]~"  # everything else is escaped
_escape = partial(quote, safe=_KEPT, errors="replace")
_REFUSED = {"javascript", "data", "file", "mailto", "tel", "blob", "vbscript", "ftp", "chrome", "view-source"}
MAX_REDIRECTS = 10
MAX_PAGE = 20_000_000  # bytes of a page in a snapshot
_EMPTY = "<!doctype html><html><head></head><body></body></html>"
_COMPRESSED_FROM = 4_096  # characters
MAX_SHEETS = 100  # kept in memory
_sheet_texts: dict[str, str] = {}
on_forget.append(_sheet_texts.clear)


class BadAddress(ValueError):
    """Nothing that a browser could open; the message says why."""


def scheme_of(url: str) -> str:
    """The part before the colon, in lower case; empty for a relative address."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def typed(text: str) -> str:
    """The address that a user means who types this into the address bar."""
    text = text.strip()
    if not text:
        raise BadAddress("the address is empty")
    if scheme_of(text) in ("http", "https", "about") and "//" not in text[:9] and not text.lower().startswith("about:"):
        raise BadAddress(f"{text[:80]!r} is not an address")
    # "forum.localhost/f/books" and "localhost:8000" have no scheme.
    if "://" not in text and not text.lower().startswith("about:") and scheme_of(text) not in _REFUSED:
        text = f"http://{text}"
    return resolve(BLANK, text)


def resolve(base: str, link: str) -> str:
    """The absolute address of a link on a page."""
    link = re.sub(r"[\t\r\n]", "", link).strip()
    scheme = scheme_of(link)
    if link.lower().startswith(BLANK):
        return BLANK
    if scheme and scheme not in ("http", "https"):
        raise BadAddress(f"addresses that begin with {scheme[:20]}: cannot be opened")
    try:
        parts = urlsplit(urljoin(base, link))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("no host")
        if parts.port is not None and not 0 <= parts.port < 65536:
            raise ValueError("bad port")
        path = urljoin("/", parts.path or "/")  # resolves dots, which urljoin leaves in absolute addresses
        if not path.startswith("/"):
            path = "/" + path
        host = parts.netloc.rpartition("@")[2].lower().removesuffix(":80" if parts.scheme == "http" else ":443")
        return urlunsplit((parts.scheme, *map(_escape, (host, path, parts.query, parts.fragment))))
    except ValueError as error:
        raise BadAddress(f"{link[:80]!r} is not an address") from error


def without_fragment(url: str) -> str:
    """The address up to the number sign."""
    return url.partition("#")[0]


def origin_of(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


class SavedPage(msgspec.Struct, forbid_unknown_fields=True):
    """A `Page` in a snapshot; `sheets` are the numbers of its style sheets there."""

    url: str
    text: Any  # a text, or bytes where it is compressed
    status: Annotated[int, msgspec.Meta(ge=100, le=599)]
    error: str
    sheets: list[Annotated[int, msgspec.Meta(ge=0)]]


class Page:
    """An answer as it was received; nothing in it ever changes."""

    def __init__(self, url: str, text: str | bytes, status: int, sheets: tuple[str, ...], error: str = "") -> None:
        self.url, self.status, self.sheets, self.error = url, status, sheets, error
        self._text = text  # bytes: as `save` packed it

    @cached_property
    def html(self) -> str:
        """The text of the page."""
        return decompress(self._text).decode() if isinstance(self._text, bytes) else self._text

    @cached_property
    def packed(self) -> str | bytes:
        """The text, compressed if it is long."""
        if isinstance(self._text, bytes) or len(self._text) < _COMPRESSED_FROM:
            return self._text
        return compress(self._text.encode(), 1)

    def edited(self, html: str) -> Page:
        """The page with another text: as its behaviours have left it."""
        return Page(self.url, html, self.status, self.sheets, self.error)

    @cached_property
    def title(self) -> str:
        """What the tab is called."""
        return document(self.html).title

    def save(self, sheets: dict[str, int]) -> dict[str, Any]:
        """All of it, as values that msgpack can write; style sheets are numbered by `sheets`."""
        numbers = [sheets.setdefault(sheet, len(sheets)) for sheet in self.sheets]
        return {"url": self.url, "text": self.packed, "status": self.status, "error": self.error, "sheets": numbers}

    @classmethod
    def load(cls, saved: SavedPage, sheets: Sequence[str]) -> Page:
        """Inverse of `save`; an error of any type for what no site answers."""
        if saved.url != BLANK:
            resolve(BLANK, saved.url)
        if not isinstance(saved.text, str):
            unpacking = decompressobj()
            unpacking.decompress(saved.text, MAX_PAGE).decode()
            if not unpacking.eof:
                raise ValueError("a page is too long, or not whole")
        return cls(saved.url, saved.text, saved.status, tuple(sheets[number] for number in saved.sheets), saved.error)


def blank() -> Page:
    """The page of a new tab."""
    return Page(BLANK, _EMPTY, 200, ())


class Loader:
    """Asks sites for pages. `cookies`: origin -> name -> value."""

    def __init__(self, world: World, cookies: dict[str, dict[str, str]] | None = None) -> None:
        self.world, self.cookies = world, {} if cookies is None else cookies

    def load(self, url: str, method: str = "GET", fields: Fields = ()) -> Page:
        """The page under an absolute address, redirects followed."""
        if url == BLANK:
            return blank()
        for _ in range(MAX_REDIRECTS + 1):
            if place_of(url) is None:
                return unreachable(url)
            response = self.fetch(Request(method, url, fields, self.cookies.get(origin_of(url), {})))
            if response.location is None or not 300 <= response.status < 400:
                return self.page(url, response)
            try:
                target = resolve(url, response.location)
            except BadAddress:
                return failed(url, "The page leads to an address that cannot be opened.")
            # A fragment is not sent; it stays unless the new address has one of its own.
            _, mark, fragment = url.partition("#")
            url = target if "#" in target or not mark else f"{target}#{fragment}"
            method, fields = "GET", ()
        return failed(url, "The page redirects too often.")

    def part(self, base: str, link: str) -> Document | None:
        """A page of the same site, of which another page takes a part; None where there is none."""
        address = resolved(base, link)
        if origin_of(address) != origin_of(base):
            return None
        page = self.load(address)
        return document(page.html) if page.status < 400 else None

    def whole_page(self, page: Page) -> Page:
        """The page with all that was to come later."""
        if LATE not in page.html:
            return page
        read = document(page.html)
        edits = arrived(read, lambda link: self.part(page.url, link))
        return page.edited(apply(read, edits)[0]) if edits else page

    def fetch(self, request: Request) -> Response:
        """One answer of a site, whose cookies are kept."""
        try:
            response = self.world.fetch(request)
        except EnvFault:
            raise
        except Exception as error:
            raise EnvFault(f"{request.url} did not answer: {type(error).__name__}: {error}") from error
        jar = self.cookies.setdefault(origin_of(request.url), {}) if response.cookies else {}
        for name, value in response.cookies.items():
            if value is None:
                jar.pop(name, None)
            else:
                jar[name] = value
        return response

    def page(self, url: str, response: Response) -> Page:
        """An answer as a page; what is no HTML is shown as text."""
        if not response.content_type.lower().startswith(("text/html", "application/xhtml")):
            name = markup.escape(urlsplit(url).path.rpartition("/")[2])
            kind = response.content_type.partition(";")[0].strip().lower()
            if kind.startswith(("text/", "application/json", "application/xml")):
                shown = markup.escape(whole(response.text))
            else:
                shown = f"({markup.escape(kind)}, {len(response.body)} bytes)"
            return Page(url, _plain(name, f'<pre style="font: inherit">{shown}</pre>'), response.status, ())
        text = whole(response.text)
        page = document(text)
        base = resolved(url, page.base) or url
        sheets = []
        for kind, value in page.sheets():
            if kind == "text":
                sheets.append(value)
            elif address := resolved(base, value):
                sheets.append(self._sheet(address))
        return Page(url, text, response.status, tuple(sheets))

    def _sheet(self, url: str) -> str:
        """A style sheet. Those of the sites are files, the same in every episode, and are asked for once."""
        found = _sheet_texts.get(url)
        if found is None:
            if place_of(url) is None:
                return ""
            response = self.fetch(Request("GET", url))
            found = response.text if response.status == 200 and response.content_type.startswith("text/css") else ""
            if urlsplit(url).path.startswith("/static/") and len(_sheet_texts) < MAX_SHEETS:
                _sheet_texts[url] = found
        return found


def resolved(base: str, link: str) -> str:
    """The absolute address of a link; empty if it has none."""
    try:
        return resolve(base, link) if link else ""
    except BadAddress:
        return ""


def unreachable(url: str) -> Page:
    """The page in the place of one on a site that is not there."""
    host = urlsplit(url).netloc
    return failed(url, f"The site {host} cannot be reached.")


def failed(url: str, reason: str) -> Page:
    """The page in the place of one that cannot be shown."""
    text = markup.escape(reason[:300])
    return Page(url, _plain(text, f"<p>{text}</p>"), 404, (), reason[:300])


def _plain(title: str, contents: str) -> str:
    """A page of our own. Its lines are as high without a browser as in one, whose fonts would differ."""
    style = "line-height: 20px"
    return f'<!doctype html><html><head><title>{title}</title></head><body style="{style}">{contents}</body></html>'
