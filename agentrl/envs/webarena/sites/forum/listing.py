"""Lists of submissions: in which order, from which time, which page of them, with the names and votes shown there."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.site import Context

PER_PAGE = 20
ORDERS = {
    "hot": "s.ranking DESC", "new": "s.created_at DESC", "active": "s.last_active DESC",
    "top": "s.upvotes - s.downvotes DESC",
    "controversial": "min(s.upvotes, s.downvotes) DESC, s.upvotes + s.downvotes DESC",
    "most_commented": "s.comment_count DESC",
}  # fmt: skip
SORT_NAMES = {
    "hot": "Hot", "new": "New", "active": "Active", "top": "Top", "controversial": "Controversial",
    "most_commented": "Most commented",
}  # fmt: skip
TIMED = ("top", "controversial", "most_commented")  # orders that look at a span of time
TIMES = {"day": 1, "week": 7, "month": 31, "year": 366, "all": None}
TIME_NAMES = {
    "day": "Past 24 hours", "week": "Past week", "month": "Past month", "year": "Past year", "all": "All time",
}  # fmt: skip
COLUMNS = """s.*, f.name AS forum, u.username AS author, u.is_deleted AS author_deleted,
    coalesce(v.choice, 0) AS choice"""
TABLES = """submission s JOIN forum f ON f.id = s.forum_id JOIN user u ON u.id = s.user_id
    LEFT JOIN submission_vote v ON v.submission_id = s.id AND v.user_id = ?"""
NEWEST_COMMENTS = """SELECT c.*, u.username AS author, s.title, f.name AS forum
    FROM comment c JOIN user u ON u.id = c.user_id
    JOIN submission s ON s.id = c.submission_id JOIN forum f ON f.id = s.forum_id
    WHERE NOT c.is_trashed AND NOT s.is_trashed {where} ORDER BY c.created_at DESC, c.id DESC"""


@dataclass(frozen=True)
class Page:
    """One page of a list."""

    rows: Sequence[Any]
    number: int
    has_next: bool


def ranking(created_at: str, upvotes: int, downvotes: int, comments: int) -> int:
    """The place in the "hot" order: newer is better, votes and comments count as much as some hours."""
    bonus = 1800 * (upvotes - downvotes) + 1200 * comments
    seconds = datetime.fromisoformat(created_at) - datetime(2020, 1, 1)
    return int(seconds.total_seconds()) + max(min(bonus, 129600), -43200)


def page_number(context: Context) -> int:
    """Which page is asked for, from 1."""
    return max(context.number(context.query("page"), 1, most=100_000), 1)


def paged(db: Database, sql: str, values: Sequence[Any], number: int, per_page: int = PER_PAGE) -> Page:
    """One page of the rows of a query."""
    rows = db.rows(f"{sql} LIMIT ? OFFSET ?", *values, per_page + 1, (number - 1) * per_page)
    return Page(rows[:per_page], number, len(rows) > per_page)


def submissions(
    context: Context, where: str, values: Sequence[Any], sort: str, time: str = "all", sticky: bool = False
) -> Page:
    """A page of submissions. Those of members whom the visitor blocks, and what is in the trash, are left out."""
    user_id = context.user["id"] if context.user is not None else -1
    blocked = "SELECT blocked_id FROM block WHERE user_id = ?"
    where = f"NOT s.is_trashed AND s.user_id NOT IN ({blocked}) AND {where}"
    days = TIMES[time] if sort in TIMED else None
    if days is not None:
        since = (datetime.fromisoformat(context.db.now()) - timedelta(days=days)).isoformat(" ")
        where, values = f"{where} AND s.created_at >= ?", [*values, since]
    order = ("s.is_sticky DESC, " if sticky else "") + ORDERS[sort] + ", s.id DESC"
    # Which ones is decided on an index that holds all it needs; only these few are then read with their texts.
    sql = f"""SELECT {COLUMNS} FROM {TABLES} WHERE s.id IN
        (SELECT s.id FROM submission s JOIN forum f ON f.id = s.forum_id WHERE {where}
        ORDER BY {order} LIMIT ? OFFSET ?) ORDER BY {order}"""
    number = page_number(context)
    found = context.db.rows(sql, user_id, user_id, *values, PER_PAGE + 1, (number - 1) * PER_PAGE)
    return Page(found[:PER_PAGE], number, len(found) > PER_PAGE)


def submission_row(context: Context, submission_id: int) -> sqlite3.Row | None:
    """A submission with the names and the visitor's vote, as lists have it."""
    user_id = context.user["id"] if context.user is not None else -1
    return context.db.row(f"SELECT {COLUMNS} FROM {TABLES} WHERE s.id = ?", user_id, submission_id)


def sort_and_time(context: Context, default: str = "hot") -> tuple[str, str]:
    """The order (the last part of the path) and the span of time that the address asks for."""
    sort = context.request.path.rstrip("/").rpartition("/")[2]
    time = context.query("t", "day")
    return sort if sort in ORDERS else default, time if time in TIMES else "day"


def sort_links(path: str, sort: str, time: str) -> dict[str, list[tuple[str, str, bool]]]:
    """The links above a list, as (text, address, is it chosen): orders, and spans of time where the order has one."""
    orders = [(name, f"{path}/{key}", key == sort) for key, name in SORT_NAMES.items()]
    times = [(name, f"{path}/{sort}?t={key}", key == time) for key, name in TIME_NAMES.items()]
    return {"orders": orders, "times": times if sort in TIMED else []}
