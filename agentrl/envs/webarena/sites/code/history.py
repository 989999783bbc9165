"""The repositories of the base data: files that grow commit by commit, with branches and tags."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple

from agentrl.envs.webarena.sites.code.catalogue import (
    LANGUAGES,
    PROGRAMS,
    TEXTS,
    Source,
    Words,
    function,
    language_of,
    new_file,
    package_file,
    readme,
    sentence,
    words,
)
from agentrl.envs.webarena.sites.code.changes import Change, creation, replace
from agentrl.envs.webarena.sites.database import insert_rows


class Rows:
    """Tables in the making. All rows of a table name the same columns."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.said: set[str] = set()  # comments, so that none is made twice

    def add(self, table: str, **values: Any) -> int:
        """Append a row; its id."""
        rows = self.tables[table]
        rows.append(values)
        return len(rows)

    def get(self, table: str, row_id: int) -> dict[str, Any]:
        """The row with that id, to look at or to change."""
        return self.tables[table][row_id - 1]

    def write(self, connection: sqlite3.Connection) -> None:
        """Insert everything, in one transaction (a transaction for each row takes many times as long)."""
        if not connection.in_transaction:
            connection.execute("BEGIN")
        for table, rows in self.tables.items():
            insert_rows(connection, table, [{"id": number, **row} for number, row in enumerate(rows, 1)])


MAX_LINES = 64  # of a generated file
DIGIT = re.compile("[0-9]")
COMMITS = TEXTS["commits"]


class Session(NamedTuple):
    """Commits that one author made in a row, from the first to the last."""

    author: int
    commits: list[int]
    base: int | None  # the commit before them
    title: str
    when: datetime  # of the last


