"""The gate in front of the renderer: SVG text that a model wrote goes in, text that is safe to draw comes out.

    safe = check(code)        # raises SvgRefused with a reason and a detail

What comes out is written anew from what was understood: allowed elements, checked attributes, references inside of the
document only. The gate itself runs in the caller's process, so its own cost is bounded: a cap on length, elements
counted while parsing, entities refused before they are expanded, no recursion deeper than the caps.
A plain doctype, a missing xmlns and an undeclared `xlink:` are what models write; they pass.
"""

from __future__ import annotations

from agentrl.core.errors import ConfigError
from agentrl.envs.svg.sandbox.expansion import check_expansion
from agentrl.envs.svg.sandbox.reading import Reader, write
from agentrl.envs.svg.sandbox.refusal import REASONS, Limits, SvgRefused

__all__ = ["REASONS", "Limits", "SvgRefused", "check"]

DEFAULT_LIMITS = Limits()
BYTE_ORDER_MARK = "\ufeff"


def check(code: str, limits: Limits = DEFAULT_LIMITS) -> str:
    """The safe SVG text to draw for this code, or `SvgRefused`."""
    if not isinstance(code, str):
        raise ConfigError(f"code must be the text of an SVG; got {type(code).__name__}")
    text = _checked_text(code, limits)
    try:
        drawing = Reader(limits).read(text)
        check_expansion(drawing, limits)
        assert drawing.root is not None
        return write(drawing.root)
    except RecursionError:  # the caps leave room for any ordinary caller, but not for one that is deep already
        raise SvgRefused("too_deep", "elements or references go too deep") from None


def _checked_text(code: str, limits: Limits) -> str:
    if len(code) > limits.bytes:
        raise SvgRefused("too_long", f"{len(code)} characters; at most {limits.bytes} bytes are allowed")
    text = code.strip().lstrip(BYTE_ORDER_MARK).lstrip()
    if not text:
        raise SvgRefused("empty", "there is no code")
    if "\x00" in text:
        raise SvgRefused("encoding", "null characters are not allowed")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise SvgRefused("encoding", "half surrogates are not allowed") from None
    if size > limits.bytes:
        raise SvgRefused("too_long", f"{size} bytes; at most {limits.bytes} are allowed")
    return text
