"""What a click does: links, buttons, check boxes, labels, <details>; and Enter, which clicks by keyboard."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.browsing.backend import ActionFailed
from agentrl.envs.webarena.browsing.document import Document
from agentrl.envs.webarena.browsing.forms import (
    Contents,
    can_type,
    form_of,
    is_disabled,
    kind_of,
    option_text,
    resets,
    submits,
)
from agentrl.envs.webarena.browsing.labels import labelled_control
from agentrl.envs.webarena.browsing.session import Session, link_address
from agentrl.envs.webarena.browsing.tab import initially_open


def activate(session: Session, element: Any, *, new_tab: bool = False) -> None:
    """Click an element: the innermost thing around the place that reacts does."""
    for node in (element, *element.iterancestors()):
        if kind_of(node):
            return _click_control(session, node)
        if node.tag == "a" and node.get("href") is not None:
            focus(session, node)
            return session.follow(node.get("href"), "_blank" if new_tab else node.get("target") or "")
        if node.tag == "summary" and node.getparent() is not None and node.getparent().tag == "details":
            focus(session, node)
            return _toggle_details(session, node.getparent())
        if node.tag == "label":
            control = labelled_control(node, session.page.document)
            return None if control is None else _click_control(session, control)
    session.entry.focus = None
    session.version += 1


def check_click(element: Any, document: Document, contents: Contents, url: str) -> None:
    """`ActionFailed` where a click on a page under this address would be refused: a disabled control, a form with
    contents that it does not accept, a link that leads nowhere."""
    for node in (element, *element.iterancestors()):
        if node.tag == "a" and node.get("href") is not None:
            link_address(url, document.base, node.get("href"))
            return
        if node.tag == "summary":
            return
        control = labelled_control(node, document) if node.tag == "label" else node if kind_of(node) else None
        if control is not None:
            if is_disabled(control):
                raise ActionFailed("This element is disabled.")
            form = form_of(control) if submits(control) else None
            if form is not None:
                _check_form(contents, form, control)
            return


def focus(session: Session, element: Any) -> None:
    """Give an element the keyboard."""
    session.entry.focus = session.page.document.index[element]
    session.entry.selected = False
    session.version += 1


def _click_control(session: Session, control: Any) -> None:
    if is_disabled(control):
        raise ActionFailed("This element is disabled.")
    contents, form = session.contents, form_of(control)
    if submits(control) and form is not None:
        return _submit(session, form, control)
    focus(session, control)
    if resets(control) and form is not None:
        contents.reset(form)
    elif kind_of(control) in ("check", "radio"):
        contents.toggle(control)


def _submit(session: Session, form: Any, button: Any) -> None:
    _check_form(session.contents, form, button)
    if button is not None:
        focus(session, button)
    session.send(session.contents.submission(form, button))


def _check_form(contents: Contents, form: Any, button: Any) -> None:
    complaint = contents.complaint(form, button)
    if complaint is not None:
        control, reason = complaint
        raise ActionFailed(f"The form was not sent: {_name(control)} {reason}.")


def _name(control: Any) -> str:
    """How a user would call a field."""
    labels = [*control.iterancestors("label")]
    if control.get("id"):
        labels += control.getroottree().xpath("//label[@for=$name]", name=control.get("id"))
    text = (
        option_text(labels[0])
        if labels
        else control.get("aria-label") or control.get("placeholder") or control.get("name")
    )
    return f"the field {text[:60]!r}" if text else "a field"


def _toggle_details(session: Session, details: Any) -> None:
    document = session.page.document
    opened = session.entry.opened
    opened = initially_open(document) if opened is None else opened
    session.entry.opened = opened ^ {document.index[details]}
    session.version += 1


def press_enter(session: Session, focused: Any) -> None:
    """Enter: follows a link, presses a button, ends a line of a text area, sends the form of a field."""
    kind = kind_of(focused)
    if focused.tag == "textarea":
        contents = session.contents
        if focused.get("readonly") is None:
            contents.put(focused, ("" if session.entry.selected else contents.held(focused)) + "\n")
            session.entry.selected = False
            session.version += 1
    elif kind in ("button", "") or focused.tag in ("a", "summary"):
        activate(session, focused)
    elif kind in ("text", "check", "radio"):
        send_form(session, focused)


def send_form(session: Session, field: Any) -> None:
    """What Enter in a field does: press the first button of its form that sends it."""
    form = form_of(field)
    if form is None:
        return
    button = session.contents.default_button(form)
    if button is None and not session.contents.sends_without_button(form):
        return
    if button is not None and is_disabled(button):
        return
    complaint = session.contents.complaint(form, button)
    if complaint is None:
        _submit(session, form, button)
    else:  # the text that was typed stays
        focus(session, complaint[0])


def check_typable(element: Any) -> None:
    """`ActionFailed` unless the element takes text."""
    if not can_type(element):
        raise ActionFailed("This element is not a text field.")
    if is_disabled(element):
        raise ActionFailed("This element is disabled.")
    if element.get("readonly") is not None:
        raise ActionFailed("This field cannot be changed.")
