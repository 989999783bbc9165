"""Tasks that change products, reviews and categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Answer, Check, Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    PRODUCT_EDIT,
    SITES,
    column,
    contents,
    exactly,
    filtered,
    grid,
    including,
    link,
    menu,
    page,
    product_page,
    rows,
    text_of,
    value_of,
)

Ways = Callable[[Parameters], Sequence[On]]
PRICE, STATUS, SALE = "product[price]", "product[status]", "product[sale]"
QUANTITY = "product[quantity_and_stock_status][qty]"
STOCK = "product[quantity_and_stock_status][is_in_stock]"
REVIEW_EDIT = "/review/product/edit/id/{id}/"
PENDING = "/review/product/pending/"
NEW_PRODUCTS = ("Cedar Desk Tray", "Blue Lark Teapot", "Folding Picnic Stool", "Wool Travel Blanket",
"Copper Herb Planter",
                "Field Notes Binder", "Porch Lantern", "Oak Spice Rack")  # fmt: skip
NEW_VALUES = ("lark blue", "moss green", "warm sand", "signal red", "night black")


def _field(name: str) -> str:
    return f'[name="{name}"]'


def _products(share: int, where: str = "1") -> Callable[[World], Iterator[dict[str, Any]]]:
    """One in fifty of the products that customers can buy."""

    def parameters(world: World) -> Iterator[dict[str, Any]]:
        sql = f"SELECT * FROM product WHERE status = 1 AND id % 50 = {share} AND {where} ORDER BY id"
        for row in rows(world, sql):
            rng = Random(f"product {row['id']} {share}")
            yield {
                "id": row["id"], "sku": row["sku"], "name": row["name"], "old_price": f"{row['price']:.2f}",
                "price": f"{rng.randrange(5, 200) + rng.choice((0.0, 0.5, 0.95, 0.99)):.2f}",
                "old_quantity": row["qty"],
                "less": rng.randrange(1, 5), "more": rng.randrange(3, 60),
            }  # fmt: skip

    return parameters


def _less(values: Parameters) -> str:
    return f"{float(values['old_price']) - values['less']:.2f}"


def _more(values: Parameters) -> str:
    return str(values["old_quantity"] + values["more"])


def _edit(acts: Callable[[Parameters], Sequence[Act]], name: str, value: Callable[[Parameters], Any]) -> Ways:
    """Open the form of the product, fill it in, save it; done when the column has the value."""

    def solution(values: Parameters) -> Sequence[On]:
        form = page(PRODUCT_EDIT.format(**values))
        return [
            *product_page(values["id"], values["sku"]), On(form, [*acts(values), Click("button", "Save")]),
            On(form, [Answer()], when=lambda world: column(world, "product", values["id"], name) == value(values)),
        ]  # fmt: skip

    return solution


def _holds(name: str, value: Callable[[Parameters], str]) -> Callable[[Parameters], dict[str, Any]]:
    return lambda values: contents(exactly(PRODUCT_EDIT.format(**values), value_of(name), value(values)))


def _restocked(values: Parameters) -> dict[str, Any]:
    path = PRODUCT_EDIT.format(**values)
    return contents(exactly(path, value_of(QUANTITY), _more(values)), exactly(path, value_of(STOCK), "1"))


# ---------------------------------------------------------------------- several products, new ones, options


def _brands(world: World) -> Iterator[dict[str, Any]]:
    """Brands with two to four products, all of them enabled."""
    found: dict[str, list[int]] = {}
    for row in rows(world, "SELECT id, brand, status FROM product ORDER BY id"):
        found.setdefault(row["brand"], []).append(row["id"] if row["status"] == 1 else 0)
    parts = sorted(found)
    for brand, ids in sorted(found.items()):
        if 2 <= len(ids) <= 4 and 0 not in ids and sum(brand in other for other in parts) == 1:
            yield {"brand": brand, "ids": ids}


def _disable_brand(values: Parameters) -> Sequence[On]:
    def done(world: World) -> bool:
        return all(column(world, "product", number, "status") == 2 for number in values["ids"])

    path, brand = "/catalog/product/", values["brand"]
    marking = [Check(f'input[name="selected"][value="{number}"]') for number in values["ids"]]
    acting = [*marking, Choose('select[name="action"]', "Disable"), Click("button", "Submit")]
    return [
        *menu("Catalog"), *filtered(path, [(Fill("#filter_brand", brand), "[brand]", brand)], *acting),
        On(grid(path), [Answer()], when=done),
    ]  # fmt: skip


def _all_disabled(values: Parameters) -> dict[str, Any]:
    paths = [PRODUCT_EDIT.format(id=number) for number in values["ids"]]
    return contents(*(exactly(path, value_of(STATUS), "2") for path in paths))


def _new_products(world: World) -> Iterator[dict[str, Any]]:
    leaves = rows(world, "SELECT name, url_path FROM category WHERE url_path LIKE '%/%/%' ORDER BY id")
    labels = [row["name"] for row in rows(world, "SELECT name FROM category ORDER BY id")]
    for number, row in enumerate(leaves):
        if labels.count(row["name"]) == 1 and number % 3 == 0:
            rng = Random(f"new product {number}")
            name = f"{rng.choice(NEW_PRODUCTS)} {rng.randrange(100, 999)}"
            price, quantity = f"{rng.randrange(5, 90)}.{rng.choice(('00', '50', '99'))}", rng.randrange(5, 200)
            yield {"name": name, "price": price, "quantity": quantity, "category": row["name"]}


def _new_product(values: Parameters) -> Sequence[On]:
    def added(world: World) -> bool:
        return bool(rows(world, "SELECT id FROM product WHERE name = ?", values["name"]))

    filling = [
        Fill(_field("product[name]"), values["name"]), Fill(_field(PRICE), values["price"]),
        Fill(_field(QUANTITY), str(values["quantity"])),
        Fill(_field("product[category_ids]"), values["category"]), Click("button", "Save"),
    ]  # fmt: skip
    return [
        *menu("Catalog"), On(grid("/catalog/product/"), [Click("a.button", "Add Product")]),
        On(page("/catalog/product/new/"), filling), On(page("/catalog/product/edit/"), [Answer()], when=added),
    ]  # fmt: skip


def _added(values: Parameters) -> dict[str, Any]:
    path = f"/catalog/product/?search={values['name'].replace(' ', '+')}"
    parts = (values["name"], values["category"], values["price"], str(values["quantity"]), "Enabled")
    return contents(including(path, text_of("tr.data-row"), *parts))


def _options(world: World) -> Iterator[dict[str, Any]]:
    sql = (
        "SELECT p.id, p.sku, p.name FROM product p WHERE p.status = 1 AND p.id % 10 = 1 AND (SELECT count(*) FROM"
        " product_option o WHERE o.product_id = p.id) BETWEEN 1 AND 6 AND EXISTS (SELECT 1 FROM product_option o"
        " WHERE o.product_id = p.id AND o.name = 'Color') ORDER BY p.id"
    )
    for row in rows(world, sql):
        value = NEW_VALUES[row["id"] % len(NEW_VALUES)]
        yield {"id": row["id"], "sku": row["sku"], "name": row["name"], "value": value}


def _add_option(values: Parameters) -> Sequence[On]:
    def added(world: World) -> bool:
        found = rows(world, "SELECT value FROM product_option WHERE product_id = ?", values["id"])
        return any(row["value"] == values["value"] for row in found)

    form = page(PRODUCT_EDIT.format(**values))
    adding = [
        Fill(_field("option[name]"), "Color"), Fill(_field("option[value]"), values["value"]),
        Click("button", "Add Configuration"),
    ]  # fmt: skip
    return [
        *product_page(values["id"], values["sku"]), On(form, adding), On(form, [Answer()], when=added),
    ]  # fmt: skip


def _has_option(values: Parameters) -> dict[str, Any]:
    locator = "document.querySelector('[data-index=\"configurable\"]').outerText"
    return contents(including(PRODUCT_EDIT.format(**values), locator, f"Color\t{values['value']}"))


# ---------------------------------------------------------------------- reviews


def _reviews(world: World) -> Iterator[dict[str, Any]]:
    sql = (
        "SELECT r.id, r.nickname, r.title, p.sku FROM review r JOIN product p ON p.id = r.product_id"
        " WHERE r.status = 'Pending' ORDER BY r.id"
    )
    for row in rows(world, sql):
        yield dict(row)


def _review_page(values: Parameters) -> list[On]:
    found = link(REVIEW_EDIT.format(**values))
    by_sku = [(Fill("#filter_sku", values["sku"]), "[sku]", values["sku"])]
    return [
        *menu("Marketing", "/sales_rule/promo_quote/", "Pending Reviews"),
        *filtered(PENDING, by_sku, found, opened=True),
    ]  # fmt: skip


def _moderate(status: str) -> Ways:
    def solution(values: Parameters) -> Sequence[On]:
        def done(world: World) -> bool:
            return column(world, "review", values["id"], "status") == status

        deciding = [Choose(_field("status_id"), status), Click("button", "Save Review")]
        return [
            *_review_page(values), On(page(REVIEW_EDIT.format(**values)), deciding),
            On(grid("/review/product/"), [Answer()], when=done),
        ]  # fmt: skip

    return solution


def _delete_review(values: Parameters) -> Sequence[On]:
    def gone(world: World) -> bool:
        return not rows(world, "SELECT id FROM review WHERE id = ?", values["id"])

    return [
        *_review_page(values), On(page(REVIEW_EDIT.format(**values)), [Click("button", "Delete Review")]),
        On(grid("/review/product/"), [Answer()], when=gone),
    ]  # fmt: skip


def _is_gone(values: Parameters) -> dict[str, Any]:
    path = "/review/product/?filters[id][from]={id}&filters[id][to]={id}".format(**values)
    return contents(including(path, text_of("td.empty"), "find any records"))


TEMPLATES = (
    Template(
        "admin-product-price", SITES, "edit-record",
        ('Set the price of "{name}" (SKU {sku}) to ${price}.',
         "From today the product with the SKU {sku} costs ${price}. Change it.",
         "Update the price of product {sku} to {price} dollars."),
        _products(7), _holds(PRICE, lambda values: values["price"]),
        _edit(lambda values: [Fill(_field(PRICE), values["price"])], "price", lambda values: float(values["price"])),
    ),
    Template(
        "admin-product-price-less", SITES, "edit-record",
        ('Reduce the price of "{name}" (SKU {sku}) by ${less}.',
         "Make the product with SKU {sku} ${less} cheaper than it is now."),
        _products(13, "price > 6"), _holds(PRICE, _less),
        _edit(lambda values: [Fill(_field(PRICE), _less(values))], "price", lambda values: float(_less(values))),
        held_out=True,
    ),
    Template(
        "admin-product-restock", SITES, "edit-record",
        ('{more} more pieces of "{name}" (SKU {sku}) arrived. Update the stock.',
         "A delivery of {more} pieces came in for SKU {sku}: add them to its quantity.",
         "Increase the quantity of product {sku} by {more}; it must be in stock."),
        _products(19), _restocked,
        _edit(lambda values: [Fill(_field(QUANTITY), _more(values)), Choose(_field(STOCK), "In Stock")], "qty",
              lambda values: int(_more(values))),
    ),
    Template(
        "admin-product-out-of-stock", SITES, "edit-record",
        ('Mark "{name}" (SKU {sku}) as out of stock.',
         "Product {sku} was damaged by water: set its stock status to out of stock.",
         "Make the product with SKU {sku} out of stock."),
        _products(23, "is_in_stock = 1"), _holds(STOCK, lambda values: "0"),
        _edit(lambda values: [Choose(_field(STOCK), "Out of Stock")], "is_in_stock", lambda values: 0),
    ),
    Template(
        "admin-product-disable", SITES, "edit-record",
        ('Disable "{name}" (SKU {sku}); there are problems with its quality.',
         "Take the product with SKU {sku} off the site by disabling it.",
         "Product {sku} should not be sold any more: disable it."),
        _products(29), _holds(STATUS, lambda values: "2"),
        _edit(lambda values: [Choose(_field(STATUS), "Disabled")], "status", lambda values: 2),
    ),
    Template(
        "admin-product-sale", SITES, "edit-record",
        ('Mark "{name}" (SKU {sku}) as a sale product.', "Put the product with SKU {sku} on sale."),
        _products(31, "sale = 0"), _holds(SALE, lambda values: "1"),
        _edit(lambda values: [Check(_field(SALE))], "sale", lambda values: 1),
    ),
    Template(
        "admin-disable-brand", SITES, "mass-action",
        ("Disable all products of the brand {brand}.",
         "We part with {brand}: every product of this brand must be disabled.",
         "Take everything made by {brand} off the site by disabling it."),
        _brands, _all_disabled, _disable_brand,
    ),
    Template(
        "admin-new-product", SITES, "fill-form",
        ('Add a product named "{name}" to the category "{category}": price ${price}, quantity {quantity}.',
         'Create a new product "{name}" that costs ${price}, with {quantity} pieces in stock, in "{category}".',
         'We now sell "{name}" ({category}) for ${price} and have {quantity} of it. Add it to the catalog.'),
        _new_products, _added, _new_product,
    ),
    Template(
        "admin-new-option", SITES, "edit-configurations",
        ('Add the color "{value}" to the configurations of the product with SKU {sku}.',
         'The product "{name}" (SKU {sku}) now also comes in {value}. Add this Color value.'),
        _options, _has_option, _add_option, held_out=True,
    ),
    Template(
        "admin-approve-review", SITES, "moderate",
        ('Approve the pending review "{title}" by {nickname} (product {sku}).',
         'The review of product {sku} that {nickname} wrote under the title "{title}" is fine. Approve it.',
         'Let customers see the pending review "{title}" by {nickname} on the product with SKU {sku}.'),
        _reviews, lambda values: contents(exactly(REVIEW_EDIT.format(**values), value_of("status_id"), "1")),
        _moderate("Approved"),
    ),
    Template(
        "admin-refuse-review", SITES, "moderate",
        ('Set the pending review "{title}" by {nickname} (product {sku}) to Not Approved.',
         "We do not want to publish what {nickname} wrote about the product {sku}: do not approve it, but keep it."),
        _reviews, lambda values: contents(exactly(REVIEW_EDIT.format(**values), value_of("status_id"), "3")),
        _moderate("Not Approved"), held_out=True,
    ),
    Template(
        "admin-delete-review", SITES, "delete-record",
        ('Delete the pending review "{title}" by {nickname} (product {sku}).',
         'The review "{title}" that {nickname} wrote about product {sku} is spam. Delete it.',
         "Remove the review of {nickname} that waits for approval at the product with SKU {sku}."),
        _reviews, _is_gone, _delete_review,
    ),
)  # fmt: skip
