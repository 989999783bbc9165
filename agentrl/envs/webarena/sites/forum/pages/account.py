"""A member's own settings: account, biography, preferences, hidden forums, blocked members."""

from __future__ import annotations

import re
from typing import Any

from agentrl.envs.webarena.sites.forum.app import field, myself, site, too_long, user_of
from agentrl.envs.webarena.sites.forum.listing import SORT_NAMES
from agentrl.envs.webarena.sites.forum.pages.login import password_faults
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

FRONT_PAGES = {
    "default": "Subscribed forums, if there are any", "featured": "Featured forums", "subscribed": "Subscribed forums",
    "moderated": "Moderated forums", "all": "All forums",
}  # fmt: skip
SWITCHES = ("show_thumbnails", "allow_messages", "notify_replies")


@site.get("/user/{user}/account")
def account_page(context: Context) -> Response:
    """Email address, password, and the end of the account."""
    user = myself(context)
    return context.page("account.html", owner=user, email=user["email"], errors=[])


@site.post("/user/{user}/account")
def change_account(context: Context) -> Response:
    """Change the email address or the password."""
    user, email = myself(context), field(context, "user[email]")
    first, second = context.form("user[password][first]"), context.form("user[password][second]")
    errors = password_faults(first, second) if first or second else []
    if email and not re.fullmatch(r"[^@\s]{1,100}@[^@\s]{1,100}", email):
        errors.append("This is not an email address.")
    if errors:
        return context.page("account.html", owner=user, email=email, errors=errors)
    context.db.update("user", user["id"], email=email, password=first or user["password"])
    return context.redirect(f"/user/{user['username']}/account", "Your account has been changed.")


@site.post("/user/{user}/delete_account")
def delete_account(context: Context) -> Response:
    """Close the account, if its name is typed once more. What it wrote stays."""
    user = myself(context)
    if field(context, "name") != user["username"]:
        errors = ["Type your username to delete your account."]
        return context.page("account.html", owner=user, email=user["email"], errors=errors)
    context.db.update("user", user["id"], is_deleted=1)
    context.log_out()
    return context.redirect("/")


@site.get("/user/{user}/edit_biography")
def biography_page(context: Context) -> Response:
    """The form for the biography."""
    user = myself(context)
    return context.page("biography.html", owner=user, biography=user["biography"], errors=[])


@site.post("/user/{user}/edit_biography")
def change_biography(context: Context) -> Response:
    """Change the biography."""
    user, biography = myself(context), field(context, "user_biography[biography]")
    if errors := too_long({"The biography": (biography, 300)}):
        return context.page("biography.html", owner=user, biography=biography, errors=errors)
    context.db.update("user", user["id"], biography=biography)
    return context.redirect(f"/user/{user['username']}", "Your biography has been changed.")


@site.get("/user/{user}/preferences")
def preferences_page(context: Context) -> Response:
    """What the member wants to see."""
    user = myself(context)
    return context.page("preferences.html", owner=user, front_pages=FRONT_PAGES, sorts=SORT_NAMES, errors=[])


@site.post("/user/{user}/preferences")
def change_preferences(context: Context) -> Response:
    """Change what the member wants to see."""
    user = myself(context)
    changes: dict[str, Any] = {name: int(context.form(name) == "1") for name in SWITCHES}
    if (page := context.form("front_page")) in FRONT_PAGES:
        changes["front_page"] = page
    if (sort := context.form("front_page_sort")) in SORT_NAMES:
        changes["front_page_sort"] = sort
    context.db.update("user", user["id"], **changes)
    return context.redirect(f"/user/{user['username']}/preferences", "Your preferences have been changed.")


@site.get("/user/{user}/hidden_forums")
def hidden_page(context: Context) -> Response:
    """The forums that the list of all submissions leaves out."""
    user = myself(context)
    sql = "SELECT f.* FROM hidden_forum h JOIN forum f ON f.id = h.forum_id WHERE h.user_id = ? ORDER BY f.name"
    return context.page("hidden.html", owner=user, rows=context.db.rows(sql, user["id"]))


# ---------------------------------------------------------------------- blocks


@site.get("/user/{user}/block_list")
def blocks_page(context: Context) -> Response:
    """The members whose texts are not shown to this one."""
    user = myself(context)
    sql = """SELECT b.*, u.username FROM block b JOIN user u ON u.id = b.blocked_id WHERE b.user_id = ?
        ORDER BY u.username"""
    return context.page("blocks.html", owner=user, rows=context.db.rows(sql, user["id"]))


@site.get("/user/{user}/block_user")
def block_page(context: Context) -> Response:
    """The form to block the member of the address."""
    _ = context.member
    return context.page("block.html", owner=user_of(context), comment="", errors=[])


@site.post("/user/{user}/block_user")
def block(context: Context) -> Response:
    """Block the member of the address."""
    user, other, comment = context.member, user_of(context), field(context, "comment")
    errors = too_long({"The comment": (comment, 300)})
    if user["id"] == other["id"]:
        errors.append("You cannot block yourself.")
    if errors:
        return context.page("block.html", owner=other, comment=comment, errors=errors)
    if not context.db.value("SELECT 1 FROM block WHERE user_id = ? AND blocked_id = ?", user["id"], other["id"]):
        now = context.db.now()
        context.db.insert("block", user_id=user["id"], blocked_id=other["id"], comment=comment, created_at=now)
    return context.redirect(f"/user/{user['username']}/block_list", f"You block {other['username']} now.")


@site.post("/user/{user}/unblock_user")
def unblock(context: Context) -> Response:
    """Show the texts of the member of the address again."""
    user, other = context.member, user_of(context)
    row = context.db.row("SELECT * FROM block WHERE user_id = ? AND blocked_id = ?", user["id"], other["id"])
    if row is None:
        raise NotFound
    context.db.delete("block", row["id"])
    return context.redirect(f"/user/{user['username']}/block_list", f"You do not block {other['username']} any more.")
