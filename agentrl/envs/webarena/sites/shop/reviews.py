"""Writing reviews, and the customer's own."""

from __future__ import annotations

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import product_by_id, site
from agentrl.envs.webarena.sites.shop.listing import page_links
from agentrl.envs.webarena.sites.site import Context, NotFound

PER_PAGE = 10
MINE = "/review/customer/"


@site.post("/review/product/post/id/{number}")
def post_review(context: Context) -> Response:
    """Keep a review until an administrator has read it."""
    product = product_by_id(context.db, context.number(context.params["number"]))
    path = f"/{product['url_key']}.html"
    values = {name: context.form(name).strip() for name in ("nickname", "title", "detail")}
    rating = context.number(context.form("ratings[4]") or context.form("ratings[1]"))
    if not 1 <= rating <= 5:
        return context.redirect(path, "error: Please select one of each of the ratings above.")
    if not all(values.values()):
        return context.redirect(path, "error: Nickname, summary and review are required.")
    customer = context.user["id"] if context.user is not None else None
    context.db.insert(
        "review", product_id=product["id"], customer_id=customer, rating=rating, status="Pending",
        created_at=context.db.now(), **values,
    )  # fmt: skip
    return context.redirect(path, "You submitted your review for moderation.")


@site.get("/review/customer", "/review/customer/index")
def my_reviews(context: Context) -> Response:
    """What the customer has written."""
    customer = context.member["id"]
    total = context.db.value("SELECT count(*) FROM review WHERE customer_id = ?", customer)
    last = max(1, -(-total // PER_PAGE))
    page = min(max(1, context.number(context.query("p", "1"), 1)), last)
    reviews = context.db.rows(
        "SELECT review.*, product.name, product.url_key FROM review JOIN product ON product.id = product_id"
        " WHERE review.customer_id = ? ORDER BY review.created_at DESC, review.id DESC LIMIT ? OFFSET ?",
        customer, PER_PAGE, (page - 1) * PER_PAGE,
    )  # fmt: skip
    pages = page_links(page, last, lambda number: f"{MINE}?p={number}" if number > 1 else MINE)
    return context.page("my_reviews.html", reviews=reviews, total=total, pages=pages)


@site.get("/review/customer/view/id/{number}")
def my_review(context: Context) -> Response:
    """One of them."""
    review = context.db.row(
        "SELECT review.*, product.name, product.url_key FROM review JOIN product ON product.id = product_id"
        " WHERE review.id = ? AND review.customer_id = ?",
        context.number(context.params["number"]), context.member["id"],
    )  # fmt: skip
    if review is None:
        raise NotFound
    return context.page("my_review.html", review=review)
