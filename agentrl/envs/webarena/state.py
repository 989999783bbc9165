"""The truth of a moment on the web: the page, what stands in its forms, what the episode has changed and what lacks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from agentrl.core.claims import Claims, Value
from agentrl.core.parsing import quote
from agentrl.core.state import State
from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.sites.world import World

MAX_VALUE = 200  # characters of a form field or column
MAX_FIELDS = 80
UNREAD_REPLIES, EQUAL_ACTIONS = 3, 5  # in a row: when `early_stop` ends an episode
UNSEEN_TYPES = ("hidden", "password", "submit", "button", "reset", "image")


def form_fields(view: View) -> dict[str, str]:
    """The contents of the fields of the page by name; of radio buttons the chosen value, of check boxes "on" or ""."""
    found: dict[str, str] = {}
    for element, value in view.values.items():
        name, kind = element.get("name", ""), element.get("type", "").lower()
        if not name or kind in UNSEEN_TYPES or len(found) >= MAX_FIELDS or element not in view.boxes:
            continue
        if kind == "radio":
            if value:
                found[name] = clipped(element.get("value", "on"))
        elif kind == "checkbox" and (name.endswith("[]") or name in found):
            found[f"{name} {clipped(element.get('value', 'on'))}"] = value
        else:
            found[name] = clipped(value)
    return found


def page_facts(view: View) -> dict[str, Any]:
    """What a state says about a page; its kind is what the site itself calls it."""
    body = view.root.find("body")
    return {
        "url": view.url,
        "kind": "" if body is None else body.get("data-page", ""),
        "title": view.title,
        "tabs": tuple(tab.title for tab in view.tabs),
        "scroll": view.scroll,
        "fields": form_fields(view),
    }


def records(world: World) -> dict[str, Any]:
    """The rows that the episode has changed: "store.review" -> id -> row, None where it was deleted."""
    found: dict[str, Any] = {}
    for data, tables in world.changes().items():
        for table, rows in tables.items():
            if table != "session":  # logins and messages on the way
                entries = found[f"{data}.{table}"] = {}
                for row_id, row in sorted(rows.items()):
                    entries[str(row_id)] = row and {name: clipped(value) for name, value in row.items()}
    return found


def clipped(value: Any) -> Any:
    """The beginning of a text that may be a megabyte long; other values as they are."""
    return value[:MAX_VALUE] + "..." if isinstance(value, str) and len(value) > MAX_VALUE else value


def quoted_words(instruction: str) -> list[str]:
    """What an instruction quotes or writes with capital letters, most likely names to search for; else all of it."""
    found = re.findall(r'["\u201c]([^"\u201d]{2,80})["\u201d]', instruction)
    found += re.findall(r"(?<!^)(?<![.?!] )\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*", instruction)
    return list(dict.fromkeys(found))[:4] or [instruction[:80]]


GUIDES = {
    "natural": "Say which site and which kind of page this is, its title, what stands in the form fields, and what "
    "is in the cart.",
    "structured": 'A JSON object with the keys "site" (shopping, shopping_admin, reddit, gitlab, map), "kind" (of '
    'page, such as "product", "cart" or "issue"), "title", "fields" (name of a form field to its content) and '
    '"cart" (a list such as ["2 x Name"]).',
}
CLAIMS = Claims(
    values=(
        Value("site"),
        Value("kind", weight=2.0),
        Value("title", weight=2.0),
        Value("fields", many=True),
        Value("cart", many=True),
    )
)


@dataclass(frozen=True)
class WebState(State):
    """Everything but `missing`, `records` and `outcome` can be seen or worked out by an agent."""

    instruction: str
    actions: tuple[str, ...]  # what the agent has done so far, oldest first
    page: str  # the page as text, as far as it is in view: what an outcome judge reads
    url: str
    site: str  # name of the site, empty where the address belongs to none
    kind: str  # of page: "product", "cart", "issue", ...
    title: str
    tabs: tuple[str, ...]  # titles
    scroll: int
    fields: dict[str, str]  # what stands in the form fields of the page: name -> content
    cart: tuple[str, ...]  # what is in the shopping cart: "2 x name"
    records: dict[str, Any]  # rows that the episode has changed: "store.review" -> id -> row or None
    missing: tuple[str, ...]  # what the evaluator does not find yet; the answer is not among it
    answer: str | None  # once it is given
    outcome: float | None  # once it is known

    def natural(self) -> list[str]:
        """Where the agent is, what is filled in, what is in the cart."""
        site = f"the {self.site} site" if self.site else "no site of the task"
        facts = [f"The page belongs to {site} and is a page of the kind {quote(self.kind)}."]
        facts.append(f"Its title is {_safe(self.title)}.")
        filled = [f"{name} holds {_safe(value)}" for name, value in self.fields.items() if value]
        facts.append(f"In its forms {'; '.join(filled)}." if filled else "Nothing is filled in.")
        if self.cart:
            facts.append(f"The cart holds {_safe('; '.join(self.cart))}.")
        return facts

    @classmethod
    def claims(cls) -> Claims:
        """Site, kind of page, title, form fields and cart."""
        return CLAIMS

    def structured(self) -> dict[str, Any]:
        """The same as named values."""
        return {
            "site": self.site,
            "kind": self.kind,
            "title": self.title,
            "fields": dict(self.fields),
            "cart": list(self.cart),
        }

    def anchor(self) -> str:
        """The same page with the same contents and changes; how the agent came there does not count."""
        where = [self.url, self.tabs, self.scroll, self.fields, self.records, self.answer]
        return json.dumps(where, sort_keys=True)


def _safe(text: str) -> str:
    """Page texts inside a sentence: on one line, and without anything that could pass for a tag."""
    return " ".join(text.replace("<", "(").replace(">", ")").split())[:300]


@dataclass
class Episode:
    """What the agent has done so far, and what came of it."""

    done: list[str] = field(default_factory=list)  # actions, oldest first
    told: list[str] = field(default_factory=list)  # those of the last turn, with the names of what they were done to
    unread: int = 0  # replies in a row that could not be read
    answer: str | None = None
    score: float | None = None
    lacks: tuple[str, ...] = ()  # what the evaluator did not find at the end

    @property
    def pending(self) -> bool:
        """Is it over, and nobody can tell the result yet?"""
        return self.answer is not None and self.score is None

    @property
    def is_stuck(self) -> str:
        """Why the benchmark's own script gives up on the agent; empty if it goes on."""
        if len(self.done) >= EQUAL_ACTIONS and len(set(self.done[-EQUAL_ACTIONS:])) == 1:
            return "the same action again and again."
        return "unreadable." if self.unread >= UNREAD_REPLIES else ""


class Saved(msgspec.Struct):
    """What a snapshot keeps of an episode."""

    index: int
    stride: Annotated[int, msgspec.Meta(ge=1)]
    task: str
    world: dict[str, Any]
    backend: dict[str, Any]
    done: list[str]
    unread: Annotated[int, msgspec.Meta(ge=0)]
    answer: str | None
    score: Annotated[float, msgspec.Meta(ge=0, le=1)] | None
    pending: bool
