"""Issues: lists, one issue with its discussion, new ones, changes."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.code.host import (
    REPORTER,
    Project,
    members,
    project_of,
    record,
    site,
    user_id,
    writable,
)
from agentrl.envs.webarena.sites.code.text import date_or_none
from agentrl.envs.webarena.sites.code.tickets import (
    add_note,
    add_todo,
    canonical,
    choice,
    choices,
    chosen_labels,
    labels_of,
    listing,
    next_iid,
    notes_of,
    people_by_id,
    set_labels,
    ticket_of,
)
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

MAX_TITLE = 255


@site.get("/{namespace}/{project}/-/issues")
def issues(context: Context) -> Response:
    """The issues of a project."""
    project = project_of(context)
    target = canonical(context)
    if target:
        return context.redirect(target)
    found = listing(context, "issues", "t.project_id = ?2", project.id)
    return context.page("tickets.html", project=project, list=found, **choices(context, project))


@site.get("/{namespace}/{project}/-/issues/new")
def new_issue(context: Context) -> Response:
    """The form for an issue."""
    project = writable(context)
    return _form(
        context,
        project,
        None,
        {"title": context.query("issue[title]"), "description": context.query("issue[description]")},
    )


def _form(
    context: Context, project: Project, row: sqlite3.Row | None, values: dict[str, Any], error: str = ""
) -> Response:
    return context.page(
        "issue_form.html",
        project=project,
        row=row,
        values=values,
        error=error,
        chosen=chosen_labels(context, "issues", row["id"] if row else None),
        status=422 if error else 200,
        **choices(context, project),
    )


def _fields(context: Context, project: Project) -> tuple[dict[str, Any], str]:
    """What the form says, and what is wrong with it. Plans need the reporter role; others write texts only."""
    values: dict[str, Any] = {
        "title": context.form("issue[title]").strip(),
        "description": context.form("issue[description]").replace("\r\n", "\n"),
    }
    error = ""
    if not values["title"]:
        error = "Title can't be blank."
    elif len(values["title"]) > MAX_TITLE:
        error = f"Title is too long (maximum is {MAX_TITLE} characters)."
    if project.allows(REPORTER):
        due, weight = date_or_none(context.form("issue[due_date]")), context.form("issue[weight]").strip()
        error = error or ("Due date must be a date such as 2025-07-31." if due is None else "")
        milestones = context.db.rows("SELECT id FROM milestone WHERE project_id = ?", project.id)
        values.update(
            assignee_id=choice(context, "issue[assignee_ids][]", members(context.db, project.row)),
            milestone_id=choice(context, "issue[milestone_id]", milestones),
            due_date=due or "",
            weight=context.number(weight) if weight else None,
        )
    return values, error


@site.post("/{namespace}/{project}/-/issues")
def create_issue(context: Context) -> Response:
    """Open an issue."""
    project = writable(context)
    if project.row["archived"]:
        raise Forbidden
    values, error = _fields(context, project)
    if error:
        return _form(context, project, None, values, error)
    db, now = context.db, context.db.now()
    iid = next_iid(db, "issue", project.id)
    row_id = db.insert(
        "issue",
        project_id=project.id,
        iid=iid,
        author_id=context.member["id"],
        created_at=now,
        updated_at=now,
        **values,
    )
    if project.allows(REPORTER):
        set_labels(db, project.id, "issues", row_id, context.forms("issue[label_ids][]"))
    if values.get("assignee_id"):
        add_todo(context, project, "issues", row_id, values["assignee_id"], "assigned")
    url = f"{project.url}/-/issues/{iid}"
    record(context, project.id, "opened issue", f"#{iid} {values['title']}", url)
    return context.redirect(url)


@site.get("/{namespace}/{project}/-/issues/{iid}")
def issue(context: Context) -> Response:
    """One issue."""
    project = project_of(context)
    row = ticket_of(context, project, "issues")
    db = context.db
    return context.page(
        "issue.html",
        project=project,
        row=row,
        notes=notes_of(db, "issues", row["id"]),
        labels=labels_of(db, "issues", row["id"]),
        milestone=db.get("milestone", row["milestone_id"] or 0),
        may_edit=_may_edit(context, project, row),
        may_plan=project.allows(REPORTER),
        **people_by_id(db, row, "author_id", "assignee_id"),
    )


def _may_edit(context: Context, project: Project, row: sqlite3.Row) -> bool:
    """Reporters may, and people who wrote the issue or work on it."""
    involved = user_id(context) in (row["author_id"], row["assignee_id"]) and user_id(context)
    return project.allows(REPORTER) or bool(involved and not project.row["archived"])


def _editable(context: Context) -> tuple[Project, sqlite3.Row]:
    project = writable(context)
    row = ticket_of(context, project, "issues")
    if not _may_edit(context, project, row):
        raise Forbidden
    return project, row


@site.get("/{namespace}/{project}/-/issues/{iid}/edit")
def edit_issue(context: Context) -> Response:
    """The form with an issue."""
    project, row = _editable(context)
    return _form(context, project, row, dict(row))


@site.post("/{namespace}/{project}/-/issues/{iid}")
def update_issue(context: Context) -> Response:
    """Keep what the form says."""
    project, row = _editable(context)
    values, error = _fields(context, project)
    if error:
        return _form(context, project, row, {**dict(row), **values}, error)
    _note_changes(context, project, row, values)
    context.db.update("issue", row["id"], **values, updated_at=context.db.now())
    if project.allows(REPORTER):
        set_labels(context.db, project.id, "issues", row["id"], context.forms("issue[label_ids][]"))
    return context.redirect(f"{project.url}/-/issues/{row['iid']}")


def _note_changes(context: Context, project: Project, row: sqlite3.Row, values: dict[str, Any]) -> None:
    """Lines in the discussion about what is different now."""
    assignee = values.get("assignee_id", row["assignee_id"])
    if assignee != row["assignee_id"]:
        person = context.db.get("user", assignee) if assignee else None
        add_note(
            context,
            project,
            "issues",
            row,
            f"assigned to @{person['username']}" if person else "removed the assignee",
            system=True,
        )
        if assignee:
            add_todo(context, project, "issues", row["id"], assignee, "assigned")
    if values.get("due_date", row["due_date"]) != row["due_date"]:
        text = f"changed due date to {values['due_date']}" if values["due_date"] else "removed due date"
        add_note(context, project, "issues", row, text, system=True)
    if values["title"] != row["title"]:
        add_note(context, project, "issues", row, "changed the title", system=True)


@site.post("/{namespace}/{project}/-/issues/{iid}/notes")
def comment(context: Context) -> Response:
    """Add a comment, and close or reopen the issue if that button was pressed."""
    project = writable(context)
    row = ticket_of(context, project, "issues")
    text = context.form("note[note]").strip()
    if text:
        add_note(context, project, "issues", row, context.form("note[note]").replace("\r\n", "\n").strip())
    if context.form("state_event") in ("close", "reopen"):
        return change_state(context)
    url = f"{project.url}/-/issues/{row['iid']}"
    return context.redirect(url) if text else context.redirect(url, "error: Note can't be blank.")


@site.post("/{namespace}/{project}/-/issues/{iid}/state")
def change_state(context: Context) -> Response:
    """Close or reopen."""
    project, row = _editable(context)
    state = {"close": "closed", "reopen": "opened"}.get(context.form("state_event"), row["state"])
    if state != row["state"]:
        closed_at = context.db.now() if state == "closed" else ""
        context.db.update("issue", row["id"], state=state, closed_at=closed_at)
        add_note(context, project, "issues", row, "closed" if state == "closed" else "reopened", system=True)
    return context.redirect(f"{project.url}/-/issues/{row['iid']}")


@site.post("/{namespace}/{project}/-/issues/{iid}/assign_to_me")
def assign_to_me(context: Context) -> Response:
    """The visitor takes the issue."""
    project = writable(context, REPORTER)
    row = ticket_of(context, project, "issues")
    context.db.update("issue", row["id"], assignee_id=context.member["id"])
    add_note(context, project, "issues", row, f"assigned to @{context.member['username']}", system=True)
    return context.redirect(f"{project.url}/-/issues/{row['iid']}")


@site.post("/{namespace}/{project}/-/{kind}/{iid}/todo")
def add_own_todo(context: Context) -> Response:
    """Put an issue or merge request on one's own list."""
    project = writable(context)
    kind = "issues" if context.params["kind"] == "issues" else "merge_requests"
    row = ticket_of(context, project, kind)
    add_todo(context, project, kind, row["id"], context.member["id"], "marked")
    return context.redirect(f"{project.url}/-/{kind}/{row['iid']}", "Added to your to-do list.")
