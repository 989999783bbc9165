"""The functions that tasks may name with `func:`, found in a table by their names: nothing is ever executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.backend import EvaluationPage
from agentrl.envs.webarena.sites.places import PLACES, Account

PREFIX = "func:"
MEMBERS = "td[data-label='Account'] span.gl-avatar-labeled-sublabel"
ROLES = "td.col-max-role span"


@dataclass(frozen=True)
class Surroundings:
    """What helpers may use: a page to look around on, where the agent ended, the sites' addresses, and the accounts
    there (the benchmark's where none are given)."""

    page: EvaluationPage
    last_url: str
    addresses: Mapping[str, str]
    accounts: Mapping[str, Account] = field(default_factory=dict)


@dataclass(frozen=True)
class HelperCall:
    """A helper with its arguments; `__last_url__` among them stands for the address where the agent ended."""

    name: str
    arguments: tuple[str, ...]

    def run(self, surroundings: Surroundings) -> str:
        """What the helper finds; `EnvFault` where the site does not answer."""
        arguments = [argument.replace("__last_url__", surroundings.last_url) for argument in self.arguments]
        return HELPERS[self.name](surroundings, *arguments)


def parse_helper(text: str) -> HelperCall:
    """`func:name('argument')`; `ValueError` with the reason for anything but a call of a known helper with texts. The
    argument `__page__` is left out: every helper has the page."""
    try:
        call = ast.parse(text.removeprefix(PREFIX).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{text[:80]!r} is no call of a function") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise ValueError(f"{text[:80]!r} is no call of a function")
    if call.func.id not in HELPERS:
        raise ValueError(f"a helper must be one of {', '.join(HELPERS)}; got {call.func.id[:80]!r}")
    arguments = []
    for node in call.args:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            arguments.append(node.value)
        elif not (isinstance(node, ast.Name) and node.id == "__page__"):
            raise ValueError("the arguments of a helper must be texts or __page__")
    if len(arguments) != ARGUMENTS[call.func.id]:
        raise ValueError(f"{call.func.id} takes {ARGUMENTS[call.func.id]} texts; got {len(arguments)}")
    return HelperCall(call.func.id, tuple(arguments))


# ---------------------------------------------------------------------- forum and code host


def reddit_get_post_url(around: Surroundings, url: str) -> str:
    """The address of the post that an address below it belongs to; any other address as it is."""
    parts = urlsplit(url)
    path = parts.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{path[2]}/{path[3]}/"


def gitlab_get_project_memeber_role(around: Surroundings, account: str) -> str:
    """The role of an account on the page of a project's members; nothing if it is not a member."""
    names = around.page.evaluate(f'[...document.querySelectorAll("{MEMBERS}")].map(e => e.outerText).join("\\n")')
    accounts = [name.strip() for name in names.split("\n")]
    if f"@{account}" not in accounts:
        return ""
    return around.page.evaluate(f'document.querySelectorAll("{ROLES}")[{accounts.index(f"@{account}")}].outerText')


# ---------------------------------------------------------------------- shop, through its REST interface


def shopping_get_latest_order_url(around: Surroundings) -> str:
    """The page of the newest order of the shop."""
    newest = {
        "searchCriteria[sortOrders][0][field]": "created_at",
        "searchCriteria[sortOrders][0][direction]": "DESC",
        "searchCriteria[pageSize]": "1",
    }
    reply = _ask_shop(around, f"/rest/V1/orders?{urlencode(newest)}")
    try:
        number = int(reply["items"][0]["increment_id"])
    except (KeyError, IndexError, TypeError, ValueError):
        raise EnvFault("the shop's list of orders has no newest order") from None
    return f"{around.addresses['shopping']}/sales/order/view/order_id/{number}/"


def shopping_get_sku_latest_review_author(around: Surroundings, sku: str) -> str:
    """Who wrote the newest review of a product."""
    review = _latest_review(around, sku)
    return "" if review is None else str(review.get("nickname", ""))


def shopping_get_sku_latest_review_rating(around: Surroundings, sku: str) -> str:
    """The rating of the newest review of a product, in percent."""
    review = _latest_review(around, sku)
    try:
        return "" if review is None else str(review["ratings"][0]["percent"])
    except (KeyError, IndexError, TypeError):
        raise EnvFault(f"the newest review of {sku} has no rating") from None


def _latest_review(around: Surroundings, sku: str) -> dict[str, Any] | None:
    reviews = _ask_shop(around, f"/rest/V1/products/{quote(sku, safe='')}/reviews")
    if not isinstance(reviews, list):
        raise EnvFault(f"the shop gave no list of reviews of {sku}")
    return reviews[-1] if reviews else None


def _ask_shop(around: Surroundings, path: str) -> Any:
    shop = around.addresses.get("shopping")
    if shop is None:
        raise EnvFault("the address of the shop is not known")
    account = around.accounts.get("shopping_admin", PLACES["shopping_admin"].account)
    assert account is not None
    login = {"username": account.name, "password": account.password}
    json_type = {"Content-Type": "application/json"}
    token = around.page.request("POST", f"{shop}/rest/default/V1/integration/admin/token", login, json_type)
    return around.page.request("GET", shop + path, None, {**json_type, "Authorization": f"Bearer {token}"})


HELPERS: dict[str, Callable[..., str]] = {helper.__name__: helper for helper in (
    reddit_get_post_url, gitlab_get_project_memeber_role, shopping_get_latest_order_url,
    shopping_get_sku_latest_review_author, shopping_get_sku_latest_review_rating,
)}  # fmt: skip
ARGUMENTS = {name: 0 if name == "shopping_get_latest_order_url" else 1 for name in HELPERS}
