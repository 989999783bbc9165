"""Making and editing forums; their moderators, bans and trash."""

from __future__ import annotations

import re
import sqlite3

from agentrl.envs.webarena.sites.forum.app import field, forum_of, is_moderator, site, too_long
from agentrl.envs.webarena.sites.forum.forums import forum_sidebar
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

FORUM_NAME = re.compile(r"\w{3,25}", re.ASCII)
FIELDS = ("title", "description", "sidebar", "tags")


@site.get("/create_forum")
def create_page(context: Context) -> Response:
    """The form for a new forum."""
    _ = context.member
    return context.page("forum_form.html", forum=None, values=dict.fromkeys(("name", *FIELDS), ""), errors=[])


@site.post("/create_forum")
def create(context: Context) -> Response:
    """Make a forum; who makes it moderates it and is subscribed to it."""
    user, values = context.member, _values(context)
    values["name"] = field(context, "forum[name]")
    errors = _faults(values)
    if not FORUM_NAME.fullmatch(values["name"]):
        errors.insert(0, "The name must have 3 to 25 letters, digits or underscores.")
    elif context.db.value("SELECT 1 FROM forum WHERE name = ?", values["name"]):
        errors.insert(0, "This name is taken.")
    if errors:
        return context.page("forum_form.html", forum=None, values=values, errors=errors)
    now = context.db.now()
    forum_id = context.db.insert("forum", **values, created_at=now)
    context.db.insert("moderator", forum_id=forum_id, user_id=user["id"], created_at=now)
    context.db.insert("subscription", forum_id=forum_id, user_id=user["id"], created_at=now)
    return context.redirect(f"/f/{values['name']}")


@site.get("/f/{forum}/edit")
def edit_page(context: Context) -> Response:
    """The form to change a forum."""
    forum = _moderated(context)
    return _edit_form(context, forum, {name: forum[name] for name in ("name", *FIELDS)}, [])


@site.post("/f/{forum}/edit")
def edit(context: Context) -> Response:
    """Change a forum."""
    forum, values = _moderated(context), _values(context)
    if errors := _faults(values):
        return _edit_form(context, forum, {"name": forum["name"], **values}, errors)
    context.db.update("forum", forum["id"], **values)
    return context.redirect(f"/f/{forum['name']}/edit", "The forum has been changed.")


def _edit_form(context: Context, forum: sqlite3.Row, values: dict[str, str], errors: list[str]) -> Response:
    sidebar = forum_sidebar(context, forum)
    return context.page("forum_form.html", forum=forum, values=values, errors=errors, sidebar=sidebar)


def _values(context: Context) -> dict[str, str]:
    return {name: field(context, f"forum[{name}]") for name in FIELDS}


def _faults(values: dict[str, str]) -> list[str]:
    missing = [f"The {name} must not be blank." for name in ("title", "description", "sidebar") if not values[name]]
    return missing + too_long(
        {
            "The title": (values["title"], 100), "The description": (values["description"], 300),
            "The sidebar": (values["sidebar"], 1500), "The tags": (values["tags"], 200),
        }
    )  # fmt: skip


def _moderated(context: Context) -> sqlite3.Row:
    _ = context.member
    forum = forum_of(context)
    if not is_moderator(context, forum["id"]):
        raise Forbidden
    return forum


# ---------------------------------------------------------------------- moderators


@site.get("/f/{forum}/moderators")
def moderators_page(context: Context) -> Response:
    """Who moderates the forum, and since when."""
    return _moderators(context, [])


@site.post("/f/{forum}/moderators")
def add_moderator(context: Context) -> Response:
    """Make a member a moderator."""
    forum, user = _moderated(context), _named(context)
    if user is None:
        return _moderators(context, ["There is no member of this name."])
    if context.db.value("SELECT 1 FROM moderator WHERE forum_id = ? AND user_id = ?", forum["id"], user["id"]):
        return _moderators(context, ["This member is a moderator already."])
    context.db.insert("moderator", forum_id=forum["id"], user_id=user["id"], created_at=context.db.now())
    return context.redirect(f"/f/{forum['name']}/moderators", f"{user['username']} is a moderator now.")


def _moderators(context: Context, errors: list[str]) -> Response:
    forum = forum_of(context)
    sql = (
        """SELECT m.*, u.username FROM moderator m JOIN user u ON u.id = m.user_id WHERE m.forum_id = ? ORDER BY m.id"""
    )
    rows = context.db.rows(sql, forum["id"])
    return context.page("moderators.html", forum=forum, rows=rows, errors=errors, sidebar=forum_sidebar(context, forum))


def _named(context: Context) -> sqlite3.Row | None:
    sql = "SELECT * FROM user WHERE username = ? AND NOT is_deleted"
    return context.db.row(sql, field(context, "username"))


@site.post("/f/{forum}/moderators/{row}/remove", "/f/{forum}/bans/{row}/remove")
def remove(context: Context) -> Response:
    """Take a moderator's rights away, or let a banned member write again."""
    page = context.request.path.split("/")[3]
    table = page.removesuffix("s")
    forum = _moderated(context)
    context.db.delete(table, context.record(table, "row", forum_id=forum["id"])["id"])
    return context.redirect(f"/f/{forum['name']}/{page}", "Removed.")


# ---------------------------------------------------------------------- bans


@site.get("/f/{forum}/bans")
def bans_page(context: Context) -> Response:
    """Who may not write in the forum, and why."""
    return _bans(context, [])


@site.post("/f/{forum}/bans")
def ban(context: Context) -> Response:
    """Keep a member from writing in the forum."""
    forum, user, reason = _moderated(context), _named(context), field(context, "reason")
    errors = too_long({"The reason": (reason, 300)})
    if user is None:
        errors.append("There is no member of this name.")
    if not reason:
        errors.append("A reason must be given.")
    if errors or user is None:
        return _bans(context, errors)
    context.db.insert(
        "ban", forum_id=forum["id"], user_id=user["id"], banned_by=context.member["id"], reason=reason,
        created_at=context.db.now(),
    )  # fmt: skip
    return context.redirect(f"/f/{forum['name']}/bans", f"{user['username']} is banned now.")


def _bans(context: Context, errors: list[str]) -> Response:
    forum = forum_of(context)
    sql = """SELECT b.*, u.username, m.username AS banner FROM ban b JOIN user u ON u.id = b.user_id
        JOIN user m ON m.id = b.banned_by WHERE b.forum_id = ? ORDER BY b.created_at DESC, b.id DESC"""
    return context.page(
        "bans.html", forum=forum, rows=context.db.rows(sql, forum["id"]), errors=errors,
        sidebar=forum_sidebar(context, forum),
    )  # fmt: skip


# ---------------------------------------------------------------------- trash


@site.get("/f/{forum}/trash")
def trash_page(context: Context) -> Response:
    """What was deleted in the forum."""
    forum = _moderated(context)
    sql = """SELECT s.*, f.name AS forum, u.username AS author FROM submission s JOIN forum f ON f.id = s.forum_id
        JOIN user u ON u.id = s.user_id WHERE f.id = ? AND s.is_trashed ORDER BY s.created_at DESC"""
    rows = context.db.rows(sql, forum["id"])
    return context.page(
        "trash.html", heading=f"Trash of {forum['name']}", rows=rows, sidebar=forum_sidebar(context, forum)
    )
