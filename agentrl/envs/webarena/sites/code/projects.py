"""Projects: new ones (blank, out of a template, or as a fork), their own page, stars, activity and settings."""

from __future__ import annotations

import re
import sqlite3
from typing import Any
from urllib.parse import quote

from agentrl.envs.webarena.sites.code.dashboard import EVENTS, project_list
from agentrl.envs.webarena.sites.code.editing import commit_files, copy_files, remove_ref
from agentrl.envs.webarena.sites.code.host import (
    DEVELOPER,
    MAINTAINER,
    OWNER,
    VISIBILITIES,
    Project,
    paged,
    project_of,
    project_url,
    record,
    site,
    user_id,
    writable,
)
from agentrl.envs.webarena.sites.code.repository import COMMIT, HISTORY, branches_of, content_of, default_ref, files_of
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

# ---------------------------------------------------------------------- new projects

TEMPLATES = {  # name -> files
    "Android": {"app/Main.kt": 'package app\n\nfun main() = println("Hello")\n', "build.gradle": "plugins {}\n"},
    "NodeJS Express": {"app.js": 'const app = require("express")();\n\napp.listen(3000);\n', "package.json": "{}\n"},
    "Ruby on Rails": {"Gemfile": 'gem "rails"\n', "config/routes.rb": "Rails.application.routes.draw do\nend\n"},
    "Spring": {"src/Main.java": "class Main {\n}\n", "pom.xml": "<project/>\n"},
    "Pages/HTML": {"public/index.html": "<h1>Hello</h1>\n", "style.css": "body { margin: 0; }\n"},
    "Python": {"main.py": 'print("Hello")\n', "pyproject.toml": '[project]\nname = "app"\n'},
}


@site.get("/projects/new", "/projects/new/template")
def new_project(context: Context) -> Response:
    """The form for a blank project, or with the choice of a template."""
    return _form(context, {})


def _form(context: Context, values: dict[str, str], error: str = "") -> Response:
    spaces = namespaces(context.db, context.member)
    kind = values.get("kind") or ("template" if context.request.path.endswith("template") else "blank")
    return context.page(
        "project_form.html", namespaces=spaces, templates=TEMPLATES, values=values, error=error, kind=kind,
        status=422 if error else 200,
    )  # fmt: skip


@site.post("/projects")
def create_project(context: Context) -> Response:
    """Make the project, and its first commit where one is wanted."""
    values = {
        "name": context.form("project[name]").strip(), "path": context.form("project[path]").strip(),
        "namespace": context.form("project[namespace]"), "description": context.form("project[description]").strip(),
        "visibility": context.form("visibility"), "template": context.form("project[template_name]"),
        "readme": context.form("project[initialize_with_readme]"), "kind": context.form("kind"),
    }  # fmt: skip
    values["path"] = values["path"] or slug(values["name"])
    error = _refusal(context, values)
    if error:
        return _form(context, values, error)
    project = insert_project(context, values)
    if values["template"] in TEMPLATES:
        files = {**TEMPLATES[values["template"]], "README.md": _readme(values)}
        commit_files(context, project, "main", files, f"Initialized from '{values['template']}' project template")
    elif values["readme"]:
        commit_files(context, project, "main", {"README.md": _readme(values)}, "Initial commit")
    return context.redirect(project.url, f"Project '{values['name']}' was successfully created.")


def _readme(values: dict[str, str]) -> str:
    return f"# {values['name']}\n\n{values['description']}\n"


