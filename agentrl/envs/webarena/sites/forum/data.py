"""The forum's base data: the same in every process, from constants alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.database import START, insert_rows
from agentrl.envs.webarena.sites.forum.content import Content, common, contents
from agentrl.envs.webarena.sites.forum.discussions import FIRST_COMMENT, FIRST_SUBMISSION, Discussions
from agentrl.envs.webarena.sites.forum.people import ADMIN, AGENT, FOUNDERS, People
from agentrl.envs.webarena.sites.prose import expand
from agentrl.envs.webarena.sites.site import session_token

# ---------------------------------------------------------------------- forums and who belongs to them

FEATURED = frozenset(
    ("books", "technology", "gaming", "Cooking", "pics", "space", "UpliftingNews", "travel", "movies", "DIY")
)
AGENT_MODERATES = ("Coffee", "running")
AGENT_READS = ("books", "Coffee", "gaming", "movies", "nyc", "running", "technology", "travel")
REASONS = (
    "Repeated spam", "Insults after two warnings", "Selling things", "Ban evasion", "Posting the same link every day",
    "Harassment by private message", "Off-topic rants", "Fake reviews",
)  # fmt: skip
Rows = list[dict[str, Any]]


def forums(rng: Random) -> Rows:
    """Rows of the table `forum`, by name."""
    return [
        {
            "id": number, "name": content.name, "title": content.title, "description": content.description,
            "sidebar": content.sidebar, "tags": "", "is_featured": int(content.name in FEATURED),
            "created_at": _moment(rng, datetime(2021, 12, 20), datetime(2022, 1, 2)),
        }
        for number, content in enumerate(contents(), start=1)
    ]  # fmt: skip


def moderators(rng: Random, people: People) -> Rows:
    """Two to four moderators for each forum, all of whom joined before the first submission."""
    rows: Rows = []
    for number, content in enumerate(contents(), start=1):
        chosen = rng.sample(range(2, FOUNDERS - 1), rng.randint(2, 4))
        if content.name in AGENT_MODERATES:
            chosen.append(people.agent.id)
        moments = sorted(_moment(rng, datetime(2022, 1, 3), datetime(2024, 6, 1)) for _ in chosen)
        rows += [
            {"forum_id": number, "user_id": user_id, "created_at": moment}
            for user_id, moment in zip(chosen, moments, strict=True)
        ]
    return rows


def subscriptions(rng: Random, people: People, leaders: Rows) -> Rows:
    """Who reads what. Larger forums have more subscribers; moderators read their own."""
    found: dict[tuple[int, int], str] = {(row["forum_id"], row["user_id"]): row["created_at"] for row in leaders}
    for number, content in enumerate(contents(), start=1):
        share = content.size / 500 + rng.uniform(0, 0.25)
        for member in people.members:
            wanted = content.name in AGENT_READS if member.username == AGENT else rng.random() < share
            if wanted:
                since = max(member.joined, datetime(2022, 1, 3))
                found.setdefault((number, member.id), _moment(rng, since, START - timedelta(days=1)))
    return [
        {"forum_id": forum, "user_id": user, "created_at": moment} for (forum, user), moment in sorted(found.items())
    ]


def bans(rng: Random, people: People, discussions: Discussions, leaders: Rows) -> Rows:
    """Up to four banned members in each forum: none of them has written there since."""
    last: dict[tuple[int, int], datetime] = {}
    for submission in discussions.submissions:
        forum_id = discussions.forum_ids[submission.forum.name]
        for text in (submission, *submission.comments):
            key = (forum_id, text.author.id)
            last[key] = max(last.get(key, text.created), text.created)
    rows: Rows = []
    for forum_id in discussions.forum_ids.values():
        chiefs = [row["user_id"] for row in leaders if row["forum_id"] == forum_id]
        spared = (*chiefs, people.agent.id)
        candidates = [user for (forum, user) in sorted(last) if forum == forum_id and user not in spared]
        for user_id in rng.sample(candidates, rng.randint(0, 4)):
            after = last[forum_id, user_id]
            moment = _moment(rng, after, min(after + timedelta(days=3), START))
            reason, banner = rng.choice(REASONS), rng.choice(chiefs)
            rows.append(
                {"forum_id": forum_id, "user_id": user_id, "banned_by": banner, "reason": reason, "created_at": moment}
            )
    return rows


def votes(rng: Random, people: People, discussions: Discussions) -> dict[str, Rows]:
    """The agent's votes: up for all it wrote itself, and some on other texts. All are in the counts already."""
    agent = people.agent.id
    submissions = [
        {"submission_id": entry.id, "user_id": agent, "choice": 1}
        for entry in discussions.submissions
        if entry.author.id == agent
    ]
    others: Sequence[Any] = [entry for entry in discussions.submissions if entry.author.id != agent]
    for entry in rng.sample(others, 30):
        choice = -1 if entry.downvotes and rng.random() < 0.3 else 1
        submissions.append({"submission_id": entry.id, "user_id": agent, "choice": choice})
    comments = [
        {"comment_id": comment.id, "user_id": agent, "choice": 1}
        for comment, _ in discussions.comments
        if comment.author.id == agent
    ]
    return {"submission_vote": submissions, "comment_vote": comments}


