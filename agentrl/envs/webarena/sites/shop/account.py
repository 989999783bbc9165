"""Signing in and out, new accounts, and what a customer may change about theirs: name, password, addresses."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import cart_items, cart_owner, orders_of, site
from agentrl.envs.webarena.sites.site import Context, existing

# ---------------------------------------------------------------------- the address book

BOOK = "/customer/address/"
# The fields of the form, their labels, and whether they must be filled.
FIELDS = {
    "firstname": ("First Name", True), "lastname": ("Last Name", True), "company": ("Company", False),
    "telephone": ("Phone Number", True), "street[0]": ("Street Address", True),
    "street[1]": ("Street Address 2", False), "city": ("City", True), "region": ("State/Province", True),
    "postcode": ("Zip/Postal Code", True), "country_id": ("Country", True),
}  # fmt: skip
COUNTRIES = {
    "US": "United States", "CA": "Canada", "GB": "United Kingdom", "MX": "Mexico", "DE": "Germany", "FR": "France",
}  # fmt: skip
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
    address = dict(existing(own_address(context, context.params["number"])))
    return context.page("address_form.html", address=address, countries=COUNTRIES, title="Edit Address")


@site.post("/customer/address/formPost", "/customer/address/formPost/id/{number}")
def save_address(context: Context) -> Response:
    """Add an address or change one."""
    number = context.params.get("number")
    customer, present = context.member["id"], existing(own_address(context, number)) if number is not None else None
    values, problem = address_from_form(context)
    if problem:
        form = f"/customer/address/edit/id/{present['id']}/" if present is not None else "/customer/address/new/"
        return context.redirect(form, f"error: {problem}")
    first = not addresses_of(context.db, customer)
    for use in ("is_billing", "is_shipping"):
        already = present is not None and present[use]
        values[use] = int(bool(already or first or context.form(f"default_{use[3:]}") == "1"))
        if values[use]:
            for row in context.db.rows(f"SELECT id FROM address WHERE customer_id = ? AND {use} = 1", customer):
                context.db.update("address", row["id"], **{use: 0})
    if present is not None:
        context.db.update("address", present["id"], **values)
    else:
        context.db.insert("address", customer_id=customer, **values)
    return context.redirect(BOOK, "You saved the address.")


@site.post("/customer/address/delete")
def delete_address(context: Context) -> Response:
    """Remove an address that is no default."""
    address = existing(own_address(context, context.form("id")))
    if address["is_billing"] or address["is_shipping"]:
        return context.redirect(BOOK, "error: A default address cannot be deleted.")
    context.db.delete("address", address["id"])
    return context.redirect(BOOK, "You deleted the address.")


def own_address(context: Context, number: str) -> sqlite3.Row | None:
    """The address of that number, if it is the customer's."""
    customer = context.member["id"]
    return context.db.row("SELECT * FROM address WHERE id = ? AND customer_id = ?", context.number(number), customer)


# ---------------------------------------------------------------------- accounts

ACCOUNT, LOGIN, EDIT = "/customer/account/", "/customer/account/login/", "/customer/account/edit/"
SHORTEST_PASSWORD = 8
RECENT_ORDERS = 5


def is_email(text: str) -> bool:
    """Does it look like an email address?"""
    return re.fullmatch(r"[^@\s]{1,64}@[^@\s]+\.[^@\s.]+", text) is not None and len(text) <= 254


@site.get("/customer/account", "/customer/account/index")
def dashboard(context: Context) -> Response:
    """An overview of the account."""
    member = context.member
    addresses = addresses_of(context.db, member["id"])
    return context.page(
        "account.html",
        orders=orders_of(context.db, member["id"], RECENT_ORDERS, 0),
        billing=next((address for address in addresses if address["is_billing"]), None),
        shipping=next((address for address in addresses if address["is_shipping"]), None),
    )


@site.get("/customer/account/login")
def login_form(context: Context) -> Response:
    """The form; who is signed in already goes to the account."""
    return context.redirect(ACCOUNT) if context.user is not None else context.page("login.html")


@site.post("/customer/account/loginPost")
def log_in(context: Context) -> Response:
    """Sign in; a guest's cart goes along."""
    email, password = context.form("login[username]").strip(), context.form("login[password]")
    customer = context.db.row("SELECT * FROM customer WHERE lower(email) = lower(?) AND password = ?", email, password)
    if customer is None:
        return context.redirect(LOGIN, "error: The account sign-in was incorrect. Please wait and try again later.")
    _log_in_with_cart(context, customer["id"])
    return context.redirect(ACCOUNT)


