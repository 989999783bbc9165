"""Tasks of the administration that ask for something: in a record or a grid, in several of them, in a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ADMIN,
    CUSTOMER_EDIT,
    CUSTOMERS,
    LANDINGS,
    ORDERS,
    PRODUCTS,
    REVIEWS,
    SITES,
    TERMS,
    about_month,
    asked,
    by_status_and_month,
    filtered,
    grid,
    menu,
    months,
    months_and_statuses,
    on_customer,
    on_order,
    on_record,
    page,
    search,
    shown,
    some_orders,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, answer, both, ends_at, query, shows, value_of

WORDS = """adapter allergy bathroom bedroom birthday bluetooth bookcase broken brush buttons buzzing charm cloth corners
    cream curtain dental description dinnerware dryer electric expensive father flaky floor foundation gift green hiking
    husband ingredients itchy kettle leaked leather manual matches morning neighbor officially perfectly plastic present
    promised refund scalp screws sensor smaller spare stitching tablet washed watch winter zipper"""
STATUSES = ("Pending", "Processing", "Complete", "Canceled", "Closed", "On Hold", "Fraud")
REPORTS = {
    "sales": "Orders", "tax": "Tax", "invoiced": "Invoiced", "shipping": "Shipping", "refunded": "Refunds",
    "coupons": "Coupons", "bestsellers": "Bestsellers",
}  # fmt: skip

# ---------------------------------------------------------------------- single values, counting and comparing


def _customers(world: World) -> Iterator[Row]:
    """Customers with orders whose names and telephone numbers nobody else has."""
    found = query(
        world, "store",
        "SELECT c.id, c.email, c.telephone, c.firstname || ' ' || c.lastname AS name, (SELECT count(*) FROM"
        " sales_order o WHERE o.customer_id = c.id) AS orders, (SELECT o.increment_id FROM sales_order o"
        " WHERE o.customer_id = c.id ORDER BY o.created_at DESC LIMIT 1) AS newest FROM customer c ORDER BY c.id",
    )  # fmt: skip
    names, phones = (Counter(row[key] for row in found) for key in ("name", "telephone"))
    for row in found:
        if names[row["name"]] == 1 and phones[row["telephone"]] == 1 and row["telephone"] and row["orders"]:
            yield row


@template(
    "admin-compare-prices", SITES, "compare-values",
    ("Which product costs more, SKU {first} or SKU {second}? Answer with its SKU.",
     "Compare the prices of the products {first} and {second} and give me the SKU of the more expensive one."),
    lambda row: answer(row["dearer"], without=[row["cheaper"]]),
    lambda row: [
        *menu("Catalog"), *search(PRODUCTS, row["first"], Fill("#fulltext", row["second"], enter=True)),
        On(asked(PRODUCTS, ("search", row["second"])), [Answer(row["dearer"])]),
    ],
)  # fmt: skip
def compare_prices(world: World) -> Iterator[Row]:
    found = query(world, "store", "SELECT sku, price FROM product WHERE id % 10 = 6 ORDER BY id")
    for first, second in zip(found[::2], found[1::2], strict=False):
        if abs(first["price"] - second["price"]) > 0.5:
            cheaper, dearer = sorted((first, second), key=lambda row: row["price"])
            pair = {"first": first["sku"], "second": second["sku"]}
            yield {**pair, "dearer": dearer["sku"], "cheaper": cheaper["sku"]}


@template(
    "admin-order-status-or-missing", SITES, "recognise-impossible",
    ("What is the status of order {number}? Answer N/A if there is no such order.",
     "Look up the status of order #{number}. Should the order not exist, the answer is N/A.",
     "Tell me the status of order {number}, or N/A if we have no order with this number."),
    lambda row: answer(row["status"]),
    lambda row: [*menu("Sales"), *search(ORDERS, row["number"], Answer(row["status"]))],
)  # fmt: skip
def order_status_or_missing(world: World) -> Iterator[Row]:
    """Numbers of orders with their status, most of the rarer ones, and numbers that do not exist."""
    most = world.database("store").value("SELECT max(id) FROM sales_order")
    sql = (
        "SELECT id, increment_id AS number, status FROM sales_order"
        " WHERE status != 'Complete' AND id % 3 != 0 OR id % 15 = 8 ORDER BY id"
    )
    for place, row in enumerate(query(world, "store", sql), 1):
        yield row
        if place % 3 == 0:
            yield {"id": most + 7 * place, "number": f"{most + 7 * place:09d}", "status": "N/A"}


INFORMATION = (
    Template(
        "admin-order-total", SITES, "read-value",
        ("What is the grand total of order {number}?", "Tell me the grand total of order #{number}.",
         "How much did order {number} come to altogether?"),
        lambda world: some_orders(world, 1), lambda row: answer(row["total"]),
        lambda row: on_order(row, Answer(f"${row['total']}")),
    ),
    Template(
        "admin-order-city", SITES, "read-value",
        ("To which city is order {number} shipped?", "Who receives order #{number}, and in which city? Name the city.",
         "Look up the city in the shipping address of order {number}."),
        lambda world: some_orders(world, 4), lambda row: answer(row["city"]),
        lambda row: on_order(row, Answer(row["city"])),
    ),
    Template(
        "admin-invoice-total", SITES, "read-value",
        ("Tell me the grand total of invoice {number}.", "What is the sum of invoice #{number}?"),
        lambda world: (
            {"number": row["increment_id"], "total": f"{row['grand_total']:.2f}", "id": row["id"]}
            for row in query(world, "store", "SELECT * FROM invoice WHERE id % 8 = 2 ORDER BY id")
            if row["grand_total"] < 1000
        ),
        lambda row: answer(row["total"]),
        lambda row: on_record(
            "Sales", "Invoices", "/sales/invoice/", row["number"], f"/sales/order_invoice/view/invoice_id/{row['id']}/",
            Answer(f"${row['total']}"),
        ),
        held_out=True,
    ),
    Template(
        "admin-customer-by-phone", SITES, "find-by-attribute",
        ("Find the name and the email address of the customer with the phone number {telephone}.",
         "Who has the phone number {telephone}? Give me name and email.",
         "A customer called from {telephone}. What are their name and email address?"),
        _customers, lambda row: answer(row["name"], row["email"]),
        lambda row: [
            *menu("Customers"), *search(CUSTOMERS, row["telephone"], Answer(f"{row['name']}, {row['email']}")),
        ],
    ),
    Template(
        "admin-customer-orders", SITES, "count-items",
        ("How many orders has the customer {name} placed in total, canceled ones included?",
         "Count all orders of {name}, whatever their status.",
         "What is the number of orders on the account of {name}?"),
        _customers, lambda row: answer(row["orders"]),
        lambda row: [
            *on_customer(row, row["name"], "Orders"),
            On(page(f"{CUSTOMER_EDIT.format(**row)}tab/orders/"), [Answer(str(row["orders"]))]),
        ],
    ),
    Template(
        "admin-newest-order", SITES, "sort-list",
        ("What is the number of the most recent order of {name}?",
         "Give me the ID of the last order that {name} placed."),
        _customers, lambda row: answer(row["newest"]),
        lambda row: [*menu("Sales"), *search(ORDERS, row["name"], Answer(row["newest"]))], held_out=True,
    ),
    Template(
        "admin-search-term-uses", SITES, "read-value",
        ('How often was the search term "{term}" used?', 'Tell me the number of uses of the search term "{term}".',
         'How many times did customers search for exactly "{term}"?'),
        lambda world: query(world, "store", "SELECT query AS term, uses FROM search_term ORDER BY id"),
        lambda row: answer(row["uses"]),
        lambda row: [
            *menu("Marketing", "Search Terms"),
            *filtered(TERMS, [Fill("#filter_query", row["term"])], Answer(str(row["uses"])), opened=True),
        ],
    ),
    Template(
        "admin-count-orders", SITES, "count-items",
        ("How many orders placed in {month} have the status {status}?", "Count the {status} orders of {month}.",
         "Tell me the number of orders from {month} that are {status}."),
        months_and_statuses, lambda row: answer(row["count"]),
        lambda row: [*menu("Sales"), *filtered(ORDERS, by_status_and_month(row), Answer(str(row["count"])))],
    ),
    Template(
        "admin-count-reviews", SITES, "count-items",
        ('How many reviews mention the term "{word}" in their text?',
         'Tell me the number of reviews whose text contains "{word}".'),
        lambda world: (
            {"word": word, "count": count} for word in WORDS.split()
            if (count := world.database("store").value("SELECT count(*) FROM review WHERE detail LIKE ?", f"%{word}%"))
        ),
        lambda row: answer(row["count"]),
        lambda row: [
            *menu("Marketing", "All Reviews"),
            *filtered(REVIEWS, [Fill("#filter_detail", row["word"])], Answer(str(row["count"])), opened=True),
        ],
        held_out=True,
    ),
    compare_prices, order_status_or_missing,
)  # fmt: skip


# ---------------------------------------------------------------------- what must be put together from several records


@template(
    "admin-sum-orders", SITES, "add-up",
    ("What is the sum of the grand totals of the last {count} orders with the status {status}?",
     "Add up the grand totals of our {count} most recent {status} orders.",
     "How much do the newest {count} {status} orders come to together?"),
    lambda row: answer(row["sum"] if float(row["sum"]) < 1000 else f"{float(row['sum']):,.2f} |OR| {row['sum']}"),
    lambda row: [
        *menu("Sales"), *filtered(ORDERS, [Choose("#filter_status", row["status"])], Answer(f"${row['sum']}")),
    ],
)  # fmt: skip
def sum_orders(world: World) -> Iterator[Row]:
    """The sum of the newest orders of a status, for several numbers of orders."""
    sql = "SELECT grand_total AS total FROM sales_order WHERE status = ? ORDER BY id DESC LIMIT 8"
    for status in STATUSES:
        totals = [row["total"] for row in query(world, "store", sql, status)]
        for count in range(2, len(totals) + 1):
            yield {"case": f"{count} {status}", "status": status, "count": count, "sum": f"{sum(totals[:count]):.2f}"}


@template(
    "admin-order-contents", SITES, "list-items",
    ("Which products are in order {number}? Give me all their SKUs.",
     "List the SKUs of everything in order #{number}."),
    lambda row: answer(*row["skus"]), lambda row: on_order(row, Answer(", ".join(row["skus"]))),
    held_out=True,
)  # fmt: skip
def order_contents(world: World) -> Iterator[Row]:
    found: dict[int, Row] = {}
    sql = (
        "SELECT o.id, o.increment_id, i.sku FROM sales_order o JOIN order_item i ON i.order_id = o.id"
        " WHERE o.id % 5 = 2 ORDER BY i.id"
    )
    for row in query(world, "store", sql):
        case = found.setdefault(row["id"], {"id": row["id"], "number": row["increment_id"], "skus": []})
        case["skus"].append(row["sku"])
    yield from (case for case in found.values() if len(case["skus"]) > 1)


@template(
    "admin-unhappy-customers", SITES, "list-items",
    ("Who was not happy with the product {sku}? Give the nicknames of all who gave it 1 or 2 stars.",
     "List the nicknames of all reviewers who gave the product with SKU {sku} fewer than three stars."),
    lambda row: answer(*row["names"]),
    lambda row: [
        *menu("Marketing", "All Reviews"),
        *filtered(REVIEWS, [Fill("#filter_rating_to", "2"), Fill("#filter_sku", row["sku"])],
                  Answer(", ".join(row["names"])), opened=True),
    ],
)  # fmt: skip
def unhappy_customers(world: World) -> Iterator[Row]:
    """Products that two to four people gave one or two stars."""
    found: dict[str, list[str]] = {}
    sql = (
        "SELECT p.sku, r.nickname FROM review r JOIN product p ON p.id = r.product_id WHERE r.rating <= 2"
        " ORDER BY p.id, r.id"
    )
    for row in query(world, "store", sql):
        found.setdefault(row["sku"], []).append(row["nickname"])
    for sku, names in found.items():
        if 2 <= len(names) <= 4 and len(set(names)) == len(names):
            yield {"sku": sku, "names": names}


FINDINGS = (
    sum_orders, unhappy_customers, order_contents,
    Template(
        "admin-tracking-number", SITES, "read-value",
        ("What is the tracking number of the shipment of order {number}?",
         "Under which tracking number was order #{number} sent?",
         "The customer of order {number} wants to follow the parcel. What is its tracking number?"),
        lambda world: query(
            world, "store",
            "SELECT o.increment_id AS number, s.id, s.tracking_number AS tracking FROM shipment s JOIN sales_order o"
            " ON o.id = s.order_id WHERE s.tracking_number != '' AND s.id % 7 = 3 ORDER BY s.id",
        ),
        lambda row: answer(row["tracking"]),
        lambda row: on_record(
            "Sales", "Shipments", "/sales/shipment/", row["number"], f"/sales/shipment/view/shipment_id/{row['id']}/",
            Answer(row["tracking"]),
        ),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- reports


def _report(name: str, row: Parameters, period: str, result: Answer) -> list[On]:
    """The way to a report over some days."""
    path = f"/reports/report_sales/{name}/"
    asking = [
        Choose("#sales_report_period_type", period.title()), Fill("#sales_report_from", row["first"]),
        Fill("#sales_report_to", row["last"]), Click("button", "Show Report"),
    ]  # fmt: skip
    found = asked(path, ("period_type", period), ("from", row["first"]), ("to", row["last"]))
    entry = "" if path == LANDINGS["Reports"] else REPORTS[name]
    return [*menu("Reports", entry), On(grid(path), asking), On(found, [result])]


@template(
    "admin-bestseller", SITES, "read-report",
    ("What was the best-selling product {time}?", "Which product sold the most pieces in the time {time}?",
     "Name the number one of the bestsellers report {time}, with the period set to a year."),
    lambda row: answer(row["product"]),
    lambda row: _report("bestsellers", row, "year", Answer(row["product"])),
)  # fmt: skip
def bestseller(world: World) -> Iterator[Row]:
    """Single months, pairs, quarters, halves and whole years in which one product sold better than any other."""
    sold: dict[str, Counter[str]] = {}
    sql = (
        "SELECT i.name, i.qty, substr(o.created_at, 1, 7) AS month FROM order_item i JOIN sales_order o"
        " ON o.id = i.order_id WHERE o.status != 'Canceled' ORDER BY i.id"
    )
    for row in query(world, "store", sql):
        sold.setdefault(row["month"], Counter())[row["name"]] += row["qty"]
    spans = [(year, first, length) for year in range(2022, 2026) for length in (1, 2, 3, 6, 12)
             for first in range(1, 13, length) if (year, first + length - 1) in months()]  # fmt: skip
    for year, first, length in spans:
        counts: Counter[str] = Counter()
        for month in range(first, first + length):
            counts += sold.get(f"{year}-{month:02d}", Counter())
        best = counts.most_common(2)
        if len(best) == 2 and best[0][1] > best[1][1]:
            start, end = about_month(year, first)["first"], about_month(year, first + length - 1)["last"]
            yield {"time": f"from {start} to {end}", "first": start, "last": end, "product": best[0][0]}


@template(
    "admin-items-sold", SITES, "read-report",
    ("According to the orders report, how many sales items were there in {month}?",
     "How many items were ordered in {month}? Use the orders report.",
     "Read the number of sales items of {month} off the orders report."),
    lambda row: answer(row["items"]),
    lambda row: _report("sales", row, "month", Answer(str(row["items"]))),
)  # fmt: skip
def items_sold(world: World) -> Iterator[Row]:
    sql = (
        "SELECT substr(o.created_at, 1, 7) AS month, sum(i.qty) AS items FROM sales_order o JOIN order_item i"
        " ON i.order_id = o.id GROUP BY month ORDER BY month"
    )
    items = {row["month"]: row["items"] for row in query(world, "store", sql)}
    for year, month in months():
        if found := items.get(f"{year}-{month:02d}"):
            yield {**about_month(year, month), "items": found}


@template(
    "admin-show-report", SITES, "make-report",
    ("Create the {title} report from {first} to {last}.",
     "Show me the sales report about {title} for the days from {first} to {last}.",
     "Generate a report on {title} that covers {first} to {last}."),
    lambda row: both(
        ends_at(f"{ADMIN}/reports/report_sales/{row['report']}"),
        shows(("last", value_of('[id="sales_report_from"]'), shown(row["first"])),
              ("last", value_of('[id="sales_report_to"]'), shown(row["last"]))),
    ),
    lambda row: _report(row["report"], row, "day", Answer()),
)  # fmt: skip
def show_report(world: World) -> Iterator[Row]:
    names = sorted(REPORTS.keys() - {"bestsellers"})
    for number, (year, month) in enumerate(months()):
        rng = Random(f"report {number}")
        for name in rng.sample(names, 2):
            first = f"{month}/{rng.randrange(1, 28)}/{year}"
            later = rng.choice([pair for pair in (*months(), (2025, 6)) if pair > (year, month)])
            last = f"{later[1]}/{rng.randrange(1, 14)}/{later[0]}"
            title = REPORTS[name].lower()
            yield {"period": f"{first} {last}", "report": name, "title": title, "first": first, "last": last}


TEMPLATES = (*INFORMATION, *FINDINGS, bestseller, items_sold, show_report)
