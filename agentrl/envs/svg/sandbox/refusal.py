"""How an SVG is refused: one exception, and a fixed set of reasons."""

from __future__ import annotations

from dataclasses import dataclass

from agentrl.core.errors import AgentRLError

REASONS = (
    "empty",  # no text at all
    "too_long",
    "encoding",  # half surrogates, null characters, a declared encoding that text cannot have
    "not_xml",
    "not_svg",  # well-formed, but its root is no <svg> of the SVG namespace
    "entity",  # an entity is declared or cannot be resolved
    "doctype_internal_subset",
    "too_deep",
    "too_many_nodes",
    "element",  # one that is not allowed, such as script or image
    "attribute",  # a value that no such attribute has
    "css",  # style that cannot be checked
    "reference",  # leads out of the document
    "number",  # not a number, or far too large
    "size",  # a canvas or a view that cannot be drawn
    "text",  # too many letters
    "cycle",  # something that contains itself
    "expansion",  # references or dashes multiply to too much work
    # The reasons above are the gate's, those below the drawing process's.
    "undrawable",  # it passed the gate, but the renderer found no sense in it
    "timeout",
    "memory",
    "crash",
)


class SvgRefused(AgentRLError, ValueError):
    """This SVG is not drawn; `reason` is one of `REASONS`, `detail` one line for the author of the code.

    Always the doing of the code's author: faults of the machinery are `WorkerFault`s.
    """

    def __init__(self, reason: str, detail: str) -> None:
        if reason not in REASONS:
            raise ValueError(f"unknown reason {reason!r}")
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail

    def __reduce__(self) -> tuple:
        return type(self), (self.reason, self.detail)


@dataclass(frozen=True)
class Limits:
    """How much an SVG may ask for; the defaults leave room for any ordinary icon of up to 64 KB."""

    bytes: int = 65_536
    """Length as UTF-8."""
    nodes: int = 4_000
    """Elements in the file, those counted that are not drawn."""
    depth: int = 48
    """Elements inside each other in the file."""
    nesting: int = 64
    """The same after following references; the renderer calls itself at every level."""
    letters: int = 2_000
    """Characters of drawn text."""
    value: int = 4_096
    """Characters of one attribute other than path data and points."""
    number: float = 1e6
    """The largest coordinate, length or factor."""
    font_size: float = 10_000
    """The largest size of text, in any unit."""
    rules: int = 400
    """Rules in style sheets."""
    expansion: float = 20_000
    """Elements drawn after following references; long paths and dashes count in proportion."""
