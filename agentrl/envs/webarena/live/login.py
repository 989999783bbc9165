"""Logging in to real sites as a user does, and looking whether a browser is still logged in. Awaited on the engine's
loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page

from agentrl.core.errors import EnvFault
from agentrl.envs.common.browser import Fence, Gateway, Window, engine
from agentrl.envs.webarena.browsing.view import VIEWPORT
from agentrl.envs.webarena.sites.places import Account

PATIENCE = 30.0  # seconds for one page


@dataclass(frozen=True)
class Form:
    """Where one logs in to a site, how its fields are found, and a page that only members see."""

    path: str
    name: str  # "label=...", "placeholder=..." or "testid=..."
    password: str
    button: str
    members: str  # a path; {name} stands for the account
    word: str = ""  # on that page


FORMS = {
    "shopping": Form("/customer/account/login/", "label=Email", "label=Password", "button=Sign In", "/wishlist/"),
    "shopping_admin": Form(
        "", "placeholder=user name", "placeholder=password", "button=Sign in", "/dashboard", "Dashboard"
    ),
    "reddit": Form("/login", "label=Username", "label=Password", "button=Log in", "/user/{name}/account", "Delete"),
    "gitlab": Form(
        "/users/sign_in", "testid=username-field", "testid=password-field", "testid=sign-in-button", "/-/profile"
    ),
}  # fmt: skip


class Visitor:
    """A browser that logs in to sites: `addresses` and `accounts` by site."""

    def __init__(
        self, addresses: Mapping[str, str], accounts: Mapping[str, Account], patience: float = PATIENCE
    ) -> None:
        self.addresses, self.accounts, self.patience = addresses, accounts, patience

    def logged_in(self, sites: Sequence[str]) -> dict[str, Any]:
        """The storage state of a browser that has logged in to these sites; `EnvFault` where one does not let it."""
        return engine().run(self._logged_in(sites), 4 * self.patience * len(sites))

    async def _logged_in(self, sites: Sequence[str]) -> dict[str, Any]:
        window = Window(engine(), Gateway(Fence(self.addresses.values())), VIEWPORT)
        try:
            await window.open()
            page = await self._page(window)
            for site in sites:
                await self._log_in(page, site)
            for site in sites:  # after all of them: one login may have undone another
                if not await self._is_member(page, site):
                    raise EnvFault(f"{self._name(site)} did not accept the account {self.accounts[site].name!r}")
            return dict(await window.context.storage_state())
        finally:
            await window.close()

    async def _page(self, window: Window) -> Page:
        page = (await window.new_tab()).page
        page.set_default_timeout(self.patience * 1000)
        return page

    async def _log_in(self, page: Page, site: str) -> None:
        form, account = FORMS[site], self.accounts[site]
        await self._open(page, site, self.addresses[site] + form.path)
        try:
            await find(page, form.name).fill(account.name)
            await find(page, form.password).fill(account.password)
            async with page.expect_navigation():
                await find(page, form.button).click()
        except PlaywrightError as error:
            raise EnvFault(f"cannot log in to {self._name(site)}: {_reason(error)}") from None

    async def _is_member(self, page: Page, site: str) -> bool:
        url = members_page(site, self.addresses[site], self.accounts[site])
        status = await self._open(page, site, url)
        return shows_members(site, url, status, page.url, await page.content())

    async def _open(self, page: Page, site: str, url: str) -> int:
        """The status of a page of a site; `EnvFault` where the site fails."""
        try:
            answer = await page.goto(url)
        except PlaywrightError as error:
            raise EnvFault(f"{self._name(site)} does not answer: {_reason(error)}") from None
        if answer is not None and answer.status >= 500:
            raise EnvFault(f"{self._name(site)} answered with status {answer.status}")
        return 200 if answer is None else answer.status

    def _name(self, site: str) -> str:
        return f"{site} ({self.addresses[site]})"


def members_page(site: str, address: str, account: Account) -> str:
    """The address of a page of the site that only somebody who is logged in sees."""
    return address + FORMS[site].members.format(name=account.name)


def shows_members(site: str, url: str, status: int, reached: str, text: str) -> bool:
    """Was it that page, asked for at `url`, that the site has shown?"""
    same = urlsplit(reached).path.rstrip("/") == urlsplit(url).path.rstrip("/")
    return same and status < 400 and FORMS[site].word in text


def find(page: Page, what: str) -> Locator:
    """An element by its label, place holder, test id or the name of a button, the whole of it."""
    kind, _, text = what.partition("=")
    if kind == "label":
        return page.get_by_label(text, exact=True).first
    if kind == "placeholder":
        return page.get_by_placeholder(text, exact=True).first
    if kind == "testid":
        return page.get_by_test_id(text).first
    return page.get_by_role("button", name=text, exact=True).first


def _reason(error: PlaywrightError) -> str:
    """What went wrong, without the log of the calls, which may hold what was typed."""
    return (str(error).strip().splitlines() or ["no reason given"])[0][:200]
