"""Tasks of the code host that ask for a fact or for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date

from agentrl.envs.webarena.sites.code.host import ROLES
from agentrl.envs.webarena.sites.code.repository import COMMIT, HISTORY
from agentrl.envs.webarena.sites.code.text import day
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.code_kit import (
    HOST,
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
    to_ticket,
)  # fmt: skip
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, On, Template, literal

PAGE = 20  # rows of a list
FILTERED = "/-/issues/?sort=created_date&state=opened&label_name%5B%5D={}&first_page_size=20"


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


# ---------------------------------------------------------------------- issues and milestones


def _issues(world: World) -> list[Row]:
    """Issues with their labels and comments, of all projects."""
    known = {row["id"]: row["project"] for row in projects(world)}
    rows = query(
        world,
        """SELECT issue.project_id, iid, title, state, due_date, created_at, (SELECT count(*) FROM note
             WHERE note.issue_id = issue.id AND note.system = 0) AS comments,
             (SELECT group_concat(label.name) FROM issue_label l JOIN label ON label.id = l.label_id
              WHERE l.issue_id = issue.id) AS labels
           FROM issue ORDER BY issue.id""",
    )
    return [{"project": known[row["project_id"]], **row} for row in rows if row["project_id"] in known]


def _labelled(world: World, state: str, least: int) -> list[Row]:
    """How many issues in that state a label of a project has."""
    numbers = Counter(
        (row["project"], label)
        for row in _issues(world) if row["state"] == state for label in (row["labels"] or "").split(",") if label
    )  # fmt: skip
    return [
        {"project": project, "label": label, "count": str(count)}
        for (project, label), count in numbers.items() if count >= least
    ]  # fmt: skip


def _due(world: World) -> list[Row]:
    return [
        {"project": row["project"], "title": row["title"], "iid": row["iid"], "date": day(row["due_date"])}
        for row in _issues(world) if row["due_date"]
    ]  # fmt: skip


def _titles(world: World) -> list[Row]:
    return [{"project": row["project"], "title": row["title"], "iid": row["iid"]} for row in _issues(world)]


def _most_discussed(world: World) -> list[Row]:
    """The open issue of a project with more comments than any other."""
    rows = []
    for project, issues in _issues_by_project(world).items():
        ranking = sorted((row for row in issues if row["state"] == "opened"), key=lambda row: -row["comments"])
        if len(ranking) > 1 and ranking[0]["comments"] > ranking[1]["comments"]:
            rows.append({"project": project, "iid": ranking[0]["iid"]})
    return rows


def _issues_by_project(world: World) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in _issues(world):
        found.setdefault(row["project"], []).append(row)
    return found


def _first_due(world: World) -> list[Row]:
    """The open issue of a project that is due before all others."""
    rows = []
    for project, issues in _issues_by_project(world).items():
        ranking = sorted(
            (row["due_date"], row["iid"]) for row in issues if row["state"] == "opened" and row["due_date"]
        )
        if len(ranking) > 1 and ranking[0][0] < ranking[1][0]:
            rows.append({"project": project, "iid": ranking[0][1]})
    return rows


def _milestones(world: World) -> list[Row]:
    known = {row["id"]: row["project"] for row in projects(world)}
    rows = query(world, "SELECT project_id, iid, title, due_date FROM milestone ORDER BY id")
    return [
        {"project": known[row["project_id"]], "title": row["title"], "iid": row["iid"], "date": day(row["due_date"])}
        for row in rows if row["project_id"] in known
    ]  # fmt: skip


def _sorted(project: str, order: str, key: str, iid: int) -> list[On]:
    """Sort the open issues of a project and open one of them."""
    place = f"/{project}/-/issues"
    return [
        *to_page(project, "-/issues", Choose("#sort", order), Click("button", "Search")),
        On(rf"__GITLAB__{literal(place)}/\?.*sort={key}", [Click(f'a.issue-title[href="{place}/{iid}"]')]),
        On(at(f"{place}/{iid}"), [Answer()]),
    ]


ISSUE_TEMPLATES = (
    Template(
        name="code-issues-with-label", sites=SITES, skill="filter-list",
        intents=(
            'Display the list of open issues in {project} that have the label "{label}".',
            "Show me all open issues of {project} labelled {label}.",
            'I want to see which open issues of {project} carry the "{label}" label.',
        ),
        parameters=lambda world: some(_labelled(world, "opened", 1), "labels"),
        evaluation=lambda row: arrived(f"/{row['project']}{FILTERED.format(row['label'].replace(' ', '+'))}"),
        solution=lambda row: [
            *to_page(row["project"], "-/issues", Choose("#label_name", row["label"]), Click("button", "Search")),
            On(rf"__GITLAB__/{literal(row['project'])}/-/issues/\?.*label_name", [Answer()]),
        ],
    ),
    Template(
        name="code-count-closed-issues", sites=SITES, skill="filter-list",
        intents=(
            'How many closed issues of {project} have the label "{label}"?',
            "Count the closed {label} issues of {project}.",
        ),
        parameters=lambda world: some(_labelled(world, "closed", 2), "closed"),
        evaluation=lambda row: answered(row["count"]),
        solution=lambda row: [
            *to_page(row["project"], "-/issues", Click("a.tab[href*='state=closed']")),
            On(
                rf"__GITLAB__/{literal(row['project'])}/-/issues/?\?.*state=closed",
                [Choose("#label_name", row["label"]), Click("button", "Search")],
            ),
            On(
                rf"__GITLAB__/{literal(row['project'])}/-/issues/?\?.*state=closed.*label_name",
                [Answer(row["count"])],
            ),
        ],
    ),
    Template(
        name="code-due-date-of-issue", sites=SITES, skill="read-value",
        intents=(
            'When is the issue "{title}" in {project} due?',
            'Tell me the due date of the issue titled "{title}" in {project}.',
        ),
        parameters=lambda world: some(_due(world), "due"),
        evaluation=lambda row: answered(row["date"]),
        solution=lambda row: to_ticket(row["project"], "issues", row["iid"], row["title"], Answer(row["date"])),
    ),
    Template(
        name="code-open-issue", sites=SITES, skill="find-record",
        intents=(
            'Open the issue "{title}" in {project}.',
            'Bring up the page of the {project} issue titled "{title}".',
            'Go to the issue about "{title}" of the project {project}.',
        ),
        parameters=lambda world: some(_titles(world), "titles"),
        evaluation=lambda row: arrived(f"/{row['project']}/-/issues/{row['iid']}"),
        solution=lambda row: to_ticket(row["project"], "issues", row["iid"], row["title"], Answer()),
    ),
    Template(
        name="code-most-discussed-issue", sites=SITES, skill="sort-list",
        intents=(
            "Open the open issue of {project} that has the most comments.",
            "Which open issue of {project} is discussed most? Bring up its page.",
        ),
        parameters=_most_discussed,
        evaluation=lambda row: arrived(f"/{row['project']}/-/issues/{row['iid']}"),
        solution=lambda row: _sorted(row["project"], "Most comments", "popularity", row["iid"]),
    ),
    Template(
        name="code-first-due-issue", sites=SITES, skill="sort-list", held_out=True,
        intents=(
            "Open the open issue of {project} with the earliest due date.",
            "Bring up the open issue of {project} that is due first.",
        ),
        parameters=_first_due,
        evaluation=lambda row: arrived(f"/{row['project']}/-/issues/{row['iid']}"),
        solution=lambda row: _sorted(row["project"], "Due date", "due_date", row["iid"]),
    ),
    Template(
        name="code-due-date-of-milestone", sites=SITES, skill="read-value", held_out=True,
        intents=(
            'When is the milestone "{title}" of {project} due?',
            'What is the due date of the {project} milestone "{title}"?',
        ),
        parameters=lambda world: some(_milestones(world), "milestones"),
        evaluation=lambda row: answered(row["date"]),
        solution=lambda row: [
            *to_page(row["project"], "-/milestones", Click("a.tab[href*='state=all']")),
            On(
                rf"__GITLAB__/{literal(row['project'])}/-/milestones\?state=all",
                [Click(f'a.issue-title[href="/{row["project"]}/-/milestones/{row["iid"]}"]')],
            ),
            On(at(f"/{row['project']}/-/milestones/{row['iid']}"), [Answer(row["date"])]),
        ],
    ),
)  # fmt: skip

# ---------------------------------------------------------------------- people


def _people(world: World) -> list[Row]:
    rows = query(world, "SELECT name, username, location FROM user WHERE location != '' AND id > 1 ORDER BY id")
    return rows


PEOPLE_TEMPLATES = (
    Template(
        name="code-location-of-user", sites=SITES, skill="read-value",
        intents=(
            "Where does {name} live, according to their profile?", "Which location is given on the profile of {name}?",
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
)  # fmt: skip

TEMPLATES = (*HISTORY_TEMPLATES, *PROJECT_TEMPLATES, *ISSUE_TEMPLATES, *PEOPLE_TEMPLATES)
