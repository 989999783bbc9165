"""New projects: blank, out of a template, or as a fork."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.code.dashboard import project_list
from agentrl.envs.webarena.sites.code.editing import commit_files
from agentrl.envs.webarena.sites.code.host import (
    DEVELOPER,
    OWNER,
    VISIBILITIES,
    Project,
    project_of,
    project_url,
    record,
    site,
)
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

TEMPLATES = {  # name -> files
    "Android": {"app/Main.kt": 'package app\n\nfun main() = println("Hello")\n', "build.gradle": "plugins {}\n"},
    "NodeJS Express": {"app.js": 'const app = require("express")();\n\napp.listen(3000);\n', "package.json": "{}\n"},
    "Ruby on Rails": {"Gemfile": 'gem "rails"\n', "config/routes.rb": "Rails.application.routes.draw do\nend\n"},
    "Spring": {"src/Main.java": "class Main {\n}\n", "pom.xml": "<project/>\n"},
    "Pages/HTML": {"public/index.html": "<h1>Hello</h1>\n", "style.css": "body { margin: 0; }\n"},
    "Python": {"main.py": 'print("Hello")\n', "pyproject.toml": '[project]\nname = "app"\n'},
}
RESERVED = frozenset(
    {"dashboard", "explore", "groups", "projects", "search", "users", "static", "-", "profile", "help"}
)


@site.get("/projects/new")
def new_project(context: Context) -> Response:
    """The form for a blank project or one out of a template."""
    return _form(context, {})


def _form(context: Context, values: dict[str, str], error: str = "") -> Response:
    spaces = namespaces(context.db, context.member)
    kind = values.get("kind") or ("template" if context.request.path.endswith("template") else "blank")
    return context.page(
        "project_form.html",
        namespaces=spaces,
        templates=TEMPLATES,
        values=values,
        error=error,
        kind=kind,
        status=422 if error else 200,
    )


@site.get("/projects/new/template")
def new_from_template(context: Context) -> Response:
    """The form with the choice of a template."""
    return _form(context, {})


@site.post("/projects")
def create_project(context: Context) -> Response:
    """Make the project, and its first commit where one is wanted."""
    values = {
        "name": context.form("project[name]").strip(),
        "path": context.form("project[path]").strip(),
        "namespace": context.form("project[namespace]"),
        "description": context.form("project[description]").strip(),
        "visibility": context.form("visibility"),
        "template": context.form("project[template_name]"),
        "readme": context.form("project[initialize_with_readme]"),
        "kind": context.form("kind"),
    }
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
        "project",
        namespace=values["namespace"],
        path=values["path"],
        name=values["name"],
        description=values["description"],
        owner_id=None if team else me["id"],
        team_id=team["id"] if team else None,
        visibility=values["visibility"],
        template=values.get("template", ""),
        created_at=now,
        updated_at=now,
        **more,
    )
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
    copy_refs(context.db, source.id, copy.id)
    return context.redirect(copy.url, "The project was successfully forked.")


def copy_refs(db: Database, source: int, target: int) -> None:
    """Give a project the branches and tags of another one, with their files. Commits are shared, as in git."""
    for ref in db.rows("SELECT * FROM ref WHERE project_id = ?", source):
        copied = db.insert(
            "ref",
            project_id=target,
            kind=ref["kind"],
            name=ref["name"],
            commit_id=ref["commit_id"],
            message=ref["message"],
            created_at=ref["created_at"],
        )
        for entry in db.rows("SELECT * FROM tree_entry WHERE ref_id = ?", ref["id"]):
            db.insert(
                "tree_entry", ref_id=copied, path=entry["path"], blob_id=entry["blob_id"], commit_id=entry["commit_id"]
            )


@site.get("/{namespace}/{project}/-/forks")
def forks(context: Context) -> Response:
    """The copies of a project."""
    project = project_of(context)
    return context.page(
        "project_copies.html", project=project, **project_list(context, "project.forked_from_id = ?2", project.id)
    )
