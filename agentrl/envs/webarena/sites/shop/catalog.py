"""Home, categories, searches and pictures of products; pages of text, newsletter and contact."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from io import BytesIO

from agentrl.envs.common.catalogue import Product
from agentrl.envs.common.catalogue.photos import photo
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.account import is_email
from agentrl.envs.webarena.sites.shop.base import ratings_of, site
from agentrl.envs.webarena.sites.shop.listing import PRODUCTS, Listing
from agentrl.envs.webarena.sites.shop.product import product_page, trail_of
from agentrl.envs.webarena.sites.shop.search import MAX_LENGTH, Item, assortment, found_products, items_below
from agentrl.envs.webarena.sites.site import Context, existing
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
    if category is None:
        key = path.rsplit("/", 1)[-1]
        product = existing(context.db.row(f"{PRODUCTS} WHERE url_key = ? AND status = 1", key))
        return product_page(context, product)
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
    if wanted:
        within = context.db.get("category", context.number(wanted))
        inside = {item.id for item in items_below(context.db, within["url_path"])} if within is not None else set()
        found = [item for item in found if item.id in inside]
    top = context.db.rows("SELECT id, name FROM category WHERE parent_id IS NULL ORDER BY position")
    listing = Listing(context, SEARCH_PATH, ("relevance", "name", "price"), found, descending=True)
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
    low, high = (_amount(values[name]) for name in ("price[from]", "price[to]"))
    products = []
    for item in _in_texts(context.db, values):
        if (low is not None and item.price < low) or (high is not None and item.price > high):
            continue
        texts = {"name": item.name.lower(), "sku": item.sku.lower()}
        if all(word in text for name, text in texts.items() for word in values[name].lower().split()):
            products.append(item)
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


def _amount(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


@site.get("/search/term/popular")
def popular_terms(context: Context) -> Response:
    """What visitors look for most."""
    terms = context.db.rows("SELECT * FROM search_term WHERE results > 0 ORDER BY query")
    return context.page("search_terms.html", terms=terms)


@site.get("/media/catalog/product/{number}.png")
def media(context: Context) -> Response:
    """The picture of a product."""
    product = context.record("product", "number")
    record = catalogue_product(product)
    lasting = record is not None
    if record is None:
        record = Product(product["sku"], product["name"], "", (), "", "", product["kind"], (1.0,), 1.0)
    file = BytesIO()
    photo(record, PHOTO_PIXELS).save(file, "PNG")
    return Response(file.getvalue(), content_type="image/png", lasting=lasting)


# ---------------------------------------------------------------------- pages of text, newsletter, contact

CONTACT = "/contact/"


@site.get("/newsletter/manage")
def newsletter(context: Context) -> Response:
    """Is the customer subscribed?"""
    return context.page("newsletter.html", subscribed=context.member["subscribed"])


@site.post("/newsletter/manage/save")
def newsletter_save(context: Context) -> Response:
    """Subscribe or unsubscribe."""
    member = context.member
    wanted = int(context.form("is_subscribed") == "1")
    if wanted == member["subscribed"]:
        return context.redirect("/customer/account/", "We have updated your subscription.")
    context.db.update("customer", member["id"], subscribed=wanted)
    _record(context, member["email"], member["id"], "Subscribed" if wanted else "Unsubscribed")
    saved = "We have saved your subscription." if wanted else "We have removed your newsletter subscription."
    return context.redirect("/customer/account/", saved)


@site.post("/newsletter/subscriber/new")
def subscribe(context: Context) -> Response:
    """The box in the footer."""
    email = context.form("email").strip()
    if not is_email(email):
        return context.redirect("/", "error: Please enter a valid email address (Ex: johndoe@domain.com).")
    present = context.db.row("SELECT * FROM newsletter_subscriber WHERE lower(email) = lower(?)", email)
    if present is not None and present["status"] == "Subscribed":
        return context.redirect("/", "error: This email address is already subscribed.")
    customer = context.db.row("SELECT * FROM customer WHERE lower(email) = lower(?)", email)
    if customer is not None:
        context.db.update("customer", customer["id"], subscribed=1)
    _record(context, email, customer["id"] if customer is not None else None, "Subscribed")
    return context.redirect("/", "Thank you for your subscription.")


def _record(context: Context, email: str, customer: int | None, status: str) -> None:
    present = context.db.row("SELECT * FROM newsletter_subscriber WHERE lower(email) = lower(?)", email)
    if present is not None:
        context.db.update("newsletter_subscriber", present["id"], status=status, customer_id=customer)
    else:
        context.db.insert("newsletter_subscriber", email=email, customer_id=customer, status=status)


@site.get("/contact", "/contact/index")
def contact(context: Context) -> Response:
    """The form, with what we know of a customer filled in."""
    return context.page("contact.html")


@site.post("/contact/index/post")
def contact_post(context: Context) -> Response:
    """Keep the message."""
    values = {name: context.form(name).strip() for name in ("name", "email", "telephone", "comment")}
    if not values["name"] or not values["comment"]:
        return context.redirect(CONTACT, "error: Enter the Name and the message and try again.")
    if not is_email(values["email"]):
        return context.redirect(CONTACT, "error: The email address is invalid. Verify the email address and try again.")
    context.db.insert("contact_message", created_at=context.db.now(), **values)
    return context.redirect(
        CONTACT, "Thanks for contacting us with your comments and questions. We'll respond to you very soon."
    )


def text_page(context: Context) -> Response:
    """A page that an administrator wrote."""
    sql = "SELECT * FROM cms_page WHERE identifier = ? AND is_active = 1"
    page = existing(context.db.row(sql, context.params["identifier"]))
    return context.page("text_page.html", page=page, blocks=blocks(page["content"]))


def blocks(content: str) -> list[tuple[str, str]]:
    """Headings and paragraphs of a text: ("h2", text) or ("p", text)."""
    found = []
    for part in content.replace("\r\n", "\n").split("\n\n"):
        text = part.strip()
        if text:
            found.append(("h2", text[2:]) if text.startswith("# ") else ("p", text))
    return found
