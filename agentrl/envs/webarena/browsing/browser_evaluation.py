"""`BrowserEvaluationPage`: the page on which evaluators look around, in Chromium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from agentrl.core.errors import EnvFault
from agentrl.envs.common.browser import BrowserTab
from agentrl.envs.webarena.browsing.addresses import BadAddress, typed
from agentrl.envs.webarena.browsing.evaluation import DomEvaluationPage
from agentrl.envs.webarena.browsing.loading import Loader
from agentrl.envs.webarena.browsing.tab import Entry

if TYPE_CHECKING:
    from agentrl.envs.webarena.browsing.browser import BrowserBackend

CONTENT = "'<!DOCTYPE html>' + document.documentElement.outerHTML"


class BrowserEvaluationPage:
    """A page beside those of the agent. All evaluations of an episode share one page of the browser, which shows what
    it is asked about; cookies that it gets stay with it."""

    def __init__(self, backend: BrowserBackend, entry: Entry, cookies: dict[str, dict[str, str]]) -> None:
        self._backend, self._cookies = backend, cookies
        self._entry = entry  # shown when somebody looks

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._entry.url

    def goto(self, url: str) -> None:
        """Open an address; `EnvFault` where no site answers under it."""
        try:
            address = typed(url)
        except BadAddress as error:
            raise EnvFault(f"{url!r} cannot be opened: {error}") from error
        self._entry = self._backend.visited(address, self._cookies)

    def content(self) -> str:
        """The HTML of the page: attributes as they are in the page, not what fields hold."""
        return self._backend.evaluated(CONTENT, self._entry)

    def evaluate(self, expression: str) -> str:
        """What a JavaScript expression gives, as text; "" where it fails on the page, as in the benchmark."""
        return self._backend.evaluated(expression, self._entry)

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask the site's REST interface with a JSON body; the decoded JSON."""
        return DomEvaluationPage(Loader(self._backend.world, self._cookies)).request(method, url, body, headers)


async def printed(tab: BrowserTab, expression: str) -> str:
    """The value of an expression as the benchmark's evaluator prints it."""
    try:
        return str(await tab.page.evaluate(expression))
    except PlaywrightError as error:
        if tab.gone:
            raise EnvFault("the page or its browser has crashed") from error
        return ""
