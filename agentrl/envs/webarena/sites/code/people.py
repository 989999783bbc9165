"""Groups with their members, lists and settings; members of projects; profiles."""

from __future__ import annotations

import re
import sqlite3
from typing import Any
from urllib.parse import unquote

from agentrl.envs.webarena.sites.code.dashboard import EVENTS, STARRED, project_list, snippet_list
from agentrl.envs.webarena.sites.code.host import (
    MAINTAINER,
    OWNER,
    RESERVED,
    ROLES,
    VISIBILITIES,
    VISIBLE,
    access_level,
    members,
    paged,
    project_of,
    site,
    user_id,
    user_named,
    writable,
)
from agentrl.envs.webarena.sites.code.tickets import canonical, kind_of, listing
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import date_or_none
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound, existing

# ---------------------------------------------------------------------- groups


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
    kind = kind_of(context)
    target = canonical(context)
    if target:
        return context.redirect(target)
    level = group_level(context.db, group["id"], user_id(context))
    found = listing(context, kind, "project.team_id = ?2", group["id"])
    return context.page("group_tickets.html", group=group, group_level=level, list=found)


# ---------------------------------------------------------------------- members


def _dialog(context: Context) -> dict[str, Any]:
    """Which dialog the address asks for, about whom."""
    dialog = next((name for name in ("invite", "remove") if context.query(name)), "")
    return {"dialog": dialog, "asked": context.number(context.query("remove"))}


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
        "group_members.html", group=group, group_level=level, rows=rows, total=len(rows),
        base=f"/groups/{group['path']}/-/group_members", may_manage=level >= OWNER, own_level=level, **_dialog(context),
    )  # fmt: skip


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
                "team_member", team_id=group["id"], user_id=one["id"], access_level=level, expires_at=expires,
                created_at=context.db.now(),
            )  # fmt: skip
    return context.redirect(back, "Members were successfully added.")


@site.post("/groups/{group}/-/group_members/{member}/update", "/groups/{group}/-/group_members/{member}/delete")
def change_group_member(context: Context) -> Response:
    """Another role, or none. A group keeps at least one owner."""
    group = group_of(context, OWNER)
    row = context.record("team_member", "member", team_id=group["id"])
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


# ---------------------------------------------------------------------- members of a project


@site.get("/{namespace}/{project}/-/project_members")
def project_members(context: Context) -> Response:
    """Everybody with access. Maintainers can change it."""
    project = project_of(context)
    rows = members(context.db, project.row)
    search = context.query("search").strip().lower()
    found = [row for row in rows if search in row["name"].lower() or search in row["username"].lower()]
    return context.page(
        "members.html", project=project, rows=found, total=len(rows), search=search,
        base=f"{project.url}/-/project_members", may_manage=project.allows(MAINTAINER), own_level=project.level,
        **_dialog(context),
    )  # fmt: skip


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
    db = context.db
    for row in people.values():  # who is a member already gets the role if it is higher
        if row is not None:
            known = db.row("SELECT * FROM project_member WHERE project_id = ? AND user_id = ?", project.id, row["id"])
            if known is not None:
                if known["access_level"] != OWNER:
                    db.update("project_member", known["id"], access_level=level, expires_at=expires)
            elif access_level(db, project.row, row["id"]) < level:
                db.insert(
                    "project_member", project_id=project.id, user_id=row["id"], access_level=level, expires_at=expires,
                    created_at=db.now(),
                )  # fmt: skip
    return context.redirect(back, "Members were successfully added.")


@site.post("/{namespace}/{project}/-/project_members/{member}/update")
def change_role(context: Context) -> Response:
    """Another role, up to one's own; the owner of the namespace stays the owner."""
    project = writable(context, MAINTAINER)
    row = context.record("project_member", "member", project_id=project.id)
    level = context.number(context.form("access_level"))
    too_high = max(level, row["access_level"]) > project.level
    if level not in ROLES or too_high or row["user_id"] == project.row["owner_id"]:
        raise Forbidden
    context.db.update("project_member", row["id"], access_level=level)
    return context.redirect(f"{project.url}/-/project_members", "The role was updated.")


