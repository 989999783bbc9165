"""The form of one product, or of a new one, with its configurations."""

from __future__ import annotations

import re
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
from agentrl.envs.webarena.sites.admin.products import (
    DISABLED,
    EDIT,
    ENABLED,
    STATUS_CHOICES,
    STOCK_CHOICES,
    change_product,
)
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context
from agentrl.envs.webarena.sites.store.products import bullets_of, description_of

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
            "name",
            "sku",
            "url_key",
            "brand",
            "description",
            "short_description",
            "price",
            "special_price",
            "qty",
            "weight",
        ),
        "",
    )
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


def _changed_texts(context: Context, own: sqlite3.Row | None) -> dict[str, str]:
    """What was entered as texts; nothing for those that are as they were shown."""
    shown = _texts(own) if own is not None else {}
    entered = {name: paragraphs(context.form(f"product[{name}]")) for name in ("description", "short_description")}
    return {name: text for name, text in entered.items() if text != shown.get(name, "").strip()}


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
    sku = required(form("product[sku]") or _key(name), "SKU", 64)
    url_key = _key(short(form("product[url_key]"), 255, "URL Key") or name) or sku.lower()
    for column, value in (("sku", sku), ("url_key", url_key)):
        if context.db.value(f"SELECT count(*) FROM product WHERE {column} = ? AND id != ?", value, own_id):
            raise Refused(f'The value specified in the "{column}" field is already used by another product.')
    category = _find_category(context.db, form("product[category_ids]"))
    special, weight = form("product[special_price]").strip(), form("product[weight]").strip()
    qty = form("product[quantity_and_stock_status][qty]").strip() or "0"
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
        **_changed_texts(context, own),
    }  # fmt: skip


def _key(text: str) -> str:
    """A text as part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


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
