"""Members of a project: who they are, invitations, roles."""

from __future__ import annotations

import re
import sqlite3

from agentrl.envs.webarena.sites.code.host import (
    MAINTAINER,
    OWNER,
    ROLES,
    Project,
    access_level,
    members,
    project_of,
    site,
    user_named,
    writable,
)
from agentrl.envs.webarena.sites.code.text import date_or_none
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound


@site.get("/{namespace}/{project}/-/project_members")
def project_members(context: Context) -> Response:
    """Everybody with access. Maintainers can change it."""
    project = project_of(context)
    rows = members(context.db, project.row)
    search = context.query("search").strip().lower()
    found = [row for row in rows if search in row["name"].lower() or search in row["username"].lower()]
    return context.page(
        "members.html",
        project=project,
        rows=found,
        total=len(rows),
        search=search,
        base=f"{project.url}/-/project_members",
        may_manage=project.allows(MAINTAINER),
        own_level=project.level,
    )


@site.post("/{namespace}/{project}/-/project_members")
def invite(context: Context) -> Response:
    """Add users: names separated by commas, and a role that is not above one's own."""
    project = writable(context, MAINTAINER)
    back = f"{project.url}/-/project_members"
    level, expires = context.number(context.form("access_level")), date_or_none(context.form("expires_at"))
    names = [name.strip() for name in re.split(r"[,;]", context.form("user")) if name.strip()]
    people = {name: user_named(context.db, name) for name in names[:50]}
    unknown = [name for name, row in people.items() if row is None]
    if not people:
        return context.redirect(back, "error: Please specify a user.")
    if unknown:
        return context.redirect(back, f"error: There is no user {unknown[0][:100]}.")
    if level not in ROLES or level > project.level or expires is None:
        return context.redirect(back, "error: Choose a role and, if any, a valid expiration date.")
    for row in people.values():
        if row is not None:
            _set_level(context, project, row, level, expires)
    return context.redirect(back, "Members were successfully added.")


def _set_level(context: Context, project: Project, user: sqlite3.Row, level: int, expires: str) -> None:
    """Invite; who is a member already gets the role if it is higher."""
    db = context.db
    known = db.row("SELECT * FROM project_member WHERE project_id = ? AND user_id = ?", project.id, user["id"])
    if known is not None:
        if known["access_level"] != OWNER:
            db.update("project_member", known["id"], access_level=level, expires_at=expires)
    elif access_level(db, project.row, user["id"]) < level:
        db.insert(
            "project_member",
            project_id=project.id,
            user_id=user["id"],
            access_level=level,
            expires_at=expires,
            created_at=db.now(),
        )


def _member(context: Context, project: Project) -> sqlite3.Row:
    row = context.db.get("project_member", context.number(context.params["member"]))
    if row is None or row["project_id"] != project.id:
        raise NotFound
    return row


def _is_namespace_owner(project: Project, row: sqlite3.Row) -> bool:
    return row["user_id"] == project.row["owner_id"]


@site.post("/{namespace}/{project}/-/project_members/{member}/update")
def change_role(context: Context) -> Response:
    """Another role, up to one's own; the owner of the namespace stays the owner."""
    project = writable(context, MAINTAINER)
    row = _member(context, project)
    level = context.number(context.form("access_level"))
    if (
        level not in ROLES
        or level > project.level
        or row["access_level"] > project.level
        or _is_namespace_owner(project, row)
    ):
        raise Forbidden
    context.db.update("project_member", row["id"], access_level=level)
    return context.redirect(f"{project.url}/-/project_members", "The role was updated.")


@site.post("/{namespace}/{project}/-/project_members/{member}/delete")
def remove_member(context: Context) -> Response:
    """Remove somebody, or leave the project oneself."""
    project = writable(context)
    row = _member(context, project)
    leaves = row["user_id"] == context.member["id"]
    if _is_namespace_owner(project, row) or (
        not leaves and (not project.allows(MAINTAINER) or row["access_level"] > project.level)
    ):
        raise Forbidden
    context.db.delete("project_member", row["id"])
    if leaves:
        return context.redirect("/dashboard/projects", f"You left the project {project.row['name']}.")
    return context.redirect(f"{project.url}/-/project_members", "The member was removed.")
