"""Tasks of the code host that change members, groups and the agent's own account."""

from __future__ import annotations

from itertools import product
from random import Random

from agentrl.envs.webarena.sites.code.host import DEVELOPER, GUEST, MAINTAINER, OWNER, REPORTER, ROLES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.code.kit import (
    AGENT,
    ME,
    ROLE,
    SITES,
    Row,
    at,
    direct_members,
    exists,
    people,
    projects,
    query,
    shown,
    some,
    text_of,
    to_page,
    until,
)
from agentrl.envs.webarena.tasks.templates.code.projects import PROJECT_NAMES

STATUSES = (
    "Enjoying life", "Busy", "Resting due to leg injury", "Playing badminton", "Out of office", "Reviewing all day",
    "At a conference", "On parental leave", "Learning Rust", "Fighting with the build", "In the garden", "Travelling",
)  # fmt: skip
GROUP_NAMES = (
    "book-club", "night-owls", "data-pirates", "coffee-lab", "sunday-coders", "green-tools", "map-makers",
    "retro-games",
)  # fmt: skip
# Users with access to a project (?1).
MEMBERS = """SELECT user_id AS id FROM project_member WHERE project_id = ?1 UNION SELECT m.user_id FROM team_member m
    JOIN project p ON p.team_id = m.team_id WHERE p.id = ?1"""


# ---------------------------------------------------------------------- members and groups


def _invitations(world: World) -> list[Row]:
    """People who are not among the members of a project, each with a role."""
    rows: list[Row] = []
    for row in projects(world, MAINTAINER):
        inside = {one["id"] for one in query(world, MEMBERS, row["id"])}
        drawn = Random(row["project"]).sample(people(world), 20)
        for one, level in zip(drawn, (GUEST, REPORTER, DEVELOPER, MAINTAINER) * 5, strict=True):
            if one["id"] not in inside:
                person = {"name": one["name"], "username": one["username"], "user": one["id"]}
                rows.append({"project": row["project"], **person, "role": ROLES[level], "id": row["id"]})
    return some(rows, "invitations")


def _role_changes(world: World) -> list[Row]:
    """Members whose role the agent may change, each with another role."""
    members, rows = direct_members(world), []
    for row in projects(world, MAINTAINER):
        for one, level in product(members.get(row["id"], ()), (GUEST, REPORTER, DEVELOPER, MAINTAINER)):
            if level != one["access_level"] < OWNER:
                person = {"name": one["name"], "username": one["username"], "member": one["member"]}
                rows.append({"project": row["project"], **person, "role": ROLES[level], "level": level})
    return some(rows, "role changes", 60)


def _new_groups(world: World) -> list[Row]:
    rows = []
    for name, number in product(GROUP_NAMES, range(6)):
        first, second = Random(f"{name} {number}").sample(people(world), 2)
        rows.append({"group": name, "first": first["username"], "second": second["username"]})
    return rows


def _invite(row: Parameters) -> list[On]:
    acts = [Fill("#invite_user", row["username"]), Choose("#access_level", row["role"]), Click("button", "Invite")]
    return [
        *to_page(row["project"], "-/project_members", *acts),
        until(exists("SELECT 1 FROM project_member WHERE project_id = ? AND user_id = ?", row["id"], row["user"])),
    ]


def _change_role(row: Parameters) -> list[On]:
    form = f"form[action$='/{row['member']}/update']"
    return [
        *to_page(row["project"], "-/project_members", Choose(f"{form} select", row["role"]), Click(f"{form} button")),
        until(exists("SELECT 1 FROM project_member WHERE id = ? AND access_level = ?", row["member"], row["level"])),
    ]


def _create_group(row: Parameters) -> list[On]:
    joined = """SELECT 1 FROM team JOIN team_member m ON m.team_id = team.id JOIN user ON user.id = m.user_id
        WHERE team.path = ? AND user.username = ?"""
    return [
        On("__GITLAB__", [Click("a.bar-link", "Groups")]),
        On(at("/dashboard/groups"), [Click("a.button", "New group")]),
        On(at("/groups/new"), [Fill("#group_name", row["group"]), Click("button", "Create group")]),
        On(at(f"/{row['group']}"), [Click("a.side-link", "Members")]),
        On(
            at(f"/groups/{row['group']}/-/group_members"),
            [Fill("#invite_user", f"{row['first']}, {row['second']}"), Click("button", "Invite")],
        ),
        until(exists(joined, row["group"], row["second"])),
    ]


MEMBER_TEMPLATES = (
    Template(
        name="code-invite-member",
        sites=SITES,
        skill="fill-form",
        intents=(
            "Invite {name} (@{username}) to {project} as {role}.",
            "{name} wants to work on {project}. Please add @{username} with the {role} role.",
        ),
        parameters=_invitations,
        evaluation=lambda row: shown(
            (f"/{row['project']}/-/project_members", ROLE.format(row["username"]), [row["role"]])
        ),
        solution=_invite,
    ),
    Template(
        name="code-change-role",
        sites=SITES,
        skill="edit-record",
        held_out=True,
        intents=("Change the role of {name} in {project} to {role}.", "Make @{username} a {role} of {project}."),
        parameters=_role_changes,
        evaluation=lambda row: shown(
            (f"/{row['project']}/-/project_members", ROLE.format(row["username"]), [row["role"]])
        ),
        solution=_change_role,
    ),
    Template(
        name="code-create-group",
        sites=SITES,
        skill="build-group",
        held_out=True,
        intents=(
            'Create a new group "{group}" with members @{first} and @{second}.',
            "Set up the group {group} and add {first} and {second} to it.",
        ),
        parameters=_new_groups,
        evaluation=lambda row: shown(
            (f"/groups/{row['group']}/-/group_members", "", [f"@{row['first']}", f"@{row['second']}"])
        ),
        solution=_create_group,
    ),
)


