"""The forum's `site`, and what several of its pages need: finding records by their address, rights, form fields."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import ago, day
from agentrl.envs.webarena.sites.forum import text
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound, Site, existing


class Forum(Site):
    """The site itself: what all of its pages show."""

    def shared(self, context: Context) -> Mapping[str, Any]:
        """Functions for the templates, and the counts in the head of the page."""
        user, now = context.user, context.db.now()
        unread = user and context.db.value("SELECT count(*) FROM notification WHERE user_id = ?", user["id"])
        return {
            "rich": text.rich, "count": text.count, "host": text.host,
            "ago": lambda moment: ago(moment, now, least=120),
            "day": lambda moment: day(moment, "%B"), "exact": lambda moment: f"{day(moment, '%B')} at {moment[11:16]}",
            "address": submission_address, "comment_address": comment_address,
            "unread": unread or 0, "here": here(context), "sidebar": None,
        }  # fmt: skip


site = Forum("reddit", "forum", "forum_session", login_path="/login")

# ---------------------------------------------------------------------- records


def forum_of(context: Context) -> sqlite3.Row:
    """The forum that the address names."""
    return existing(context.db.row("SELECT * FROM forum WHERE name = ?", unquote(context.params["forum"])))


def user_of(context: Context) -> sqlite3.Row:
    """The member that the address names."""
    sql = "SELECT * FROM user WHERE username = ? AND NOT is_deleted"
    return existing(context.db.row(sql, unquote(context.params["user"])))


def myself(context: Context) -> sqlite3.Row:
    """The member that the address names, who must be the one who asks."""
    if context.member["id"] != user_of(context)["id"]:
        raise Forbidden
    return context.member


def submission_of(context: Context) -> sqlite3.Row:
    """The submission that the address names, in the forum that it names."""
    submission = context.record("submission", forum_id=forum_of(context)["id"])
    if submission["is_trashed"] and not may_edit(context, submission):
        raise NotFound
    return submission


def comment_of(context: Context) -> sqlite3.Row:
    """The comment that the address names, on the submission that it names."""
    return context.record("comment", "comment", submission_id=submission_of(context)["id"])


def submission_address(db: Database, submission: sqlite3.Row) -> str:
    """The address of a submission's page: /f/books/12/title-of-it."""
    forum = db.value("SELECT name FROM forum WHERE id = ?", submission["forum_id"])
    return f"/f/{forum}/{submission['id']}/{text.slug(submission['title'])}"


def comment_address(db: Database, comment: sqlite3.Row) -> str:
    """The address of a comment with all replies to it."""
    submission = db.get("submission", comment["submission_id"])
    assert submission is not None
    return f"{submission_address(db, submission)}/comment/{comment['id']}"


# ---------------------------------------------------------------------- rights


def is_moderator(context: Context, forum_id: int) -> bool:
    """May the visitor change this forum?"""
    user = context.user
    if user is None:
        return False
    found = context.db.value("SELECT 1 FROM moderator WHERE forum_id = ? AND user_id = ?", forum_id, user["id"])
    return bool(found or user["is_admin"])


def may_edit(context: Context, submission: sqlite3.Row) -> bool:
    """Is the visitor the author, or a moderator of the forum?"""
    user = context.user
    return user is not None and (submission["user_id"] == user["id"] or is_moderator(context, submission["forum_id"]))


def is_banned(context: Context, forum_id: int) -> bool:
    """Is the member kept from writing in this forum?"""
    sql = "SELECT 1 FROM ban WHERE forum_id = ? AND user_id = ?"
    return bool(context.db.value(sql, forum_id, context.member["id"]))


# ---------------------------------------------------------------------- forms


def field(context: Context, name: str) -> str:
    """A field of the posted form, without what no page can show."""
    return text.clean(context.form(name))


def too_long(limits: Mapping[str, tuple[str, int]]) -> list[str]:
    """A sentence for every text that is longer than its limit: label -> (text, limit)."""
    return [
        f"{label} must be at most {most} characters long; got {len(value)}."
        for label, (value, most) in limits.items()
        if len(value) > most
    ]


def here(context: Context) -> str:
    """The path and query of this page, for a form to come back to; never too long for an address."""
    address = context.request.url.removeprefix(context.request.origin) or "/"
    return address if len(address) <= 1000 else context.request.path[:1000]


def back(context: Context, default: str = "/") -> str:
    """Where a posted form wants to return to: a page of this site, nothing else."""
    target = field(context, "next")
    return target if re.fullmatch(r"/(?![/\\])[!-~]*", target) else default
