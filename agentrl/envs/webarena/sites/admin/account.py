"""Signing in and out, the administrator's own account, and the list of users."""

from __future__ import annotations

from agentrl.envs.webarena.sites.admin.base import Refused, required, returns_to, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

USERS = Grid(
    "/admin/admin/user/", "Users", "SELECT id, username, firstname, lastname, email FROM admin_user",
    (
        Column("id", "ID", "number", 80), Column("username", "User Name"), Column("firstname", "First Name"),
        Column("lastname", "Last Name"), Column("email", "Email", width=320),
    ),
    open_filters=True, descending=False,
)  # fmt: skip


@site.get("/admin/", "/admin/admin/", "/admin/admin/auth/login/")
def start(context: Context) -> Response:
    """The form to sign in, or the dashboard for who has done so."""
    if context.user is not None:
        return context.redirect("/admin/dashboard")
    return context.page("login.html")


@site.post("/admin/", "/admin/admin/", "/admin/admin/auth/login/")
def sign_in(context: Context) -> Response:
    """Check name and password."""
    name, password = context.form("login[username]").strip(), context.form("login[password]")
    user = context.db.row("SELECT * FROM admin_user WHERE username = ?", name)
    if user is None or user["password"] != password:
        wrong = "error: The account sign-in was incorrect. Please check the user name and the password."
        return context.redirect("/admin/", wrong)
    context.log_in(user["id"])
    return context.redirect("/admin/dashboard")


@site.get("/admin/admin/auth/logout/")
def sign_out(context: Context) -> Response:
    """Forget who the visitor was."""
    context.log_out()
    return context.redirect("/admin/", "You have signed out.")


@site.get("/admin/admin/system_account/", "/admin/admin/system_account/index/")
def own_account(context: Context) -> Response:
    """The administrator's own data."""
    return context.page("account.html", kind="account", title="My Account", account=context.member)


@site.post("/admin/admin/system_account/save/")
@returns_to("/admin/admin/system_account/")
def save_account(context: Context) -> Response:
    """Change them; the current password confirms it."""
    user = context.member
    if context.form("current_password") != user["password"]:
        raise Refused("The password entered for the current user is invalid. Verify the password and try again.")
    username = required(context.form("username"), "User Name", 40)
    if context.db.value("SELECT count(*) FROM admin_user WHERE username = ? AND id != ?", username, user["id"]):
        raise Refused("A user with the same user name already exists.")
    password = context.form("password")
    if password != context.form("password_confirmation"):
        raise Refused("Your password confirmation must match your password.")
    context.db.update(
        "admin_user", user["id"], username=username, password=password or user["password"],
        firstname=required(context.form("firstname"), "First Name", 32),
        lastname=required(context.form("lastname"), "Last Name", 32),
        email=required(context.form("email"), "Email", 128),
    )  # fmt: skip
    return context.redirect("/admin/admin/system_account/", "You saved the account.")


@site.get(USERS.path)
def users(context: Context) -> Response:
    """Who may use the administration."""
    _ = context.member
    return context.page("grid.html", kind="users", title=USERS.title, view=USERS.view(context))
