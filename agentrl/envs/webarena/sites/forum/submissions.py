"""Submissions and comments: writing, reading, voting on, editing and deleting them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.forum import text
from agentrl.envs.webarena.sites.forum.app import (
    back,
    comment_address,
    comment_of,
    field,
    forum_of,
    is_banned,
    is_moderator,
    may_edit,
    myself,
    site,
    submission_address,
    submission_of,
    too_long,
)
from agentrl.envs.webarena.sites.forum.forums import forum_sidebar
from agentrl.envs.webarena.sites.forum.listing import ranking, submission_row
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

# ---------------------------------------------------------------------- votes


@site.post("/sv/{id}", "/cv/{id}")
def vote(context: Context) -> Response:
    """Vote on a submission or a comment."""
    kind = "submission" if context.request.path.startswith("/sv/") else "comment"
    user, row = context.member, context.record(kind, is_trashed=0)
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


# ---------------------------------------------------------------------- new submissions

FIELDS = ("url", "title", "body", "forum")


@site.get("/submit", "/submit/{forum}")
def submit_page(context: Context) -> Response:
    """The form for a submission to any forum, or to the one of the address."""
    forum = forum_of(context)["name"] if "forum" in context.params else ""
    return _submit_form(context, {**dict.fromkeys(FIELDS, ""), "forum": forum}, [])


@site.post("/submit", "/submit/{forum}")
def submit(context: Context) -> Response:
    """Post the submission; its author's first vote comes with it."""
    user, values = context.member, {**submission_fields(context), "forum": field(context, "submission[forum]")}
    forum = context.db.row("SELECT * FROM forum WHERE name = ?", values["forum"])
    errors = submission_faults(values)
    if forum is None:
        errors.append("A forum must be chosen.")
    elif is_banned(context, forum["id"]):
        errors.append(f"You are banned from {forum['name']}.")
    if errors or forum is None:
        return _submit_form(context, values, errors)
    now = context.db.now()
    row_id = context.db.insert(
        "submission", forum_id=forum["id"], user_id=user["id"], title=values["title"], url=values["url"],
        body=values["body"], created_at=now, last_active=now, upvotes=0, downvotes=0, ranking=0,
    )  # fmt: skip
    row = context.db.get("submission", row_id)
    assert row is not None
    set_vote(context.db, "submission", row, user["id"], 1)
    return context.redirect(submission_address(context.db, row))


def submission_fields(context: Context) -> dict[str, str]:
    """The texts of a submission as they were posted; a title is one line."""
    values = {name: field(context, f"submission[{name}]") for name in ("url", "title", "body")}
    return {**values, "title": re.sub(r"\s+", " ", values["title"])}


def submission_faults(values: dict[str, str]) -> list[str]:
    """What is wrong with the texts of a submission."""
    errors = [] if values["title"] else ["The title must not be blank."]
    if values["url"] and not text.is_web_address(values["url"]):
        errors.append("The URL must be an address that begins with http:// or https://.")
    limits = {"title": 300, "url": 2000, "body": 25_000}
    return errors + too_long({f"The {name}": (values[name], most) for name, most in limits.items()})


def _submit_form(context: Context, values: dict[str, str], errors: list[str]) -> Response:
    _ = context.member
    forums = context.db.rows("SELECT name FROM forum ORDER BY name")
    shown: dict[str, Any] = {}
    forum = context.db.row("SELECT * FROM forum WHERE name = ?", values["forum"])
    if forum is not None:
        shown["sidebar"] = forum_sidebar(context, forum)
    return context.page("submit.html", values=values, errors=errors, forums=forums, **shown)


# ---------------------------------------------------------------------- comments

MAX_LENGTH = 10_000


@site.get("/f/{forum}/{id}/{slug}/comment/{comment}")
def comment_page(context: Context) -> Response:
    """A comment with the replies to it, and the form to answer it."""
    return thread(context, submission_of(context), comment=comment_of(context))


