"""Form controls: what they hold at the moment, and what a form sends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from agentrl.envs.webarena.layout.document import (
    BUTTON_TYPES,
    Document,
    input_type,
    kind_of,
    option_value,
    options_of,
    whole,
)
from agentrl.envs.webarena.sites.messages import Fields

_CHECK_TYPES = {"checkbox", "radio"}
_UNTYPABLE = BUTTON_TYPES | _CHECK_TYPES | {"hidden", "file", "color", "range"}
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Submission(NamedTuple):
    """What the browser is to ask for when a form is sent."""

    method: str
    action: str  # as it stands in the page; relative, or empty for the page itself
    fields: Fields
    target: str


def can_type(element: Any) -> bool:
    """Does the element take text?"""
    return element.tag == "textarea" or (element.tag == "input" and input_type(element) not in _UNTYPABLE)


def is_disabled(element: Any) -> bool:
    """Is the control, or the <fieldset> around it, disabled?"""
    if not kind_of(element):
        return False
    if element.get("disabled") is not None:
        return True
    return any(fieldset.get("disabled") is not None for fieldset in element.iterancestors("fieldset"))


def submits(element: Any) -> bool:
    """Is it a button that sends its form?"""
    if element.tag == "button":
        return (element.get("type") or "submit").strip().lower() not in ("button", "reset")
    return element.tag == "input" and input_type(element) in ("submit", "image")


def resets(element: Any) -> bool:
    """Is it a button that empties its form?"""
    return element.tag in ("button", "input") and (element.get("type") or "").strip().lower() == "reset"


def form_of(element: Any) -> Any:
    """The form that a control belongs to, or None."""
    name = element.get("form")
    if name:
        found = element.getroottree().xpath("//form[@id=$name]", name=name)
        return found[0] if found else None
    return next(element.iterancestors("form"), None)


class Contents:
    """What the controls of a page hold. `changed` has what differs from the HTML: index of element -> text, "on" or ""
    for check boxes and radio buttons, the numbers of the chosen options for a <select>."""

    def __init__(self, document: Document, changed: dict[int, str]) -> None:
        self.document, self.changed = document, changed

    def held(self, element: Any) -> str:
        """What a control holds, in the form of `changed`."""
        found = self.changed.get(self.document.index[element])
        return initial(element) if found is None else found

    def chosen(self, select: Any) -> list[Any]:
        """The chosen options of a <select>."""
        options = options_of(select)
        numbers = [int(number) for number in self.held(select).split(",") if number]
        return [options[number] for number in numbers if number < len(options)]

    def value(self, element: Any) -> str:
        """What a script would read as `value`; "on" or "" of check boxes and radio buttons."""
        if element.tag != "select":
            return self.held(element)
        chosen = self.chosen(element)
        return option_value(chosen[0]) if chosen else ""

    def put(self, element: Any, held: str) -> None:
        """Let a control hold this."""
        self.changed[self.document.index[element]] = held

    def toggle(self, element: Any) -> None:
        """Click a check box or radio button."""
        if kind_of(element) == "check":
            self.put(element, "" if self.held(element) else "on")
            return
        for other in self.radio_group(element):
            self.put(other, "")
        self.put(element, "on")

    def radio_group(self, element: Any) -> list[Any]:
        """The radio buttons of which only one can be on."""
        name, form = element.get("name"), form_of(element)
        if not name:
            return [element]
        others = [control for control in self.document.controls if kind_of(control) == "radio"]
        return [other for other in others if other.get("name") == name and form_of(other) is form]

    def reset(self, form: Any) -> None:
        """Let all controls of a form hold what the HTML says."""
        for control in self.controls(form):
            self.changed.pop(self.document.index[control], None)

    def controls(self, form: Any) -> Iterator[Any]:
        """The controls of a form in the order of the page."""
        return (element for element in self.document.controls if form_of(element) is form)

    def submission(self, form: Any, button: Any = None) -> Submission:
        """What a form sends when this button was clicked."""

        def attribute(name: str) -> str:
            special = None if button is None else button.get(f"form{name}")
            return (form.get(name) if special is None else special) or ""

        method = "POST" if attribute("method").strip().lower() == "post" else "GET"
        sent = (pair for control in self.controls(form) for pair in self._sent(control, button))
        fields = tuple((clean(name), clean(value)) for name, value in sent)
        return Submission(method, attribute("action").strip(), fields, attribute("target").strip())

    def _sent(self, control: Any, button: Any) -> Iterator[tuple[str, str]]:
        name, kind = control.get("name") or "", kind_of(control)
        if is_disabled(control) or next(control.iterancestors("datalist"), None) is not None:
            return
        if control.tag == "input" and input_type(control) == "image":
            if control is button:
                prefix = f"{name}." if name else ""
                yield from ((f"{prefix}x", "0"), (f"{prefix}y", "0"))
        elif not name:
            return
        elif kind == "button":
            if control is button:
                yield name, control.get("value") or ""
        elif kind in ("check", "radio"):
            if self.held(control):
                yield name, control.get("value", "on")
        elif kind == "select":
            enabled = (option for option in self.chosen(control) if option.get("disabled") is None)
            yield from ((name, option_value(option)) for option in enabled)
        else:
            yield name, self.held(control)

    def complaint(self, form: Any, button: Any = None) -> tuple[Any, str] | None:
        """The first control whose contents the form does not accept, and why."""
        if form.get("novalidate") is not None or (button is not None and button.get("formnovalidate") is not None):
            return None
        for control in self.controls(form):
            fixed = is_disabled(control) or control.get("readonly") is not None
            reason = "" if fixed or kind_of(control) in ("button", "hidden", "") else self._fault(control)
            if reason:
                return control, reason
        return None

    def _fault(self, control: Any) -> str:
        kind, value = kind_of(control), self.value(control)
        if control.get("required") is not None:
            on = [other for other in self.radio_group(control) if self.held(other)] if kind == "radio" else value
            if not on:
                return "must be filled in"
        if kind != "text" or not value:
            return ""
        kind = input_type(control)
        if kind == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+", value):
            return "must be an e-mail address"
        if kind == "url" and not re.match(r"[a-zA-Z][\w+.-]*:", value):
            return "must be an address such as http://example.com"
        if kind == "number":
            for name, word, beyond in (("min", "least", float.__lt__), ("max", "most", float.__gt__)):
                limit = (control.get(name) or "").strip()
                if _NUMBER.fullmatch(limit) and beyond(float(value), float(limit)):
                    return f"must be at {word} {limit}"
        pattern = control.get("pattern")
        if pattern and len(value) < 1000 and kind not in ("number", "date"):
            try:
                fits = re.fullmatch(pattern, value)
            except re.error:
                return ""
            return "" if fits else "has not the form that the page asks for"
        return ""


def initial(element: Any) -> str:
    """What a control holds when the page is opened."""
    if element.tag == "textarea":
        text = "".join(element.itertext())
        return text[1:] if text.startswith("\n") else text
    if element.tag == "select":
        options = list(enumerate(options_of(element)))
        chosen = [str(number) for number, option in options if option.get("selected") is not None]
        if element.get("multiple") is not None:
            return ",".join(chosen)
        if chosen:
            return chosen[-1]
        return next((str(number) for number, option in options if option.get("disabled") is None), "")
    if kind_of(element) in ("check", "radio"):
        return "on" if element.get("checked") is not None else ""
    return element.get("value") or ""


def acceptable(element: Any, text: str) -> str | None:
    """What a field holds after somebody typed a text; None if the field does not take such a text."""
    text = whole(text)
    if element.tag == "textarea":
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    else:
        text = text.replace("\r", "").replace("\n", "")
        match input_type(element):
            case "number":
                text = text.strip()
                if text and not _NUMBER.fullmatch(text):
                    return None
            case "date":
                # As forms send it, out of 2025-06-30 or 06/30/2025.
                text = text.strip()
                if found := re.fullmatch(r"(\d\d?)/(\d\d?)/(\d{4})", text):
                    text = f"{found[3]}-{int(found[1]):02}-{int(found[2]):02}"
                try:
                    text = date.fromisoformat(text).isoformat() if text else ""
                except ValueError:
                    return None
            case "email" | "url":
                text = text.strip()
    limit = (element.get("maxlength") or "").strip()
    return text[: int(limit)] if limit.isascii() and limit.isdigit() and len(limit) < 9 else text


def clean(text: str) -> str:
    """Text as browsers send it, line ends as CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


def encode(fields: Fields) -> str:
    """Fields as they stand behind the question mark of an address."""
    return "&".join(f"{_quote(name)}={_quote(value)}" for name, value in fields)


def _quote(text: str) -> str:
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")
