"""Tasks of the code host that ask about projects, their history and people, or for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date

from agentrl.envs.webarena.sites.code.host import ROLES
from agentrl.envs.webarena.sites.code.repository import COMMIT, HISTORY
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, On, Parameters, Template, literal
from agentrl.envs.webarena.tasks.templates.code.kit import (
    HOST,
    ME,
    SITES,
    Row,
    answered,
    arrived,
    at,
    projects,
    query,
    some,
    to_page,
    to_project,
)

PAGE = 20  # rows of a list


# ---------------------------------------------------------------------- history


def _history(world: World, project: int) -> list[Row]:
    """Commits of the main branch, the newest first."""
    head = f"SELECT commit_id FROM ref WHERE project_id = {project} AND kind = 'branch' AND name = 'main'"
    (found,) = query(world, head)
    sql = f"{HISTORY} {COMMIT} WHERE c.id IN history ORDER BY c.created_at DESC, c.id DESC"
    return query(world, sql, found["commit_id"])


def _days_of_authors(world: World) -> list[Row]:
    """How many commits somebody made on a day: days that stand on the first page of the author's commits."""
    rows: list[Row] = []
    aside = _days_on_branches(world)
    for project in projects(world):
        history = _history(world, project["id"])
        for author in dict.fromkeys(commit["author_name"] for commit in history):
            dates = [commit["created_at"][:10] for commit in history if commit["author_name"] == author]
            elsewhere = aside.get((project["id"], author), ())
            for when, count in Counter(dates[: PAGE - 4]).items():
                if count == dates.count(when) and count > 1 and when not in elsewhere:
                    rows.append(
                        {"project": project["project"], "author": author, "day": _slashed(when), "count": count}
                    )
    return some(rows, "days")


def _days_on_branches(world: World) -> dict[tuple[int, str], set[str]]:
    """Days with commits that are not on the main branch: what to count on them would not be clear."""
    found: dict[tuple[int, str], set[str]] = {}
    for project in projects(world):
        main = {commit["id"] for commit in _history(world, project["id"])}
        for commit in query(world, f"{COMMIT} WHERE c.project_id = ?", project["id"]):
            if commit["id"] not in main:
                found.setdefault((project["id"], commit["author_name"]), set()).add(commit["created_at"][:10])
    return found


def _slashed(when: str) -> str:
    found = date.fromisoformat(when)
    return f"{found.month}/{found.day}/{found.year}"


def _contributors(world: World) -> Iterator[tuple[Row, list[tuple[str, int]]]]:
    for project in projects(world):
        yield project, Counter(commit["author_name"] for commit in _history(world, project["id"])).most_common()


def _top_contributors(world: World) -> list[Row]:
    return [
        {"project": project["project"], "name": ranking[0][0]}
        for project, ranking in _contributors(world)
        if len(ranking) > 1 and ranking[0][1] > ranking[1][1]
    ]


def _top_threes(world: World) -> list[Row]:
    rows = []
    for project, ranking in _contributors(world):
        numbers = [count for _, count in ranking[:4]]
        if len(ranking) >= 3 and len(set(numbers)) == len(numbers):
            rows.append({"project": project["project"], "names": [name.split()[-1] for name, _ in ranking[:3]]})
    return rows


