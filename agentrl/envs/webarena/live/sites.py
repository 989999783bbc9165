"""`LiveSites`: real sites as an episode meets them: as they should be, and with a login, made as a user does."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentrl.core.cache import cache_dir, write_atomically
from agentrl.core.errors import ConfigError, EnvFault, Fault
from agentrl.envs.common.browser import Fence, Gateway, Window, engine
from agentrl.envs.common.browser.engine import PlaywrightError
from agentrl.envs.webarena.arguments import accounts_for
from agentrl.envs.webarena.backend import VIEWPORT
from agentrl.envs.webarena.live.backend import LiveBackend
from agentrl.envs.webarena.sites.places import Account
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.schema import WebTask

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

log = logging.getLogger(__name__)
RESET_DEADLINE = 1800.0  # seconds; restarting the benchmark's containers takes minutes
Reset = Callable[[Sequence[str]], Any] | Sequence[str]
State = Mapping[str, Any]  # what Playwright saves of a browser: cookies and local storage
_logins: dict[str, State] = {}  # of this process, by who logged in and where
_locks: dict[str, threading.Lock] = {}  # environments side by side share one login
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


class LiveSites:
    """Real sites at `addresses`. `reset_sites` brings them into the state in which an episode starts; without it they
    stay as the episode before has left them. With `storage_state` nobody logs in: the browser starts with that. What
    embedded sites would know beside the pages is empty."""

    def __init__(
        self,
        addresses: Mapping[str, str],
        accounts: str | os.PathLike[str] | None = None,
        reset_sites: Reset | None = None,
        storage_state: str | os.PathLike[str] | None = None,
    ) -> None:
        self.addresses, self.accounts = dict(addresses), accounts_for(accounts)
        self.backend, self.world = LiveBackend(tuple(addresses.values())), World()
        if reset_sites is not None and not callable(reset_sites):
            is_list = isinstance(reset_sites, Sequence) and not isinstance(reset_sites, (str, bytes))
            if not is_list or not reset_sites or not all(isinstance(word, str) for word in reset_sites):
                raise ConfigError(
                    "reset_sites must be a function of the names of the sites, or a command such as "
                    f'["docker", "restart", "shop"]; got {type(reset_sites).__name__}'
                )
            reset_sites = list(reset_sites)
        if storage_state is not None:
            is_path = isinstance(storage_state, (str, os.PathLike))
            if not is_path or _read_state(Path(storage_state)) is None:
                raise ConfigError(
                    f"storage_state must be the path of a file that Playwright has saved; got {storage_state!r:.200}"
                )
        self.reset, self.storage_state = reset_sites, storage_state

    def start(self, task: WebTask) -> None:
        """Reset the sites, log in to those of the task and open its first pages. `EnvFault` where that fails: no agent
        has done anything yet."""
        outside = [url for url in task.start_urls if not self.backend.fence.allows(url)]
        if outside:
            raise ConfigError(f"start_url must be an address of one of the sites; got {outside[0]!r:.200}")
        if self.reset is not None:
            self._reset(self.reset, task.sites)
        if self.storage_state is not None:
            self._open(task, self.storage_state)
            return
        sites = self._with_login(task)
        state = self._login(sites)
        self._open(task, state)
        for site in sites:
            url = members_page(site, self.addresses[site], self.accounts[site])
            if not shows_members(site, url, *self.backend.read(url)):  # a login of earlier that has ended meanwhile
                self._open(task, self._login(sites, ended=state))
                return

    def forget(self) -> None:
        """Nothing is kept from episode to episode."""

    def missing(self, task: WebTask, dialect: str, at_end: tuple[str, ...]) -> tuple[str, ...]:
        """What the evaluator missed: it looks at real sites once, at the end."""
        return at_end

    def cart(self) -> tuple[str, ...]:
        """Not known of real sites."""
        return ()

    def _open(self, task: WebTask, state: State | str | os.PathLike[str] | None) -> None:
        self.backend.storage_state = state
        self.backend.start(task.start_urls, {})

    def _reset(self, reset: Reset, sites: Sequence[str]) -> None:
        try:
            if callable(reset):
                reset(sites)
            else:
                subprocess.run(reset, check=True, timeout=RESET_DEADLINE, capture_output=True, stdin=subprocess.DEVNULL)
        except Fault:
            raise
        except subprocess.CalledProcessError as error:
            said = (error.stderr or error.stdout or b"").decode("utf-8", "replace").strip()[-300:]
            raise EnvFault(f"the sites could not be reset: status {error.returncode}. {said}".strip()) from error
        except Exception as error:
            raise EnvFault(f"the sites could not be reset: {type(error).__name__}: {error}") from error

    def _with_login(self, task: WebTask) -> tuple[str, ...]:
        """The sites of the task that know the agent, in a fixed order."""
        if not task.require_login:
            return ()
        sites = tuple(site for site in FORMS if site in task.sites and site in self.accounts)
        hosts = {site: urlsplit(self.addresses[site]).hostname for site in sites}
        if {"shopping", "reddit"} <= hosts.keys() and hosts["shopping"] == hosts["reddit"]:
            # Both keep their session in the cookie PHPSESSID, and a browser's cookies know hosts, not ports: only one
            # login can be kept. The benchmark's own tasks keep the forum's.
            log.warning("the shop and the forum are on one host: logged in to the forum only")
            sites = tuple(site for site in sites if site != "shopping")
        return sites

    def _login(self, sites: tuple[str, ...], ended: State | None = None) -> State | None:
        """The last login to these sites, in this process or kept in the cache folder; a fresh one if there is none, or
        only the one that has `ended`."""
        if not sites:
            return None
        # Stands for these accounts at these addresses. A new password makes a new key.
        who = [[site, self.addresses[site], self.accounts[site].name, self.accounts[site].password] for site in sites]
        key = hashlib.blake2b(json.dumps(who).encode(), digest_size=16).hexdigest()
        with _locks.setdefault(key, threading.Lock()):
            path = cache_dir() / "webarena" / "logins" / f"{key}.json"
            state = _logins.get(key) or _read_state(path)
            if state is None or state == ended:
                state = engine().run(self._logged_in(sites), 4 * PATIENCE * len(sites))
                try:  # for the next process; only this user can read the folder: who has the cookies has the account
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.parent.chmod(0o700)
                    write_atomically(path, json.dumps(state).encode())
                except OSError as error:
                    log.info("the login is not kept: %s", error)
            _logins[key] = state
            return state

    async def _logged_in(self, sites: Sequence[str]) -> dict[str, Any]:
        """The storage state of a browser that has logged in to these sites; `EnvFault` where one does not let it."""
        window = Window(engine(), Gateway(Fence(self.addresses.values())), VIEWPORT)
        try:
            await window.open()
            page = (await window.new_tab()).page
            page.set_default_timeout(PATIENCE * 1000)
            for site in sites:
                form, account = FORMS[site], self.accounts[site]
                await self._visit(page, site, self.addresses[site] + form.path)
                try:
                    await find(page, form.name).fill(account.name)
                    await find(page, form.password).fill(account.password)
                    async with page.expect_navigation():
                        await find(page, form.button).click()
                except PlaywrightError as error:
                    raise EnvFault(f"cannot log in to {self._name(site)}: {_reason(error)}") from None
            for site in sites:  # after all of them: one login may have undone another
                url = members_page(site, self.addresses[site], self.accounts[site])
                status = await self._visit(page, site, url)
                if not shows_members(site, url, status, page.url, await page.content()):
                    raise EnvFault(f"{self._name(site)} did not accept the account {self.accounts[site].name!r}")
            return dict(await window.context.storage_state())
        finally:
            await window.close()

    async def _visit(self, page: Page, site: str, url: str) -> int:
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


def _read_state(path: Path) -> State | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() == {"cookies", "origins"} else None
