"""Hostile references: every scheme, every attribute, and style sheets."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from tests.envs.svg.canaries import Canaries
from tests.envs.svg.hostile_file import BOX, Hostile
from tests.envs.svg.ordinary_files import svg

XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'


def references(canaries: Canaries) -> Iterator[Hostile]:
    """Every scheme, and every attribute that could hold an address."""
    folder, host = canaries.folder, canaries.host
    addresses = {
        "http": f"http://{host}/a.svg#a",
        "https": f"https://{host}/a.svg#a",
        "ftp": f"ftp://{host}/a.svg#a",
        "gopher": f"gopher://{host}/_GET%20/",
        "no scheme": f"//{host}/a.svg#a",
        "file": f"{folder.as_uri()}/canary.svg#a",
        "path": f"{folder}/canary.svg#a",
        "path upwards": "../../../../../../etc/passwd#a",
        "data": "data:image/svg+xml;base64," + base64.b64encode((folder / "canary.svg").read_bytes()).decode(),
        "javascript": "javascript:alert(1)",
        "blank and http": f" \n http://{host}/b.svg#a",
        "capitals": f"HTTP://{host}/c.svg#a",
        "tab inside": f"ht\ttp://{host}/d.svg#a",
        "fragment, then address": f"#a http://{host}/e.svg",
        "query before fragment": "?x#a",
        "nothing": "",
    }
    for name, address in addresses.items():
        code = svg(f'<rect id="a" width="9" height="9"/><use xlink:href="{address}"/>', f'{XLINK} viewBox="0 0 9 9"')
        yield Hostile(f"use, {name}", code, ("reference",))
        if name in ("http", "file", "data", "path"):
            yield Hostile(f"image, {name}", svg(f'<image width="9" height="9" href="{address}"/>'), ("element",))
    web = addresses["http"]
    for element in (
        "a",
        "linearGradient",
        "radialGradient",
        "pattern",
        "mask",
        "filter",
        "textPath",
        "tspan",
        "g",
        "path",
        "svg",
    ):
        yield Hostile(f"href of {element}", svg(f'<{element} href="{web}"/>'), ("reference",))
    for name in ("fill", "stroke", "mask", "clip-path", "filter", "marker-start", "marker-mid", "marker-end", "marker"):
        for kind in ("http", "file"):
            yield Hostile(
                f"{name}, {kind}", svg(f'<path d="M0 0h9v9" {name}="url({addresses[kind]})"/>'), ("reference",)
            )
    for name in ("width", "x", "transform", "font-size", "d", "points", "viewBox"):
        code = svg(f'<svg {name}="url({web})"/>', "")
        yield Hostile(f"address as {name}", code, ("reference", "attribute"))
    yield Hostile("xml:base", svg(f'<g xml:base="http://{host}/">{BOX}<use href="b.svg#a"/></g>'), ("reference",))
    yield Hostile(
        "base kept for fragments",
        svg(f'<g xml:base="http://{host}/"><g id="a">{BOX}</g></g><use href="#a"/>'),
        ("drawn",),
    )
    yield Hostile("two addresses in one", svg(f'<path d="M0 0h9v9" fill="url(#a) url({web})"/>'), ("reference",))
    yield Hostile("a bracket too many", svg(f'<path d="M0 0h9v9" fill="url(#a)url({web})"/>'), ("reference",))
    yield Hostile("use without address", svg("<use/>"), ("reference",))
    yield Hostile(
        "other prefix", svg(f'<use z:href="{web}"/>', 'xmlns:z="http://www.w3.org/1999/xlink"'), ("reference",)
    )


def styles(canaries: Canaries) -> Iterator[Hostile]:
    """The same through style sheets, escaped and commented."""
    url, file = f"http://{canaries.host}/s.css", f"{canaries.folder.as_uri()}/canary.css"
    sheets: dict[str, tuple[str, tuple[str, ...]]] = {
        "import": (f'@import "{url}";', ("reference",)),
        "import url": (f"@import url({url});", ("reference",)),
        "import file": (f'@import "{file}";', ("reference",)),
        "import in capitals": (f'@IMPORT "{url}";', ("reference",)),
        "import after a comment": (f'/* a */@import/**/"{url}";', ("reference",)),
        "import with escapes": (f'@\\69mport "{url}";', ("css",)),
        "import after a rule": (f'rect{{fill:red}}@import "{url}";', ("reference",)),
        "import behind charset": (f'@charset "utf-8";@import "{url}";', ("reference",)),
        "import in a media rule": (f'@media all {{ @import "{url}"; }}', ("drawn",)),
        "import behind an open comment": (f'/* @import "{url}";', ("drawn",)),
        "import behind html marks": (f'<!-- @import "{url}"; -->'.replace("<", "&lt;"), ("reference",)),
        "font face": (f"@font-face{{font-family:a;src:url({url})}}", ("drawn",)),
        "fill by address": (f"rect{{fill:url({url}#a)}}", ("reference",)),
        "fill with escapes": (f"rect{{fill:\\75rl({url}#a)}}", ("css",)),
        "fill with a comment inside": (f"rect{{fill:ur/**/l({url}#a)}}", ("reference", "attribute")),
        "href by style": (f"use{{href:{url}}}", ("drawn",)),
        "background": (f"svg{{background:url({url})}}", ("drawn",)),
        "attribute selector": ("[a^='x']{fill:red}", ("css",)),
        "selector with has": ("g:has(rect){fill:red}", ("css",)),
        "unfinished rule": ("rect{fill:red", ("css",)),
        "rule in a rule": ("rect{fill:red;rect{fill:blue}}", ("css",)),
        "rules by the thousand": ("a{}" * 5000, ("css",)),
        "nested brackets": ("@media " + "{" * 30000, ("drawn",)),
        "quotes that hide a bracket": (f"rect{{font-family:'}}@import \"{url}\";'}}", ("css", "attribute")),
        "expression": ("rect{width:expression(alert(1))}", ("drawn", "undrawable")),
    }
    for name, (sheet, outcomes) in sheets.items():
        yield Hostile(f"style: {name}", svg(f"<style>{sheet}</style>{BOX}"), outcomes)
    inline = {
        "fill": f"fill:url({url}#a)",
        "mask": f"mask:url('{url}#a')",
        "capitals": f"FILL:URL({url}#a)",
        "escape": f"fill:u\\72l({url}#a)",
        "escaped name": f"\\66ill:url({url}#a)",
        "font": f"font-family:url({url})",
    }
    for name, style in inline.items():
        yield Hostile(
            f"style attribute: {name}", svg(f'<rect width="9" height="9" style="{style}"/>'), ("reference", "css")
        )
    yield Hostile("style attribute: href", svg(f'<g style="href:{file}">{BOX}</g>'), ("drawn",))
    cdata = f'<style><![CDATA[@import "{url}";]]></style>'
    yield Hostile("style: cdata", svg(cdata + BOX), ("reference",))
    yield Hostile("style: in pieces", svg(f'<style>@im<!-- -->port "{url}";</style>{BOX}'), ("reference",))
    yield Hostile("style: as characters", svg(f"<style>&#64;import '{url}';</style>{BOX}"), ("reference",))
    yield Hostile(
        "style: of another type", svg(f'<style type="a/b">rect{{fill:url({url})}}</style>{BOX}'), ("reference",)
    )
