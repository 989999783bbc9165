"""The list of forums, a forum's own page, the newest comments, subscriptions."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.forum.app import back, forum_of, is_moderator, site
from agentrl.envs.webarena.sites.forum.listing import (
    NEWEST_COMMENTS,
    ORDERS,
    page_number,
    paged,
    sort_and_time,
    sort_links,
    submissions,
)  # fmt: skip
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

FORUMS_PER_PAGE = 15
SUBSCRIBERS = "(SELECT count(*) FROM subscription WHERE forum_id = f.id)"
SUBMISSIONS = "(SELECT count(*) FROM submission WHERE forum_id = f.id AND NOT is_trashed)"
FORUM_ORDERS = {
    "by_name": ("Name", "f.name"),
    "by_title": ("Title", "f.title COLLATE NOCASE"),
    "by_submissions": ("Submissions", "submissions DESC, f.name"),
    "by_subscribers": ("Subscribers", "subscribers DESC, f.name"),
}


@site.get("/forums", *(f"/forums/{order}" for order in FORUM_ORDERS))
def forums_page(context: Context) -> Response:
    """All forums, in one of four orders."""
    chosen = context.request.path.rstrip("/").rpartition("/")[2]
    chosen = chosen if chosen in FORUM_ORDERS else "by_name"
    user_id = context.user["id"] if context.user is not None else -1
    sql = f"""SELECT f.*, {SUBMISSIONS} AS submissions, {SUBSCRIBERS} AS subscribers,
        EXISTS (SELECT 1 FROM subscription WHERE forum_id = f.id AND user_id = ?) AS subscribed
        FROM forum f ORDER BY {FORUM_ORDERS[chosen][1]}"""
    page = paged(context.db, sql, [user_id], page_number(context), FORUMS_PER_PAGE)
    orders = [(name, f"/forums/{key}", key == chosen) for key, (name, _) in FORUM_ORDERS.items()]
    return context.page("forums.html", page=page, orders=orders)


@site.get("/f/{forum}", *(f"/f/{{forum}}/{sort}" for sort in ORDERS))
def forum_page(context: Context) -> Response:
    """A forum's submissions."""
    forum = forum_of(context)
    sort, time = sort_and_time(context)
    page = submissions(context, "f.id = ?", [forum["id"]], sort, time, sticky=sort == "hot")
    return context.page(
        "forum.html", forum=forum, page=page, sort=sort, links=sort_links(f"/f/{forum['name']}", sort, time),
        sidebar=forum_sidebar(context, forum),
    )  # fmt: skip


@site.get("/comments")
def newest_page(context: Context) -> Response:
    """The newest comments of all forums."""
    page = paged(context.db, NEWEST_COMMENTS.format(where=""), [], page_number(context))
    return context.page("comments.html", page=page, heading="Newest comments")


@site.get("/f/{forum}/comments")
def newest_of_forum_page(context: Context) -> Response:
    """The newest comments of a forum."""
    forum = forum_of(context)
    page = paged(context.db, NEWEST_COMMENTS.format(where="AND f.id = ?"), [forum["id"]], page_number(context))
    heading = f"Newest comments in {forum['name']}"
    return context.page("comments.html", page=page, heading=heading, sidebar=forum_sidebar(context, forum))


def forum_sidebar(context: Context, forum: sqlite3.Row) -> dict[str, Any]:
    """What stands beside the pages of a forum."""
    db, user = context.db, context.user
    moderators = """SELECT u.username FROM moderator m JOIN user u ON u.id = m.user_id
        WHERE m.forum_id = ? ORDER BY m.id"""
    return {
        "forum": forum,
        "subscribers": db.value("SELECT count(*) FROM subscription WHERE forum_id = ?", forum["id"]),
        "subscribed": user is not None and _subscription(db, forum["id"], user["id"]) is not None,
        "moderators": [row["username"] for row in db.rows(moderators, forum["id"])],
        "is_moderator": is_moderator(context, forum["id"]),
        "hidden": user is not None and _hidden(db, forum["id"], user["id"]) is not None,
    }


@site.post("/f/{forum}/subscribe")
def subscribe(context: Context) -> Response:
    """Add the forum to the member's front page."""
    forum, user = forum_of(context), context.member
    if _subscription(context.db, forum["id"], user["id"]) is None:
        context.db.insert("subscription", forum_id=forum["id"], user_id=user["id"], created_at=context.db.now())
    return context.redirect(back(context, f"/f/{forum['name']}"))


@site.post("/f/{forum}/unsubscribe")
def unsubscribe(context: Context) -> Response:
    """Take the forum off the member's front page."""
    forum, user = forum_of(context), context.member
    if (row := _subscription(context.db, forum["id"], user["id"])) is not None:
        context.db.delete("subscription", row["id"])
    return context.redirect(back(context, f"/f/{forum['name']}"))


@site.post("/f/{forum}/hide")
def hide(context: Context) -> Response:
    """Hide the forum from the list of all submissions, or show it there again."""
    forum, user = forum_of(context), context.member
    row = _hidden(context.db, forum["id"], user["id"])
    if row is None:
        context.db.insert("hidden_forum", user_id=user["id"], forum_id=forum["id"])
    else:
        context.db.delete("hidden_forum", row["id"])
    return context.redirect(back(context, f"/f/{forum['name']}"))


def _subscription(db: Database, forum_id: int, user_id: int) -> sqlite3.Row | None:
    return db.row("SELECT * FROM subscription WHERE forum_id = ? AND user_id = ?", forum_id, user_id)


def _hidden(db: Database, forum_id: int, user_id: int) -> sqlite3.Row | None:
    return db.row("SELECT * FROM hidden_forum WHERE forum_id = ? AND user_id = ?", forum_id, user_id)
