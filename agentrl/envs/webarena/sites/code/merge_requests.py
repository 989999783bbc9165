"""Merge requests: one with its commits and changes, new ones, approval, merging. `tickets` has what issues share."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.code import tickets
from agentrl.envs.webarena.sites.code.editing import may_push, new_commit, put_file, remove_ref
from agentrl.envs.webarena.sites.code.host import DEVELOPER, Project, members, project_of, site, user_id, writable
from agentrl.envs.webarena.sites.code.repository import COMMIT, HISTORY, branches_of, ref_named
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden

TABS = ("commits", "diffs", "pipelines")
# Commits that are reachable from ?1 and not from ?2.
BETWEEN = (
    HISTORY + ", old(id) AS (SELECT ?2 UNION SELECT p.id FROM old JOIN git_commit c ON c.id = old.id"
    " JOIN git_commit p ON p.id IN (c.parent_id, c.merged_id))"
)
tickets.register("merge_requests")


# ---------------------------------------------------------------------- new ones


@site.get("/{namespace}/{project}/-/merge_requests/new")
def new_merge_request(context: Context) -> Response:
    """First the two branches, then the form."""
    project = writable(context, DEVELOPER)
    source = context.query("merge_request[source_branch]")
    target = context.query("merge_request[target_branch]") or project.row["default_branch"]
    error = _branch_error(context.db, project, source, target) if source else ""
    if not source or error:
        return context.page(
            "compare.html", project=project, refs=branches_of(context.db, project.id), source=source, target=target,
            error=error, status=422 if error else 200,
        )  # fmt: skip
    head = ref_named(context.db, project.id, source)
    assert head is not None
    title = context.db.value("SELECT title FROM git_commit WHERE id = ?", head["commit_id"])
    values = {"title": title, "source_branch": source, "target_branch": target}
    return tickets.show_form(context, project, "merge_requests", None, values)


def _branch_error(db: Database, project: Project, source: str, target: str) -> str:
    if not _branch(db, project, source) or not _branch(db, project, target):
        return "Select a source and a target branch."
    if source == target:
        return "Source and target branch must be different."
    taken = (
        "SELECT iid FROM merge_request WHERE project_id = ? AND source_branch = ? AND target_branch = ?"
        " AND state = 'opened'"
    )
    iid = db.value(taken, project.id, source, target)
    return f"Another open merge request already exists for this source branch: !{iid}" if iid else ""


def _branch(db: Database, project: Project, name: str) -> sqlite3.Row | None:
    return db.row("SELECT * FROM ref WHERE project_id = ? AND kind = 'branch' AND name = ?", project.id, name)


def _fields(context: Context, project: Project) -> tuple[dict[str, Any], str]:
    values, error = tickets.texts(context, "merge_requests")
    people = members(context.db, project.row)
    milestones = context.db.rows("SELECT id FROM milestone WHERE project_id = ?", project.id)
    values.update(
        assignee_id=tickets.choice(context, "merge_request[assignee_ids][]", people),
        reviewer_id=tickets.choice(context, "merge_request[reviewer_ids][]", people),
        milestone_id=tickets.choice(context, "merge_request[milestone_id]", milestones),
        draft=int(values["title"].lower().startswith("draft:")),
    )
    return values, error


@site.post("/{namespace}/{project}/-/merge_requests")
def create_merge_request(context: Context) -> Response:
    """Open a merge request."""
    project = writable(context, DEVELOPER)
    db = context.db
    values, error = _fields(context, project)
    branches = {
        "source_branch": context.form("merge_request[source_branch]"),
        "target_branch": context.form("merge_request[target_branch]"),
    }
    error = _branch_error(db, project, *branches.values()) or error
    if error:
        return tickets.show_form(context, project, "merge_requests", None, {**values, **branches}, error)
    row_id = tickets.open_ticket(context, project, "merge_requests", {**values, **branches})
    tickets.set_labels(db, project.id, "merge_requests", row_id, context.forms("merge_request[label_ids][]"))
    # Keep the ends of what is to be merged: branches may go away later.
    source, target = (_branch(db, project, name) for name in branches.values())
    if source is not None and target is not None:
        db.update("merge_request", row_id, head_id=source["commit_id"], base_id=target["commit_id"])
    if values["assignee_id"]:
        tickets.add_todo(context, project, "merge_requests", row_id, values["assignee_id"], "assigned")
    if values["reviewer_id"]:
        tickets.add_todo(context, project, "merge_requests", row_id, values["reviewer_id"], "review_requested")
    return tickets.announce(context, project, "merge_requests", row_id)


# ---------------------------------------------------------------------- one of them


@site.get("/{namespace}/{project}/-/merge_requests/{iid}", "/{namespace}/{project}/-/merge_requests/{iid}/{tab}")
def merge_request(context: Context) -> Response:
    """One merge request: discussion, commits or changes."""
    project = project_of(context)
    row = tickets.ticket_of(context, project, "merge_requests")
    db, tab = context.db, context.params.get("tab", "")
    # From where the target branch was to the last commit of the source branch, which open ones follow.
    source = _branch(db, project, row["source_branch"])
    head = source["commit_id"] if source and row["state"] == "opened" else row["head_id"] or 0
    base = row["base_id"] or 0
    commits = db.rows(
        f"{BETWEEN} {COMMIT} WHERE c.id IN history AND c.id NOT IN old ORDER BY c.created_at DESC, c.id DESC",
        head,
        base,
    )
    changed = db.rows(
        f"{BETWEEN} SELECT f.* FROM commit_file f WHERE f.commit_id IN history"
        f" AND f.commit_id NOT IN old ORDER BY f.path, f.id",
        head,
        base,
    )
    approvals = db.rows(
        "SELECT user.* FROM approval a JOIN user ON user.id = a.user_id WHERE a.merge_request_id = ?", row["id"]
    )
    return context.page(
        "merge_request.html", project=project, row=row, tab=tab if tab in TABS else "", commits=commits,
        changed=changed, approvals=approvals, approved=any(one["id"] == user_id(context) for one in approvals),
        notes=tickets.notes_of(db, "merge_requests", row["id"]), source_exists=source is not None,
        labels=tickets.labels_of(db, "merge_requests", row["id"]),
        milestone=db.get("milestone", row["milestone_id"] or 0),
        may_edit=tickets.may_edit(context, project, "merge_requests", row), may_approve=project.allows(DEVELOPER),
        may_merge=may_push(project, row["target_branch"]), widget=bool(context.query("widget")),
        **tickets.people_by_id(db, row, "author_id", "assignee_id", "reviewer_id", "merged_by_id"),
    )  # fmt: skip


@site.post("/{namespace}/{project}/-/merge_requests/{iid}")
def update_merge_request(context: Context) -> Response:
    """Keep what the form says."""
    project, row = tickets.editable(context, "merge_requests")
    values, error = _fields(context, project)
    if error:
        return tickets.show_form(context, project, "merge_requests", row, {**dict(row), **values}, error)
    for column, action, text in (
        ("reviewer_id", "review_requested", "requested review from"),
        ("assignee_id", "assigned", "assigned to"),
    ):
        if values[column] != row[column] and values[column]:
            person = context.db.get("user", values[column])
            text = f"{text} @{person['username'] if person else ''}"
            tickets.add_note(context, project, "merge_requests", row, text, system=True)
            tickets.add_todo(context, project, "merge_requests", row["id"], values[column], action)
    context.db.update("merge_request", row["id"], **values, updated_at=context.db.now())
    tickets.set_labels(context.db, project.id, "merge_requests", row["id"], context.forms("merge_request[label_ids][]"))
    return context.redirect(f"{project.url}/-/merge_requests/{row['iid']}")


@site.post(
    "/{namespace}/{project}/-/merge_requests/{iid}/approve", "/{namespace}/{project}/-/merge_requests/{iid}/unapprove"
)
def approve(context: Context) -> Response:
    """Approve, or take the approval back."""
    project = writable(context, DEVELOPER)
    row = tickets.ticket_of(context, project, "merge_requests")
    me = context.member["id"]
    known = context.db.value("SELECT id FROM approval WHERE merge_request_id = ? AND user_id = ?", row["id"], me)
    wanted = context.request.path.rstrip("/").endswith("/approve")
    if wanted and known is None:
        context.db.insert("approval", merge_request_id=row["id"], user_id=me, created_at=context.db.now())
        tickets.add_note(context, project, "merge_requests", row, "approved this merge request", system=True)
    elif not wanted and known is not None:
        context.db.delete("approval", known)
        tickets.add_note(context, project, "merge_requests", row, "unapproved this merge request", system=True)
    return context.redirect(f"{project.url}/-/merge_requests/{row['iid']}")


@site.post("/{namespace}/{project}/-/merge_requests/{iid}/merge")
def merge(context: Context) -> Response:
    """Bring the source branch into the target branch by a commit with two parents."""
    project = writable(context, DEVELOPER)
    row = tickets.ticket_of(context, project, "merge_requests")
    url = f"{project.url}/-/merge_requests/{row['iid']}"
    db = context.db
    source, target = _branch(db, project, row["source_branch"]), _branch(db, project, row["target_branch"])
    if not may_push(project, row["target_branch"]):
        raise Forbidden
    if row["state"] != "opened" or row["draft"] or source is None or target is None:
        return context.redirect(url, "error: This merge request cannot be merged.")
    _merge_files(context, project, row, source, target)
    me = context.member["id"]
    db.update(
        "merge_request", row["id"], state="merged", head_id=source["commit_id"], merged_by_id=me, closed_at=db.now()
    )
    tickets.add_note(context, project, "merge_requests", row, "merged", system=True)
    if context.form("remove_source_branch"):
        remove_ref(db, source["id"])
    return context.redirect(url, "The changes were merged.")


def _merge_files(
    context: Context, project: Project, row: sqlite3.Row, source: sqlite3.Row, target: sqlite3.Row
) -> None:
    """Every file that the commits between the branches touched gets the content of the source branch."""
    db = context.db
    title = f"Merge branch '{row['source_branch']}' into '{row['target_branch']}'\n\n{row['title']}"
    commit = new_commit(context, project, target["commit_id"], source["commit_id"], title)
    touched = db.rows(
        f"{BETWEEN} SELECT DISTINCT f.path FROM commit_file f WHERE f.commit_id IN history"
        f" AND f.commit_id NOT IN old ORDER BY 1",
        source["commit_id"],
        target["commit_id"],
    )
    for (path,) in touched:
        entry = db.row("SELECT * FROM tree_entry WHERE ref_id = ? AND path = ?", source["id"], path)
        put_file(db, target["id"], path, entry["blob_id"] if entry else None, entry["commit_id"] if entry else commit)
    db.update("ref", target["id"], commit_id=commit)
