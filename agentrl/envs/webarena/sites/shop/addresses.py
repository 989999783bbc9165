"""The address book."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import site
from agentrl.envs.webarena.sites.site import Context, NotFound

BOOK = "/customer/address/"
# The fields of the form, their labels, and whether they must be filled.
FIELDS = {
    "firstname": ("First Name", True), "lastname": ("Last Name", True), "company": ("Company", False),
    "telephone": ("Phone Number", True), "street[0]": ("Street Address", True),
    "street[1]": ("Street Address 2", False), "city": ("City", True), "region": ("State/Province", True),
    "postcode": ("Zip/Postal Code", True), "country_id": ("Country", True),
}  # fmt: skip
COUNTRIES = {
    "US": "United States",
    "CA": "Canada",
    "GB": "United Kingdom",
    "MX": "Mexico",
    "DE": "Germany",
    "FR": "France",
}
NEW = {"firstname": "", "lastname": "", "company": "", "telephone": "", "street": "", "city": "", "region": "",
       "postcode": "", "country": "United States", "is_billing": 0, "is_shipping": 0, "id": None}  # fmt: skip


def addresses_of(db: Database, customer: int) -> list[sqlite3.Row]:
    """A customer's addresses, the default one for shipping first."""
    return db.rows(
        "SELECT * FROM address WHERE customer_id = ? ORDER BY is_shipping DESC, is_billing DESC, id", customer
    )


def address_from_form(context: Context) -> tuple[dict[str, Any], str]:
    """The columns of an address, and what is wrong with the form ("" if nothing is)."""
    given = {name: context.form(name).strip() for name in FIELDS}
    missing = [label for name, (label, needed) in FIELDS.items() if needed and not given[name]]
    if missing:
        return {}, f"Please fill in: {', '.join(missing)}."
    if given["country_id"] not in COUNTRIES:
        return {}, "Please choose a country."
    values = {
        name: given[name] for name in ("firstname", "lastname", "company", "telephone", "city", "region", "postcode")
    }
    values["street"] = ", ".join(line for line in (given["street[0]"], given["street[1]"]) if line)
    values["country"] = COUNTRIES[given["country_id"]]
    return values, ""


@site.get("/customer/address", "/customer/address/index")
def book(context: Context) -> Response:
    """All addresses."""
    addresses = addresses_of(context.db, context.member["id"])
    return context.page(
        "address_book.html",
        billing=next((address for address in addresses if address["is_billing"]), None),
        shipping=next((address for address in addresses if address["is_shipping"]), None),
        others=[address for address in addresses if not (address["is_billing"] or address["is_shipping"])],
    )


@site.get("/customer/address/new")
def new_address(context: Context) -> Response:
    """An empty form."""
    member = context.member
    values = {**NEW, "firstname": member["firstname"], "lastname": member["lastname"]}
    return context.page("address_form.html", address=values, countries=COUNTRIES, title="Add New Address")


@site.get("/customer/address/edit/id/{number}")
def edit_address(context: Context) -> Response:
    """The form with an address in it."""
    return context.page(
        "address_form.html",
        address=dict(_own(context, context.params["number"])),
        countries=COUNTRIES,
        title="Edit Address",
    )


@site.post("/customer/address/formPost", "/customer/address/formPost/id/{number}")
def save_address(context: Context) -> Response:
    """Add an address or change one."""
    number = context.params.get("number")
    customer, present = context.member["id"], _own(context, number) if number is not None else None
    values, problem = address_from_form(context)
    if problem:
        form = f"/customer/address/edit/id/{present['id']}/" if present is not None else "/customer/address/new/"
        return context.redirect(form, f"error: {problem}")
    first = not addresses_of(context.db, customer)
    for use in ("is_billing", "is_shipping"):
        already = present is not None and present[use]
        values[use] = int(bool(already or first or context.form(f"default_{use[3:]}") == "1"))
        if values[use]:
            _take_default(context.db, customer, use)
    if present is not None:
        context.db.update("address", present["id"], **values)
    else:
        context.db.insert("address", customer_id=customer, **values)
    return context.redirect(BOOK, "You saved the address.")


@site.post("/customer/address/delete")
def delete_address(context: Context) -> Response:
    """Remove an address that is no default."""
    address = _own(context, context.form("id"))
    if address["is_billing"] or address["is_shipping"]:
        return context.redirect(BOOK, "error: A default address cannot be deleted.")
    context.db.delete("address", address["id"])
    return context.redirect(BOOK, "You deleted the address.")


def _take_default(db: Database, customer: int, use: str) -> None:
    for row in db.rows(f"SELECT id FROM address WHERE customer_id = ? AND {use} = 1", customer):
        db.update("address", row["id"], **{use: 0})


def _own(context: Context, number: str) -> sqlite3.Row:
    address = context.db.row(
        "SELECT * FROM address WHERE id = ? AND customer_id = ?", context.number(number), context.member["id"]
    )
    if address is None:
        raise NotFound
    return address