def _moment(rng: Random, first: datetime, last: datetime) -> str:
    span = max(int((last - first).total_seconds()), 1)
    return (first + timedelta(seconds=rng.randrange(span))).isoformat(" ")


# ---------------------------------------------------------------------- what waits for the agent

NOTIFICATIONS = 12


def messages(rng: Random, people: People) -> dict[str, list[dict[str, Any]]]:
    """Conversations of the agent with other members."""
    threads, texts = [], []
    moment = datetime(2025, 3, 2, 18, 20, 0)
    for number, conversation in enumerate(common("conversations"), start=1):
        other = people.members[rng.randrange(1, FOUNDERS - 1)]
        threads.append({"id": number, "sender_id": other.id, "receiver_id": people.agent.id})
        moment += timedelta(days=rng.randint(6, 13), minutes=rng.randint(0, 900))
        for place, body in enumerate(conversation):
            author = other if place % 2 == 0 else people.agent
            when = moment + timedelta(minutes=place * rng.randint(12, 400))
            texts.append({"thread_id": number, "sender_id": author.id, "body": body, "created_at": when.isoformat(" ")})
    return {"message_thread": threads, "message": texts}


def notifications(people: People, discussions: Discussions) -> list[dict[str, Any]]:
    """The newest answers to what the agent wrote."""
    agent = people.agent.id
    answers = [
        comment
        for comment, submission in discussions.comments
        if (comment.parent.author.id if comment.parent is not None else submission.author.id) == agent
        and comment.author.id != agent
    ]
    return [
        {"user_id": agent, "comment_id": comment.id, "message_id": None, "created_at": comment.created.isoformat(" ")}
        for comment in answers[-NOTIFICATIONS:]
    ]


# ---------------------------------------------------------------------- the wiki


