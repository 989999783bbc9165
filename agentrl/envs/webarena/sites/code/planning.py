"""Labels, milestones and boards of a project."""

from __future__ import annotations

import re

from agentrl.envs.webarena.sites.code.host import REPORTER, project_of, site, writable
from agentrl.envs.webarena.sites.code.tickets import listing, next_iid, numbered
from agentrl.envs.webarena.sites.formats import date_or_none
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

COLOR = re.compile(r"#[0-9a-fA-F]{6}")
BOARD_LISTS = ("bug", "feature")
CARDS = 12  # of a list of the board


# ---------------------------------------------------------------------- labels


@site.get("/{namespace}/{project}/-/labels")
def labels(context: Context) -> Response:
    """All labels with the number of their open issues."""
    project = project_of(context)
    rows = context.db.rows(
        """SELECT label.*, (SELECT count(*) FROM issue_label l JOIN issue ON issue.id = l.issue_id
             WHERE l.label_id = label.id AND issue.state = 'opened') AS open FROM label
             WHERE project_id = ? ORDER BY name""",
        project.id,
    )
    return context.page("labels.html", project=project, rows=rows)


@site.get("/{namespace}/{project}/-/labels/new", "/{namespace}/{project}/-/labels/{label}/edit")
def label_form(context: Context) -> Response:
    """The form for a label, or with one."""
    project = writable(context, REPORTER)
    row = context.record("label", "label", project_id=project.id) if "label" in context.params else None
    values = dict(row) if row else {}
    return context.page("label_form.html", project=project, row=row, values=values, error="")


@site.post("/{namespace}/{project}/-/labels", "/{namespace}/{project}/-/labels/{label}")
def save_label(context: Context) -> Response:
    """Make a label, or change one."""
    project = writable(context, REPORTER)
    row = context.record("label", "label", project_id=project.id) if "label" in context.params else None
    values = {
        "name": context.form("label[title]").strip(),
        "description": context.form("label[description]").strip(),
        "color": context.form("label[color]").strip() or "#428bca",
    }
    taken = context.db.value("SELECT id FROM label WHERE project_id = ? AND name = ?", project.id, values["name"])
    error = ""
    if not values["name"] or len(values["name"]) > 255:
        error = "Title must have 1 to 255 characters."
    elif not COLOR.fullmatch(values["color"]):
        error = "Background color must be a color such as #428bca."
    elif taken not in (None, row and row["id"]):
        error = "Title has already been taken."
    if error:
        return context.page("label_form.html", project=project, row=row, values=values, error=error, status=422)
    if row is None:
        context.db.insert("label", project_id=project.id, **values)
    else:
        context.db.update("label", row["id"], **values)
    return context.redirect(f"{project.url}/-/labels", f"Label '{values['name']}' was saved.")


@site.post("/{namespace}/{project}/-/labels/{label}/delete")
def delete_label(context: Context) -> Response:
    """Remove a label, also from issues and merge requests."""
    project = writable(context, REPORTER)
    row = context.record("label", "label", project_id=project.id)
    for table in ("issue_label", "merge_request_label"):
        for use in context.db.rows(f"SELECT id FROM {table} WHERE label_id = ?", row["id"]):
            context.db.delete(table, use["id"])
    context.db.delete("label", row["id"])
    return context.redirect(f"{project.url}/-/labels", f"Label '{row['name']}' was removed.")


# ---------------------------------------------------------------------- milestones


@site.get("/{namespace}/{project}/-/milestones")
def milestones(context: Context) -> Response:
    """Open, closed or all milestones."""
    project = project_of(context)
    state = context.query("state", "opened")
    wanted = {"closed": "m.state = 'closed'", "all": "1"}.get(state, "m.state = 'active'")
    rows = context.db.rows(
        f"""SELECT m.*, (SELECT count(*) FROM issue WHERE milestone_id = m.id) AS issues,
              (SELECT count(*) FROM issue WHERE milestone_id = m.id AND state = 'closed') AS done
            FROM milestone m WHERE m.project_id = ? AND {wanted} ORDER BY m.due_date = '', m.due_date, m.id""",
        project.id,
    )
    return context.page("milestones.html", project=project, rows=rows, state=state)


