"""Tasks that change customers, texts, price rules and subscriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Check, Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    SITES,
    column,
    contents,
    exactly,
    filtered,
    grid,
    including,
    link,
    menu,
    page,
    rows,
    search,
    text_of,
    value_of,
)

CMS_EDIT = "/cms/page/edit/page_id/{id}/"
CUSTOMER_EDIT = "/customer/index/edit/id/{id}/"
RULES, SUBSCRIBERS = "/sales_rule/promo_quote/", "/newsletter/subscriber/"
TITLES = ("Welcome to Larkfield", "Everything You Need to Know", "News from the Warehouse", "How We Work",
          "A Letter to Our Customers", "Questions and Answers")  # fmt: skip
SEASONS = ("Spring", "Summer", "Autumn", "Winter", "Weekend", "Birthday", "Student", "Garden", "Kitchen", "Travel")


# ---------------------------------------------------------------------- pages


def _pages(world: World) -> Iterator[dict[str, Any]]:
    for row in rows(world, "SELECT id, title FROM cms_page ORDER BY id"):
        for title in TITLES:
            yield {"key": f"{row['id']} {title}", "id": row["id"], "title": row["title"], "new_title": title}


def _retitle(values: Parameters) -> Sequence[On]:
    form = page(CMS_EDIT.format(**values))

    def done(world: World) -> bool:
        return column(world, "cms_page", values["id"], "title") == values["new_title"]

    return [
        *menu("Content"), On(grid("/cms/page/"), [link(CMS_EDIT.format(**values))]),
        On(form, [Fill('[name="title"]', values["new_title"]), Click("button", "Save Page")]),
        On(form, [Answer()], when=done),
    ]  # fmt: skip


def _retitled(values: Parameters) -> dict[str, Any]:
    return contents(exactly(CMS_EDIT.format(**values), value_of("title"), values["new_title"]))


# ---------------------------------------------------------------------- customers


def _customers(world: World) -> Iterator[dict[str, Any]]:
    sql = "SELECT id, email, firstname || ' ' || lastname AS name, group_name FROM customer ORDER BY id"
    for row in rows(world, sql):
        others = [group for group in ("General", "Retailer", "Wholesale") if group != row["group_name"]]
        yield {"id": row["id"], "name": row["name"], "email": row["email"], "group": others[row["id"] % len(others)]}


def _customer_tab(values: Parameters, tab: str) -> list[On]:
    """The way to a tab of a customer's page."""
    path = CUSTOMER_EDIT.format(**values)
    return [
        *menu("Customers"), *search("/customer/index/", values["email"], link(path)),
        On(page(path), [Click("a.tab", tab)]),
    ]  # fmt: skip


def _regroup(values: Parameters) -> Sequence[On]:
    form = page(CUSTOMER_EDIT.format(**values) + "tab/account/")

    def done(world: World) -> bool:
        return column(world, "customer", values["id"], "group_name") == values["group"]

    choosing = [Choose('[name="customer[group_id]"]', values["group"]), Click("button", "Save Customer")]
    return [*_customer_tab(values, "Account Information"), On(form, choosing), On(form, [Answer()], when=done)]


def _regrouped(values: Parameters) -> dict[str, Any]:
    path = CUSTOMER_EDIT.format(**values) + "tab/account/"
    return contents(exactly(path, value_of("customer[group_id]"), values["group"]))


# ---------------------------------------------------------------------- price rules


def _rules(world: World) -> Iterator[dict[str, Any]]:
    for number in range(60):
        rng = Random(f"rule {number}")
        season, amount = SEASONS[number % len(SEASONS)], rng.choice((5, 8, 12, 15, 18, 20, 25, 30))
        kind = rng.choice(("percent", "dollars"))
        yield {"code": f"{season.upper()}{amount}{number:02d}", "name": f"{season} Offer {number + 1}",
        "amount": amount,
               "kind": kind}  # fmt: skip


def _new_rule(values: Parameters) -> Sequence[On]:
    def added(world: World) -> bool:
        return bool(rows(world, "SELECT id FROM cart_rule WHERE coupon_code = ?", values["code"]))

    discount = "Percent of product price discount" if values["kind"] == "percent" else "Fixed amount discount"
    filling = [
        Fill('[name="name"]', values["name"]), Fill('[name="coupon_code"]', values["code"]),
        Choose('[name="simple_action"]', discount), Fill('[name="discount_amount"]', str(values["amount"])),
        Click("button", "Save"),
    ]  # fmt: skip
    return [
        *menu("Marketing"), On(grid(RULES), [Click("a.button", "Add New Rule")]),
        On(page(f"{RULES}new/"), filling), On(page(f"{RULES}edit/"), [Answer()], when=added),
    ]  # fmt: skip


