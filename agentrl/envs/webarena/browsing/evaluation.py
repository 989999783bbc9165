"""`DomEvaluationPage`: the page on which evaluators look around, without a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.browsing.addresses import BadAddress, typed
from agentrl.envs.webarena.browsing.document import serialise
from agentrl.envs.webarena.browsing.forms import kind_of
from agentrl.envs.webarena.browsing.loading import Loader, blank
from agentrl.envs.webarena.browsing.page import LaidOut
from agentrl.envs.webarena.browsing.tab import Entry
from agentrl.envs.webarena.sites.messages import Request


class SheetStyles:
    """How the elements of a page are displayed, by its style sheets."""

    def __init__(self, page: LaidOut) -> None:
        self._page = page

    def display(self, element: Any) -> str:
        """The CSS display."""
        hidden = element.get("hidden") is not None or (element.get("type") == "hidden" and element.tag == "input")
        return "none" if hidden else self._page.style(element).display

    def keeps_space(self, element: Any) -> bool:
        """Is white space shown as it is?"""
        return self._page.style(element).white_space in ("pre", "pre-wrap", "break-spaces")


class DomEvaluationPage:
    """A page beside those of the agent; what it does changes nothing that the agent sees."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        page = blank()
        self._entry = Entry(page, page.url)

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._entry.url

    def show(self, entry: Entry) -> None:
        """Show a page as it is in a tab, form contents included."""
        self._entry = Entry(entry.page, entry.url, entry.scroll, dict(entry.changed), opened=entry.opened)

    def goto(self, url: str) -> None:
        """Open an address; `EnvFault` where no site answers under it, or only that it has failed."""
        try:
            page = self._loader.load(typed(url))
        except BadAddress as error:
            raise EnvFault(f"{url!r} cannot be opened: {error}") from error
        if page.error:
            raise EnvFault(page.error)
        if page.status >= 500:
            raise EnvFault(f"{url} answered with status {page.status}")
        self._entry = Entry(page, page.url)

    def content(self) -> str:
        """The HTML of the page: attributes as they are in the page, not what fields hold."""
        root = self._entry.laid_out().document.root
        return serialise(root)

    def evaluate(self, expression: str) -> str:
        """What a JavaScript expression such as `document.querySelector(...).outerText` gives, as text."""
        from agentrl.envs.webarena.evaluators.locators import evaluate_locator

        laid_out = self._entry.laid_out()
        document = laid_out.document
        contents = self._entry.contents(document)
        values = {control: contents.value(control) for control in document.controls if kind_of(control) != "button"}
        return evaluate_locator(expression, document.root, values, SheetStyles(laid_out))

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Ask the site's REST interface with a JSON body; the decoded JSON."""
        named = {name.lower(): value for name, value in (headers or {}).items()}
        data = b"" if body is None else json.dumps(body).encode()
        if data:
            named.setdefault("content-type", "application/json")
        response = self._loader.fetch(Request(method.upper(), typed(url), body=data, headers=named))
        if response.status >= 500:
            raise EnvFault(f"{url} answered with status {response.status}")
        try:
            return json.loads(response.text)
        except ValueError as error:
            raise EnvFault(f"{url} answered with status {response.status} and no JSON") from error
