"""Addresses as a browser reads them: relative links, missing schemes, characters that must be escaped."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

BLANK = "about:blank"
_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")
_KEPT = "!#$%&'()*+,/:;=?@[]~"  # everything else is escaped


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


_REFUSED = {"javascript", "data", "file", "mailto", "tel", "blob", "vbscript", "ftp", "chrome", "view-source"}


def resolve(base: str, link: str) -> str:
    """The absolute address of a link on a page."""
    link = re.sub(r"[\t\r\n]", "", link).strip()
    scheme = scheme_of(link)
    if link.lower().startswith(BLANK):
        return BLANK
    if scheme and scheme not in ("http", "https"):
        raise BadAddress(f"addresses that begin with {scheme[:20]}: cannot be opened")
    try:
        return _normal(urljoin(base, link))
    except ValueError as error:
        raise BadAddress(f"{link[:80]!r} is not an address") from error


def _normal(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no host")
    if parts.port is not None and not 0 <= parts.port < 65536:
        raise ValueError("bad port")
    path = urljoin("/", parts.path or "/")  # resolves dots, which urljoin leaves in absolute addresses
    if not path.startswith("/"):
        path = "/" + path
    host = parts.netloc.rpartition("@")[2].lower().removesuffix(":80" if parts.scheme == "http" else ":443")
    return urlunsplit((parts.scheme, _escape(host), _escape(path), _escape(parts.query), _escape(parts.fragment)))


def _escape(text: str) -> str:
    return quote(text, safe=_KEPT, errors="replace")


def without_fragment(url: str) -> str:
    """The address up to the number sign."""
    return url.partition("#")[0]


def origin_of(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
