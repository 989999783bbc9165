"""Issues: one issue with its discussion, new ones, changes. `tickets` has what merge requests have, too."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.sites.code import tickets
from agentrl.envs.webarena.sites.code.host import REPORTER, Project, members, project_of, site, writable
from agentrl.envs.webarena.sites.formats import date_or_none
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

tickets.register("issues")


@site.get("/{namespace}/{project}/-/issues/new")
def new_issue(context: Context) -> Response:
    """The form for an issue."""
    values = {"title": context.query("issue[title]"), "description": context.query("issue[description]")}
    return tickets.show_form(context, writable(context), "issues", None, values)


def _fields(context: Context, project: Project) -> tuple[dict[str, Any], str]:
    """What the form says, and what is wrong with it. Plans need the reporter role; others write texts only."""
    values, error = tickets.texts(context, "issues")
    if project.allows(REPORTER):
        due, weight = date_or_none(context.form("issue[due_date]")), context.form("issue[weight]").strip()
        error = error or ("Due date must be a date such as 2025-07-31." if due is None else "")
        milestones = context.db.rows("SELECT id FROM milestone WHERE project_id = ?", project.id)
        values.update(
            assignee_id=tickets.choice(context, "issue[assignee_ids][]", members(context.db, project.row)),
            milestone_id=tickets.choice(context, "issue[milestone_id]", milestones),
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
        return tickets.show_form(context, project, "issues", None, values, error)
    row_id = tickets.open_ticket(context, project, "issues", values)
    if project.allows(REPORTER):
        tickets.set_labels(context.db, project.id, "issues", row_id, context.forms("issue[label_ids][]"))
    if values.get("assignee_id"):
        tickets.add_todo(context, project, "issues", row_id, values["assignee_id"], "assigned")
    return tickets.announce(context, project, "issues", row_id)


@site.get("/{namespace}/{project}/-/issues/{iid}")
def issue(context: Context) -> Response:
    """One issue."""
    project, db = project_of(context), context.db
    row, edits = tickets.ticket_of(context, project, "issues"), context.query("edit")
    offered = tickets.choices(context, project) if edits else {"people": (), "labels": ()}
    return context.page(
        "issue.html", project=project, edits=edits, people=offered["people"], choices=offered["labels"], row=row,
        notes=tickets.notes_of(db, "issues", row["id"]),
        labels=tickets.labels_of(db, "issues", row["id"]), milestone=db.get("milestone", row["milestone_id"] or 0),
        may_edit=tickets.may_edit(context, project, "issues", row), may_plan=project.allows(REPORTER),
        **tickets.people_by_id(db, row, "author_id", "assignee_id"),
    )  # fmt: skip


@site.post("/{namespace}/{project}/-/issues/{iid}")
def update_issue(context: Context) -> Response:
    """Keep what the form says; lines in the discussion tell what is different now."""
    project, row = tickets.editable(context, "issues")
    values, error = _fields(context, project)
    if error:
        return tickets.show_form(context, project, "issues", row, {**dict(row), **values}, error)
    assignee = values.get("assignee_id", row["assignee_id"])
    _assign(context, project, row, assignee)
    if values.get("due_date", row["due_date"]) != row["due_date"]:
        text = f"changed due date to {values['due_date']}" if values["due_date"] else "removed due date"
        tickets.add_note(context, project, "issues", row, text, system=True)
    if values["title"] != row["title"]:
        tickets.add_note(context, project, "issues", row, "changed the title", system=True)
    context.db.update("issue", row["id"], **values, updated_at=context.db.now())
    if project.allows(REPORTER):
        tickets.set_labels(context.db, project.id, "issues", row["id"], context.forms("issue[label_ids][]"))
    return context.redirect(f"{project.url}/-/issues/{row['iid']}")


def _assign(context: Context, project: Project, row: Any, assignee: int | None) -> None:
    """Tell in the discussion, and the person, who works on an issue now."""
    if assignee == row["assignee_id"]:
        return
    person = context.db.get("user", assignee) if assignee else None
    text = f"assigned to @{person['username']}" if person else "removed the assignee"
    tickets.add_note(context, project, "issues", row, text, system=True)
    if assignee:
        tickets.add_todo(context, project, "issues", row["id"], assignee, "assigned")


@site.post("/{namespace}/{project}/-/issues/{iid}/sidebar")
def change_in_sidebar(context: Context) -> Response:
    """What the drop-downs beside an issue choose: its assignee, or its labels."""
    project = writable(context, REPORTER)
    row = tickets.ticket_of(context, project, "issues")
    if context.form("labels"):
        tickets.set_labels(context.db, project.id, "issues", row["id"], context.forms("label_ids[]"))
    else:
        assignee = tickets.choice(context, "assignee_id", members(context.db, project.row))
        _assign(context, project, row, assignee)
        context.db.update("issue", row["id"], assignee_id=assignee, updated_at=context.db.now())
    return context.redirect(f"{project.url}/-/issues/{row['iid']}")


@site.post("/{namespace}/{project}/-/issues/{iid}/assign_to_me")
def assign_to_me(context: Context) -> Response:
    """The visitor takes the issue."""
    project = writable(context, REPORTER)
    row = tickets.ticket_of(context, project, "issues")
    context.db.update("issue", row["id"], assignee_id=context.member["id"])
    tickets.add_note(context, project, "issues", row, f"assigned to @{context.member['username']}", system=True)
    return context.redirect(f"{project.url}/-/issues/{row['iid']}")
