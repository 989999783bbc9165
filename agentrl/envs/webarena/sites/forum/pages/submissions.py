"""A submission's page with its comments; editing, deleting, locking and pinning it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agentrl.envs.webarena.sites.forum.app import (
    forum_of,
    is_moderator,
    may_edit,
    myself,
    site,
    submission_address,
    submission_of,
)  # fmt: skip
from agentrl.envs.webarena.sites.forum.listing import submission_row
from agentrl.envs.webarena.sites.forum.pages.forums import forum_sidebar
from agentrl.envs.webarena.sites.forum.pages.submit import submission_faults, submission_fields
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

DEEPEST = 8  # levels of replies that are moved to the right


@site.get("/f/{forum}/{id}/{slug}/comment", "/f/{forum}/{id}/{slug}", "/f/{forum}/{id}")
def submission_page(context: Context) -> Response:
    """The submission with all comments."""
    return thread(context, submission_of(context))


def thread(
    context: Context, submission: sqlite3.Row, *, comment: sqlite3.Row | None = None, draft: str = "",
    errors: Sequence[str] = (),
) -> Response:  # fmt: skip
    """The page of a submission; with `comment`, only that comment and the replies to it."""
    forum = forum_of(context)
    nodes = comment_tree(context, submission["id"], comment["id"] if comment is not None else None)
    return context.page(
        "thread.html", submission=submission_row(context, submission["id"]), forum=forum, nodes=nodes, focus=comment,
        draft=draft, errors=errors, sidebar=forum_sidebar(context, forum), may_edit=may_edit(context, submission),
        path=submission_address(context.db, submission), moderates=is_moderator(context, forum["id"]),
    )  # fmt: skip


def comment_tree(context: Context, submission_id: int, root: int | None) -> list[tuple[int, Any]]:
    """Comments as (level, comment) in the order in which they are read: answers below what they answer, best first."""
    user_id = context.user["id"] if context.user is not None else -1
    rows = context.db.rows(
        """SELECT c.*, u.username AS author, u.is_deleted AS author_deleted, coalesce(v.choice, 0) AS choice,
            EXISTS (SELECT 1 FROM block WHERE user_id = ? AND blocked_id = c.user_id) AS is_blocked
            FROM comment c JOIN user u ON u.id = c.user_id
            LEFT JOIN comment_vote v ON v.comment_id = c.id AND v.user_id = ?
            WHERE c.submission_id = ? ORDER BY c.upvotes - c.downvotes DESC, c.id DESC""",
        user_id, user_id, submission_id,
    )  # fmt: skip
    answers: dict[int | None, list[sqlite3.Row]] = {}
    for row in rows:
        answers.setdefault(row["parent_id"], []).append(row)
    start = [row for row in rows if row["id"] == root] if root is not None else answers.get(None, [])
    stack, tree = [(0, row) for row in reversed(start)], []
    while stack:
        level, row = stack.pop()
        tree.append((min(level, DEEPEST), row))
        stack += [(level + 1, answer) for answer in reversed(answers.get(row["id"], []))]
    return [(level, row) for level, row in tree if not row["is_trashed"] or row["id"] in answers]


# ---------------------------------------------------------------------- changes


@site.get("/f/{forum}/{id}/{slug}/edit")
def edit_page(context: Context) -> Response:
    """The form to change a submission."""
    submission = _own(context)
    return _edit_form(context, submission, {name: submission[name] for name in ("url", "title", "body")}, [])


@site.post("/f/{forum}/{id}/{slug}/edit")
def edit(context: Context) -> Response:
    """Change a submission."""
    submission = _own(context)
    values = submission_fields(context)
    if errors := submission_faults(values):
        return _edit_form(context, submission, values, errors)
    context.db.update("submission", submission["id"], **values, edited_at=context.db.now())
    changed = context.db.get("submission", submission["id"])
    assert changed is not None
    return context.redirect(submission_address(context.db, changed))


def _edit_form(context: Context, submission: sqlite3.Row, values: dict[str, str], errors: list[str]) -> Response:
    forum = forum_of(context)
    return context.page(
        "submission_edit.html", submission=submission, values=values, errors=errors,
        path=submission_address(context.db, submission), sidebar=forum_sidebar(context, forum),
    )  # fmt: skip


def _own(context: Context) -> sqlite3.Row:
    submission = submission_of(context)
    if context.member["id"] != submission["user_id"]:
        raise Forbidden
    return submission


@site.post("/f/{forum}/{id}/{slug}/delete")
def delete(context: Context) -> Response:
    """Move a submission to the trash."""
    submission = _editable(context)
    context.db.update("submission", submission["id"], is_trashed=1)
    return context.redirect(f"/f/{forum_of(context)['name']}", "The submission has been moved to the trash.")


@site.post("/f/{forum}/{id}/{slug}/restore")
def restore(context: Context) -> Response:
    """Take a submission out of the trash."""
    submission = _editable(context)
    context.db.update("submission", submission["id"], is_trashed=0)
    return context.redirect(submission_address(context.db, submission), "The submission has been restored.")


@site.post("/f/{forum}/{id}/{slug}/lock")
def lock(context: Context) -> Response:
    """Allow no more comments, or allow them again."""
    return _toggle(context, "is_locked")


@site.post("/f/{forum}/{id}/{slug}/pin")
def pin(context: Context) -> Response:
    """Keep the submission at the top of its forum, or no more."""
    return _toggle(context, "is_sticky")


def _toggle(context: Context, flag: str) -> Response:
    _, submission = context.member, submission_of(context)
    if not is_moderator(context, submission["forum_id"]):
        raise Forbidden
    context.db.update("submission", submission["id"], **{flag: 1 - submission[flag]})
    return context.redirect(submission_address(context.db, submission))


def _editable(context: Context) -> sqlite3.Row:
    _, submission = context.member, submission_of(context)
    if not may_edit(context, submission):
        raise Forbidden
    return submission


@site.get("/user/{user}/trash")
def my_trash_page(context: Context) -> Response:
    """The member's submissions in the trash."""
    user = myself(context)
    sql = """SELECT s.*, f.name AS forum, u.username AS author FROM submission s JOIN forum f ON f.id = s.forum_id
        JOIN user u ON u.id = s.user_id WHERE u.id = ? AND s.is_trashed ORDER BY s.created_at DESC, s.id DESC"""
    return context.page("trash.html", heading="Your trash", rows=context.db.rows(sql, user["id"]))
