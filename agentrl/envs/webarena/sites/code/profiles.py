"""Pages about people: profile, their projects, groups, stars, followers."""

from __future__ import annotations

import sqlite3
from typing import Any
from urllib.parse import unquote

from agentrl.envs.webarena.sites.code.dashboard import EVENTS, STARRED, own_snippets, project_list
from agentrl.envs.webarena.sites.code.groups import show_group
from agentrl.envs.webarena.sites.code.host import VISIBLE, paged, site, user_id
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound

TABS = ("activity", "groups", "contributed", "projects", "starred", "snippets", "followers", "following")


def _person(context: Context) -> sqlite3.Row:
    row = context.db.row("SELECT * FROM user WHERE lower(username) = lower(?)", unquote(context.params["user"]))
    if row is None:
        raise NotFound
    return row


def _show(context: Context, person: sqlite3.Row, tab: str) -> Response:
    db = context.db
    numbers = {
        "followers": db.value("SELECT count(*) FROM follow WHERE follows_id = ?", person["id"]),
        "following": db.value("SELECT count(*) FROM follow WHERE user_id = ?", person["id"]),
    }
    followed = db.value("SELECT 1 FROM follow WHERE user_id = ? AND follows_id = ?", user_id(context), person["id"])
    return context.page(
        "user.html",
        person=person,
        tab=tab,
        tabs=TABS,
        numbers=numbers,
        followed=followed,
        **_contents(context, person, tab),
    )


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
            "page": own_snippets(context, number)
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
    return show_group(context, group) if group is not None else _show(context, _person(context), "overview")