@site.post("/f/{forum}/{id}/{slug}/comment", "/f/{forum}/{id}/{slug}/comment/{comment}")
def post_comment(context: Context) -> Response:
    """Answer the submission, or a comment on it."""
    submission = submission_of(context)
    parent = comment_of(context) if "comment" in context.params else None
    kind, number = ("comment", parent["id"]) if parent is not None else ("submission", submission["id"])
    body = field(context, f"reply_to_{kind}_{number}[comment]")
    errors = too_long({"The comment": (body, MAX_LENGTH)}) if body else ["The comment must not be blank."]
    if is_banned(context, submission["forum_id"]):
        errors.append("You are banned from this forum.")
    if submission["is_locked"] and not is_moderator(context, submission["forum_id"]):
        errors.append("This submission is locked: it takes no more comments.")
    if errors:
        return thread(context, submission, comment=parent, draft=body, errors=errors)
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
    author = context.db.get("user", (parent if parent is not None else submission)["user_id"])
    if author is not None and author["id"] != row["user_id"] and author["notify_replies"]:
        context.db.insert("notification", user_id=author["id"], comment_id=row["id"], created_at=row["created_at"])
    return context.redirect(comment_address(context.db, row))


# ---------------------------------------------------------------------- changes


@site.get("/f/{forum}/{id}/{slug}/comment/{comment}/edit")
def edit_comment_page(context: Context) -> Response:
    """The form to change a comment."""
    comment = _own_comment(context)
    return _comment_form(context, comment, comment["body"], [])


@site.post("/f/{forum}/{id}/{slug}/comment/{comment}/edit")
def edit_comment(context: Context) -> Response:
    """Change a comment."""
    comment, body = _own_comment(context), field(context, "comment[comment]")
    if not body or len(body) > MAX_LENGTH:
        return _comment_form(context, comment, body, [f"The comment must have 1 to {MAX_LENGTH} characters."])
    context.db.update("comment", comment["id"], body=body, edited_at=context.db.now())
    return context.redirect(comment_address(context.db, comment))


def _own_comment(context: Context) -> sqlite3.Row:
    comment = comment_of(context)
    if context.member["id"] != comment["user_id"] or comment["is_trashed"]:
        raise Forbidden
    return comment


def _comment_form(context: Context, comment: sqlite3.Row, body: str, errors: list[str]) -> Response:
    forum, path = forum_of(context), comment_address(context.db, comment)
    return context.page(
        "comment_edit.html", comment=comment, body=body, errors=errors, path=path, sidebar=forum_sidebar(context, forum)
    )


@site.post("/f/{forum}/{id}/{slug}/comment/{comment}/delete")
def delete_comment(context: Context) -> Response:
    """Delete a comment; answers to it stay."""
    submission, comment = submission_of(context), comment_of(context)
    if context.member["id"] != comment["user_id"] and not is_moderator(context, submission["forum_id"]):
        raise Forbidden
    if not comment["is_trashed"]:
        context.db.update("comment", comment["id"], is_trashed=1)
        context.db.update("submission", submission["id"], comment_count=submission["comment_count"] - 1)
        rank(context.db, submission["id"])
    return context.redirect(submission_address(context.db, submission), "The comment has been deleted.")


# ---------------------------------------------------------------------- one submission

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


@site.post("/f/{forum}/{id}/{slug}/delete", "/f/{forum}/{id}/{slug}/restore")
def trash(context: Context) -> Response:
    """Move a submission to the trash, or take it out again."""
    _, submission = context.member, submission_of(context)
    if not may_edit(context, submission):
        raise Forbidden
    if context.request.path.rstrip("/").endswith("/delete"):
        context.db.update("submission", submission["id"], is_trashed=1)
        return context.redirect(f"/f/{forum_of(context)['name']}", "The submission has been moved to the trash.")
    context.db.update("submission", submission["id"], is_trashed=0)
    return context.redirect(submission_address(context.db, submission), "The submission has been restored.")


@site.post("/f/{forum}/{id}/{slug}/lock", "/f/{forum}/{id}/{slug}/pin")
def toggle(context: Context) -> Response:
    """Allow no more comments, or allow them again; keep the submission at the top of its forum, or no more."""
    flag = "is_locked" if context.request.path.rstrip("/").endswith("/lock") else "is_sticky"
    _, submission = context.member, submission_of(context)
    if not is_moderator(context, submission["forum_id"]):
        raise Forbidden
    context.db.update("submission", submission["id"], **{flag: 1 - submission[flag]})
    return context.redirect(submission_address(context.db, submission))


@site.get("/user/{user}/trash")
def my_trash_page(context: Context) -> Response:
    """The member's submissions in the trash."""
    user = myself(context)
    sql = """SELECT s.*, f.name AS forum, u.username AS author FROM submission s JOIN forum f ON f.id = s.forum_id
        JOIN user u ON u.id = s.user_id WHERE u.id = ? AND s.is_trashed ORDER BY s.created_at DESC, s.id DESC"""
    return context.page("trash.html", heading="Your trash", rows=context.db.rows(sql, user["id"]))
