"""Comments: writing, answering, editing and deleting them."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.forum.app import (
    comment_address,
    comment_of,
    field,
    forum_of,
    is_banned,
    is_moderator,
    site,
    submission_address,
    submission_of,
    too_long,
)  # fmt: skip
from agentrl.envs.webarena.sites.forum.pages.forums import forum_sidebar
from agentrl.envs.webarena.sites.forum.pages.submissions import thread
from agentrl.envs.webarena.sites.forum.pages.votes import rank, set_vote
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

MAX_LENGTH = 10_000


@site.get("/f/{forum}/{id}/{slug}/comment/{comment}")
def comment_page(context: Context) -> Response:
    """A comment with the replies to it, and the form to answer it."""
    return thread(context, submission_of(context), comment=comment_of(context))


@site.post("/f/{forum}/{id}/{slug}/comment")
def post_comment(context: Context) -> Response:
    """Answer the submission."""
    return _post(context, submission_of(context), None)


@site.post("/f/{forum}/{id}/{slug}/comment/{comment}")
def post_reply(context: Context) -> Response:
    """Answer a comment."""
    return _post(context, submission_of(context), comment_of(context))


def _post(context: Context, submission: sqlite3.Row, parent: sqlite3.Row | None) -> Response:
    kind, number = ("comment", parent["id"]) if parent is not None else ("submission", submission["id"])
    body = field(context, f"reply_to_{kind}_{number}[comment]")
    if errors := _faults(context, submission, body):
        return thread(context, submission, comment=parent, draft=body, errors=errors)
    row = _insert(context, submission, parent, body)
    _notify(context, parent if parent is not None else submission, row)
    return context.redirect(comment_address(context.db, row))


def _faults(context: Context, submission: sqlite3.Row, body: str) -> list[str]:
    errors = too_long({"The comment": (body, MAX_LENGTH)}) if body else ["The comment must not be blank."]
    if is_banned(context, submission["forum_id"]):
        errors.append("You are banned from this forum.")
    if submission["is_locked"] and not is_moderator(context, submission["forum_id"]):
        errors.append("This submission is locked: it takes no more comments.")
    return errors


def _insert(context: Context, submission: sqlite3.Row, parent: sqlite3.Row | None, body: str) -> sqlite3.Row:
    db, user, now = context.db, context.member, context.db.now()
    row_id = db.insert(
        "comment", submission_id=submission["id"], parent_id=parent["id"] if parent is not None else None,
        user_id=user["id"], body=body, created_at=now, upvotes=0, downvotes=0,
    )  # fmt: skip
    row = db.get("comment", row_id)
    assert row is not None
    set_vote(db, "comment", row, user["id"], 1)
    db.update("submission", submission["id"], comment_count=submission["comment_count"] + 1, last_active=now)
    rank(db, submission["id"])
    return row


def _notify(context: Context, answered: sqlite3.Row, comment: sqlite3.Row) -> None:
    author = context.db.get("user", answered["user_id"])
    if author is not None and author["id"] != comment["user_id"] and author["notify_replies"]:
        context.db.insert(
            "notification", user_id=author["id"], comment_id=comment["id"], created_at=comment["created_at"]
        )


# ---------------------------------------------------------------------- changes


@site.get("/f/{forum}/{id}/{slug}/comment/{comment}/edit")
def edit_page(context: Context) -> Response:
    """The form to change a comment."""
    comment = _own(context)
    return _edit_form(context, comment, comment["body"], [])


@site.post("/f/{forum}/{id}/{slug}/comment/{comment}/edit")
def edit(context: Context) -> Response:
    """Change a comment."""
    comment, body = _own(context), field(context, "comment[comment]")
    if not body or len(body) > MAX_LENGTH:
        return _edit_form(context, comment, body, [f"The comment must have 1 to {MAX_LENGTH} characters."])
    context.db.update("comment", comment["id"], body=body, edited_at=context.db.now())
    return context.redirect(comment_address(context.db, comment))


def _own(context: Context) -> sqlite3.Row:
    comment = comment_of(context)
    if context.member["id"] != comment["user_id"] or comment["is_trashed"]:
        raise Forbidden
    return comment


def _edit_form(context: Context, comment: sqlite3.Row, body: str, errors: list[str]) -> Response:
    forum, path = forum_of(context), comment_address(context.db, comment)
    return context.page(
        "comment_edit.html", comment=comment, body=body, errors=errors, path=path, sidebar=forum_sidebar(context, forum)
    )


@site.post("/f/{forum}/{id}/{slug}/comment/{comment}/delete")
def delete(context: Context) -> Response:
    """Delete a comment; answers to it stay."""
    submission, comment = submission_of(context), comment_of(context)
    if context.member["id"] != comment["user_id"] and not is_moderator(context, submission["forum_id"]):
        raise Forbidden
    if not comment["is_trashed"]:
        context.db.update("comment", comment["id"], is_trashed=1)
        context.db.update("submission", submission["id"], comment_count=submission["comment_count"] - 1)
        rank(context.db, submission["id"])
    return context.redirect(submission_address(context.db, submission), "The comment has been deleted.")
