"""The wiki: pages that all members may write, with all earlier versions."""

from __future__ import annotations

import re
import sqlite3
from urllib.parse import quote, unquote

from agentrl.envs.webarena.sites.forum import text
from agentrl.envs.webarena.sites.forum.app import field, site, too_long
from agentrl.envs.webarena.sites.forum.listing import page_number, paged
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, existing

WIKI_PATH = re.compile(r"[A-Za-z][\w-]{0,40}(/[A-Za-z][\w-]{0,40}){0,3}", re.ASCII)
REVISIONS = """SELECT r.*, u.username AS author, p.path FROM wiki_revision r JOIN user u ON u.id = r.user_id
    JOIN wiki_page p ON p.id = r.page_id"""


@site.get("/wiki")
def start_page(context: Context) -> Response:
    """The wiki's first page."""
    context.params["path"] = "index"
    return wiki_page(context)


@site.get("/wiki/_all")
def all_page(context: Context) -> Response:
    """All pages by their names."""
    sql = """SELECT p.*, r.title, r.created_at FROM wiki_page p JOIN wiki_revision r ON r.id =
        (SELECT max(id) FROM wiki_revision WHERE page_id = p.id) ORDER BY p.path"""
    return context.page("wiki_all.html", page=paged(context.db, sql, [], page_number(context), 40))


@site.get("/wiki/_recent")
def recent_page(context: Context) -> Response:
    """The newest changes."""
    page = paged(context.db, f"{REVISIONS} ORDER BY r.created_at DESC, r.id DESC", [], page_number(context))
    return context.page("wiki_history.html", page=page, heading="Recent changes", path="")


@site.get("/wiki/_history/{path:path}")
def history_page(context: Context) -> Response:
    """All versions of a page."""
    row = _page(context)
    page = paged(context.db, f"{REVISIONS} WHERE p.id = ? ORDER BY r.id DESC", [row["id"]], page_number(context))
    return context.page("wiki_history.html", page=page, heading=f"History of {row['path']}", path=row["path"])


@site.get("/wiki/_revision/{id}")
def revision_page(context: Context) -> Response:
    """A version of a page."""
    revision = existing(context.db.row(f"{REVISIONS} WHERE r.id = ?", context.number(context.params["id"])))
    return context.page("wiki_page.html", revision=revision, path=revision["path"], is_newest=False, is_locked=True)


@site.get("/wiki/_create", "/wiki/_create/{path:path}")
def create_page(context: Context) -> Response:
    """The form for a new page."""
    _ = context.member
    path = text.clean(unquote(context.params.get("path", "")))
    return context.page("wiki_form.html", is_new=True, path=path, title="", body="", errors=[])


@site.post("/wiki/_create", "/wiki/_create/{path:path}")
def create(context: Context) -> Response:
    """Make a page."""
    _ = context.member
    path = field(context, "wiki[path]").strip("/")
    title, body = field(context, "wiki[title]"), field(context, "wiki[body]")
    errors = _faults(title, body)
    if not WIKI_PATH.fullmatch(path):
        errors.append("The path must begin with a letter and have letters, digits, hyphens and slashes.")
    elif context.db.value("SELECT 1 FROM wiki_page WHERE path = ?", path):
        errors.append("There is a page with this path already.")
    if errors:
        return context.page("wiki_form.html", is_new=True, path=path, title=title, body=body, errors=errors)
    return _save(context, context.db.insert("wiki_page", path=path), path, title, body)


@site.get("/wiki/_edit/{path:path}")
def edit_page(context: Context) -> Response:
    """The form to change a page."""
    row = _editable(context)
    newest = _newest(context, row)
    return context.page(
        "wiki_form.html", is_new=False, path=row["path"], title=newest["title"], body=newest["body"], errors=[]
    )


@site.post("/wiki/_edit/{path:path}")
def edit(context: Context) -> Response:
    """Write a new version of a page."""
    row, title, body = _editable(context), field(context, "wiki[title]"), field(context, "wiki[body]")
    if errors := _faults(title, body):
        return context.page("wiki_form.html", is_new=False, path=row["path"], title=title, body=body, errors=errors)
    return _save(context, row["id"], row["path"], title, body)


@site.get("/wiki/{path:path}")
def wiki_page(context: Context) -> Response:
    """The newest version of a page."""
    path = text.clean(unquote(context.params["path"]))
    row = context.db.row("SELECT * FROM wiki_page WHERE path = ?", path)
    if row is None:
        may_create = bool(WIKI_PATH.fullmatch(path))
        return context.page("wiki_missing.html", status=404, path=path if may_create else "")
    return context.page(
        "wiki_page.html", revision=_newest(context, row), path=row["path"], is_newest=True, is_locked=row["is_locked"]
    )


def _faults(title: str, body: str) -> list[str]:
    missing = [] if title and body else ["Title and body must not be blank."]
    return missing + too_long({"The title": (title, 80), "The body": (body, 250_000)})


def _page(context: Context) -> sqlite3.Row:
    return existing(context.db.row("SELECT * FROM wiki_page WHERE path = ?", unquote(context.params["path"])))


def _editable(context: Context) -> sqlite3.Row:
    user, row = context.member, _page(context)
    if row["is_locked"] and not user["is_admin"]:
        raise Forbidden
    return row


def _newest(context: Context, row: sqlite3.Row) -> sqlite3.Row:
    revision = context.db.row(f"{REVISIONS} WHERE p.id = ? ORDER BY r.id DESC", row["id"])
    assert revision is not None
    return revision


def _save(context: Context, page_id: int, path: str, title: str, body: str) -> Response:
    context.db.insert(
        "wiki_revision", page_id=page_id, user_id=context.member["id"], title=title, body=body,
        created_at=context.db.now(),
    )  # fmt: skip
    return context.redirect(f"/wiki/{quote(path)}")
