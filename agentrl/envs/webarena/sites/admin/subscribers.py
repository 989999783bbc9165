"""Newsletter subscribers: customers and guests."""

from __future__ import annotations

from agentrl.envs.webarena.sites.admin.base import Refused, returns_to, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

SUBSCRIBER_STATUSES = (
    ("Subscribed", "Subscribed"),
    ("Unsubscribed", "Unsubscribed"),
    ("Not Activated", "Not Activated"),
)
SUBSCRIBERS = Grid(
    "/admin/newsletter/subscriber/", "Newsletter Subscribers",
    "SELECT s.id AS id, s.email AS email, CASE WHEN s.customer_id IS NULL THEN 'Guest' ELSE 'Customer' END AS type,"
    " coalesce(c.firstname, '') AS firstname, coalesce(c.lastname, '') AS lastname, s.status AS status"
    " FROM newsletter_subscriber s LEFT JOIN customer c ON c.id = s.customer_id",
    (
        Column("id", "ID", "number", 70), Column("email", "Email", width=300),
        Column("type", "Type", "choice", 110, (("Customer", "Customer"), ("Guest", "Guest"))),
        Column("firstname", "Customer First Name"), Column("lastname", "Customer Last Name"),
        Column("status", "Status", "choice", 130, SUBSCRIBER_STATUSES),
    ),
    open_filters=True, descending=False, actions=(("unsubscribe", "Unsubscribe"), ("delete", "Delete")),
    actions_path="/admin/newsletter/subscriber/massAction/",
)  # fmt: skip


@site.get(SUBSCRIBERS.path)
def subscribers(context: Context) -> Response:
    """Everybody who gets the newsletter, or did."""
    _ = context.member
    return context.page("grid.html", kind="subscribers", title=SUBSCRIBERS.title, view=SUBSCRIBERS.view(context))


@site.post(SUBSCRIBERS.actions_path)
@returns_to(SUBSCRIBERS.path)
def change_subscribers(context: Context) -> Response:
    """Unsubscribe or delete the marked ones; the customers' own flags follow."""
    db, action = context.db, context.form("action")
    if action not in dict(SUBSCRIBERS.actions):
        raise Refused("Please select an action.")
    count = 0
    for text in dict.fromkeys(context.forms("selected")):
        entry = db.get("newsletter_subscriber", context.number(text))
        if entry is None:
            continue
        count += 1
        if action == "delete":
            db.delete("newsletter_subscriber", entry["id"])
        else:
            db.update("newsletter_subscriber", entry["id"], status="Unsubscribed")
        if entry["customer_id"] is not None and db.get("customer", entry["customer_id"]) is not None:
            db.update("customer", entry["customer_id"], subscribed=0)
    return context.redirect(SUBSCRIBERS.path, f"A total of {count} record(s) were changed.")
