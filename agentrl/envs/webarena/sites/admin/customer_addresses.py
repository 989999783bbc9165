"""The address book of a customer: add, change and delete addresses, and say which are the default ones."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.sites.admin.base import record, required, returns_to, short, site
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

BOOK = "/admin/customer/index/edit/id/{id}/tab/addresses/"
EDIT = "/admin/customer/address/edit/id/{id}/"
REQUIRED = (
    ("firstname", "First Name"), ("lastname", "Last Name"), ("telephone", "Phone Number"), ("city", "City"),
    ("postcode", "Zip/Postal Code"),
)  # fmt: skip
DEFAULTS = {"default_billing": "is_billing", "default_shipping": "is_shipping"}


@site.get(EDIT)
def edit(context: Context) -> Response:
    """The form of an address."""
    address = record(context, "address")
    action = f"/admin/customer/address/save/id/{address['id']}/"
    return _form(context, dict(address), action, "Edit Address")


@site.get("/admin/customer/address/new/parent_id/{id}/")
def new(context: Context) -> Response:
    """The form of an address that is not there yet."""
    customer = record(context, "customer")
    names = ("company", "street", "region", "telephone", "city", "postcode")
    address = {
        **dict.fromkeys(names, ""), "id": 0, "customer_id": customer["id"], "firstname": customer["firstname"],
        "lastname": customer["lastname"], "country": "United States", "is_billing": 0, "is_shipping": 0,
    }  # fmt: skip
    return _form(context, address, f"/admin/customer/address/save/parent_id/{customer['id']}/", "New Address")


def _form(context: Context, address: dict[str, Any], action: str, title: str) -> Response:
    back = BOOK.format(id=address["customer_id"])
    return context.page(
        "customer_address.html", kind="customer_address", title=title, address=address, action=action, back=back
    )


def _values(context: Context) -> dict[str, Any]:
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
@returns_to(EDIT)
def save(context: Context) -> Response:
    """Change an address."""
    address = record(context, "address")
    context.db.update("address", address["id"], **_values(context))
    _leave_one_default(context.db, address["customer_id"], address["id"])
    return context.redirect(BOOK.format(id=address["customer_id"]), "You saved the customer address.")


@site.post("/admin/customer/address/save/parent_id/{id}/")
@returns_to("/admin/customer/address/new/parent_id/{id}/")
def create(context: Context) -> Response:
    """Add an address."""
    customer = record(context, "customer")
    number = context.db.insert("address", customer_id=customer["id"], **_values(context))
    _leave_one_default(context.db, customer["id"], number)
    return context.redirect(BOOK.format(id=customer["id"]), "You saved the customer address.")


@site.post("/admin/customer/address/delete/id/{id}/")
@returns_to(EDIT)
def delete(context: Context) -> Response:
    """Remove an address."""
    address = record(context, "address")
    context.db.delete("address", address["id"])
    return context.redirect(BOOK.format(id=address["customer_id"]), "You deleted the address.")
