"""`Responding`: the embedded sites as a browser asks them, with the agent's cookies, and what they have answered."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from agentrl.envs.common.browser import Answer
from agentrl.envs.webarena.browsing.addresses import origin_of, without_fragment
from agentrl.envs.webarena.browsing.loading import MAX_REDIRECTS, Loader, Page, failed, unreachable
from agentrl.envs.webarena.sites.messages import Request, Response

_HTML = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
_MAX_PAGES = 50


class Responding:
    """Called by the gateway. Cookies are the loader's, not the browser's: they are saved with the episode."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self._pages: dict[str, Page] = {}  # what was answered last, by address
        self._stored: dict[str, Page] = {}  # what to answer once, in the place of the site
        self._redirects = 0  # in a row

    def store(self, page: Page) -> None:
        """Answer the next question for its address with this page: the user goes back to it."""
        self._stored[without_fragment(page.url)] = page

    def page(self, url: str) -> Page | None:
        """What the browser got from this address."""
        return self._pages.get(without_fragment(url))

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a request of the browser."""
        if headers.get("sec-fetch-dest") != "document":
            return self._part(method, url)
        stored = self._stored.pop(url, None)
        if stored is None:
            typed = headers.get("content-type", "").lower().startswith("application/x-www-form-urlencoded")
            form = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True) if typed else []
            cookies = self.loader.cookies.get(origin_of(url), {})
            response = self.loader.fetch(Request(method, url, tuple(form), cookies, b"" if typed else body))
            if response.location is not None and 300 <= response.status < 400:
                return self._redirect(url, response.location)
            stored = self.loader.page(url, response)
        self._redirects = 0
        return self._shown(stored)

    def _redirect(self, url: str, location: str) -> Answer:
        """Send the browser on, as often as without one."""
        self._redirects += 1
        if self._redirects > MAX_REDIRECTS:
            self._redirects = 0
            return self._shown(failed(url, "The page redirects too often."))
        return Answer(status=303, headers={"location": location, "cache-control": "no-store"})

    def refuse(self, url: str) -> Answer:
        """The page in the place of one that may not be opened."""
        return self._shown(unreachable(url))

    def _shown(self, page: Page) -> Answer:
        while len(self._pages) >= _MAX_PAGES:
            del self._pages[next(iter(self._pages))]
        self._pages[without_fragment(page.url)] = page
        return Answer(page.html.encode(), page.status, _HTML)

    def _part(self, method: str, url: str) -> Answer:
        """Style sheets and pictures. Asked for without cookies: they must not use up a message meant for a page."""
        if method != "GET" or urlsplit(url).path == "/favicon.ico":
            return Answer(status=404)
        response: Response = self.loader.world.fetch(Request("GET", url))
        body = response.body.encode() if isinstance(response.body, str) else response.body
        headers = {"content-type": response.content_type, "cache-control": response.cache_control}
        return Answer(body, response.status, headers)
