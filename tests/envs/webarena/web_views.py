"""Views of hand-written pages: attributes say where an element is (`box`), that it has an id (`act`), what it holds
(`live`), and that it has the keyboard (`focus`)."""

from __future__ import annotations

from typing import Any

from lxml import html

from agentrl.envs.webarena.backend import Box, Tab, View


def view_of(
    source: str, *, title: str = "A page", url: str = "http://shop.localhost/", tabs: Any = None, **more: Any
) -> View:
    """The view of a page. Elements without a box get the whole viewport; `box=""` hides one."""
    parser = html.HTMLParser(huge_tree=True, encoding="utf-8")
    root = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    boxes, labels, values, focused = {}, [], {}, None
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        given = element.attrib.pop("box", "0,0,1280,720")
        if given and not any(parent.tag == "head" for parent in (element, *element.iterancestors("head"))):
            boxes[element] = Box(*map(int, given.split(",")))
        if element.attrib.pop("act", None) is not None:
            labels.append(element)
        live = element.attrib.pop("live", None)
        if live is not None:
            values[element] = live
        elif element.tag in ("input", "textarea", "select"):
            values[element] = element.get("value", "") if element.tag != "textarea" else element.text or ""
        if element.attrib.pop("focus", None) is not None:
            focused = element
    tabs = tabs or (Tab(url, title),)
    return View(url, title, root, boxes, tuple(labels), values, tabs, 0, focused=focused, **more)