def _refusal(context: Context, values: dict[str, str]) -> str:
    """Why there can be no such project; "" if there can."""
    if not values["name"]:
        return "Project name can't be blank."
    if len(values["name"]) > 255 or len(values["path"]) > 255:
        return "Project name is too long (maximum is 255 characters)."
    if not re.fullmatch(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*", values["path"]):
        return "Project slug can contain only letters, digits, '_', '-' and '.'."
    if values["namespace"] not in namespaces(context.db, context.member):
        return "Namespace is not valid."
    if values["visibility"] not in VISIBILITIES:
        return "Choose a visibility level."
    taken = "SELECT 1 FROM project WHERE lower(namespace) = lower(?) AND lower(path) = lower(?)"
    if context.db.value(taken, values["namespace"], values["path"]):
        return "Project slug has already been taken."
    return ""


def slug(name: str) -> str:
    """The last part of a project's address, out of its name: "Do it myself" becomes "Do-it-myself"."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name.strip()).strip("-.")[:255]


def namespaces(db: Database, user: sqlite3.Row) -> list[str]:
    """Where a user may put projects: under the own name, and in groups with at least the developer role."""
    rows = db.rows(
        "SELECT team.path FROM team JOIN team_member m ON m.team_id = team.id WHERE m.user_id = ?"
        " AND m.access_level >= ? ORDER BY 1",
        user["id"],
        DEVELOPER,
    )
    return [user["username"], *(row["path"] for row in rows)]


def insert_project(context: Context, values: dict[str, Any], **more: Any) -> Project:
    """The rows of a project: itself, its owner, its event."""
    db, me, now = context.db, context.member, context.db.now()
    team = db.row("SELECT * FROM team WHERE path = ?", values["namespace"])
    number = db.insert(
        "project", namespace=values["namespace"], path=values["path"], name=values["name"],
        description=values["description"], owner_id=None if team else me["id"], team_id=team["id"] if team else None,
        visibility=values["visibility"], template=values.get("template", ""), created_at=now, updated_at=now, **more,
    )  # fmt: skip
    if team is None:
        db.insert("project_member", project_id=number, user_id=me["id"], access_level=OWNER, created_at=now)
    row = db.get("project", number)
    assert row is not None
    record(context, number, "created project", row["name"], project_url(row))
    return Project(row, OWNER)


# ---------------------------------------------------------------------- forks


@site.get("/{namespace}/{project}/-/forks/new", "/{namespace}/{project}/forks/new")
def fork_form(context: Context) -> Response:
    """Where to and under which name."""
    return context.page(
        "fork.html", project=project_of(context), namespaces=namespaces(context.db, context.member), error=""
    )


@site.post("/{namespace}/{project}/-/forks")
def fork(context: Context) -> Response:
    """Copy the project with its branches and tags; commits are shared."""
    source = project_of(context)
    values = {
        "name": context.form("fork[name]").strip() or source.row["name"],
        "path": context.form("fork[path]").strip() or source.row["path"],
        "namespace": context.form("fork[namespace]"),
        "description": context.form("fork[description]").strip(),
        "visibility": context.form("visibility", source.row["visibility"]),
    }
    error = _refusal(context, values)
    if error:
        spaces = namespaces(context.db, context.member)
        return context.page("fork.html", project=source, namespaces=spaces, error=error, status=422)
    row = source.row
    copy = insert_project(context, values, forked_from_id=row["id"], language=row["language"], topics=row["topics"])
    for ref in context.db.rows("SELECT * FROM ref WHERE project_id = ?", source.id):
        copied = context.db.insert(
            "ref", project_id=copy.id, kind=ref["kind"], name=ref["name"], commit_id=ref["commit_id"],
            message=ref["message"], created_at=ref["created_at"],
        )  # fmt: skip
        copy_files(context.db, ref["id"], copied)
    return context.redirect(copy.url, "The project was successfully forked.")


@site.get("/{namespace}/{project}/-/forks")
def forks(context: Context) -> Response:
    """The copies of a project."""
    project = project_of(context)
    return context.page(
        "project_copies.html", project=project, **project_list(context, "project.forked_from_id = ?2", project.id)
    )


# ---------------------------------------------------------------------- a project's own pages


@site.get("/{namespace}/{project}/activity")
def activity(context: Context) -> Response:
    """What happened in the project."""
    project = project_of(context)
    page = paged(
        context, f"{EVENTS} WHERE event.project_id = ? ORDER BY event.created_at DESC, event.id DESC", project.id
    )
    return context.page("activity.html", project=project, page=page)


@site.get("/{namespace}/{project}/-/starrers")
def starrers(context: Context) -> Response:
    """Who has starred the project."""
    project = project_of(context)
    page = paged(
        context,
        "SELECT user.*, star.created_at AS since FROM star JOIN user ON user.id = star.user_id"
        " WHERE star.project_id = ? ORDER BY star.created_at DESC, star.id",
        project.id,
        size=40,
    )
    return context.page("starrers.html", project=project, page=page)


@site.post("/{namespace}/{project}/toggle_star", "/{namespace}/{project}/-/toggle_star")
def toggle_star(context: Context) -> Response:
    """Star, or take the star back."""
    db, me = context.db, context.member["id"]
    project = project_of(context)
    known = db.value("SELECT id FROM star WHERE project_id = ? AND user_id = ?", project.id, me)
    if known is None:
        db.insert("star", project_id=project.id, user_id=me, created_at=db.now())
    else:
        db.delete("star", known)
    return context.redirect(project.url)


# ---------------------------------------------------------------------- settings


@site.get("/{namespace}/{project}/edit", "/{namespace}/{project}/-/settings")
def settings(context: Context) -> Response:
    """Name, description, visibility; owners also archive, move and delete."""
    _ = context.member
    project = project_of(context)
    if project.level < MAINTAINER:
        raise NotFound
    spaces = [name for name in namespaces(context.db, context.member) if name != project.row["namespace"]]
    refs = branches_of(context.db, project.id)
    return context.page("settings.html", project=project, namespaces=spaces, is_owner=project.level >= OWNER, refs=refs)


@site.post("/{namespace}/{project}/edit")
def save_settings(context: Context) -> Response:
    """Keep the settings."""
    project = writable(context, MAINTAINER)
    row = project.row
    values = {
        "name": context.form("project[name]", row["name"]).strip(),
        "topics": context.form("project[topics]", row["topics"]).strip(),
        "description": context.form("project[description]", row["description"]).strip(),
        "default_branch": context.form("project[default_branch]", row["default_branch"]),
    }
    if context.form("visibility") in VISIBILITIES and project.allows(OWNER):
        values["visibility"] = context.form("visibility")
    branches = [ref["name"] for ref in branches_of(context.db, project.id)] or [row["default_branch"]]
    if not values["name"] or len(values["name"]) > 255 or values["default_branch"] not in branches:
        return context.redirect(f"{project.url}/edit", "error: Project name must have 1 to 255 characters.")
    context.db.update("project", project.id, **values, updated_at=context.db.now())
    return context.redirect(f"{project.url}/edit", f"Project '{values['name']}' was successfully updated.")


@site.post("/{namespace}/{project}/-/archive", "/{namespace}/{project}/-/unarchive")
def archive(context: Context) -> Response:
    """Make the project read-only, or writable again."""
    project = writable(context, OWNER)
    context.db.update("project", project.id, archived=int(context.request.path.rstrip("/").endswith("/archive")))
    return context.redirect(f"{project.url}/edit")


@site.post("/{namespace}/{project}/-/rename_path", "/{namespace}/{project}/-/transfer")
def move(context: Context) -> Response:
    """Another last part of the address, or another namespace."""
    project = writable(context, OWNER)
    namespace, path = project.row["namespace"], project.row["path"]
    if context.request.path.rstrip("/").endswith("/transfer"):
        namespace = context.form("new_namespace")
    else:
        path = slug(context.form("project[path]"))
    db = context.db
    taken = db.value(
        "SELECT 1 FROM project WHERE lower(namespace) = lower(?) AND lower(path) = lower(?)", namespace, path
    )
    allowed = [*namespaces(db, context.member), project.row["namespace"]]
    if taken or not path or namespace not in allowed:
        return context.redirect(f"{project.url}/edit", "error: The project cannot be moved there.")
    team = db.row("SELECT * FROM team WHERE path = ?", namespace)
    owner = db.row("SELECT * FROM user WHERE username = ?", namespace)
    db.update(
        "project", project.id, namespace=namespace, path=path, team_id=team["id"] if team else None,
        owner_id=owner["id"] if owner and not team else None,
    )  # fmt: skip
    if (
        owner
        and not team
        and not db.value("SELECT 1 FROM project_member WHERE project_id = ? AND user_id = ?", project.id, owner["id"])
    ):
        db.insert("project_member", project_id=project.id, user_id=owner["id"], access_level=OWNER, created_at=db.now())
    return context.redirect(quote(f"/{namespace}/{path}"), "The project was moved.")


@site.post("/{namespace}/{project}/-/delete_project")
def delete_project(context: Context) -> Response:
    """Remove the project with all that belongs to it; the path must be typed as a confirmation."""
    project = writable(context, OWNER)
    if context.form("confirm_name_input").strip() not in (project.row["path"], project.url.strip("/")):
        return context.redirect(f"{project.url}/edit", "error: Type the name of the project to confirm.")
    db = context.db
    for ref in db.rows("SELECT id FROM ref WHERE project_id = ?", project.id):
        remove_ref(db, ref["id"])
    for table in (
        "issue", "merge_request", "todo", "event", "star", "project_member", "snippet", "wiki_page", "label",
        "milestone",
    ):  # fmt: skip
        for row in db.rows(f"SELECT id FROM {table} WHERE project_id = ?", project.id):
            db.delete(table, row["id"])
    db.delete("project", project.id)
    return context.redirect("/dashboard/projects", f"Project '{project.row['name']}' was deleted.")


# ---------------------------------------------------------------------- the page itself


@site.get("/{namespace}/{project}")
def show(context: Context) -> Response:
    """Files, README, stars, addresses to clone."""
    project = project_of(context)
    db = context.db
    ref = default_ref(db, project)
    numbers = {
        "stars": db.value("SELECT count(*) FROM star WHERE project_id = ?", project.id),
        "forks": db.value("SELECT count(*) FROM project WHERE forked_from_id = ?", project.id),
        "commits": db.value(f"{HISTORY} SELECT count(*) FROM history", ref["commit_id"]) if ref else 0,
        "branches": db.value("SELECT count(*) FROM ref WHERE project_id = ? AND kind = 'branch'", project.id),
        "tags": db.value("SELECT count(*) FROM ref WHERE project_id = ? AND kind = 'tag'", project.id),
    }
    starred = db.value("SELECT 1 FROM star WHERE project_id = ? AND user_id = ?", project.id, user_id(context))
    source = db.get("project", project.row["forked_from_id"] or 0)
    return context.page(
        "project.html", project=project, ref=ref, numbers=numbers, starred=starred, source=source,
        entries=files_of(db, ref["id"], "") if ref else [],
        readme=content_of(db, ref["id"], "README.md") if ref else None,
        last=db.row(f"{COMMIT} WHERE c.id = ?", ref["commit_id"]) if ref else None,
    )  # fmt: skip
