"""Tasks of the code host that change projects, their members, groups and the agent's own account."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from random import Random

from agentrl.envs.webarena.sites.code.host import DEVELOPER, GUEST, MAINTAINER, OWNER, REPORTER, ROLES
from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Check, Choose, Click, Fill, On, Parameters, Reveal, Template, template
from agentrl.envs.webarena.tasks.templates.code.kit import (
    AGENT,
    ME,
    SEVERAL,
    SITES,
    at,
    days,
    direct_members,
    next_numbers,
    people,
    projects,
    to_page,
    to_project,
    to_user,
    until,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, done, query, shows, some, text_of

PROJECT_NAMES = (
    "awesome-llms", "agent-playground", "reading-list", "home-lab", "paper-notes", "weekend-game", "tea-timer",
    "garden-plan", "web-agent-android", "kitchen-clock", "moon-phases", "rss-digest", "sock-matcher", "train-spotter",
    "word-ladder", "puzzle-box", "cloud-atlas", "tiny-blog", "snow-report", "bird-log",
)  # fmt: skip
TEMPLATE_NAMES = ("Android", "NodeJS Express", "Ruby on Rails", "Spring", "Python")
NEW_FILES = {
    "NOTES.md": "Meeting every second Tuesday",
    "AUTHORS": "Byte Blaze",
    "docs/faq.md": "Ask first, then open an issue",
}
STATUSES = (
    "Enjoying life", "Busy", "Resting due to leg injury", "Playing badminton", "Out of office", "Reviewing all day",
    "At a conference", "On parental leave", "Learning Rust", "Fighting with the build", "In the garden", "Travelling",
)  # fmt: skip
GROUP_NAMES = (
    "book-club", "night-owls", "data-pirates", "coffee-lab", "sunday-coders", "green-tools", "map-makers",
    "retro-games",
)  # fmt: skip
VISIBILITY = "document.querySelector('.visibility-icon').getAttribute('title')"
ROLE = "func:gitlab_get_project_memeber_role(__page__, '{}')"  # the benchmark's own spelling
# Users with access to a project (?1).
MEMBERS = """SELECT user_id AS id FROM project_member WHERE project_id = ?1 UNION SELECT m.user_id FROM team_member m
    JOIN project p ON p.team_id = m.team_id WHERE p.id = ?1"""
IN_GROUP = """SELECT 1 FROM team JOIN team_member m ON m.team_id = team.id JOIN user ON user.id = m.user_id
    WHERE team.path = ? AND user.username = ?"""


# ---------------------------------------------------------------------- projects


@template(
    "code-star-project", SITES, "press-button",
    ("Star the project {project}.", "Give {project} a star."),
    lambda row: shows(
        (f"__GITLAB__/users/{AGENT}/starred", text_of(".user-profile"), [row["project"].replace("/", " / ")])
    ),
    lambda row: [
        *to_project(row["project"], Click("button", "Star")),
        until("SELECT 1 FROM star WHERE project_id = ? AND user_id = ?", row["id"], ME),
    ],
)  # fmt: skip
def star_project(world: World) -> list[Row]:
    starred = {row["id"] for row in query(world, "code", "SELECT project_id AS id FROM star WHERE user_id = ?", ME)}
    return [{"project": row["project"], "id": row["id"]} for row in projects(world) if row["id"] not in starred]


@template(
    "code-fork-project", SITES, "fill-form",
    ("Fork {project}.", "Make a fork of {project} in my own namespace."),
    lambda row: shows(
        (f"__GITLAB__/{AGENT}/{row['path']}", text_of("#content-body"),
         [f"Forked from {row['project'].replace('/', ' / ')}"])
    ),
    lambda row: [
        *to_project(row["project"], Click("a.fork-btn")),
        On(at(f"/{row['project']}/-/forks/new"),
           [Choose("#fork-namespace", AGENT), Click("button", "Fork project")]),
        done(at(f"/{AGENT}/{row['path']}")),
    ],
)  # fmt: skip
def fork_project(world: World) -> list[Row]:
    taken = {row["path"] for row in projects(world) if row["owner_id"] == ME}
    return [{"project": row["project"], "path": row["path"]} for row in projects(world) if row["path"] not in taken]


def _create(row: Parameters) -> list[On]:
    """The form for a blank project, or the one with a template if the row names one."""
    acts = [
        Fill("#project_name", row["name"]), Choose("#project_namespace_id", AGENT),
        Check(f"#visibility_{row['visibility']}"), Click("button", "Create project"),
    ]  # fmt: skip
    way = [On("__GITLAB__", [Click("a.bar-link", "New project")])]
    if "template" in row:
        way.append(On(at("/projects/new"), [Click("a.tab", "Create from template")]))
        way.append(On(at("/projects/new/template"), [Choose("#project_template_name", row["template"]), *acts]))
    else:
        way.append(On(at("/projects/new"), acts))
    return [*way, done(at(f"/{AGENT}/{row['name']}"))]


@template(
    "code-create-milestone", SITES, "fill-form",
    ("Create a milestone \"{title}\" in {project} that starts on {start} and is due on {due}.",
     "Add the milestone \"{title}\" to {project}, from {start} to {due}."),
    lambda row: shows(
        (f"__GITLAB__/{row['project']}/-/milestones/{row['iid']}", text_of("#content-body"),
         [row["title"], f"Start date: {day(row['start'])}", f"Due date: {day(row['due'])}"])
    ),
    lambda row: [
        *to_page(row["project"], "-/milestones", Click("a.button", "New milestone")),
        On(at(f"/{row['project']}/-/milestones/new"), [
            Fill("#milestone_title", row["title"]), Fill("#milestone_start_date", row["start"]),
            Fill("#milestone_due_date", row["due"]), Click("button", "Create milestone"),
        ]),
        done(at(f"/{row['project']}/-/milestones/{row['iid']}")),
    ],
)  # fmt: skip
def create_milestone(world: World) -> Iterator[Row]:
    numbers = next_numbers(world, "milestone")
    for row in projects(world, REPORTER):
        starts = days(f"milestones {row['project']}", 3)
        for title, start in zip(("Hardening", "Public beta", "Clean-up week"), starts, strict=True):
            dates = {"start": str(start), "due": str(start + timedelta(days=30))}
            yield {"project": row["project"], "title": title, **dates, "iid": numbers[row["id"]]}


PROJECTS = (
    star_project, fork_project,
    Template(
        "code-create-project", SITES, "fill-form",
        ("Create a new {visibility} project \"{name}\".",
         "Set up a new {visibility} repository with the name {name}.",
         "Start a {visibility} project called {name}."),
        lambda world: (
            {"name": f"{name}{suffix}", "visibility": level}
            for name, suffix, level in product(PROJECT_NAMES, ("", "-2"), ("public", "private", "internal"))
        ),
        lambda row: shows((f"__GITLAB__/{AGENT}/{row['name']}", VISIBILITY, [row["visibility"]])), _create,
    ),
    Template(
        "code-project-from-template", SITES, "fill-form",
        ("Start a {visibility} project {name} with the {template} template.",
         "Create the {visibility} project {name} from the template {template}."),
        lambda world: (
            {"name": name, "template": template, "visibility": level}
            for name, template, level in product(PROJECT_NAMES[:8], TEMPLATE_NAMES, ("public", "private"))
        ),
        lambda row: shows(
            (f"__GITLAB__/{AGENT}/{row['name']}", VISIBILITY, [row["visibility"]]),
            (f"__GITLAB__/{AGENT}/{row['name']}/-/commits", text_of("#content-body"),
             [f"Initialized from '{row['template']}' project template"]),
        ),
        _create, held_out=True,
    ),
    Template(
        "code-create-file", SITES, "fill-form",
        ("Add a file {file} with the text \"{text}\" to the main branch of {project}.",
         "Create {file} in {project}; it should say \"{text}\"."),
        lambda world: (
            {"project": row["project"], "file": name, "text": text}
            for row in projects(world, MAINTAINER) for name, text in NEW_FILES.items()
        ),
        lambda row: shows((f"__GITLAB__/{row['project']}/-/raw/main/{row['file']}", "", [row["text"]])),
        lambda row: [
            *to_project(row["project"], Click("a.button-quiet", "New file")),
            On(at(f"/{row['project']}/-/new/main"), [
                Fill("#file_name", row["file"]), Fill("#file_content", row["text"]), Click("button", "Commit changes"),
            ]),
            done(at(f"/{row['project']}/-/blob/main/{row['file']}")),
        ],
    ),
    create_milestone,
)  # fmt: skip


# ---------------------------------------------------------------------- members and groups


INVITE = Reveal("#invite-form", "click", "#invite-members")


def _has_role(row: Parameters) -> dict:
    return shows((f"__GITLAB__/{row['project']}/-/project_members", ROLE.format(row["username"]), [row["role"]]))


@template(
    "code-invite-member", SITES, "fill-form",
    ("Invite {name} (@{username}) to {project} as {role}.",
     "{name} wants to work on {project}. Please add @{username} with the {role} role."),
    _has_role,
    lambda row: [
        *to_page(
            row["project"], "-/project_members", INVITE, Fill("#invite_user", row["username"]),
            Choose("#access_level", row["role"]), Click("button", "Invite"),
        ),
        until("SELECT 1 FROM project_member WHERE project_id = ? AND user_id = ?", row["id"], row["user"]),
    ],
)  # fmt: skip
def invite_member(world: World) -> list[Row]:
    """People who are not among the members of a project, each with a role."""
    rows: list[Row] = []
    for row in projects(world, MAINTAINER):
        inside = {one["id"] for one in query(world, "code", MEMBERS, row["id"])}
        drawn = Random(row["project"]).sample(people(world), 20)
        for one, level in zip(drawn, (GUEST, REPORTER, DEVELOPER, MAINTAINER) * 5, strict=True):
            if one["id"] not in inside:
                person = {"name": one["name"], "username": one["username"], "user": one["id"]}
                rows.append({"project": row["project"], **person, "role": ROLES[level], "id": row["id"]})
    return some(rows, "code invitations", SEVERAL)


@template(
    "code-change-role", SITES, "edit-record",
    ("Change the role of {name} in {project} to {role}.", "Make @{username} a {role} of {project}."),
    _has_role,
    lambda row: [
        *to_page(
            row["project"], "-/project_members", Choose(f"form[action$='/{row['member']}/update'] select", row["role"]),
            Click(f"form[action$='/{row['member']}/update'] button"),
        ),
        until("SELECT 1 FROM project_member WHERE id = ? AND access_level = ?", row["member"], row["level"]),
    ],
    held_out=True,
)  # fmt: skip
def change_role(world: World) -> list[Row]:
    """Members whose role the agent may change, each with another role."""
    members, rows = direct_members(world), []
    for row in projects(world, MAINTAINER):
        for one, level in product(members.get(row["id"], ()), (GUEST, REPORTER, DEVELOPER, MAINTAINER)):
            if level != one["access_level"] < OWNER:
                person = {"name": one["name"], "username": one["username"], "member": one["member"]}
                rows.append({"project": row["project"], **person, "role": ROLES[level], "level": level})
    return some(rows, "code role changes", 60)


@template(
    "code-create-group", SITES, "build-group",
    ("Create a new group \"{group}\" with members @{first} and @{second}.",
     "Set up the group {group} and add {first} and {second} to it."),
    lambda row: shows(
        (f"__GITLAB__/groups/{row['group']}/-/group_members", "", [f"@{row['first']}", f"@{row['second']}"])
    ),
    lambda row: [
        On("__GITLAB__", [Click("a.bar-link", "Groups")]),
        On(at("/dashboard/groups"), [Click("a.button", "New group")]),
        On(at("/groups/new"), [Fill("#group_name", row["group"]), Click("button", "Create group")]),
        On(at(f"/{row['group']}"), [Click("a.side-link", "Members")]),
        On(at(f"/groups/{row['group']}/-/group_members"),
           [INVITE, Fill("#invite_user", f"{row['first']}, {row['second']}"), Click("button", "Invite")]),
        until(IN_GROUP, row["group"], row["second"]),
    ],
    held_out=True,
)  # fmt: skip
def create_group(world: World) -> Iterator[Row]:
    for name, number in product(GROUP_NAMES, range(6)):
        first, second = Random(f"{name} {number}").sample(people(world), 2)
        yield {"group": name, "first": first["username"], "second": second["username"]}


# ---------------------------------------------------------------------- the agent's own account


@template(
    "code-follow-user", SITES, "press-button",
    ("Follow {name} on Codeyard.", "I want to follow {name} (@{username}). Please do that."),
    lambda row: shows(
        (f"__GITLAB__/users/{AGENT}/following", text_of(".user-profile"), [f"@{row['username']}"])
    ),
    lambda row: [
        *to_user(row["username"], row, Click("button", "Follow")),
        until("SELECT 1 FROM follow WHERE user_id = ? AND follows_id = ?", ME, row["id"]),
    ],
)  # fmt: skip
def follow_user(world: World) -> list[Row]:
    followed = {row["id"] for row in query(world, "code", "SELECT follows_id AS id FROM follow WHERE user_id = ?", ME)}
    return [row for row in people(world) if row["id"] not in followed]


@template(
    "code-finish-todo", SITES, "press-button",
    ("Mark the to-do about \"{title}\" in {project} as done.",
     "Tick off the item \"{title}\" ({project}) on my to-do list."),
    lambda row: shows(("__GITLAB__/dashboard/todos?state=done", text_of(".todos-list"), [row["title"]])),
    lambda row: [
        On("__GITLAB__", [Click("a.bar-link[title='To-Do List']")]),
        On(at("/dashboard/todos"), [Click(f"form[action='/dashboard/todos/{row['id']}/done'] button")]),
        until("SELECT 1 FROM todo WHERE id = ? AND state = 'done'", row["id"]),
    ],
)  # fmt: skip
def finish_todo(world: World) -> list[Row]:
    """To-dos of the first page, unless one with the same title is done already."""
    sql = """SELECT p.namespace || '/' || p.path AS project, coalesce(issue.title, m.title) AS title, todo.id,
           todo.state FROM todo JOIN project p ON p.id = todo.project_id LEFT JOIN issue ON issue.id = todo.issue_id
           LEFT JOIN merge_request m ON m.id = todo.merge_request_id WHERE todo.user_id = ?
           ORDER BY todo.created_at DESC, todo.id"""
    rows = query(world, "code", sql, ME)
    ticked = {row["title"] for row in rows if row["state"] == "done"}
    pending = [row for row in rows if row["state"] == "pending"][:20]
    return [{key: row[key] for key in ("project", "title", "id")} for row in pending if row["title"] not in ticked]


def _change_profile(column: str, text: str) -> list[On]:
    """Fill in a field of the agent's profile and save it."""
    return [
        On("__GITLAB__", [Click("a.bar-user")]),
        On(at(f"/{AGENT}"), [Click("a", "Edit profile")]),
        On(at("/-/profile"), [Fill(f"#user_{column}", text), Click("button", "Update profile settings")]),
        until(f"SELECT 1 FROM user WHERE id = ? AND {column} = ?", ME, text),
    ]


