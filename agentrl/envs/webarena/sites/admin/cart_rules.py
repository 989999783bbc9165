"""Cart price rules: discounts, with or without a coupon."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.sites.admin.base import (
    Refused,
    amount,
    paragraphs,
    read_date,
    record,
    required,
    returns_to,
    short,
    site,
)
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

ACTIVE_CHOICES = (("1", "Active"), ("0", "Inactive"))
DISCOUNTS = (
    ("by_percent", "Percent of product price discount"), ("by_fixed", "Fixed amount discount"),
)  # fmt: skip
RULE = "/admin/sales_rule/promo_quote/edit/id/{id}/"
RULES = Grid(
    "/admin/sales_rule/promo_quote/", "Cart Price Rules",
    "SELECT id, name, coupon_code, from_date, to_date, is_active, action, discount_amount,"
    " min_subtotal, times_used FROM cart_rule",
    (
        Column("id", "ID", "number", 60), Column("name", "Rule"), Column("coupon_code", "Coupon Code", width=130),
        Column("action", "Apply", "choice", 150, DISCOUNTS), Column("discount_amount", "Discount", "number", 80),
        Column("from_date", "Start", "date", 110), Column("to_date", "End", "date", 110),
        Column("is_active", "Status", "choice", 80, ACTIVE_CHOICES), Column("times_used", "Used", "number", 60),
    ),
    edit=RULE, open_filters=True, add=("/admin/sales_rule/promo_quote/new/", "Add New Rule"),
)  # fmt: skip


@site.get(RULES.path)
def rules(context: Context) -> Response:
    """All cart price rules."""
    _ = context.member
    return context.page("grid.html", kind="cart_rules", title=RULES.title, view=RULES.view(context))


@site.get(RULE)
def edit_rule(context: Context) -> Response:
    """The form of a rule."""
    rule = record(context, "cart_rule")
    return _rule_form(context, dict(rule), rule["name"])


@site.get("/admin/sales_rule/promo_quote/new/")
def new_rule(context: Context) -> Response:
    """The form of a rule that is not there yet."""
    _ = context.member
    rule = {"id": 0, "is_active": 1, "action": "by_percent", "discount_amount": "", "min_subtotal": 0, "times_used": 0}
    return _rule_form(
        context,
        {**rule, **dict.fromkeys(("name", "description", "coupon_code", "from_date", "to_date"), "")},
        "New Rule",
    )


def _rule_form(context: Context, rule: dict[str, Any], title: str) -> Response:
    kind = "cart_rule" if rule["id"] else "cart_rule_new"
    yes_no = (("1", "Active"), ("0", "Inactive"))
    return context.page("cart_rule.html", kind=kind, title=title, rule=rule, discounts=DISCOUNTS, yes_no=yes_no)


def _rule_values(context: Context, own_id: int = 0) -> dict[str, Any]:
    form = context.form
    code = short(form("coupon_code"), 255, "Coupon Code")
    if code and context.db.value("SELECT count(*) FROM cart_rule WHERE coupon_code = ? AND id != ?", code, own_id):
        raise Refused("Coupon with the same code already exists.")
    action = form("simple_action")
    if action not in dict(DISCOUNTS):
        raise Refused("Choose how the discount applies.")
    most = 100 if action == "by_percent" else 10**6
    days = {name: _day(form(name), label) for name, label in (("from_date", "From"), ("to_date", "To"))}
    if days["from_date"] and days["to_date"] and days["from_date"] > days["to_date"]:
        raise Refused("End Date must follow Start Date.")
    return {
        "name": required(form("name"), "Rule Name"), "coupon_code": code, "action": action, **days,
        "discount_amount": amount(form("discount_amount"), "Discount Amount", most=most),
        "is_active": int(form("is_active") != "0"), "description": paragraphs(form("description")),
        "min_subtotal": amount(form("min_subtotal") or "0", "Minimum Subtotal"),
    }  # fmt: skip


def _day(text: str, label: str) -> str:
    """A day as the table has it, or nothing where nothing was entered."""
    if not text.strip():
        return ""
    if (found := read_date(text)) is None:
        raise Refused(f'"{label}" must be a date such as 6/15/2025.')
    return found.isoformat()


@site.post("/admin/sales_rule/promo_quote/save/id/{id}/")
@returns_to(RULE)
def save_rule(context: Context) -> Response:
    """Change a rule."""
    rule = record(context, "cart_rule")
    context.db.update("cart_rule", rule["id"], **_rule_values(context, rule["id"]))
    return context.redirect(RULE.format(id=rule["id"]), "You saved the rule.")


@site.post("/admin/sales_rule/promo_quote/save/")
@returns_to("/admin/sales_rule/promo_quote/new/")
def create_rule(context: Context) -> Response:
    """Add a rule."""
    number = context.db.insert("cart_rule", **_rule_values(context))
    return context.redirect(RULE.format(id=number), "You saved the rule.")


@site.post("/admin/sales_rule/promo_quote/delete/id/{id}/")
@returns_to(RULES.path)
def delete_rule(context: Context) -> Response:
    """Remove a rule."""
    context.db.delete("cart_rule", record(context, "cart_rule")["id"])
    return context.redirect(RULES.path, "You deleted the rule.")
