"""Signing in and out."""

from __future__ import annotations

from agentrl.envs.webarena.sites.code.host import site
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context


@site.get("/users/sign_in")
def sign_in_page(context: Context) -> Response:
    """The form for user name and password."""
    return context.redirect("/") if context.user else context.page("sign_in.html", login="")


@site.post("/users/sign_in")
def sign_in(context: Context) -> Response:
    """Check user name (or e-mail) and password."""
    login, password = context.form("user[login]").strip(), context.form("user[password]")
    user = context.db.row("SELECT * FROM user WHERE (username = ?1 OR email = ?1) AND password = ?2", login, password)
    if user is None:
        context.visit()
        return context.page("sign_in.html", login=login, failed=True, status=401)
    context.log_in(user["id"])
    return context.redirect("/")


@site.get("/users/sign_out")
@site.post("/users/sign_out")
def sign_out(context: Context) -> Response:
    """Back to being a guest."""
    context.log_out()
    return context.redirect("/users/sign_in")
