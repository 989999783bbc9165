"""Accounts: login and registration, a member's own settings, and what members show of themselves."""

from __future__ import annotations

import re
from typing import Any

from agentrl.envs.webarena.sites.forum.app import back, field, myself, site, too_long, user_of
from agentrl.envs.webarena.sites.forum.listing import (
    NEWEST_COMMENTS,
    SORT_NAMES,
    page_number,
    paged,
    submission_row,
    submissions,
)
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, existing

# ---------------------------------------------------------------------- login and registration

USERNAME = re.compile(r"\w{3,25}", re.ASCII)
PASSWORD_LENGTHS = range(8, 73)


@site.get("/login")
def login_page(context: Context) -> Response:
    """The login form; a member who is logged in already goes to the front page."""
    return context.redirect("/") if context.user is not None else context.page("login.html", username="", errors=[])


@site.post("/login", "/login_check")
def log_in(context: Context) -> Response:
    """Check name and password."""
    username = field(context, "_username")
    user = context.db.row("SELECT * FROM user WHERE username = ? AND NOT is_deleted", username)
    if user is None or user["password"] != context.form("_password"):
        return context.page("login.html", username=username, errors=["Invalid username or password."])
    context.log_in(user["id"])
    return context.redirect(back(context))


@site.post("/logout")
def log_out(context: Context) -> Response:
    """Become a guest."""
    context.log_out()
    return context.redirect("/")


@site.get("/registration")
def registration_page(context: Context) -> Response:
    """The form for a new account."""
    return context.page("registration.html", username="", email="", errors=[])


@site.post("/registration")
def register(context: Context) -> Response:
    """Make an account and log in."""
    username, email = field(context, "user[username]"), field(context, "user[email]")
    first, second = context.form("user[password][first]"), context.form("user[password][second]")
    errors = []
    if not USERNAME.fullmatch(username):
        errors.append("The username must have 3 to 25 letters, digits or underscores.")
    elif context.db.value("SELECT 1 FROM user WHERE username = ?", username):
        errors.append("This username is taken.")
    if email and not re.fullmatch(r"[^@\s]{1,100}@[^@\s]{1,100}", email):
        errors.append("This is not an email address.")
    errors += password_faults(first, second)
    if errors:
        return context.page("registration.html", username=username, email=email, errors=errors)
    user_id = context.db.insert("user", username=username, email=email, password=first, created_at=context.db.now())
    context.log_in(user_id)
    return context.redirect("/", "Your account has been created.")


def password_faults(first: str, second: str) -> list[str]:
    """What is wrong with a new password that was typed twice."""
    if first != second:
        return ["The passwords must match."]
    if len(first) not in PASSWORD_LENGTHS:
        return ["The password must have 8 to 72 characters."]
    return []


# ---------------------------------------------------------------------- settings

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
    row = existing(context.db.row("SELECT * FROM block WHERE user_id = ? AND blocked_id = ?", user["id"], other["id"]))
    context.db.delete("block", row["id"])
    return context.redirect(f"/user/{user['username']}/block_list", f"You do not block {other['username']} any more.")


# ---------------------------------------------------------------------- profiles


@site.get("/user/{user}")
def overview_page(context: Context) -> Response:
    """The member's newest submissions and comments together."""
    user = user_of(context)
    sql = """SELECT 'submission' AS kind, id, created_at FROM submission WHERE user_id = ? AND NOT is_trashed
        UNION ALL SELECT 'comment', c.id, c.created_at FROM comment c JOIN submission s ON s.id = c.submission_id
        WHERE c.user_id = ? AND NOT c.is_trashed AND NOT s.is_trashed ORDER BY 3 DESC, 2 DESC"""
    page = paged(context.db, sql, [user["id"], user["id"]], page_number(context))
    found: list[tuple[str, Any]] = []
    for row in page.rows:
        if row["kind"] == "submission":
            found.append(("submission", submission_row(context, row["id"])))
        else:
            found.append(("comment", context.db.row(NEWEST_COMMENTS.format(where="AND c.id = ?"), row["id"])))
    return context.page("user.html", owner=user, tab="overview", page=page, entries=found)


@site.get("/user/{user}/submissions")
def submissions_page(context: Context) -> Response:
    """The member's submissions, newest first."""
    user = user_of(context)
    page = submissions(context, "s.user_id = ?", [user["id"]], "new")
    return context.page("user.html", owner=user, tab="submissions", page=page, entries=[])


@site.get("/user/{user}/comments")
def comments_page(context: Context) -> Response:
    """The member's comments, newest first."""
    user = user_of(context)
    page = paged(context.db, NEWEST_COMMENTS.format(where="AND c.user_id = ?"), [user["id"]], page_number(context))
    return context.page("user.html", owner=user, tab="comments", page=page, entries=[])
