"""Tasks about sales reports: make one, or read something off it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ADMIN,
    SITES,
    answer,
    asked,
    exactly,
    grid,
    menu,
    month_ends,
    month_name,
    months,
    rows,
    shown,
)

LANDING = "/reports/report_sales/sales/"  # where the section of reports opens
REPORTS = {
    "sales": "Orders", "tax": "Tax", "invoiced": "Invoiced", "shipping": "Shipping", "refunded": "Refunds",
    "coupons": "Coupons",
}  # fmt: skip


def _report(name: str, first: str, last: str, period: str, *acts: Answer) -> list[On]:
    """The way to a report over some days."""
    path = f"/reports/report_sales/{name}/"
    asking = [
        Choose("#sales_report_period_type", period.title()), Fill("#sales_report_from", first),
        Fill("#sales_report_to", last), Click("button", "Show Report"),
    ]  # fmt: skip
    entry = "Bestsellers" if name == "bestsellers" else REPORTS[name]
    reach = menu("Reports") if name == "sales" else menu("Reports", LANDING, entry)
    found = asked(path, ("period_type", period), ("from", first), ("to", last))
    return [*reach, On(grid(path), asking), On(found, acts)]


def _spans() -> Iterator[tuple[int, int, int]]:
    """Year, first and last month: single months, pairs, quarters, halves and whole years of business."""
    for year in range(2022, 2026):
        for length in (1, 2, 3, 6, 12):
            for first in range(1, 13, length):
                if (year, first + length - 1) in months():
                    yield year, first, first + length - 1


def _bestsellers(world: World) -> Iterator[dict[str, Any]]:
    """Times in which one product sold better than any other."""
    sold: dict[str, Counter[str]] = {}
    sql = (
        "SELECT i.name, i.qty, substr(o.created_at, 1, 7) AS month FROM order_item i JOIN sales_order o"
        " ON o.id = i.order_id WHERE o.status != 'Canceled' ORDER BY i.id"
    )
    for row in rows(world, sql):
        sold.setdefault(row["month"], Counter())[row["name"]] += row["qty"]
    for year, first, last in _spans():
        counts: Counter[str] = sum(
            (sold.get(f"{year}-{month:02d}", Counter()) for month in range(first, last + 1)), Counter()
        )
        best = counts.most_common(2)
        if len(best) == 2 and best[0][1] > best[1][1]:
            start, end = month_ends(year, first)[0], month_ends(year, last)[1]
            yield {"time": f"from {start} to {end}", "first": start, "last": end, "product": best[0][0]}


def _bestseller(values: Parameters) -> Sequence[On]:
    return _report("bestsellers", values["first"], values["last"], "year", Answer(values["product"]))


def _items_sold(world: World) -> Iterator[dict[str, Any]]:
    sql = (
        "SELECT substr(o.created_at, 1, 7) AS month, sum(i.qty) AS items FROM sales_order o JOIN order_item i"
        " ON i.order_id = o.id GROUP BY month ORDER BY month"
    )
    items = {row["month"]: row["items"] for row in rows(world, sql)}
    for year, month in months():
        first, last = month_ends(year, month)
        if found := items.get(f"{year}-{month:02d}"):
            yield {"month": month_name(year, month), "first": first, "last": last, "items": found}


def _report_value(values: Parameters) -> Sequence[On]:
    return _report("sales", values["first"], values["last"], "month", Answer(str(values["items"])))


def _periods(world: World) -> Iterator[dict[str, Any]]:
    for number, (year, month) in enumerate(months()):
        rng = Random(f"report {number}")
        for name in rng.sample(sorted(REPORTS), 2):
            first = f"{month}/{rng.randrange(1, 28)}/{year}"
            later = rng.choice([pair for pair in (*months(), (2025, 6)) if pair > (year, month)] or [(2025, 6)])
            last = f"{later[1]}/{rng.randrange(1, 14)}/{later[0]}"
            yield {
                "period": f"{first} {last}",
                "report": name,
                "title": REPORTS[name].lower(),
                "first": first,
                "last": last,
            }


def _show_report(values: Parameters) -> Sequence[On]:
    return _report(values["report"], values["first"], values["last"], "day", Answer())


def _shows_report(values: Parameters) -> dict[str, Any]:
    fields = {"from": values["first"], "to": values["last"]}
    return {
        "eval_types": ["url_match", "program_html"],
        "reference_url": f"{ADMIN}/reports/report_sales/{values['report']}", "url_note": "GOLD in PRED",
        "program_html": [
            exactly("last", f"document.querySelector('[id=\"sales_report_{end}\"]').value", shown(day))
            for end, day in fields.items()
        ],
    }  # fmt: skip


TEMPLATES = (
    Template(
        "admin-bestseller", SITES, "read-report",
        ("What was the best-selling product {time}?", "Which product sold the most pieces in the time {time}?",
         "Name the number one of the bestsellers report {time}, with the period set to a year."),
        _bestsellers, lambda values: answer(values["product"]), _bestseller,
    ),
    Template(
        "admin-items-sold", SITES, "read-report",
        ("According to the orders report, how many sales items were there in {month}?",
         "How many items were ordered in {month}? Use the orders report.",
         "Read the number of sales items of {month} off the orders report."),
        _items_sold, lambda values: answer(str(values["items"])), _report_value,
    ),
    Template(
        "admin-show-report", SITES, "make-report",
        ("Create the {title} report from {first} to {last}.",
         "Show me the sales report about {title} for the days from {first} to {last}.",
         "Generate a report on {title} that covers {first} to {last}."),
        _periods, _shows_report, _show_report,
    ),
)  # fmt: skip
