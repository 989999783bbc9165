"""Pages about the administration itself: accounts, settings, texts and themes of the storefront."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agentrl.envs.webarena.sites.admin.base import STORE_NAME, Refused, paragraphs, required, returns_to, short, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid, delete_page, form_pages, grid_page, marked
from agentrl.envs.webarena.sites.formats import slug
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, existing

# ---------------------------------------------------------------------- accounts

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


grid_page(USERS, "users")


# ---------------------------------------------------------------------- settings


@site.get("/admin/admin/system_config/", "/admin/admin/system_config/edit/section/{name}/")
def configuration(context: Context) -> Response:
    """All settings."""
    _ = context.member
    return context.page("configuration.html", kind="configuration", title="Configuration")


@site.get("/admin/admin/system_store/")
def all_stores(context: Context) -> Response:
    """The web site, its store and the store's view."""
    _ = context.member
    rows = [
        ("Main Website (Code: base)", f"{STORE_NAME} (Code: main_website_store)", "Default Store View (Code: default)")
    ]
    return context.page(
        "table.html", kind="stores", title="Stores", headings=("Web Site", "Store", "Store View"), rows=rows
    )


# ---------------------------------------------------------------------- texts

STATUS_CHOICES = (("1", "Enabled"), ("0", "Disabled"))
PAGES = Grid(
    "/admin/cms/page/", "Pages", "SELECT id, title, identifier, is_active, created_at, updated_at FROM cms_page",
    (
        Column("id", "ID", "number", 70), Column("title", "Title"), Column("identifier", "URL Key", width=220),
        Column("is_active", "Status", "choice", 100, STATUS_CHOICES), Column("created_at", "Created", "date", 170),
        Column("updated_at", "Modified", "date", 170),
    ),
    searched=("title", "identifier"), descending=False, edit="/admin/cms/page/edit/page_id/{id}/",
    add=("/admin/cms/page/new/", "Add New Page"),
    actions=(("delete", "Delete"), ("enable", "Enable"), ("disable", "Disable")),
    actions_path="/admin/cms/page/massAction/",
)  # fmt: skip
grid_page(PAGES, "cms_pages", "/admin/cms/page/index/")


@site.post(PAGES.actions_path)
@returns_to(PAGES.path)
def mass_action(context: Context) -> Response:
    """Delete, enable or disable marked pages."""
    action = context.form("action")
    if action not in dict(PAGES.actions):
        raise Refused("Please select an action.")
    chosen = marked(context, "cms_page")
    for number in chosen:
        if action == "delete":
            context.db.delete("cms_page", number)
        else:
            context.db.update("cms_page", number, is_active=int(action == "enable"), updated_at=context.db.now())
    return context.redirect(PAGES.path, f"A total of {len(chosen)} record(s) have been changed.")


def _values(context: Context, own_id: int) -> dict[str, Any]:
    """What the form says; `Refused` where it cannot be saved."""
    form, now = context.form, context.db.now()
    title = required(form("title"), "Page Title")
    identifier = short(form("identifier"), 100, "URL Key") or slug(title)[:100]
    if not re.fullmatch(r"[a-z0-9][a-z0-9_/-]*(\.[a-z0-9_-]+)?", identifier):
        raise Refused("The URL key must consist of small letters, digits, - and _, and must not be only digits.")
    if context.db.value("SELECT count(*) FROM cms_page WHERE identifier = ? AND id != ?", identifier, own_id):
        raise Refused("A page with this URL key already exists.")
    return {
        "title": title, "identifier": identifier, "content": paragraphs(form("content")),
        "content_heading": short(form("content_heading"), 255, "Content Heading"),
        "is_active": int(form("is_active") != "0"), "updated_at": now, **({} if own_id else {"created_at": now}),
    }  # fmt: skip


form_pages(
    PAGES, "cms_page", "page",
    {"is_active": 1, **dict.fromkeys(("title", "identifier", "content_heading", "content"), "")},
    _values, title="title", key="page_id", statuses=STATUS_CHOICES,
)  # fmt: skip
delete_page(PAGES, "cms_page", "The page has been deleted.", "page_id")


# ---------------------------------------------------------------------- themes


@dataclass(frozen=True)
class Theme:
    """How the storefront looks; the embedded one always looks the same."""

    title: str
    parent: str
    path: str


THEMES = {1: Theme("Blank", "", "frontend/Store/blank"), 3: Theme("Daylight", "Blank", "frontend/Store/daylight")}


@site.get("/admin/admin/system_design_theme/")
def themes(context: Context) -> Response:
    """All themes."""
    _ = context.member
    return context.page("themes.html", kind="themes", title="Themes", themes=THEMES)


@site.get("/admin/admin/system_design_theme/edit/id/{id}/")
def theme(context: Context) -> Response:
    """One theme."""
    _ = context.member
    found = existing(THEMES.get(context.number(context.params["id"])))
    return context.page("theme.html", kind="theme", title=f"Theme: {found.title}", theme=found)
