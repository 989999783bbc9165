"""Tasks of the code host that ask about issues and milestones, or for one of them."""

from __future__ import annotations

from collections import Counter

from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, On, Template, literal
from agentrl.envs.webarena.tasks.templates.code.kit import (
    SITES,
    Row,
    answered,
    arrived,
    at,
    projects,
    query,
    some,
    to_page,
    to_ticket,
)

FILTERED = "/-/issues/?sort=created_date&state=opened&label_name%5B%5D={}&first_page_size=20"


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


TEMPLATES = (
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
