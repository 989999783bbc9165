"""Places of the shop as addresses of a web site, and back.

The benchmark's scheme (`page_url`) cannot be read back: it leaves out the lot of a random search, and a browser takes
a search for ".." for the folder above.
"""

from __future__ import annotations

from dataclasses import fields
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from agentrl.envs.webshop.pages import PAGES, Place

ORIGIN = "http://webshop.test"  # a name that no machine has; the process answers itself


def address_of(session: str, place: Place) -> str:
    """The address of a place. `session` tells visits for different goals apart."""
    known = {field.name: getattr(place, field.name) for field in fields(Place) if field.name != "page"}
    known["options"] = msgspec.json.encode(place.options).decode()
    told = {name: value for name, value in known.items() if value not in ("", 0, "[]")}
    return f"{ORIGIN}/{quote(session)}/{place.page}" + (f"?{urlencode(told)}" if told else "")


def place_at(address: str) -> Place | None:
    """The place that has this address; None where it is nobody's."""
    parts = urlsplit(address)
    page = parts.path.rpartition("/")[2]
    told = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not address.startswith(f"{ORIGIN}/") or page not in PAGES:
        return None
    try:
        options = msgspec.json.decode(told.pop("options", "[]"))
        return msgspec.convert({**told, "page": page, "options": options}, Place, strict=False)
    except (msgspec.MsgspecError, ValueError):
        return None
