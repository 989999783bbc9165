"""Tasks that ask for something in a record or a grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ORDER_VIEW,
    SITES,
    answer,
    asked,
    by_status_and_month,
    filtered,
    link,
    menu,
    months_and_statuses,
    order_page,
    page,
    rows,
    search,
    some_orders,
)

ORDERS, CUSTOMERS, REVIEWS = "/sales/order/", "/customer/index/", "/review/product/"
WORDS = (
    "adapter", "allergy", "bathroom", "bedroom", "birthday", "bluetooth", "bookcase", "broken", "brush", "buttons",
    "buzzing", "charm", "cloth", "corners", "cream", "curtain", "dental", "description", "dinnerware", "dryer",
    "electric", "expensive", "father", "flaky", "floor", "foundation", "gift", "green", "hiking", "husband",
    "ingredients", "itchy", "kettle", "leaked", "leather", "manual", "matches", "morning", "neighbor", "officially",
    "perfectly", "plastic", "present", "promised", "refund", "scalp", "screws", "sensor", "smaller", "spare",
    "stitching",
    "tablet", "washed", "watch", "winter", "zipper",
)  # fmt: skip


# ---------------------------------------------------------------------- single values


def _read_order(value: Callable[[Parameters], str]) -> Callable[[Parameters], Sequence[On]]:
    def solution(values: Parameters) -> Sequence[On]:
        seen = On(page(ORDER_VIEW.format(**values)), [Answer(value(values))])
        return [*order_page(values["id"], values["number"]), seen]

    return solution


def _invoices(world: World) -> Iterator[dict[str, Any]]:
    for row in rows(world, "SELECT id, increment_id, grand_total FROM invoice WHERE id % 8 = 2 ORDER BY id"):
        if row["grand_total"] < 1000:
            yield {"number": row["increment_id"], "total": f"{row['grand_total']:.2f}", "id": row["id"]}


def _read_invoice(values: Parameters) -> Sequence[On]:
    return [
        *menu("Sales", ORDERS, "Invoices"),
        *search("/sales/invoice/", values["number"], link(f"/sales/order_invoice/view/invoice_id/{values['id']}/")),
        On(page(f"/sales/order_invoice/view/invoice_id/{values['id']}/"), [Answer(f"${values['total']}")]),
    ]  # fmt: skip


def _customers(world: World) -> Iterator[dict[str, Any]]:
    sql = (
        "SELECT c.id, c.email, c.telephone, c.firstname || ' ' || c.lastname AS name, (SELECT count(*) FROM"
        " sales_order o WHERE o.customer_id = c.id) AS orders, (SELECT o.increment_id FROM sales_order o"
        " WHERE o.customer_id = c.id ORDER BY o.created_at DESC LIMIT 1) AS newest FROM customer c ORDER BY c.id"
    )
    found = [dict(row) for row in rows(world, sql)]
    names = Counter(row["name"] for row in found)
    phones = Counter(row["telephone"] for row in found)
    for row in found:
        if names[row["name"]] == 1 and phones[row["telephone"]] == 1 and row["telephone"] and row["orders"]:
            yield row


def _by_phone(values: Parameters) -> Sequence[On]:
    reply = Answer(f"{values['name']}, {values['email']}")
    return [*menu("Customers"), *search(CUSTOMERS, values["telephone"], reply)]


def _order_count(values: Parameters) -> Sequence[On]:
    path = f"/customer/index/edit/id/{values['id']}/"
    return [
        *menu("Customers"), *search(CUSTOMERS, values["name"], link(path)), On(page(path), [Click("a.tab", "Orders")]),
        On(page(path + "tab/orders/"), [Answer(str(values["orders"]))]),
    ]  # fmt: skip


def _newest_order(values: Parameters) -> Sequence[On]:
    return [*menu("Sales"), *search(ORDERS, values["name"], Answer(values["newest"]))]


def _terms(world: World) -> Iterator[dict[str, Any]]:
    for row in rows(world, "SELECT query, uses FROM search_term ORDER BY id"):
        yield {"term": row["query"], "uses": row["uses"]}


def _term_uses(values: Parameters) -> Sequence[On]:
    by_query = [(Fill("#filter_query", values["term"]), "[query]", values["term"])]
    return [
        *menu("Marketing", "/sales_rule/promo_quote/", "Search Terms"),
        *filtered("/search/term/", by_query, Answer(str(values["uses"])), opened=True),
    ]  # fmt: skip


# ---------------------------------------------------------------------- counting and comparing


def _count_orders(values: Parameters) -> Sequence[On]:
    reply = Answer(str(values["count"]))
    return [*menu("Sales"), *filtered(ORDERS, by_status_and_month(values), reply)]


def _words(world: World) -> Iterator[dict[str, Any]]:
    for word in WORDS:
        count = rows(world, "SELECT count(*) FROM review WHERE detail LIKE ?", f"%{word}%")[0][0]
        if count:
            yield {"word": word, "count": count}


def _count_reviews(values: Parameters) -> Sequence[On]:
    by_word = [(Fill("#filter_detail", values["word"]), "[detail]", values["word"])]
    return [
        *menu("Marketing", "/sales_rule/promo_quote/", "All Reviews"),
        *filtered(REVIEWS, by_word, Answer(str(values["count"])), opened=True),
    ]  # fmt: skip


def _pairs(world: World) -> Iterator[dict[str, Any]]:
    found = rows(world, "SELECT sku, price, category_id FROM product WHERE id % 10 = 6 ORDER BY id")
    for first, second in zip(found[::2], found[1::2], strict=False):
        if abs(first["price"] - second["price"]) > 0.5:
            dearer = max(first, second, key=lambda row: row["price"])
            yield {"first": first["sku"], "second": second["sku"], "dearer": dearer["sku"]}


def _compare(values: Parameters) -> Sequence[On]:
    path = "/catalog/product/"
    return [
        *menu("Catalog"), *search(path, values["first"], Fill("#fulltext", values["second"], enter=True)),
        On(asked(path, ("search", values["second"])), [Answer(values["dearer"])]),
    ]  # fmt: skip


def _perhaps_orders(world: World) -> Iterator[dict[str, Any]]:
    """Numbers of orders with their status, and as many that do not exist."""
    found = rows(world, "SELECT id, increment_id, status FROM sales_order WHERE id % 15 = 8 ORDER BY id")
    most = rows(world, "SELECT max(id) FROM sales_order")[0][0]
    for place, row in enumerate(found, 1):
        yield {"id": row["id"], "number": row["increment_id"], "status": row["status"]}
        yield {"id": most + 7 * place, "number": f"{most + 7 * place:09d}", "status": "N/A"}


def _status_or_nothing(values: Parameters) -> dict[str, Any]:
    if values["status"] != "N/A":
        return answer(values["status"])
    note = f"There is no order {values['number']}."
    return {"eval_types": ["string_match"], "reference_answers": {"exact_match": "N/A"}, "string_note": note}


def _look_up(values: Parameters) -> Sequence[On]:
    return [*menu("Sales"), *search(ORDERS, values["number"], Answer(values["status"]))]


TEMPLATES = (
    Template(
        "admin-order-total", SITES, "read-value",
        ("What is the grand total of order {number}?", "Tell me the grand total of order #{number}.",
         "How much did order {number} come to altogether?"),
        some_orders(1), lambda values: answer(values["total"]), _read_order(lambda values: f"${values['total']}"),
    ),
    Template(
        "admin-order-city", SITES, "read-value",
        ("To which city is order {number} shipped?", "Who receives order #{number}, and in which city? Name the city.",
         "Look up the city in the shipping address of order {number}."),
        some_orders(4), lambda values: answer(values["city"]), _read_order(lambda values: values["city"]),
    ),
    Template(
        "admin-invoice-total", SITES, "read-value",
        ("Tell me the grand total of invoice {number}.", "What is the sum of invoice #{number}?"),
        _invoices, lambda values: answer(values["total"]), _read_invoice, held_out=True,
    ),
    Template(
        "admin-customer-by-phone", SITES, "find-by-attribute",
        ("Find the name and the email address of the customer with the phone number {telephone}.",
         "Who has the phone number {telephone}? Give me name and email.",
         "A customer called from {telephone}. What are their name and email address?"),
        _customers, lambda values: answer(values["name"], values["email"]), _by_phone,
    ),
    Template(
        "admin-customer-orders", SITES, "count-items",
        ("How many orders has the customer {name} placed in total, canceled ones included?",
         "Count all orders of {name}, whatever their status.",
         "What is the number of orders on the account of {name}?"),
        _customers, lambda values: answer(str(values["orders"])), _order_count,
    ),
    Template(
        "admin-newest-order", SITES, "sort-list",
        ("What is the number of the most recent order of {name}?",
         "Give me the ID of the last order that {name} placed."),
        _customers, lambda values: answer(values["newest"]), _newest_order, held_out=True,
    ),
    Template(
        "admin-search-term-uses", SITES, "read-value",
        ('How often was the search term "{term}" used?', 'Tell me the number of uses of the search term "{term}".',
         'How many times did customers search for exactly "{term}"?'),
        _terms, lambda values: answer(str(values["uses"])), _term_uses,
    ),
    Template(
        "admin-count-orders", SITES, "count-items",
        ("How many orders placed in {month} have the status {status}?", "Count the {status} orders of {month}.",
         "Tell me the number of orders from {month} that are {status}."),
        months_and_statuses, lambda values: answer(str(values["count"])), _count_orders,
    ),
    Template(
        "admin-count-reviews", SITES, "count-items",
        ('How many reviews mention the term "{word}" in their text?',
         'Tell me the number of reviews whose text contains "{word}".'),
        _words, lambda values: answer(str(values["count"])), _count_reviews, held_out=True,
    ),
    Template(
        "admin-compare-prices", SITES, "compare-values",
        ("Which product costs more, SKU {first} or SKU {second}? Answer with its SKU.",
         "Compare the prices of the products {first} and {second} and give me the SKU of the more expensive one."),
        _pairs, lambda values: answer(values["dearer"]), _compare,
    ),
    Template(
        "admin-order-status-or-missing", SITES, "recognise-impossible",
        ("What is the status of order {number}? Answer N/A if there is no such order.",
         "Look up the status of order #{number}. Should the order not exist, the answer is N/A.",
         "Tell me the status of order {number}, or N/A if we have no order with this number."),
        _perhaps_orders, _status_or_nothing, _look_up,
    ),
)  # fmt: skip
