"""Groups: their page, members, lists and settings."""

from __future__ import annotations

import re
import sqlite3
from urllib.parse import unquote

from agentrl.envs.webarena.sites.code.creation import RESERVED
from agentrl.envs.webarena.sites.code.dashboard import project_list
from agentrl.envs.webarena.sites.code.host import OWNER, ROLES, VISIBILITIES, site, user_id, user_named
from agentrl.envs.webarena.sites.code.listing import canonical, listing
from agentrl.envs.webarena.sites.code.text import date_or_none
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound


def group_level(db: Database, group: int, user: int) -> int:
    """The access level of a user in a group."""
    return db.value("SELECT max(access_level) FROM team_member WHERE team_id = ? AND user_id = ?", group, user) or 0


def group_of(context: Context, level: int = 0) -> sqlite3.Row:
    """The group that the address names, for somebody with that level."""
    row = context.db.row("SELECT * FROM team WHERE lower(path) = lower(?)", unquote(context.params["group"]))
    if row is None or not visible(context, row):
        raise NotFound
    if level and group_level(context.db, row["id"], context.member["id"]) < level:
        raise Forbidden
    return row


def visible(context: Context, group: sqlite3.Row) -> bool:
    """May the visitor see the group?"""
    if group["visibility"] == "public" or (group["visibility"] == "internal" and context.user is not None):
        return True
    return group_level(context.db, group["id"], user_id(context)) > 0


def show_group(context: Context, group: sqlite3.Row) -> Response:
    """The page of a group with its projects."""
    if not visible(context, group):
        raise NotFound
    level = group_level(context.db, group["id"], user_id(context))
    return context.page(
        "group.html", group=group, group_level=level, **project_list(context, "project.team_id = ?2", group["id"])
    )


@site.get("/groups/new")
def new_group(context: Context) -> Response:
    """The form for a group."""
    _ = context.member
    return context.page("group_form.html", values={}, error="")


@site.post("/groups")
def create_group(context: Context) -> Response:
    """Make a group with the visitor as its owner."""
    me = context.member
    values = {
        "name": context.form("group[name]").strip(),
        "description": context.form("group[description]").strip(),
        "path": context.form("group[path]").strip()
        or re.sub(r"[^a-z0-9_.-]+", "-", context.form("group[name]").strip().lower()).strip("-."),
        "visibility": context.form("visibility"),
    }
    error = _refusal(context.db, values)
    if error:
        return context.page("group_form.html", values=values, error=error, status=422)
    now = context.db.now()
    group = context.db.insert("team", **values, created_at=now)
    context.db.insert("team_member", team_id=group, user_id=me["id"], access_level=OWNER, created_at=now)
    return context.redirect(f"/{values['path']}", f"Group '{values['name']}' was successfully created.")


def _refusal(db: Database, values: dict[str, str]) -> str:
    path = values["path"]
    if not values["name"] or len(values["name"]) > 255:
        return "Group name must have 1 to 255 characters."
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}", path) or path.lower() in RESERVED:
        return "Group URL can contain only letters, digits, '_', '-' and '.'."
    if values["visibility"] not in VISIBILITIES:
        return "Choose a visibility level."
    if db.value(
        "SELECT 1 FROM team WHERE lower(path) = lower(?1) UNION SELECT 1 FROM user WHERE lower(username) = lower(?1)",
        path,
    ):
        return "Group URL has already been taken."
    return ""


@site.get("/groups/{group}")
def group_page(context: Context) -> Response:
    """The other address of a group."""
    return context.redirect(f"/{group_of(context)['path']}")


@site.get("/groups/{group}/-/issues", "/groups/{group}/-/merge_requests")
def group_tickets(context: Context) -> Response:
    """Issues or merge requests of all projects of a group."""
    group = group_of(context)
    kind = "issues" if "/-/issues" in context.request.path else "merge_requests"
    target = canonical(context)
    if target:
        return context.redirect(target)
    level = group_level(context.db, group["id"], user_id(context))
    found = listing(context, kind, "project.team_id = ?2", group["id"])
    return context.page("group_tickets.html", group=group, group_level=level, list=found)