def _log_in_with_cart(context: Context, customer: int) -> None:
    _, session = cart_owner(context)
    items = [] if context.user is not None else cart_items(context.db, None, session)
    context.log_in(customer)
    present = {(item["product_id"], item["options"]): item for item in cart_items(context.db, customer, None)}
    for item in items:
        same = present.get((item["product_id"], item["options"]))
        if same is None:
            context.db.update("cart_item", item["id"], customer_id=customer, session_id=None)
        else:
            context.db.update("cart_item", same["id"], qty=same["qty"] + item["qty"])
            context.db.delete("cart_item", item["id"])


@site.get("/customer/account/logout", "/customer/account/logoutSuccess")
def log_out(context: Context) -> Response:
    """Sign out."""
    context.log_out()
    return context.page("logout.html")


@site.get("/customer/account/create")
def create_form(context: Context) -> Response:
    """The form for a new account."""
    return context.redirect(ACCOUNT) if context.user is not None else context.page("create_account.html")


@site.post("/customer/account/createpost")
def create(context: Context) -> Response:
    """Open an account and sign in."""
    values = {name: context.form(name).strip() for name in ("firstname", "lastname", "email")}
    problem = _problem(context, values, 0) or _password_problem(context)
    if problem:
        return context.redirect("/customer/account/create/", f"error: {problem}")
    subscribed = int(context.form("is_subscribed") == "1")
    customer = context.db.insert(
        "customer", password=context.form("password"), subscribed=subscribed, created_at=context.db.now(), **values
    )
    if subscribed:
        context.db.insert("newsletter_subscriber", email=values["email"], customer_id=customer)
    _log_in_with_cart(context, customer)
    return context.redirect(ACCOUNT, "Thank you for registering.")


@site.get("/customer/account/edit")
def edit_form(context: Context) -> Response:
    """Name, email and password."""
    return context.page("edit_account.html", customer=context.member)


@site.post("/customer/account/editPost")
def edit(context: Context) -> Response:
    """Save them; email and password need the current password, as in Magento."""
    member = context.member
    values = {name: context.form(name).strip() for name in ("firstname", "lastname")}
    values["email"] = context.form("email").strip() if context.form("change_email") == "1" else member["email"]
    problem = _problem(context, values, member["id"])
    new_password = context.form("change_password") == "1"
    guarded = new_password or context.form("change_email") == "1"
    if not problem and guarded and context.form("current_password") != member["password"]:
        problem = "The password doesn't match this account. Verify the password and try again."
    if not problem and new_password:
        problem = _password_problem(context)
    if problem:
        return context.redirect(EDIT, f"error: {problem}")
    if new_password:
        values["password"] = context.form("password")
    context.db.update("customer", member["id"], **values)
    return context.redirect(ACCOUNT, "You saved the account information.")


@site.get("/customer/account/forgotpassword")
def forgot_form(context: Context) -> Response:
    """The form for a forgotten password."""
    return context.page("forgot_password.html")


@site.post("/customer/account/forgotpasswordpost")
def forgot(context: Context) -> Response:
    """The answer does not say whether there is such an account."""
    email = context.form("email").strip()
    if not is_email(email):
        return context.redirect("/customer/account/forgotpassword/", "error: The email address is incorrect.")
    text = (
        f"If there is an account associated with {email} you will receive an email with a link to reset your password."
    )
    return context.redirect(LOGIN, text)


def _problem(context: Context, values: dict[str, str], own: int) -> str:
    """What is wrong with name or email of an account ("" if nothing is)."""
    if not values["firstname"] or not values["lastname"]:
        return "First name and last name are required."
    if not is_email(values["email"]):
        return "Please enter a valid email address (Ex: johndoe@domain.com)."
    taken = context.db.value("SELECT id FROM customer WHERE lower(email) = lower(?) AND id <> ?", values["email"], own)
    return "" if taken is None else "There is already an account with this email address."


def _password_problem(context: Context) -> str:
    password = context.form("password")
    if len(password) < SHORTEST_PASSWORD:
        return f"The password needs at least {SHORTEST_PASSWORD} characters."
    return "" if password == context.form("password_confirmation") else "Please make sure your passwords match."
