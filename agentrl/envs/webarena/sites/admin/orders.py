"""Orders with their comments and addresses; their invoices, shipments and credit memos."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from agentrl.envs.webarena.sites.admin.grid import Column, Grid, grid_page
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
grid_page(ORDERS, "orders", "/admin/sales/order/index/")


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
    # In the original, the two addresses of an order have ids of their own.
    address_ids = {"billing": 2 * order["id"] - 1, "shipping": 2 * order["id"]}
    return context.page(
        "order.html", kind="order", title=f"#{order['increment_id']}", order=order, documents=documents,
        items=order_flow.items(db, order["id"]), possible=order_flow.possible(db, order),
        history=order_flow.history(db, order), statuses=_comment_statuses(order["status"]),
        customer=db.get("customer", order["customer_id"] or 0), address_ids=address_ids,
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
        status, text = context.form("history[status]", order["status"]), paragraphs(context.form("history[comment]"))
        if status not in _comment_statuses(order["status"]):
            raise Refused("This status cannot be given to the order.")
        if not text:
            raise Refused("The comment is missing. Enter and try again.")
        order_flow.comment(
            context.db, order, status, text, notified=bool(context.form("history[is_customer_notified]")),
            visible=bool(context.form("history[is_visible_on_front]")),
        )  # fmt: skip
        return context.redirect(VIEW.format(id=order["id"]), "You added the comment.")
    if action not in STATE_CHANGES:
        raise NotFound
    function, message = STATE_CHANGES[action]
    function(context.db, order)
    return context.redirect(VIEW.format(id=order["id"]), message)


def _comment_statuses(status: str) -> tuple[str, ...]:
    """Statuses that a comment may give: those within the same state, as in the original."""
    return {
        "Processing": ("Processing", "Fraud"), "Fraud": ("Fraud", "Processing"), "Pending": ("Pending", "Fraud"),
    }.get(status, (status,))  # fmt: skip


# ---------------------------------------------------------------------- addresses


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


# ---------------------------------------------------------------------- invoices, shipments, credit memos

CARRIERS = (
    ("custom", "Custom Value"), ("dhl", "DHL"), ("fedex", "Federal Express"),
    ("ups", "United Parcel Service"), ("usps", "United States Postal Service"),
)  # fmt: skip
INVOICE_STATES = (("Paid", "Paid"), ("Pending", "Pending"), ("Canceled", "Canceled"))


def _grid(path: str, title: str, table: str, edit: str, own: str, *columns: Column) -> Grid:
    """All three grids show the document, its order and the order's customer."""
    source = (
        f"SELECT d.id, d.increment_id, d.created_at, o.increment_id AS order_number, o.created_at AS order_date,"
        f" o.billing_name, o.shipping_name, {own} FROM {table} d JOIN sales_order o ON o.id = d.order_id"
    )
    shared = (
        Column("increment_id", title.removesuffix("s"), width=110), Column("created_at", "Created", "date", 170),
        Column("order_number", "Order #", width=100), Column("order_date", "Order Date", "date", 170),
    )  # fmt: skip
    searched = ("increment_id", "order_number", "billing_name", "shipping_name")
    return Grid(path, title, source, (*shared, *columns), searched, edit=edit, edit_label="View")


@dataclass(frozen=True)
class Kind:
    """One of the three kinds of documents, with the addresses and names that the original gives it."""

    table: str
    label: str
    action: str  # the name in `order_flow.possible`
    grid: Grid
    new_path: str
    save_path: str
    view_paths: tuple[str, ...]
    field: str  # of the form: how many of an item


INVOICE = Kind(
    "invoice", "Invoice", "invoice",
    _grid(
        "/admin/sales/invoice/", "Invoices", "invoice", "/admin/sales/order_invoice/view/invoice_id/{id}/",
        "d.state AS state, d.grand_total AS grand_total", Column("billing_name", "Bill-to Name"),
        Column("state", "Status", "choice", 90, INVOICE_STATES), Column("grand_total", "Grand Total", "money", 120),
    ),
    "/admin/sales/order_invoice/new/order_id/{id}/", "/admin/sales/order_invoice/save/order_id/{id}/",
    ("/admin/sales/order_invoice/view/invoice_id/{id}/", "/admin/sales/invoice/view/invoice_id/{id}/"),
    "invoice[items][{id}]",
)  # fmt: skip
SHIPMENT = Kind(
    "shipment", "Shipment", "ship",
    _grid(
        "/admin/sales/shipment/", "Shipments", "shipment", "/admin/sales/shipment/view/shipment_id/{id}/",
        "d.tracking_title AS tracking_title, d.tracking_number AS tracking_number,"
        " (SELECT sum(qty_shipped) FROM order_item i WHERE i.order_id = o.id) AS total_qty",
        Column("shipping_name", "Ship-to Name"), Column("total_qty", "Total Quantity", "number", 110),
        Column("tracking_title", "Carrier", width=120), Column("tracking_number", "Tracking Number", width=140),
    ),
    "/admin/admin/order_shipment/new/order_id/{id}/", "/admin/admin/order_shipment/save/order_id/{id}/",
    ("/admin/sales/shipment/view/shipment_id/{id}/", "/admin/admin/order_shipment/view/shipment_id/{id}/"),
    "shipment[items][{id}]",
)  # fmt: skip
CREDIT_MEMO = Kind(
    "creditmemo", "Credit Memo", "creditmemo",
    _grid(
        "/admin/sales/creditmemo/", "Credit Memos", "creditmemo",
        "/admin/sales/order_creditmemo/view/creditmemo_id/{id}/", "d.grand_total AS grand_total",
        Column("billing_name", "Bill-to Name"), Column("grand_total", "Refunded", "money", 120),
    ),
    "/admin/sales/order_creditmemo/new/order_id/{id}/", "/admin/sales/order_creditmemo/save/order_id/{id}/",
    ("/admin/sales/order_creditmemo/view/creditmemo_id/{id}/", "/admin/sales/creditmemo/view/creditmemo_id/{id}/"),
    "creditmemo[items][{id}][qty]",
)  # fmt: skip


