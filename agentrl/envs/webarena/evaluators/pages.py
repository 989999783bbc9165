"""Does a place on a page look as it should? The benchmark's `program_html`, over any back end."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cached_property
from posixpath import normpath
from urllib.parse import urlsplit, urlunsplit

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.backend import Backend, EvaluationPage
from agentrl.envs.webarena.evaluators.answers import Dialect
from agentrl.envs.webarena.evaluators.helpers import PREFIX, Surroundings, parse_helper
from agentrl.envs.webarena.evaluators.locators import check_locator
from agentrl.envs.webarena.sites.places import Account
from agentrl.envs.webarena.tasks.schema import HtmlTarget, WebTask

Seen = dict[HtmlTarget, str | None]


def check_evaluator(task: WebTask, browser: bool) -> None:
    """Can the evaluator of a task be run, by a browser or without one? An error that says why, where not."""
    for target in (task.eval.program_html or ()) if task.eval is not None else ():
        for text in (target.url, target.locator):
            if text.startswith(PREFIX):
                parse_helper(text)
        if not browser:
            written = "" if target.locator.startswith(PREFIX) else target.locator.removeprefix("lambda:").strip()
            for text in (written, *target.prep_actions) if written else ():
                check_locator(text)


class Pages:
    """The pages that an evaluation looks at: the one the agent left, and one of its own to go anywhere. `seen` keeps
    what was found away from the agent's page, for as long as nothing changes there."""

    def __init__(
        self,
        backend: Backend,
        addresses: Mapping[str, str],
        seen: Seen | None = None,
        *,
        quick: bool = False,
        accounts: Mapping[str, Account] | None = None,
    ) -> None:
        self._backend, self._addresses, self._seen, self._quick = backend, addresses, seen, quick
        self._accounts = accounts or {}

    @cached_property
    def last(self) -> EvaluationPage:
        """What the agent saw at the end, form contents included."""
        return self._backend.evaluation_page(last=True, quick=self._quick)

    @cached_property
    def own(self) -> EvaluationPage:
        """A page beside those of the agent."""
        return self._backend.evaluation_page(quick=self._quick)

    def text_of(self, target: HtmlTarget, dialect: Dialect) -> str | None:
        """The text at a target; None where the page has no such place. `EnvFault` where it cannot be looked at."""
        if self._seen is None or target.url == "last" or "__last_url__" in target.url:
            text = self._look_at(target)
        else:
            if target not in self._seen:
                self._seen[target] = self._look_at(target)
            text = self._seen[target]
        return html.unescape(text) if text is not None and dialect == "webarena" else text

    def _look_at(self, target: HtmlTarget) -> str | None:
        url, locator = target.url, target.locator
        if url.startswith(PREFIX):
            url = self._call(url, self.own)
        if url == "last":
            page = self.last
        else:
            page = self.own
            page.goto(plain_address(url))
        if not locator.strip():
            return page.content()
        if locator.startswith(PREFIX):
            return self._call(locator, page)
        for action in target.prep_actions:
            page.evaluate(action)
        if locator.startswith("lambda:"):
            found = page.evaluate(locator.removeprefix("lambda:").strip())
            return None if found in ("", "None", "False", "0") else found
        return page.evaluate(locator)

    def _call(self, text: str, page: EvaluationPage) -> str:
        around = Surroundings(page, self.last.url, self._addresses, self._accounts)
        try:
            return parse_helper(text).run(around)
        except ValueError as error:  # no call of a helper, or an address that is none
            raise EnvFault(f"the task's evaluator cannot be run: {error}") from None


def plain_address(url: str) -> str:
    """The address without "..", as browsers ask for it."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise EnvFault(f"the task's evaluator looks at {url[:80]!r}, which is no address: {error}") from None
    if "/../" not in parts.path and "/./" not in parts.path:
        return url
    path = normpath(parts.path) + ("/" if parts.path.endswith("/") else "")
    return urlunsplit((*parts[:2], path, *parts[3:]))
