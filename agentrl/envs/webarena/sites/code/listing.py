"""Lists of issues and merge requests: the filters of the address, rows with everything that a line shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.code.host import PAGE_SIZE, VISIBLE, like, user_id
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.site import Context

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
    "scope",
    "sort",
    "state",
    "assignee_username",
    "reviewer_username",
    "author_username",
    "label_name[]",
    "milestone_title",
    "search",
    "first_page_size",
)


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
    base = f"FROM {TABLES[kind]} t JOIN project ON project.id = t.project_id {_joins(kind)} WHERE {condition}"
    states = {name: 0 for name in STATES[kind]}
    states.update({row[0]: row[1] for row in context.db.rows(f"SELECT t.state, count(*) {base} GROUP BY 1", *bound)})
    states["all"] = sum(states.values())
    last = max((states[state] + size - 1) // size, 1)
    number = min(max(context.number(context.query("page"), 1), 1), last)
    wanted = "1" if state == "all" else f"t.state = '{state}'"
    rows = context.db.rows(
        f"SELECT {_columns(kind)} {base} AND {wanted}"
        f" ORDER BY {sorts[sort][1]} LIMIT {size} OFFSET {(number - 1) * size}",
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


def _joins(kind: str) -> str:
    reviewer = "LEFT JOIN user reviewer ON reviewer.id = t.reviewer_id" if kind == "merge_requests" else ""
    return f"""JOIN user author ON author.id = t.author_id LEFT JOIN user assignee ON assignee.id = t.assignee_id
        LEFT JOIN milestone ON milestone.id = t.milestone_id {reviewer}"""


def _columns(kind: str) -> str:
    table = TABLES[kind]
    due = (
        ""
        if kind == "issues"
        else "'' AS due_date, reviewer.name AS reviewer_name, reviewer.username AS reviewer_username,"
    )
    return f"""t.*, {due} project.namespace, project.path, 
        author.username AS author_username, author.name AS author_name,
        assignee.username AS assignee_username, assignee.name AS assignee_name, milestone.title AS milestone_title,
        (SELECT count(*) FROM note WHERE note.{table}_id = t.id AND note.system = 0) AS notes"""


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
