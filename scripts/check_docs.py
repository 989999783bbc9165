"""`python scripts/check_docs.py [SITE]`: opens every page of the built documentation in Chromium and counts faults.

Each page is opened at the width of a phone and of a desk. Counted are errors of the console, requests that fail, pages
that scroll sideways, ids and names of options that are broken inside a word although they would fit on a line, and
internal links whose file or anchor does not exist. The exit status is 1 if there is any.
`--screenshots FOLDER` keeps a picture of the pages that `--only PATTERN` names (default: of all).
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import shutil
import sys
import threading
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from playwright.sync_api import sync_playwright

SITE = Path(__file__).resolve().parent.parent / "docs" / "_build" / "html"
WIDTHS = (400, 1280)
# Words of code that take more than one line and are narrower than the column they stand in.
BROKEN = """() => [...document.querySelectorAll("article code.literal .pre, article .sig .pre")].filter(word => {
  const range = document.createRange();
  range.selectNodeContents(word);
  const tops = new Set([...range.getClientRects()].map(line => Math.round(line.top)));
  if (tops.size < 2) return false;
  const column = word.closest("p, li, td, dd, dt, h1, h2, h3");
  word.style.whiteSpace = "nowrap";
  const fits = range.getBoundingClientRect().width <= column.clientWidth;
  word.style.whiteSpace = "";
  return fits;
}).map(word => word.textContent)"""


@dataclass
class Faults:
    """What was found, in words."""

    console: list[str] = field(default_factory=list)
    sideways: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """Where a page points to, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Every `href`, `src`, `id` and `name`."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def dead_links(site: Path) -> tuple[int, list[str]]:
    """The number of internal links, and those that lead nowhere."""
    pages = {path.relative_to(site).as_posix(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    count, dead = 0, []
    for name, page in pages.items():
        for target in page.targets:
            parts = urlsplit(urljoin(f"http://site/{name}", target))
            if parts.netloc != "site" or parts.scheme != "http":
                continue
            count += 1
            path = unquote(parts.path).lstrip("/") or "index.html"
            anchors = pages[path].anchors if path in pages else None
            lost = bool(parts.fragment) and anchors is not None and unquote(parts.fragment) not in anchors
            if lost or not (site / path).exists():
                dead.append(f"{name}: {target}")
    return count, dead


def look(site: Path, names: list[str], screenshots: Path | None, only: str, faults: Faults) -> None:
    """Open the pages at both widths."""
    handler = functools.partial(Quiet, directory=str(site))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chromium = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            said: list[str] = []
            watch(page, said)
            for name in names:
                page.goto(f"http://127.0.0.1:{server.server_port}/{name}", wait_until="load")
                faults.console += [f"{name} at {width}: {line}" for line in said]
                said.clear()
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    faults.sideways.append(f"{name} at {width}: {wide} px")
                faults.broken += [f"{name} at {width}: {word} is broken" for word in page.evaluate(BROKEN)]
                if screenshots and fnmatch.fnmatchcase(name, only):
                    page.screenshot(path=screenshots / f"{name.removesuffix('.html').replace('/', '_')}-{width}.png")
            page.close()
        browser.close()
    server.shutdown()


def watch(page: Any, said: list[str]) -> None:
    """Note errors of the console and requests that fail; what the next page cuts short has not failed."""
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "requestfailed",
        lambda request: None if "ABORTED" in (request.failure or "") else said.append(f"cannot load {request.url}"),
    )


class Quiet(SimpleHTTPRequestHandler):
    """A file server that does not write a line for every request."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def main() -> int:
    """Count, print, and say by the status whether anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, default=SITE)
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--only", default="*")
    given = parser.parse_args()
    names = sorted(path.relative_to(given.site).as_posix() for path in given.site.rglob("*.html"))
    if not names:
        sys.exit(f"{given.site} holds no pages; build them with make docs")
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    faults = Faults()
    count, faults.links = dead_links(given.site)
    look(given.site, names, given.screenshots, given.only, faults)
    for line in (*faults.console, *faults.sideways, *faults.broken, *faults.links):
        print(line)
    print(
        f"{len(names)} pages at {len(WIDTHS)} widths: {len(faults.console)} console errors, "
        f"{len(faults.sideways)} pages that scroll sideways, {len(faults.broken)} broken words, "
        f"{len(faults.links)} dead links of {count}"
    )
    return 1 if faults.console or faults.sideways or faults.broken or faults.links else 0


if __name__ == "__main__":
    sys.exit(main())
