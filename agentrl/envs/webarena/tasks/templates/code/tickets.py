"""Tasks of the code host that change issues and merge requests."""

from __future__ import annotations

from itertools import product

from agentrl.envs.webarena.sites.code.host import DEVELOPER, MAINTAINER, REPORTER
from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import (
    Act,
    Answer,
    Check,
    Choose,
    Click,
    Fill,
    On,
    Parameters,
    Template,
    literal,
)
from agentrl.envs.webarena.tasks.templates.code.kit import (
    AGENT,
    DUE_DATE,
    LAST_COMMENT,
    ME,
    SITES,
    STATE,
    TITLE,
    Row,
    at,
    days,
    direct_members,
    exists,
    next_numbers,
    projects,
    query,
    shown,
    some,
    text_of,
    to_page,
    to_ticket,
    until,
)

COMMENTS = (
    "Looks good to me", "Good idea", "I will have a look next week", "Could you add a test for this?", "Thank you!",
    "Please rebase this", "Let us talk about it in the next meeting", "I cannot reproduce this", "Great work",
    "Is this still relevant?", "Agreed, go ahead", "This needs more discussion",
)  # fmt: skip
ISSUE_TITLES = (
    "404 for many URLs", "Dark mode is missing", "Update the licence year", "Slow start on old laptops",
    "Broken link in the README", "Add a code of conduct", "Installer asks twice", "Document the release process",
)  # fmt: skip
BRANCHES = 'document.querySelectorAll(".detail-page-description > a.gl-font-monospace")[{}].outerText'


def _tickets(world: World, table: str, level: int) -> list[Row]:
    """Open issues or merge requests of projects where the agent has this level."""
    known = {row["id"]: row["project"] for row in projects(world, level)}
    sql = f"SELECT id, project_id, iid, title, assignee_id FROM {table} WHERE state = 'opened' ORDER BY id"
    return [{"project": known[row["project_id"]], **row} for row in query(world, sql) if row["project_id"] in known]


def _place(row: Parameters, kind: str = "issues") -> str:
    return f"/{row['project']}/-/{kind}/{row['iid']}"


def _way(row: Parameters, kind: str, *acts: Act) -> list[On]:
    return to_ticket(row["project"], kind, row["iid"], row["title"], *acts)


# ---------------------------------------------------------------------- issues


def _new_issues(world: World) -> list[Row]:
    numbers = next_numbers(world, "issue")
    rows = [
        {"project": row["project"], "title": title, "due": str(due), "shown": day(str(due)), "iid": numbers[row["id"]]}
        for row in projects(world, REPORTER)
        for title, due in zip(ISSUE_TITLES, days(row["project"], len(ISSUE_TITLES)), strict=True)
    ]
    return some(rows, "new issues")


def _closable(world: World) -> list[Row]:
    return some(_tickets(world, "issue", REPORTER), "closing")


def _assignable(world: World) -> list[Row]:
    """Open issues, each with a member who is not its assignee yet."""
    members, rows = direct_members(world), []
    for row in some(_tickets(world, "issue", REPORTER), "assigning"):
        others = [one for one in members.get(row["project_id"], ()) if one["id"] != row["assignee_id"]]
        if others:
            one = others[row["iid"] % len(others)]
            rows.append({**row, "name": one["name"], "username": one["username"], "user": one["id"]})
    return rows


def _datable(world: World) -> list[Row]:
    rows = some(_tickets(world, "issue", REPORTER), "due dates")
    dates = days("due dates", len(rows))
    return [{**row, "due": str(due), "shown": day(str(due))} for row, due in zip(rows, dates, strict=True)]


def _labellable(world: World) -> list[Row]:
    """Open issues, each with a label that it has not."""
    known = {row["id"]: row["project"] for row in projects(world, REPORTER)}
    rows = query(
        world,
        """SELECT issue.project_id, issue.id, issue.iid, issue.title, label.id AS label_id, label.name AS label
           FROM issue JOIN label ON label.project_id = issue.project_id WHERE issue.state = 'opened' AND NOT EXISTS
           (SELECT 1 FROM issue_label l WHERE l.issue_id = issue.id AND l.label_id = label.id)
           ORDER BY issue.id, label.id""",
    )
    found = [{"project": known[row["project_id"]], **row} for row in rows if row["project_id"] in known]
    return some(found, "labels", 60)


def _edited(row: Parameters, *acts: Act) -> list[On]:
    """Open the form of an issue, change it and save it."""
    place = _place(row)
    return [
        *_way(row, "issues", Click(f'a[href="{place}/edit"]')),
        On(at(f"{place}/edit"), [*acts, Click("button", "Save changes")]),
    ]


