"""Customers: the grid, and one customer's account, addresses, orders, reviews, newsletter, cart and wish list."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.admin.base import Refused, record, required, returns_to, short, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid, grid_page, marked
from agentrl.envs.webarena.sites.admin.orders import ORDERS
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

GROUPS = ("General", "Retailer", "Wholesale")
GROUP_CHOICES = tuple((name, name) for name in GROUPS)
EDIT = "/admin/customer/index/edit/id/{id}/"
CUSTOMERS = Grid(
    "/admin/customer/index/", "Customers",
    "SELECT c.id AS id, c.firstname || ' ' || c.lastname AS name, c.email AS email, c.group_name AS group_name,"
    " coalesce(nullif(c.telephone, ''), a.telephone, '') AS telephone, coalesce(a.postcode, '') AS postcode,"
    " coalesce(a.country, '') AS country, coalesce(a.region, '') AS region, coalesce(a.city, '') AS city,"
    " c.created_at AS created_at"
    " FROM customer c LEFT JOIN address a ON a.id = (SELECT b.id FROM address b WHERE b.customer_id = c.id"
    " ORDER BY b.is_billing DESC, b.id LIMIT 1)",
    (
        Column("id", "ID", "number", 50), Column("name", "Name"), Column("email", "Email", width=210),
        Column("group_name", "Group", "choice", 84, GROUP_CHOICES), Column("telephone", "Phone", width=100),
        Column("postcode", "ZIP", width=60), Column("region", "State/Province", width=106),
        Column("country", "Country", width=104), Column("city", "City", shown=False),
        Column("created_at", "Customer Since", "date", 108),
    ),
    searched=("name", "email", "telephone", "postcode"), edit=EDIT, descending=False,
    add=("/admin/customer/index/new/", "Add New Customer"), actions=(
        ("delete", "Delete"), ("subscribe", "Subscribe to Newsletter"), ("unsubscribe", "Unsubscribe from Newsletter"),
    ), actions_path="/admin/customer/index/massAction/",
)  # fmt: skip
TABS = (
    ("view", "Customer View"), ("account", "Account Information"), ("addresses", "Addresses"), ("orders", "Orders"),
    ("newsletter", "Newsletter"), ("reviews", "Product Reviews"), ("cart", "Shopping Cart"), ("wishlist", "Wish List"),
)  # fmt: skip
grid_page(CUSTOMERS, "customers")


@site.post(CUSTOMERS.actions_path)
@returns_to(CUSTOMERS.path)
def mass_action(context: Context) -> Response:
    """Delete marked customers, or change their subscription."""
    action, db = context.form("action"), context.db
    if not (chosen := marked(context, "customer")):
        raise Refused("You haven't selected any items!")
    if action not in dict(CUSTOMERS.actions):
        raise Refused("Please select an action.")
    for number in chosen:
        customer = db.get("customer", number)
        if action == "delete":  # with what is theirs alone; orders and reviews stay
            for table in ("address", "cart_item", "wishlist_item"):
                for row in db.rows(f"SELECT id FROM {table} WHERE customer_id = ?", number):
                    db.delete(table, row["id"])
            db.delete("customer", number)
        elif customer is not None:
            subscribe(context, customer, on=action == "subscribe")
    return context.redirect(CUSTOMERS.path, f"A total of {len(chosen)} record(s) were updated.")


def subscribe(context: Context, customer: sqlite3.Row, *, on: bool) -> None:
    """Keep the customer's flag and the list of subscribers in step."""
    db, status = context.db, "Subscribed" if on else "Unsubscribed"
    db.update("customer", customer["id"], subscribed=int(on))
    entry = db.row("SELECT * FROM newsletter_subscriber WHERE customer_id = ?", customer["id"])
    if entry is not None:
        db.update("newsletter_subscriber", entry["id"], status=status)
    elif on:
        db.insert("newsletter_subscriber", email=customer["email"], customer_id=customer["id"], status=status)


@site.get(EDIT, EDIT + "tab/{tab}/")
def edit(context: Context) -> Response:
    """One customer; a tab at a time."""
    customer = record(context, "customer")
    wanted = context.params.get("tab") or context.query("tab")
    tab = wanted if wanted in dict(TABS) else "view"
    template = "customer_items.html" if tab in ("cart", "wishlist") else f"customer_{tab}.html"
    return context.page(
        template, kind="customer", title=f"{customer['firstname']} {customer['lastname']}", customer=customer,
        tabs=TABS, tab=tab, groups=GROUP_CHOICES,
        **_contents(context, customer, tab),
    )  # fmt: skip


