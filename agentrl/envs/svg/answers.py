"""From what a model wrote to SVG code that may be drawn, or to one line that says what to do better."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agentrl.core.parsing import extract_answer
from agentrl.envs.svg.sandbox.gate import SvgRefused, check

MAX_REMARK = 160
_CLOSED = re.compile(r"</(?:\w+:)?svg\s*>", re.IGNORECASE)


class Answer(NamedTuple):
    """Checked code, or what is wrong and why it was refused."""

    code: str | None
    problem: str | None = None
    reason: str | None = None  # the gate's word for it, or our own: see `read_answer`


def read_answer(action: Any) -> Answer:
    """The code of an action; total, whatever the action is.

    Besides the gate's reasons there are "not_text", "answer_tags", "markdown", "html" and "prose".
    """
    if not isinstance(action, str):
        return Answer(None, f"an action is text, not {type(action).__name__}", "not_text")
    text, problem = extract_answer(action)
    if text is None:
        return Answer(None, problem, "answer_tags")
    reason, problem = _wrapping(text.strip())
    if reason is not None:
        return Answer(None, problem, reason)
    try:
        return Answer(check(text))
    except SvgRefused as refused:
        return Answer(None, f"{refused.reason.replace('_', ' ')}: {remark(refused.detail)}", refused.reason)


def _wrapping(text: str) -> tuple[str | None, str]:
    """(reason, problem) where something other than SVG code stands around the code or in its place."""
    head = text[:200].lstrip("\ufeff").lstrip().lower()
    if not head:
        return "empty", "no SVG code given"
    if head.startswith(("```", "~~~")) or text.endswith(("```", "~~~")):
        return "markdown", "the code stands in a Markdown fence; write the SVG alone"
    if head.startswith(("<!doctype html", "<html", "<body", "<div", "<p>")):
        return "html", "this is HTML; write one svg element alone"
    if not head.startswith("<"):
        return "prose", "words stand before the code; write the SVG alone"
    ends = [match.end() for match in _CLOSED.finditer(text)]
    if ends and text[ends[-1] :].strip() and not text[ends[-1] :].lstrip().startswith("<"):
        return "prose", "words stand behind the code; write the SVG alone"
    return None, ""


def remark(detail: str) -> str:
    """A detail that may quote hostile code, fit for an observation: one line, and no mark of a picture in it."""
    plain = "".join(char if char.isprintable() else " " for char in detail.replace("<", "").replace(">", ""))
    short = " ".join(plain.encode("utf-8", "backslashreplace").decode().split())
    return short if len(short) <= MAX_REMARK else short[:MAX_REMARK] + "..."