@site.post("/{namespace}/{project}/-/project_members/{member}/delete")
def remove_member(context: Context) -> Response:
    """Remove somebody, or leave the project oneself."""
    project = writable(context)
    row = context.record("project_member", "member", project_id=project.id)
    leaves = row["user_id"] == context.member["id"]
    may_remove = leaves or (project.allows(MAINTAINER) and row["access_level"] <= project.level)
    if row["user_id"] == project.row["owner_id"] or not may_remove:
        raise Forbidden
    context.db.delete("project_member", row["id"])
    if leaves:
        return context.redirect("/dashboard/projects", f"You left the project {project.row['name']}.")
    return context.redirect(f"{project.url}/-/project_members", "The member was removed.")


# ---------------------------------------------------------------------- profiles

TABS = ("activity", "groups", "contributed", "projects", "starred", "snippets", "followers", "following")


def _person(context: Context) -> sqlite3.Row:
    sql = "SELECT * FROM user WHERE lower(username) = lower(?)"
    return existing(context.db.row(sql, unquote(context.params["user"])))


def _show(context: Context, person: sqlite3.Row, tab: str) -> Response:
    db = context.db
    numbers = {
        "followers": db.value("SELECT count(*) FROM follow WHERE follows_id = ?", person["id"]),
        "following": db.value("SELECT count(*) FROM follow WHERE user_id = ?", person["id"]),
    }
    followed = db.value("SELECT 1 FROM follow WHERE user_id = ? AND follows_id = ?", user_id(context), person["id"])
    return context.page(
        "user.html", person=person, tab=tab, tabs=TABS, numbers=numbers, followed=followed,
        **_contents(context, person, tab),
    )  # fmt: skip


def _contents(context: Context, person: sqlite3.Row, tab: str) -> dict[str, Any]:
    """What the tab lists: `page` of projects, events, people, groups or snippets."""
    number = person["id"]
    if tab in ("projects", "overview"):
        return project_list(context, "project.owner_id = ?2", number)
    if tab == "starred":
        return project_list(context, STARRED.replace("?1", "?2"), number)
    if tab == "contributed":
        return project_list(context, "project.id IN (SELECT project_id FROM git_commit WHERE author_id = ?2)", number)
    if tab == "groups":
        sql = (
            "SELECT team.* FROM team JOIN team_member m ON m.team_id = team.id WHERE m.user_id = ?"
            " AND team.visibility != 'private' ORDER BY team.name"
        )
        return {"page": paged(context, sql, number)}
    if tab == "snippets":
        return {
            "page": snippet_list(context, "author_id", number)
            if number == user_id(context)
            else paged(context, "SELECT 1 FROM user WHERE 0")
        }
    if tab in ("followers", "following"):
        mine, theirs = ("follows_id", "user_id") if tab == "followers" else ("user_id", "follows_id")
        sql = (
            f"SELECT user.* FROM follow JOIN user ON user.id = follow.{theirs}"
            f" WHERE follow.{mine} = ? ORDER BY follow.id"
        )
        return {"page": paged(context, sql, number, size=40)}
    sql = f"{EVENTS} WHERE {VISIBLE} AND event.user_id = ?2 ORDER BY event.created_at DESC, event.id DESC"
    return {"page": paged(context, sql, user_id(context), number)}


@site.get("/users/{user}/{tab}")
def profile_tab(context: Context) -> Response:
    """One of the lists of a profile."""
    if context.params["tab"] not in TABS:
        raise NotFound
    return _show(context, _person(context), context.params["tab"])


@site.post("/users/{user}/follow", "/users/{user}/unfollow")
def follow(context: Context) -> Response:
    """Follow somebody, or no longer."""
    me, person = context.member, _person(context)
    if me["id"] == person["id"]:
        raise Forbidden
    known = context.db.value("SELECT id FROM follow WHERE user_id = ? AND follows_id = ?", me["id"], person["id"])
    wanted = context.request.path.rstrip("/").endswith("/follow")
    if wanted and known is None:
        context.db.insert("follow", user_id=me["id"], follows_id=person["id"])
    elif not wanted and known is not None:
        context.db.delete("follow", known)
    return context.redirect(f"/{person['username']}")


@site.get("/{user}")
def home(context: Context) -> Response:
    """The page of a user or of a group."""
    name = unquote(context.params["user"])
    group = context.db.row("SELECT * FROM team WHERE lower(path) = lower(?)", name)
    if group is None:
        return _show(context, _person(context), "overview")
    if not visible(context, group):
        raise NotFound
    level = group_level(context.db, group["id"], user_id(context))
    projects = project_list(context, "project.team_id = ?2", group["id"])
    return context.page("group.html", group=group, group_level=level, **projects)
