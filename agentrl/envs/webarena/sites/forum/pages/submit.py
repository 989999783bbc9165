"""Writing a new submission."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.forum import text
from agentrl.envs.webarena.sites.forum.app import field, forum_of, is_banned, site, submission_address, too_long
from agentrl.envs.webarena.sites.forum.pages.forums import forum_sidebar
from agentrl.envs.webarena.sites.forum.pages.votes import set_vote
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

FIELDS = ("url", "title", "body", "forum")


@site.get("/submit")
def submit_page(context: Context) -> Response:
    """The form for a submission to any forum."""
    return _form(context, dict.fromkeys(FIELDS, ""), [])


@site.get("/submit/{forum}")
def submit_to_forum_page(context: Context) -> Response:
    """The form for a submission to this forum."""
    return _form(context, {**dict.fromkeys(FIELDS, ""), "forum": forum_of(context)["name"]}, [])


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
        return _form(context, values, errors)
    row = _post(context.db, forum["id"], user["id"], values)
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


def _post(db: Database, forum_id: int, user_id: int, values: dict[str, str]) -> sqlite3.Row:
    now = db.now()
    row_id = db.insert(
        "submission", forum_id=forum_id, user_id=user_id, title=values["title"], url=values["url"], body=values["body"],
        created_at=now, last_active=now, upvotes=0, downvotes=0, ranking=0,
    )  # fmt: skip
    row = db.get("submission", row_id)
    assert row is not None
    set_vote(db, "submission", row, user_id, 1)
    return row


def _form(context: Context, values: dict[str, str], errors: list[str]) -> Response:
    _ = context.member
    forums = context.db.rows("SELECT name FROM forum ORDER BY name")
    shown: dict[str, Any] = {}
    forum = context.db.row("SELECT * FROM forum WHERE name = ?", values["forum"])
    if forum is not None:
        shown["sidebar"] = forum_sidebar(context, forum)
    return context.page("submit.html", values=values, errors=errors, forums=forums, **shown)
