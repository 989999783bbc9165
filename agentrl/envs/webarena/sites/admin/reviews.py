"""Reviews of products: all of them, those that wait for approval, and the form of one."""

from __future__ import annotations

from dataclasses import replace

from agentrl.envs.webarena.sites.admin.base import Refused, paragraphs, record, required, returns_to, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

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


@site.get(REVIEWS.path, "/admin/review/product/index/")
def grid(context: Context) -> Response:
    """All reviews."""
    _ = context.member
    return context.page("grid.html", kind="reviews", title=REVIEWS.title, view=REVIEWS.view(context))


@site.get(PENDING.path)
def pending(context: Context) -> Response:
    """Reviews that nobody has looked at."""
    _ = context.member
    return context.page("grid.html", kind="reviews_pending", title=PENDING.title, view=PENDING.view(context))


@site.post(REVIEWS.actions_path)
@returns_to(REVIEWS.path)
def mass_action(context: Context) -> Response:
    """Delete the marked reviews, or give them a status."""
    action = context.form("action")
    if action not in dict(REVIEWS.actions):
        raise Refused("Please select an action.")
    numbers = dict.fromkeys(context.number(text) for text in context.forms("selected"))
    chosen = [number for number in numbers if context.db.get("review", number) is not None]
    if not chosen:
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


@site.post("/admin/review/product/delete/id/{id}/")
@returns_to(REVIEWS.path)
def delete(context: Context) -> Response:
    """Remove a review for good."""
    context.db.delete("review", record(context, "review")["id"])
    return context.redirect(REVIEWS.path, "The review has been deleted.")
