"""Tasks of the code host that ask about projects, people and issues, or for a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date

from agentrl.envs.webarena.sites.code.host import ROLES
from agentrl.envs.webarena.sites.code.repository import COMMIT, HISTORY
from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, On, Parameters, Reveal, Template, template
from agentrl.envs.webarena.tasks.templates.code.kit import (
    ME,
    SEVERAL,
    SITES,
    at,
    of_projects,
    projects,
    ticket,
    to_page,
    to_project,
    to_ticket,
    to_user,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, answer, both, done, ends_at, query, some

HOST = PLACES["gitlab"].origin.partition("//")[2]
PAGE = 20  # rows of a list
MENU = {
    "branches": "-/branches", "tags": "-/tags", "members": "-/project_members", "labels": "-/labels",
    "milestones": "-/milestones", "releases": "-/releases", "contributors": "-/graphs/main",
    "issue board": "-/boards", "snippets": "-/snippets", "merge requests": "-/merge_requests",
}  # fmt: skip
FILTERED = "__GITLAB__/{}/-/issues/?sort=created_date&state=opened&label_name%5B%5D={}&first_page_size=20"


# ---------------------------------------------------------------------- history


def _history(world: World, project: int) -> list[Row]:
    """Commits of the main branch, the newest first."""
    head = f"SELECT commit_id FROM ref WHERE project_id = {project} AND kind = 'branch' AND name = 'main'"
    sql = f"{HISTORY} {COMMIT} WHERE c.id IN history ORDER BY c.created_at DESC, c.id DESC"
    return query(world, "code", sql, world.database("code").value(head))


@template(
    "code-commits-on-a-day", SITES, "count-items",
    ("How many commits did {author} make to {project} on {day}?",
     "Tell me the number of commits by {author} in the {project} repository on {day}.",
     "On {day}, how often did {author} commit to the main branch of {project}?"),
    lambda row: answer(row["count"]),
    lambda row: [
        *to_page(row["project"], "-/commits/main", Choose("#author", row["author"]), Click("button", "Filter")),
        On(rf"__GITLAB__/{re.escape(row['project'])}/-/commits/main\?author=[^&]", [Answer(str(row["count"]))]),
    ],
)  # fmt: skip
def commits_on_a_day(world: World) -> list[Row]:
    """How many commits somebody made on a day: days that stand on the first page of the author's commits, and without
    commits on other branches, which would leave unclear what to count."""
    rows: list[Row] = []
    for project in projects(world):
        history = _history(world, project["id"])
        main = {commit["id"] for commit in history}
        everything = query(world, "code", f"{COMMIT} WHERE c.project_id = ?", project["id"])
        aside = {(one["author_name"], one["created_at"][:10]) for one in everything if one["id"] not in main}
        for author in dict.fromkeys(commit["author_name"] for commit in history):
            dates = [commit["created_at"][:10] for commit in history if commit["author_name"] == author]
            for when, count in Counter(dates[: PAGE - 4]).items():
                if count == dates.count(when) and count > 1 and (author, when) not in aside:
                    found = date.fromisoformat(when)
                    slashed = f"{found.month}/{found.day}/{found.year}"
                    rows.append({"project": project["project"], "author": author, "day": slashed, "count": count})
    return some(rows, "code days")


def _contributors(world: World) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    for project in projects(world):
        names = Counter(commit["author_name"] for commit in _history(world, project["id"]))
        yield project["project"], names.most_common()


@template(
    "code-top-three-contributors", SITES, "compare-values",
    ("List the last names of the top 3 contributors to {project}, ranked by the number of commits.",
     "Give me the last names of the three people with the most commits in {project}."),
    lambda row: answer(*row["names"]),
    lambda row: to_page(row["project"], "-/graphs/main", Answer(", ".join(row["names"]))), held_out=True,
)  # fmt: skip
def top_three_contributors(world: World) -> Iterator[Row]:
    for project, ranking in _contributors(world):
        numbers = [count for _, count in ranking[:4]]
        if len(ranking) >= 3 and len(set(numbers)) == len(numbers):
            yield {"project": project, "names": [name.split()[-1] for name, _ in ranking[:3]]}


COMMITS = (
    commits_on_a_day,
    Template(
        "code-top-contributor", SITES, "compare-values",
        ("Who has made the most commits to {project}?",
         "Tell me who has contributed most to {project}, in terms of the number of commits.",
         "Which person is the top contributor of {project} by commits?"),
        lambda world: (
            {"project": project, "name": ranking[0][0]}
            for project, ranking in _contributors(world) if len(ranking) > 1 and ranking[0][1] > ranking[1][1]
        ),
        lambda row: answer(row["name"]), lambda row: to_page(row["project"], "-/graphs/main", Answer(row["name"])),
    ),
    top_three_contributors,
)  # fmt: skip


# ---------------------------------------------------------------------- projects and people


def _members(world: World) -> list[Row]:
    """Direct members with the name of their role, of every project."""
    sql = """SELECT m.project_id, m.access_level, user.name, user.username FROM project_member m
        JOIN user ON user.id = m.user_id ORDER BY m.project_id, user.id"""
    return [
        {"project": row["project"], "name": row["name"], "username": row["username"],
         "role": ROLES[row["access_level"]]}
        for row in of_projects(world, sql)
    ]  # fmt: skip


@template(
    "code-first-activity", SITES, "read-value",
    ("Whose activity in {project} is the oldest one that its activity page lists? Give the name.",
     "Scroll through the activity of {project} to its very end. Who did what stands there? Give the name."),
    lambda row: answer(row["person"]),
    lambda row: to_page(
        row["project"], "activity", Reveal(f"#events > li:nth-child({row['count']})", "scroll_down"),
        Answer(row["person"]),
    ),
)  # fmt: skip
def first_activity(world: World) -> list[Row]:
    """Projects whose activity takes two to four screens that are fetched one after the other."""
    sql = """SELECT event.project_id, user.name AS person, count(*) OVER w AS count,
        row_number() OVER (w ORDER BY event.created_at, event.id) AS place FROM event
        JOIN user ON user.id = event.user_id WINDOW w AS (PARTITION BY event.project_id)"""
    rows = of_projects(world, f"SELECT * FROM ({sql}) WHERE place = 1 AND count BETWEEN 21 AND 80 ORDER BY project_id")
    return [{"project": row["project"], "person": row["person"], "count": row["count"]} for row in rows]


@template(
    "code-members-with-role", SITES, "list-items",
    ("List the usernames of all members of {project} with the role {role}.",
     "Who has the {role} role in {project}? Give me their usernames."),
    lambda row: answer(*row["usernames"]),
    lambda row: to_page(row["project"], "-/project_members", Answer(", ".join(row["usernames"]))), held_out=True,
)  # fmt: skip
def members_with_role(world: World) -> list[Row]:
    """Users by role, in projects where the role is had by one to four direct members and nobody by the group."""
    teams = query(world, "code", "SELECT namespace || '/' || path AS project FROM project WHERE team_id")
    groups = {row["project"] for row in teams}
    found: dict[tuple[str, str], list[str]] = {}
    for row in _members(world):
        if row["project"] not in groups:
            found.setdefault((row["project"], row["role"]), []).append(row["username"])
    return [
        {"project": project, "role": role, "usernames": names}
        for (project, role), names in found.items() if role != "Owner" and len(names) <= 4
    ]  # fmt: skip


def _own_issue(row: Parameters) -> list[On]:
    """From the list of issues that the agent has created, whatever their state."""
    mine = r"__GITLAB__/dashboard/issues/?\?"
    everything = rf"{mine}(?=.*author_username=byteblaze).*state=all"
    return [
        On("__GITLAB__", [Click("a.bar-link[title='Issues']")]),
        On(rf"{mine}.*assignee_username=byteblaze", [Click("a.button-quiet", "Created by you")]),
        On(rf"{mine}.*author_username=byteblaze", [Click("a.tab[href*='state=all']")]),
        On(everything, [Fill("#ticket-search", row["word"], enter=True)]),
        On(f"{everything}.*search={row['word']}", [Click(f'a[href="{ticket(row)}"]')]),
        On(at(ticket(row)), [Answer(row["closed"])]),
    ]


@template(
    "code-own-issue-closed", SITES, "check-state",
    ("Open my latest created issue that has \"{word}\" in its title to check if it is closed. Answer Yes or No.",
     "Is the newest issue I have created with \"{word}\" in its title closed? Open it and answer Yes or No."),
    lambda row: both(answer(row["closed"]), ends_at(f"__GITLAB__{ticket(row)}")), _own_issue,
    held_out=True,
)  # fmt: skip
def own_issue_closed(world: World) -> Iterator[Row]:
    """Words, each with the agent's newest issue that has it in its title, if the search for it shows that issue."""
    known = {row["id"]: row["project"] for row in projects(world)}
    sql = f"""SELECT project_id, iid, title, description, state FROM issue WHERE author_id = {ME}
        ORDER BY created_at DESC, id DESC"""
    issues = query(world, "code", sql)
    words = {word for row in issues for word in row["title"].lower().split() if word.isalpha() and len(word) > 4}
    for word in sorted(words):
        found = [row for row in issues if word in f"{row['title']} {row['description']}".lower()]
        newest = next((row for row in found[:PAGE] if word in row["title"].lower()), None)
        if newest is not None and newest["project_id"] in known:
            closed = "Yes" if newest["state"] == "closed" else "No"
            yield {"word": word, "project": known[newest["project_id"]], "iid": newest["iid"], "closed": closed}


