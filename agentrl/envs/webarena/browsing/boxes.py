"""The tree of boxes: what of a page is displayed, with styles, sorted into what flows in lines and what stacks."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from agentrl.envs.webarena.browsing.style import Cascade, Chain, Style
from agentrl.envs.webarena.browsing.text import run_of

# What a box does with its contents.
INLINE, BLOCK, FLEX, GRID, TABLE, REPLACED, BREAK = range(7)
_KINDS = {
    "inline": INLINE, "inline-block": BLOCK, "block": BLOCK, "list-item": BLOCK, "flex": FLEX, "inline-flex": FLEX,
    "grid": GRID, "inline-grid": GRID, "table": TABLE, "inline-table": TABLE, "flow-root": BLOCK,
}  # fmt: skip
_REPLACED = {
    "img", "input", "textarea", "select", "iframe", "video", "canvas", "svg", "object", "embed", "audio", "meter",
    "progress",
}  # fmt: skip


class Node:
    """A box. Children are boxes and texts; of `element` only what the layout returns is keyed by it."""

    __slots__ = ("children", "element", "framed", "kind", "level", "preferred", "root", "stacks", "style")

    def __init__(self, element: Any, style: Style, kind: int, inline: bool) -> None:
        self.element, self.style, self.kind = element, style, kind
        self.level = inline  # does it flow in a line of its parent?
        self.children: list[Node | str] = []
        self.stacks = False  # are its children blocks?
        self.root = kind not in (BLOCK, INLINE) or style.clips  # margins of children stay inside
        self.preferred: float | None = None
        self.framed = style.framed  # inline elements without a frame are as wide as the first thing in them


class Builder:
    """Makes boxes for one page."""

    def __init__(self, cascade: Cascade, opened: Container[Any]) -> None:
        self._root, self._opened = cascade.root, opened
        self.pointers: set[Any] = set()  # elements whose own style shows a hand, not only their parent's
        self.invisible: set[Any] = set()  # laid out, but not to be seen
        self.clipping: set[Any] = set()  # show nothing outside their boxes

    def build(self, root: Any) -> Node | None:
        """The box of the <html> element."""
        return self._node(root, self._root)

    def _node(self, element: Any, parent: Chain) -> Node | None:
        get = element.get
        tag = element.tag
        chain = parent.child(tag, get("class"), get("id"), get("style"))
        style = chain.style
        if style.display == "none" or get("hidden") is not None:
            return None
        if style.pointer and not parent.style.pointer:
            self.pointers.add(element)
        if style.hidden:
            self.invisible.add(element)
        if style.clips:
            self.clipping.add(element)
        if tag == "br":
            return Node(element, style, BREAK, True)
        if tag in _REPLACED:
            if tag == "input" and get("type", "").lower() == "hidden":
                return None
            if tag == "input" and get("type", "").lower() in ("checkbox", "radio"):
                style = style.bare
            return Node(element, style, REPLACED, style.inline)
        node = Node(element, style, _KINDS.get(style.display, BLOCK), style.inline)
        self._fill(node, chain)
        return node

    def _fill(self, node: Node, chain: Chain) -> None:
        element, children = node.element, node.children
        text = element.text
        if text:
            children.append(text)
        closed = element.tag == "details" and element not in self._opened
        blocks = False
        for child in element:
            tag = child.tag
            if tag.__class__ is str and not (closed and tag != "summary"):
                box = self._node(child, chain)
                if box is not None:
                    children.append(box)
                    blocks = blocks or not box.level
                    if node.kind == INLINE and not node.framed:
                        node.framed = _needs_frame_around(box, node.style)
            text = child.tail
            if text and not closed:
                children.append(text)
        if node.kind in (FLEX, GRID):
            self._wrap(node, chain, blockify=True)
        elif node.kind == TABLE or blocks:
            if node.kind == INLINE:  # a block within a line takes the whole line
                node.kind, node.level = BLOCK, False
            node.stacks = True
            if node.kind != TABLE:
                self._wrap(node, chain, blockify=False)

    def _wrap(self, node: Node, chain: Chain, *, blockify: bool) -> None:
        """Put texts, and what flows in lines, into boxes of their own between blocks."""
        wrapped: list[Node | str] = []
        group: list[Node | str] = []
        for child in [*node.children, None]:
            if child.__class__ is str or (child is not None and child.level and not blockify):  # type: ignore[union-attr]
                group.append(child)  # type: ignore[arg-type]
                continue
            if group and not _is_blank(group, node.style):
                wrapped.append(anonymous(group, chain))
            group = []
            if child is not None:
                if blockify:
                    child.level, child.root = False, True  # type: ignore[union-attr]
                    if child.kind == INLINE:  # type: ignore[union-attr]
                        child.kind = BLOCK  # type: ignore[union-attr]
                wrapped.append(child)
        node.children, node.stacks = wrapped, True


def _needs_frame_around(child: Node, style: Style) -> bool:
    """Must Chromium keep a box for an inline element because of a child?"""
    own = child.style
    if child.kind == BREAK:
        return False
    return (
        child.kind != INLINE
        or bool(own.margin_left or own.margin_right)
        or (own.font_size, own.ascent, own.descent) != (style.font_size, style.ascent, style.descent)
    )


def anonymous(children: list[Node | str], chain: Chain) -> Node:
    """A block without an element around texts and what flows in lines."""
    node = Node(None, chain.child("", None, None, None).style, BLOCK, False)
    node.children = children
    return node


def _is_blank(group: list[Node | str], style: Style) -> bool:
    return style.white_space in ("normal", "nowrap") and all(
        isinstance(child, str) and not run_of(child).words for child in group
    )