HISTORY_TEMPLATES = (
    Template(
        name="code-commits-on-a-day", sites=SITES, skill="count-items",
        intents=(
            "How many commits did {author} make to {project} on {day}?",
            "Tell me the number of commits by {author} in the {project} repository on {day}.",
            "On {day}, how often did {author} commit to the main branch of {project}?",
        ),
        parameters=_days_of_authors,
        evaluation=lambda row: answered(str(row["count"])),
        solution=lambda row: [
            *to_page(row["project"], "-/commits/main", Choose("#author", row["author"]), Click("button", "Filter")),
            On(rf"__GITLAB__/{literal(row['project'])}/-/commits/main\?author=[^&]", [Answer(str(row["count"]))]),
        ],
    ),
    Template(
        name="code-top-contributor", sites=SITES, skill="compare-values",
        intents=(
            "Who has made the most commits to {project}?",
            "Tell me who has contributed most to {project}, in terms of the number of commits.",
            "Which person is the top contributor of {project} by commits?",
        ),
        parameters=_top_contributors,
        evaluation=lambda row: answered(row["name"]),
        solution=lambda row: to_page(row["project"], "-/graphs/main", Answer(row["name"])),
    ),
    Template(
        name="code-top-three-contributors", sites=SITES, skill="compare-values", held_out=True,
        intents=(
            "List the last names of the top 3 contributors to {project}, ranked by the number of commits.",
            "Give me the last names of the three people with the most commits in {project}.",
        ),
        parameters=_top_threes,
        evaluation=lambda row: answered(*row["names"]),
        solution=lambda row: to_page(row["project"], "-/graphs/main", Answer(", ".join(row["names"]))),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- projects and their members


def _addresses(world: World) -> list[Row]:
    return [
        {"project": row["project"], "address": f"ssh://git@{HOST}:2222/{row['project']}.git"} for row in projects(world)
    ]


def _members(world: World) -> list[Row]:
    """Direct members with the name of their role, of every project."""
    known = {row["id"]: row["project"] for row in projects(world)}
    rows = query(
        world,
        """SELECT m.project_id, m.access_level, user.name, user.username FROM project_member m
           JOIN user ON user.id = m.user_id ORDER BY m.project_id, user.id""",
    )
    return [
        {"project": known[row["project_id"]], "name": row["name"], "username": row["username"],
         "role": ROLES[row["access_level"]]}
        for row in rows if row["project_id"] in known
    ]  # fmt: skip


def _roles(world: World) -> list[Row]:
    """Users by role, in projects where the role is had by one to four direct members and nobody by the group."""
    groups = {
        row["project"] for row in query(world, "SELECT namespace || '/' || path AS project FROM project WHERE team_id")
    }
    found: dict[tuple[str, str], list[str]] = {}
    for row in _members(world):
        if row["project"] not in groups:
            found.setdefault((row["project"], row["role"]), []).append(row["username"])
    return [
        {"project": project, "role": role, "usernames": names}
        for (project, role), names in found.items() if role != "Owner" and len(names) <= 4
    ]  # fmt: skip


def _stars_of_owners(world: World) -> list[Row]:
    rows = query(
        world,
        """SELECT p.namespace || '/' || p.path AS project,
             (SELECT count(*) FROM star s WHERE s.project_id = p.id) AS stars
           FROM project p WHERE p.visibility != 'private' ORDER BY p.id""",
    )
    return [{**row, "stars": str(row["stars"])} for row in rows]


PROJECT_TEMPLATES = (
    Template(
        name="code-clone-address", sites=SITES, skill="read-value",
        intents=(
            "Show me the command to clone {project} with SSH.",
            "Which SSH address do I have to use to clone {project}?",
            "I want to clone {project} over SSH. What is the address?",
        ),
        parameters=_addresses,
        evaluation=lambda row: answered(row["address"]),
        solution=lambda row: to_project(row["project"], Answer(f"git clone {row['address']}")),
    ),
    Template(
        name="code-star-count", sites=SITES, skill="read-value",
        intents=("How many stars does {project} have?", "Tell me how many people have starred {project}."),
        parameters=_stars_of_owners,
        evaluation=lambda row: answered(row["stars"]),
        solution=lambda row: to_project(row["project"], Answer(row["stars"])),
    ),
    Template(
        name="code-role-of-member", sites=SITES, skill="read-value",
        intents=(
            "What role does {name} have in {project}?",
            "Tell me the role of {name} among the members of {project}.",
            "Which access level was given to {name} in the project {project}?",
        ),
        parameters=lambda world: some(_members(world), "roles"),
        evaluation=lambda row: answered(row["role"]),
        solution=lambda row: to_page(row["project"], "-/project_members", Answer(row["role"])),
    ),
    Template(
        name="code-members-with-role", sites=SITES, skill="list-items", held_out=True,
        intents=(
            "List the usernames of all members of {project} with the role {role}.",
            "Who has the {role} role in {project}? Give me their usernames.",
        ),
        parameters=_roles,
        evaluation=lambda row: answered(*row["usernames"]),
        solution=lambda row: to_page(row["project"], "-/project_members", Answer(", ".join(row["usernames"]))),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- people


def _people(world: World) -> list[Row]:
    return query(world, "SELECT name, username, location FROM user WHERE location != '' AND id > 1 ORDER BY id")


def _own_issues(world: World) -> list[Row]:
    """Words, each with the agent's newest issue that has it in its title, if the search for it shows that issue."""
    known = {row["id"]: row["project"] for row in projects(world)}
    issues = query(
        world,
        f"""SELECT project_id, iid, title, description, state FROM issue WHERE author_id = {ME}
            ORDER BY created_at DESC, id DESC""",
    )
    words = {word for row in issues for word in row["title"].lower().split() if word.isalpha() and len(word) > 4}
    rows = []
    for word in sorted(words):
        found = [row for row in issues if word in f"{row['title']} {row['description']}".lower()]
        newest = next((row for row in found[:PAGE] if word in row["title"].lower()), None)
        if newest is not None and newest["project_id"] in known:
            closed = "Yes" if newest["state"] == "closed" else "No"
            rows.append({"word": word, "project": known[newest["project_id"]], "iid": newest["iid"], "closed": closed})
    return rows


def _own_issue(row: Parameters) -> list[On]:
    """From the list of issues that the agent has created, whatever their state."""
    mine, place = r"__GITLAB__/dashboard/issues/?\?", f"/{row['project']}/-/issues/{row['iid']}"
    return [
        On("__GITLAB__", [Click("a.bar-link[title='Issues']")]),
        On(rf"{mine}.*assignee_username=byteblaze", [Click("a.button-quiet", "Created by you")]),
        On(rf"{mine}.*author_username=byteblaze", [Click("a.tab[href*='state=all']")]),
        On(rf"{mine}(?=.*author_username=byteblaze).*state=all", [Fill("#ticket-search", row["word"], enter=True)]),
        On(rf"{mine}(?=.*author_username=byteblaze).*state=all.*search={row['word']}", [Click(f'a[href="{place}"]')]),
        On(at(place), [Answer(row["closed"])]),
    ]


PEOPLE_TEMPLATES = (
    Template(
        name="code-location-of-user",
        sites=SITES,
        skill="read-value",
        intents=(
            "Where does {name} live, according to their profile?",
            "Which location is given on the profile of {name}?",
        ),
        parameters=_people,
        evaluation=lambda row: answered(row["location"]),
        solution=lambda row: [
            On("__GITLAB__", [Fill("#search", row["name"], enter=True)]),
            On(r"__GITLAB__/search\?", [Click("a.tab[href*='scope=users']")]),
            On(r"__GITLAB__/search\?.*scope=users", [Click(f'a.issue-title[href="/{row["username"]}"]')]),
            On(at(f"/{row['username']}"), [Answer(row["location"])]),
        ],
    ),
    Template(
        name="code-own-issue-closed",
        sites=SITES,
        skill="check-state",
        held_out=True,
        intents=(
            'Open my latest created issue that has "{word}" in its title to check if it is closed. Answer Yes or No.',
            'Is the newest issue I have created with "{word}" in its title closed? Open it and answer Yes or No.',
        ),
        parameters=_own_issues,
        evaluation=lambda row: {
            **arrived(f"/{row['project']}/-/issues/{row['iid']}"),
            "eval_types": ["string_match", "url_match"],
            "reference_answers": {"exact_match": row["closed"]},
        },
        solution=_own_issue,
    ),
)


# ---------------------------------------------------------------------- pages


def _pages(world: World) -> list[Row]:
    return some(
        ({"project": row["project"], "name": name, "page": page} for row in projects(world) for name, page in MENU),
        "pages",
    )


MENU = (
    ("branches", "-/branches"),
    ("tags", "-/tags"),
    ("members", "-/project_members"),
    ("labels", "-/labels"),
    ("milestones", "-/milestones"),
    ("releases", "-/releases"),
    ("contributors", "-/graphs/main"),
    ("issue board", "-/boards"),
    ("snippets", "-/snippets"),
    ("merge requests", "-/merge_requests"),
)
PAGE_TEMPLATES = (
    Template(
        name="code-open-page",
        sites=SITES,
        skill="navigate",
        intents=(
            "Show me the {name} of {project}.",
            "Open the page with the {name} of the project {project}.",
            "Take me to the {name} page of {project}.",
        ),
        parameters=_pages,
        evaluation=lambda row: arrived(f"/{row['project']}/{row['page']}"),
        solution=lambda row: to_page(row["project"], row["page"], Answer()),
    ),
)

TEMPLATES = (*HISTORY_TEMPLATES, *PROJECT_TEMPLATES, *PEOPLE_TEMPLATES, *PAGE_TEMPLATES)
