"""Products: the grid, the form of one product with its configurations, and the tree of categories."""

from __future__ import annotations

import sqlite3
from itertools import product as combinations
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
from agentrl.envs.webarena.sites.admin.grid import Column, Grid, grid_page, marked
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import slug
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context
from agentrl.envs.webarena.sites.store.products import bullets_of, description_of

EDIT = "/admin/catalog/product/edit/id/{id}/"
ENABLED, DISABLED = 1, 2
STATUS_CHOICES = ((str(ENABLED), "Enabled"), (str(DISABLED), "Disabled"))
STOCK_CHOICES = (("1", "In Stock"), ("0", "Out of Stock"))
PRODUCTS = Grid(
    "/admin/catalog/product/", "Products",
    "SELECT p.id AS id, p.name AS name, p.sku AS sku, p.price AS price, p.qty AS qty, p.status AS status,"
    " p.is_in_stock AS is_in_stock, p.brand AS brand, c.name AS category, p.updated_at AS updated_at"
    " FROM product p LEFT JOIN category c ON c.id = p.category_id",
    (
        Column("id", "ID", "number", 64), Column("name", "Name"), Column("sku", "SKU", width=130),
        Column("category", "Category", width=130), Column("price", "Price", "money", 84),
        Column("qty", "Quantity", "number", 84), Column("is_in_stock", "Stock", "choice", 96, STOCK_CHOICES),
        Column("status", "Status", "choice", 80, STATUS_CHOICES), Column("brand", "Brand", shown=False),
        Column("updated_at", "Last Updated", "date", shown=False),
    ),
    searched=("name", "sku"), edit=EDIT, add=("/admin/catalog/product/new/", "Add Product"), descending=False,
    actions=(("delete", "Delete"), ("enable", "Enable"), ("disable", "Disable"), ("update", "Update attributes")),
    actions_path="/admin/catalog/product/massAction/",
)  # fmt: skip
grid_page(PRODUCTS, "products", "/admin/catalog/product/index/")


@site.post(PRODUCTS.actions_path)
@returns_to(PRODUCTS.path)
def mass_action(context: Context) -> Response:
    """Delete, enable or disable marked products, or go on to change values of all of them."""
    action = context.form("action")
    if action not in dict(PRODUCTS.actions):
        raise Refused("Please select an action.")
    if not (chosen := marked(context, "product")):
        raise Refused("You haven't selected any items!")
    if action == "update":
        return context.redirect(f"/admin/catalog/product_action_attribute/edit/?ids={','.join(map(str, chosen))}")
    for number in chosen:
        if action == "delete":  # with all that is about it alone; orders keep what was sold
            for table in ("product_option", "product_view", "review", "cart_item", "wishlist_item"):
                for row in context.db.rows(f"SELECT id FROM {table} WHERE product_id = ?", number):
                    context.db.delete(table, row["id"])
            context.db.delete("product", number)
        else:
            change_product(context.db, number, status=ENABLED if action == "enable" else DISABLED)
    done = "deleted" if action == "delete" else "updated"
    return context.redirect(PRODUCTS.path, f"A total of {len(chosen)} record(s) have been {done}.")


def change_product(db: Database, number: int, **values: Any) -> None:
    """Change columns of a product."""
    db.update("product", number, **values, updated_at=db.now())


# ---------------------------------------------------------------------- several products at once


@site.get("/admin/catalog/product_action_attribute/edit/")
def edit_many(context: Context) -> Response:
    """Values for all marked products; empty fields leave them as they are."""
    _ = context.member
    ids = [context.number(text) for text in context.query("ids").split(",")[:200]]
    chosen = [row for number in ids if (row := context.db.get("product", number)) is not None]
    return context.page(
        "products_update.html", kind="products_update", title="Update Attributes", products=chosen,
        statuses=STATUS_CHOICES, stocks=STOCK_CHOICES,
    )  # fmt: skip


@site.post("/admin/catalog/product_action_attribute/save/")
@returns_to(PRODUCTS.path)
def save_many(context: Context) -> Response:
    """Change what was filled in, for all of them."""
    form = context.form
    values: dict[str, Any] = {}
    if form("attributes[price]").strip():
        values["price"] = amount(form("attributes[price]"), "Price")
    if form("inventory[qty]").strip():
        values["qty"] = whole(form("inventory[qty]"), "Quantity")
    for name, field in (
        ("status", "attributes[status]"),
        ("is_in_stock", "inventory[is_in_stock]"),
        ("sale", "attributes[sale]"),
    ):
        if form(field) in ("0", "1", "2"):
            values[name] = int(form(field))
    if not values:
        raise Refused("Fill in at least one value to change.")
    if not (chosen := marked(context, "product")):
        raise Refused("You haven't selected any items!")
    for number in chosen:
        change_product(context.db, number, **values)
    return context.redirect(PRODUCTS.path, f"A total of {len(chosen)} record(s) were updated.")


# ---------------------------------------------------------------------- one product

