"""What the forums are about: one file for each of them, and what all share."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.forum.grammar import Values, expand, heading, sentences


@dataclass(frozen=True)
class Subject:
    """What one submission is about: the values that its texts draw on."""

    values: Values
    post: dict[str, Any]


@dataclass(frozen=True)
class Content:
    """The texts of one forum."""

    name: str
    title: str
    description: str
    sidebar: str
    size: int
    fields: Sequence[str]
    subjects: Sequence[Sequence[str]]
    numbers: dict[str, str]
    posts: Sequence[dict[str, Any]]
    comments: Sequence[str]
    words: Values

    def subject(self, rng: Random, year: int) -> Subject:
        """Something to write about in this year, and how."""
        values = dict(self.words) | {"this_year": str(year), "past_year": str(year - rng.randint(1, 4))}
        known = self.subjects
        if "year" in self.fields:  # nobody reviews what is not out yet
            place = self.fields.index("year")
            known = [subject for subject in known if int(subject[place]) <= year]
        values.update(zip(self.fields, rng.choice(known), strict=True))
        for name, span in self.numbers.items():
            values[name] = expand(f"{{{span}}}", rng, {})
        return Subject(values, rng.choice(self.posts))

    def headline(self, rng: Random, subject: Subject) -> str:
        """A title for a submission."""
        return heading(expand(subject.post["title"], rng, subject.values))

    def body(self, rng: Random, subject: Subject) -> str:
        """The text of a submission; empty for links."""
        pattern = rng.choice(subject.post.get("body") or [""])
        if pattern and rng.random() < 0.4:
            is_question = subject.post["title"].endswith("?")
            pattern += "\n\n" + rng.choice(common()["pleas" if is_question else "remarks"])
        return sentences(expand(pattern, rng, subject.values))

    def comment(self, rng: Random, subject: Subject, *, is_reply: bool) -> str:
        """A comment on a submission: what it says about the subject, often with a word before or after it."""
        shared = common()
        if is_reply and rng.random() < 0.6:
            parts = [rng.choice(shared["replies"])]
        else:
            parts = [rng.choice(self.comments)]
            if rng.random() < 0.3:
                parts.insert(0, rng.choice(shared["openings"]))
            if rng.random() < 0.2:
                parts.append(rng.choice(self.comments))
        if rng.random() < 0.25:
            parts.append(rng.choice(shared["closings"]))
        return sentences(" ".join(expand(part, rng, subject.values) for part in parts))


@cache
def common() -> dict[str, list[str]]:
    """Sentences that all forums share."""
    return _read("_common.toml")["texts"]


@cache
def words() -> dict[str, list[str]]:
    """Lists of words that all patterns may use."""
    return _read("_common.toml")["words"]


@cache
def name_parts() -> dict[str, list[str]]:
    """Parts of the members' names."""
    return _read("_common.toml")["names"]


@cache
def contents() -> tuple[Content, ...]:
    """All forums, by name."""
    names = sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".toml"))
    return tuple(_content(_read(name)) for name in names if not name.startswith("_"))


def _content(data: dict[str, Any]) -> Content:
    subjects = [[value.strip() for value in row.split("|")] for row in data["subjects"]]
    kept = {key: data[key] for key in ("name", "title", "description", "sidebar", "size", "fields", "numbers", "posts")}
    return Content(**kept, subjects=subjects, comments=data["texts"]["comments"], words=words())


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__name__).joinpath(name).read_text("utf-8"))
