"""Tasks of the administration that change products, reviews, pages, customers, price rules and subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Check, Choose, Click, Fill, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.admin.kit import (
    ADMIN,
    CUSTOMER_EDIT,
    PRODUCT_EDIT,
    PRODUCTS,
    REVIEWS,
    RULES,
    SITES,
    TERMS,
    filtered,
    grid,
    is_set,
    link,
    menu,
    on_customer,
    on_product,
    page,
    selected,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, done, exists, query, shows, text_of, value_of

# Fields of the form of a product.
PRICE, STATUS, SALE = '[name="product[price]"]', '[name="product[status]"]', '[name="product[sale]"]'
QUANTITY = '[name="product[quantity_and_stock_status][qty]"]'
STOCK = '[name="product[quantity_and_stock_status][is_in_stock]"]'
REVIEW_EDIT = "/review/product/edit/id/{id}/"
CMS_EDIT = "/cms/page/edit/page_id/{id}/"
HAS_OPTION = "SELECT 1 FROM product_option WHERE product_id = ? AND value = ?"
DISCOUNTS = {"percent": "Percent of product price", "dollars": "Fixed amount"}
SUBSCRIBERS = "/newsletter/subscriber/"
NEW_PRODUCTS = ("Cedar Desk Tray", "Blue Lark Teapot", "Folding Picnic Stool", "Wool Travel Blanket",
                "Copper Herb Planter", "Field Notes Binder", "Porch Lantern", "Oak Spice Rack")  # fmt: skip
NEW_VALUES = ("lark blue", "moss green", "warm sand", "signal red", "night black")
TITLES = ("Welcome to Larkfield", "Everything You Need to Know", "News from the Warehouse", "How We Work",
          "A Letter to Our Customers", "Questions and Answers")  # fmt: skip
SEASONS = ("Spring", "Summer", "Autumn", "Winter", "Weekend", "Birthday", "Student", "Garden", "Kitchen", "Travel")


# ---------------------------------------------------------------------- products


def _products(world: World, share: int, where: str = "1") -> Iterator[Row]:
    """One in fifty of the products that customers can buy."""
    sql = f"SELECT * FROM product WHERE status = 1 AND id % 50 = {share} AND {where} ORDER BY id"
    for row in query(world, "store", sql):
        rng = Random(f"product {row['id']} {share}")
        yield {
            "id": row["id"], "sku": row["sku"], "name": row["name"], "old_price": f"{row['price']:.2f}",
            "price": f"{rng.randrange(5, 200) + rng.choice((0.0, 0.5, 0.95, 0.99)):.2f}", "old_quantity": row["qty"],
            "less": rng.randrange(1, 5), "more": rng.randrange(3, 60),
        }  # fmt: skip


def _holds(row: Parameters, **fields: str) -> dict[str, Any]:
    """The form of the product has these values."""
    names = {"price": PRICE, "status": STATUS, "sale": SALE, "quantity": QUANTITY, "stock": STOCK}
    url = ADMIN + PRODUCT_EDIT.format(**row)
    return shows(*((url, value_of(names[name]), value) for name, value in fields.items()))


def _edit(row: Parameters, *acts: Act, **columns: Any) -> list[On]:
    """Open the form of the product, fill it in, save it; done when the columns have the values."""
    saved = done(page(PRODUCT_EDIT.format(**row)), is_set("product", row["id"], **columns))
    return [*on_product(row, *acts, Click("button", "Save")), saved]


def _less(row: Parameters) -> str:
    return f"{float(row['old_price']) - row['less']:.2f}"


def _more(row: Parameters) -> int:
    return row["old_quantity"] + row["more"]


@template(
    "admin-disable-brand", SITES, "mass-action",
    ("Disable all products of the brand {brand}.",
     "We part with {brand}: every product of this brand must be disabled.",
     "Take everything made by {brand} off the site by disabling it."),
    lambda row: shows(
        *((ADMIN + PRODUCT_EDIT.format(id=number), value_of(STATUS), "2") for number in row["ids"])
    ),
    lambda row: [
        *menu("Catalog"), *filtered(PRODUCTS, [Fill("#filter_brand", row["brand"])], *selected(row["ids"], "Disable")),
        done(grid(PRODUCTS), lambda world: all(is_set("product", number, status=2)(world) for number in row["ids"])),
    ],
)  # fmt: skip
def disable_brand(world: World) -> Iterator[Row]:
    """Brands with two to four products, all of them enabled."""
    found: dict[str, list[int]] = {}
    for row in query(world, "store", "SELECT id, brand, status FROM product ORDER BY id"):
        found.setdefault(row["brand"], []).append(row["id"] if row["status"] == 1 else 0)
    for brand, ids in sorted(found.items()):
        if 2 <= len(ids) <= 4 and 0 not in ids and sum(brand in other for other in found) == 1:
            yield {"brand": brand, "ids": ids}


@template(
    "admin-new-product", SITES, "fill-form",
    ('Add a product named "{name}" to the category "{category}": price ${price}, quantity {quantity}.',
     'Create a new product "{name}" that costs ${price}, with {quantity} pieces in stock, in "{category}".',
     'We now sell "{name}" ({category}) for ${price} and have {quantity} of it. Add it to the catalog.'),
    lambda row: shows(
        (f"{ADMIN}/catalog/product/?search={row['name'].replace(' ', '+')}", text_of("tr.data-row"),
         [row["name"], row["category"], row["price"], str(row["quantity"]), "Enabled"])
    ),
    lambda row: [
        *menu("Catalog"), On(grid(PRODUCTS), [Click("a.button", "Add Product")]),
        On(page("/catalog/product/new/"), [
            Fill('[name="product[name]"]', row["name"]), Fill(PRICE, row["price"]),
            Fill(QUANTITY, str(row["quantity"])), Fill('[name="product[category_ids]"]', row["category"]),
            Click("button", "Save"),
        ]),
        done(page("/catalog/product/edit/"), exists("store", "SELECT id FROM product WHERE name = ?", row["name"])),
    ],
)  # fmt: skip
def new_product(world: World) -> Iterator[Row]:
    leaves = query(world, "store", "SELECT name FROM category WHERE url_path LIKE '%/%/%' ORDER BY id")
    labels = [row["name"] for row in query(world, "store", "SELECT name FROM category ORDER BY id")]
    for number, row in enumerate(leaves):
        if labels.count(row["name"]) == 1 and number % 3 == 0:
            rng = Random(f"new product {number}")
            name = f"{rng.choice(NEW_PRODUCTS)} {rng.randrange(100, 999)}"
            price, quantity = f"{rng.randrange(5, 90)}.{rng.choice(('00', '50', '99'))}", rng.randrange(5, 200)
            yield {"name": name, "price": price, "quantity": quantity, "category": row["name"]}


@template(
    "admin-new-option", SITES, "edit-configurations",
    ('Add the color "{value}" to the configurations of the product with SKU {sku}.',
     'The product "{name}" (SKU {sku}) now also comes in {value}. Add this Color value.'),
    lambda row: shows(
        (ADMIN + PRODUCT_EDIT.format(**row), text_of('[data-index="configurable"]'), [f"Color\t{row['value']}"])
    ),
    lambda row: [
        *on_product(
            row, Fill('[name="option[name]"]', "Color"), Fill('[name="option[value]"]', row["value"]),
            Click("button", "Add Configuration"),
        ),
        done(page(PRODUCT_EDIT.format(**row)), exists("store", HAS_OPTION, row["id"], row["value"])),
    ],
    held_out=True,
)  # fmt: skip
def new_option(world: World) -> Iterator[Row]:
    """Products with one to six option values, some of them colors, and another color each."""
    sql = (
        "SELECT p.id, p.sku, p.name FROM product p WHERE p.status = 1 AND p.id % 10 = 1 AND (SELECT count(*) FROM"
        " product_option o WHERE o.product_id = p.id) BETWEEN 1 AND 6 AND EXISTS (SELECT 1 FROM product_option o"
        " WHERE o.product_id = p.id AND o.name = 'Color') ORDER BY p.id"
    )
    return ({**row, "value": NEW_VALUES[row["id"] % len(NEW_VALUES)]} for row in query(world, "store", sql))


PRODUCT_TEMPLATES = (
    Template(
        "admin-product-price", SITES, "edit-record",
        ('Set the price of "{name}" (SKU {sku}) to ${price}.',
         "From today the product with the SKU {sku} costs ${price}. Change it.",
         "Update the price of product {sku} to {price} dollars."),
        lambda world: _products(world, 7), lambda row: _holds(row, price=row["price"]),
        lambda row: _edit(row, Fill(PRICE, row["price"]), price=float(row["price"])),
    ),
    Template(
        "admin-product-price-less", SITES, "edit-record",
        ('Reduce the price of "{name}" (SKU {sku}) by ${less}.',
         "Make the product with SKU {sku} ${less} cheaper than it is now."),
        lambda world: _products(world, 13, "price > 6"), lambda row: _holds(row, price=_less(row)),
        lambda row: _edit(row, Fill(PRICE, _less(row)), price=float(_less(row))), held_out=True,
    ),
    Template(
        "admin-product-restock", SITES, "edit-record",
        ('{more} more pieces of "{name}" (SKU {sku}) arrived. Update the stock.',
         "A delivery of {more} pieces came in for SKU {sku}: add them to its quantity.",
         "Increase the quantity of product {sku} by {more}; it must be in stock."),
        lambda world: _products(world, 19), lambda row: _holds(row, quantity=str(_more(row)), stock="1"),
        lambda row: _edit(row, Fill(QUANTITY, str(_more(row))), Choose(STOCK, "In Stock"), qty=_more(row)),
    ),
    Template(
        "admin-product-out-of-stock", SITES, "edit-record",
        ('Mark "{name}" (SKU {sku}) as out of stock.',
         "Product {sku} was damaged by water: set its stock status to out of stock.",
         "Make the product with SKU {sku} out of stock."),
        lambda world: _products(world, 23, "is_in_stock = 1"), lambda row: _holds(row, stock="0"),
        lambda row: _edit(row, Choose(STOCK, "Out of Stock"), is_in_stock=0),
    ),
    Template(
        "admin-product-disable", SITES, "edit-record",
        ('Disable "{name}" (SKU {sku}); there are problems with its quality.',
         "Take the product with SKU {sku} off the site by disabling it.",
         "Product {sku} should not be sold any more: disable it."),
        lambda world: _products(world, 29), lambda row: _holds(row, status="2"),
        lambda row: _edit(row, Choose(STATUS, "Disabled"), status=2),
    ),
    Template(
        "admin-product-sale", SITES, "edit-record",
        ('Mark "{name}" (SKU {sku}) as a sale product.', "Put the product with SKU {sku} on sale."),
        lambda world: _products(world, 31, "sale = 0"), lambda row: _holds(row, sale="1"),
        lambda row: _edit(row, Check(SALE), sale=1),
    ),
    disable_brand, new_product, new_option,
)  # fmt: skip


# ---------------------------------------------------------------------- reviews


def _reviews(world: World) -> list[Row]:
    return query(
        world, "store",
        "SELECT r.id, r.nickname, r.title, p.sku FROM review r JOIN product p ON p.id = r.product_id"
        " WHERE r.status = 'Pending' ORDER BY r.id",
    )  # fmt: skip


def _on_review(row: Parameters, *acts: Act) -> list[On]:
    """Find a pending review by its product, and do this on its page."""
    path = REVIEW_EDIT.format(**row)
    by_sku = [Fill("#filter_sku", row["sku"])]
    return [
        *menu("Marketing", "Pending Reviews"),
        *filtered("/review/product/pending/", by_sku, link(path), opened=True),
        On(page(path), acts),
    ]


def _moderate(row: Parameters, status: str) -> list[On]:
    decided = done(grid(REVIEWS), is_set("review", row["id"], status=status))
    return [*_on_review(row, Choose('[name="status_id"]', status), Click("button", "Save Review")), decided]


def _has_status(row: Parameters, status: str) -> dict[str, Any]:
    return shows((ADMIN + REVIEW_EDIT.format(**row), value_of('[name="status_id"]'), status))


def _is_gone(path: str, row: Parameters) -> dict[str, Any]:
    """A grid has no such row any more."""
    url = f"{ADMIN}{path}?filters[id][from]={row['id']}&filters[id][to]={row['id']}"
    return shows((url, text_of("td.empty"), ["find any records"]))


REVIEW_TEMPLATES = (
    Template(
        "admin-approve-review", SITES, "moderate",
        ('Approve the pending review "{title}" by {nickname} (product {sku}).',
         'The review of product {sku} that {nickname} wrote under the title "{title}" is fine. Approve it.',
         'Let customers see the pending review "{title}" by {nickname} on the product with SKU {sku}.'),
        _reviews, lambda row: _has_status(row, "1"), lambda row: _moderate(row, "Approved"),
    ),
    Template(
        "admin-refuse-review", SITES, "moderate",
        ('Set the pending review "{title}" by {nickname} (product {sku}) to Not Approved.',
         "We do not want to publish what {nickname} wrote about the product {sku}: do not approve it, but keep it."),
        _reviews, lambda row: _has_status(row, "3"), lambda row: _moderate(row, "Not Approved"), held_out=True,
    ),
    Template(
        "admin-delete-review", SITES, "delete-record",
        ('Delete the pending review "{title}" by {nickname} (product {sku}).',
         'The review "{title}" that {nickname} wrote about product {sku} is spam. Delete it.',
         "Remove the review of {nickname} that waits for approval at the product with SKU {sku}."),
        _reviews, lambda row: _is_gone(REVIEWS, row),
        lambda row: [
            *_on_review(row, Click("button", "Delete Review")),
            done(grid(REVIEWS), lambda world: world.database("store").get("review", row["id"]) is None),
        ],
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- pages, customers, rules, subscribers, searches


@template(
    "admin-customer-group", SITES, "edit-record",
    ("Move the customer {name} to the group {group}.",
     "{name} ({email}) now belongs to the customer group {group}. Save that.",
     "Set the customer group of {name} to {group}."),
    lambda row: shows(
        (f"{ADMIN}{CUSTOMER_EDIT.format(**row)}tab/account/", value_of('[name="customer[group_id]"]'), row["group"])
    ),
    lambda row: [
        *on_customer(row, row["email"], "Account Information"),
        On(page(f"{CUSTOMER_EDIT.format(**row)}tab/account/"),
           [Choose('[name="customer[group_id]"]', row["group"]), Click("button", "Save Customer")]),
        done(page(f"{CUSTOMER_EDIT.format(**row)}tab/account/"),
             is_set("customer", row["id"], group_name=row["group"])),
    ],
)  # fmt: skip
def customer_group(world: World) -> Iterator[Row]:
    sql = "SELECT id, firstname || ' ' || lastname AS name, email, group_name FROM customer ORDER BY id"
    for row in query(world, "store", sql):
        others = [group for group in ("General", "Retailer", "Wholesale") if group != row["group_name"]]
        yield {"id": row["id"], "name": row["name"], "email": row["email"], "group": others[row["id"] % len(others)]}


@template(
    "admin-new-coupon", SITES, "fill-form",
    ('Create an active cart price rule "{name}" with the coupon code {code} that takes off {amount} {kind}.',
     'Customers who enter {code} should pay {amount} {kind} less. Make a cart price rule for it, called "{name}".'),
    lambda row: shows(
        (f"{ADMIN}{RULES}?filters[coupon_code]={row['code']}", text_of("tr.data-row"),
         [row["name"], row["code"], DISCOUNTS[row["kind"]], str(row["amount"]), "Active"])
    ),
    lambda row: [
        *menu("Marketing"), On(grid(RULES), [Click("a.button", "Add New Rule")]),
        On(page(f"{RULES}new/"), [
            Fill('[name="name"]', row["name"]), Fill('[name="coupon_code"]', row["code"]),
            Choose('[name="simple_action"]', f"{DISCOUNTS[row['kind']]} discount"),
            Fill('[name="discount_amount"]', str(row["amount"])), Click("button", "Save"),
        ]),
        done(page(f"{RULES}edit/"), exists("store", "SELECT id FROM cart_rule WHERE coupon_code = ?", row["code"])),
    ],
    held_out=True,
)  # fmt: skip
def new_coupon(world: World) -> Iterator[Row]:
    for number in range(60):
        rng = Random(f"rule {number}")
        season, amount = SEASONS[number % len(SEASONS)], rng.choice((5, 8, 12, 15, 18, 20, 25, 30))
        code, name = f"{season.upper()}{amount}{number:02d}", f"{season} Offer {number + 1}"
        yield {"code": code, "name": name, "amount": amount, "kind": rng.choice(("percent", "dollars"))}


RECORD_TEMPLATES = (
    Template(
        "admin-page-title", SITES, "edit-record",
        ('Change the page title of the page "{title}" to "{new_title}".',
         'Our page "{title}" should be called "{new_title}" from now on. Change its title.',
         'Rename the content page "{title}": its new title is "{new_title}".'),
        lambda world: (
            {"key": f"{row['id']} {title}", "id": row["id"], "title": row["title"], "new_title": title}
            for row in query(world, "store", "SELECT id, title FROM cms_page ORDER BY id") for title in TITLES
        ),
        lambda row: shows((ADMIN + CMS_EDIT.format(**row), value_of('[name="title"]'), row["new_title"])),
        lambda row: [
            *menu("Content"), On(grid("/cms/page/"), [link(CMS_EDIT.format(**row))]),
            On(page(CMS_EDIT.format(**row)), [Fill('[name="title"]', row["new_title"]), Click("button", "Save Page")]),
            done(page(CMS_EDIT.format(**row)), is_set("cms_page", row["id"], title=row["new_title"])),
        ],
    ),
    customer_group, new_coupon,
    Template(
        "admin-unsubscribe", SITES, "mass-action",
        ("Unsubscribe {email} from the newsletter.",
         "{email} does not want our newsletter any more. Unsubscribe this address.",
         "Set the newsletter subscription of {email} to unsubscribed."),
        lambda world: query(
            world, "store", "SELECT email, id FROM newsletter_subscriber WHERE status = 'Subscribed' ORDER BY id"
        ),
        lambda row: shows(
            (f"{ADMIN}{SUBSCRIBERS}?filters[email]={row['email']}", text_of("tr.data-row"),
             [row["email"], "Unsubscribed"])
        ),
        lambda row: [
            *menu("Marketing", "Newsletter Subscribers"),
            *filtered(SUBSCRIBERS, [Fill("#filter_email", row["email"])],
                      *selected([row["id"]], "Unsubscribe"), opened=True),
            done(grid(SUBSCRIBERS), is_set("newsletter_subscriber", row["id"], status="Unsubscribed")),
        ],
    ),
    Template(
        "admin-delete-search-term", SITES, "delete-record",
        ('Delete the search term "{term}".', 'Remove "{term}" from the list of search terms.'),
        lambda world: query(world, "store", "SELECT query AS term, id FROM search_term ORDER BY id"),
        lambda row: _is_gone(TERMS, row),
        lambda row: [
            *menu("Marketing", "Search Terms"),
            *filtered(TERMS, [Fill("#filter_query", row["term"])], *selected([row["id"]], "Delete"), opened=True),
            done(grid(TERMS), lambda world: world.database("store").get("search_term", row["id"]) is None),
        ],
        held_out=True,
    ),
)  # fmt: skip
TEMPLATES = (*PRODUCT_TEMPLATES, *REVIEW_TEMPLATES, *RECORD_TEMPLATES)
