"""The `browser` back end: the embedded sites in Chromium, with the same pages and results as without a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fake_web
import msgspec
import psutil
import pytest
import test_web_dom
from fake_web import HOME, FakeWorld

from agentrl.core.errors import ConfigError, EnvFault, SnapshotUnsupported
from agentrl.envs.common.browser import chromium
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.layout.page import INNERMOST
from agentrl.envs.webarena.observing.simplified import simplified_html
from agentrl.envs.webarena.tasks.generated import generated_ids, templates
from benchmarks.webarena.differential import compare
from benchmarks.webarena.templates import play
from tests.longer import only

pytestmark = pytest.mark.browser
SITES = ("shop", "admin", "forum", "code", "map", "across")
FORM = (
    "<form action=/sent method=post><input name=a value=old><select name=b><option>x<option>y</select>"
    "<textarea name=c>t</textarea><input type=checkbox name=d><button>Send</button></form>"
)


def browser(world: Any) -> Any:
    from agentrl.envs.webarena.browsing.browser import BrowserBackend

    return BrowserBackend(world)


@pytest.fixture(scope="module")
def env() -> Iterator[WebArenaLiteEnv]:
    env = WebArenaLiteEnv(backend="browser")
    yield env
    env.close()


@pytest.fixture
def page() -> Iterator[Any]:
    """A back end on pages given as text; `page(home, name=...)`."""
    opened: list[Any] = []

    def show(home: str, **pages: Any) -> Any:
        opened.append(browser(FakeWorld({"/": home, **{f"/{name}": answer for name, answer in pages.items()}})))
        opened[-1].start([HOME], {})
        return opened[-1]

    yield show
    for backend in opened:
        backend.close()


# ---------------------------------------------------------------------- the same as without a browser


@pytest.mark.parametrize("walks", [3, pytest.param(40, marks=pytest.mark.long)])
def test_random_walks_show_the_same_as_without_a_browser(record_property: Any, walks: int) -> None:
    report = compare(walks=walks)
    record_property("figures", str(report).splitlines()[0])
    assert report.equal == report.pages, str(report)
    # Edges are rounded: a 64th of a pixel in the width of a text moves one on a few pages.
    assert report.exact >= report.pages - max(1, 0.05 * report.pages), str(report)


@pytest.mark.parametrize("site", only(("shop",), SITES))  # the others without a browser in `make test`
def test_the_oracle_solves_tasks_of_every_site(env: WebArenaLiteEnv, site: str) -> None:
    names = [name for name in templates() if name.startswith(f"{site}-")]
    firsts = {task.rpartition(".")[0]: task for task in reversed(generated_ids("train"))}
    chosen = [firsts[name] for name in names if name in firsts][1::12][:1]
    failures = [played for played in (play(env, task) for task in chosen) if not played.success]
    assert chosen and not failures


@pytest.mark.parametrize(
    "name",
    [
        "test_a_click_on_a_link_opens_it_and_back_returns",
        "test_a_click_meets_what_stands_in_the_middle_of_an_element",
        "test_another_site_cannot_be_reached",
        "test_redirects_are_followed_and_cookies_kept_by_origin",
        "test_a_redirect_without_end_is_a_page_that_says_so",
        "test_arrow_keys_choose_and_scroll",
        "test_a_view_is_the_same_object_until_something_changes",
        "test_an_evaluation_page_shows_what_the_agent_left_and_disturbs_nothing",
    ],
)
def test_what_holds_without_a_browser_holds_in_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_web, "DomBackend", browser)
    getattr(test_web_dom, name)()


def test_simplified_html_is_that_of_webrls_own_tools(page: Any) -> None:
    """The text beside the page is what they wrote about it; places depend on the fonts of a machine."""
    source, wanted = (Path(__file__).with_name(f"simplified_page.{kind}").read_text() for kind in ("html", "txt"))
    backend = page(source)
    backend.labelling = INNERMOST
    backend.refresh()
    shown = simplified_html(backend.view())
    assert re.sub(r' data-bbox="[^"]*"', "", shown) == re.sub(r' data-bbox="[^"]*"', "", wanted.strip())
    assert 'data-bbox="19,' in shown and re.search(r'"19,\d+,20,\d+"', shown)  # 18.6 to 39.2: edges are rounded


def test_a_form_sends_what_it_holds(page: Any) -> None:
    backend = page(FORM, sent="<p>thanks")
    for element, text in ((0, "new & <b>"), (2, "two\nlines")):
        backend.type(element, text)
    backend.select(1, "Y")
    backend.click(3)
    backend.click(4)
    assert backend.view().url == HOME + "sent"
    sent = next(request for request in backend.world.asked if request.method == "POST")
    assert sent.form == (("a", "new & <b>"), ("b", "y"), ("c", "two\r\nlines"), ("d", "on"))
    backend.back()
    assert list(backend.view().values.values()) == ["new & <b>", "y", "two\nlines", "on"]


def test_a_megabyte_is_typed_at_once(page: Any) -> None:
    backend = page("<textarea></textarea>")
    backend.type(0, "word " * 200_000)
    assert len(next(iter(backend.view().values.values()))) == 1_000_000


def test_a_link_to_a_new_window_opens_a_tab(page: Any) -> None:
    backend = page("<a href=/next target=_blank>next</a>", next="<title>Next</title><p>there")
    backend.click(0)
    assert [tab.title for tab in backend.view().tabs] == ["", "Next"] and backend.view().active == 1
    backend.close_tab()
    assert backend.view().url == HOME


# ---------------------------------------------------------------------- saving


@pytest.mark.parametrize("make", [browser, DomBackend])
def test_a_snapshot_restores_in_either_back_end(page: Any, make: Any) -> None:
    backend = page(FORM + fake_web.LONG, next="<p>next")
    backend.type(0, "typed")
    backend.scroll("down")
    backend.open(HOME + "next")
    backend.new_tab()
    backend.focus_tab(0)
    backend.back()
    saved = msgspec.msgpack.decode(msgspec.msgpack.encode(backend.save()))
    other = make(backend.world)
    asked = len(backend.world.asked)
    other.load(saved)
    seen = [other.view(), backend.view()]
    assert len({(view.url, view.scroll, view.tabs, tuple(view.values.values())) for view in seen}) == 1
    assert (seen[0].scroll, next(iter(seen[0].values.values()))) == (480, "typed")
    other.forward()
    assert other.view().url == HOME + "next"
    pages = [request.path for request in backend.world.asked[asked:] if not request.path.startswith("/static")]
    assert "/next" not in pages  # it was kept
    other.close()


def test_a_fork_goes_on_exactly(env: WebArenaLiteEnv) -> None:
    task = next(task for task in generated_ids("train") if task.startswith("forum-"))
    env.reset(options={"task": task})
    env.step(env.oracle())
    saved = env.snapshot()
    action = env.oracle()
    first = env.step(action)[0]
    env.restore(saved)
    assert env.step(action)[0] == first


# ---------------------------------------------------------------------- faults


@pytest.mark.parametrize("episodes", [3, pytest.param(8, marks=pytest.mark.long)])
def test_episodes_run_side_by_side_in_threads(episodes: int) -> None:
    task = next(task for task in generated_ids("train") if task.startswith("code-"))
    envs = [WebArenaLiteEnv(backend="browser") for _ in range(episodes)]
    with ThreadPoolExecutor(episodes) as threads:
        results = list(threads.map(lambda env: play(env, task), envs))
    assert all(result.success for result in results), results
    for env in envs:
        env.close()


def chromium_of_this_process() -> psutil.Process:
    children = psutil.Process().children(recursive=True)
    return next(
        child
        for child in children
        if "chrom" in child.name() and not any(part.startswith("--type=") for part in child.cmdline())
    )


@pytest.mark.long
def test_a_killed_browser_is_a_fault_and_the_next_episode_has_another() -> None:
    envs = [WebArenaLiteEnv(backend="browser") for _ in range(3)]
    for env in envs:
        env.reset(seed=1)
    killed = chromium_of_this_process()
    os.kill(killed.pid, signal.SIGKILL)
    for env in envs:
        with pytest.raises(EnvFault):
            env.step('do(action="Scroll Down")')
    for env in envs:
        _, info = env.reset(seed=2)
        assert info["url"].startswith("http")
        env.close()
    assert chromium_of_this_process().pid != killed.pid


def test_counting_actions_opens_no_second_window(env: WebArenaLiteEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    env.reset(seed=3)
    env.step(env.oracle())
    without = WebArenaLiteEnv()
    without.reset(seed=3)
    without.step(without.oracle())

    def refuse(*given: Any) -> None:
        raise AssertionError("a copy has opened a browser")

    monkeypatch.setattr(type(env.backend), "__init__", refuse)
    assert env.actions_needed() == without.actions_needed() > 0
    without.close()


def test_nothing_is_left_when_the_process_ends() -> None:
    code = (
        "import psutil; from agentrl.envs.webarena.env import WebArenaLiteEnv;"
        "env = WebArenaLiteEnv(backend='browser'); env.reset(seed=0);"
        "print(*[child.pid for child in psutil.Process().children(recursive=True)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    pids = list(map(int, done.stdout.split()))
    deadline = time.monotonic() + 30
    while (left := list(filter(is_running, pids))) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(pids) > 2 and not left, done.stderr


def is_running(pid: int) -> bool:
    """Not one that has ended and only waits for its parent to notice."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_missing_chromium_says_how_to_install_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chromium.VARIABLE, "/nowhere/chromium")
    with pytest.raises(ConfigError, match="AGENTRL_CHROMIUM"):
        chromium.find_chromium()
    monkeypatch.delenv(chromium.VARIABLE)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="apt-get install -y chromium"):
        chromium.find_chromium()


def test_real_sites_cannot_be_saved() -> None:
    from agentrl.envs.webarena.live.backend import LiveBackend

    with pytest.raises(SnapshotUnsupported):
        LiveBackend(["http://localhost:7770"]).save()
