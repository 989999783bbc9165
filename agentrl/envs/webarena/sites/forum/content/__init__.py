"""What the forums are about: one file for each of them, what all share, and the texts that their patterns give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from agentrl.envs.common.data_files import data_file
from agentrl.envs.webarena.sites.prose import Values, expand, heading, sentences


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
        patterns = [rng.choice(subject.post.get("body") or [""])]
        ending = "pleas" if subject.post["title"].endswith("?") else "remarks"
        for kind, share in ((ending, 0.4), ("asides", 0.6)):
            if patterns[0] and rng.random() < share:
                patterns.append(rng.choice(common("texts")[kind]))
        return sentences("\n\n".join(expand(pattern, rng, subject.values) for pattern in patterns))

    def comment(self, rng: Random, subject: Subject, *, is_reply: bool) -> str:
        """A comment on a submission: what it says about the subject, often with a word before or after it."""
        shared = common("texts")
        if is_reply and rng.random() < 0.6:
            parts = [rng.choice(shared["replies"])]
        else:
            parts = [rng.choice(self.comments)]
            if rng.random() < 0.3:
                parts.insert(0, rng.choice(shared["openings"]))
            if rng.random() < 0.2:
                parts.append(rng.choice(self.comments))
        if rng.random() < 0.5:
            parts.append(rng.choice(shared["asides"]))
        elif rng.random() < 0.4:
            parts.append(rng.choice(shared["closings"]))
        return sentences(" ".join(expand(part, rng, subject.values) for part in parts))


def common(part: str) -> Any:
    """What all forums share: "texts", "words" for all patterns, "names" of members, "conversations", the "wiki"."""
    return data_file(__name__, "_common.toml")[part]


@cache
def contents() -> tuple[Content, ...]:
    """All forums, by name."""
    names = sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".toml"))
    kept = ("name", "title", "description", "sidebar", "size", "fields", "numbers", "posts")
    found = []
    for data in (data_file(__name__, name) for name in names if not name.startswith("_")):
        subjects = [[value.strip() for value in row.split("|")] for row in data["subjects"]]
        values = {key: data[key] for key in kept}
        found.append(Content(**values, subjects=subjects, comments=data["texts"]["comments"], words=common("words")))
    return tuple(found)
