"""What issues and merge requests have in common: comments, fields of their forms, to-dos."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.code.host import Project, members, record
from agentrl.envs.webarena.sites.code.listing import TABLES, labels_of
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.site import Context, NotFound

MENTION = re.compile(r"(?<![\w@])@([A-Za-z0-9][\w.-]{0,60})")
SIGNS = {"issues": "#", "merge_requests": "!"}


def ticket_of(context: Context, project: Project, kind: str) -> sqlite3.Row:
    """The issue or merge request that the address names."""
    number = context.number(context.params["iid"])
    row = context.db.row(f"SELECT * FROM {TABLES[kind]} WHERE project_id = ? AND iid = ?", project.id, number)
    if row is None:
        raise NotFound
    return row


def next_iid(db: Database, table: str, project: int) -> int:
    """The number of the next issue, merge request or milestone of a project."""
    return (db.value(f"SELECT max(iid) FROM {table} WHERE project_id = ?", project) or 0) + 1


def people_by_id(db: Database, row: sqlite3.Row, *columns: str) -> dict[str, Any]:
    """The users that columns of a row point to: "author_id" gives "author"."""
    return {column.removesuffix("_id"): db.get("user", row[column]) if row[column] else None for column in columns}


def notes_of(db: Database, kind: str, row_id: int) -> list[sqlite3.Row]:
    """All comments, the oldest first."""
    return db.rows(
        f"""SELECT note.*, user.name, user.username FROM note JOIN user ON user.id = note.author_id
            WHERE note.{TABLES[kind]}_id = ? ORDER BY note.created_at, note.id""",
        row_id,
    )  # fmt: skip


def add_note(
    context: Context, project: Project, kind: str, row: sqlite3.Row, text: str, *, system: bool = False
) -> None:
    """A comment (people whom it mentions get a to-do), or a line about what was done."""
    db, me = context.db, context.member
    target = {"issue_id": None, "merge_request_id": None, f"{TABLES[kind]}_id": row["id"]}
    db.insert("note", **target, author_id=me["id"], body=text, system=int(system), created_at=db.now())
    db.update(TABLES[kind], row["id"], updated_at=db.now())
    verb = text if system else "commented on"
    record(
        context, project.id, verb, f"{SIGNS[kind]}{row['iid']} {row['title']}", f"{project.url}/-/{kind}/{row['iid']}"
    )
    if not system:
        for name in dict.fromkeys(MENTION.findall(text)[:20]):
            user = db.value("SELECT id FROM user WHERE lower(username) = lower(?)", name.rstrip("."))
            if user is not None:
                add_todo(context, project, kind, row["id"], user, "mentioned")


def add_todo(context: Context, project: Project, kind: str, row_id: int, user: int, action: str) -> None:
    """Something waits for a user; nobody gets a to-do for what they did themselves, except by asking for one."""
    me = context.member["id"]
    if user == me and action != "marked":
        return
    target = {"issue_id": None, "merge_request_id": None, f"{TABLES[kind]}_id": row_id}
    context.db.insert(
        "todo", user_id=user, author_id=me, project_id=project.id, **target, action=action, created_at=context.db.now()
    )


def set_labels(db: Database, project: int, kind: str, row_id: int, chosen: list[str]) -> None:
    """Replace the labels by those with these ids."""
    table = TABLES[kind]
    allowed = {str(row["id"]): row["id"] for row in db.rows("SELECT id FROM label WHERE project_id = ?", project)}
    wanted = {allowed[text] for text in chosen if text in allowed}
    known = {row["label_id"]: row["id"] for row in db.rows(f"SELECT * FROM {table}_label WHERE {table}_id = ?", row_id)}
    for label in sorted(wanted - set(known)):
        db.insert(f"{table}_label", **{f"{table}_id": row_id, "label_id": label})
    for label in sorted(set(known) - wanted):
        db.delete(f"{table}_label", known[label])


def choice(context: Context, name: str, rows: list[sqlite3.Row]) -> int | None:
    """The id that a form chose among rows; None for nothing and for anything else."""
    number = context.number(context.form(name))
    return number if any(row["id"] == number for row in rows) else None


def choices(context: Context, project: Project) -> dict[str, Any]:
    """What forms and filters of a project offer."""
    db = context.db
    return {
        "people": members(db, project.row),
        "labels": db.rows("SELECT * FROM label WHERE project_id = ? ORDER BY name", project.id),
        "milestones": db.rows("SELECT * FROM milestone WHERE project_id = ? ORDER BY state, due_date, id", project.id),
    }


def chosen_labels(context: Context, kind: str, row_id: int | None) -> set[int]:
    """Ids of the labels that a form should show as chosen."""
    return {row["id"] for row in labels_of(context.db, kind, row_id)} if row_id else set()