def _register(kind: Kind) -> None:
    """The page of one document, and the form that makes a new one."""

    @site.get(*kind.view_paths)
    def view(context: Context) -> Response:
        document = record(context, kind.table)
        order = context.db.get("sales_order", document["order_id"])
        return context.page(
            "document.html", kind=kind.table, title=f"{kind.label} #{document['increment_id']}", document=document,
            order=order, table=kind.table, items=order_flow.items(context.db, document["order_id"]),
            carriers=CARRIERS,
        )  # fmt: skip

    @site.get(kind.new_path)
    @returns_to(VIEW)
    def new(context: Context) -> Response:
        order = record(context, "sales_order")
        order_flow.require(context.db, order, kind.action)
        # What the document can hold: the item, how many are open, the name of the field.
        of, done = {
            "invoice": ("qty", "qty_invoiced"), "shipment": ("qty", "qty_shipped"),
            "creditmemo": ("qty_invoiced", "qty_refunded"),
        }[kind.table]  # fmt: skip
        items = [
            (dict(line), line[of] - line[done], kind.field.format(id=line["id"]))
            for line in order_flow.items(context.db, order["id"])
            if line[of] > line[done]
        ]
        return context.page(
            "document_new.html", kind=f"{kind.table}_new", title=f"New {kind.label}", order=order, table=kind.table,
            items=items, carriers=CARRIERS,
            save_path=kind.save_path.format(id=order["id"]), label=kind.label,
        )  # fmt: skip


def _quantities(context: Context, order_id: int, kind: Kind) -> dict[int, int]:
    lines = order_flow.items(context.db, order_id)
    return {line["id"]: context.number(context.form(kind.field.format(id=line["id"]))) for line in lines}


def _saving(kind: Kind) -> Callable[[Callable[[Context], str]], Callable[[Context], str]]:
    """Register a function that makes a document of an order and says so."""

    def register(function: Callable[[Context], str]) -> Callable[[Context], str]:
        @site.post(kind.save_path)
        @returns_to(kind.new_path)
        def save(context: Context) -> Response:
            return context.redirect(VIEW.format(id=context.params["id"]), function(context))

        return function

    return register


for _kind in (INVOICE, SHIPMENT, CREDIT_MEMO):
    grid_page(_kind.grid, f"{_kind.table}s")
    _register(_kind)


@_saving(INVOICE)
def save_invoice(context: Context) -> str:
    """Invoice items, and ship them at once if that is ticked."""
    order = record(context, "sales_order")
    wanted = _quantities(context, order["id"], INVOICE)
    order_flow.invoice(context.db, order, wanted)
    _comment(context, context.form("invoice[comment_text]"))
    if not context.form("invoice[do_shipment]"):
        return "The invoice has been created."
    order_flow.ship(context.db, record(context, "sales_order"), wanted, "", "", "")
    return "You created the invoice and shipment."


@_saving(SHIPMENT)
def save_shipment(context: Context) -> str:
    """Ship items with a tracking number, where there is one."""
    order = record(context, "sales_order")
    carrier, title, number = _tracking(
        context, "tracking[1][carrier_code]", "tracking[1][title]", "tracking[1][number]"
    )
    order_flow.ship(context.db, order, _quantities(context, order["id"], SHIPMENT), carrier, title, number)
    _comment(context, context.form("shipment[comment_text]"))
    return "The shipment has been created."


@_saving(CREDIT_MEMO)
def save_credit_memo(context: Context) -> str:
    """Refund items; ticked ones return to stock."""
    order = record(context, "sales_order")
    lines = order_flow.items(context.db, order["id"])
    restocked = {line["id"] for line in lines if context.form(f"creditmemo[items][{line['id']}][back_to_stock]")}
    order_flow.refund(context.db, order, _quantities(context, order["id"], CREDIT_MEMO), restocked)
    _comment(context, context.form("creditmemo[comment_text]"))
    return "You created the credit memo."


def _comment(context: Context, text: str) -> None:
    """Comments of documents stand in the history of their order."""
    order = record(context, "sales_order")
    if text := paragraphs(text):
        order_flow.comment(context.db, order, order["status"], text, notified=False, visible=False)


def _tracking(context: Context, code: str, title: str, number: str) -> tuple[str, str, str]:
    """Carrier, its name, and the number; the name is the carrier's own where none was entered."""
    carrier = context.form(code, "custom")
    if carrier not in dict(CARRIERS):
        raise Refused("Choose a carrier from the list.")
    name = short(context.form(title), 255, "Title") or dict(CARRIERS)[carrier]
    return carrier, name, short(context.form(number), 255, "Number")


@site.post("/admin/admin/order_shipment/addTrack/shipment_id/{id}/")
@returns_to("/admin/sales/shipment/view/shipment_id/{id}/")
def add_track(context: Context) -> Response:
    """Give a shipment a tracking number afterwards."""
    shipment = record(context, "shipment")
    carrier, title, number = _tracking(context, "carrier", "title", "number")
    context.db.update(
        "shipment", shipment["id"], carrier=carrier, tracking_title=title, tracking_number=required(number, "Number")
    )
    return context.redirect(
        f"/admin/sales/shipment/view/shipment_id/{shipment['id']}/", "You added the tracking number."
    )
