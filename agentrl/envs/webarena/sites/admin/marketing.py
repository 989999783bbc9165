"""Cart price rules, search terms, newsletter subscribers and reviews of products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentrl.envs.webarena.sites.admin.base import (
    Refused,
    amount,
    paragraphs,
    record,
    required,
    returns_to,
    short,
    site,
    whole,
)
from agentrl.envs.webarena.sites.admin.grid import Column, Grid, delete_page, form_pages, grid_page, marked
from agentrl.envs.webarena.sites.formats import read_date
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

# ---------------------------------------------------------------------- cart price rules

ACTIVE_CHOICES = (("1", "Active"), ("0", "Inactive"))
DISCOUNTS = (
    ("by_percent", "Percent of product price discount"), ("by_fixed", "Fixed amount discount"),
)  # fmt: skip
RULES = Grid(
    "/admin/sales_rule/promo_quote/", "Cart Price Rules",
    "SELECT id, name, coupon_code, from_date, to_date, is_active, action, discount_amount,"
    " min_subtotal, times_used FROM cart_rule",
    (
        Column("id", "ID", "number", 60), Column("name", "Rule"), Column("coupon_code", "Coupon Code", width=130),
        Column("action", "Apply", "choice", 150, DISCOUNTS), Column("discount_amount", "Discount", "number", 80),
        Column("from_date", "Start", "date", 110), Column("to_date", "End", "date", 110),
        Column("is_active", "Status", "choice", 80, ACTIVE_CHOICES), Column("times_used", "Used", "number", 60),
    ),
    edit="/admin/sales_rule/promo_quote/edit/id/{id}/", open_filters=True,
    add=("/admin/sales_rule/promo_quote/new/", "Add New Rule"),
)  # fmt: skip
grid_page(RULES, "cart_rules")


def _rule_values(context: Context, own_id: int) -> dict[str, Any]:
    form = context.form
    code = short(form("coupon_code"), 255, "Coupon Code")
    if code and context.db.value("SELECT count(*) FROM cart_rule WHERE coupon_code = ? AND id != ?", code, own_id):
        raise Refused("Coupon with the same code already exists.")
    action = form("simple_action")
    if action not in dict(DISCOUNTS):
        raise Refused("Choose how the discount applies.")
    most = 100 if action == "by_percent" else 10**6
    days = {name: _day(form(name), label) for name, label in (("from_date", "From"), ("to_date", "To"))}
    if days["from_date"] and days["to_date"] and days["from_date"] > days["to_date"]:
        raise Refused("End Date must follow Start Date.")
    return {
        "name": required(form("name"), "Rule Name"), "coupon_code": code, "action": action, **days,
        "discount_amount": amount(form("discount_amount"), "Discount Amount", most=most),
        "is_active": int(form("is_active") != "0"), "description": paragraphs(form("description")),
        "min_subtotal": amount(form("min_subtotal") or "0", "Minimum Subtotal"),
    }  # fmt: skip


def _day(text: str, label: str) -> str:
    """A day as the table has it, or nothing where nothing was entered."""
    if not text.strip():
        return ""
    if (found := read_date(text)) is None:
        raise Refused(f'"{label}" must be a date such as 6/15/2025.')
    return found.isoformat()


form_pages(
    RULES, "cart_rule", "rule",
    dict.fromkeys(("name", "description", "coupon_code", "from_date", "to_date", "discount_amount"), "")
    | {"is_active": 1, "action": "by_percent", "min_subtotal": 0, "times_used": 0},
    _rule_values, title="name", discounts=DISCOUNTS, yes_no=ACTIVE_CHOICES,
)  # fmt: skip
delete_page(RULES, "cart_rule", "You deleted the rule.")


# ---------------------------------------------------------------------- search terms

TERMS = Grid(
    "/admin/search/term/", "Search Terms", "SELECT id, query, results, uses FROM search_term",
    (
        Column("id", "ID", "number", 80), Column("query", "Search Query"), Column("results", "Results", "number", 140),
        Column("uses", "Uses", "number", 140),
    ),
    edit="/admin/search/term/edit/id/{id}/", open_filters=True, descending=False, actions=(("delete", "Delete"),),
    actions_path="/admin/search/term/massAction/", add=("/admin/search/term/new/", "Add New Search Term"),
)  # fmt: skip
TERMS_REPORT = replace(
    TERMS, path="/admin/search/term/report/", title="Search Terms Report", actions=(), add=None, edit="", sort="uses",
    descending=True,
)  # fmt: skip
grid_page(TERMS, "search_terms")
grid_page(TERMS_REPORT, "report_search")


@site.post(TERMS.actions_path)
@returns_to(TERMS.path)
def delete_terms(context: Context) -> Response:
    """Delete the marked terms."""
    if context.form("action") != "delete":
        raise Refused("Please select an action.")
    chosen = marked(context, "search_term")
    for number in chosen:
        context.db.delete("search_term", number)
    return context.redirect(TERMS.path, f"Total of {len(chosen)} record(s) were deleted.")


def _term_values(context: Context, own_id: int) -> dict[str, Any]:
    query = required(context.form("query_text"), "Search Query")
    if context.db.value("SELECT count(*) FROM search_term WHERE query = ? AND id != ?", query, own_id):
        raise Refused("You already have an identical search term query.")
    return {
        "query": query, "results": whole(context.form("num_results") or "0", "Number of Results"),
        "uses": whole(context.form("popularity") or "0", "Number of Uses"),
    }  # fmt: skip


form_pages(
    TERMS, "search_term", "search term", {"query": "", "results": 0, "uses": 0}, _term_values, title="query",
    saved=TERMS.path,
)  # fmt: skip


# ---------------------------------------------------------------------- newsletter

SUBSCRIBER_STATUSES = (
    ("Subscribed", "Subscribed"),
    ("Unsubscribed", "Unsubscribed"),
    ("Not Activated", "Not Activated"),
)
SUBSCRIBERS = Grid(
    "/admin/newsletter/subscriber/", "Newsletter Subscribers",
    "SELECT s.id AS id, s.email AS email, CASE WHEN s.customer_id IS NULL THEN 'Guest' ELSE 'Customer' END AS type,"
    " coalesce(c.firstname, '') AS firstname, coalesce(c.lastname, '') AS lastname, s.status AS status"
    " FROM newsletter_subscriber s LEFT JOIN customer c ON c.id = s.customer_id",
    (
        Column("id", "ID", "number", 70), Column("email", "Email", width=300),
        Column("type", "Type", "choice", 110, (("Customer", "Customer"), ("Guest", "Guest"))),
        Column("firstname", "Customer First Name"), Column("lastname", "Customer Last Name"),
        Column("status", "Status", "choice", 130, SUBSCRIBER_STATUSES),
    ),
    open_filters=True, descending=False, actions=(("unsubscribe", "Unsubscribe"), ("delete", "Delete")),
    actions_path="/admin/newsletter/subscriber/massAction/",
)  # fmt: skip
grid_page(SUBSCRIBERS, "subscribers")


@site.post(SUBSCRIBERS.actions_path)
@returns_to(SUBSCRIBERS.path)
def change_subscribers(context: Context) -> Response:
    """Unsubscribe or delete the marked ones; the customers' own flags follow."""
    db, action = context.db, context.form("action")
    if action not in dict(SUBSCRIBERS.actions):
        raise Refused("Please select an action.")
    count = 0
    for text in dict.fromkeys(context.forms("selected")):
        entry = db.get("newsletter_subscriber", context.number(text))
        if entry is None:
            continue
        count += 1
        if action == "delete":
            db.delete("newsletter_subscriber", entry["id"])
        else:
            db.update("newsletter_subscriber", entry["id"], status="Unsubscribed")
        if entry["customer_id"] is not None and db.get("customer", entry["customer_id"]) is not None:
            db.update("customer", entry["customer_id"], subscribed=0)
    return context.redirect(SUBSCRIBERS.path, f"A total of {count} record(s) were changed.")


