"""Orders: the grid, one order with all that can be done with it, its comments and its addresses."""

from __future__ import annotations

from agentrl.envs.webarena.sites.admin import order_flow
from agentrl.envs.webarena.sites.admin.base import (
    ORDER_STATUSES,
    Refused,
    paragraphs,
    record,
    required,
    returns_to,
    short,
    site,
)
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

STATUS_CHOICES = tuple((status, status) for status in ORDER_STATUSES)
VIEW = "/admin/sales/order/view/order_id/{id}/"
ORDERS = Grid(
    "/admin/sales/order/", "Orders",
    "SELECT id, increment_id, created_at, billing_name, shipping_name, grand_total, status, customer_email,"
    " shipping_street || ', ' || shipping_city || ', ' || shipping_region || ', ' || shipping_postcode"
    " AS shipping_address,"
    " payment_method, shipping_method FROM sales_order",
    (
        Column("increment_id", "ID", width=100), Column("created_at", "Purchase Date", "date", 170),
        Column("billing_name", "Bill-to Name"), Column("shipping_name", "Ship-to Name"),
        Column("grand_total", "Grand Total", "money", 110), Column("status", "Status", "choice", 100, STATUS_CHOICES),
        Column("customer_email", "Customer Email", width=230),
        Column("shipping_address", "Shipping Address", shown=False),
        Column("payment_method", "Payment Method", shown=False),
        Column("shipping_method", "Shipping Information", shown=False),
    ),
    searched=("increment_id", "billing_name", "shipping_name", "customer_email", "shipping_address"),
    edit=VIEW, edit_label="View", actions=(("cancel", "Cancel"), ("hold", "Hold"), ("unhold", "Unhold")),
    actions_path="/admin/sales/order/massAction/",
)  # fmt: skip
STATE_CHANGES = {
    "cancel": (order_flow.cancel, "You canceled the order."),
    "hold": (order_flow.hold, "You put the order on hold."),
    "unhold": (order_flow.unhold, "You released the order from holding status."),
}
ADDRESS_KINDS = ("billing", "shipping")


@site.get(ORDERS.path, "/admin/sales/order/index/")
def grid(context: Context) -> Response:
    """All orders."""
    _ = context.member
    return context.page("grid.html", kind="orders", title=ORDERS.title, view=ORDERS.view(context))


@site.post(ORDERS.actions_path)
@returns_to(ORDERS.path)
def mass_action(context: Context) -> Response:
    """Cancel, hold or release the marked orders; those that cannot be are left alone."""
    action = context.form("action")
    if action not in STATE_CHANGES:
        raise Refused("Please select an action.")
    done = 0
    for text in context.forms("selected"):
        order = context.db.get("sales_order", context.number(text))
        if order is not None and action in order_flow.possible(context.db, order):
            STATE_CHANGES[action][0](context.db, order)
            done += 1
    if not done:
        raise Refused("None of the selected orders can be changed like this.")
    return context.redirect(ORDERS.path, f"We changed {done} order(s).")


@site.get("/admin/sales/order/view/order_id/{id}/")
def view(context: Context) -> Response:
    """One order."""
    order = record(context, "sales_order")
    db = context.db
    documents = {
        name: db.rows(f"SELECT * FROM {name} WHERE order_id = ? ORDER BY id", order["id"])
        for name in ("invoice", "shipment", "creditmemo")
    }
    return context.page(
        "order.html", kind="order", title=f"#{order['increment_id']}", order=order, documents=documents,
        items=order_flow.items(db, order["id"]), possible=order_flow.possible(db, order),
        history=order_flow.history(db, order), statuses=_comment_statuses(order["status"]),
        customer=db.get("customer", order["customer_id"] or 0), address_ids=_address_ids(order["id"]),
        paid=sum(row["grand_total"] for row in documents["invoice"]),
        refunded=sum(row["grand_total"] for row in documents["creditmemo"]),
    )  # fmt: skip


