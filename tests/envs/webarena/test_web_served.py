"""The sites over HTTP: the same pages as in an episode, a world for each visitor, nothing from outside is trusted."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
from lxml import html

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.served import COOKIE, ENTRANCE, MAX_FORM, make_site
from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.serve.connections import BackgroundServer
from agentrl.serve.site import LoopbackOnly

FORM = "application/x-www-form-urlencoded"
Fields = list[tuple[str, str]]


class Got(NamedTuple):
    """An answer."""

    status: int
    url: str
    text: str
    headers: http.client.HTTPMessage


class Served:
    """The sites on a free port."""

    def __init__(self, **options: Any) -> None:
        self.site = make_site(**options)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.server = BackgroundServer(LoopbackOnly(self.site.app), self.listener)
        self.start = f"http://127.0.0.1:{self.port}/"

    def url(self, name: str, path: str = "") -> str:
        """The address of a site here."""
        parts = urlsplit(PLACES[name].url)
        return f"http://{parts.hostname}:{self.port}{path or parts.path or '/'}"


class Visitor:
    """A browser: cookies by host, redirects followed."""

    def __init__(self, served: Served) -> None:
        self.served, self.cookies = served, dict[str, dict[str, str]]()

    def ask(self, method: str, url: str, body: str | None = None, **headers: str) -> Got:
        """One request, to the server whatever the host is."""
        parts = urlsplit(url)
        jar = self.cookies.setdefault(parts.netloc, {})
        sent = {"Host": parts.netloc, "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=20)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        for line in response.headers.get_all("set-cookie") or ():
            name, _, value = line.split(";")[0].partition("=")
            if "Max-Age=0" in line:
                jar.pop(name, None)
            else:
                jar[name] = value
        connection.close()
        return Got(response.status, url, text, response.headers)

    def open(self, url: str, fields: Fields | None = None) -> Got:
        """A page, or the page after a form."""
        got = self.ask("GET", url) if fields is None else self.ask("POST", url, urlencode(fields), Content_Type=FORM)
        for _ in range(12):
            if not 300 <= got.status < 400:
                return got
            got = self.ask("GET", urljoin(got.url, got.headers["location"]))
        raise AssertionError(f"too many redirects: {got.url}")


class InProcess:
    """The same browser over a world in this process."""

    def __init__(self) -> None:
        self.world = World()
        self.cookies = {origin: dict(jar) for origin, jar in cookies(tuple(PLACES)).items()}

    def open(self, url: str, fields: Fields | None = None) -> tuple[int, str, str]:
        """Status, address and text of a page, or of the page after a form."""
        method, form = ("GET", ()) if fields is None else ("POST", tuple(fields))
        for _ in range(12):
            parts = urlsplit(url)
            jar = self.cookies.setdefault(f"{parts.scheme}://{parts.netloc}", {})
            response = self.world.fetch(Request(method, url, form, dict(jar)))
            for name, value in response.cookies.items():
                jar.pop(name, None) if value is None else jar.update({name: value})
            if response.location is None:
                return response.status, url, response.text
            method, form, url = "GET", (), urljoin(url, response.location)
        raise AssertionError("too many redirects")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.server.close()


def plain(text: str, served: Served) -> str:
    """A served page without the port in its links."""
    return text.replace(f".localhost:{served.port}", ".localhost")


def next_step(page: str, url: str, rng: Random) -> tuple[str, Fields | None] | None:
    """A link or a form of the page, as a wandering person would use it; nothing that leaves the sites."""
    tree = html.fromstring(page)
    hosts = {urlsplit(place.url).hostname for place in PLACES.values()}
    links = [
        (urljoin(url, href), None) for href in tree.xpath("//a/@href") if urlsplit(urljoin(url, href)).hostname in hosts
    ]
    forms = [
        (urljoin(url, form.get("action") or url), _filled(form, rng)) for form in tree.forms if form.method == "POST"
    ]
    choices = forms if forms and rng.random() < 0.4 else links or forms
    return rng.choice(choices) if choices else None


def _filled(form: Any, rng: Random) -> Fields:
    texts = ("7", "<b>&amp;'\"</b>", "{{ 7 * 7 }}", "a@b.example", "'; DROP TABLE session; --", "ünï ☃")
    fields = []
    for name, value in form.form_values():
        control = form.inputs[name]
        typed = getattr(control, "tag", "") == "textarea" or getattr(control, "type", "") in ("text", "email", "number")
        fields.append((name, rng.choice(texts) if typed else value))
    return fields


@pytest.mark.parametrize("name", PLACES)
def test_served_pages_equal_those_of_an_episode(served: Served, name: str) -> None:
    visitor, episode, rng = Visitor(served), InProcess(), Random(name)
    home = url = urljoin(PLACES[name].url, urlsplit(PLACES[name].url).path or "/")
    fields: Fields | None = None
    posts = 0
    for step in range(24):
        host = urlsplit(url).netloc
        got = visitor.open(url.replace(host, f"{host}:{served.port}", 1), fields)
        if step == 0:  # all sites have given their cookies before anything is changed
            for other in PLACES:
                visitor.open(served.url(other))
                episode.open(PLACES[other].url)
        status, here, text = episode.open(url, fields)
        assert (got.status, plain(got.url, served)) == (status, here)
        assert plain(got.text, served) == text, url
        posts += fields is not None
        url, fields = next_step(text, here, rng) or (home, None)
    assert posts or name == "map"


def test_links_between_sites_have_the_port(served: Served) -> None:
    visitor = Visitor(served)
    page = visitor.open(served.url("map", "/share?lat=46.82&lon=-35.41")).text
    (link,) = html.fromstring(page).xpath("//a[@id='long_link']/@href")
    assert link.startswith(f"http://map.localhost:{served.port}/?mlat=")
    assert visitor.open(link).status == 200
    assert 'value="http://map.localhost/?mlat=' in page  # what is no link stays as it is
    assert served.site.linked(page, "") == page


def test_the_start_page_lists_sites_and_accounts(served: Served) -> None:
    visitor = Visitor(served)
    tree = html.fromstring(visitor.open(served.start).text)
    links = tree.xpath("//h2/a/@href")
    assert len(links) == len(PLACES)
    for link in links:
        assert visitor.open(link).status == 200
    text = tree.text_content()
    assert all(place.account.name in text for place in PLACES.values() if place.account)
    assert visitor.ask("GET", f"{served.start}static/base.css").status == 200
    assert visitor.ask("GET", f"{served.start}nothing").status == 404


def test_visitors_have_worlds_of_their_own_and_can_reset_them(served: Served) -> None:
    first, second = Visitor(served), Visitor(served)
    for visitor in (first, second):
        visitor.open(served.url("reddit"))
        visitor.open(served.url("shopping"))
    before = len(served.site.visitors)
    world = served.site.visitors.find(first.cookies[f"forum.localhost:{served.port}"][COOKIE])
    assert world is not None
    world.database("forum").insert("session", site="forum", token="x", user_id=None, message="")
    assert "changed 1 record" in first.open(served.start).text
    assert "changed nothing" in second.open(served.start).text
    first.open(f"{served.start}reset", [])
    assert "changed nothing" in first.open(served.start).text
    assert first.open(served.url("reddit")).status == 200
    assert len(served.site.visitors) == before
    names = {jar[COOKIE] for visitor in (first, second) for host, jar in visitor.cookies.items() if "forum" in host}
    assert len(names) == 2


def test_all_hosts_share_the_world_of_a_visitor(served: Served) -> None:
    visitor = Visitor(served)
    for name in PLACES:
        visitor.open(served.url(name))
    assert len({jar[COOKIE] for jar in visitor.cookies.values()}) == 1
    for name, place in PLACES.items():
        if place.account is not None:
            jar = visitor.cookies[urlsplit(served.url(name)).netloc]
            assert jar[place.site.cookie] == cookies((name,))[place.origin][place.site.cookie]


def test_browsers_that_keep_no_cookies_take_no_room() -> None:
    served = Served(sites=("map",), max_sessions=2)
    try:
        for _ in range(5):
            there = Visitor(served).ask("GET", served.url("map"))
            entrance = Visitor(served).ask("GET", there.headers["location"])
            assert Visitor(served).ask("GET", entrance.headers["location"]).headers["location"] == "/"
        assert len(served.site.visitors) == 2
        assert Visitor(served).open(served.url("map")).status == 200
    finally:
        served.server.close()


def test_the_number_of_visitors_is_limited() -> None:
    served = Served(sites=("map",), max_sessions=2)
    try:
        people = [Visitor(served) for _ in range(3)]
        for person in people[:2]:
            assert person.open(served.url("map")).status == 200  # and so came back: nobody makes room
        assert people[2].open(served.url("map")).status == 503
        assert people[0].open(served.url("map", "/about")).status == 200
        assert "<h1>Web sites</h1>" in people[0].open(served.url("reddit")).text  # not served here: the start page
    finally:
        served.server.close()


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"Host": "evil.example"}, 403),
        ("POST", "/reset", {"Origin": "http://evil.example"}, 403),
        ("GET", "/enter?site=evil&to=/", {}, 404),
        ("GET", "/enter", {}, 404),
        ("TRACE", "/", {}, 405),
        ("GET", "/", {"Host": "map.localhost:abc"}, 200),
        ("GET", "/static/../../served.py", {}, 404),
    ],
)
def test_requests_that_are_not_for_the_sites(
    served: Served, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    assert Visitor(served).ask(method, served.start.rstrip("/") + path, **headers).status == status


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example", "https://evil.example/", "javascript:1", "%0d%0aX: 1"]
)
def test_the_entrance_leads_to_the_same_host_only(served: Served, path: str) -> None:
    visitor = Visitor(served)
    visitor.open(served.url("map"))
    name = visitor.cookies[f"map.localhost:{served.port}"][COOKIE]
    got = visitor.ask("GET", served.url("map", f"{ENTRANCE}?{urlencode({'name': name, 'to': path})}"))
    assert got.headers["location"] == "/"
    forged = visitor.ask("GET", served.url("map", f"{ENTRANCE}?name=unknown&to=/"))
    assert forged.headers["location"].rstrip("/") == served.start.rstrip("/")


def test_forms_may_be_large_but_not_endless(served: Served) -> None:
    visitor = Visitor(served)
    visitor.open(served.url("map"))
    assert (
        visitor.open(served.url("map", "/search"), [("query", "x" * 1_000_000)]).status == 404
    )  # no form is posted there
    too_large = visitor.ask("POST", served.url("map", "/search"), "x" * (MAX_FORM + 1), Content_Type=FORM)
    assert too_large.status == 413


def test_a_form_of_two_million_fields_keeps_nobody_waiting(served: Served) -> None:
    visitor = Visitor(served)
    visitor.open(served.url("map"))
    bodies = {"a=&" * 2_000_000: 413, "q=" + "%41" * 2_500_000: 404}
    for body, status in bodies.items():
        waited, over = [], threading.Event()

        def others(waited: list[float] = waited, over: threading.Event = over) -> None:
            while not over.is_set():
                started = time.perf_counter()
                Visitor(served).ask("GET", served.start)
                waited.append(time.perf_counter() - started)

        thread = threading.Thread(target=others)
        thread.start()
        assert visitor.ask("POST", served.url("map", "/search"), body, Content_Type=FORM).status == status
        over.set()
        thread.join()
        assert max(waited) < 1.5, max(waited)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"sites": ("mpa",)}, "Did you mean"), ({"sites": "map"}, "sites must be"), ({"max_sessions": 0}, "max_sessions"),
     ({"idle_minutes": 0}, "idle_minutes"), ({"colour": 1}, "got colour")],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make_site(**options)
