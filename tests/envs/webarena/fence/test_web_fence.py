"""The fence: a page that wants to lead the browser elsewhere gets nobody there.

40 addresses x 6 ways = 240 tries, of which `make test` makes every fifth. An arrival is a connection to a listener that
is not the allowed site, text of a file or of the browser itself in an observation, or a page of another origin (or of
none: data:, blob: ...) in the tab. What was refused may show as an explanation, as feedback or as a typed fault.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hostile_web import ESCAPED, Canary, HostileSite, Reply, canary, hostile_site

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.backend import ActionFailed

pytestmark = [pytest.mark.browser, pytest.mark.extra_web]
SECRET = "text-of-a-file-of-this-machine"
INSIDE = "text-of-another-document"  # base64 in the address: readable only where the document is shown
INTERNALS = ("Command Line", "Executable Path", "V8 ")  # of chrome://version
# {c}: the port where nobody may arrive, {s}: the port of the allowed site, {file}: a file of this machine.
ADDRESSES = (
    "http://127.0.0.1:{c}/", "http://localhost:{c}/", "HTTP://LOCALHOST:{c}/", "http://localhost.:{c}/",
    "http://sub.localhost:{c}/", "http://127.1:{c}/", "http://2130706433:{c}/", "http://0x7f000001:{c}/",
    "http://017700000001:{c}/", "http://0177.0.0.1:{c}/", "http://0.0.0.0:{c}/", "http://127.0.0.2:{c}/",
    "http://[::1]:{c}/", "http://[::ffff:127.0.0.1]:{c}/", "http://127.0.0.1.nip.io:{c}/", "http://127.0.0.1.:{c}/",
    "http://127.0.0.1:{s}@127.0.0.1:{c}/", "http://user:word@localhost:{c}/", "http://127.0.0.1:{c}#@127.0.0.1:{s}/",
    "http://127.0.0.1:{c}\\@127.0.0.1:{s}/", "http:\\\\127.0.0.1:{c}\\", "//127.0.0.1:{c}/", "https://127.0.0.1:{c}/",
    "http://①②⑦.⓪.⓪.①:{c}/", "http://xn--lcalhost-n1a.example:{c}/", "ws://127.0.0.1:{c}/", "wss://localhost:{c}/",
    "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/meta-data/", "http://192.168.0.1/",
    "file://{file}", "FILE://localhost{file}", "view-source:file://{file}", "data:text/html;base64,{inside}",
    "blob:http://127.0.0.1:{c}/1", "javascript:fetch('http://127.0.0.1:{c}/');'{inside}'", "ftp://127.0.0.1:{c}/",
    "chrome://version/", "view-source:http://127.0.0.1:{c}/", "about:version",
)  # fmt: skip
EMBEDDED = (  # ways in which a document asks for others
    '<iframe src="{u}"></iframe><img src="{u}"><object data="{u}"></object><link rel=stylesheet href="{u}">'
    '<link rel=prefetch href="{u}"><link rel=preconnect href="{u}"><script src="{u}"></script>'
    '<p style="background: url({u})">.</p><video src="{u}"></video>'
)
SCRIPTS = """<script>
const quietly = (work) => { try { Promise.resolve(work()).catch(() => 0); } catch (error) { /* as it should be */ } };
for (const url of %s) {
  const show = (text) => { if (!/^(data|blob):/i.test(url)) document.body.append(text); };  // those are our own texts
  quietly(() => { const ask = new XMLHttpRequest(); ask.open("GET", url, false); ask.send(); show(ask.responseText); });
  quietly(() => fetch(url, {mode: "no-cors"}).then((found) => found.text()).then(show));
  for (const kind of [WebSocket, EventSource, Worker, WebTransport]) quietly(() => new kind(url));
  quietly(() => navigator.sendBeacon(url, "x"));
  quietly(() => import(url));
}
</script>"""


def _page(content: str) -> str:
    return f"<!doctype html><html><head><title>A page</title></head><body><p>Here.</p>{content}</body></html>"


PAGES: dict[str, Callable[[dict[str, str]], Reply | str]] = {
    "/": lambda _: _page(""),
    "/link": lambda query: _page(f'<a href="{html.escape(query["to"])}">Go</a>'),
    "/form": lambda query: _page(f'<form method=post action="{html.escape(query["to"])}"><button>Go</button></form>'),
    "/fetch": lambda query: _page(SCRIPTS % query["to"].replace("</", "<\\/")),
    "/embed": lambda query: _page("".join(EMBEDDED.format(u=html.escape(url)) for url in json.loads(query["to"]))),
    "/redirect": lambda query: Reply("", 302, {"location": query["to"]}),
}
WAYS = {"goto": 1, "link": 1, "form": 1, "fetch": 8, "embed": 8, "redirect": 1}  # so many addresses on one page


@pytest.fixture(scope="module")
def listener() -> Iterator[Canary]:
    """Where nobody may arrive."""
    with canary() as found:
        yield found


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    """The only place that may be reached."""
    with hostile_site(PAGES) as found:
        yield found


def _attempt(backend: Any, site: HostileSite, way: str, addresses: Sequence[str]) -> tuple[str, str]:
    """Try to get somewhere; the address and the text of what was shown."""
    to = json.dumps(addresses) if WAYS[way] > 1 else addresses[0]
    try:
        backend.open(to if way == "goto" else f"{site.origin}/{way}?to={quote(to, safe='')}")
        if way in ("link", "form"):
            backend.click(0)
    except (ActionFailed, EnvFault):
        pass
    view = backend.view()
    return view.url, "".join(view.root.xpath("//body//text()[not(parent::script)]"))


def _arrived(site: HostileSite, url: str, text: str) -> bool:
    """Does what was shown come from elsewhere? An explanation why nothing can be shown does not."""
    elsewhere = not url.startswith((f"{site.origin}/", "about:blank")) and "cannot be reached" not in text
    return elsewhere or any(secret in text for secret in (SECRET, INSIDE, ESCAPED, *INTERNALS))


def _backend(site: HostileSite) -> Any:
    from agentrl.envs.webarena.live.backend import LiveBackend

    backend = LiveBackend([site.origin], deadline=5.0)
    backend.start([site.origin], {})
    return backend


def _addresses(site: HostileSite, listener: Canary, file: Path) -> list[str]:
    there = f"http://127.0.0.1:{listener.port}/"
    document = f"<p>{INSIDE}</p><img src={there}><script>fetch('{there}')</script>"
    values = {
        "{c}": str(listener.port), "{s}": str(site.server_address[1]), "{file}": str(file),
        "{inside}": base64.b64encode(document.encode()).decode(),
    }  # fmt: skip
    return [re.sub(r"{\w+}", lambda found: values[found[0]], address) for address in ADDRESSES]


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.long)])
def test_nobody_gets_over_the_fence(
    site: HostileSite, listener: Canary, tmp_path: Path, record_property: Any, every: int
) -> None:
    """240 tries, 0 arrivals."""
    file = tmp_path / "secret.txt"
    file.write_text(SECRET)
    addresses = _addresses(site, listener, file)
    assert len(set(addresses)) == 40
    addresses = addresses[::every]

    def try_all(ways: Sequence[str]) -> tuple[int, list[Any], int]:
        backend = _backend(site)
        tries, arrivals = 0, []
        for way in ways:
            for first in range(0, len(addresses), WAYS[way]):
                some = addresses[first : first + WAYS[way]]
                tries += len(some)
                if _arrived(site, *_attempt(backend, site, way, some)):
                    arrivals.append((way, some))
        refused = len(backend._window.gateway.refused)
        backend.close()
        return tries, arrivals, refused

    with ThreadPoolExecutor(2) as pool:
        found = pool.map(try_all, (("goto", "link", "fetch"), ("form", "embed", "redirect")))
        tries, arrivals, refused = zip(*found, strict=True)
    shown = [arrival for some in arrivals for arrival in some]
    record_property(
        "figures",
        f"fence: {sum(tries)} tries ({len(addresses)} addresses x 6 ways), {len(shown) + len(listener.hits)} arrivals; "
        f"{sum(refused)} requests of the browser were refused on their way out",
    )
    assert sum(tries) == 240 // every
    assert shown == []
    assert listener.hits == []


def test_all_ways_lead_to_the_allowed_site(site: HostileSite) -> None:
    """The tries above fail because of the fence, not because the ways lead nowhere."""
    backend = _backend(site)
    for way in WAYS:
        _attempt(backend, site, way, [f"{site.origin}/arrived-by-{way}"])
        assert f"/arrived-by-{way}" in site.asked
    backend.close()