MAX_VARIATIONS = 60  # shown on the page


@site.get(EDIT)
def edit(context: Context) -> Response:
    """The form of a product."""
    product = record(context, "product")
    reviews = context.db.row(
        "SELECT count(*) AS number, avg(rating) AS rating FROM review WHERE product_id = ?", product["id"]
    )
    return _form(context, {**dict(product), **_texts(product)}, product["name"], reviews=reviews)


@site.get("/admin/catalog/product/new/", "/admin/catalog/product/new/{rest:path}/")
def new(context: Context) -> Response:
    """The form of a product that is not there yet."""
    _ = context.member
    empty = dict.fromkeys(
        (
            "name", "sku", "url_key", "brand", "description", "short_description", "price", "special_price", "qty",
            "weight",
        ),
        "",
    )  # fmt: skip
    return _form(
        context,
        {**empty, "id": 0, "status": 1, "is_in_stock": 1, "sale": 0, "is_new": 0, "category_id": 0},
        "New Product",
    )


def _form(context: Context, product: dict[str, Any], title: str, **values: Any) -> Response:
    options = _options(context.db, product["id"])
    return context.page(
        "product.html", kind="product" if product["id"] else "product_new", title=title, product=product,
        options=options, variations=_variations(product["sku"], options),
        category=_category_paths(context.db).get(product["category_id"], ""),
        statuses=STATUS_CHOICES,
        stocks=STOCK_CHOICES, plain=_plain, **values,
    )  # fmt: skip


def _texts(product: sqlite3.Row) -> dict[str, str]:
    """The texts that the storefront shows; those that nobody has changed are the catalogue's."""
    return {"description": description_of(product), "short_description": "\n".join(bullets_of(product))}


def _plain(value: float | None) -> str:
    """A sum of money as a field holds it: 1234.50, or nothing."""
    return "" if value is None or value == "" else f"{value:.2f}"


def _options(db: Database, number: int) -> list[sqlite3.Row]:
    return db.rows("SELECT * FROM product_option WHERE product_id = ? ORDER BY name, position, id", number)


def _variations(sku: str, options: list[sqlite3.Row]) -> list[str]:
    """The names of all combinations of options, as the original gives them to variants: SKU-M-Blue."""
    values: dict[str, list[str]] = {}
    for option in options:
        values.setdefault(option["name"], []).append(option["value"])
    # Sizes first: "Sweatshirt-M-Blue".
    names = sorted(values, key=lambda name: (name.lower() != "size", name))
    found = combinations(*(values[name] for name in names)) if names else ()
    return ["-".join((sku, *chosen)) for chosen, _ in zip(found, range(MAX_VARIATIONS), strict=False)]


def _category_paths(db: Database) -> dict[int, str]:
    """Every category with the names of those it lies in: Home & Kitchen > Bedding > Pillows."""
    rows = {row["id"]: row for row in db.rows("SELECT id, parent_id, name FROM category ORDER BY id")}
    paths: dict[int, str] = {}
    for number, row in rows.items():
        names, above = [row["name"]], rows.get(row["parent_id"])
        while above is not None and len(names) < 10:
            names.append(above["name"])
            above = rows.get(above["parent_id"])
        paths[number] = " > ".join(reversed(names))
    return paths


def _find_category(db: Database, text: str) -> int:
    """The category that was entered by its name or its whole path; `Refused` if that is none, or several."""
    wanted = " > ".join(part.strip().lower() for part in short(text, 1000, "Category").split(">"))
    paths = _category_paths(db)
    found = [number for number, path in paths.items() if wanted in (path.lower(), path.rpartition(" > ")[2].lower())]
    if len(found) > 1:
        raise Refused(f'Several categories have this name; enter the whole path, such as "{paths[found[0]]}".')
    if not found:
        raise Refused("There is no such category; enter the name of a category, or its whole path.")
    return found[0]


def _values(context: Context, own: sqlite3.Row | None) -> dict[str, Any]:
    """What the form says; `Refused` where it cannot be saved."""
    form, own_id = context.form, own["id"] if own is not None else 0
    name = required(form("product[name]"), "Product Name")
    sku = required(form("product[sku]") or slug(name), "SKU", 64)
    url_key = slug(short(form("product[url_key]"), 255, "URL Key") or name) or sku.lower()
    for column, value in (("sku", sku), ("url_key", url_key)):
        if context.db.value(f"SELECT count(*) FROM product WHERE {column} = ? AND id != ?", value, own_id):
            raise Refused(f'The value specified in the "{column}" field is already used by another product.')
    category = _find_category(context.db, form("product[category_ids]"))
    special, weight = form("product[special_price]").strip(), form("product[weight]").strip()
    qty = form("product[quantity_and_stock_status][qty]").strip() or "0"
    shown = _texts(own) if own is not None else {}  # texts that are as they were shown are not saved
    entered = {name: paragraphs(form(f"product[{name}]")) for name in ("description", "short_description")}
    return {
        "name": name, "sku": sku, "url_key": url_key, "category_id": category,
        "brand": short(form("product[brand]"), 255, "Brand"), "price": amount(form("product[price]"), "Price"),
        "special_price": amount(special, "Special Price") if special else None,
        "weight": amount(weight, "Weight") if weight else None, "qty": whole(qty, "Quantity"),
        "is_in_stock": int(form("product[quantity_and_stock_status][is_in_stock]") == "1"),
        "status": DISABLED if form("product[status]") == str(DISABLED) else ENABLED,
        # Tick boxes: a browser sends those that are ticked.
        "sale": int("product[sale]" in dict(context.request.form)),
        "is_new": int("product[new]" in dict(context.request.form)),
        **{name: text for name, text in entered.items() if text != shown.get(name, "").strip()},
    }  # fmt: skip


