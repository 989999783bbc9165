"""Faults of the browser and of sites are typed, end one episode at most, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from hostile_web import HOME, HostileSite, SmallWorld, hostile_site

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.envs.webarena.backend import ActionFailed

pytestmark = [pytest.mark.browser, pytest.mark.extra_web]
EPISODES = 4


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    """A page that hangs, one that loses an element, and one that does neither."""
    pages = {
        "/hang": lambda _: "<a href=/fine>x</a><script>while (true) {}</script>",
        "/fine": lambda _: "<title>Fine</title><a href=/fine>All is well.</a>",
        "/vanish": lambda _: (
            "<button id=first>First</button><button>Second</button>"
            "<script>window.gone = () => document.getElementById('first').remove()</script>"
        ),
    }
    with hostile_site(pages) as found:
        yield found


def _live(site: HostileSite, path: str = "/fine", deadline: float = 20.0) -> Any:
    from agentrl.envs.webarena.live.backend import LiveBackend

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


def test_a_killed_browser_ends_the_episodes_it_served_and_no_more(record_property: Any) -> None:
    """kill -9 while episodes step in threads: a typed fault each, one new browser, nothing left of the old one."""
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
    record_property(
        "figures",
        f"killed browser: {len(faults)} faults in {EPISODES} episodes, all typed; new episodes after "
        f"{min(recovered):.1f} to {max(recovered):.1f} s; {len(left)} processes left of the old one",
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


def test_a_page_that_hangs_does_not_delay_the_others(site: HostileSite, record_property: Any) -> None:
    """Episodes in one browser: the others make all their steps while the page of the first hangs."""
    backends = [_live(site) for _ in range(EPISODES)]
    backends[0].deadline = 60.0
    over = threading.Event()

    def hang() -> bool:
        """Was the page still hanging when the others were done?"""
        backends[0].open(f"{site.origin}/hang")
        return over.is_set()

    def step(backend: Any) -> int:
        for _ in range(5):
            backend.click(0)
            assert backend.view().title == "Fine"
        return 5

    with ThreadPoolExecutor(EPISODES) as pool:
        hanging = pool.submit(hang)
        page = _busy_page()
        steps = list(pool.map(step, backends[1:]))
        over.set()
        page.kill()  # need not be waited for
        assert hanging.result()
    for backend in backends:
        backend.close()
    record_property(
        "figures", f"side by side: {sum(steps)} steps of {len(steps)} episodes while the page of another one hung"
    )


def _busy_page() -> psutil.Process:
    """The process of the page that computes and computes; to start one takes no second of processor time."""
    before: dict[psutil.Process, float] = {}
    while True:
        for process in psutil.Process(_browser_process()).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if "--type=renderer" in process.cmdline():
                    used = process.cpu_times().user
                    if used - before.setdefault(process, used) > 1.5:
                        return process
        time.sleep(0.05)


@pytest.mark.long
def test_many_episodes_leave_nothing_behind(site: HostileSite, record_property: Any) -> None:
    """Windows, pages, processes and open files are as many after 200 episodes as after 5."""
    after: list[dict[str, int]] = []
    for episodes in (5, 195):
        for _ in range(episodes):
            backend = _live(site, deadline=30.0)
            backend.view()
            backend.close()
        after.append(_in_use(after[0] if after else {}))
    record_property("figures", f"200 episodes: {after[0]} in use after 5, {after[1]} at the end")
    assert after[0]["windows"] == after[1]["windows"] == 0
    assert _no_more(after[1], after[0])


def _in_use(expected: dict[str, int]) -> dict[str, int]:
    """What is open, once it does not change any more; processes and connections end a moment after their windows."""
    from agentrl.envs.common.browser import engine

    async def look() -> tuple[int, int, int]:
        contexts = (await engine().browser()).contexts
        return len(contexts), sum(len(context.pages) for context in contexts), len(asyncio.all_tasks())

    found: dict[str, int] = {}
    for _ in range(50):
        last = found
        windows, pages, tasks = engine().run(look(), 20)
        browser = psutil.Process(_browser_process())
        found = {
            "windows": windows, "pages": pages, "tasks": tasks, "threads": threading.active_count(),
            "processes": len(_descendants(browser.pid)), "files": psutil.Process().num_fds(),
            "files of the browser": browser.num_fds(),
        }  # fmt: skip
        if found == last and _no_more(found, expected):
            break
        time.sleep(0.3)
    return found


def _no_more(found: dict[str, int], expected: dict[str, int]) -> bool:
    """Chromium opens a few files of its own as time goes by: far fewer than there are episodes."""
    own = {"files of the browser": 8}
    return all(found[name] <= count + own.get(name, 0) for name, count in expected.items())


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
