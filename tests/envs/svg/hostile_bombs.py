"""Hostile amounts: little code and endless work, and sizes that are none."""

from __future__ import annotations

import base64
import gzip
import io
import zlib
from collections.abc import Iterator

from PIL import Image

from tests.envs.svg.canaries import Canaries
from tests.envs.svg.hostile_file import BOX, Hostile
from tests.envs.svg.ordinary_files import svg


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
            '<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/>'
            '<rect width="9" height="9" fill="url(#a)"/>'
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
    outline = "M0 0" + "l1 1" * 6000
    yield Hostile(
        "a long path for all by style", svg(f"<style>path{{d:{outline}}}</style>" + "<path/>" * 1500), ("expansion",)
    )
    dashes = '<rect {}stroke="red" stroke-dasharray=".01"/>'
    wide = "width:999999;height:999999"
    yield Hostile("dashes around a rectangle by style", svg(dashes.format(f'style="{wide}" ')), ("expansion",))
    yield Hostile("dashes by rule", svg(f"<style>rect{{{wide}}}</style>" + dashes.format("") * 3), ("expansion",))
    turned = "rotate(1)" * 450
    yield Hostile(
        "much to read by rule",
        svg(f"<style>path{{transform:{turned}}}</style>" + '<path d="M0 0"/>' * 2000),
        ("expansion",),
    )
    yield Hostile(
        "much to read, used often",
        svg(f'<path id="a" d="M0 0h9" transform="{turned}"/>' + '<use href="#a"/>' * 2000),
        ("expansion",),
    )
    yield Hostile(
        "marker bomb by rule",
        svg(
            f"<style>#a{{d:{points[:4000]}}}</style>" + marker.format(BOX * 300) + '<path id="a" marker-mid="url(#m)"/>'
        ),
        ("expansion",),
    )
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
            '<pattern id="p" width="999999" height="999999" patternUnits="userSpaceOnUse"><circle r="9"/></pattern>'
            '<rect width="9" height="9" fill="url(#p)"/>'
        ),
        ("memory", "undrawable", "drawn"),
    )
    yield Hostile(
        "tiny pattern",
        svg(
            '<pattern id="p" width="1e-9" height="1e-9" patternUnits="userSpaceOnUse"><circle r="9"/></pattern>'
            '<rect width="9" height="9" fill="url(#p)"/>'
        ),
        ("drawn", "undrawable"),
    )
    yield Hostile(
        "mask of a million",
        svg(
            '<mask id="m" maskUnits="userSpaceOnUse" width="999999" height="999999"><circle r="9"/></mask>'
            '<rect width="9" height="9" mask="url(#m)"/>'
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
