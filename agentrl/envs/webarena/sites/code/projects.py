"""A project's own page, stars, activity and settings."""

from __future__ import annotations

from urllib.parse import quote

from agentrl.envs.webarena.sites.code.creation import namespaces, slug
from agentrl.envs.webarena.sites.code.dashboard import EVENTS
from agentrl.envs.webarena.sites.code.editing import remove_ref
from agentrl.envs.webarena.sites.code.host import (
    MAINTAINER,
    OWNER,
    VISIBILITIES,
    paged,
    project_of,
    site,
    user_id,
    writable,
)
from agentrl.envs.webarena.sites.code.repository import COMMIT, HISTORY, branches_of, content_of, default_ref, files_of
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound


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


@site.post("/{namespace}/{project}/-/rename_path")
def change_path(context: Context) -> Response:
    """Another last part of the address."""
    project = writable(context, OWNER)
    return _move(context, project.row["namespace"], slug(context.form("project[path]")))


@site.post("/{namespace}/{project}/-/transfer")
def transfer(context: Context) -> Response:
    """Move the project to another namespace."""
    project = writable(context, OWNER)
    return _move(context, context.form("new_namespace"), project.row["path"])


def _move(context: Context, namespace: str, path: str) -> Response:
    project = writable(context, OWNER)
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
        "project",
        project.id,
        namespace=namespace,
        path=path,
        team_id=team["id"] if team else None,
        owner_id=owner["id"] if owner and not team else None,
    )
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
        "issue",
        "merge_request",
        "todo",
        "event",
        "star",
        "project_member",
        "snippet",
        "wiki_page",
        "label",
        "milestone",
    ):
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
        "project.html",
        project=project,
        ref=ref,
        numbers=numbers,
        starred=starred,
        source=source,
        entries=files_of(db, ref["id"], "") if ref else [],
        readme=content_of(db, ref["id"], "README.md") if ref else None,
        last=db.row(f"{COMMIT} WHERE c.id = ?", ref["commit_id"]) if ref else None,
    )
