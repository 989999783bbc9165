"""Pages of plain text, the newsletter and the contact form."""

from __future__ import annotations

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.account import is_email
from agentrl.envs.webarena.sites.shop.base import site
from agentrl.envs.webarena.sites.site import Context, NotFound

CONTACT = "/contact/"


@site.get("/newsletter/manage")
def newsletter(context: Context) -> Response:
    """Is the customer subscribed?"""
    return context.page("newsletter.html", subscribed=context.member["subscribed"])


@site.post("/newsletter/manage/save")
def newsletter_save(context: Context) -> Response:
    """Subscribe or unsubscribe."""
    member = context.member
    wanted = int(context.form("is_subscribed") == "1")
    if wanted == member["subscribed"]:
        return context.redirect("/customer/account/", "We have updated your subscription.")
    context.db.update("customer", member["id"], subscribed=wanted)
    _record(context, member["email"], member["id"], "Subscribed" if wanted else "Unsubscribed")
    saved = "We have saved your subscription." if wanted else "We have removed your newsletter subscription."
    return context.redirect("/customer/account/", saved)


@site.post("/newsletter/subscriber/new")
def subscribe(context: Context) -> Response:
    """The box in the footer."""
    email = context.form("email").strip()
    if not is_email(email):
        return context.redirect("/", "error: Please enter a valid email address (Ex: johndoe@domain.com).")
    present = context.db.row("SELECT * FROM newsletter_subscriber WHERE lower(email) = lower(?)", email)
    if present is not None and present["status"] == "Subscribed":
        return context.redirect("/", "error: This email address is already subscribed.")
    customer = context.db.row("SELECT * FROM customer WHERE lower(email) = lower(?)", email)
    if customer is not None:
        context.db.update("customer", customer["id"], subscribed=1)
    _record(context, email, customer["id"] if customer is not None else None, "Subscribed")
    return context.redirect("/", "Thank you for your subscription.")


def _record(context: Context, email: str, customer: int | None, status: str) -> None:
    present = context.db.row("SELECT * FROM newsletter_subscriber WHERE lower(email) = lower(?)", email)
    if present is not None:
        context.db.update("newsletter_subscriber", present["id"], status=status, customer_id=customer)
    else:
        context.db.insert("newsletter_subscriber", email=email, customer_id=customer, status=status)


@site.get("/contact", "/contact/index")
def contact(context: Context) -> Response:
    """The form, with what we know of a customer filled in."""
    return context.page("contact.html")


@site.post("/contact/index/post")
def contact_post(context: Context) -> Response:
    """Keep the message."""
    values = {name: context.form(name).strip() for name in ("name", "email", "telephone", "comment")}
    if not values["name"] or not values["comment"]:
        return context.redirect(CONTACT, "error: Enter the Name and the message and try again.")
    if not is_email(values["email"]):
        return context.redirect(CONTACT, "error: The email address is invalid. Verify the email address and try again.")
    context.db.insert("contact_message", created_at=context.db.now(), **values)
    return context.redirect(
        CONTACT, "Thanks for contacting us with your comments and questions. We'll respond to you very soon."
    )


def text_page(context: Context) -> Response:
    """A page that an administrator wrote."""
    page = context.db.row("SELECT * FROM cms_page WHERE identifier = ? AND is_active = 1", context.params["identifier"])
    if page is None:
        raise NotFound
    return context.page("text_page.html", page=page, blocks=blocks(page["content"]))


def blocks(content: str) -> list[tuple[str, str]]:
    """Headings and paragraphs of a text: ("h2", text) or ("p", text)."""
    found = []
    for part in content.replace("\r\n", "\n").split("\n\n"):
        text = part.strip()
        if text:
            found.append(("h2", text[2:]) if text.startswith("# ") else ("p", text))
    return found
