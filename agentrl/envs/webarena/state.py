"""The truth of a moment on the web: the page, what stands in its forms, what the episode has changed and what lacks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agentrl.core.claims import Claims, Value
from agentrl.core.parsing import quote
from agentrl.core.state import State

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
