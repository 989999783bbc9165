"""Style attributes and style sheets: read into plain declarations, checked like attributes, written anew.

The renderer lets a declaration set any property that an attribute could, so both pass the same checks. Only what was
understood is written; escapes, which could spell anything, are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agentrl.envs.svg.sandbox.values import PROPERTIES, Limits, SvgRefused, checked_value

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
IMPORTANT = re.compile(r"!\s*important\s*\Z", re.I)
PROPERTY = re.compile(r"-{0,2}[a-z_][\w-]*", re.I | re.ASCII)
SELECTOR = re.compile(r"(?:[\w\-.#*,>+~:\s]|:nth-[a-z-]+\([\w\s+-]*\))+", re.ASCII)
MAX_SELECTOR = 400
BETWEEN_RULES = re.compile(r"(?:\s|;|<!--|-->)*")
AT_RULE = re.compile(r"@([\w-]*)[^{;]*")
BRACE = re.compile(r"[{}]")


@dataclass
class Declarations:
    """Checked declarations in order: name -> (value, important)."""

    values: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def __str__(self) -> str:
        return ";".join(f"{name}:{value}{'!important' * loud}" for name, (value, loud) in self.values.items())


def without_comments(text: str) -> str:
    """The text with comments gone and escapes refused."""
    text = COMMENT.sub(" ", text)
    if "\\" in text:
        raise SvgRefused("css", "backslashes are not allowed in styles")
    return text


def read_declarations(text: str, limits: Limits) -> Declarations:
    """`name: value; ...`, checked; properties that draw nothing are left out."""
    found = Declarations()
    for piece in without_comments(text).split(";"):
        name, colon, value = piece.partition(":")
        name = name.strip().lower()
        if not piece.strip() or not colon or name not in PROPERTIES:
            if piece.strip() and not PROPERTY.fullmatch(name):
                raise SvgRefused("css", f"this is no declaration: {piece.strip()[:60]!a}")
            continue
        plain = IMPORTANT.sub("", value.strip()).strip()
        if "{" in plain or "}" in plain:
            raise SvgRefused("css", f"{name} cannot be {plain[:60]!a}")
        checked, important = checked_value(name, plain, limits), plain != value.strip()
        if important or not found.values.get(name, ("", False))[1]:  # the last one counts, an important one most
            found.values[name] = checked, important
    return found


def read_sheet(text: str, limits: Limits) -> list[tuple[str, Declarations]]:
    """The rules of a style sheet: selector and declarations; at-rules other than imports are left out."""
    text, position, rules = without_comments(text), 0, []
    while (position := BETWEEN_RULES.match(text, position).end()) < len(text):  # pyright: ignore[reportOptionalMemberAccess]  (matches nothing at least)
        if text[position] == "@":
            position = _skip_at_rule(text, position)
            continue
        opening = text.find("{", position)
        closing = text.find("}", opening)
        if opening < 0 or closing < 0:
            raise SvgRefused("css", f"this is no rule: {text[position : position + 60]!a}")
        selector, body = text[position:opening].strip(), text[opening + 1 : closing]
        if len(selector) > MAX_SELECTOR or not SELECTOR.fullmatch(selector):
            raise SvgRefused("css", f"this selector is not supported: {selector[:60]!a}")
        rules.append((selector, read_declarations(body, limits)))
        if len(rules) > limits.rules:
            raise SvgRefused("css", f"more than {limits.rules} rules")
        position = closing + 1
    return rules


def _skip_at_rule(text: str, position: int) -> int:
    """Where an at-rule ends, with everything between its braces."""
    head = AT_RULE.match(text, position)
    assert head is not None  # the caller has seen the @
    if head[1].lower() == "import":
        raise SvgRefused("reference", "@import is not allowed")
    position = head.end()
    if text[position : position + 1] != "{":
        return position + 1
    depth = 0
    for brace in BRACE.finditer(text, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)
