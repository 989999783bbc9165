"""Votes on submissions and comments: a second vote of the same kind takes the first one back."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.forum.app import back, comment_address, site, submission_address
from agentrl.envs.webarena.sites.forum.listing import ranking
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound


@site.post("/sv/{id}")
def vote_submission(context: Context) -> Response:
    """Vote on a submission."""
    return _vote(context, "submission")


@site.post("/cv/{id}")
def vote_comment(context: Context) -> Response:
    """Vote on a comment."""
    return _vote(context, "comment")


def _vote(context: Context, kind: str) -> Response:
    user, row = context.member, context.db.get(kind, context.number(context.params["id"]))
    if row is None or row["is_trashed"]:
        raise NotFound
    choice = {"1": 1, "-1": -1}.get(context.form("choice"), 0)
    set_vote(context.db, kind, row, user["id"], choice)
    address = submission_address if kind == "submission" else comment_address
    return context.redirect(back(context, address(context.db, row)))


def set_vote(db: Database, kind: str, row: sqlite3.Row, user_id: int, choice: int) -> None:
    """Make this the member's vote on a submission or comment; 0 is none."""
    sql = f"SELECT * FROM {kind}_vote WHERE user_id = ? AND {kind}_id = ?"
    old = db.row(sql, user_id, row["id"])
    before = old["choice"] if old is not None else 0
    if choice == before:
        return
    if old is not None:
        db.delete(f"{kind}_vote", old["id"])
    if choice:
        db.insert(f"{kind}_vote", **{f"{kind}_id": row["id"]}, user_id=user_id, choice=choice)
    upvotes = row["upvotes"] + (choice == 1) - (before == 1)
    downvotes = row["downvotes"] + (choice == -1) - (before == -1)
    db.update(kind, row["id"], upvotes=upvotes, downvotes=downvotes)
    if kind == "submission":
        rank(db, row["id"])


def rank(db: Database, submission_id: int) -> None:
    """Find the submission's new place in the "hot" order."""
    row = db.get("submission", submission_id)
    assert row is not None
    place = ranking(row["created_at"], row["upvotes"], row["downvotes"], row["comment_count"])
    db.update("submission", submission_id, ranking=place)
