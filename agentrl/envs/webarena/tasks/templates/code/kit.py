"""What the tasks of the code host share: its records, and the ways to its pages."""

from __future__ import annotations

import re
from datetime import date, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Click, Fill, On, Parameters
from agentrl.envs.webarena.tasks.vocabulary import Row, done, exists, query

SITES = ("gitlab",)
AGENT, ME = "byteblaze", 1  # the account of the agent: user name and id
FIRST_DAY = date(2025, 6, 20)  # after the beginning of every episode
SEVERAL = 160  # instances of a template, at most
# Projects with the agent's access level; the address is `project`.
PROJECTS = f"""SELECT p.id, p.namespace || '/' || p.path AS project, p.path, p.visibility, p.owner_id,
    max(coalesce((SELECT access_level FROM project_member m WHERE m.project_id = p.id AND m.user_id = {ME}), 0),
        coalesce((SELECT access_level FROM team_member m WHERE m.team_id = p.team_id AND m.user_id = {ME}), 0)) AS level
    FROM project p"""


def projects(world: World, level: int = 0) -> list[Row]:
    """Projects that the agent may see, and where it has this access level."""
    seen = f"SELECT * FROM ({PROJECTS}) WHERE level >= ? AND (visibility != 'private' OR level > 0) ORDER BY id"
    return query(world, "code", seen, level)


def of_projects(world: World, sql: str, level: int = 0) -> list[Row]:
    """Rows with a `project_id`, as far as the agent may see the project and has this level, with its address."""
    known = {row["id"]: row["project"] for row in projects(world, level)}
    rows = query(world, "code", sql)
    return [{"project": known[row["project_id"]], **row} for row in rows if row["project_id"] in known]


def days(key: str, count: int) -> list[date]:
    """Different days of the next year."""
    return [FIRST_DAY + timedelta(days=number) for number in Random(key).sample(range(400), count)]


def people(world: World) -> list[Row]:
    """Everybody but the agent."""
    return query(world, "code", f"SELECT username, name, id FROM user WHERE id != {ME} ORDER BY id")


def next_numbers(world: World, table: str) -> dict[int, int]:
    """The number that the next issue, merge request or milestone of each project gets."""
    last = f"SELECT max(iid) FROM {table} t WHERE t.project_id = p.id"
    rows = query(world, "code", f"SELECT id, coalesce(({last}), 0) + 1 AS iid FROM project p")
    return {row["id"]: row["iid"] for row in rows}


def direct_members(world: World) -> dict[int, list[Row]]:
    """Members of projects that are not there by a group, without the agent."""
    sql = f"""SELECT m.id AS member, m.project_id, m.access_level, user.id, user.name, user.username
        FROM project_member m JOIN user ON user.id = m.user_id WHERE user.id != {ME} ORDER BY m.project_id, user.id"""
    found: dict[int, list[Row]] = {}
    for row in query(world, "code", sql):
        found.setdefault(row["project_id"], []).append(row)
    return found


# ---------------------------------------------------------------------- ways


def at(path: str) -> str:
    """Pages with this path, whatever the query."""
    return f"__GITLAB__{re.escape(path)}/?(?:[?#].*)?$"


def to_project(project: str, *acts: Act) -> list[On]:
    """Search for a project, open it, and do this on its page."""
    name = project.partition("/")[2]
    return [
        On("__GITLAB__", [Fill("#search", name, enter=True)]),
        On(rf"__GITLAB__/search\?search={re.escape(name)}$", [Click(f'a.project[href="/{project}"]')]),
        On(at(f"/{project}"), acts),
    ]


def to_page(project: str, page: str, *acts: Act) -> list[On]:
    """Open a page of a project that stands in the menu at its side, and do this there."""
    path = f"/{project}/{page}"
    return [*to_project(project, Click(f'a.side-link[href="{path}"]')), On(at(path), acts)]


def to_ticket(row: Parameters, kind: str, *acts: Act) -> list[On]:
    """Find an issue or merge request by its title, whatever its state, and do this on its page."""
    path = ticket(row, kind)
    place = "__GITLAB__" + re.escape(f"/{row['project']}/-/{kind}") + r"/?\?.*state=all"
    return [
        *to_page(row["project"], f"-/{kind}", Click("a.tab[href*='state=all']")),
        On(place, [Fill("#ticket-search", row["title"], enter=True)]),
        On(f"{place}.*search=", [Click(f'a.issue-title[href="{path}"]')]),
        On(at(path), acts),
    ]


def ticket(row: Parameters, kind: str = "issues") -> str:
    """The path of an issue or merge request."""
    return f"/{row['project']}/-/{kind}/{row['iid']}"


def to_user(words: str, row: Parameters, *acts: Act) -> list[On]:
    """Search for a user, and do this on the user's page."""
    return [
        On("__GITLAB__", [Fill("#search", words, enter=True)]),
        On(r"__GITLAB__/search\?", [Click("a.tab[href*='scope=users']")]),
        On(r"__GITLAB__/search\?.*scope=users", [Click(f'a.issue-title[href="/{row["username"]}"]')]),
        On(at(f"/{row['username']}"), acts),
    ]


def until(sql: str, *values: Any) -> On:
    """Once there is such a row, the task is done."""
    return done("__GITLAB__", exists("code", sql, *values))
