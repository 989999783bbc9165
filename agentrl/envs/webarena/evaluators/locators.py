"""`evaluate_locator`: what a task's JavaScript expression gives on a page, without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.envs.webarena.evaluators.expressions import parse
from agentrl.envs.webarena.evaluators.inner_text import BY_TAG, Styles
from agentrl.envs.webarena.evaluators.nodes import (
    UNDEFINED,
    Document,
    LocatorError,
    Node,
    Page,
    TextNode,
    UnreadableLocator,
)


def evaluate_locator(
    expression: str, root: Any, values: Mapping[Any, str] | None = None, styles: Styles = BY_TAG
) -> str:
    """The value of an expression such as `document.querySelector("#total").outerText`, as text.

    `root` is the <html> element (lxml), `values` the live contents of fields by element (as in `View`), `styles` say
    how elements are displayed where style sheets are known. An expression that fails on the page gives "", as in the
    benchmark; other values look as Python prints them there: "None" for null, "True", "3". `UnreadableLocator`, an
    `EnvFault`, where the expression uses something that is not known here: then nobody can say what it would give.
    """
    try:
        return _printed(run_locator(expression, root, values, styles))
    except LocatorError:
        return ""


def run_locator(expression: str, root: Any, values: Mapping[Any, str] | None = None, styles: Styles = BY_TAG) -> Any:
    """The same as a Python value; `LocatorError` if the expression fails on the page."""
    page = Page(root, values or {}, styles)
    try:
        found = parse(expression)({"document": Document(page)})
        return found() if callable(found) else found  # "() => ..." is called, as browsers' drivers do
    except RecursionError:
        raise UnreadableLocator("the expression is nested too deeply") from None
    except (TypeError, AttributeError, ValueError) as error:
        raise LocatorError(f"the expression fails: {error}") from error


def check_locator(expression: str) -> None:
    """`UnreadableLocator` with the reason where an expression cannot be read at all."""
    parse(expression)


def _printed(value: Any) -> str:
    if value is UNDEFINED:
        return "None"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (Node, Document, TextNode)):
        return "ref: <Node>"
    return str(value)