def _ruled(values: Parameters) -> dict[str, Any]:
    path = f"{RULES}?filters[coupon_code]={values['code']}"
    kind = "Percent of product price" if values["kind"] == "percent" else "Fixed amount"
    parts = (values["name"], values["code"], kind, str(values["amount"]), "Active")
    return contents(including(path, text_of("tr.data-row"), *parts))


# ---------------------------------------------------------------------- newsletter


def _subscribers(world: World) -> Iterator[dict[str, Any]]:
    for row in rows(world, "SELECT id, email FROM newsletter_subscriber WHERE status = 'Subscribed' ORDER BY id"):
        yield {"email": row["email"], "id": row["id"]}


def _unsubscribe(values: Parameters) -> Sequence[On]:
    def done(world: World) -> bool:
        return column(world, "newsletter_subscriber", values["id"], "status") == "Unsubscribed"

    acting = [
        Check(f'input[name="selected"][value="{values["id"]}"]'), Choose('select[name="action"]', "Unsubscribe"),
        Click("button", "Submit"),
    ]  # fmt: skip
    by_email = [(Fill("#filter_email", values["email"]), "[email]", values["email"])]
    return [
        *menu("Marketing", RULES, "Newsletter Subscribers"), *filtered(SUBSCRIBERS, by_email, *acting, opened=True),
        On(grid(SUBSCRIBERS), [Answer()], when=done),
    ]  # fmt: skip


def _unsubscribed(values: Parameters) -> dict[str, Any]:
    path = f"{SUBSCRIBERS}?filters[email]={values['email']}"
    return contents(including(path, text_of("tr.data-row"), values["email"], "Unsubscribed"))


# ---------------------------------------------------------------------- search terms


def _terms(world: World) -> Iterator[dict[str, Any]]:
    for row in rows(world, "SELECT id, query FROM search_term ORDER BY id"):
        yield {"term": row["query"], "id": row["id"]}


def _delete_term(values: Parameters) -> Sequence[On]:
    path = "/search/term/"
    acting = [
        Check(f'input[name="selected"][value="{values["id"]}"]'), Choose('select[name="action"]', "Delete"),
        Click("button", "Submit"),
    ]  # fmt: skip
    by_query = [(Fill("#filter_query", values["term"]), "[query]", values["term"])]
    return [
        *menu("Marketing", RULES, "Search Terms"), *filtered(path, by_query, *acting, opened=True),
        On(grid(path), [Answer()], when=lambda world: column(world, "search_term", values["id"], "id") is None),
    ]  # fmt: skip


def _term_is_gone(values: Parameters) -> dict[str, Any]:
    path = "/search/term/?filters[id][from]={id}&filters[id][to]={id}".format(**values)
    return contents(including(path, text_of("td.empty"), "find any records"))


TEMPLATES = (
    Template(
        "admin-page-title", SITES, "edit-record",
        ('Change the page title of the page "{title}" to "{new_title}".',
         'Our page "{title}" should be called "{new_title}" from now on. Change its title.',
         'Rename the content page "{title}": its new title is "{new_title}".'),
        _pages, _retitled, _retitle,
    ),
    Template(
        "admin-customer-group", SITES, "edit-record",
        ("Move the customer {name} to the group {group}.",
         "{name} ({email}) now belongs to the customer group {group}. Save that.",
         "Set the customer group of {name} to {group}."),
        _customers, _regrouped, _regroup,
    ),
    Template(
        "admin-new-coupon", SITES, "fill-form",
        ('Create an active cart price rule "{name}" with the coupon code {code} that takes off {amount} {kind}.',
         'Customers who enter {code} should pay {amount} {kind} less. Make a cart price rule for it, called "{name}".'),
        _rules, _ruled, _new_rule, held_out=True,
    ),
    Template(
        "admin-unsubscribe", SITES, "mass-action",
        ("Unsubscribe {email} from the newsletter.",
         "{email} does not want our newsletter any more. Unsubscribe this address.",
         "Set the newsletter subscription of {email} to unsubscribed."),
        _subscribers, _unsubscribed, _unsubscribe,
    ),
    Template(
        "admin-delete-search-term", SITES, "delete-record",
        ('Delete the search term "{term}".', 'Remove "{term}" from the list of search terms.'),
        _terms, _term_is_gone, _delete_term, held_out=True,
    ),
)  # fmt: skip
