"""Tasks of the code host that change issues and merge requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from agentrl.envs.webarena.sites.code.host import DEVELOPER, MAINTAINER, REPORTER
from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import (
    Act,
    Check,
    Choose,
    Click,
    Fill,
    On,
    Parameters,
    Reveal,
    Template,
    template,
)
from agentrl.envs.webarena.tasks.templates.code.kit import (
    AGENT,
    ME,
    SEVERAL,
    SITES,
    at,
    days,
    direct_members,
    next_numbers,
    of_projects,
    projects,
    ticket,
    to_page,
    to_ticket,
    until,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, done, in_turn, query, shows, some, text_of

COMMENTS = (
    "Looks good to me", "Good idea", "I will have a look next week", "Could you add a test for this?", "Thank you!",
    "Please rebase this", "Let us talk about it in the next meeting", "I cannot reproduce this", "Great work",
    "Is this still relevant?", "Agreed, go ahead", "This needs more discussion",
)  # fmt: skip
ISSUE_TITLES = (
    "404 for many URLs", "Dark mode is missing", "Update the licence year", "Slow start on old laptops",
    "Broken link in the README", "Add a code of conduct", "Installer asks twice", "Document the release process",
)  # fmt: skip
TITLE = text_of('[data-qa-selector="title_content"]')
DUE_DATE = text_of('[data-testid="sidebar-due-date"]')
STATE = text_of(".main .state")
BRANCHES = 'document.querySelectorAll(".detail-page-description > a.gl-font-monospace")[{}].outerText'
LAST_COMMENT = (
    "document.querySelector('[id=\"notes-list\"').lastElementChild.querySelector('.timeline-discussion-body').outerText"
)
WIDGET = Reveal("#mr-widget form")  # comes later
SAID = "SELECT 1 FROM note WHERE {} = ? AND author_id = ? AND body = ? AND created_at >= '2025-06-16 09'"


def _tickets(world: World, table: str, level: int) -> list[Row]:
    """Open issues or merge requests of projects where the agent has this level."""
    sql = f"SELECT id, project_id, iid, title, assignee_id FROM {table} WHERE state = 'opened' ORDER BY id"
    return of_projects(world, sql, level)


def _shows(row: Parameters, kind: str, *targets: tuple[str, str | list[str]]) -> dict:
    return shows(*((f"__GITLAB__{ticket(row, kind)}", locator, text) for locator, text in targets))


# ---------------------------------------------------------------------- issues


@template(
    "code-create-issue", SITES, "fill-form",
    ("Create an issue in {project} with title \"{title}\". Assign the issue to myself. Set due date to be {due}.",
     "Open a new issue \"{title}\" in {project}, assigned to me and due on {due}.",
     "File an issue with the title \"{title}\" in the {project} repo; I take it, and it is due {due}."),
    lambda row: _shows(
        row, "issues", (TITLE, row["title"]), (DUE_DATE, [row["shown"]]), (text_of(".block.assignee"), ["Byte Blaze"])
    ),
    lambda row: [
        *to_page(row["project"], "-/issues", Click("a.button", "New issue")),
        On(at(f"/{row['project']}/-/issues/new"), [
            Fill("#issue_title", row["title"]), Choose("#issue_assignee_ids_", f"Byte Blaze (@{AGENT})"),
            Fill("#issuable-due-date", row["due"]), Click("button", "Create issue"),
        ]),
        done(at(ticket(row))),
    ],
)  # fmt: skip
def create_issue(world: World) -> list[Row]:
    numbers = next_numbers(world, "issue")
    rows = [
        {"project": row["project"], "title": title, "due": str(due), "shown": day(str(due)), "iid": numbers[row["id"]]}
        for row in projects(world, REPORTER)
        for title, due in zip(ISSUE_TITLES, days(row["project"], len(ISSUE_TITLES)), strict=True)
    ]
    return some(rows, "code new issues", SEVERAL)


@template(
    "code-assign-issue", SITES, "edit-record",
    ("Assign the issue \"{title}\" in {project} to {name}.",
     "Make {name} (@{username}) the assignee of the {project} issue \"{title}\"."),
    lambda row: _shows(row, "issues", (text_of(".block.assignee"), [row["name"]])),
    lambda row: [
        *_edit(row, Choose("#issue_assignee_ids_", f"{row['name']} (@{row['username']})")),
        until("SELECT 1 FROM issue WHERE id = ? AND assignee_id = ?", row["id"], row["user"]),
    ],
)  # fmt: skip
def assign_issue(world: World) -> Iterator[Row]:
    """Open issues, each with a member who is not its assignee yet."""
    members = direct_members(world)
    for row in some(_tickets(world, "issue", REPORTER), "code assigning", SEVERAL):
        others = [one for one in members.get(row["project_id"], ()) if one["id"] != row["assignee_id"]]
        if others:
            one = others[row["iid"] % len(others)]
            yield {**row, "name": one["name"], "username": one["username"], "user": one["id"]}


@template(
    "code-label-issue", SITES, "edit-record",
    ("Add the label \"{label}\" to the issue \"{title}\" in {project}.",
     "Label the {project} issue \"{title}\" as {label}."),
    lambda row: _shows(row, "issues", (text_of(".block.labels"), [row["label"]])),
    lambda row: [
        *_edit(row, Check(f"#label_{row['label_id']}")),
        until("SELECT 1 FROM issue_label WHERE issue_id = ? AND label_id = ?", row["id"], row["label_id"]),
    ],
    held_out=True,
)  # fmt: skip
def label_issue(world: World) -> list[Row]:
    """Open issues, each with a label that it has not."""
    sql = """SELECT issue.project_id, issue.id, issue.iid, issue.title, label.id AS label_id, label.name AS label
        FROM issue JOIN label ON label.project_id = issue.project_id WHERE issue.state = 'opened' AND NOT EXISTS
        (SELECT 1 FROM issue_label l WHERE l.issue_id = issue.id AND l.label_id = label.id)
        ORDER BY issue.id, label.id"""
    return some(of_projects(world, sql, REPORTER), "code labels", 60)


def _edit(row: Parameters, *acts: Act) -> list[On]:
    """Open the form of an issue, change it and save it."""
    form = f"{ticket(row)}/edit"
    return [
        *to_ticket(row, "issues", Click(f'a[href="{form}"]')),
        On(at(form), [*acts, Click("button", "Save changes")]),
    ]


def _close(row: Parameters) -> list[On]:
    return [
        *to_ticket(row, "issues", Click(".aside button", "Close issue")),
        until("SELECT 1 FROM issue WHERE id = ? AND state = 'closed'", row["id"]),
    ]


ISSUES = (
    create_issue,
    Template(
        "code-close-issue", SITES, "edit-record",
        ("Close the issue \"{title}\" in {project}.", "The issue \"{title}\" of {project} is solved. Close it.",
         "Please close the {project} issue titled \"{title}\"."),
        lambda world: some(_tickets(world, "issue", REPORTER), "code closing", SEVERAL),
        lambda row: _shows(row, "issues", (STATE, "Closed")),
        _close,
    ),
    assign_issue, label_issue,
)  # fmt: skip


# ---------------------------------------------------------------------- comments


def _commented(world: World, table: str, level: int = 0) -> list[Row]:
    rows = some(_tickets(world, table, level), f"code comments on {table}", SEVERAL)
    return [{**row, "text": COMMENTS[number % len(COMMENTS)]} for number, row in enumerate(rows)]


def _comment(row: Parameters, kind: str, column: str) -> list[On]:
    return [
        *to_ticket(row, kind, Fill("#note-body", row["text"]), Click("button", "Comment")),
        until(SAID.format(column), row["id"], ME, row["text"]),
    ]


TEXTS = (
    Template(
        "code-comment-on-issue", SITES, "post-text",
        ("Post \"{text}\" on the issue \"{title}\" in {project}.",
         "Add the comment \"{text}\" to the {project} issue titled \"{title}\"."),
        lambda world: _commented(world, "issue"), lambda row: _shows(row, "issues", (LAST_COMMENT, row["text"])),
        lambda row: _comment(row, "issues", "issue_id"),
    ),
    Template(
        "code-comment-on-merge-request", SITES, "post-text",
        ("Post \"{text}\" for the merge request \"{title}\" in {project}.",
         "Reply \"{text}\" on the merge request titled \"{title}\" of {project}."),
        lambda world: _commented(world, "merge_request"),
        lambda row: _shows(row, "merge_requests", (LAST_COMMENT, row["text"])),
        lambda row: _comment(row, "merge_requests", "merge_request_id"), held_out=True,
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- several changes


@template(
    "code-plan-issue", SITES, "edit-record",
    ("Assign the issue \"{title}\" in {project} to {name}, set its due date to {due}, and then comment \"{text}\".",
     "The {project} issue \"{title}\" goes to {name} (@{username}) and is due on {due}. Say \"{text}\" below it."),
    lambda row: _shows(
        row, "issues", (text_of(".block.assignee"), [row["name"]]), (DUE_DATE, [row["shown"]]),
        (LAST_COMMENT, row["text"]),
    ),
    lambda row: in_turn(
        [
            *_edit(row, Choose("#issue_assignee_ids_", f"{row['name']} (@{row['username']})"),
                   Fill("#issuable-due-date", row["due"])),
            until("SELECT 1 FROM issue WHERE id = ? AND assignee_id = ? AND due_date = ?",
                  row["id"], row["user"], row["due"]),
        ],
        _comment(row, "issues", "issue_id"),
    ),
)  # fmt: skip
def plan_issue(world: World) -> Iterator[Row]:
    rows = list(assign_issue.parameters(world))
    for place, (row, due) in enumerate(zip(rows, days("plans", len(rows)), strict=True)):
        yield {**row, "due": str(due), "shown": day(str(due)), "text": COMMENTS[-1 - place % len(COMMENTS)]}


SEVERAL_CHANGES = (
    plan_issue,
    Template(
        "code-close-and-answer", SITES, "edit-record",
        ("Close the issue \"{title}\" in {project}, and then comment \"{text}\" on it.",
         "The {project} issue \"{title}\" is to be closed. Write \"{text}\" below it after that."),
        lambda world: _commented(world, "issue", REPORTER),
        lambda row: _shows(row, "issues", (STATE, "Closed"), (LAST_COMMENT, row["text"])),
        lambda row: in_turn(_close(row), _comment(row, "issues", "issue_id")),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- merge requests


@template(
    "code-create-merge-request", SITES, "fill-form",
    ("Submit a merge request for the {branch} branch of {project} to be merged into main, with {name} as the "
     "reviewer.",
     "Open a merge request in {project} from {branch} into main and choose {name} as the reviewer."),
    lambda row: _shows(
        row, "merge_requests", (BRANCHES.format(0), row["branch"]), (BRANCHES.format(1), "main"),
        (text_of(".block.reviewer"), [row["name"]]),
    ),
    lambda row: [
        *to_page(row["project"], "-/merge_requests", Click("a.button", "New merge request")),
        On(at(f"/{row['project']}/-/merge_requests/new"),
           [Choose("#source_branch", row["branch"]), Click("button", "Compare branches and continue")]),
        On("__GITLAB__" + re.escape(f"/{row['project']}/-/merge_requests/new?"), [
            Choose("#merge_request_reviewer_ids_", f"{row['name']} (@{row['username']})"),
            Click("button", "Create merge request"),
        ]),
        done(at(ticket(row, "merge_requests"))),
    ],
)  # fmt: skip
def create_merge_request(world: World) -> list[Row]:
    """Branches without a merge request, each with members who could review one."""
    numbers, members = next_numbers(world, "merge_request"), direct_members(world)
    sql = """SELECT name FROM ref WHERE project_id = ?1 AND kind = 'branch' AND name != 'main' AND name NOT IN
        (SELECT source_branch FROM merge_request WHERE project_id = ?1) ORDER BY name"""
    rows: list[Row] = []
    for row in projects(world, DEVELOPER):
        for branch, one in product(query(world, "code", sql, row["id"]), members.get(row["id"], ())):
            reviewer = {"name": one["name"], "username": one["username"]}
            rows.append({"project": row["project"], "branch": branch["name"], **reviewer, "iid": numbers[row["id"]]})
    return some(rows, "code branches", SEVERAL)


@template(
    "code-approve-merge-request", SITES, "press-button",
    ("Approve the merge request \"{title}\" in {project}.",
     "Give my approval to the {project} merge request \"{title}\"."),
    lambda row: _shows(row, "merge_requests", (text_of("#notes-list"), ["Byte Blaze approved this merge request"])),
    lambda row: [
        *to_ticket(row, "merge_requests", WIDGET, Click("button", "Approve")),
        until("SELECT 1 FROM approval WHERE merge_request_id = ? AND user_id = ?", row["id"], ME),
    ],
)  # fmt: skip
def approve_merge_request(world: World) -> list[Row]:
    approved = query(world, "code", f"SELECT merge_request_id AS id FROM approval WHERE user_id = {ME}")
    known = {row["id"] for row in approved}
    return [row for row in _tickets(world, "merge_request", DEVELOPER) if row["id"] not in known]


MERGE_REQUESTS = (
    create_merge_request, approve_merge_request,
    Template(
        "code-merge", SITES, "press-button",
        ("Merge the merge request \"{title}\" of {project}.",
         "Bring the changes of \"{title}\" in {project} into main by merging them."),
        lambda world: _tickets(world, "merge_request", MAINTAINER),
        lambda row: _shows(row, "merge_requests", (STATE, "Merged")),
        lambda row: [
            *to_ticket(row, "merge_requests", WIDGET, Click("button", "Merge")),
            until("SELECT 1 FROM merge_request WHERE id = ? AND state = 'merged'", row["id"]),
        ],
        held_out=True,
    ),
)  # fmt: skip
TEMPLATES = (*ISSUES, *TEXTS, *SEVERAL_CHANGES, *MERGE_REQUESTS)
