"""Changes of text files: what a commit stores about each file it touches."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import NamedTuple

CONTEXT = 3


class Change(NamedTuple):
    """One file of a commit. `diff` has hunks in the unified form, without the lines that name the file."""

    path: str
    kind: str  # added, modified, deleted
    additions: int
    deletions: int
    diff: str


def replace(path: str, lines: list[str], at: int, removed: int, added: Sequence[str]) -> tuple[Change, list[str]]:
    """Put `added` in the place of `removed` lines from `at`; the change and the new lines."""
    first, last = max(at - CONTEXT, 0), min(at + removed + CONTEXT, len(lines))
    hunk = [f"@@ -{first + 1},{last - first} +{first + 1},{last - first - removed + len(added)} @@"]
    hunk += [" " + line for line in lines[first:at]]
    hunk += ["-" + line for line in lines[at : at + removed]]
    hunk += ["+" + line for line in added]
    hunk += [" " + line for line in lines[at + removed : last]]
    new = [*lines[:at], *added, *lines[at + removed :]]
    return Change(path, "modified", len(added), removed, "\n".join(hunk)), new


def creation(path: str, lines: Sequence[str]) -> Change:
    """A new file."""
    hunk = [f"@@ -0,0 +1,{len(lines)} @@", *("+" + line for line in lines)]
    return Change(path, "added", len(lines), 0, "\n".join(hunk))


def comparison(path: str, old: str | None, new: str | None) -> Change:
    """The change from one content of a file to another; None where there is no file."""
    before, after = (old or "").split("\n"), (new or "").split("\n")
    if old is None:
        return creation(path, after)
    if new is None:
        hunk = [f"@@ -1,{len(before)} +0,0 @@", *("-" + line for line in before)]
        return Change(path, "deleted", 0, len(before), "\n".join(hunk))
    lines = list(unified_diff(before, after, lineterm="", n=CONTEXT))[2:]
    additions = sum(line.startswith("+") for line in lines)
    deletions = sum(line.startswith("-") for line in lines)
    return Change(path, "modified", additions, deletions, "\n".join(lines))