def wiki(rng: Random, people: People, leaders: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows of the tables `wiki_page` and `wiki_revision`; every page has some earlier versions."""
    texts = {page["path"]: (page["title"], page["body"]) for page in common("wiki")}
    for number, content in enumerate(contents(), start=1):
        chiefs = [row["user_id"] for row in leaders if row["forum_id"] == number]
        contact = people.members[rng.choice(chiefs) - 1].username
        texts[f"guides/{content.name}"] = (f"Guide to {content.name}", _guide(rng, content, contact))
    pages: list[dict[str, Any]] = []
    revisions: list[dict[str, Any]] = []
    for number, (path, (title, body)) in enumerate(texts.items(), start=1):
        is_locked = path in ("index", "rules")
        pages.append({"id": number, "path": path, "is_locked": int(is_locked)})
        for text, moment in _versions(rng, body):
            author = 1 if is_locked else people.members[rng.randrange(1, FOUNDERS - 1)].id
            revisions.append(
                {"page_id": number, "user_id": author, "title": title, "body": text, "created_at": moment}
            )  # fmt: skip
    revisions.sort(key=lambda row: row["created_at"])
    return {"wiki_page": pages, "wiki_revision": revisions}


def _versions(rng: Random, body: str) -> Iterator[tuple[str, str]]:
    """How a page grew: some beginnings of its text, then all of it, with the moments they were written."""
    paragraphs = body.split("\n\n")
    lengths = sorted(rng.sample(range(1, len(paragraphs)), min(rng.randint(0, 3), len(paragraphs) - 1)))
    moment = datetime(2022, 1, 4) + timedelta(minutes=rng.randrange(300_000))
    for length in [*lengths, len(paragraphs)]:
        yield "\n\n".join(paragraphs[:length]), moment.isoformat(" ")
        moment += (START - moment) * rng.uniform(0.05, 0.6)
        moment = moment.replace(microsecond=0)


def _guide(rng: Random, content: Content, contact: str) -> str:
    day = expand("{weekday}", rng, {})
    limit, age, length = rng.randint(1, 6), rng.choice((3, 7, 14, 30)), rng.choice((50, 80, 100, 140, 200))
    return (
        f"{content.description}\n\n# At a glance\n\n- The weekly thread opens on {day}\n"
        f"- At most {limit} submission{'s' if limit > 1 else ''} a day\n"
        f"- Accounts must be {age} days old to post\n- Reviews need at least {length} words\n\n"
        f"# Contact\n\nWrite to [{contact}](/user/{contact}) before you write to an administrator.\n\n"
        f"# What we talk about\n\n{', '.join(dict.fromkeys(row[0] for row in content.subjects[:6]))} and the like."
    )


# ---------------------------------------------------------------------- all of it

VERSION = 6
SEED = 20250616

__all__ = ["FIRST_COMMENT", "FIRST_SUBMISSION", "VERSION", "build"]


def build(connection: sqlite3.Connection) -> None:
    """Make the tables and fill them."""
    connection.executescript(files(__package__ or "").joinpath("schema.sql").read_text("utf-8"))
    people = People(Random(f"{SEED} people"))
    users = [
        {
            "id": member.id, "username": member.username,
            "password": "test1234" if member.username == AGENT else f"{member.username}-{member.id * 7919 % 100_003}",
            "email": f"{member.username.lower()}@mail.example", "biography": member.biography,
            "is_admin": int(member.username == ADMIN), "created_at": member.joined.isoformat(" "),
        }
        for member in people.members
    ]  # fmt: skip
    insert_rows(connection, "user", users)
    insert_rows(connection, "forum", forums(Random(f"{SEED} forums")))
    discussions = Discussions(Random(f"{SEED} discussions"), contents(), people)
    insert_rows(connection, "submission", discussions.submission_rows())
    insert_rows(connection, "comment", discussions.comment_rows())
    leaders = moderators(Random(f"{SEED} moderators"), people)
    insert_rows(connection, "moderator", leaders)
    insert_rows(connection, "subscription", subscriptions(Random(f"{SEED} subscriptions"), people, leaders))
    insert_rows(connection, "ban", bans(Random(f"{SEED} bans"), people, discussions, leaders))
    cast = votes(Random(f"{SEED} votes"), people, discussions)
    for table in ("submission_vote", "comment_vote"):
        insert_rows(connection, table, cast[table])
    for table, rows in {
        **messages(Random(f"{SEED} messages"), people),
        "notification": notifications(people, discussions),
        **wiki(Random(f"{SEED} wiki"), people, leaders),
    }.items():
        insert_rows(connection, table, rows)
    token = session_token("reddit", AGENT)
    insert_rows(connection, "session", [{"site": "reddit", "token": token, "user_id": people.agent.id, "message": ""}])
