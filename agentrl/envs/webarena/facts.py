"""What can be said about a page and an episode beside their text: kind, form contents, cart, changed records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentrl.envs.webarena.browsing.view import View
from agentrl.envs.webarena.sites.places import PLACES, Place
from agentrl.envs.webarena.sites.world import World, place_of

MAX_VALUE = 200  # characters of a form field or column
MAX_FIELDS = 80
UNSEEN_TYPES = ("hidden", "password", "submit", "button", "reset", "image")


def site_name(url: str) -> str:
    """The benchmark's name of the site that an address belongs to; empty where there is none."""
    place = place_of(url)
    return next((name for name, known in PLACES.items() if known is place), "")


def page_kind(view: View) -> str:
    """What kind of page it is, as the site itself calls it."""
    body = view.root.find("body")
    return "" if body is None else body.get("data-page", "")


def form_fields(view: View) -> dict[str, str]:
    """The contents of the fields of the page by name; of radio buttons the chosen value, of check boxes "on" or ""."""
    found: dict[str, str] = {}
    for field, value in view.values.items():
        name, kind = field.get("name", ""), field.get("type", "").lower()
        if not name or kind in UNSEEN_TYPES or len(found) >= MAX_FIELDS or field not in view.boxes:
            continue
        if kind == "radio":
            if value:
                found[name] = clipped(field.get("value", "on"))
        elif kind == "checkbox" and (name.endswith("[]") or name in found):
            found[f"{name} {clipped(field.get('value', 'on'))}"] = value
        else:
            found[name] = clipped(value)
    return found


def cart_of(world: World, cookies: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """What the visitor with these cookies has in the shopping cart."""
    return tuple(item for place in PLACES.values() for item in _facts(world, place, cookies).get("cart", ()))


def _facts(world: World, place: Place, cookies: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    known = cookies.get(place.origin)
    token = known.get(place.site.cookie) if known and place.account else None
    if token is None:
        return {}
    db = world.database(place.data)
    session = db.row("SELECT user_id FROM session WHERE site = ? AND token = ?", place.site.name, token)
    return place.site.facts(db, None if session is None else session["user_id"])


def records(world: World) -> dict[str, Any]:
    """The rows that the episode has changed: "store.review" -> id -> row, None where it was deleted."""
    return {
        f"{data}.{table}": {str(row_id): _clipped_row(row) for row_id, row in sorted(rows.items())}
        for data, tables in world.changes().items()
        for table, rows in tables.items()
        if table != "session"  # logins and messages on the way
    }


def _clipped_row(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {name: clipped(value) if isinstance(value, str) else value for name, value in row.items()}


def clipped(text: str) -> str:
    """The beginning of a text that may be a megabyte long."""
    return text if len(text) <= MAX_VALUE else text[:MAX_VALUE] + "..."


def quoted_words(instruction: str) -> list[str]:
    """What an instruction quotes or writes with capital letters, most likely names to search for; else all of it."""
    found = re.findall(r'["\u201c]([^"\u201d]{2,80})["\u201d]', instruction)
    found += re.findall(r"(?<!^)(?<![.?!] )\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*", instruction)
    return list(dict.fromkeys(found))[:4] or [instruction[:80]]