class Repository:
    """The files of a project at one moment of its past, and the means to go on."""

    def __init__(self, rows: Rows, project: int, source: Source, random: Random) -> None:
        self.rows, self.project, self.source, self.random = rows, project, source, random
        self.nouns = source.nouns.split()
        self.files: dict[str, list[str]] = {}
        self.touched: dict[str, int] = {}  # path -> the commit that changed it last
        self.head: int | None = None
        self.version = 1
        self._blobs: dict[tuple[str, int], int] = {}
        about = LANGUAGES[source.language]
        self._planned = [f"{about['folder']}/{noun}{about['suffix']}" for noun in self.nouns]
        self._planned += [f"{about['tests']}/{noun}{about['suffix']}" for noun in self.nouns[:3]]
        self._planned += ["docs/usage.md", f"docs/{self.nouns[0]}.md", "CONTRIBUTING.md", "CHANGELOG.md"]

    def begin(self, author: int, when: datetime) -> None:
        """The first commit."""
        title, language = self.source.path, self.source.language
        licences = PROGRAMS["licences"]
        licence = licences[self.random.choice(sorted(licences))].format(year=when.year, title=title)
        package = LANGUAGES[language]["package"]
        first = {
            "README.md": readme(title, self.source.description, language, self.nouns, self.random),
            "LICENSE": licence.split("\n"),
            package: package_file(title, language),
            ".gitignore": ["build/", "*.log", ".cache/", ""],
        }
        self.files.update(first)
        self.commit(author, when, "Initial commit", "", [creation(path, lines) for path, lines in first.items()])

    def work(self, author: int, when: datetime, count: int) -> Session:
        """A few commits of one author, some minutes or hours apart."""
        base, commits, title = self.head, [], ""
        for _ in range(count):
            values = words(self.nouns, self.random)
            patterns, changes = self._change(values)
            said = sentence(self.random.choice(patterns), values, self.random).replace("`", "")
            has_body = self.random.random() < 0.3
            body = sentence(self.random.choice(COMMITS["bodies"]), values, self.random) if has_body else ""
            commits.append(self.commit(author, when, said, body, changes))
            title = title or said
            when += timedelta(minutes=self.random.randint(4, 95), seconds=self.random.randint(0, 59))
        last = datetime.fromisoformat(self.rows.get("git_commit", commits[-1])["created_at"])
        return Session(author, commits, base, title, last)

    def commit(self, author: int, when: datetime, title: str, body: str, changes: Sequence[Change]) -> int:
        """Write down a commit whose changes are made already."""
        number = len(self.rows.tables["git_commit"]) + 1
        sha = blake2b(f"{self.project}|{number}|{title}".encode(), digest_size=20).hexdigest()
        self.head = self.rows.add(
            "git_commit", project_id=self.project, sha=sha, parent_id=self.head, merged_id=None, author_id=author,
            title=title, body=body, created_at=when.isoformat(" "),
        )  # fmt: skip
        for change in changes:
            self.touched[change.path] = self.head
            self.rows.add(
                "commit_file", commit_id=self.head, path=change.path, change=change.kind, additions=change.additions,
                deletions=change.deletions, diff=change.diff,
            )  # fmt: skip
        return self.head

    def name(self, kind: str, name: str, when: datetime, message: str = "") -> int:
        """Record a branch or tag with the files as they are now."""
        assert self.head is not None
        ref = self.rows.add(
            "ref", project_id=self.project, kind=kind, name=name, commit_id=self.head, message=message,
            created_at=when.isoformat(" "),
        )  # fmt: skip
        for path in sorted(self.files):
            key = (path, self.touched[path])
            if key not in self._blobs:
                self._blobs[key] = self.rows.add("blob", content="\n".join(self.files[path]))
            self.rows.add(
                "tree_entry", ref_id=ref, path=path, blob_id=self._blobs[key], commit_id=self.touched[path]
            )  # fmt: skip
        return ref

    def aside(self) -> Repository:
        """A copy that goes its own way: a branch."""
        other = object.__new__(Repository)
        other.__dict__.update(self.__dict__)
        other.files, other.touched, other._planned = dict(self.files), dict(self.touched), list(self._planned)
        return other

    def release(self, author: int, when: datetime) -> str:
        """A commit that counts the version up; the new version."""
        self.version += 1
        path = LANGUAGES[self.source.language]["package"]
        new = f"{self.version // 4}.{self.version % 4}.0"
        line = re.sub(r"[0-9]+\.[0-9]+\.[0-9]+", new, self.files[path][1])
        change, self.files[path] = replace(path, self.files[path], 1, 1, [line])
        self.commit(author, when, f"Release {new}", "", [change])
        return new

    def _change(self, values: Words) -> tuple[list[str], list[Change]]:
        random = self.random
        # Code that has grown too long is shortened; a manual is left as it is.
        known = [path for path in self.files if language_of(path)]
        code = [path for path in known if not path.endswith(".md") or len(self.files[path]) < MAX_LINES]
        if self._planned and (not code or random.random() < 0.25):
            return COMMITS["additions"], [self._create(values)]
        paths = random.sample(code, min(len(code), random.choice((1, 1, 1, 2, 2, 3))))
        if paths[0].endswith(".md"):
            return COMMITS["documentation"], [self._extend(path, values) for path in paths]
        if len(self.files[paths[0]]) > MAX_LINES or random.random() < 0.08:
            return COMMITS["removals"], [self._shorten(path) for path in paths]
        if random.random() < 0.45:
            return COMMITS["fixes"], [self._correct(path) for path in paths]
        return COMMITS["additions"], [self._extend(path, values) for path in paths]

    def _create(self, values: Words) -> Change:
        path = self._planned.pop(0)
        stem = path.rsplit("/", 1)[-1].split(".")[0]
        noun = stem if stem in self.nouns else str(values["noun"])
        self.files[path] = new_file(language_of(path), self.nouns, noun, self.random)
        return creation(path, self.files[path])

    def _extend(self, path: str, values: Words) -> Change:
        lines = self.files[path]
        at = len(lines)
        change, self.files[path] = replace(path, lines, at, 0, [*function(language_of(path), values, self.random), ""])
        return change

    def _shorten(self, path: str) -> Change:
        """Take out what stands between two empty lines, from the middle of the file."""
        lines = self.files[path]
        gaps = [number for number, line in enumerate(lines) if not line]
        if len(gaps) < 4:
            return self._extend(path, words(self.nouns, self.random))
        place = self.random.randrange(1, len(gaps) - 1)
        change, self.files[path] = replace(path, lines, gaps[place], gaps[place + 1] - gaps[place], [])
        return change

    def _correct(self, path: str) -> Change:
        """Change a number, or put a comment where there is none to change."""
        lines = self.files[path]
        found = [number for number, line in enumerate(lines) if DIGIT.search(line)]
        if not found:
            return self._extend(path, words(self.nouns, self.random))
        at = self.random.choice(found)
        new = "".join(str(self.random.randint(1, 9)) if sign.isdigit() else sign for sign in lines[at])
        if new == lines[at]:
            new += " "
        change, self.files[path] = replace(path, lines, at, 1, [new])
        return change
