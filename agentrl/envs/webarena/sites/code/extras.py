"""Releases, wiki pages and snippets."""

from __future__ import annotations

import re
import sqlite3
from typing import Any
from urllib.parse import quote, unquote

from agentrl.envs.webarena.sites.code.dashboard import snippet_list
from agentrl.envs.webarena.sites.code.host import (
    DEVELOPER,
    GUEST,
    VISIBILITIES,
    Project,
    project_of,
    site,
    user_id,
    writable,
)
from agentrl.envs.webarena.sites.code.repository import branches_of
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound, existing

# ---------------------------------------------------------------------- releases


@site.get("/{namespace}/{project}/-/releases")
def releases(context: Context) -> Response:
    """All releases, the newest first."""
    project = project_of(context)
    rows = context.db.rows(
        """SELECT release.*, user.name AS author_name, user.username FROM release
            JOIN user ON user.id = release.author_id
           WHERE project_id = ? ORDER BY release.created_at DESC, release.id""",
        project.id,
    )
    return context.page("releases.html", project=project, rows=rows, tags=branches_of(context.db, project.id, "tag"))


@site.post("/{namespace}/{project}/-/releases")
def create_release(context: Context) -> Response:
    """A release for a tag that exists."""
    project = writable(context, DEVELOPER)
    tag = context.form("release[tag]")
    if not any(row["name"] == tag for row in branches_of(context.db, project.id, "tag")):
        return context.redirect(f"{project.url}/-/releases", "error: Choose a tag.")
    context.db.insert(
        "release", project_id=project.id, tag=tag, name=context.form("release[name]").strip() or tag,
        description=context.form("release[description]").replace("\r\n", "\n"), author_id=context.member["id"],
        created_at=context.db.now(),
    )  # fmt: skip
    return context.redirect(f"{project.url}/-/releases", "The release was created.")


# ---------------------------------------------------------------------- wiki


def _page(context: Context, project: Project) -> sqlite3.Row | None:
    slug = unquote(context.params["slug"])
    return context.db.row("SELECT * FROM wiki_page WHERE project_id = ? AND slug = ?", project.id, slug)


@site.get("/{namespace}/{project}/-/wikis")
def wiki_home(context: Context) -> Response:
    """The first page."""
    return context.redirect(f"{project_of(context).url}/-/wikis/home")


@site.get("/{namespace}/{project}/-/wikis/{slug}")
def wiki(context: Context) -> Response:
    """A page of the wiki, or the form where there is none yet."""
    project = project_of(context)
    row = _page(context, project)
    if (
        row is None
        and context.params["slug"] != "home"
        and not (context.params["slug"] == "new" and project.allows(DEVELOPER))
    ):
        raise NotFound
    pages = context.db.rows("SELECT * FROM wiki_page WHERE project_id = ? ORDER BY title", project.id)
    author = context.db.get("user", row["author_id"]) if row else None
    editing = row is None and project.allows(DEVELOPER)
    return context.page("wiki.html", project=project, row=row, pages=pages, author=author, editing=editing)


@site.get("/{namespace}/{project}/-/wikis/{slug}/edit")
def edit_wiki(context: Context) -> Response:
    """The form with a page."""
    project = writable(context, DEVELOPER)
    row = existing(_page(context, project))
    pages = context.db.rows("SELECT * FROM wiki_page WHERE project_id = ? ORDER BY title", project.id)
    return context.page("wiki.html", project=project, row=row, pages=pages, author=None, editing=True)