# ---------------------------------------------------------------------- reviews

STATUS_IDS = {"1": "Approved", "2": "Pending", "3": "Not Approved"}
STATUS_CHOICES = tuple((status, status) for status in STATUS_IDS.values())
TYPES = (("Customer", "Customer"), ("Guest", "Guest"))
EDIT = "/admin/review/product/edit/id/{id}/"
SOURCE = (
    "SELECT r.id AS id, r.created_at AS created_at, r.status AS status, r.title AS title, r.nickname AS nickname,"
    " r.detail AS detail, r.rating AS rating, CASE WHEN r.customer_id IS NULL THEN 'Guest' ELSE 'Customer' END AS type,"
    " p.name AS product, p.sku AS sku FROM review r JOIN product p ON p.id = r.product_id"
)
REVIEWS = Grid(
    "/admin/review/product/", "Reviews", SOURCE,
    (
        Column("id", "ID", "number", 52), Column("created_at", "Created", "date", 100),
        Column("status", "Status", "choice", 78, STATUS_CHOICES), Column("title", "Title"),
        Column("nickname", "Nickname", width=78), Column("detail", "Review", width=200, most=120),
        Column("type", "Type", "choice", 76, TYPES, shown=False), Column("rating", "Rating", "number", 56),
        Column("product", "Product", width=150, most=70), Column("sku", "SKU", width=106),
    ),
    edit=EDIT, open_filters=True, actions=(
        ("delete", "Delete"), *((f"status-{status}", f"Update Status: {status}") for status in STATUS_IDS.values()),
    ), actions_path="/admin/review/product/massAction/",
)  # fmt: skip
PENDING = replace(
    REVIEWS, path="/admin/review/product/pending/", title="Pending Reviews",
    source=f"{SOURCE} WHERE r.status = 'Pending'",
)  # fmt: skip
grid_page(REVIEWS, "reviews", "/admin/review/product/index/")
grid_page(PENDING, "reviews_pending")


