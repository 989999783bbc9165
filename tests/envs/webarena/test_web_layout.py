"""The layout gives elements the boxes that Chromium gives them.

`layout_cases.json` holds pieces of pages and the first client rectangle of every element in them, as Chromium 150
reported them with the sites' base style sheet and font; an element without numbers has none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrl.envs.webarena.browsing.session import initially_open
from agentrl.envs.webarena.layout.blocks import lay_out
from agentrl.envs.webarena.layout.document import Document
from agentrl.envs.webarena.layout.page import LaidOut
from agentrl.envs.webarena.layout.style import cascade
from agentrl.envs.webarena.sites.site import static
from agentrl.envs.webarena.sites.world import PLACES

CASES = json.loads(Path(__file__).with_name("layout_cases.json").read_text())
BASE = static(PLACES["map"].site.folder, "base.css").text
VIEWPORT = (1280, 720)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["html"][:60])
def test_boxes_are_those_of_chromium(case: dict[str, Any]) -> None:
    document = Document(f'<!doctype html><body><section style="padding:1px">{case["html"]}</section></body>')
    opened = {document.elements[number] for number in initially_open(document)}
    placed = {element: box for element, *box in lay_out(document.root, cascade((BASE,)), opened, VIEWPORT).boxes}
    elements = list(document.root.find("body/section").iter("*"))[1:]
    assert [element.tag for element in elements] == [tag for tag, *_ in case["boxes"]]
    for element, (tag, *wanted) in zip(elements, case["boxes"], strict=True):
        found = placed.get(element, [])
        if tag != "option":
            assert found == pytest.approx(wanted, abs=0.25), f"<{tag}> {element.text!r}"


@pytest.mark.parametrize(
    ("size", "text", "width"),  # in 64ths of a pixel, as Chromium has them
    [(13, "Magnus Farouk", 5825), (13, "Mei Sato", 3232), (16, "Magnus Farouk", 7169), (20, "Magnus Farouk", 8960)],
)
def test_texts_are_rounded_up_to_the_same_64th_of_a_pixel(size: int, text: str, width: int) -> None:
    document = Document(f'<p><a style="font-size:{size}px">{text}</a></p>')
    placed = {
        element.tag: wide for element, _, _, wide, _ in lay_out(document.root, cascade((BASE,)), (), VIEWPORT).boxes
    }
    assert placed["a"] * 64 == width


def test_lines_break_in_the_same_places_wherever_the_text_stands() -> None:
    text = "well-known question?mark foo[bar] 2025-06-16 a(b) (c)d e/f/g hyphen- ated -5"
    alone = height_of(f'<div style="width:60px">{text}</div>')
    nested = height_of(f'<div style="width:60px"><b>{text}</b> <i></i></div>')
    assert alone == nested


def height_of(html: str) -> float:
    return lay_out(Document(html).root, cascade((BASE,)), (), VIEWPORT).height


@pytest.mark.parametrize(
    "html",
    [
        "", " ", "plain text", "<html>", "<html><head><title>x", "<frameset><frame src=a></frameset>", "<td>x",
        "<div>" * 3000 + "x", "<span>" * 3000 + "x", "<table><tr><td>" * 500, "<label>" * 1000 + "<input>",
        '<div style="display:flex"><p style="height:50px">x</p>' * 300, "<button>" * 300, "<a href=1>" * 500,
        "<p><a href=x>link</a> text</p>" * 3000, "<p>" + "x" * 1_000_000, "<p>" + "word " * 50_000,
        "<pre>" + "line\n" * 100_000, "<table><tr><td colspan=99999999>x<td colspan=-3>y", "<p>\0a\ud800\x01\ufffe",
        '<div style="width:1e308px;height:99999999999px;margin:-99999px;font-size:0;gap:-5px">x <a href=x>y</a></div>',
        "<style>{{{}}}} @media x { a { b } } a:hover > > b, {} *{width:}</style><p style=';;;:;width:;:x'>x",
        "<style>a{", "<!-- <p> -->" * 5000, "<svg><g><circle/></g></svg><math><mi>x</mi></math>", "<" * 100_000,
        "<select style='width:auto'>" + "<option>x" * 5000, "<?xml version='1.0' encoding='utf-16'?><p>x", "\ufeff<p>x",
    ],
    ids=lambda html: html[:24],
)  # fmt: skip
def test_no_page_is_too_hostile(html: str) -> None:
    for sheets in ((), (BASE,)):
        page = LaidOut(Document(html), sheets, frozenset(), VIEWPORT)
        boxes, labels, _ = page.at(0)
        assert page.document.root in boxes
        assert all(label in boxes for label in labels)


def labels_of(html: str, scroll: int = 0) -> list[str]:
    page = LaidOut(Document(html), (BASE,), frozenset(), VIEWPORT)
    return [label.get("id") or label.tag for label in page.at(scroll)[1]]


def test_only_what_can_be_clicked_and_seen_is_labelled() -> None:
    html = """<p id=text>text</p><a id=link href=/>link</a> <a id=empty href=/></a> <input type=hidden id=secret>
    <input id=field> <button id=off disabled>Off</button> <div id=role role=button>x</div> <b id=tab tabindex=0>x</b>
    <b id=untab tabindex=-1>x</b> <span id=named class="big-button">x</span>
    <p style="display:none"><a id=gone>x</a></p>
    <p style="visibility:hidden"><a id=unseen href=/>x</a></p>
    <div id=hand style="cursor:pointer"><b id=inner>x</b></div>
    <label id=idle>nothing</label> <label id=for for=field>name</label>
    <div style="width:100px;overflow:hidden;white-space:nowrap">a text that is long <a id=clipped href=/>x</a></div>
    <div style="height:3000px"></div> <a id=far href=/>far</a>"""
    assert labels_of(html) == ["link", "field", "off", "role", "tab", "named", "hand", "for"]
    assert labels_of(html, 2600) == ["far"]


def test_of_nested_clickable_elements_the_innermost_is_labelled() -> None:
    html = "<a id=out href=/><button id=in>x</button></a><label id=around><input id=check type=checkbox> x</label>"
    assert labels_of(html) == ["in", "check"]
    assert labels_of("<a id=link href=/><span>whole</span> <b>link</b></a>") == ["link"]
    assert labels_of("<details id=d><summary id=s>x</summary><a id=inside href=/>x</a></details>") == ["s"]


def test_a_link_is_labelled_while_any_of_its_lines_is_in_sight() -> None:
    html = '<div style="width:60px">aaa bbb <a id=link href=/>first second third</a></div><p style="height:2000px"></p>'
    assert labels_of(html, 25) == ["link"]  # the first line is above the viewport
    assert labels_of(html, 200) == []
