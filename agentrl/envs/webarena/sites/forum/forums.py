"""Lists: the front page, search, all forums, one forum's page, the newest comments; subscriptions."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import pattern
from agentrl.envs.webarena.sites.forum import text
from agentrl.envs.webarena.sites.forum.app import back, forum_of, is_moderator, site
from agentrl.envs.webarena.sites.forum.listing import (
    COLUMNS,
    NEWEST_COMMENTS,
    ORDERS,
    TABLES,
    Page,
    page_number,
    paged,
    sort_and_time,
    sort_links,
    submissions,
)
from agentrl.envs.webarena.sites.forum.pictures import picture
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, LoginNeeded, existing

# ---------------------------------------------------------------------- front page

LISTINGS = {"featured": "Featured", "subscribed": "Subscribed", "moderated": "Moderated", "all": "All"}
WHERE = {
    "featured": "f.is_featured",
    "subscribed": "f.id IN (SELECT forum_id FROM subscription WHERE user_id = ?)",
    "moderated": "f.id IN (SELECT forum_id FROM moderator WHERE user_id = ?)",
    "all": "f.id NOT IN (SELECT forum_id FROM hidden_forum WHERE user_id = ?)",
}


@site.get("/", *(f"/{sort}" for sort in ORDERS))
def front_page(context: Context) -> Response:
    """The list that the member prefers."""
    user = context.user
    preferred = user["front_page"] if user is not None else "default"
    if preferred == "default":
        mine = "SELECT 1 FROM subscription WHERE user_id = ?"
        preferred = "subscribed" if user is not None and context.db.value(mine, user["id"]) else "featured"
    return _listing(context, preferred, "", user["front_page_sort"] if user is not None else "hot")


@site.get(*(f"/{listing}" for listing in LISTINGS), *(f"/{name}/{sort}" for name in LISTINGS for sort in ORDERS))
def listing_page(context: Context) -> Response:
    """One of the lists, in the order that the address asks for."""
    listing = context.request.path.split("/")[1]
    return _listing(context, listing, f"/{listing}", "hot")


def _listing(context: Context, listing: str, path: str, default_sort: str) -> Response:
    if context.user is None and listing in ("subscribed", "moderated"):
        raise LoginNeeded
    sort, time = sort_and_time(context, default_sort)
    values = [] if listing == "featured" else [context.user["id"] if context.user is not None else -1]
    page = submissions(context, WHERE[listing], values, sort, time)
    return context.page(
        "front.html", listing=listing, listings=LISTINGS, page=page, sidebar=front_sidebar(context),
        links=sort_links(path, sort, time),
    )  # fmt: skip


def front_sidebar(context: Context) -> dict[str, Any]:
    """What stands beside the front page: the member's forums, else featured ones; the newest comments."""
    db, user = context.db, context.user
    mine = "SELECT f.* FROM forum f JOIN subscription s ON s.forum_id = f.id WHERE s.user_id = ? ORDER BY f.name"
    featured = "SELECT * FROM forum WHERE is_featured ORDER BY name"
    subscribed = db.rows(mine, user["id"]) if user is not None else []
    return {
        "forum": None,
        "title": "Subscribed forums" if user is not None else "Featured forums",
        "forums": subscribed if user is not None else db.rows(featured),
        "moderates": [row for row in subscribed if is_moderator(context, row["id"])],
    }


@site.get("/submission_images/{name}")
def image(context: Context) -> Response:
    """A picture of a submission."""
    drawing = existing(picture(context.params["name"]))
    return Response(drawing, content_type="image/svg+xml", lasting=True)


# ---------------------------------------------------------------------- search

MAX_WORDS = 8
MAX_WORD = 80
LIKE = r"LIKE ? ESCAPE '\'"


@site.get("/search")
def search_page(context: Context) -> Response:
    """Everything that contains all words of the query: submissions first, on the second tab comments."""
    query = text.clean(context.query("q"))
    words = [pattern(word[:MAX_WORD]) for word in query.split()[:MAX_WORDS]]
    kind = "comments" if context.query("type") == "comments" else "submissions"
    if not words:
        return context.page("search.html", query=query, kind=kind, page=Page([], 1, False))
    if kind == "comments":
        where = " AND ".join([f"c.body {LIKE}"] * len(words))
        sql = f"""SELECT c.*, u.username AS author, s.title FROM comment c JOIN user u ON u.id = c.user_id
            JOIN submission s ON s.id = c.submission_id WHERE NOT c.is_trashed AND NOT s.is_trashed AND {where}
            ORDER BY c.upvotes - c.downvotes DESC, c.id DESC"""
        page = paged(context.db, sql, words, page_number(context))
    else:
        user_id = context.user["id"] if context.user is not None else -1
        where = " AND ".join([f"s.title || ' ' || s.body {LIKE}"] * len(words))
        in_title = " + ".join([f"(s.title {LIKE})"] * len(words))
        sql = f"""SELECT {COLUMNS} FROM {TABLES} WHERE NOT s.is_trashed AND {where}
            ORDER BY {in_title} DESC, s.upvotes - s.downvotes DESC, s.id DESC"""
        page = paged(context.db, sql, [user_id, *words, *words], page_number(context))
    return context.page("search.html", query=query, kind=kind, page=page)


# ---------------------------------------------------------------------- forums

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
        "forum.html", forum=forum, page=page, links=sort_links(f"/f/{forum['name']}", sort, time),
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


@site.post("/f/{forum}/subscribe", "/f/{forum}/unsubscribe")
def subscribe(context: Context) -> Response:
    """Add the forum to the member's front page, or take it off."""
    forum, user = forum_of(context), context.member
    wanted = context.request.path.rstrip("/").endswith("/subscribe")
    row = _subscription(context.db, forum["id"], user["id"])
    if wanted and row is None:
        context.db.insert("subscription", forum_id=forum["id"], user_id=user["id"], created_at=context.db.now())
    elif not wanted and row is not None:
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
