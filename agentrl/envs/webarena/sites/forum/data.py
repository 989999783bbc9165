"""The forum's base data: the same in every process, from constants alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from importlib.resources import files
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.discussions import FIRST_COMMENT, FIRST_SUBMISSION, Discussions
from agentrl.envs.webarena.sites.forum.membership import bans, forums, moderators, subscriptions, votes
from agentrl.envs.webarena.sites.forum.people import ADMIN, AGENT, People
from agentrl.envs.webarena.sites.forum.postbox import messages, notifications
from agentrl.envs.webarena.sites.forum.wiki_texts import wiki
from agentrl.envs.webarena.sites.site import session_token

VERSION = 6
SEED = 20250616

__all__ = ["FIRST_COMMENT", "FIRST_SUBMISSION", "VERSION", "build"]


def build(connection: sqlite3.Connection) -> None:
    """Make the tables and fill them."""
    connection.executescript(files(__package__ or "").joinpath("schema.sql").read_text("utf-8"))
    people = People(Random(f"{SEED} people"))
    _insert(connection, "user", _users(people))
    _insert(connection, "forum", forums(Random(f"{SEED} forums")))
    discussions = Discussions(Random(f"{SEED} discussions"), contents(), people)
    _insert(connection, "submission", discussions.submission_rows())
    _insert(connection, "comment", discussions.comment_rows())
    leaders = moderators(Random(f"{SEED} moderators"), people)
    _insert(connection, "moderator", leaders)
    _insert(connection, "subscription", subscriptions(Random(f"{SEED} subscriptions"), people, leaders))
    _insert(connection, "ban", bans(Random(f"{SEED} bans"), people, discussions, leaders))
    cast = votes(Random(f"{SEED} votes"), people, discussions)
    for table in ("submission_vote", "comment_vote"):
        _insert(connection, table, cast[table])
    for table, rows in {
        **messages(Random(f"{SEED} messages"), people),
        "notification": notifications(people, discussions),
        **wiki(Random(f"{SEED} wiki"), people, leaders),
    }.items():
        _insert(connection, table, rows)
    token = session_token("reddit", AGENT)
    _insert(connection, "session", [{"site": "reddit", "token": token, "user_id": people.agent.id, "message": ""}])


def _users(people: People) -> Iterable[dict[str, Any]]:
    for member in people.members:
        yield {
            "id": member.id, "username": member.username,
            "password": "test1234" if member.username == AGENT else f"{member.username}-{member.id * 7919 % 100_003}",
            "email": f"{member.username.lower()}@mail.example", "biography": member.biography,
            "is_admin": int(member.username == ADMIN), "created_at": member.joined.isoformat(" "),
        }  # fmt: skip


def _insert(
    connection: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]] | Sequence[dict[str, Any]]
) -> None:
    rows = list(rows)
    if rows:
        names = list(rows[0])
        sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)})"
        connection.executemany(sql, rows)