@site.get("/{namespace}/{project}/-/milestones/new", "/{namespace}/{project}/-/milestones/{iid}/edit")
def milestone_form(context: Context) -> Response:
    """The form for a milestone, or with one."""
    project = writable(context, REPORTER)
    row = numbered(context, project, "milestone") if "iid" in context.params else None
    values = dict(row) if row else {}
    return context.page("milestone_form.html", project=project, row=row, values=values, error="")


@site.post("/{namespace}/{project}/-/milestones", "/{namespace}/{project}/-/milestones/{iid}")
def save_milestone(context: Context) -> Response:
    """Make a milestone, or change one."""
    project = writable(context, REPORTER)
    row = numbered(context, project, "milestone") if "iid" in context.params else None
    start, due = date_or_none(context.form("milestone[start_date]")), date_or_none(context.form("milestone[due_date]"))
    values = {
        "title": context.form("milestone[title]").strip(),
        "description": context.form("milestone[description]").strip(), "start_date": start or "", "due_date": due or "",
    }  # fmt: skip
    taken = context.db.value("SELECT id FROM milestone WHERE project_id = ? AND title = ?", project.id, values["title"])
    error = ""
    if not values["title"] or len(values["title"]) > 255:
        error = "Title must have 1 to 255 characters."
    elif start is None or due is None:
        error = "Dates must be written as 2025-07-31."
    elif start and due and due < start:
        error = "Due date must be greater than start date."
    elif taken not in (None, row and row["id"]):
        error = "Title has already been taken."
    if error:
        return context.page("milestone_form.html", project=project, row=row, values=values, error=error, status=422)
    iid = row["iid"] if row else next_iid(context.db, "milestone", project.id)
    if row is None:
        context.db.insert("milestone", project_id=project.id, iid=iid, created_at=context.db.now(), **values)
    else:
        context.db.update("milestone", row["id"], **values)
    return context.redirect(f"{project.url}/-/milestones/{iid}")


@site.get("/{namespace}/{project}/-/milestones/{iid}")
def milestone(context: Context) -> Response:
    """A milestone with its issues."""
    project = project_of(context)
    row = numbered(context, project, "milestone")
    issues = listing(context, "issues", "t.milestone_id = ?2", row["id"])
    requests = listing(context, "merge_requests", "t.milestone_id = ?2", row["id"])
    return context.page("milestone.html", project=project, row=row, list=issues, requests=requests)


@site.post("/{namespace}/{project}/-/milestones/{iid}/state")
def change_milestone(context: Context) -> Response:
    """Close or reopen a milestone."""
    project = writable(context, REPORTER)
    row = numbered(context, project, "milestone")
    state = "closed" if context.form("state_event") == "close" else "active"
    context.db.update("milestone", row["id"], state=state)
    return context.redirect(f"{project.url}/-/milestones/{row['iid']}")


# ---------------------------------------------------------------------- boards


@site.get("/{namespace}/{project}/-/boards", "/{namespace}/{project}/-/boards/{board}")
def board(context: Context) -> Response:
    """Issues in columns: open ones, two labels, closed ones."""
    project = project_of(context)
    columns = [("Open", "t.state = 'opened'")]
    columns += [
        (
            name,
            f"t.state = 'opened' AND EXISTS (SELECT 1 FROM issue_label l"
            f" JOIN label ON label.id = l.label_id WHERE l.issue_id = t.id AND label.name = '{name}')",
        )
        for name in BOARD_LISTS
    ]
    columns.append(("Closed", "t.state = 'closed'"))
    lists = [
        (
            name,
            context.db.value(f"SELECT count(*) FROM issue t WHERE t.project_id = ? AND {where}", project.id),
            context.db.rows(
                f"SELECT * FROM issue t WHERE t.project_id = ? AND {where}"
                f" ORDER BY t.updated_at DESC, t.id LIMIT {CARDS}",
                project.id,
            ),
        )
        for name, where in columns
    ]
    return context.page("board.html", project=project, lists=lists)
