"""The page of one product with its reviews, writing reviews, and comparing several products."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import paging
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import (
    FINAL_PRICE,
    cart_owner,
    decoded_path,
    options_of,
    owner_column,
    product_by_id,
    ratings_of,
    site,
)
from agentrl.envs.webarena.sites.shop.listing import page_links
from agentrl.envs.webarena.sites.site import Context, existing
from agentrl.envs.webarena.sites.store.products import bullets_of, description_of

REVIEWS_PER_PAGE = 10
TABS = ("description", "additional", "reviews")
MAX_COMPARED = 20


def product_page(context: Context, product: sqlite3.Row) -> Response:
    """Everything about a product, with one page of its reviews."""
    db, path = context.db, f"/{product['url_key']}.html"
    total = db.value("SELECT count(*) FROM review WHERE product_id = ? AND status = 'Approved'", product["id"])
    page, last = paging(context.number(context.query("p"), 1), total, REVIEWS_PER_PAGE)
    tab = context.query("tab", "reviews" if context.query("p") else TABS[0])
    reviews = db.rows(
        "SELECT * FROM review WHERE product_id = ? AND status = 'Approved'"
        " ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
        product["id"], REVIEWS_PER_PAGE, (page - 1) * REVIEWS_PER_PAGE,
    )  # fmt: skip
    return context.page(
        "product.html", product=product, trail=trail_of(db, product["category_id"]),
        options=options_of(db, product["id"]), bullets=bullets_of(product), description=description_of(product),
        rating=ratings_of(db, [product["id"]]).get(product["id"]), reviews=reviews, review_total=total,
        tab=tab if tab in TABS else TABS[0], pages=page_links(page, last, lambda number: f"{path}?p={number}"),
    )  # fmt: skip


def trail_of(db: Database, category: int) -> list[tuple[str, str]]:
    """Name and address of a category and of those around it, outermost first."""
    rows = db.rows(
        "SELECT name, url_path FROM category WHERE (SELECT url_path FROM category WHERE id = ?) || '/'"
        " LIKE url_path || '/%' ORDER BY length(url_path)",
        category,
    )
    return [(row["name"], f"/{row['url_path']}.html") for row in rows]


# ---------------------------------------------------------------------- comparing


@site.get("/catalog/product_compare", "/catalog/product_compare/index")
def compare(context: Context) -> Response:
    """The chosen products side by side."""
    rows = _compared(context)
    ratings = ratings_of(context.db, [row["product_id"] for row in rows])
    return context.page("compare.html", items=rows, ratings=ratings)


@site.post("/catalog/product_compare/add")
def compare_add(context: Context) -> Response:
    """Put a product on the list."""
    product = product_by_id(context.db, context.number(context.params.get("product") or context.form("product")))
    context.visit()
    back = decoded_path(context.params.get("uenc", ""), f"/{product['url_key']}.html")
    present = _compared(context)
    if len(present) >= MAX_COMPARED:
        return context.redirect(back, f"error: You can compare up to {MAX_COMPARED} products.")
    if product["id"] not in {row["product_id"] for row in present}:
        column, owner = owner_column(*cart_owner(context))
        context.db.insert("compare_item", product_id=product["id"], **{column: owner})
    return context.redirect(back, f"You added product {product['name']} to the comparison list.")


@site.post("/catalog/product_compare/remove")
def compare_remove(context: Context) -> Response:
    """Take one product off the list."""
    for row in _compared(context):
        if row["id"] == context.number(context.form("item")):
            context.db.delete("compare_item", row["id"])
            return context.redirect(
                "/catalog/product_compare/", f"You removed product {row['name']} from the comparison list."
            )
    return context.redirect("/catalog/product_compare/")


@site.post("/catalog/product_compare/clear")
def compare_clear(context: Context) -> Response:
    """Empty the list."""
    for row in _compared(context):
        context.db.delete("compare_item", row["id"])
    return context.redirect("/catalog/product_compare/", "You cleared the comparison list.")


def _compared(context: Context) -> list[sqlite3.Row]:
    column, value = owner_column(*cart_owner(context))
    return context.db.rows(
        "SELECT compare_item.id, product_id, product.name, url_key, sku, brand, is_in_stock, weight, catalogue_index,"
        f" description, short_description, {FINAL_PRICE} AS final_price FROM compare_item"
        f" JOIN product ON product.id = product_id WHERE compare_item.{column} = ? AND status = 1"
        " ORDER BY compare_item.id",
        value,
    )


# ---------------------------------------------------------------------- reviews

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
    page, last = paging(context.number(context.query("p"), 1), total, REVIEWS_PER_PAGE)
    reviews = context.db.rows(
        "SELECT review.*, product.name, product.url_key FROM review JOIN product ON product.id = product_id"
        " WHERE review.customer_id = ? ORDER BY review.created_at DESC, review.id DESC LIMIT ? OFFSET ?",
        customer, REVIEWS_PER_PAGE, (page - 1) * REVIEWS_PER_PAGE,
    )  # fmt: skip
    pages = page_links(page, last, lambda number: f"{MINE}?p={number}" if number > 1 else MINE)
    return context.page("my_reviews.html", reviews=reviews, total=total, pages=pages)


@site.get("/review/customer/view/id/{number}")
def my_review(context: Context) -> Response:
    """One of them."""
    sql = (
        "SELECT review.*, product.name, product.url_key FROM review JOIN product ON product.id = product_id"
        " WHERE review.id = ? AND review.customer_id = ?"
    )
    review = context.db.row(sql, context.number(context.params["number"]), context.member["id"])
    return context.page("my_review.html", review=existing(review))
