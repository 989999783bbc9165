"""What members show of themselves: their submissions, comments and biography."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentrl.envs.webarena.sites.forum.app import site, user_of
from agentrl.envs.webarena.sites.forum.listing import (
    NEWEST_COMMENTS,
    page_number,
    paged,
    submission_row,
    submissions,
)  # fmt: skip
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context


@site.get("/user/{user}")
def overview_page(context: Context) -> Response:
    """The member's newest submissions and comments together."""
    user = user_of(context)
    sql = """SELECT 'submission' AS kind, id, created_at FROM submission WHERE user_id = ? AND NOT is_trashed
        UNION ALL SELECT 'comment', c.id, c.created_at FROM comment c JOIN submission s ON s.id = c.submission_id
        WHERE c.user_id = ? AND NOT c.is_trashed AND NOT s.is_trashed ORDER BY 3 DESC, 2 DESC"""
    page = paged(context.db, sql, [user["id"], user["id"]], page_number(context))
    return context.page("user.html", owner=user, tab="overview", page=page, entries=_entries(context, page.rows))


@site.get("/user/{user}/submissions")
def submissions_page(context: Context) -> Response:
    """The member's submissions, newest first."""
    user = user_of(context)
    page = submissions(context, "s.user_id = ?", [user["id"]], "new")
    return context.page("user.html", owner=user, tab="submissions", page=page, entries=[])


@site.get("/user/{user}/comments")
def comments_page(context: Context) -> Response:
    """The member's comments, newest first."""
    user = user_of(context)
    page = paged(context.db, NEWEST_COMMENTS.format(where="AND c.user_id = ?"), [user["id"]], page_number(context))
    return context.page("user.html", owner=user, tab="comments", page=page, entries=[])


def _entries(context: Context, rows: Sequence[Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for row in rows:
        if row["kind"] == "submission":
            found.append(("submission", submission_row(context, row["id"])))
        else:
            found.append(("comment", context.db.row(NEWEST_COMMENTS.format(where="AND c.id = ?"), row["id"])))
    return found