@site.get(
    "/admin/sales/order/commentsHistory/order_id/{id}/",
    "/admin/sales/order/commentsHistory/order_id/{id}/active_tab/{tab}/",
)
def comments_history(context: Context) -> Response:
    """All that happened to an order."""
    order = record(context, "sales_order")
    title = f"Comments History of #{order['increment_id']}"
    history = order_flow.history(context.db, order)
    return context.page("order_history.html", kind="order_history", title=title, order=order, history=history)


@site.post("/admin/sales/order/{action}/order_id/{id}/")
@returns_to(VIEW)
def change(context: Context) -> Response:
    """Cancel, hold or release an order, or write a comment."""
    order = record(context, "sales_order")
    action = context.params["action"]
    if action == "addComment":
        return _add_comment(context)
    if action not in STATE_CHANGES:
        raise NotFound
    function, message = STATE_CHANGES[action]
    function(context.db, order)
    return context.redirect(VIEW.format(id=order["id"]), message)


def _add_comment(context: Context) -> Response:
    order = record(context, "sales_order")
    status = context.form("history[status]", order["status"])
    if status not in _comment_statuses(order["status"]):
        raise Refused("This status cannot be given to the order.")
    order_flow.comment(
        context.db, order, status, _filled(paragraphs(context.form("history[comment]"))),
        notified=bool(context.form("history[is_customer_notified]")),
        visible=bool(context.form("history[is_visible_on_front]")),
    )  # fmt: skip
    return context.redirect(VIEW.format(id=order["id"]), "You added the comment.")


def _filled(text: str) -> str:
    if not text:
        raise Refused("The comment is missing. Enter and try again.")
    return text


def _comment_statuses(status: str) -> tuple[str, ...]:
    """Statuses that a comment may give: those within the same state, as in the original."""
    return {
        "Processing": ("Processing", "Fraud"), "Fraud": ("Fraud", "Processing"), "Pending": ("Pending", "Fraud"),
    }.get(status, (status,))  # fmt: skip


# ---------------------------------------------------------------------- addresses


def _address_ids(order_id: int) -> dict[str, int]:
    """An order has two addresses; in the original they have ids of their own."""
    return {"billing": 2 * order_id - 1, "shipping": 2 * order_id}


@site.get("/admin/sales/order/address/address_id/{address_id}/")
def edit_address(context: Context) -> Response:
    """The form of one address of an order."""
    _ = context.member
    kind, order_id = _address(context)
    context.params["id"] = str(order_id)
    order = record(context, "sales_order")
    first, _, last = order[f"{kind}_name"].partition(" ")
    title = f"Edit Order #{order['increment_id']} {kind.title()} Address"
    return context.page(
        "order_address.html", kind="order_address", title=title, order=order, address=kind, first=first, last=last,
        address_id=context.params["address_id"],
    )  # fmt: skip


@site.post("/admin/sales/order/addressSave/address_id/{address_id}/")
@returns_to("/admin/sales/order/address/address_id/{address_id}/")
def save_address(context: Context) -> Response:
    """Change it in the order; the customer's address book stays as it is."""
    kind, order_id = _address(context)
    context.params["id"] = str(order_id)
    order = record(context, "sales_order")
    form = context.form
    name = required(form("firstname"), "First Name") + " " + required(form("lastname"), "Last Name")
    values = {
        "name": name, "street": required(form("street[0]"), "Street Address"), "city": required(form("city"), "City"),
        "region": short(form("region"), 255, "State/Province"),
        "postcode": required(form("postcode"), "Zip/Postal Code"),
        "country": required(form("country_id"), "Country"), "telephone": required(form("telephone"), "Phone Number"),
    }  # fmt: skip
    changes = {f"{kind}_{name}": value for name, value in values.items()}
    context.db.update("sales_order", order["id"], **changes, updated_at=context.db.now())
    return context.redirect(VIEW.format(id=order["id"]), "You updated the order address.")


def _address(context: Context) -> tuple[str, int]:
    number = context.number(context.params["address_id"])
    return ADDRESS_KINDS[(number + 1) % 2], (number + 1) // 2
