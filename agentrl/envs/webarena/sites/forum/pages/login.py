"""Login, logout and registration."""

from __future__ import annotations

import re

from agentrl.envs.webarena.sites.forum.app import back, field, site
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

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
    errors = _faults(context, username, email, first, second)
    if errors:
        return context.page("registration.html", username=username, email=email, errors=errors)
    user_id = context.db.insert("user", username=username, email=email, password=first, created_at=context.db.now())
    context.log_in(user_id)
    return context.redirect("/", "Your account has been created.")


def _faults(context: Context, username: str, email: str, first: str, second: str) -> list[str]:
    errors = []
    if not USERNAME.fullmatch(username):
        errors.append("The username must have 3 to 25 letters, digits or underscores.")
    elif context.db.value("SELECT 1 FROM user WHERE username = ?", username):
        errors.append("This username is taken.")
    if email and not re.fullmatch(r"[^@\s]{1,100}@[^@\s]{1,100}", email):
        errors.append("This is not an email address.")
    return errors + password_faults(first, second)


def password_faults(first: str, second: str) -> list[str]:
    """What is wrong with a new password that was typed twice."""
    if first != second:
        return ["The passwords must match."]
    if len(first) not in PASSWORD_LENGTHS:
        return ["The password must have 8 to 72 characters."]
    return []
