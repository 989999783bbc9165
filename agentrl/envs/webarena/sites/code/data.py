"""The base data of the code host, generated from constants: the same in every process."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from importlib.resources import files
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.code.catalogue import (
    AGENT,
    CATALOGUE,
    PACKAGE,
    PROJECTS,
    TEXTS,
    Source,
    function,
    sentence,
    words,
)
from agentrl.envs.webarena.sites.code.conversations import Team, Tickets
from agentrl.envs.webarena.sites.code.history import Repository, Rows, Session
from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.formats import slug
from agentrl.envs.webarena.sites.site import session_token

VERSION = 6
PEOPLE = CATALOGUE["people"]
SEED = 20250616
USERS = 120
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def build(connection: sqlite3.Connection) -> None:
    """Fill an empty file."""
    connection.executescript(files(PACKAGE).joinpath("schema.sql").read_text())
    rows, random = Rows(), Random(SEED)
    _people(rows, random)
    _groups(rows, random)
    # Projects without a namespace are given to users.
    names = [row["username"] for row in rows.tables["user"]]
    owners = iter(random.sample(names[1:], len(PROJECTS)))
    for number, source in enumerate(PROJECTS, 1):
        placed = source if source.namespace else source._replace(namespace=next(owners))
        _project(rows, number, placed, Random(SEED + number))
    _social(rows, random)
    _events(rows)
    rows.add("session", site="gitlab", token=session_token("gitlab", AGENT), user_id=1, message="")
    rows.write(connection)


# ---------------------------------------------------------------------- people and groups


def _people(rows: Rows, random: Random) -> None:
    _person(rows, random, AGENT, "Byte Blaze", "hello1234")
    pairs = [(first, last) for first in PEOPLE["first_names"] for last in PEOPLE["last_names"]]
    taken = {AGENT}
    for first, last in random.sample(pairs, USERS * 2):
        forms = (
            first + last, f"{first[0]}{last}", f"{first}.{last}", f"{last}{random.randint(2, 99)}",
            f"{first}-{last[0]}",
        )  # fmt: skip
        username = random.choice(forms).lower()
        if username not in taken and len(taken) < USERS:
            taken.add(username)
            _person(rows, random, username, f"{first} {last}", "password-" + username)


def _person(rows: Rows, random: Random, username: str, name: str, password: str) -> None:
    status = random.choice(PEOPLE["statuses"]) if random.random() < 0.35 and username != AGENT else ""
    website = f"https://{username.replace('.', '-')}.example.org" if random.random() < 0.4 else ""
    created = datetime(2019, 1, 7, 8) + timedelta(hours=random.randint(0, 18_000) * 7 // 9)
    rows.add(
        "user", username=username, name=name, email=f"{username}@mail.example.org", password=password,
        bio=random.choice(PEOPLE["bios"]), location=random.choice((*PEOPLE["cities"], "")), website=website,
        organization=random.choice(PEOPLE["companies"]), job_title=random.choice((*PEOPLE["jobs"], "")), pronouns="",
        status_message=status, status_busy=0, feed_token="".join(random.choices(LETTERS, k=20)),
        created_at=created.isoformat(" "),
    )  # fmt: skip


def _groups(rows: Rows, random: Random) -> None:
    for group in CATALOGUE["groups"]:
        created = datetime(2020, 9, 1, 10) + timedelta(days=random.randint(0, 120))
        team = rows.add("team", **group, created_at=created.isoformat(" "))
        members = random.sample(range(2, USERS + 1), random.randint(5, 9))
        if group["path"] in ("tidewater-labs", "open-kitchen", "railpath"):
            members.append(1)
        for place, user in enumerate(members):
            level = 50 if place == 0 else 30 if user == 1 else random.choice((40, 30, 30, 20, 10))
            rows.add(
                "team_member", team_id=team, user_id=user, access_level=level, expires_at="",
                created_at=created.isoformat(" "),
            )  # fmt: skip


# ---------------------------------------------------------------------- projects


def _project(rows: Rows, number: int, source: Source, random: Random) -> None:
    begin = datetime(2021, 2, 1, 9) + timedelta(days=random.randint(0, 1000), minutes=random.randint(0, 600))
    groups = {row["path"]: key for key, row in enumerate(rows.tables["team"], 1)}
    users = {row["username"]: key for key, row in enumerate(rows.tables["user"], 1)}
    rows.add(
        "project", namespace=source.namespace, path=source.path, name=source.path, owner_id=users.get(source.namespace),
        team_id=groups.get(source.namespace), description=source.description, visibility=source.visibility, archived=0,
        default_branch="main", language=source.language, topics=", ".join(source.nouns.split()[:3]),
        forked_from_id=None, template="", created_at=begin.isoformat(" "), updated_at=begin.isoformat(" "),
    )  # fmt: skip
    team = _team(rows, number, source, users, begin, random)
    repository = Repository(rows, number, source, random)
    repository.begin(team[0][0], begin)
    public = random.sample(range(2, USERS + 1), 25) if source.visibility != "private" else [user for user, _ in team]
    tickets = Tickets(rows, repository, team, public, random)
    tickets.plan(begin)
    sessions = _history(rows, repository, team, begin, random)
    repository.name("branch", "main", begin)
    _requests(repository, tickets, sessions, random)
    for when in sorted(_moment(begin, random) for _ in range(source.size // 4 + random.randint(2, 8))):
        tickets.issue(when)
    _extras(rows, repository, team, random)
    head = rows.get("project", number)
    head["updated_at"] = max(
        [head["updated_at"]]
        + [row["updated_at"] for row in rows.tables["issue"][-200:] if row["project_id"] == number]
        + [rows.get("git_commit", session.commits[-1])["created_at"] for session in sessions]
    )


def _team(rows: Rows, project: int, source: Source, users: dict[str, int], begin: datetime, random: Random) -> Team:
    """Who works on a project: its owner, its group, and members of its own."""
    inherited = [
        (row["user_id"], row["access_level"])
        for row in rows.tables["team_member"]
        if rows.get("team", row["team_id"])["path"] == source.namespace
    ]
    team = dict(inherited)
    owner = [users[source.namespace]] if source.namespace in users else []
    team.update(dict.fromkeys(owner, 50))
    chosen = [user for user in random.sample(range(2, USERS + 1), random.randint(2, 5)) if user not in team]
    if source.path in ("csv-surgeon", "markdown-slides", "components", "chess-coach", "mapkit", "podcast-shelf"):
        chosen.append(1)
    for user in owner + chosen:
        level = 50 if team.get(user) == 50 else 40 if user == 1 else random.choice((40, 30, 30, 30, 20, 10))
        team[user] = level
        rows.add(
            "project_member", project_id=project, user_id=user, access_level=level, expires_at="",
            created_at=begin.isoformat(" "),
        )  # fmt: skip
    return sorted(team.items(), key=lambda entry: (-entry[1], entry[0]))


def _moment(begin: datetime, random: Random) -> datetime:
    """A moment since then on a working day, the later the more likely."""
    span = (START - begin).total_seconds() - 3 * 86400
    when = begin + timedelta(seconds=int(span * random.random() ** 0.7))
    return when.replace(hour=random.randint(7, 19), minute=random.randint(0, 59)) + timedelta(days=1)


def _history(rows: Rows, repository: Repository, team: Team, begin: datetime, random: Random) -> list[Session]:
    """All commits of the main branch, in sessions, with a tag now and then."""
    authors = [user for user, level in team if level >= 30]
    random.shuffle(authors)
    weights = [1 / (place + 1) for place in range(len(authors))]
    moments = sorted(_moment(begin, random) for _ in range(repository.source.size // 4))
    tags = set(random.sample(range(len(moments)), min(len(moments) // 15 + 1, 4)))
    sessions: list[Session] = []
    last = begin
    for number, when in enumerate(moments):
        when = max(when, last + timedelta(minutes=random.randint(5, 50)))
        if when > START - timedelta(hours=30):
            break
        (author,) = random.choices(authors, weights)
        sessions.append(repository.work(author, when, random.choice((1, 1, 1, 2, 2, 3, 4))))
        last = sessions[-1].when
        if number in tags:
            last += timedelta(minutes=random.randint(20, 200))
            version = repository.release(author, last)
            repository.name("tag", f"v{version}", last, f"Version {version}")
            text = _listed(repository.nouns, 3, random)
            rows.add(
                "release", project_id=repository.project, tag=f"v{version}", name=f"{repository.source.path} {version}",
                description=text, author_id=author, created_at=last.isoformat(" "),
            )  # fmt: skip
    return sessions


def _requests(repository: Repository, tickets: Tickets, sessions: list[Session], random: Random) -> None:
    """Merged requests out of the history, and open and closed ones with commits of their own."""
    merged = sorted(random.sample(range(len(sessions)), len(sessions) // 4))
    iid = 0
    for number in merged:
        iid += 1
        tickets.merge_request(iid, sessions[number], "merged", _branch_name(sessions[number].title, iid))
    titles = {session.title for session in sessions}
    for state in ["closed"] * random.randint(1, 3) + ["opened"] * random.randint(2, 4):
        branch = repository.aside()
        when = _after_head(repository, random)
        session = branch.work(random.choice(tickets.developers), when, random.randint(1, 4))
        if session.title in titles:
            continue
        titles.add(session.title)
        iid += 1
        name = _branch_name(session.title, iid)
        if state == "opened":
            branch.name("branch", name, session.when)
        tickets.merge_request(iid, session, state, name)
    for name in random.sample(
        ("experiment", "next", "docs-rewrite", "spike-storage", "release-prep"), random.randint(1, 3)
    ):
        branch = repository.aside()
        when = _after_head(repository, random)
        branch.name("branch", name, branch.work(random.choice(tickets.developers), when, random.randint(1, 3)).when)


def _after_head(repository: Repository, random: Random) -> datetime:
    """When a branch goes on: after the newest commit of the main branch, early enough for the work to be done today."""
    assert repository.head is not None
    head = datetime.fromisoformat(repository.rows.get("git_commit", repository.head)["created_at"])
    gap = (START - head - timedelta(hours=9)).total_seconds()
    return head + timedelta(seconds=int(gap * random.uniform(0.05, 0.8)))


def _branch_name(title: str, iid: int) -> str:
    return slug(" ".join(title.split()[:4])) + f"-{iid}"


def _listed(nouns: list[str], count: int, random: Random) -> str:
    """Some things that a program does or shall do."""
    goals = random.sample(TEXTS["goals"], count)
    return "\n".join(f"* {sentence(goal, words(nouns, random), random)}" for goal in goals)


def _extras(rows: Rows, repository: Repository, team: Team, random: Random) -> None:
    """Wiki and snippets."""
    author, project, nouns = team[0][0], repository.project, repository.nouns
    when = (START - timedelta(days=random.randint(5, 300))).isoformat(" ")
    pages = {
        "home": f"Welcome to the wiki of {repository.source.path}.\n\n{repository.source.description}"
        f"\n\n{sentence(random.choice(TEXTS['remarks']), words(nouns, random), random)}",
        "roadmap": f"## Next\n\n{_listed(nouns, 3, random)}\n\n## Later\n\n{_listed(nouns, 2, random)}",
    }
    for name, content in pages.items():
        rows.add(
            "wiki_page", project_id=project, slug=name, title=name.capitalize(), content=content, author_id=author,
            updated_at=when,
        )  # fmt: skip
    for _ in range(random.randint(0, 3)):
        values = words(nouns, random)
        rows.add(
            "snippet", project_id=project, author_id=random.choice(team)[0],
            title=sentence("{Verb} a {noun} [by hand|in {part}|on {system}]", values, random), description="",
            file_name=f"{values['verb']}_{values['noun']}.txt",
            content="\n".join(function(repository.source.language, values, random)),
            visibility=rows.get("project", project)["visibility"], created_at=when,
        )  # fmt: skip


# ---------------------------------------------------------------------- what happens between people


def _social(rows: Rows, random: Random) -> None:
    """Stars (every public project has a different number of them), followers and forks."""
    visible = [key for key, row in enumerate(rows.tables["project"], 1) if row["visibility"] != "private"]
    counts = random.sample(range(1, USERS - 2), len(visible))
    for project, count in zip(visible, counts, strict=True):
        fans = random.sample(range(2, USERS + 1), count)
        if random.random() < 0.15:
            fans[0] = 1
        for user in fans:
            since = START - timedelta(minutes=random.randint(60, 900_000) * 8 // 9)
            rows.add("star", project_id=project, user_id=user, created_at=since.isoformat(" "))
    for user in range(1, USERS + 1):
        for other in random.sample(range(1, USERS + 1), random.randint(0, 9)):
            if other != user:
                rows.add("follow", user_id=user, follows_id=other)
    for key, value in (("home laptop", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJq7 byteblaze@laptop"),):
        rows.add("ssh_key", user_id=1, title=key, key=value, created_at="2024-03-02 18:21:00")
    rows.add(
        "access_token", user_id=1, name="ci-bot", scopes="read_api", token="glpat-2f6b1d", expires_at="2026-01-31",
        created_at="2025-01-31 12:00:00",
    )  # fmt: skip


def _events(rows: Rows) -> None:
    """The activity of the last months, as issues, merge requests and commits tell it."""
    found: list[dict[str, Any]] = []
    since = (START - timedelta(days=180)).isoformat(" ")
    for table, action, target, url in (
        ("git_commit", "committed", "{title}", "commit/{sha}"),
        ("issue", "opened issue", "#{iid} {title}", "issues/{iid}"),
        ("merge_request", "opened merge request", "!{iid} {title}", "merge_requests/{iid}"),
    ):
        for row in rows.tables[table]:
            project = rows.get("project", row["project_id"])
            event = {"user_id": row["author_id"], "project_id": row["project_id"], "action": action}
            event |= {"target": target.format(**row), "created_at": row["created_at"]}
            found.append({**event, "url": f"/{project['namespace']}/{project['path']}/-/{url.format(**row)}"})
    for event in sorted(found, key=lambda event: event["created_at"]):
        if event["created_at"] > since:
            rows.add("event", **event)