def _contents(context: Context, customer: sqlite3.Row, tab: str) -> dict[str, Any]:
    """What a tab shows beside the account itself."""
    db, number = context.db, customer["id"]
    if tab == "orders":
        own = ORDERS.among(
            f"SELECT * FROM ({ORDERS.source}) WHERE id IN (SELECT id FROM sales_order WHERE customer_id = ?)", number,
            path=EDIT.format(id=number) + "tab/orders/", actions=(),
        )  # fmt: skip
        return {"view": own.view(context)}
    query = {
        "view": "SELECT count(*) AS orders, coalesce(sum(grand_total), 0) AS total, coalesce(avg(grand_total), 0) AS"
        " average, max(created_at) AS last FROM sales_order WHERE customer_id = ? AND status != 'Canceled'",
        "addresses": "SELECT * FROM address WHERE customer_id = ? ORDER BY is_billing DESC, id",
        "reviews": "SELECT r.*, p.name AS product FROM review r JOIN product p ON p.id = r.product_id"
        " WHERE r.customer_id = ? ORDER BY r.created_at DESC LIMIT 40",
        "cart": "SELECT i.*, p.name AS product, p.price AS price FROM cart_item i JOIN product p ON p.id = i.product_id"
        " WHERE i.customer_id = ? ORDER BY i.id LIMIT 40",
        "wishlist": "SELECT i.*, p.name AS product, p.price AS price FROM wishlist_item i JOIN product p"
        " ON p.id = i.product_id WHERE i.customer_id = ? ORDER BY i.id LIMIT 40",
    }.get(tab)
    rows = db.rows(query, number) if query else []
    address = db.row("SELECT * FROM address WHERE customer_id = ? ORDER BY is_billing DESC, id LIMIT 1", number)
    return {"rows": rows, "address": address}


@site.get("/admin/customer/index/new/")
def new(context: Context) -> Response:
    """The form of a customer who is not there yet."""
    _ = context.member
    return context.page("customer_new.html", kind="customer_new", title="New Customer", groups=GROUP_CHOICES)


def _account(context: Context, own_id: int = 0) -> dict[str, str]:
    """The fields of an account; `Refused` where they cannot be saved."""
    form = context.form
    email = required(form("customer[email]"), "Email")
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", email):
        raise Refused("Please enter a valid email address (Ex: johndoe@domain.com).")
    if context.db.value("SELECT count(*) FROM customer WHERE email = ? AND id != ?", email, own_id):
        raise Refused("A customer with the same email address already exists in an associated website.")
    group = form("customer[group_id]", GROUPS[0])
    if group not in GROUPS:
        raise Refused("Choose a group from the list.")
    return {
        "firstname": required(form("customer[firstname]"), "First Name"),
        "lastname": required(form("customer[lastname]"), "Last Name"), "email": email, "group_name": group,
        "telephone": short(form("customer[telephone]"), 255, "Phone"),
    }  # fmt: skip


@site.post("/admin/customer/index/save/")
@returns_to("/admin/customer/index/new/")
def create(context: Context) -> Response:
    """Add a customer, who sets a password through the storefront."""
    number = context.db.insert("customer", **_account(context), password="", created_at=context.db.now())
    return context.redirect(EDIT.format(id=number), "You saved the customer.")


@site.post("/admin/customer/index/save/id/{id}/")
@returns_to(EDIT + "tab/account/")
def save(context: Context) -> Response:
    """Change a customer's account."""
    customer = record(context, "customer")
    context.db.update("customer", customer["id"], **_account(context, customer["id"]))
    return context.redirect(EDIT.format(id=customer["id"]) + "tab/account/", "You saved the customer.")


@site.post("/admin/customer/index/newsletter/id/{id}/")
@returns_to(EDIT + "tab/newsletter/")
def save_newsletter(context: Context) -> Response:
    """Change a customer's subscription."""
    customer = record(context, "customer")
    subscribe(context, customer, on=bool(context.form("subscription_status")))
    return context.redirect(EDIT.format(id=customer["id"]) + "tab/newsletter/", "You saved the customer.")


