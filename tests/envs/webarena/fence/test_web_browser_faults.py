"""Faults of the browser and of sites are typed, end one episode at most, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hostile_web import HOME, HostileSite, SmallWorld, hostile_site

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.envs.webarena.browsing.backend import ActionFailed

pytestmark = [pytest.mark.browser, pytest.mark.extra_web]
EPISODES = 8


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    """A page that loses an element, and one that does not."""
    pages = {
        "/fine": lambda _: "<title>Fine</title><a href=/fine>All is well.</a>",
        "/vanish": lambda _: (
            "<button id=first>First</button><button>Second</button>"
            "<script>window.gone = () => document.getElementById('first').remove()</script>"
        ),
    }
    with hostile_site(pages) as found:
        yield found


def _live(site: HostileSite, path: str = "/fine", deadline: float = 20.0) -> Any:
    from agentrl.envs.webarena.browsing.live import LiveBackend

    backend = LiveBackend([site.origin], deadline=deadline)
    backend.start([site.origin + path], {})
    return backend


def _browser_process() -> int:
    from agentrl.envs.common.browser import engine
    from agentrl.envs.common.browser.engine import process_of

    async def ask() -> int:
        return await process_of(await engine().browser())

    return engine().run(ask(), 60)


def _descendants(root: int) -> set[int]:
    """Processes below a process that have not ended."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    found, new = set[int](), {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


def test_a_killed_browser_ends_the_episodes_it_served_and_no_more(capsys: Any) -> None:
    """kill -9 while 8 episodes step in threads: 8 typed faults, one new browser, nothing left of the old one."""
    from agentrl.envs.webarena.browsing.browser import BrowserBackend

    backends = [BrowserBackend(SmallWorld(), deadline=20.0) for _ in range(EPISODES)]
    for backend in backends:
        backend.start([HOME], {})
    browser = _browser_process()
    old = _descendants(browser) | {browser}
    stepping, recovered = threading.Barrier(EPISODES + 1), []

    def play(backend: BrowserBackend) -> EnvFault:
        stepping.wait()
        try:
            while True:
                backend.open(HOME)
                backend.view()
        except EnvFault as error:
            fault = error
        begin = time.monotonic()
        backend.start([HOME], {})
        assert backend.view().url == HOME
        recovered.append(time.monotonic() - begin)
        return fault

    with ThreadPoolExecutor(EPISODES) as pool:
        plays = [pool.submit(play, backend) for backend in backends]
        stepping.wait()
        time.sleep(0.5)
        os.kill(browser, signal.SIGKILL)
        faults = [play.result(120) for play in plays]
    new = _browser_process()
    for backend in backends:
        backend.close()
    left = [pid for pid in old if _is_alive(pid)]
    with capsys.disabled():
        print(
            f"\nkilled browser: {len(faults)} faults in {EPISODES} episodes, all typed; new episodes after "
            f"{min(recovered):.1f} to {max(recovered):.1f} s; {len(left)} processes left of the old one"
        )
    assert new != browser
    assert left == []


def _is_alive(pid: int) -> bool:
    for _ in range(50):  # its parent may not have noticed yet
        try:
            if (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except OSError:
            return False
        time.sleep(0.1)
    return True


def test_elements_that_vanished_are_feedback(site: HostileSite) -> None:
    """Between the look and the click, the page removes the button."""
    from agentrl.envs.common.browser import engine

    backend = _live(site, "/vanish")
    backend.view()
    engine().run(backend._tabs[0].page.evaluate("gone()"), 20)
    with pytest.raises(ActionFailed, match="no longer on the page"):
        backend.click(0)
    assert len(backend.view().labels) == 1
    backend.close()


def test_a_site_that_is_down_is_a_fault() -> None:
    """Never a page, and never a zero."""
    with hostile_site({}) as down:
        pass
    with pytest.raises(EnvFault, match="does not answer"):
        _live(down)


def test_without_chromium_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`dom` needs none."""
    from agentrl.envs.common.browser import find_chromium
    from agentrl.envs.webarena.browsing.dom import DomBackend

    monkeypatch.delenv("AGENTRL_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="apt-get install -y chromium"):
        find_chromium()
    monkeypatch.setenv("AGENTRL_CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="AGENTRL_CHROMIUM must be the path"):
        find_chromium()
    backend = DomBackend(SmallWorld())
    backend.start([HOME], {})
    assert backend.view().url == HOME