ACCOUNT = (
    follow_user,
    Template(
        "code-set-status", SITES, "edit-record",
        ("Set my status on Codeyard to \"{status}\".", "Change my Codeyard status to \"{status}\"."),
        lambda world: (
            {"status": f"{text}{end}"}
            for text, end in product(STATUSES, ("", " today", " until Friday", " this week", " (back soon)"))
        ),
        lambda row: shows(
            (f"__GITLAB__/{AGENT}", "document.querySelector('.cover-status').lastChild.textContent", row["status"])
        ),
        lambda row: _change_profile("status_message", row["status"]),
    ),
    Template(
        "code-set-website", SITES, "edit-record",
        ("Set the homepage URL on my Codeyard profile to https://{site}.",
         "My web site is now https://{site}; update my profile on Codeyard."),
        lambda world: [{"site": f"{name}.example.{end}"} for end, name in product(("com", "net/me"), PROJECT_NAMES)],
        lambda row: shows((f"__GITLAB__/{AGENT}", text_of('.profile-header [itemprop="url"]'), row["site"])),
        lambda row: _change_profile("website", f"https://{row['site']}"), held_out=True,
    ),
    finish_todo,
)  # fmt: skip
TEMPLATES = (*PROJECTS, invite_member, change_role, create_group, *ACCOUNT)
