"""Labels, milestones, issues, merge requests, comments and to-dos of the base data."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.code.catalogue import TEXTS, Words, sentence, words
from agentrl.envs.webarena.sites.code.history import Repository, Rows, Session
from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.formats import stamp

Team = list[tuple[int, int]]  # (user, access level), most active first


class Tickets:
    """Makes everything that people write about one project."""

    def __init__(self, rows: Rows, repository: Repository, team: Team, public: list[int], random: Random) -> None:
        self.rows, self.repository, self.random = rows, repository, random
        self.project, self.nouns = repository.project, repository.nouns
        self.team = [user for user, _ in team]
        # The first account has more to do than others, so that its lists are worth reading.
        self.developers = [user for user, level in team if level >= 30 for _ in range(3 if user == 1 else 1)]
        self.public = public  # who else takes part
        self.labels = {
            name: rows.add("label", project_id=self.project, name=name, color=color, description=text)
            for name, color, text in TEXTS["labels"]
        }
        self.milestones: list[int] = []
        self._titles: set[str] = set()
        self._iid = 0

    # ------------------------------------------------------------------ planning

    def plan(self, begin: datetime) -> None:
        """Milestones one after the other, the last ones still active."""
        count = self.random.randint(2, 5)
        titles = self.random.sample(TEXTS["milestones"], count)
        length = (START - begin) / count
        for number, title in enumerate(sorted(titles), 1):
            start = begin + length * (number - 1) + timedelta(days=self.random.randint(0, 9))
            due = start + length + timedelta(days=self.random.randint(-3, 25))
            self.milestones.append(
                self.rows.add(
                    "milestone", project_id=self.project, iid=number, title=title,
                    description=self._text("goals", words(self.nouns, self.random)) + ".",
                    state="active" if due > START - timedelta(days=20) else "closed", start_date=str(start.date()),
                    due_date=str(due.date()), created_at=start.isoformat(" ", "seconds"),
                )
            )  # fmt: skip

    # ------------------------------------------------------------------ issues

    def issue(self, when: datetime) -> int:
        """An issue opened at that time, with what happened to it since."""
        random, values = self.random, words(self.nouns, self.random)
        for _ in range(50):
            pattern, label = self.random.choice(TEXTS["issues"])
            title = sentence(pattern, values, random)
            if title not in self._titles:
                break
            values.update(words(self.nouns, self.random))
        self._titles.add(title)  # pyright: ignore[reportPossiblyUnbound]
        closed = random.random() < min(0.85, 0.25 + (START - when).days / 500)
        author, assignee = self._anybody(), random.choice(self.developers) if random.random() < 0.6 else None
        milestone = random.choice(self.milestones) if random.random() < 0.45 else None
        due = str((when + timedelta(days=random.randint(10, 150))).date()) if random.random() < 0.3 else ""
        self._iid += 1
        issue = self.rows.add(
            "issue", project_id=self.project, iid=self._iid, title=title, description=self._description(values),
            state="closed" if closed else "opened", author_id=author, assignee_id=assignee, milestone_id=milestone,
            due_date=due, weight=random.choice((None, None, 1, 2, 3, 5, 8)), created_at=stamp(when),
            updated_at=stamp(when), closed_at="",
        )  # fmt: skip
        for name in self._labels(label):
            self.rows.add("issue_label", issue_id=issue, label_id=self.labels[name])
        last = self._discuss("issue_id", issue, author, when, "comments", random.choice((0, 0, 1, 1, 2, 3, 4, 6)))
        if closed:
            last = min(last + timedelta(hours=random.randint(2, 900)), START - timedelta(hours=random.randint(1, 40)))
            self._say("issue_id", issue, assignee or random.choice(self.developers), "closed", last, system=1)
        self.rows.get("issue", issue).update(updated_at=stamp(last), closed_at=stamp(last) if closed else "")
        if assignee and not closed:
            self._todo(assignee, author, "assigned", last, issue_id=issue, merge_request_id=None)
        return issue

    def _labels(self, first: str) -> list[str]:
        names = [first] if self.random.random() < 0.85 else []
        if self.random.random() < 0.25:
            names.append(self.random.choice([name for name in self.labels if name != first]))
        return names

    def _description(self, values: Words) -> str:
        parts = [self._text("openings", values) + " " + self._text("details", values)]
        if self.random.random() < 0.35:
            parts.append(sentence(TEXTS["steps"], values, self.random))
        if self.random.random() < 0.5:
            parts.append(self._text("details", words(self.nouns, self.random)))
        return "\n\n".join(parts)

    # ------------------------------------------------------------------ merge requests

    def merge_request(self, iid: int, session: Session, state: str, branch: str) -> int:
        """A merge request for the commits of a session."""
        random = self.random
        when = session.when + timedelta(minutes=random.randint(3, 90))
        values = words(self.nouns, random)
        others = [user for user in self.developers if user != session.author] or self.developers
        reviewer = random.choice(others) if random.random() < 0.7 or state == "opened" else None
        request = self.rows.add(
            "merge_request", project_id=self.project, iid=iid, title=session.title,
            description=self._description(values), state=state, source_branch=branch, target_branch="main",
            head_id=session.commits[-1], base_id=session.base, author_id=session.author,
            assignee_id=random.choice((session.author, *others)) if random.random() < 0.7 else None,
            reviewer_id=reviewer, milestone_id=random.choice(self.milestones) if random.random() < 0.3 else None,
            merged_by_id=random.choice(others) if state == "merged" else None, draft=0, created_at=stamp(when),
            updated_at=stamp(when), closed_at="",
        )  # fmt: skip
        for name in self._labels(random.choice(("bug", "feature", "documentation", "performance"))):
            self.rows.add("merge_request_label", merge_request_id=request, label_id=self.labels[name])
        count = random.choice((0, 1, 1, 2, 3, 5))
        last = self._discuss("merge_request_id", request, session.author, when, "reviews", count)
        row = self.rows.get("merge_request", request)
        if reviewer and (state == "merged" or self.random.random() < 0.3):
            self.rows.add("approval", merge_request_id=request, user_id=reviewer, created_at=stamp(last))
            self._say("merge_request_id", request, reviewer, "approved this merge request", last, system=1)
        elif reviewer and state == "opened":
            self._todo(reviewer, row["author_id"], "review_requested", last, issue_id=None, merge_request_id=request)
        if state != "opened":
            last = min(last + timedelta(hours=self.random.randint(1, 60)), START - timedelta(hours=1))
            who = row["merged_by_id"] or row["author_id"]
            self._say("merge_request_id", request, who, state, last, system=1)
            row["closed_at"] = stamp(last)
        row["updated_at"] = stamp(last)
        return request

    # ------------------------------------------------------------------ what people say

    def _discuss(self, column: str, target: int, author: int, when: datetime, kind: str, count: int) -> datetime:
        for _ in range(count):
            when = min(when + timedelta(minutes=self.random.randint(20, 9000)), START - timedelta(hours=2))
            values = words(self.nouns, self.random)
            text = " ".join(self._text(kind, values) for _ in range(self.random.choice((1, 1, 2))))
            if text not in self.rows.said:
                self.rows.said.add(text)
                who = author if self.random.random() < 0.25 else self._anybody()
                self._say(column, target, who, text, when, system=0)
        return when

    def _say(self, column: str, target: int, author: int, text: str, when: datetime, *, system: int) -> None:
        ids = {"issue_id": None, "merge_request_id": None, column: target}
        self.rows.add("note", **ids, author_id=author, body=text, system=system, created_at=stamp(when))

    def _todo(self, user: int, author: int, action: str, when: datetime, **target: Any) -> None:
        if user != author:
            self.rows.add(
                "todo", user_id=user, author_id=author, project_id=self.project, **target, action=action,
                state="pending" if (START - when).days < 250 else "done", created_at=stamp(when),
            )  # fmt: skip

    def _anybody(self) -> int:
        return self.random.choice(self.team if self.random.random() < 0.65 else self.public)

    def _text(self, kind: str, values: Words) -> str:
        return sentence(self.random.choice(TEXTS[kind]), values, self.random)
