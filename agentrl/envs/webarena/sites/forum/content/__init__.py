"""What the forums are about: one file for each of them, what all share, and the texts that their patterns give.

In a pattern `[a|b]` is a choice, `{name}` a value or a word of a list, `{3..9}` a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from random import Random
from typing import Any

from agentrl.envs.webarena.data_files import data_file

# ---------------------------------------------------------------------- patterns

Part = str | tuple["Pattern", ...] | tuple[str]  # plain text, alternatives, or a name between braces
Pattern = tuple[Part, ...]
Values = Mapping[str, str | Sequence[str]]
_TOKEN = re.compile(r"\\(.)|\{([\w.]+)\}|([\[\]|])|([^\\\[\]{}|]+)", re.DOTALL)
_SENTENCE = re.compile(r"(^|[.!?] +|\n(?:- )?)([a-z])")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")


def expand(pattern: str, rng: Random, values: Values) -> str:
    """One text of a pattern."""
    return "".join(_pieces(parse(pattern), rng, values))


def heading(text: str) -> str:
    """The text as a title: its first letter is a capital one, and "an" stands before vowels."""
    text = _ARTICLE.sub(r"\1n ", text.strip())
    return text[:1].upper() + text[1:]


def sentences(text: str) -> str:
    """The text with a capital letter at the beginning of every sentence, and "an" before vowels."""
    text = _SENTENCE.sub(lambda found: found[1] + found[2].upper(), text)
    return _ARTICLE.sub(r"\1n ", text).replace("  ", " ").strip()


def _pieces(pattern: Pattern, rng: Random, values: Values) -> list[str]:
    pieces: list[str] = []
    for part in pattern:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part[0], str):
            pieces.append(_value(part[0], rng, values))
        else:
            pieces += _pieces(part[int(rng.random() * len(part))], rng, values)  # type: ignore[arg-type]
    return pieces


def _value(name: str, rng: Random, values: Values) -> str:
    if ".." in name:
        low, high = name.split("..")
        return str(rng.randint(int(low), int(high)))
    value = values[name]
    if isinstance(value, str):
        return value
    return expand(value[int(rng.random() * len(value))], rng, values)


@lru_cache(None)
def parse(pattern: str) -> Pattern:
    """The pattern as a tree; ValueError where brackets do not match."""
    stack: list[list[list[Part]]] = [[[]]]  # open choices; each is a list of alternatives
    done = 0
    for found in _TOKEN.finditer(pattern):
        if found.start() != done:
            break
        done = found.end()
        escaped, name, mark, plain = found.groups()
        if mark == "[":
            stack.append([[]])
        elif mark == "|" and len(stack) > 1:
            stack[-1].append([])
        elif mark == "]" and len(stack) > 1:
            choice = tuple(tuple(alternative) for alternative in stack.pop())
            stack[-1][-1].append(choice)
        else:
            stack[-1][-1].append((name,) if name else escaped or plain or mark)
    if done != len(pattern) or len(stack) != 1:
        raise ValueError(f"the brackets of {pattern!r} must match")
    return tuple(stack[0][0])


# ---------------------------------------------------------------------- forums


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
            pattern += "\n\n" + rng.choice(common("texts")["pleas" if is_question else "remarks"])
        return sentences(expand(pattern, rng, subject.values))

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
        if rng.random() < 0.25:
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
