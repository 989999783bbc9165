"""What the tasks of the code host share: its records, the ways to its pages, evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Answer, Click, Fill, On, literal

SITES = ("gitlab",)
HOST = PLACES["gitlab"].origin.partition("//")[2]
AGENT, ME = "byteblaze", 1  # the account of the agent: user name and id
FIRST_DAY = date(2025, 6, 20)  # after the beginning of every episode
SEVERAL = 160  # instances of a template, at most
Row = dict[str, Any]
# Projects with the agent's access level; the address is `project`.
PROJECTS = f"""SELECT p.id, p.namespace || '/' || p.path AS project, p.path, p.visibility, p.owner_id,
    max(coalesce((SELECT access_level FROM project_member m WHERE m.project_id = p.id AND m.user_id = {ME}), 0),
        coalesce((SELECT access_level FROM team_member m WHERE m.team_id = p.team_id AND m.user_id = {ME}), 0)) AS level
    FROM project p"""


def query(world: World, sql: str, *values: Any) -> list[Row]:
    """Rows of the code host's data as dictionaries."""
    return [dict(row) for row in world.database("code").rows(sql, *values)]


def projects(world: World, level: int = 0) -> list[Row]:
    """Projects that the agent may see, and where it has this access level."""
    seen = f"SELECT * FROM ({PROJECTS}) WHERE level >= ? AND (visibility != 'private' OR level > 0) ORDER BY id"
    return query(world, seen, level)


def some(rows: Iterable[Row], key: str, count: int = SEVERAL) -> list[Row]:
    """At most so many rows, in an order that depends on the key alone."""
    found = list(rows)
    return Random(f"code {key}").sample(found, min(count, len(found)))


def days(key: str, count: int) -> list[date]:
    """Different days of the next year."""
    return [FIRST_DAY + timedelta(days=number) for number in Random(key).sample(range(400), count)]


def people(world: World) -> list[Row]:
    """Everybody but the agent."""
    return query(world, f"SELECT username, name, id FROM user WHERE id != {ME} ORDER BY id")


def next_numbers(world: World, table: str) -> dict[int, int]:
    """The number that the next issue, merge request or milestone of each project gets."""
    last = f"SELECT max(iid) FROM {table} t WHERE t.project_id = p.id"
    return {
        row["id"]: row["iid"] for row in query(world, f"SELECT id, coalesce(({last}), 0) + 1 AS iid FROM project p")
    }


def direct_members(world: World) -> dict[int, list[Row]]:
    """Members of projects that are not there by a group, without the agent."""
    rows = query(
        world,
        f"""SELECT m.id AS member, m.project_id, m.access_level, user.id, user.name, user.username FROM project_member m
            JOIN user ON user.id = m.user_id WHERE user.id != {ME} ORDER BY m.project_id, user.id""",
    )
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["project_id"], []).append(row)
    return found


# ---------------------------------------------------------------------- ways


def at(path: str) -> str:
    """Pages with this path, whatever the query."""
    return f"__GITLAB__{literal(path)}/?(?:[?#].*)?$"


def to_project(project: str, *acts: Act) -> list[On]:
    """Search for a project, open it, and do this on its page."""
    name = project.partition("/")[2]
    return [
        On("__GITLAB__", [Fill("#search", name, enter=True)]),
        On(rf"__GITLAB__/search\?search={literal(name)}$", [Click(f'a.project[href="/{project}"]')]),
        On(at(f"/{project}"), list(acts)),
    ]


def menu(project: str, page: str) -> Click:
    """The link of the menu at the side of a project."""
    return Click(f'a.side-link[href="/{project}/{page}"]')


def to_page(project: str, page: str, *acts: Act) -> list[On]:
    """Open a page of a project that stands in the menu, and do this there."""
    return [*to_project(project, menu(project, page)), On(at(f"/{project}/{page}"), list(acts))]


def to_ticket(project: str, kind: str, iid: int, title: str, *acts: Act) -> list[On]:
    """Find an issue or merge request by its title, whatever its state, and do this on its page."""
    place = f"/{project}/-/{kind}"
    return [
        *to_page(project, f"-/{kind}", Click("a.tab[href*='state=all']")),
        On(rf"__GITLAB__{literal(place)}/?\?.*state=all", [Fill("#ticket-search", title, enter=True)]),
        On(rf"__GITLAB__{literal(place)}/?\?.*state=all.*search=", [Click(f'a.issue-title[href="{place}/{iid}"]')]),
        On(at(f"{place}/{iid}"), list(acts)),
    ]


def until(achieved: Callable[[World], bool]) -> On:
    """Once that is so, the task is done."""
    return On("__GITLAB__", [Answer()], when=achieved)


def exists(sql: str, *values: Any) -> Callable[[World], bool]:
    """Is there such a row?"""
    return lambda world: world.database("code").value(sql, *values) is not None


# ---------------------------------------------------------------------- evaluations


def answered(*texts: str) -> dict[str, Any]:
    """The answer contains all of these."""
    return {"eval_types": ["string_match"], "reference_answers": {"must_include": list(texts)}, "reference_url": "",
            "program_html": []}  # fmt: skip


def arrived(path: str) -> dict[str, Any]:
    """The agent ends on this page."""
    return {"eval_types": ["url_match"], "reference_answers": None, "reference_url": f"__GITLAB__{path}",
            "program_html": [], "url_note": "GOLD in PRED"}  # fmt: skip


def shown(*targets: tuple[str, str, str | list[str]]) -> dict[str, Any]:
    """Pages show something afterwards: (path, locator, the exact text or a list of parts)."""
    checks = [
        {
            "url": f"__GITLAB__{path}", "locator": locator,
            "required_contents": {"exact_match": wanted} if isinstance(wanted, str) else {"must_include": wanted},
        }
        for path, locator, wanted in targets
    ]  # fmt: skip
    return {"eval_types": ["program_html"], "reference_answers": None, "reference_url": "", "program_html": checks}


def text_of(selector: str) -> str:
    """A locator: the text of the first element."""
    return f"document.querySelector('{selector}').outerText"


LAST_COMMENT = (
    "document.querySelector('[id=\"notes-list\"').lastElementChild.querySelector('.timeline-discussion-body').outerText"
)
TITLE = text_of('[data-qa-selector="title_content"]')
DUE_DATE = text_of('[data-testid="sidebar-due-date"]')
STATE = text_of(".main .state")
ROLE = "func:gitlab_get_project_memeber_role(__page__, '{}')"  # the benchmark's own spelling
