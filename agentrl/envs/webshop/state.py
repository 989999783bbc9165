"""The truth about a shopping trip: what is wanted, where the agent is, and what is still missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from agentrl.core.claims import Claims, Value
from agentrl.core.parsing import quote
from agentrl.core.state import State
from agentrl.envs.webshop.pages import DONE, ITEM, RESULTS, SEARCH, Place

CLAIMS = Claims(
    values=(Value("page"), Value("product"), Value("price", weight=0.5, tolerance=0.005), Value("options", many=True))
)


@dataclass(frozen=True)
class ShopState(State):
    """Everything but what `target` says can be seen or worked out by an agent."""

    scored = CLAIMS

    instruction: str
    target: str  # the id of the product the goal was written for
    page: str
    query: str
    results_page: int  # 0 before the first search
    total_results: int
    results: tuple[str, ...]  # ids on the results page that is shown
    product: str  # id, empty where no product is open
    title: str
    price: float | None
    options: dict[str, str]  # chosen
    unmet: tuple[str, ...]  # what the open product with its chosen options lacks; all that is asked where none is open
    score: float | None  # of the purchase, once it is made

    def natural(self) -> list[str]:
        """Where the agent is, what is chosen, what is unmet."""
        if self.page == SEARCH:
            facts = ["The page is the search page."]
        elif self.page == RESULTS:
            shown = f"shows {len(self.results)} of {self.total_results} results"
            facts = [f"The page is page {self.results_page} of the results for {quote(self.query, 200)}; it {shown}."]
        else:
            page = "item page" if self.page == ITEM else f"{self.page} page"
            name = f"product {self.product}, {_safe(self.title)}, at ${self.price}"
            bought = f"The shopper has bought {name}, with a score of {self.score}."
            facts = [bought if self.page == DONE else f"The page is the {page} of {name}."]
        if self.page not in (SEARCH, RESULTS):
            chosen = ", ".join(f"{name} {value}" for name, value in self.options.items())
            facts.append(f"The chosen options are {_safe(chosen)}." if chosen else "No option is chosen.")
        facts.append(f"Still unmet: {_safe('; '.join(self.unmet))}." if self.unmet else "Nothing is unmet.")
        return facts

    def structured(self) -> dict[str, Any]:
        """The same as named values."""
        return {
            "page": self.page,
            "query": self.query,
            "results_page": self.results_page,
            "product": self.product,
            "price": self.price,
            "options": dict(self.options),
            "unmet": list(self.unmet),
        }


def _safe(text: str) -> str:
    """Product texts inside a sentence: on one line, and without anything that could pass for a tag."""
    return " ".join(text.replace("<", "(").replace(">", ")").split())


class Saved(msgspec.Struct):
    """What a snapshot keeps of an episode."""

    index: int
    stride: int
    place: Place
    seen: list[str]
    done: list[str]
    opened: list[str]
    wished: str
