"""Beside a picture with numbered marks: what the numbers stand for, one line each."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.browsing.view import View
from agentrl.envs.webarena.observing.names import Names
from agentrl.envs.webarena.observing.texts import harmless, squeezed, under_header

MAX_NAME = 60
MAX_LINES = 300


def marked_list(view: View, *, header: bool = False) -> str:
    """Lines such as `[12] a Checkout` and `[3] input "lamp" Search`: id, tag, contents of a field, name."""
    names = Names(view)
    lines = [_line(number, element, names) for number, element in enumerate(view.labels[:MAX_LINES])]
    if len(view.labels) > MAX_LINES:
        lines.append(f"... and {len(view.labels) - MAX_LINES} more")
    return under_header(view, harmless("\n".join(lines)), header)


def nothing(view: View, *, header: bool = False) -> str:
    """No text: the picture says it all."""
    return under_header(view, "", header)


def _line(number: int, element: Any, names: Names) -> str:
    role = names.role(element)
    kind = (element.get("type") or "").lower() if element.tag == "input" else ""
    parts = [f"[{number}]", kind if kind in ("checkbox", "radio", "submit") else str(element.tag)]
    value = names.value(element, role)
    if kind in ("checkbox", "radio"):
        parts.append("(checked)" if names.view.values.get(element) else "(not checked)")
    elif value:
        parts.append(f'"{squeezed(value, MAX_NAME)}"')
    return " ".join([*parts, squeezed(names.name(element, role), MAX_NAME)]).rstrip()