PLACES_AND_PEOPLE = (
    Template(
        "code-clone-address", SITES, "read-value",
        ("Show me the command to clone {project} with SSH.",
         "Which SSH address do I have to use to clone {project}?",
         "I want to clone {project} over SSH. What is the address?"),
        lambda world: (
            {"project": row["project"], "address": f"ssh://git@{HOST}:2222/{row['project']}.git"}
            for row in projects(world)
        ),
        lambda row: answer(row["address"]),
        lambda row: to_project(row["project"], Answer(f"git clone {row['address']}")),
    ),
    Template(
        "code-star-count", SITES, "read-value",
        ("How many stars does {project} have?", "Tell me how many people have starred {project}."),
        lambda world: query(
            world, "code",
            """SELECT p.namespace || '/' || p.path AS project,
                 cast((SELECT count(*) FROM star s WHERE s.project_id = p.id) AS TEXT) AS stars
               FROM project p WHERE p.visibility != 'private' ORDER BY p.id""",
        ),
        lambda row: answer(row["stars"]), lambda row: to_project(row["project"], Answer(row["stars"])),
    ),
    Template(
        "code-role-of-member", SITES, "read-value",
        ("What role does {name} have in {project}?", "Tell me the role of {name} among the members of {project}.",
         "Which access level was given to {name} in the project {project}?"),
        lambda world: some(_members(world), "code roles"), lambda row: answer(row["role"]),
        lambda row: to_page(row["project"], "-/project_members", Answer(row["role"])),
    ),
    members_with_role,
    Template(
        "code-location-of-user", SITES, "read-value",
        ("Where does {name} live, according to their profile?", "Which location is given on the profile of {name}?"),
        lambda world: query(
            world, "code", "SELECT name, username, location FROM user WHERE location != '' AND id > 1 ORDER BY id"
        ),
        lambda row: answer(row["location"]), lambda row: to_user(row["name"], row, Answer(row["location"])),
    ),
    own_issue_closed,
    Template(
        "code-open-page", SITES, "navigate",
        ("Show me the {name} of {project}.", "Open the page with the {name} of the project {project}.",
         "Take me to the {name} page of {project}."),
        lambda world: some(
            ({"project": row["project"], "name": name, "page": page}
             for row in projects(world) for name, page in MENU.items()),
            "code pages", SEVERAL,
        ),
        lambda row: ends_at(f"__GITLAB__/{row['project']}/{row['page']}"),
        lambda row: to_page(row["project"], row["page"], Answer()),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- issues and milestones


def _issues(world: World) -> list[Row]:
    """Issues with their labels and comments, of all projects."""
    return of_projects(
        world,
        """SELECT issue.project_id, iid, title, state, due_date, created_at, (SELECT count(*) FROM note
             WHERE note.issue_id = issue.id AND note.system = 0) AS comments,
             (SELECT group_concat(label.name) FROM issue_label l JOIN label ON label.id = l.label_id
              WHERE l.issue_id = issue.id) AS labels
           FROM issue ORDER BY issue.id""",
    )


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


def _first_issues(world: World, key: str, sign: int) -> Iterator[Row]:
    """The open issue of a project that clearly comes first by `key`, upwards or downwards."""
    found: dict[str, list[Row]] = {}
    for row in _issues(world):
        found.setdefault(row["project"], []).append(row)
    for project, issues in found.items():
        opened = [row for row in issues if row["state"] == "opened" and row[key] != ""]
        ranking = sorted(opened, key=lambda row: row[key])[::sign]
        if len(ranking) > 1 and ranking[0][key] != ranking[1][key]:
            yield {"project": project, "iid": ranking[0]["iid"]}


def _with_dates(rows: list[Row]) -> list[Row]:
    return [
        {"project": row["project"], "title": row["title"], "iid": row["iid"], "date": day(row["due_date"])}
        for row in rows if row["due_date"]
    ]  # fmt: skip


def _sort(row: Parameters, order: str, key: str) -> list[On]:
    """Sort the open issues of a project and open one of them."""
    place = "__GITLAB__" + re.escape(f"/{row['project']}/-/issues")
    return [
        *to_page(row["project"], "-/issues", Choose("#sort", order), Click("button", "Search")),
        On(rf"{place}/\?.*sort={key}", [Click(f'a.issue-title[href="{ticket(row)}"]')]),
        done(at(ticket(row))),
    ]


ISSUES = (
    Template(
        "code-issues-with-label", SITES, "filter-list",
        ("Display the list of open issues in {project} that have the label \"{label}\".",
         "Show me all open issues of {project} labelled {label}.",
         "I want to see which open issues of {project} carry the \"{label}\" label."),
        lambda world: some(_labelled(world, "opened", 1), "code labels", SEVERAL),
        lambda row: ends_at(FILTERED.format(row["project"], row["label"].replace(" ", "+"))),
        lambda row: [
            *to_page(row["project"], "-/issues", Choose("#label_name", row["label"]), Click("button", "Search")),
            done(rf"__GITLAB__/{re.escape(row['project'])}/-/issues/\?.*label_name"),
        ],
    ),
    Template(
        "code-count-closed-issues", SITES, "filter-list",
        ("How many closed issues of {project} have the label \"{label}\"?",
         "Count the closed {label} issues of {project}."),
        lambda world: some(_labelled(world, "closed", 2), "code closed"), lambda row: answer(row["count"]),
        lambda row: [
            *to_page(row["project"], "-/issues", Click("a.tab[href*='state=closed']")),
            On(rf"__GITLAB__/{re.escape(row['project'])}/-/issues/?\?.*state=closed",
               [Choose("#label_name", row["label"]), Click("button", "Search")]),
            On(rf"__GITLAB__/{re.escape(row['project'])}/-/issues/?\?.*state=closed.*label_name",
               [Answer(row["count"])]),
        ],
    ),
    Template(
        "code-due-date-of-issue", SITES, "read-value",
        ("When is the issue \"{title}\" in {project} due?",
         "Tell me the due date of the issue titled \"{title}\" in {project}."),
        lambda world: some(_with_dates(_issues(world)), "code due", SEVERAL), lambda row: answer(row["date"]),
        lambda row: to_ticket(row, "issues", Answer(row["date"])),
    ),
    Template(
        "code-open-issue", SITES, "find-record",
        ("Open the issue \"{title}\" in {project}.", "Bring up the page of the {project} issue titled \"{title}\".",
         "Go to the issue about \"{title}\" of the project {project}."),
        lambda world: [
            {key: row[key] for key in ("project", "title", "iid")}
            for row in some(_issues(world), "code titles", SEVERAL)
        ],
        lambda row: ends_at(f"__GITLAB__{ticket(row)}"), lambda row: to_ticket(row, "issues", Answer()),
    ),
    Template(
        "code-most-discussed-issue", SITES, "sort-list",
        ("Open the open issue of {project} that has the most comments.",
         "Which open issue of {project} is discussed most? Bring up its page."),
        lambda world: _first_issues(world, "comments", -1), lambda row: ends_at(f"__GITLAB__{ticket(row)}"),
        lambda row: _sort(row, "Most comments", "popularity"),
    ),
    Template(
        "code-first-due-issue", SITES, "sort-list",
        ("Open the open issue of {project} with the earliest due date.",
         "Bring up the open issue of {project} that is due first."),
        lambda world: _first_issues(world, "due_date", 1), lambda row: ends_at(f"__GITLAB__{ticket(row)}"),
        lambda row: _sort(row, "Due date", "due_date"), held_out=True,
    ),
    Template(
        "code-due-date-of-milestone", SITES, "read-value",
        ("When is the milestone \"{title}\" of {project} due?",
         "What is the due date of the {project} milestone \"{title}\"?"),
        lambda world: some(
            _with_dates(of_projects(world, "SELECT project_id, iid, title, due_date FROM milestone ORDER BY id")),
            "code milestones", SEVERAL,
        ),
        lambda row: answer(row["date"]),
        lambda row: [
            *to_page(row["project"], "-/milestones", Click("a.tab[href*='state=all']")),
            On(rf"__GITLAB__/{re.escape(row['project'])}/-/milestones\?state=all",
               [Click(f'a.issue-title[href="{ticket(row, "milestones")}"]')]),
            On(at(ticket(row, "milestones")), [Answer(row["date"])]),
        ],
        held_out=True,
    ),
)  # fmt: skip
TEMPLATES = (first_activity, *COMMITS, *PLACES_AND_PEOPLE, *ISSUES)
