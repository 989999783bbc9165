"""Tasks of the code host that change projects."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

from agentrl.envs.webarena.sites.code.host import MAINTAINER, REPORTER
from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Check, Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.code.kit import (
    AGENT,
    ME,
    SITES,
    Row,
    at,
    days,
    exists,
    next_numbers,
    projects,
    query,
    shown,
    text_of,
    to_page,
    to_project,
    until,
)

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
VISIBILITY = "document.querySelector('.visibility-icon').getAttribute('title')"


def _home(row: Parameters) -> str:
    return f"/{AGENT}/{row['name']}"


# ---------------------------------------------------------------------- projects


def _starable(world: World) -> list[Row]:
    starred = {row["project_id"] for row in query(world, "SELECT project_id FROM star WHERE user_id = ?", ME)}
    return [{"project": row["project"], "id": row["id"]} for row in projects(world) if row["id"] not in starred]


def _forkable(world: World) -> list[Row]:
    taken = {row["path"] for row in projects(world) if row["owner_id"] == ME}
    return [{"project": row["project"], "path": row["path"]} for row in projects(world) if row["path"] not in taken]


def _new_projects(world: World) -> list[Row]:
    return [
        {"name": f"{name}{suffix}", "visibility": level}
        for name, suffix, level in product(PROJECT_NAMES, ("", "-2"), ("public", "private", "internal"))
    ]


def _from_templates(world: World) -> list[Row]:
    return [
        {"name": name, "template": template, "visibility": level}
        for name, template, level in product(PROJECT_NAMES[:8], TEMPLATE_NAMES, ("public", "private"))
    ]


def _new_files(world: World) -> list[Row]:
    return [
        {"project": row["project"], "file": name, "text": text}
        for row in projects(world, MAINTAINER)
        for name, text in NEW_FILES.items()
    ]


def _new_milestones(world: World) -> list[Row]:
    numbers, rows = next_numbers(world, "milestone"), []
    for row in projects(world, REPORTER):
        starts = days(f"milestones {row['project']}", 3)
        for title, start in zip(("Hardening", "Public beta", "Clean-up week"), starts, strict=True):
            dates = {"start": str(start), "due": str(start + timedelta(days=30))}
            rows.append({"project": row["project"], "title": title, **dates, "iid": numbers[row["id"]]})
    return rows


def _create(row: Parameters) -> list[On]:
    """The form for a blank project, or the one with a template if the row names one."""
    acts = [
        Fill("#project_name", row["name"]),
        Choose("#project_namespace_id", AGENT),
        Check(f"#visibility_{row['visibility']}"),
        Click("button", "Create project"),
    ]
    way = [On("__GITLAB__", [Click("a.bar-link", "New project")])]
    if "template" in row:
        way.append(On(at("/projects/new"), [Click("a.tab", "Create from template")]))
        way.append(On(at("/projects/new/template"), [Choose("#project_template_name", row["template"]), *acts]))
    else:
        way.append(On(at("/projects/new"), acts))
    return [*way, On(at(_home(row)), [Answer()])]


def _create_file(row: Parameters) -> list[On]:
    acts = [
        Fill("#file_name", row["file"]),
        Fill("#file_content", row["text"]),
        Click("button", "Commit changes"),
    ]
    return [
        *to_project(row["project"], Click("a.button-quiet", "New file")),
        On(at(f"/{row['project']}/-/new/main"), acts),
        On(at(f"/{row['project']}/-/blob/main/{row['file']}"), [Answer()]),
    ]


def _create_milestone(row: Parameters) -> list[On]:
    acts = [
        Fill("#milestone_title", row["title"]),
        Fill("#milestone_start_date", row["start"]),
        Fill("#milestone_due_date", row["due"]),
        Click("button", "Create milestone"),
    ]
    return [
        *to_page(row["project"], "-/milestones", Click("a.button", "New milestone")),
        On(at(f"/{row['project']}/-/milestones/new"), acts),
        On(at(f"/{row['project']}/-/milestones/{row['iid']}"), [Answer()]),
    ]


TEMPLATES = (
    Template(
        name="code-star-project",
        sites=SITES,
        skill="press-button",
        intents=("Star the project {project}.", "Give {project} a star."),
        parameters=_starable,
        evaluation=lambda row: shown(
            (f"/users/{AGENT}/starred", text_of(".user-profile"), [row["project"].replace("/", " / ")])
        ),
        solution=lambda row: [
            *to_project(row["project"], Click("button", "Star")),
            until(exists("SELECT 1 FROM star WHERE project_id = ? AND user_id = ?", row["id"], ME)),
        ],
    ),
    Template(
        name="code-fork-project",
        sites=SITES,
        skill="fill-form",
        intents=("Fork {project}.", "Make a fork of {project} in my own namespace."),
        parameters=_forkable,
        evaluation=lambda row: shown(
            (f"/{AGENT}/{row['path']}", text_of("#content-body"), [f"Forked from {row['project'].replace('/', ' / ')}"])
        ),
        solution=lambda row: [
            *to_project(row["project"], Click("a.fork-btn")),
            On(
                at(f"/{row['project']}/-/forks/new"),
                [Choose("#fork-namespace", AGENT), Click("button", "Fork project")],
            ),
            On(at(f"/{AGENT}/{row['path']}"), [Answer()]),
        ],
    ),
    Template(
        name="code-create-project",
        sites=SITES,
        skill="fill-form",
        intents=(
            'Create a new {visibility} project "{name}".',
            "Set up a new {visibility} repository with the name {name}.",
            "Start a {visibility} project called {name}.",
        ),
        parameters=_new_projects,
        evaluation=lambda row: shown((_home(row), VISIBILITY, [row["visibility"]])),
        solution=_create,
    ),
    Template(
        name="code-project-from-template",
        sites=SITES,
        skill="fill-form",
        held_out=True,
        intents=(
            "Start a {visibility} project {name} with the {template} template.",
            "Create the {visibility} project {name} from the template {template}.",
        ),
        parameters=_from_templates,
        evaluation=lambda row: shown(
            (_home(row), VISIBILITY, [row["visibility"]]),
            (
                f"{_home(row)}/-/commits",
                text_of("#content-body"),
                [f"Initialized from '{row['template']}' project template"],
            ),
        ),
        solution=_create,
    ),
    Template(
        name="code-create-file",
        sites=SITES,
        skill="fill-form",
        intents=(
            'Add a file {file} with the text "{text}" to the main branch of {project}.',
            'Create {file} in {project}; it should say "{text}".',
        ),
        parameters=_new_files,
        evaluation=lambda row: shown((f"/{row['project']}/-/raw/main/{row['file']}", "", [row["text"]])),
        solution=_create_file,
    ),
    Template(
        name="code-create-milestone",
        sites=SITES,
        skill="fill-form",
        intents=(
            'Create a milestone "{title}" in {project} that starts on {start} and is due on {due}.',
            'Add the milestone "{title}" to {project}, from {start} to {due}.',
        ),
        parameters=_new_milestones,
        evaluation=lambda row: shown(
            (
                f"/{row['project']}/-/milestones/{row['iid']}",
                text_of("#content-body"),
                [row["title"], f"Start date: {day(row['start'])}", f"Due date: {day(row['due'])}"],
            )
        ),
        solution=_create_milestone,
    ),
)
