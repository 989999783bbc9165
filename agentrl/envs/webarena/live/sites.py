"""`LiveSites`: what an episode on real sites needs before it starts: sites as they should be, and a login."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from agentrl.core.cache import cache_dir, write_atomically
from agentrl.core.errors import ConfigError, EnvFault, Fault
from agentrl.envs.webarena.browsing.live import LiveBackend
from agentrl.envs.webarena.live.login import FORMS, Visitor
from agentrl.envs.webarena.sites.places import Account
from agentrl.envs.webarena.tasks.schema import WebTask

log = logging.getLogger(__name__)
TRUSTED = 600.0  # seconds for which a login that was seen to work is not looked at again
RESET_DEADLINE = 1800.0  # seconds; restarting the benchmark's containers takes minutes
Reset = Callable[[Sequence[str]], Any] | Sequence[str]


class _Login(NamedTuple):
    state: Mapping[str, Any]
    seen: float  # when it was seen to work, by time.monotonic()


_logins: dict[str, _Login] = {}  # of this process: what a browser holds that has logged in, by who it is and where
_guard = threading.Lock()  # also around logging in: environments side by side share one login


class LiveSites:
    """Real sites at `addresses`. `reset` brings them into the state in which an episode starts; without one they stay
    as the episode before has left them. With `storage_state` nobody logs in: the browser starts with that."""

    def __init__(
        self,
        addresses: Mapping[str, str],
        accounts: Mapping[str, Account],
        backend: LiveBackend,
        reset: Reset | None = None,
        storage_state: str | os.PathLike[str] | None = None,
    ) -> None:
        self.addresses, self.accounts, self.backend = dict(addresses), dict(accounts), backend
        self.reset, self.storage_state = _checked(reset), storage_state

    def start(self, task: WebTask) -> None:
        """Reset the sites, log in to those of the task and open its first pages. `EnvFault` where that fails: no agent
        has done anything yet."""
        outside = [url for url in task.start_urls if not self.backend.fence.allows(url)]
        if outside:
            raise ConfigError(f"start_url must be an address of one of the sites; got {outside[0]!r:.200}")
        if self.reset is not None:
            self._reset(self.reset, task.sites)
        self.backend.storage_state = self._state_for(task)
        self.backend.start(task.start_urls, {})

    def _state_for(self, task: WebTask) -> Any:
        """What the task's browser holds at the start."""
        if self.storage_state is not None:
            return self.storage_state
        sites = self._with_login(task)
        return self._login(sites) if sites else None

    def _reset(self, reset: Reset, sites: Sequence[str]) -> None:
        with _guard:
            _logins.clear()  # sessions may be gone
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

    # ------------------------------------------------------------------ logging in

    def _with_login(self, task: WebTask) -> tuple[str, ...]:
        """The sites of the task that know the agent, in a fixed order."""
        if not task.require_login:
            return ()
        sites = tuple(site for site in FORMS if site in task.sites and site in self.accounts)
        if {"shopping", "reddit"} <= set(sites) and self._host("shopping") == self._host("reddit"):
            # Both keep their session in the cookie PHPSESSID, and a browser's cookies know hosts, not ports: only one
            # login can be kept. The benchmark's own tasks keep the forum's.
            log.warning("the shop and the forum are on one host: logged in to the forum only")
            sites = tuple(site for site in sites if site != "shopping")
        return sites

    def _host(self, site: str) -> str | None:
        return urlsplit(self.addresses[site]).hostname

    def _login(self, sites: tuple[str, ...]) -> Mapping[str, Any]:
        """A login that works: the last one, the one in the cache folder, or a fresh one."""
        key = self._key(sites)
        visitor = Visitor(self.addresses, self.accounts)
        with _guard:
            known = _logins.get(key)
            if known is None or time.monotonic() - known.seen > TRUSTED:
                state = _kept(key) if known is None else known.state
                if state is None or not visitor.is_logged_in(sites, state):
                    state = visitor.logged_in(sites)
                    _keep(key, state)
                known = _logins[key] = _Login(state, time.monotonic())
            return known.state

    def _key(self, sites: tuple[str, ...]) -> str:
        """Stands for these accounts at these addresses. A new password makes a new key."""
        who = [[site, self.addresses[site], self.accounts[site].name, self.accounts[site].password] for site in sites]
        return hashlib.blake2b(json.dumps(who).encode(), digest_size=16).hexdigest()


def _checked(reset: Any) -> Reset | None:
    if reset is None or callable(reset):
        return reset
    is_list = isinstance(reset, Sequence) and not isinstance(reset, (str, bytes))
    if is_list and reset and all(isinstance(word, str) for word in reset):
        return list(reset)
    raise ConfigError(
        'reset_sites must be a function of the names of the sites, or a command such as ["docker", "restart", "shop"]; '
        f"got {type(reset).__name__}"
    )


def _file(key: str) -> Any:
    return cache_dir() / "webarena" / "logins" / f"{key}.json"


def _kept(key: str) -> dict[str, Any] | None:
    try:
        found = json.loads(_file(key).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() == {"cookies", "origins"} else None


def _keep(key: str, state: Mapping[str, Any]) -> None:
    """For the next process. Only this user can read the folder: who has the cookies has the account."""
    path = _file(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        write_atomically(path, json.dumps(state).encode())
    except OSError as error:
        log.info("the login is not kept: %s", error)