@site.post(REVIEWS.actions_path)
@returns_to(REVIEWS.path)
def mass_action(context: Context) -> Response:
    """Delete the marked reviews, or give them a status."""
    action = context.form("action")
    if action not in dict(REVIEWS.actions):
        raise Refused("Please select an action.")
    if not (chosen := marked(context, "review")):
        raise Refused("Please select review(s).")
    for number in chosen:
        if action == "delete":
            context.db.delete("review", number)
        else:
            context.db.update("review", number, status=action.removeprefix("status-"))
    done = "deleted" if action == "delete" else "updated"
    return context.redirect(REVIEWS.path, f"A total of {len(chosen)} record(s) have been {done}.")


@site.get(EDIT)
def edit(context: Context) -> Response:
    """The form of one review."""
    review = record(context, "review")
    return context.page(
        "review.html", kind="review", title="Edit Review", review=review, statuses=tuple(STATUS_IDS.items()),
        status_id=next((key for key, status in STATUS_IDS.items() if status == review["status"]), "2"),
        product=context.db.get("product", review["product_id"]),
        customer=context.db.get("customer", review["customer_id"] or 0),
    )  # fmt: skip


@site.post("/admin/review/product/save/id/{id}/")
@returns_to(EDIT)
def save(context: Context) -> Response:
    """Change a review."""
    review, form = record(context, "review"), context.form
    status, rating = STATUS_IDS.get(form("status_id")), form("ratings")
    if status is None or rating not in ("1", "2", "3", "4", "5"):
        raise Refused("Choose a status and a rating from 1 to 5.")
    detail = paragraphs(form("detail"))
    if not detail:
        raise Refused('"Review" is a required field.')
    context.db.update(
        "review", review["id"], status=status, rating=int(rating), detail=detail,
        nickname=required(form("nickname"), "Nickname", 128), title=required(form("title"), "Summary of Review"),
    )  # fmt: skip
    return context.redirect(REVIEWS.path, "You saved the review.")


delete_page(REVIEWS, "review", "The review has been deleted.")
