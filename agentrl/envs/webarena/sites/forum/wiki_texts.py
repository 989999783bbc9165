"""The wiki: general pages, and a guide to every forum."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.forum.content import Content, contents, words
from agentrl.envs.webarena.sites.forum.people import FOUNDERS, People

PAGES = {
    "index": (
        "Welcome to the wiki",
        "Plaza is a place for discussions, run by its members. This wiki holds what does not fit into a thread.\n\n"
        "- [Rules](/wiki/rules)\n- [Formatting](/wiki/help/formatting)\n- [Voting](/wiki/help/voting)\n"
        "- [Moderation](/wiki/moderation)\n- [Questions and answers](/wiki/faq)\n- [All pages](/wiki/_all)\n\n"
        "Every forum has a guide: [books](/wiki/guides/books), [Cooking](/wiki/guides/Cooking), "
        "[travel](/wiki/guides/travel) and more in the list of all pages.",
    ),
    "rules": (
        "Rules",
        "# The short version\n\nBe kind, stay on topic, name your sources.\n\n# The long version\n\n"
        "- One account a person\n- No insults, no threats, no private data of others\n"
        "- No more than 4 submissions a day\n"
        "- Advertising only where a forum allows it\n"
        "- Moderators decide in their forum; administrators decide between forums\n\n"
        "A first offence is a warning, a second one a ban of 7 days, a third one a ban without end.",
    ),
    "help/formatting": (
        "Formatting help",
        "Leave an empty line between paragraphs.\n\n- a line that begins with a hyphen is part of a list\n"
        "- **two stars** on both sides make a word strong\n- a line that begins with # is a heading\n\n"
        "> A line that begins with > is a quotation.\n\nLinks: [text](https://plaza.example).",
    ),
    "help/voting": (
        "How voting works",
        "Vote up what adds to a discussion, vote down what does not. A second click takes the vote back.\n\n"
        "The order Hot counts a vote as half an hour and a comment as twenty minutes, up to a day and a half. "
        "Controversial means many votes on both sides.",
    ),
    "moderation": (
        "Moderation",
        "Moderators edit the sidebar of their forum, pin and lock submissions, and ban members.\n\n"
        "- Give a reason for every ban\n- Answer messages within 3 days\n- Do not moderate your own arguments",
    ),
    "faq": (
        "Questions and answers",
        "# How do I make a forum?\n\nUse the link Create new forum on the front page.\n\n"
        "# Can I change my name?\n\nNo. You can delete the account and make another one.\n\n"
        "# Who pays for this?\n\nMembers do. Running Plaza costs 212 dollars a month.",
    ),
}  # fmt: skip


def wiki(rng: Random, people: People, leaders: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows of the tables `wiki_page` and `wiki_revision`; every page has some earlier versions."""
    texts = {path: (title, body) for path, (title, body) in PAGES.items()}
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
    day = rng.choice(words()["weekday"])
    limit, age, length = rng.randint(1, 6), rng.choice((3, 7, 14, 30)), rng.choice((50, 80, 100, 140, 200))
    return (
        f"{content.description}\n\n# At a glance\n\n- The weekly thread opens on {day}\n"
        f"- At most {limit} submission{'s' if limit > 1 else ''} a day\n"
        f"- Accounts must be {age} days old to post\n- Reviews need at least {length} words\n\n"
        f"# Contact\n\nWrite to [{contact}](/user/{contact}) before you write to an administrator.\n\n"
        f"# What we talk about\n\n{', '.join(dict.fromkeys(row[0] for row in content.subjects[:6]))} and the like."
    )
