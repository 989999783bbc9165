"""The `dom` back end: links, redirects, cookies, tabs, history and keys without a browser."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from fake_web import HOME, LONG, Answer, FakeWorld, asked, browse

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.backend import ActionFailed
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.layout.page import CACHE_SIZE, LINES
from agentrl.envs.webarena.sites.messages import Request, Response

# ---------------------------------------------------------------------- many environments in one process


@pytest.mark.parametrize(
    "act",
    [
        lambda backend: backend.click(0),
        lambda backend: backend.type(1, "words"),
        lambda backend: backend.press("Tab"),
        lambda backend: backend.click(2),
    ],
    ids=["link", "field", "key", "details"],
)
def test_pages_of_other_environments_do_not_take_the_elements_away(act: Any) -> None:
    """Laid out pages are cached for the whole process; more environments than the cache holds pages are common."""
    page = "<a href='/next'>next</a><input name=q><details><summary>more</summary>text</details>"
    backend, alone = browse(page, next="<p>there"), browse(page, next="<p>there")
    backend.view()
    for number in range(2 * CACHE_SIZE):
        browse(f"<p>other page {number}").view()
    act(backend)
    act(alone)
    ours, theirs = backend.view(), alone.view()
    assert (ours.url, list(ours.values.values())) == (theirs.url, list(theirs.values.values()))
    assert backend._session.entry.focus == alone._session.entry.focus


# ---------------------------------------------------------------------- links


def test_a_click_on_a_link_opens_it_and_back_returns() -> None:
    backend = browse("<p><a href='/next'>next</a>", next="<title> The\nnext </title><p>there")
    backend.click(0)
    assert (backend.view().url, backend.view().title) == (HOME + "next", "The next")
    backend.back()
    assert backend.view().url == HOME
    backend.forward()
    assert backend.view().url == HOME + "next"
    with pytest.raises(ActionFailed, match="later"):
        backend.forward()


def test_a_click_meets_what_stands_in_the_middle_of_an_element() -> None:
    """Where every line of a tree can be clicked, forms and boxes can, too."""
    for style, met in (("width:90px", True), ("margin-left:70px", False)):
        page = f"<form action='/next' style='width:90px'><button style='{style}'>go</button></form>"
        backend = browse(page, next="<p>there")
        backend.labelling = LINES
        backend.click([one.tag for one in backend.view().labels].index("form"))
        assert (backend.view().url.rstrip("?") == HOME + "next") == met


@pytest.mark.parametrize(
    ("base", "link", "address"),
    [
        ("", "a/b?c=d#e", "a/b?c=d#e"),
        ("", "../x/./y/../z", "x/z"),
        ("", "?q=1", "?q=1"),
        ("", " /white\n space\t", "white%20space"),
        ("", "//forum.localhost:80/p", "p"),
        ("", "HTTP://FORUM.localhost", ""),
        ("", "/caf\u00e9?q=\u00fc", "caf%C3%A9?q=%C3%BC"),
        ("<base href='/deep/er/'>", "x", "deep/er/x"),
    ],
)
def test_links_are_read_as_browsers_read_them(base: str, link: str, address: str) -> None:
    backend = browse(f"{base}<a href='{link}'>link</a>")
    backend.click(0)
    assert backend.view().url == HOME + address


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@b.c", "http://[x"]
)
def test_links_that_are_no_pages_do_nothing(link: str) -> None:
    backend = browse(f"<a href='{link}'>link</a>")
    with pytest.raises(ActionFailed):
        backend.click(0)
    with pytest.raises(ActionFailed):
        backend.open(link)
    assert backend.view().url == HOME and len(backend._session.tab.entries) == 1


def test_another_site_cannot_be_reached() -> None:
    backend = browse("<a href='http://example.com/x'>away</a>")
    backend.click(0)
    view = backend.view()
    assert (view.url, view.status) == ("http://example.com/x", 404)
    assert "example.com cannot be reached" in view.error
    backend.open("forum.localhost")
    assert backend.view().url == HOME and not backend.view().error


def test_redirects_are_followed_and_cookies_kept_by_origin() -> None:
    jump = Response(status=302, location="/there?x=1", cookies={"seen": "yes", "old": None})
    backend = browse("<a href='/jump'>go</a>", jump=jump, there="<p>there")
    backend.start([HOME], {"http://forum.localhost": {"old": "1"}, "http://map.localhost": {"other": "2"}})
    backend.click(0)
    assert backend.view().url == HOME + "there?x=1"
    assert asked(backend).cookies == {"seen": "yes"}
    backend.open("http://map.localhost/")
    assert asked(backend).cookies == {"other": "2"}


def test_a_redirect_without_end_is_a_page_that_says_so() -> None:
    backend = browse("<a href='/loop'>go</a>", loop=Response(status=302, location="/loop"))
    backend.click(0)
    assert "redirects too often" in backend.view().error


def test_a_fragment_scrolls_without_asking_the_site() -> None:
    backend = browse(f"<a href='#far'>down</a>{LONG}<p id=far>far</p>{LONG}")
    requests = asked(backend)
    backend.click(0)
    assert (backend.view().url, backend.view().scroll) == (HOME + "#far", 3044)
    assert asked(backend) is requests
    backend.back()
    assert backend.view().scroll == 0


def test_files_are_shown_as_text() -> None:
    backend = browse("<a href='/data'>data</a>", data=Response('{"a": "<b>"}', content_type="application/json"))
    backend.click(0)
    assert backend.view().root.findtext("body/pre") == '{"a": "<b>"}'


def test_a_site_that_breaks_is_a_fault() -> None:
    def broken(request: Request) -> Response:
        raise OSError("disk")

    backend = browse("<a href='/bad'>x</a>", bad=broken)
    with pytest.raises(EnvFault, match="disk"):
        backend.click(0)
    assert backend.view().url == HOME


# ---------------------------------------------------------------------- tabs, scrolling, details


def test_tabs_open_close_and_keep_their_pages() -> None:
    backend = browse("<title>one</title><a href='/two' target=_blank>two</a>", two="<title>two</title>")
    backend.click(0)
    assert [tab.title for tab in backend.view().tabs] == ["one", "two"]
    assert backend.view().active == 1
    backend.new_tab()
    assert (backend.view().url, backend.view().active, backend.view().labels) == ("about:blank", 2, ())
    backend.focus_tab(0)
    backend.click(0, "middle")
    assert [tab.title for tab in backend.view().tabs] == ["one", "two", "", "two"]
    for number in (-1, 4):
        with pytest.raises(ActionFailed, match="no tab"):
            backend.focus_tab(number)
    for _ in range(3):
        backend.close_tab()
    with pytest.raises(ActionFailed, match="only tab"):
        backend.close_tab()
    assert backend.view().title == "one"


def test_scrolling_stops_at_the_ends_and_moves_boxes() -> None:
    backend = browse(f"<a href=/>top</a>{LONG}")
    backend.scroll("up")
    assert backend.view().scroll == 0
    top = backend.view().boxes[backend.view().labels[0]].top
    backend.scroll("down")
    view = backend.view()
    assert view.scroll == 480 and view.labels == ()
    assert view.boxes[next(view.root.iter("a"))].top == top - 480
    for _ in range(9):
        backend.scroll("down")
    assert backend.view().scroll == view.height - 720


def test_details_open_and_close() -> None:
    backend = browse("<details><summary>more</summary><a href=/>inside</a></details>")
    assert len(backend.view().labels) == 1
    backend.click(0)
    assert len(backend.view().labels) == 2
    backend.click(0)
    assert len(backend.view().labels) == 1


def test_a_view_is_the_same_object_until_something_changes() -> None:
    backend = browse("<input>")
    view = backend.view()
    backend.hover(0)
    with pytest.raises(ActionFailed, match="no element 7"):
        backend.click(7)
    assert backend.view() is view
    backend.type(0, "x")
    assert backend.view() is not view and view.values[view.labels[0]] == ""
    assert backend.view().root is view.root


# ---------------------------------------------------------------------- keys


def test_keys_write_erase_and_move() -> None:
    backend = browse("<input id=a value=old><input id=b type=checkbox><textarea id=c></textarea>")
    first, check, area = backend.view().labels

    def press(*keys: str) -> None:
        for key in keys:
            backend.press(key)

    press("Tab", "n", "e", "w", "x", "Backspace")
    assert backend.view().values[first] == "new"
    press("Control+A", "Delete", "Tab", " ")
    assert backend.view().values == {first: "", check: "on", area: ""}
    press("tab", "H", "Enter", "i", "Shift+Tab")
    assert backend.view().values[area] == "H\ni"
    assert backend.view().focused is check
    press("Escape", "End", "ArrowLeft")
    for key in ("", "Nope", "Control+Nope", "ab"):
        with pytest.raises(ActionFailed, match="no key"):
            backend.press(key)


def test_arrow_keys_choose_and_scroll() -> None:
    backend = browse(f"<select><option>a<option>b</select><p>x</p>{LONG}")
    backend.click(0)
    backend.press("ArrowDown")
    backend.press("Down")
    assert list(backend.view().values.values()) == ["b"]
    backend.press("Tab")
    other = browse(LONG)
    other.press("ArrowDown")
    assert other.view().scroll == 40
    other.press("End")
    assert other.view().scroll == other.view().height - 720
    other.press("Control+Home")
    assert other.view().scroll == 0


# ---------------------------------------------------------------------- saving

PAGES: dict[str, Answer] = {
    "/": "<title>home</title><form action=/s><input name=q><input type=checkbox name=c><select name=o><option>a"
    f"<option>b</select><button>Go</button></form><details><summary>m</summary>{LONG}</details>{LONG}"
    + "<!-- long -->"
    * 1000,
    "/s": "<title>found</title><a href='/'>home</a>",
}
SCRIPT = """
import sys, msgspec
sys.path.insert(0, {folder!r})
from fake_web import FakeWorld
from test_web_dom import PAGES, finish
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.layout.page import CACHE_SIZE, LINES
backend = DomBackend(FakeWorld(PAGES))
backend.load(msgspec.msgpack.decode(sys.stdin.buffer.read()))
print(finish(backend))
"""


def begin() -> DomBackend:
    """A back end with two tabs, a history, filled fields and an open <details>."""
    world: Any = FakeWorld(PAGES)
    backend = DomBackend(world)
    backend.start([HOME, HOME + "s"], {"http://forum.localhost": {"a": "b"}})
    backend.type(0, "tea \ud800\0\U0001f375", enter=True)
    backend.back()
    backend.click(1)
    backend.select(2, "B")
    backend.click(4)
    backend.scroll("down")
    return backend


def finish(backend: DomBackend) -> str:
    """Go on, and tell all that is shown."""
    seen = [backend.view().url, backend.view().scroll, list(backend.view().values.values()), len(backend.view().boxes)]
    backend.scroll("up")
    backend.press("Tab")
    backend.click(3)
    seen += [backend.view().url, backend.view().tabs, backend.save()]
    return ascii(seen)


def test_a_saved_back_end_goes_on_in_another_process_as_here() -> None:
    backend = begin()
    packed = msgspec.msgpack.encode(backend.save())
    script = SCRIPT.format(folder=__file__.rpartition("/")[0])
    there = subprocess.run([sys.executable, "-c", script], input=packed, capture_output=True, check=False)
    assert there.returncode == 0, there.stderr.decode()
    assert there.stdout.decode().strip() == finish(backend)


def test_saving_loading_and_pickling_change_nothing() -> None:
    backend = begin()
    saved = backend.save()
    before = list(backend.view().values.values())
    backend.load(msgspec.msgpack.decode(msgspec.msgpack.encode(saved)))
    assert backend.save() == saved and list(backend.view().values.values()) == before
    assert pickle.loads(pickle.dumps(backend)).save() == saved


@pytest.mark.parametrize(
    "change", [{"tabs": []}, {"active": 9}, {"pages": []}, {"cookies": 3}, {"tabs": [{"place": 0}]}]
)
def test_what_was_not_saved_by_a_back_end_is_refused(change: dict[str, Any]) -> None:
    backend = begin()
    saved = backend.save()
    with pytest.raises(ValueError, match="cannot be read"):
        backend.load({**saved, **change})
    assert backend.save() == saved


def test_two_threads_may_take_turns() -> None:
    backend = browse(f"<input><a href='/'>again</a>{LONG}")
    faults: list[BaseException] = []

    def work(text: str) -> None:
        try:
            for _ in range(50):
                for action in (lambda: backend.type(0, text), lambda: backend.scroll("down"), lambda: backend.click(1)):
                    # The other thread may have scrolled the element away.
                    with suppress(ActionFailed):
                        action()
                    view = backend.view()
                    assert view.is_visible(view.root) and len(view.values) == 1
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(text,)) for text in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


# ---------------------------------------------------------------------- evaluation


def test_an_evaluation_page_shows_what_the_agent_left_and_disturbs_nothing() -> None:
    def echo(request: Request) -> Response:
        return Response(request.body, content_type="application/json")

    backend = browse("<p id=a>text</p><input id=b value=old>", other="<p id=a>other</p>", json=echo)
    backend.type(0, "new")
    page = backend.evaluation_page(last=True)
    assert page.url == HOME
    assert page.evaluate("document.querySelector('#b').value") == "new"
    assert 'value="old"' in page.content()
    page.goto(HOME + "other")
    assert page.evaluate("document.querySelector('#a').outerText") == "other"
    assert page.request("post", HOME + "json", {"a": 1}) == {"a": 1}
    with pytest.raises(EnvFault, match="cannot be reached"):
        page.goto("http://example.com/")
    with pytest.raises(EnvFault, match="no JSON"):
        page.request("GET", HOME)
    assert backend.view().url == HOME
