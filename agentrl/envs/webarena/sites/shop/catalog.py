"""Home, categories, searches and the pictures of products."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from io import BytesIO

from agentrl.envs.common.catalogue import Product
from agentrl.envs.common.catalogue.photos import photo
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import ratings_of, site
from agentrl.envs.webarena.sites.shop.listing import PRODUCTS, Listing
from agentrl.envs.webarena.sites.shop.product import product_page, trail_of
from agentrl.envs.webarena.sites.shop.search import MAX_LENGTH, Item, assortment, found_products, items_below
from agentrl.envs.webarena.sites.site import Context, NotFound
from agentrl.envs.webarena.sites.store.products import bullets_of, catalogue_product, description_of

PHOTO_PIXELS = 320
SHOWCASE = 8  # products on the home page
LONG_TEXTS: dict[str, Callable[[sqlite3.Row], str]] = {
    "description": description_of,
    "short_description": lambda product: " ".join(bullets_of(product)),
}
SEARCH_PATH = "/catalogsearch/result/index/"


@site.get("/")
def home(context: Context) -> Response:
    """Products that sell well, and new ones."""
    db = context.db
    best = db.rows(
        f"{PRODUCTS} JOIN (SELECT product_id, sum(qty) AS sold FROM order_item GROUP BY product_id) AS sales"
        " ON sales.product_id = product.id WHERE status = 1 AND is_in_stock = 1 ORDER BY sold DESC, product.id LIMIT ?",
        SHOWCASE,
    )
    new = db.rows(
        f"{PRODUCTS} WHERE status = 1 AND is_new = 1 AND is_in_stock = 1 ORDER BY created_at DESC, id LIMIT ?", SHOWCASE
    )
    welcome = db.row("SELECT * FROM cms_page WHERE identifier = 'home' AND is_active = 1")
    ratings = ratings_of(db, [product["id"] for product in (*best, *new)])
    return context.page("home.html", best=best, new=new, welcome=welcome, ratings=ratings)


def category_or_product(context: Context) -> Response:
    """Both live at the root, as in Magento."""
    path = context.params["path"]
    category = context.db.row("SELECT * FROM category WHERE url_path = ?", path)
    if category is not None:
        return category_page(context, category)
    key = path.rsplit("/", 1)[-1]
    product = context.db.row(f"{PRODUCTS} WHERE url_key = ? AND status = 1", key)
    if product is None:
        raise NotFound
    return product_page(context, product)


def category_page(context: Context, category: sqlite3.Row) -> Response:
    """The products of a category and of all below it."""
    db = context.db
    products = items_below(db, category["url_path"])
    children = db.rows("SELECT * FROM category WHERE parent_id = ? ORDER BY position", category["id"])
    listing = Listing(
        context, f"/{category['url_path']}.html", ("position", "name", "price"), products,
        categories=[(child["name"], f"/{child['url_path']}.html", child["id"]) for child in children],
    )  # fmt: skip
    return context.page(
        "listing.html", kind="category", title=category["name"], trail=trail_of(db, category["id"]), listing=listing
    )


@site.get("/catalogsearch/result", "/catalogsearch/result/index")
def search_page(context: Context) -> Response:
    """Results of the box in the header."""
    query = context.query("q").strip()[:MAX_LENGTH]
    if not query:
        return context.redirect("/")
    items, wanted = assortment(context.db), context.query("cat")
    found = [items[row_id] for row_id in found_products(context.db, query) if row_id in items]
    products = _below(context.db, context.number(wanted), found) if wanted else found
    top = context.db.rows("SELECT id, name FROM category WHERE parent_id IS NULL ORDER BY position")
    listing = Listing(context, SEARCH_PATH, ("relevance", "name", "price"), products, descending=True)
    if not wanted:
        listing.categories = [(row["name"], listing.link(cat=row["id"]), row["id"]) for row in top]
    title = f"Search results for: '{query}'"
    return context.page("listing.html", kind="search", title=title, trail=[], listing=listing, searched=query)


@site.get("/catalogsearch/advanced")
def advanced_search(context: Context) -> Response:
    """The form with one field for each part of a product."""
    return context.page("advanced_search.html", values=dict(context.request.query))


@site.get("/catalogsearch/advanced/result")
def advanced_result(context: Context) -> Response:
    """Products that contain every word of every field, within the prices."""
    values = {name: context.query(name).strip() for name in ("name", "sku", *LONG_TEXTS, "price[from]", "price[to]")}
    if not any(values.values()):
        return context.redirect("/catalogsearch/advanced/", "error: Enter a search term and try again.")
    products = [item for item in _in_texts(context.db, values) if _fits(item, values)]
    listing = Listing(context, "/catalogsearch/advanced/result/", ("position", "name", "price"), products)
    return context.page("listing.html", kind="search", title="Catalog Advanced Search", trail=[], listing=listing)


def _in_texts(db: Database, values: dict[str, str]) -> list[Item]:
    """The products whose long texts contain what those fields ask for."""
    items = assortment(db)
    for name, text_of in LONG_TEXTS.items():
        words = values[name].lower().split()
        if words:  # long texts are made when they are asked for, so only those that the index names are
            found = [row for row_id in found_products(db, values[name]) if (row := db.get("product", row_id))]
            wanted = {row["id"] for row in found if all(word in text_of(row).lower() for word in words)}
            items = {row_id: item for row_id, item in items.items() if row_id in wanted}
    return list(items.values())


def _fits(item: Item, values: dict[str, str]) -> bool:
    low, high = (_amount(values[name]) for name in ("price[from]", "price[to]"))
    if (low is not None and item.price < low) or (high is not None and item.price > high):
        return False
    texts = {"name": item.name.lower(), "sku": item.sku.lower()}
    return all(word in text for name, text in texts.items() for word in values[name].lower().split())


def _amount(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _below(db: Database, category: int, items: list[Item]) -> list[Item]:
    top = db.get("category", category)
    if top is None:
        return []
    inside = {item.id for item in items_below(db, top["url_path"])}
    return [item for item in items if item.id in inside]


@site.get("/search/term/popular")
def popular_terms(context: Context) -> Response:
    """What visitors look for most."""
    terms = context.db.rows("SELECT * FROM search_term WHERE results > 0 ORDER BY query")
    return context.page("search_terms.html", terms=terms)


@site.get("/media/catalog/product/{number}.png")
def media(context: Context) -> Response:
    """The picture of a product."""
    product = context.db.get("product", context.number(context.params["number"]))
    if product is None:
        raise NotFound
    record = catalogue_product(product)
    lasting = record is not None
    if record is None:
        record = Product(product["sku"], product["name"], "", (), "", "", product["kind"], (1.0,), 1.0)
    file = BytesIO()
    photo(record, PHOTO_PIXELS).save(file, "PNG")
    return Response(file.getvalue(), content_type="image/png", lasting=lasting)
