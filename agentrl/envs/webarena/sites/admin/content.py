"""Pages of texts that the storefront shows, and the themes it can be shown in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agentrl.envs.webarena.sites.admin.base import Refused, paragraphs, record, required, returns_to, short, site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

EDIT = "/admin/cms/page/edit/page_id/{id}/"
STATUS_CHOICES = (("1", "Enabled"), ("0", "Disabled"))
PAGES = Grid(
    "/admin/cms/page/", "Pages", "SELECT id, title, identifier, is_active, created_at, updated_at FROM cms_page",
    (
        Column("id", "ID", "number", 70), Column("title", "Title"), Column("identifier", "URL Key", width=220),
        Column("is_active", "Status", "choice", 100, STATUS_CHOICES), Column("created_at", "Created", "date", 170),
        Column("updated_at", "Modified", "date", 170),
    ),
    searched=("title", "identifier"), descending=False, edit=EDIT, add=("/admin/cms/page/new/", "Add New Page"),
    actions=(("delete", "Delete"), ("enable", "Enable"), ("disable", "Disable")),
    actions_path="/admin/cms/page/massAction/",
)  # fmt: skip


@site.get(PAGES.path, "/admin/cms/page/index/")
def grid(context: Context) -> Response:
    """All pages."""
    _ = context.member
    return context.page("grid.html", kind="cms_pages", title=PAGES.title, view=PAGES.view(context))


@site.post(PAGES.actions_path)
@returns_to(PAGES.path)
def mass_action(context: Context) -> Response:
    """Delete, enable or disable marked pages."""
    action = context.form("action")
    if action not in dict(PAGES.actions):
        raise Refused("Please select an action.")
    numbers = dict.fromkeys(context.number(text) for text in context.forms("selected"))
    chosen = [number for number in numbers if context.db.get("cms_page", number) is not None]
    for number in chosen:
        if action == "delete":
            context.db.delete("cms_page", number)
        else:
            context.db.update("cms_page", number, is_active=int(action == "enable"), updated_at=context.db.now())
    return context.redirect(PAGES.path, f"A total of {len(chosen)} record(s) have been changed.")


@site.get(EDIT)
def edit(context: Context) -> Response:
    """The form of a page."""
    page = record(context, "cms_page")
    return context.page("cms_page.html", kind="cms_page", title=page["title"], page=page, statuses=STATUS_CHOICES)


@site.get("/admin/cms/page/new/")
def new(context: Context) -> Response:
    """The form of a page that is not there yet."""
    _ = context.member
    page = {"id": 0, "title": "", "identifier": "", "content_heading": "", "content": "", "is_active": 1}
    return context.page("cms_page.html", kind="cms_page_new", title="New Page", page=page, statuses=STATUS_CHOICES)


def _values(context: Context, own_id: int = 0) -> dict[str, Any]:
    """What the form says; `Refused` where it cannot be saved."""
    form = context.form
    title = required(form("title"), "Page Title")
    identifier = short(form("identifier"), 100, "URL Key") or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:100]
    if not re.fullmatch(r"[a-z0-9][a-z0-9_/-]*(\.[a-z0-9_-]+)?", identifier):
        raise Refused("The URL key must consist of small letters, digits, - and _, and must not be only digits.")
    if context.db.value("SELECT count(*) FROM cms_page WHERE identifier = ? AND id != ?", identifier, own_id):
        raise Refused("A page with this URL key already exists.")
    return {
        "title": title, "identifier": identifier, "content": paragraphs(form("content")),
        "content_heading": short(form("content_heading"), 255, "Content Heading"),
        "is_active": int(form("is_active") != "0"), "updated_at": context.db.now(),
    }  # fmt: skip


@site.post("/admin/cms/page/save/page_id/{id}/")
@returns_to(EDIT)
def save(context: Context) -> Response:
    """Change a page."""
    page = record(context, "cms_page")
    context.db.update("cms_page", page["id"], **_values(context, page["id"]))
    return context.redirect(EDIT.format(id=page["id"]), "You saved the page.")


@site.post("/admin/cms/page/save/")
@returns_to("/admin/cms/page/new/")
def create(context: Context) -> Response:
    """Add a page."""
    number = context.db.insert("cms_page", **_values(context), created_at=context.db.now())
    return context.redirect(EDIT.format(id=number), "You saved the page.")


@site.post("/admin/cms/page/delete/page_id/{id}/")
@returns_to(PAGES.path)
def delete(context: Context) -> Response:
    """Remove a page."""
    context.db.delete("cms_page", record(context, "cms_page")["id"])
    return context.redirect(PAGES.path, "The page has been deleted.")


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
    found = THEMES.get(context.number(context.params["id"]))
    if found is None:
        raise NotFound
    return context.page("theme.html", kind="theme", title=f"Theme: {found.title}", theme=found)