def _create_issue(row: Parameters) -> list[On]:
    acts = [
        Fill("#issue_title", row["title"]),
        Choose("#issue_assignee_ids_", f"Byte Blaze (@{AGENT})"),
        Fill("#issuable-due-date", row["due"]),
        Click("button", "Create issue"),
    ]
    return [
        *to_page(row["project"], "-/issues", Click("a.button", "New issue")),
        On(at(f"/{row['project']}/-/issues/new"), acts),
        On(at(_place(row)), [Answer()]),
    ]


ISSUE_TEMPLATES = (
    Template(
        name="code-create-issue",
        sites=SITES,
        skill="fill-form",
        intents=(
            'Create an issue in {project} with title "{title}". Assign the issue to myself. Set due date to be {due}.',
            'Open a new issue "{title}" in {project}, assigned to me and due on {due}.',
            'File an issue with the title "{title}" in the {project} repo; I take it, and it is due {due}.',
        ),
        parameters=_new_issues,
        evaluation=lambda row: shown(
            (_place(row), TITLE, row["title"]),
            (_place(row), DUE_DATE, [row["shown"]]),
            (_place(row), text_of(".block.assignee"), ["Byte Blaze"]),
        ),
        solution=_create_issue,
    ),
    Template(
        name="code-close-issue",
        sites=SITES,
        skill="edit-record",
        intents=(
            'Close the issue "{title}" in {project}.',
            'The issue "{title}" of {project} is solved. Close it.',
            'Please close the {project} issue titled "{title}".',
        ),
        parameters=_closable,
        evaluation=lambda row: shown((_place(row), STATE, "Closed")),
        solution=lambda row: [
            *_way(row, "issues", Click(".aside button", "Close issue")),
            until(exists("SELECT 1 FROM issue WHERE id = ? AND state = 'closed'", row["id"])),
        ],
    ),
    Template(
        name="code-assign-issue",
        sites=SITES,
        skill="edit-record",
        intents=(
            'Assign the issue "{title}" in {project} to {name}.',
            'Make {name} (@{username}) the assignee of the {project} issue "{title}".',
        ),
        parameters=_assignable,
        evaluation=lambda row: shown((_place(row), text_of(".block.assignee"), [row["name"]])),
        solution=lambda row: [
            *_edited(row, Choose("#issue_assignee_ids_", f"{row['name']} (@{row['username']})")),
            until(exists("SELECT 1 FROM issue WHERE id = ? AND assignee_id = ?", row["id"], row["user"])),
        ],
    ),
    Template(
        name="code-set-due-date",
        sites=SITES,
        skill="edit-record",
        intents=(
            'Set the due date of the issue "{title}" in {project} to {due}.',
            'The {project} issue "{title}" should be due on {due}. Please change it.',
        ),
        parameters=_datable,
        evaluation=lambda row: shown((_place(row), DUE_DATE, [row["shown"]])),
        solution=lambda row: [
            *_edited(row, Fill("#issuable-due-date", row["due"])),
            until(exists("SELECT 1 FROM issue WHERE id = ? AND due_date = ?", row["id"], row["due"])),
        ],
    ),
    Template(
        name="code-label-issue",
        sites=SITES,
        skill="edit-record",
        held_out=True,
        intents=(
            'Add the label "{label}" to the issue "{title}" in {project}.',
            'Label the {project} issue "{title}" as {label}.',
        ),
        parameters=_labellable,
        evaluation=lambda row: shown((_place(row), text_of(".block.labels"), [row["label"]])),
        solution=lambda row: [
            *_edited(row, Check(f"#label_{row['label_id']}")),
            until(exists("SELECT 1 FROM issue_label WHERE issue_id = ? AND label_id = ?", row["id"], row["label_id"])),
        ],
    ),
)


# ---------------------------------------------------------------------- comments


def _commented(world: World, table: str) -> list[Row]:
    rows = some(_tickets(world, table, 0), f"comments on {table}")
    return [{**row, "text": COMMENTS[number % len(COMMENTS)]} for number, row in enumerate(rows)]


def _comment(row: Parameters, kind: str, column: str) -> list[On]:
    said = f"SELECT 1 FROM note WHERE {column} = ? AND author_id = ? AND body = ? AND created_at >= '2025-06-16 09'"
    return [
        *_way(row, kind, Fill("#note-body", row["text"]), Click("button", "Comment")),
        until(exists(said, row["id"], ME, row["text"])),
    ]