@site.post("/{namespace}/{project}/-/wikis", "/{namespace}/{project}/-/wikis/{slug}")
def save_wiki(context: Context) -> Response:
    """Keep a page; a new one is named by its title."""
    project = writable(context, DEVELOPER)
    row = _page(context, project) if "slug" in context.params else None
    title, content = context.form("wiki[title]").strip()[:200], context.form("wiki[content]").replace("\r\n", "\n")
    slug = row["slug"] if row else re.sub(r"[^\w.-]+", "-", title).strip("-.").lower()
    if not title or not slug or slug in ("new", "edit"):
        return context.redirect(f"{project.url}/-/wikis/home", "error: Title can't be blank.")
    row = row or context.db.row("SELECT * FROM wiki_page WHERE project_id = ? AND slug = ?", project.id, slug)
    values = {"title": title, "content": content, "author_id": context.member["id"], "updated_at": context.db.now()}
    if row:
        context.db.update("wiki_page", row["id"], **values)
    else:
        context.db.insert("wiki_page", project_id=project.id, slug=slug, **values)
    return context.redirect(f"{project.url}/-/wikis/{quote(slug)}", "Wiki page was successfully saved.")


# ---------------------------------------------------------------------- snippets


@site.get("/{namespace}/{project}/-/snippets")
def snippets(context: Context) -> Response:
    """Snippets of a project."""
    project = project_of(context)
    return context.page("snippets.html", project=project, page=snippet_list(context, "project_id", project.id))


@site.get("/-/snippets/new", "/{namespace}/{project}/-/snippets/new")
def new_snippet(context: Context) -> Response:
    """The form for a snippet of one's own, or of a project."""
    _ = context.member
    shown = {"project": writable(context, GUEST), "base": ""} if "project" in context.params else {}
    return context.page("snippet_form.html", error="", values={}, **shown)


@site.post("/-/snippets", "/{namespace}/{project}/-/snippets")
def create_snippet(context: Context) -> Response:
    """Keep a snippet."""
    me = context.member
    project = writable(context, GUEST) if "project" in context.params else None
    values = {
        "title": context.form("snippet[title]").strip(),
        "description": context.form("snippet[description]").strip(),
        "file_name": context.form("snippet[file_name]").strip() or "snippetfile1.txt",
        "content": context.form("snippet[content]").replace("\r\n", "\n"),
        "visibility": context.form("visibility", "private"),
    }
    if (
        not values["title"]
        or len(values["title"]) > 255
        or not values["content"]
        or values["visibility"] not in VISIBILITIES
    ):
        shown: dict[str, Any] = {"project": project} if project else {}
        error = "A snippet needs a title (up to 255 characters), a content and a visibility level."
        return context.page("snippet_form.html", values=values, status=422, error=error, **shown)
    number = context.db.insert(
        "snippet", project_id=project.id if project else None, author_id=me["id"], created_at=context.db.now(), **values
    )
    return context.redirect(f"{project.url if project else ''}/-/snippets/{number}")


@site.get("/-/snippets/{snippet}", "/{namespace}/{project}/-/snippets/{snippet}")
def snippet(context: Context) -> Response:
    """One snippet."""
    row, shown = _snippet(context)
    author = context.db.get("user", row["author_id"])
    return context.page("snippet.html", row=row, author=author, **shown)


def _snippet(context: Context) -> tuple[sqlite3.Row, dict[str, Any]]:
    project = project_of(context) if "project" in context.params else None
    row = context.record("snippet", "snippet", project_id=project.id if project else None)
    mine = row["author_id"] == user_id(context) or (project is not None and project.level > 0)
    if not mine and (row["visibility"] == "private" or (row["visibility"] == "internal" and context.user is None)):
        raise NotFound
    return row, {"project": project} if project else {}


@site.post("/-/snippets/{snippet}/delete", "/{namespace}/{project}/-/snippets/{snippet}/delete")
def delete_snippet(context: Context) -> Response:
    """Remove one's own snippet."""
    row, shown = _snippet(context)
    if row["author_id"] != context.member["id"]:
        raise Forbidden
    context.db.delete("snippet", row["id"])
    return context.redirect(
        f"{shown['project'].url}/-/snippets" if shown else "/dashboard/snippets", "Snippet was deleted."
    )
