"""Forums and who belongs to them: moderators, subscribers, banned members; the agent's votes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.discussions import Discussions
from agentrl.envs.webarena.sites.forum.people import AGENT, FOUNDERS, People

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
        for author, created in _texts(submission):
            key = (forum_id, author)
            last[key] = max(last.get(key, created), created)
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


def _texts(submission: Any) -> Iterable[tuple[int, datetime]]:
    yield submission.author.id, submission.created
    for comment in submission.comments:
        yield comment.author.id, comment.created


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
