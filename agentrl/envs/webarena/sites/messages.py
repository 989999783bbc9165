"""A request and its response, as plain values: the same for a page asked for in process and over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

Fields = tuple[tuple[str, str], ...]  # of a form or a query, in order; names may come twice


@dataclass(frozen=True)
class Request:
    """What a browser sends. `url` is absolute; `form` holds the fields of a posted form, `body` anything else."""

    method: str
    url: str
    form: Fields = ()
    cookies: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case

    @cached_property
    def path(self) -> str:
        """The path, as it stands in the address."""
        return urlsplit(self.url).path or "/"

    @cached_property
    def origin(self) -> str:
        """Scheme, host and port: "http://shopping.localhost"."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @cached_property
    def query(self) -> Fields:
        """The fields behind the question mark."""
        return tuple(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))


@dataclass(frozen=True)
class Response:
    """What a site answers. `cookies` are set at the browser; None deletes one."""

    body: str | bytes = ""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    location: str | None = None  # of a redirect, which every browser follows by GET
    cookies: Mapping[str, str | None] = field(default_factory=dict)
    lasting: bool = False  # nothing that visitors do changes it: a browser may keep it

    @property
    def cache_control(self) -> str:
        """What browsers are told about keeping it."""
        return "max-age=3600" if self.lasting else "no-store"

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body if isinstance(self.body, str) else self.body.decode("utf-8", "replace")
