"""The members: names, biographies, when they joined, and who is likely to write something at a given time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.forum.content import common
from agentrl.envs.webarena.sites.prose import expand, sentences

AGENT = "MarvelsGrantMan136"
ADMIN = "plaza_admin"
COUNT = 400
FOUNDED = datetime(2021, 6, 1, 8, 0, 0)
FOUNDERS = 150  # members who joined before the first submission
OPENED = datetime(2022, 1, 3, 8, 0, 0)  # the day of the first submission


@dataclass(frozen=True)
class Member:
    """A member, as a row of the table `user`."""

    id: int
    username: str
    biography: str
    joined: datetime


class People:
    """All members, ordered by the day they joined."""

    def __init__(self, rng: Random) -> None:
        names = _names(rng, COUNT - 2)
        founders = sorted(_moment(rng, FOUNDED, OPENED - timedelta(days=14)) for _ in range(FOUNDERS - 2))
        later = sorted(_moment(rng, OPENED, START - timedelta(days=12)) for _ in range(COUNT - FOUNDERS))
        joined = [FOUNDED - timedelta(days=30), *founders, datetime(2021, 12, 25, 19, 12, 5), *later]
        everybody = [ADMIN, *names[: FOUNDERS - 2], AGENT, *names[FOUNDERS - 2 :]]
        self.members = [
            Member(number, name, _biography(rng, name), moment)
            for number, (name, moment) in enumerate(zip(everybody, joined, strict=True), start=1)
        ]
        self.agent = next(member for member in self.members if member.username == AGENT)
        self._joined = [member.joined for member in self.members]

    def author(self, rng: Random, moment: datetime) -> Member:
        """Somebody who had joined by then, not the administrator; a few members write most of the texts."""
        count = bisect_right(self._joined, moment) - 1
        return self.members[1 + int(count * rng.random() ** 1.6)]


def _names(rng: Random, count: int) -> list[str]:
    names: dict[str, None] = {}  # a set that keeps its order
    parts = common("names")
    first, second, given = parts["first"], parts["second"], parts["given"]
    patterns = (
        lambda: f"{rng.choice(first)}_{rng.choice(second)}",
        lambda: f"{rng.choice(first).title()}{rng.choice(second).title()}{rng.randint(2, 99)}",
        lambda: f"{rng.choice(given)}_{rng.choice(second)}",
        lambda: f"{rng.choice(given).lower()}{rng.randint(60, 2005)}",
        lambda: f"{rng.choice(given)}The{rng.choice(second).title()}",
        lambda: f"not_{rng.choice(given).lower()}_{rng.choice(second)}",
    )
    while len(names) < count:
        names[rng.choice(patterns)()] = None
    return list(names)


def _biography(rng: Random, name: str) -> str:
    if name == AGENT:
        return "Comics, coffee and long runs. Moderator of a small corner of this place."
    if name == ADMIN:
        return "I keep Plaza running. Write to the moderators first."
    if rng.random() < 0.25:
        return ""
    return sentences(expand(rng.choice(common("texts")["biographies"]), rng, common("words")))


def _moment(rng: Random, first: datetime, last: datetime) -> datetime:
    return first + timedelta(seconds=rng.randint(0, int((last - first).total_seconds())))