COMMENT_TEMPLATES = (
    Template(
        name="code-comment-on-issue",
        sites=SITES,
        skill="post-text",
        intents=(
            'Post "{text}" on the issue "{title}" in {project}.',
            'Add the comment "{text}" to the {project} issue titled "{title}".',
        ),
        parameters=lambda world: _commented(world, "issue"),
        evaluation=lambda row: shown((_place(row), LAST_COMMENT, row["text"])),
        solution=lambda row: _comment(row, "issues", "issue_id"),
    ),
    Template(
        name="code-comment-on-merge-request",
        sites=SITES,
        skill="post-text",
        held_out=True,
        intents=(
            'Post "{text}" for the merge request "{title}" in {project}.',
            'Reply "{text}" on the merge request titled "{title}" of {project}.',
        ),
        parameters=lambda world: _commented(world, "merge_request"),
        evaluation=lambda row: shown((_place(row, "merge_requests"), LAST_COMMENT, row["text"])),
        solution=lambda row: _comment(row, "merge_requests", "merge_request_id"),
    ),
)


# ---------------------------------------------------------------------- merge requests


def _free_branches(world: World) -> list[Row]:
    """Branches without a merge request, each with members who could review one."""
    numbers, members = next_numbers(world, "merge_request"), direct_members(world)
    rows: list[Row] = []
    for row in projects(world, DEVELOPER):
        branches = query(
            world,
            """SELECT name FROM ref WHERE project_id = ?1 AND kind = 'branch' AND name != 'main' AND name NOT IN
               (SELECT source_branch FROM merge_request WHERE project_id = ?1) ORDER BY name""",
            row["id"],
        )
        for branch, one in product(branches, members.get(row["id"], ())):
            reviewer = {"name": one["name"], "username": one["username"]}
            rows.append({"project": row["project"], "branch": branch["name"], **reviewer, "iid": numbers[row["id"]]})
    return some(rows, "branches")


def _approvable(world: World) -> list[Row]:
    approved = {row["id"] for row in query(world, f"SELECT merge_request_id AS id FROM approval WHERE user_id = {ME}")}
    return [row for row in _tickets(world, "merge_request", DEVELOPER) if row["id"] not in approved]


def _create_merge_request(row: Parameters) -> list[On]:
    form = f"/{row['project']}/-/merge_requests/new"
    return [
        *to_page(row["project"], "-/merge_requests", Click("a.button", "New merge request")),
        On(at(form), [Choose("#source_branch", row["branch"]), Click("button", "Compare branches and continue")]),
        On(
            rf"__GITLAB__{literal(form)}\?",
            [
                Choose("#merge_request_reviewer_ids_", f"{row['name']} (@{row['username']})"),
                Click("button", "Create merge request"),
            ],
        ),
        On(at(_place(row, "merge_requests")), [Answer()]),
    ]


MERGE_REQUEST_TEMPLATES = (
    Template(
        name="code-create-merge-request",
        sites=SITES,
        skill="fill-form",
        intents=(
            "Submit a merge request for the {branch} branch of {project} to be merged into main, with {name} as the "
            "reviewer.",
            "Open a merge request in {project} from {branch} into main and choose {name} as the reviewer.",
        ),
        parameters=_free_branches,
        evaluation=lambda row: shown(
            (_place(row, "merge_requests"), BRANCHES.format(0), row["branch"]),
            (_place(row, "merge_requests"), BRANCHES.format(1), "main"),
            (_place(row, "merge_requests"), text_of(".block.reviewer"), [row["name"]]),
        ),
        solution=_create_merge_request,
    ),
    Template(
        name="code-approve-merge-request",
        sites=SITES,
        skill="press-button",
        intents=(
            'Approve the merge request "{title}" in {project}.',
            'Give my approval to the {project} merge request "{title}".',
        ),
        parameters=_approvable,
        evaluation=lambda row: shown(
            (_place(row, "merge_requests"), text_of("#notes-list"), ["Byte Blaze approved this merge request"])
        ),
        solution=lambda row: [
            *_way(row, "merge_requests", Click("button", "Approve")),
            until(exists("SELECT 1 FROM approval WHERE merge_request_id = ? AND user_id = ?", row["id"], ME)),
        ],
    ),
    Template(
        name="code-merge",
        sites=SITES,
        skill="press-button",
        held_out=True,
        intents=(
            'Merge the merge request "{title}" of {project}.',
            'Bring the changes of "{title}" in {project} into main by merging them.',
        ),
        parameters=lambda world: _tickets(world, "merge_request", MAINTAINER),
        evaluation=lambda row: shown((_place(row, "merge_requests"), STATE, "Merged")),
        solution=lambda row: [
            *_way(row, "merge_requests", Click("button", "Merge")),
            until(exists("SELECT 1 FROM merge_request WHERE id = ? AND state = 'merged'", row["id"])),
        ],
    ),
)

TEMPLATES = (*ISSUE_TEMPLATES, *COMMENT_TEMPLATES, *MERGE_REQUEST_TEMPLATES)