# ---------------------------------------------------------------------- members


@site.get("/groups/{group}/-/group_members")
def group_members(context: Context) -> Response:
    """Who belongs to the group; owners can change it."""
    group = group_of(context)
    rows = context.db.rows(
        """SELECT user.*, m.id AS member_id, m.access_level, m.expires_at, m.created_at AS since FROM team_member m
           JOIN user ON user.id = m.user_id WHERE m.team_id = ? ORDER BY m.access_level DESC, user.name""",
        group["id"],
    )
    level = group_level(context.db, group["id"], user_id(context))
    return context.page(
        "group_members.html",
        group=group,
        group_level=level,
        rows=rows,
        total=len(rows),
        base=f"/groups/{group['path']}/-/group_members",
        may_manage=level >= OWNER,
        own_level=level,
    )


@site.post("/groups/{group}/-/group_members")
def invite_to_group(context: Context) -> Response:
    """Add somebody, or several people separated by commas."""
    group = group_of(context, OWNER)
    back = f"/groups/{group['path']}/-/group_members"
    level, expires = context.number(context.form("access_level")), date_or_none(context.form("expires_at"))
    names = [name for name in re.split(r"[,;]", context.form("user")) if name.strip()]
    people = [user_named(context.db, name) for name in names]
    if not people or any(one is None for one in people) or level not in ROLES or expires is None:
        return context.redirect(back, "error: Choose existing users, a role and a valid date.")
    for one in people:
        if one is not None and not group_level(context.db, group["id"], one["id"]):
            context.db.insert(
                "team_member",
                team_id=group["id"],
                user_id=one["id"],
                access_level=level,
                expires_at=expires,
                created_at=context.db.now(),
            )
    return context.redirect(back, "Members were successfully added.")


@site.post("/groups/{group}/-/group_members/{member}/update", "/groups/{group}/-/group_members/{member}/delete")
def change_group_member(context: Context) -> Response:
    """Another role, or none. A group keeps at least one owner."""
    group = group_of(context, OWNER)
    row = context.db.get("team_member", context.number(context.params["member"]))
    if row is None or row["team_id"] != group["id"]:
        raise NotFound
    back = f"/groups/{group['path']}/-/group_members"
    level = context.number(context.form("access_level")) if context.request.path.endswith("update") else 0
    owners = context.db.value(
        "SELECT count(*) FROM team_member WHERE team_id = ? AND access_level = ?", group["id"], OWNER
    )
    if row["access_level"] == OWNER and owners == 1 and level != OWNER:
        return context.redirect(back, "error: A group needs an owner.")
    if level in ROLES:
        context.db.update("team_member", row["id"], access_level=level)
    elif context.request.path.endswith("delete"):
        context.db.delete("team_member", row["id"])
    return context.redirect(back, "Members were updated.")


# ---------------------------------------------------------------------- settings


@site.get("/groups/{group}/-/edit")
def group_settings(context: Context) -> Response:
    """Name, description and visibility of a group."""
    group = group_of(context, OWNER)
    return context.page("group_settings.html", group=group, group_level=OWNER)


@site.post("/groups/{group}/-/edit")
def save_group(context: Context) -> Response:
    """Keep the settings of a group."""
    group = group_of(context, OWNER)
    name, visibility = context.form("group[name]").strip(), context.form("visibility", group["visibility"])
    if not name or len(name) > 255 or visibility not in VISIBILITIES:
        return context.redirect(f"/groups/{group['path']}/-/edit", "error: Group name must have 1 to 255 characters.")
    context.db.update(
        "team", group["id"], name=name, visibility=visibility, description=context.form("group[description]").strip()
    )
    return context.redirect(f"/groups/{group['path']}/-/edit", f"Group '{name}' was successfully updated.")
