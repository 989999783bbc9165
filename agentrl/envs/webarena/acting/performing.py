"""From an action to calls of a back end."""

from __future__ import annotations

from agentrl.envs.webarena.acting.actions import Action
from agentrl.envs.webarena.browsing.backend import ActionFailed, Backend
from agentrl.envs.webarena.observing.texts import harmless

_KEYS = {
    **{name.lower(): name for name in ("Enter", "Tab", "Escape", "Backspace", "Delete", "Home", "End", "Space")},
    **{f"arrow{way.lower()}": f"Arrow{way}" for way in ("Up", "Down", "Left", "Right")},
    **{"pageup": "PageUp", "pagedown": "PageDown", "return": "Enter", "esc": "Escape", "del": "Delete", "": "Space"},
    **{"ctrl": "Control", "control": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt"},
    **{"meta": "Meta", "cmd": "Meta", "command": "Meta"},
}
_NO_FIELD = ("button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden")


def perform(action: Action, backend: Backend) -> str:
    """Do it; a remark for the agent, mostly empty. `ActionFailed` where it cannot be done on this page, with a sentence
    that ends without a full stop. Answers and notes do nothing here: the environment keeps them."""
    try:
        return _perform(action, backend)
    except ActionFailed as problem:
        # It may repeat a part of the action, and will stand in an observation.
        raise ActionFailed(harmless(str(problem)).rstrip(".")) from problem


def _perform(action: Action, backend: Backend) -> str:
    name, element = action.name, action.element
    if element is not None:
        return _on_element(action, element, backend)
    if name == "press":
        backend.press(key_name(action.text))
    elif name in ("scroll_up", "scroll_down"):
        backend.scroll(name.removeprefix("scroll_"))
    elif name == "tab_focus":
        backend.focus_tab(action.number or 0)
    elif name == "goto":
        backend.open(action.text.strip())
    elif name == "wait":
        backend.refresh()
    elif name == "note":
        return "Noted."
    elif name in ("back", "forward", "new_tab", "close_tab"):
        getattr(backend, name)()
    return ""


def _on_element(action: Action, element: int, backend: Backend) -> str:
    name = action.name
    if name in ("type", "search"):
        backend.type(element, action.text, enter=name == "search")
    elif name == "select":
        backend.select(element, action.text)
    elif name == "hover":
        backend.hover(element)
    elif name == "focus":
        _focus(element, backend)
    elif name == "press":
        return _press_on(element, key_name(action.text), backend)
    else:
        # A double click is a click: pages without scripts know no other, and a link has led away after the first.
        backend.click(element, "right" if name == "right_click" else "left")
    return ""


def _press_on(element: int, key: str, backend: Backend) -> str:
    if not _is_field(element, backend) and key in ("Enter", "Space"):
        backend.click(element)
    else:
        _focus(element, backend)
        backend.press(key)
    return ""


def _focus(element: int, backend: Backend) -> None:
    """A click gives a field the keyboard and does nothing else; on other elements it would do what they are for."""
    if _is_field(element, backend):
        backend.click(element)
    else:
        backend.hover(element)


def _is_field(element: int, backend: Backend) -> bool:
    labels = backend.view().labels
    found = labels[element] if element < len(labels) else None
    if found is None:
        return False
    return found.tag in ("textarea", "select") or (
        found.tag == "input" and found.get("type", "text").lower() not in _NO_FIELD
    )


def key_name(keys: str) -> str:
    """A key or combination in the back end's spelling: "ctrl+a" is "Control+A"."""
    parts = [part.strip() for part in keys.strip().split("+")]
    return "+".join(
        _KEYS.get(part.lower(), part.upper() if len(parts) > 1 and len(part) == 1 else part) for part in parts
    )
