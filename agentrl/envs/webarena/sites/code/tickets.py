"""What issues and merge requests have in common: filtered lists, comments, forms, states, to-dos.

A kind is called as addresses call it: "issues" or "merge_requests".
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.code.host import (
    DEVELOPER,
    PAGE_SIZE,
    REPORTER,
    VISIBLE,
    Project,
    like,
    members,
    project_of,
    record,
    site,
    user_id,
    writable,
)  # fmt: skip
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import paging
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, existing

TABLES = {"issues": "issue", "merge_requests": "merge_request"}
STATES = {"issues": ("opened", "closed", "all"), "merge_requests": ("opened", "merged", "closed", "all")}
SORTS = {
    "created_date": ("Created date", "t.created_at DESC, t.id DESC"),
    "created_asc": ("Oldest created", "t.created_at, t.id"),
    "updated_desc": ("Updated date", "t.updated_at DESC, t.id DESC"),
    "updated_asc": ("Oldest updated", "t.updated_at, t.id"),
    "title_asc": ("Title", "t.title COLLATE NOCASE, t.id"),
    "popularity": ("Most comments", "notes DESC, t.id DESC"),
}
DUE = {
    "due_date": ("Due date", "t.due_date = '', t.due_date, t.id"),
    "weight": ("Weight", "t.weight IS NULL, t.weight DESC, t.id"),
}  # of issues
FIELDS = (
    "scope", "sort", "state", "assignee_username", "reviewer_username", "author_username", "label_name[]",
    "milestone_title", "search", "first_page_size",
)  # fmt: skip
MAX_TITLE = 255
MENTION = re.compile(r"(?<![\w@])@([A-Za-z0-9][\w.-]{0,60})")
SIGNS = {"issues": "#", "merge_requests": "!"}


# ---------------------------------------------------------------------- lists


@dataclass(frozen=True)
class Listing:
    """One page of a filtered list."""

    kind: str
    rows: list[dict[str, Any]]
    number: int
    last: int
    total: int
    states: dict[str, int]  # how many there are in each state, with the other filters
    filters: dict[str, str]
    sorts: dict[str, str]


def canonical(context: Context) -> str | None:
    """Where a filter form leads to: the address without its empty fields, always in the same order."""
    query = context.request.query
    if all(value for _, value in query):
        return None
    order = {name: place for place, name in enumerate(FIELDS)}
    kept = sorted((pair for pair in query if pair[1]), key=lambda pair: order.get(pair[0], len(order)))
    return context.request.path.rstrip("/") + "/" + (f"?{urlencode(kept)}" if kept else "")


def listing(context: Context, kind: str, where: str = "1", *values: Any, size: int = PAGE_SIZE) -> Listing:
    """The list that the address asks for, among rows `t` that fit `where` and that the visitor may see."""
    filters = {name: context.query(name) for name in FIELDS}
    state = filters["state"] if filters["state"] in STATES[kind] else "opened"
    sorts = {**SORTS, **(DUE if kind == "issues" else {})}
    sort = filters["sort"] if filters["sort"] in sorts else "created_date"
    labels = [value for key, value in context.request.query if key == "label_name[]"]
    clauses, given = _clauses(kind, filters, labels, len(values) + 2)
    condition = " AND ".join([f"({where})", VISIBLE, *clauses])
    bound = (user_id(context), *values, *given)
    table, is_issue = TABLES[kind], kind == "issues"
    reviewer = "" if is_issue else "LEFT JOIN user reviewer ON reviewer.id = t.reviewer_id"
    base = f"""FROM {table} t JOIN project ON project.id = t.project_id JOIN user author ON author.id = t.author_id
        LEFT JOIN user assignee ON assignee.id = t.assignee_id LEFT JOIN milestone ON milestone.id = t.milestone_id
        {reviewer} WHERE {condition}"""
    more = "" if is_issue else "'' AS due_date, reviewer.name AS reviewer_name, reviewer.username AS reviewer_username,"
    columns = f"""t.*, {more} project.namespace, project.path,
        author.username AS author_username, author.name AS author_name,
        assignee.username AS assignee_username, assignee.name AS assignee_name, milestone.title AS milestone_title,
        (SELECT count(*) FROM note WHERE note.{table}_id = t.id AND note.system = 0) AS notes"""
    states = {name: 0 for name in STATES[kind]}
    states.update({row[0]: row[1] for row in context.db.rows(f"SELECT t.state, count(*) {base} GROUP BY 1", *bound)})
    states["all"] = sum(states.values())
    number, last = paging(context.number(context.query("page"), 1), states[state], size)
    wanted = "1" if state == "all" else f"t.state = '{state}'"
    rows = context.db.rows(
        f"SELECT {columns} {base} AND {wanted} ORDER BY {sorts[sort][1]} LIMIT {size} OFFSET {(number - 1) * size}",
        *bound,
    )
    found = [{**dict(row), "labels": labels_of(context.db, kind, row["id"])} for row in rows]
    filters.update(state=state, sort=sort)
    return Listing(
        kind, found, number, last, states[state], states, filters, {key: text for key, (text, _) in sorts.items()}
    )


def labels_of(db: Database, kind: str, row_id: int) -> list[Any]:
    """The labels of an issue or merge request."""
    table = TABLES[kind]
    return db.rows(
        f"SELECT label.* FROM {table}_label l JOIN label ON label.id = l.label_id"
        f" WHERE l.{table}_id = ? ORDER BY label.name",
        row_id,
    )


def _clauses(kind: str, filters: dict[str, str], labels: list[str], first: int) -> tuple[list[str], list[Any]]:
    """Conditions for the filters, with marks that count from `first`."""
    table = TABLES[kind]
    clauses: list[str] = []
    given: list[Any] = []

    def add(clause: str, value: Any) -> None:
        clauses.append(clause.replace("?", f"?{first + len(given)}"))
        given.append(value)

    people = ("assignee", "author", "reviewer") if kind == "merge_requests" else ("assignee", "author")
    for person in people:
        if filters[f"{person}_username"]:
            add(f"lower({person}.username) = lower(?)", filters[f"{person}_username"])
    for name in labels[:10]:
        add(
            f"EXISTS (SELECT 1 FROM {table}_label l JOIN label ON label.id = l.label_id"
            f" WHERE l.{table}_id = t.id AND label.name = ? COLLATE NOCASE)",
            name,
        )
    if filters["milestone_title"]:
        add("milestone.title = ?", filters["milestone_title"])
    if filters["search"]:
        add("(t.title LIKE ? ESCAPE '!' OR t.description LIKE ? ESCAPE '!')", like(filters["search"]))
    return clauses, given


# ---------------------------------------------------------------------- comments, forms, to-dos


def kind_of(context: Context) -> str:
    """Which of the two the address is about."""
    return "issues" if "/-/issues" in context.request.path else "merge_requests"


def ticket_of(context: Context, project: Project, kind: str) -> sqlite3.Row:
    """The issue or merge request that the address names."""
    return numbered(context, project, TABLES[kind])


def numbered(context: Context, project: Project, table: str) -> sqlite3.Row:
    """The issue, merge request or milestone of the project that has the number in the address."""
    sql = f"SELECT * FROM {table} WHERE project_id = ? AND iid = ?"
    return existing(context.db.row(sql, project.id, context.number(context.params["iid"])))


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


def texts(context: Context, kind: str) -> tuple[dict[str, Any], str]:
    """Title and description as a form gives them, and what is wrong with the title."""
    table = TABLES[kind]
    title = context.form(f"{table}[title]").strip()
    values = {"title": title, "description": context.form(f"{table}[description]").replace("\r\n", "\n")}
    if not title:
        return values, "Title can't be blank."
    return values, f"Title is too long (maximum is {MAX_TITLE} characters)." if len(title) > MAX_TITLE else ""


def show_form(
    context: Context, project: Project, kind: str, row: sqlite3.Row | None, values: dict[str, Any], error: str = ""
) -> Response:
    """The form of an issue or merge request, with an error where it was refused."""
    chosen = {label["id"] for label in labels_of(context.db, kind, row["id"])} if row else set()
    return context.page(
        f"{TABLES[kind]}_form.html", project=project, row=row, values=values, error=error, chosen=chosen,
        status=422 if error else 200, **choices(context, project),
    )  # fmt: skip


def open_ticket(context: Context, project: Project, kind: str, values: dict[str, Any]) -> int:
    """The row of a new issue or merge request."""
    db, now = context.db, context.db.now()
    iid = next_iid(db, TABLES[kind], project.id)
    author = context.member["id"]
    return db.insert(
        TABLES[kind], project_id=project.id, iid=iid, author_id=author, created_at=now, updated_at=now, **values
    )


def announce(context: Context, project: Project, kind: str, row_id: int) -> Response:
    """Record that somebody has opened an issue or merge request, and go to its page."""
    row = context.db.get(TABLES[kind], row_id)
    assert row is not None
    url = f"{project.url}/-/{kind}/{row['iid']}"
    action = f"opened {TABLES[kind].replace('_', ' ')}"
    record(context, project.id, action, f"{SIGNS[kind]}{row['iid']} {row['title']}", url)
    return context.redirect(url)


# ---------------------------------------------------------------------- pages


def show_list(context: Context) -> Response:
    """The issues or merge requests of a project."""
    project = project_of(context)
    if target := canonical(context):
        return context.redirect(target)
    found = listing(context, kind_of(context), "t.project_id = ?2", project.id)
    return context.page("tickets.html", project=project, list=found, **choices(context, project))


def may_edit(context: Context, project: Project, kind: str, row: sqlite3.Row) -> bool:
    """Reporters may edit issues and developers merge requests; so may those who wrote one or work on the issue."""
    involved = (row["author_id"], row["assignee_id"]) if kind == "issues" else (row["author_id"],)
    is_involved = context.user is not None and context.user["id"] in involved and not project.row["archived"]
    return project.allows(REPORTER if kind == "issues" else DEVELOPER) or is_involved


def editable(context: Context, kind: str) -> tuple[Project, sqlite3.Row]:
    """The issue or merge request that the address names, for somebody who may edit it."""
    project = writable(context)
    row = ticket_of(context, project, kind)
    if not may_edit(context, project, kind, row):
        raise Forbidden
    return project, row


def edit(context: Context) -> Response:
    """The form with what there is."""
    kind = kind_of(context)
    project, row = editable(context, kind)
    return show_form(context, project, kind, row, dict(row))


def comment(context: Context) -> Response:
    """Add a comment, and close or reopen if that button was pressed."""
    project, kind = writable(context), kind_of(context)
    row = ticket_of(context, project, kind)
    text = context.form("note[note]").replace("\r\n", "\n").strip()
    if text:
        add_note(context, project, kind, row, text)
    if context.form("state_event") in ("close", "reopen"):
        return change_state(context)
    return context.redirect(f"{project.url}/-/{kind}/{row['iid']}", "" if text else "error: Note can't be blank.")


def change_state(context: Context) -> Response:
    """Close or reopen; what is merged stays merged."""
    kind = kind_of(context)
    project, row = editable(context, kind)
    state = {"close": "closed", "reopen": "opened"}.get(context.form("state_event"), row["state"])
    if row["state"] != "merged" and state != row["state"]:
        closed_at = context.db.now() if state == "closed" else ""
        context.db.update(TABLES[kind], row["id"], state=state, closed_at=closed_at)
        add_note(context, project, kind, row, "closed" if state == "closed" else "reopened", system=True)
    return context.redirect(f"{project.url}/-/{kind}/{row['iid']}")


def add_own_todo(context: Context) -> Response:
    """Put an issue or merge request on one's own list."""
    project, kind = writable(context), kind_of(context)
    row = ticket_of(context, project, kind)
    add_todo(context, project, kind, row["id"], context.member["id"], "marked")
    return context.redirect(f"{project.url}/-/{kind}/{row['iid']}", "Added to your to-do list.")


def register(kind: str) -> None:
    """Add the pages above for one kind; its module does it, because lists of groups have to come before."""
    path = f"/{{namespace}}/{{project}}/-/{kind}"
    site.get(path)(show_list)
    site.get(f"{path}/{{iid}}/edit")(edit)
    for action, handler in (("notes", comment), ("state", change_state), ("todo", add_own_todo)):
        site.post(f"{path}/{{iid}}/{action}")(handler)