# ---------------------------------------------------------------------- the agent's own account


def _followable(world: World) -> list[Row]:
    followed = {row["follows_id"] for row in query(world, "SELECT follows_id FROM follow WHERE user_id = ?", ME)}
    return [row for row in people(world) if row["id"] not in followed]


def _statuses(world: World) -> list[Row]:
    endings = ("", " today", " until Friday", " this week", " (back soon)")
    return [{"status": f"{text}{end}"} for text, end in product(STATUSES, endings)]


def _websites(world: World) -> list[Row]:
    return [{"site": f"{name}.example.{end}"} for end, name in product(("com", "net/me"), PROJECT_NAMES)]


def _pending(world: World) -> list[Row]:
    """To-dos of the first page, unless one with the same title is done already."""
    titles = """SELECT p.namespace || '/' || p.path AS project, coalesce(issue.title, m.title) AS title, todo.id,
           todo.state FROM todo JOIN project p ON p.id = todo.project_id LEFT JOIN issue ON issue.id = todo.issue_id
           LEFT JOIN merge_request m ON m.id = todo.merge_request_id WHERE todo.user_id = ?
           ORDER BY todo.created_at DESC, todo.id"""
    rows = query(world, titles, ME)
    done = {row["title"] for row in rows if row["state"] == "done"}
    pending = [row for row in rows if row["state"] == "pending"][:20]
    return [{key: row[key] for key in ("project", "title", "id")} for row in pending if row["title"] not in done]


def _profile(field: str, text: str) -> list[On]:
    """Fill in a field of the agent's profile and save it."""
    return [
        On("__GITLAB__", [Click("a.bar-user")]),
        On(at(f"/{AGENT}"), [Click("a", "Edit profile")]),
        On(at("/-/profile"), [Fill(field, text), Click("button", "Update profile settings")]),
    ]


def _follow(row: Parameters) -> list[On]:
    return [
        On("__GITLAB__", [Fill("#search", row["username"], enter=True)]),
        On(r"__GITLAB__/search\?", [Click("a.tab[href*='scope=users']")]),
        On(r"__GITLAB__/search\?.*scope=users", [Click(f'a.issue-title[href="/{row["username"]}"]')]),
        On(at(f"/{row['username']}"), [Click("button", "Follow")]),
        until(exists("SELECT 1 FROM follow WHERE user_id = ? AND follows_id = ?", ME, row["id"])),
    ]


ACCOUNT_TEMPLATES = (
    Template(
        name="code-follow-user",
        sites=SITES,
        skill="press-button",
        intents=("Follow {name} on Codeyard.", "I want to follow {name} (@{username}). Please do that."),
        parameters=_followable,
        evaluation=lambda row: shown((f"/users/{AGENT}/following", text_of(".user-profile"), [f"@{row['username']}"])),
        solution=_follow,
    ),
    Template(
        name="code-set-status",
        sites=SITES,
        skill="edit-record",
        intents=('Set my status on Codeyard to "{status}".', 'Change my Codeyard status to "{status}".'),
        parameters=_statuses,
        evaluation=lambda row: shown(
            (f"/{AGENT}", "document.querySelector('.cover-status').lastChild.textContent", row["status"])
        ),
        solution=lambda row: [
            *_profile("#user_status_message", row["status"]),
            until(exists("SELECT 1 FROM user WHERE id = ? AND status_message = ?", ME, row["status"])),
        ],
    ),
    Template(
        name="code-set-website",
        sites=SITES,
        skill="edit-record",
        held_out=True,
        intents=(
            "Set the homepage URL on my Codeyard profile to https://{site}.",
            "My web site is now https://{site}; update my profile on Codeyard.",
        ),
        parameters=_websites,
        evaluation=lambda row: shown((f"/{AGENT}", text_of('.profile-header [itemprop="url"]'), row["site"])),
        solution=lambda row: [
            *_profile("#user_website", f"https://{row['site']}"),
            until(exists("SELECT 1 FROM user WHERE id = ? AND website = ?", ME, f"https://{row['site']}")),
        ],
    ),
    Template(
        name="code-finish-todo",
        sites=SITES,
        skill="press-button",
        intents=(
            'Mark the to-do about "{title}" in {project} as done.',
            'Tick off the item "{title}" ({project}) on my to-do list.',
        ),
        parameters=_pending,
        evaluation=lambda row: shown(("/dashboard/todos?state=done", text_of(".todos-list"), [row["title"]])),
        solution=lambda row: [
            On("__GITLAB__", [Click("a.bar-link[title='To-Do List']")]),
            On(at("/dashboard/todos"), [Click(f"form[action='/dashboard/todos/{row['id']}/done'] button")]),
            until(exists("SELECT 1 FROM todo WHERE id = ? AND state = 'done'", row["id"])),
        ],
    ),
)

TEMPLATES = (*MEMBER_TEMPLATES, *ACCOUNT_TEMPLATES)
