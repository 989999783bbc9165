"""The shop as a web site: real HTTP on loopback, one session a visitor, nothing from outside is trusted."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.webshop.site import COOKIE, MAX_FORM, Sessions, ShopFull, ShopSite
from agentrl.serve.connections import BackgroundServer
from agentrl.serve.site import LoopbackOnly, is_loopback
from tests.envs.webshop.shop_kit import SMALL, small_shop, tags_of, visible_strings


class Served:
    """A site on a free port, and requests to it as a browser would send them."""

    def __init__(self, **arguments: Any) -> None:
        self.site = ShopSite(catalogue_size=SMALL, split="test", **arguments)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.server = BackgroundServer(LoopbackOnly(self.site.app), self.listener)

    def close(self) -> None:
        self.server.close()

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        response.text = response.read().decode("utf-8", "replace")  # type: ignore[attr-defined]
        connection.close()
        return response


class Browser:
    """Keeps the cookie, follows the redirect, fills in forms with their hidden fields."""

    def __init__(self, served: Served) -> None:
        self.served, self.cookie = served, ""
        self.show()

    def show(self) -> str:
        response = self.served.ask("GET", "/", **({"Cookie": self.cookie} if self.cookie else {}))
        self.page: str = response.text  # type: ignore[attr-defined]
        return self.page

    def send(self, path: str, **fields: str) -> str:
        hidden = {"goal": re.search('name="goal" value="(.*?)"', self.page)[1]} if path == "/act" else {}  # type: ignore[index]
        response = self.served.ask(
            "POST",
            path,
            urlencode(fields | hidden),
            Cookie=self.cookie,
            Content_Type="application/x-www-form-urlencoded",
        )
        if given := response.getheader("set-cookie"):
            self.cookie = given.split(";")[0]
        assert (response.status, response.getheader("location")) == (303, "/")
        return self.show()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()


def test_a_person_can_shop_from_the_wish_to_the_score(served: Served) -> None:
    browser = Browser(served)
    wish = visible_strings(browser.page)[2]
    env = small_shop()
    goals = env.shop.goals("test")
    place = next(place for place in range(len(goals)) if goals[place].instruction == wish)
    env.reset(options={"task": f"test-{place}"})
    while (action := env.oracle()) is not None:
        name, argument = re.fullmatch(r"(\w+)\[(.*)\]", action).groups()  # type: ignore[union-attr]
        browser.send("/act", **{name: argument})
        expected = env.step(action)[0]["text"].split(" [SEP] ")
        assert visible_strings(browser.page)[: len(expected)] == expected
    shown = visible_strings(browser.page)
    assert "Everything is met." in shown and "1.0" in shown and wish in shown
    after = browser.send("/act", click="buy now")
    assert "Thank you" in after  # the trip is over; nothing happens any more
    assert visible_strings(browser.send("/next"))[0] == "WebShop"


def test_visitors_do_not_see_each_others_pages(served: Served) -> None:
    one, other = Browser(served), Browser(served)
    for browser in (one, other):
        browser.send("/act", search="  ")
    assert one.cookie != other.cookie
    one.send("/act", search="made for every day")
    assert "Total results" in one.page and "Total results" not in other.show()


def test_feedback_tells_why_nothing_happened(served: Served) -> None:
    browser = Browser(served)
    assert "nothing stands between the brackets" in browser.send("/act", search="  ")
    browser.send("/act", click="<script>alert(1)</script>")
    assert "not on this page" in browser.page and "<script" not in browser.page
    assert "WebShop" in browser.send("/act", nothing="at all")


def test_brackets_in_the_search_box_stay_one_search(served: Served) -> None:
    browser = Browser(served)
    browser.send("/act", search="lamp], click[buy now")
    assert "Total results" in browser.page and "dropped" not in browser.page


def test_pages_bring_no_script_and_forbid_it(served: Served) -> None:
    for path in ("/", "/style.css"):
        response = served.ask("GET", path)
        policy = response.getheader("content-security-policy") or ""
        assert "default-src 'none'" in policy and "script-src" not in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy and response.getheader("x-content-type-options") == "nosniff"
    page = served.ask("GET", "/")
    tags = tags_of(page.text)  # type: ignore[attr-defined]
    assert "script" not in {tag for tag, _ in tags} and not [a for _, a in tags if "style" in a]
    cookie = (served.ask("POST", "/act", "search=lamp").getheader("set-cookie") or "").lower()
    assert "httponly" in cookie and "samesite=strict" in cookie


@pytest.mark.parametrize("host", ["evil.example", "shop.evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""])
def test_other_names_for_this_machine_are_refused(served: Served, host: str) -> None:
    assert served.ask("GET", "/", Host=host).status == 403
    assert not is_loopback(host)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_forms_of_other_sites_are_refused(served: Served, origin: str) -> None:
    browser = Browser(served)
    before = browser.send("/act", search="  ")
    response = served.ask("POST", "/act", "search=lamp", Cookie=browser.cookie, Origin=origin)
    assert response.status == 403 and browser.show() == before
    own = f"http://127.0.0.1:{served.port}"
    assert served.ask("POST", "/act", "search=lamp", Cookie=browser.cookie, Origin=own).status == 303


def test_forms_that_are_too_large_are_refused_and_the_site_lives_on(served: Served) -> None:
    body = "search=" + "x" * (MAX_FORM + 1)
    assert served.ask("POST", "/act", body, Cookie="agentrl_shop=x").status == 413
    browser = Browser(served)
    assert "characters" in browser.send("/act", search="x" * 5_000)  # fits the form, not the search


def test_wrong_paths_methods_and_cookies_do_no_harm(served: Served) -> None:
    assert served.ask("GET", "/act").status == 405
    assert served.ask("GET", "/etc/passwd").status == 404
    assert served.ask("GET", "/photo/..%2f..%2fx.png").status == 404
    assert served.ask("GET", "/photo/B000000000.png").status == 404
    assert served.ask("POST", "/act", "search=lamp", Cookie=f"{COOKIE}=guessed").status == 303
    assert served.ask("GET", "/", Cookie=f"{COOKIE}=guessed").status == 200
    assert served.ask("POST", "/act", "%ff%fe&&==&search=%00", Cookie="a=b").status == 303


def test_photos_are_pictures_of_products(served: Served) -> None:
    asin = served.site.shop.catalogue.docid(3)
    response = served.ask("GET", f"/photo/{asin}.png")
    assert response.status == 200 and response.getheader("content-type") == "image/png"


def test_a_full_shop_lets_nobody_in_until_somebody_was_idle_too_long() -> None:
    now = [0.0]
    sessions = Sessions(small_shop, most=2, idle=60, clock=lambda: now[0])
    first, _ = sessions.admit()
    assert sessions.find(first) is not None
    now[0] = 30
    second, _ = sessions.admit()
    assert sessions.find(second) is not None
    with pytest.raises(ShopFull):
        sessions.admit()
    now[0] = 61
    assert sessions.find(first) is None and sessions.find(second) is not None
    third, _ = sessions.admit()
    assert len(sessions) == 2 and len({first, second, third}) == 3
    assert sessions.find(None) is None and sessions.find("") is None


def test_who_never_came_back_makes_room() -> None:
    now = [0.0]
    sessions = Sessions(small_shop, most=3, idle=60, clock=lambda: now[0])
    kept, _ = sessions.admit()
    assert sessions.find(kept) is not None
    for now[0] in range(1, 30):  # type: ignore[assignment]
        newest, _ = sessions.admit()
    assert len(sessions) == 3 and sessions.find(kept) is not None and sessions.find(newest) is not None


def test_looking_takes_no_room_and_acting_keeps_the_goal_that_was_shown(served: Served) -> None:
    before = len(served.site.sessions)
    for _ in range(120):  # more than the site has sessions
        response = served.ask("GET", "/")
        assert response.status == 200 and response.getheader("set-cookie") is None
    assert len(served.site.sessions) == before
    browser = Browser(served)
    wish = visible_strings(browser.page)[2]
    assert wish in visible_strings(browser.send("/act", search="made for every day"))
    assert len(served.site.sessions) == before + 1


@pytest.mark.parametrize("goal", ["", "test-999999999999", "train-0", "x" * 1000, "<b>", "test-1\u0660"])
def test_a_goal_that_does_not_exist_is_as_good_as_none(served: Served, goal: str) -> None:
    response = served.ask("POST", "/act", urlencode({"search": "lamp", "goal": goal}))
    assert response.status == 303 and response.getheader("set-cookie")


def test_a_full_site_says_so() -> None:
    served = Served(max_sessions=1)
    try:
        Browser(served).send("/act", search="lamp")
        response = served.ask("POST", "/act", "search=lamp")
        assert response.status == 503 and "full" in response.text  # type: ignore[attr-defined]
    finally:
        served.close()


@pytest.mark.parametrize(
    "arguments",
    [{"max_sessions": 0}, {"idle_minutes": 0}, {"kind": "visual"}, {"split": "x"}, {"full_info": False}],
)
def test_bad_arguments_of_the_site_are_named(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        ShopSite(**{"catalogue_size": SMALL, **arguments})