@site.post("/admin/catalog/product/save/id/{id}/")
@returns_to(EDIT)
def save(context: Context) -> Response:
    """Change a product."""
    product = record(context, "product")
    change_product(context.db, product["id"], **_values(context, product))
    return context.redirect(EDIT.format(id=product["id"]), "You saved the product.")


@site.post("/admin/catalog/product/save/")
@returns_to("/admin/catalog/product/new/")
def create(context: Context) -> Response:
    """Add a product."""
    now = context.db.now()
    number = context.db.insert("product", **_values(context, None), created_at=now, updated_at=now)
    return context.redirect(EDIT.format(id=number), "You saved the product.")


@site.post("/admin/catalog/product/option/id/{id}/")
@returns_to(EDIT)
def change_options(context: Context) -> Response:
    """Add a value to an option ("Color": "Blue"), or remove marked values."""
    product, db = record(context, "product"), context.db
    own = {option["id"]: option for option in _options(db, product["id"])}
    if "remove" in dict(context.request.form):
        chosen = [number for text in context.forms("selected") if (number := context.number(text)) in own]
        for number in dict.fromkeys(chosen):
            db.delete("product_option", number)
        return context.redirect(EDIT.format(id=product["id"]), f"You removed {len(set(chosen))} value(s).")
    name, value = required(context.form("option[name]"), "Attribute"), required(context.form("option[value]"), "Value")
    if any((option["name"], option["value"]) == (name, value) for option in own.values()):
        raise Refused("The product already has this value.")
    position = max((option["position"] for option in own.values()), default=0) + 1
    db.insert("product_option", product_id=product["id"], name=name, value=value, position=position)
    return context.redirect(EDIT.format(id=product["id"]), "You added the value to the product's configurations.")


# ---------------------------------------------------------------------- categories

CATEGORY = "/admin/catalog/category/edit/id/{id}/"


def _tree(context: Context, chosen: sqlite3.Row | None) -> list[tuple[int, sqlite3.Row]]:
    """Level and category: those at the top, and below the open ones their children."""
    rows = context.db.rows("SELECT * FROM category ORDER BY position, id")
    by_id = {row["id"]: row for row in rows}
    opened: set[int | None] = {None}
    while chosen is not None and chosen["id"] not in opened:
        opened.add(chosen["id"])
        chosen = by_id.get(chosen["parent_id"])
    found: list[tuple[int, sqlite3.Row]] = []

    def add(parent: int | None, level: int) -> None:
        for row in rows:
            top = parent is None and row["parent_id"] not in by_id
            if top or (parent is not None and row["parent_id"] == parent):
                found.append((min(level, 2), row))
                if row["id"] in opened and level < 8:
                    add(row["id"], level + 1)

    add(None, 0)
    return found


@site.get("/admin/catalog/category/", "/admin/catalog/category/index/")
def tree(context: Context) -> Response:
    """All categories at the top."""
    _ = context.member
    return context.page(
        "category.html", kind="categories", title="Categories", category=None, tree=_tree(context, None)
    )


@site.get(CATEGORY)
def edit_category(context: Context) -> Response:
    """One category."""
    category = record(context, "category")
    products: Grid = PRODUCTS.among(
        f"SELECT * FROM ({PRODUCTS.source}) WHERE id IN (SELECT id FROM product WHERE category_id = ?)", category["id"],
        path=CATEGORY.format(id=category["id"]), actions=(), add=None,
    )  # fmt: skip
    return context.page(
        "category.html", kind="category", title=f"{category['name']} (ID: {category['id']})", category=category,
        tree=_tree(context, category), view=products.view(context),
    )  # fmt: skip


@site.post("/admin/catalog/category/save/id/{id}/")
@returns_to(CATEGORY)
def save_category(context: Context) -> Response:
    """Change the name and position of a category; its address stays."""
    category = record(context, "category")
    position = context.form("position").strip()
    if not position.isascii() or not position.isdigit() or len(position) > 6:
        raise Refused('"Position" must be a whole number.')
    name = required(context.form("name"), "Category Name")
    context.db.update("category", category["id"], name=name, position=int(position))
    return context.redirect(CATEGORY.format(id=category["id"]), "You saved the category.")
