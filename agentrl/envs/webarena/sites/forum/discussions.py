"""Submissions and comment trees: who wrote what, when, and how it was received."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.forum.content import Content, Subject
from agentrl.envs.webarena.sites.forum.listing import ranking
from agentrl.envs.webarena.sites.forum.people import OPENED, Member, People
from agentrl.envs.webarena.sites.forum.text import slug
from agentrl.envs.webarena.sites.prose import expand

FIRST_SUBMISSION = 10_001
FIRST_COMMENT = 50_001
AGENT_SHARE = 1 / 60  # of the submissions
AGENT_COMMENTS = 1 / 250
MAX_COMMENTS = 45
LATEST = START - timedelta(minutes=7)
DAYS = (LATEST - OPENED).days


@dataclass
class Comment:
    """A comment, before it has an id."""

    author: Member
    body: str
    created: datetime
    upvotes: int
    downvotes: int
    parent: Comment | None = None
    id: int = 0


@dataclass
class Submission:
    """A submission with its comments, before it has an id."""

    forum: Content
    subject: Subject
    author: Member
    title: str
    url: str
    body: str
    created: datetime
    upvotes: int
    downvotes: int
    comments: list[Comment] = field(default_factory=list)
    id: int = 0

    @property
    def last_active(self) -> datetime:
        """When something last happened here."""
        return max([self.created, *(comment.created for comment in self.comments)])


class Discussions:
    """All submissions and comments, numbered by time."""

    def __init__(self, rng: Random, contents: Sequence[Content], people: People) -> None:
        self.rng, self.people = rng, people
        self._said: set[str] = set()  # comments so far, so that none is made twice
        self.forum_ids = {content.name: number for number, content in enumerate(contents, start=1)}
        found = [submission for content in contents for submission in self._forum(content)]
        self.submissions = sorted(found, key=lambda submission: (submission.created, submission.title))
        for number, submission in enumerate(self.submissions, start=FIRST_SUBMISSION):
            submission.id = number
        pairs = [(comment, submission) for submission in self.submissions for comment in submission.comments]
        self.comments = sorted(pairs, key=lambda pair: (pair[0].created, pair[1].id))
        for number, (comment, _) in enumerate(self.comments, start=FIRST_COMMENT):
            comment.id = number

    def submission_rows(self) -> Iterable[dict[str, Any]]:
        """Rows of the table `submission`."""
        for entry in self.submissions:
            created = entry.created.isoformat(" ")
            yield {
                "id": entry.id, "forum_id": self.forum_ids[entry.forum.name], "user_id": entry.author.id,
                "title": entry.title, "url": entry.url, "body": entry.body, "created_at": created,
                "upvotes": entry.upvotes, "downvotes": entry.downvotes, "comment_count": len(entry.comments),
                "last_active": entry.last_active.isoformat(" "),
                "ranking": ranking(created, entry.upvotes, entry.downvotes, len(entry.comments)),
            }  # fmt: skip

    def comment_rows(self) -> Iterable[dict[str, Any]]:
        """Rows of the table `comment`."""
        for comment, submission in self.comments:
            yield {
                "id": comment.id, "submission_id": submission.id, "user_id": comment.author.id,
                "parent_id": comment.parent.id if comment.parent is not None else None, "body": comment.body,
                "created_at": comment.created.isoformat(" "), "upvotes": comment.upvotes,
                "downvotes": comment.downvotes,
            }  # fmt: skip

    # ------------------------------------------------------------------ making them

    def _forum(self, content: Content) -> Iterable[Submission]:
        taken: set[str] = set()
        for _ in range(content.size):
            created = LATEST - timedelta(seconds=int(DAYS * 86400 * self.rng.random() ** 2.2))
            subject = content.subject(self.rng, created.year)
            title = content.headline(self.rng, subject)
            while title.lower() in taken:
                subject = content.subject(self.rng, created.year)
                title = content.headline(self.rng, subject)
            taken.add(title.lower())
            submission = self._submission(content, subject, title, created)
            interest = (submission.upvotes + submission.downvotes) ** 0.75
            for _ in range(min(int(self.rng.expovariate(1 / interest) * 0.66), MAX_COMMENTS)):
                submission.comments.append(self._comment(submission))
            yield submission

    def _submission(self, content: Content, subject: Subject, title: str, created: datetime) -> Submission:
        rng = self.rng
        hours = (START - created).total_seconds() / 3600
        fame = min(rng.paretovariate(1.15), 40.0) * min(1.0, hours / 20)  # it takes a day until everybody has voted
        upvotes, downvotes = 1 + int(fame * rng.uniform(1, 9)), int(fame * rng.uniform(0, 3.2) * rng.random())
        author = self.people.agent if rng.random() < AGENT_SHARE else self.people.author(rng, created)
        url = ""
        if "image" in subject.post:
            scene = expand(subject.post["image"], rng, subject.values)
            url = f"/submission_images/{scene}-{rng.randrange(16**6):06x}.svg"
        elif "link" in subject.post:
            url = f"https://{rng.choice(subject.post['link'])}/{created.year}/{slug(title)}"
        body = content.body(rng, subject)
        return Submission(content, subject, author, title, url, body, created, upvotes, downvotes)

    def _comment(self, submission: Submission) -> Comment:
        rng = self.rng
        parent = rng.choice(submission.comments) if submission.comments and rng.random() < 0.55 else None
        created = self._later(parent.created if parent is not None else submission.created)
        upvotes, downvotes = 1 + int(rng.expovariate(1 / 4)), int(rng.expovariate(1 / 1.5))
        if rng.random() < 0.08:  # somebody said the wrong thing
            upvotes, downvotes = 1 + int(rng.random() * 3), 3 + int(rng.expovariate(1 / 6))
        if rng.random() < AGENT_COMMENTS:
            author = self.people.agent
        elif parent is not None and rng.random() < 0.2 and parent.author is not submission.author:
            author = submission.author
        else:
            author = self.people.author(rng, created)
        body = ""
        while not body or body in self._said:
            body = submission.forum.comment(rng, submission.subject, is_reply=parent is not None)
        self._said.add(body)
        return Comment(author, body, created, upvotes, downvotes, parent)

    def _later(self, moment: datetime) -> datetime:
        delay = timedelta(seconds=int(60 + self.rng.expovariate(1 / 14_000)))
        if moment + delay < LATEST:
            return moment + delay
        left = int((LATEST + timedelta(minutes=6) - moment).total_seconds())
        return moment + timedelta(seconds=int(left * self.rng.uniform(0.1, 0.9)))
