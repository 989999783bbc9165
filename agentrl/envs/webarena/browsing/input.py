"""What clicks and keys do: links, buttons, check boxes, labels, <details>, fields, and the page itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agentrl.envs.webarena.backend import ActionFailed, View
from agentrl.envs.webarena.browsing import behaviours, forms
from agentrl.envs.webarena.browsing.session import Session, initially_open, link_address
from agentrl.envs.webarena.layout.document import Document, option_text
from agentrl.envs.webarena.layout.page import labelled_control

BUTTONS = ("left", "middle", "right")
_NAMES = {
    "return": "enter", "esc": "escape", "del": "delete", "spacebar": "space", " ": "space", "up": "arrowup",
    "down": "arrowdown", "left": "arrowleft", "right": "arrowright", "pgdn": "pagedown", "pgup": "pageup",
    "ctrl": "control", "cmd": "control", "meta": "control", "command": "control", "option": "alt",
    "controlormeta": "control", "page_down": "pagedown", "page_up": "pageup",
}  # fmt: skip
_MODIFIERS = {"control", "shift", "alt"}
_LINE = 40  # pixels that an arrow key scrolls
_WITHOUT_EFFECT = {
    "insert", "capslock", "control", "shift", "alt", "arrowleft", "arrowright", "control+c", "control+f",
    "control+s", "control+p", "control+shift", *(f"f{number}" for number in range(1, 13) if number != 5),
}  # fmt: skip


def activate(session: Session, element: Any, *, new_tab: bool = False) -> None:
    """Click an element: the innermost thing around the place that reacts does, unless the page has its own way."""
    element, done = session.click(element)
    if done or element is None:
        return None
    for node in (element, *element.iterancestors()):
        if forms.kind_of(node):
            return _click_control(session, node)
        if node.tag == "a" and node.get("href") is not None:
            focus(session, node)
            return session.follow(node.get("href"), "_blank" if new_tab else node.get("target") or "")
        if node.tag == "summary" and node.getparent() is not None and node.getparent().tag == "details":
            focus(session, node)
            document, opened = session.page.document, session.entry.opened
            opened = initially_open(document) if opened is None else opened
            session.entry.opened = opened ^ {document.index[node.getparent()]}
            session.version += 1
            return None
        if node.tag == "label":
            control = labelled_control(node, session.page.document)
            return None if control is None else _click_control(session, control)
        if _takes_focus(node):
            return focus(session, node)
    session.entry.focus = None
    session.version += 1


def check_click(element: Any, document: Document, contents: forms.Contents, url: str) -> None:
    """`ActionFailed` where a click on a page under this address would be refused: a disabled control, a form with
    contents that it does not accept, a link that leads nowhere."""
    if behaviours.trigger_of(document, element) is not None:
        return
    for node in (element, *element.iterancestors()):
        if node.tag == "a" and node.get("href") is not None:
            link_address(url, document.base, node.get("href"))
            return
        if node.tag == "summary":
            return
        control = labelled_control(node, document) if node.tag == "label" else node if forms.kind_of(node) else None
        if control is not None:
            if forms.is_disabled(control):
                raise ActionFailed("This element is disabled.")
            form = forms.form_of(control) if forms.submits(control) else None
            if form is not None:
                _check_form(contents, form, control)
            return


def focus(session: Session, element: Any) -> None:
    """Give an element the keyboard."""
    session.entry.focus = session.page.document.index[element]
    session.entry.selected = False
    session.version += 1


def _click_control(session: Session, control: Any) -> None:
    if forms.is_disabled(control):
        raise ActionFailed("This element is disabled.")
    contents, form = session.contents, forms.form_of(control)
    if forms.submits(control) and form is not None:
        _check_form(contents, form, control)
        focus(session, control)
        return session.send(contents.submission(form, control))
    focus(session, control)
    if forms.resets(control) and form is not None:
        contents.reset(form)
    elif forms.kind_of(control) in ("check", "radio"):
        contents.toggle(control)


def _check_form(contents: forms.Contents, form: Any, button: Any) -> None:
    complaint = contents.complaint(form, button)
    if complaint is not None:
        control, reason = complaint
        labels = [*control.iterancestors("label")]
        if control.get("id"):
            labels += control.getroottree().xpath("//label[@for=$name]", name=control.get("id"))
        # How a user would call the field.
        text = option_text(labels[0]) if labels else ""
        if not labels:
            text = control.get("aria-label") or control.get("placeholder") or control.get("name")
        name = f"the field {text[:60]!r}" if text else "a field"
        raise ActionFailed(f"The form was not sent: {name} {reason}.")


def press_enter(session: Session, focused: Any) -> None:
    """Enter: follows a link, presses a button, ends a line of a text area, sends the form of a field."""
    if focused is None:
        return
    kind = forms.kind_of(focused)
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
    form = forms.form_of(field)
    if form is None:
        return
    controls = list(session.contents.controls(form))
    button = next((control for control in controls if forms.submits(control)), None)
    if button is None and sum(forms.kind_of(control) == "text" for control in controls) > 1:
        return  # a form without a button is sent only if there is one field to type in
    if button is not None and forms.is_disabled(button):
        return
    complaint = session.contents.complaint(form, button)
    if complaint is None:  # the keyboard stays in the field
        session.send(session.contents.submission(form, button))
    else:  # the text that was typed stays
        focus(session, complaint[0])


# ---------------------------------------------------------------------- what an action of the agent means


def labelled_element(view: View, number: int) -> Any:
    """The element with this id; `ActionFailed` where there is none."""
    labels = view.labels
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(labels):
        raise ActionFailed(f"There is no element {number}; the ids on this page are 0 to {len(labels) - 1}.")
    return labels[number]


def control_of(element: Any, document: Document) -> Any:
    """The element; for a <label>, or something in it, the control that a click on it would reach."""
    if forms.kind_of(element):
        return element
    label = element if element.tag == "label" else next(element.iterancestors("label"), None)
    control = None if label is None else labelled_control(label, document)
    return element if control is None else control


def check_button(button: str) -> None:
    """`ActionFailed` unless a mouse has this button."""
    if button not in BUTTONS:
        raise ActionFailed(f"There is no mouse button {button[:40]!r}; buttons are {', '.join(BUTTONS)}.")


def accepted_text(field: Any, text: str) -> str:
    """What a field holds after this was typed; `ActionFailed` where the element does not take it."""
    if not forms.can_type(field):
        raise ActionFailed("This element is not a text field.")
    if forms.is_disabled(field):
        raise ActionFailed("This element is disabled.")
    if field.get("readonly") is not None:
        raise ActionFailed("This field cannot be changed.")
    accepted = forms.acceptable(field, text)
    if accepted is None:
        raise ActionFailed(f"The field takes a {field.get('type', 'text')}, not {text[:60]!r}.")
    return accepted


def scroll_step(direction: str, viewport: tuple[int, int]) -> int:
    """How many pixels "up" or "down" scrolls: two thirds of the viewport."""
    if direction not in ("up", "down"):
        raise ActionFailed(f"The page scrolls up or down, not {direction[:40]!r}.")
    step = viewport[1] * 2 // 3
    return step if direction == "down" else -step


def option_with(text: str, select: Any) -> int:
    """The number of the first option of a list that contains this text, in either case of letters."""
    if select.tag != "select":
        raise ActionFailed("This element is not a drop-down list.")
    if forms.is_disabled(select):
        raise ActionFailed("This element is disabled.")
    wanted = " ".join(text.lower().split())
    for number, option in enumerate(forms.options_of(select)):
        if wanted in option_text(option).lower() and option.get("disabled") is None:
            return number
    raise ActionFailed(f"No option contains {text[:60]!r}.")


# ---------------------------------------------------------------------- keys


def press(session: Session, key: str) -> None:
    """Press a key or combination; `ActionFailed` if the key is unknown."""
    keys = normal(key)
    session.turn()
    focused = focused_element(session)
    action = _ACTIONS.get(keys)
    if action is not None:
        action(session, focused)
    elif len(key) == 1 and key.isprintable():
        write_focused(session, key)
    elif not is_known(key):
        raise unknown_key(key)


def unknown_key(key: str) -> ActionFailed:
    """What a back end raises for a key that no keyboard has."""
    return ActionFailed(f"There is no key {key[:40]!r}; keys are such as Enter, Tab, Escape, ArrowDown, Control+A.")


def is_known(key: str) -> bool:
    """Is there such a key or combination?"""
    keys = normal(key)
    return keys in _ACTIONS or keys in _WITHOUT_EFFECT or (len(key) == 1 and key.isprintable())


def normal(key: str) -> str:
    """A key or combination with its names in one spelling and order: "control+a"."""
    names = [name.strip().lower() or "+" for name in re.split(r"(?<=.)\+", key)] if len(key) > 1 else [key.lower()]
    names = [_NAMES.get(name, name) for name in names]
    return "+".join([*sorted(name for name in names[:-1] if name in _MODIFIERS), names[-1]])


def focused_element(session: Session) -> Any:
    """The element that has the keyboard, or None."""
    number = session.entry.focus
    elements = session.page.document.elements
    return elements[number] if number is not None and number < len(elements) else None


def write_focused(session: Session, text: str) -> None:
    """Type into the field that has the keyboard, if any has."""
    focused = focused_element(session)
    if text and focused is not None and forms.can_type(focused):
        write(session, focused, text)


def write(session: Session, field: Any, text: str) -> None:
    """Type behind what a field holds, or over it where all of it is selected."""
    before = "" if session.entry.selected else session.contents.held(field)
    _hold(session, field, before + text)


def _hold(session: Session, field: Any, text: str) -> None:
    if field.get("readonly") is not None or forms.is_disabled(field):
        return
    accepted = forms.acceptable(field, text)
    session.entry.selected = False
    session.version += 1
    if accepted is not None:
        session.contents.put(field, accepted)
        session.held(field)


# ---------------------------------------------------------------------- what keys do


def _space(session: Session, focused: Any) -> None:
    if focused is None:
        _scroll(0.9)(session, focused)
    elif forms.can_type(focused):
        write(session, focused, " ")
    elif forms.kind_of(focused) in ("check", "radio", "button") or focused.tag == "summary":
        activate(session, focused)


def _erase(session: Session, focused: Any) -> None:
    if focused is not None and forms.can_type(focused):
        held = session.contents.held(focused)
        _hold(session, focused, "" if session.entry.selected else held[:-1])


def _delete(session: Session, focused: Any) -> None:
    if session.entry.selected:  # the cursor stands at the end, where there is nothing to delete
        _erase(session, focused)


def _select_all(session: Session, focused: Any) -> None:
    if focused is not None and forms.can_type(focused):
        session.entry.selected = True
        session.version += 1


def _move_focus(step: int) -> Callable[[Session, Any], None]:
    def move(session: Session, focused: Any) -> None:
        document = session.page.document
        boxes = session.page.at(session.entry.scroll).boxes
        stops = [element for element in document.elements if element in boxes and _takes_focus(element)]
        if not stops:
            return
        place = stops.index(focused) + step if focused in stops else (0 if step > 0 else len(stops) - 1)
        focus(session, stops[place % len(stops)])
        session.entry.selected = forms.can_type(stops[place % len(stops)])

    return move


def _takes_focus(element: Any) -> bool:
    tabindex = (element.get("tabindex") or "").strip()
    if tabindex.startswith("-") or forms.is_disabled(element):
        return False
    return (
        forms.kind_of(element) not in ("", "hidden")
        or (element.tag == "a" and element.get("href") is not None)
        or element.tag == "summary"
        or tabindex.isdigit()
    )


def _arrow(step: int) -> Callable[[Session, Any], None]:
    def move(session: Session, focused: Any) -> None:
        kind = "" if focused is None else forms.kind_of(focused)
        contents = session.contents
        if kind == "select":
            options = forms.options_of(focused)
            chosen = contents.chosen(focused)
            place = (options.index(chosen[0]) if chosen else -1) + step
            if 0 <= place < len(options):
                contents.put(focused, str(place))
                session.version += 1
        elif kind == "radio":
            group = contents.radio_group(focused)
            other = group[(group.index(focused) + step) % len(group)]
            contents.toggle(other)
            focus(session, other)
        elif kind not in ("text", "textarea"):
            session.scroll_to(session.entry.scroll + step * _LINE)

    return move


def _scroll(share: float) -> Callable[[Session, Any], None]:
    def move(session: Session, focused: Any) -> None:
        if focused is None or not forms.can_type(focused):
            session.scroll_to(session.entry.scroll + round(share * session.viewport[1]))

    return move


_ACTIONS: dict[str, Callable[[Session, Any], None]] = {
    "enter": press_enter,
    "space": _space,
    "backspace": _erase,
    "delete": _delete,
    "control+a": _select_all,
    "tab": _move_focus(1),
    "shift+tab": _move_focus(-1),
    "arrowdown": _arrow(1),
    "arrowup": _arrow(-1),
    "pagedown": _scroll(0.9),
    "pageup": _scroll(-0.9),
    **dict.fromkeys(("end", "control+end"), _scroll(1e6)),
    **dict.fromkeys(("home", "control+home"), _scroll(-1e6)),
    "escape": lambda session, focused: session.edit(behaviours.escaped(session.page.document)),
    **dict.fromkeys(("f5", "control+r"), lambda session, focused: session.reload()),
    "alt+arrowleft": lambda session, focused: session.travel(-1),
    "alt+arrowright": lambda session, focused: session.travel(1),
    "control+t": lambda session, focused: session.new_tab(),
    "control+w": lambda session, focused: session.close_tab(),
}