@site.get("/admin/customer/group/")
def groups(context: Context) -> Response:
    """How many customers each group has."""
    _ = context.member
    rows = context.db.rows("SELECT group_name, count(*) FROM customer GROUP BY group_name ORDER BY group_name")
    return context.page(
        "table.html", kind="customer_groups", title="Customer Groups", headings=("Group", "Customers"),
        rows=[tuple(row) for row in rows],
    )  # fmt: skip


# ---------------------------------------------------------------------- address book

BOOK = "/admin/customer/index/edit/id/{id}/tab/addresses/"
ADDRESS = "/admin/customer/address/edit/id/{id}/"
REQUIRED = (
    ("firstname", "First Name"), ("lastname", "Last Name"), ("telephone", "Phone Number"), ("city", "City"),
    ("postcode", "Zip/Postal Code"),
)  # fmt: skip
DEFAULTS = {"default_billing": "is_billing", "default_shipping": "is_shipping"}


@site.get(ADDRESS)
def edit_address(context: Context) -> Response:
    """The form of an address."""
    address = record(context, "address")
    action = f"/admin/customer/address/save/id/{address['id']}/"
    return _address_form(context, dict(address), action, "Edit Address")


@site.get("/admin/customer/address/new/parent_id/{id}/")
def new_address(context: Context) -> Response:
    """The form of an address that is not there yet."""
    customer = record(context, "customer")
    names = ("company", "street", "region", "telephone", "city", "postcode")
    address = {
        **dict.fromkeys(names, ""), "id": 0, "customer_id": customer["id"], "firstname": customer["firstname"],
        "lastname": customer["lastname"], "country": "United States", "is_billing": 0, "is_shipping": 0,
    }  # fmt: skip
    return _address_form(context, address, f"/admin/customer/address/save/parent_id/{customer['id']}/", "New Address")


def _address_form(context: Context, address: dict[str, Any], action: str, title: str) -> Response:
    back = BOOK.format(id=address["customer_id"])
    return context.page(
        "customer_address.html", kind="customer_address", title=title, address=address, action=action, back=back
    )


def _address_values(context: Context) -> dict[str, Any]:
    form = context.form
    return {
        **{name: required(form(name), label) for name, label in REQUIRED},
        "street": required(form("street[0]"), "Street Address"), "country": required(form("country_id"), "Country"),
        "company": short(form("company"), 255, "Company"), "region": short(form("region"), 255, "State/Province"),
        **{column: int(bool(form(name))) for name, column in DEFAULTS.items()},
    }  # fmt: skip


def _leave_one_default(db: Database, customer: int, address: int) -> None:
    """A customer has one default address of each kind: the newest choice counts."""
    for column in DEFAULTS.values():
        if db.value(f"SELECT {column} FROM address WHERE id = ?", address):
            others = f"SELECT id FROM address WHERE customer_id = ? AND id != ? AND {column} = 1"
            for row in db.rows(others, customer, address):
                db.update("address", row["id"], **{column: 0})


@site.post("/admin/customer/address/save/id/{id}/")
@returns_to(ADDRESS)
def save_address(context: Context) -> Response:
    """Change an address."""
    address = record(context, "address")
    context.db.update("address", address["id"], **_address_values(context))
    _leave_one_default(context.db, address["customer_id"], address["id"])
    return context.redirect(BOOK.format(id=address["customer_id"]), "You saved the customer address.")


@site.post("/admin/customer/address/save/parent_id/{id}/")
@returns_to("/admin/customer/address/new/parent_id/{id}/")
def create_address(context: Context) -> Response:
    """Add an address."""
    customer = record(context, "customer")
    number = context.db.insert("address", customer_id=customer["id"], **_address_values(context))
    _leave_one_default(context.db, customer["id"], number)
    return context.redirect(BOOK.format(id=customer["id"]), "You saved the customer address.")


@site.post("/admin/customer/address/delete/id/{id}/")
@returns_to(ADDRESS)
def delete_address(context: Context) -> Response:
    """Remove an address."""
    address = record(context, "address")
    context.db.delete("address", address["id"])
    return context.redirect(BOOK.format(id=address["customer_id"]), "You deleted the address.")
