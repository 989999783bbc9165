"""Where targets come from: generated icons, or SVGs of a folder, a parquet or a JSON-lines file.

Public collections hold rows that cannot be used. What is left out is counted by its reason, never fatal; only a path
that cannot be read at all is an error.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, overload

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.files import open_regular, read_regular
from agentrl.envs.svg.sandbox.gate import SvgRefused, check
from agentrl.envs.svg.targets.icons import GRADES, LETTERS, icon, owner
from agentrl.envs.svg.truth.shapes import read_shapes

log = logging.getLogger(__name__)
ICONS_PER_SPLIT = 100_000
MAX_INDEX = 10**9
ICON = "icon"
COLUMNS = ("svg", "svg_code", "svgcode", "code", "content", "text")  # without regard to case, the likeliest first
JSON_LINES = (".jsonl", ".ndjson", ".json")
MAX_FILE = 1 << 20  # of a single SVG; the gate's own cap is below this
ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Collection:
    """What was usable, and how much was not."""

    codes: Mapping[str, str]  # name (by content) -> code as the gate wrote it
    skipped: Mapping[str, int]  # reason -> how many rows

    def report(self) -> str:
        """One line about what was read."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
        return f"{len(self.codes)} SVGs usable, {sum(self.skipped.values())} skipped" + (
            f" ({reasons})" if reasons else ""
        )


def load_collection(path: str) -> Collection:
    """Read a collection; the same one again, unchanged, comes from memory."""
    where = Path(path).expanduser()
    try:
        files = sorted(where.rglob("*.svg")) if where.is_dir() else [where]
        facts = [(str(file), (found := file.stat()).st_size, found.st_mtime_ns) for file in files]
        return _load(str(where), hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest())
    except OSError as error:
        raise ConfigError(f"targets={path!r} cannot be read: {error}") from error


@lru_cache(maxsize=4)
def _load(path: str, version: str) -> Collection:  # the version changes when what is there changes
    collection = collect(read_rows(Path(path)))
    log.info("%s: %s", path, collection.report())
    return collection


def collect(rows: Iterable[str | None]) -> Collection:
    """Keep what the gate lets through and shows something; None stands for a row that could not be read."""
    codes: dict[str, str] = {}
    skipped: Counter[str] = Counter()
    for row in rows:
        if row is None:
            skipped["unreadable"] += 1
            continue
        try:
            safe = check(row)
        except SvgRefused as refused:
            skipped[f"refused: {refused.reason}"] += 1
            continue
        name = content_name(safe)
        if not read_shapes(safe):
            skipped["blank"] += 1
        elif name in codes:
            skipped["duplicate"] += 1
        else:
            codes[name] = safe
    return Collection(codes, dict(skipped))


def content_name(safe: str) -> str:
    """What a target from a file is called."""
    return "svg:" + hashlib.blake2b(safe.encode(), digest_size=12).hexdigest()


# ---------------------------------------------------------------------- the three layouts


def read_rows(where: Path) -> Iterator[str | None]:
    """The SVG texts of a collection in order; None for each row without one."""
    ending = where.suffix.lower()
    if where.is_dir():
        return _folder_rows(where)
    if ending == ".parquet":
        return _parquet_rows(where)
    if ending in JSON_LINES:
        return _json_rows(where)
    raise ConfigError(f"targets must be a folder, a .parquet or a .jsonl file; got {str(where)!r}")


def _folder_rows(where: Path) -> Iterator[str | None]:
    for file in sorted(where.rglob("*.svg")):
        try:
            yield None if file.stat().st_size > MAX_FILE else read_regular(file).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            yield None


def _json_rows(where: Path) -> Iterator[str | None]:
    with io.TextIOWrapper(open_regular(where), encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
                yield None
                continue
            if isinstance(row, dict):
                column = svg_column(row)
                row = None if column is None else row[column]
            yield row if isinstance(row, str) else None


def svg_column(names: Iterable[str]) -> str | None:
    """Which of a table's columns holds the code."""
    folded = {name.casefold(): name for name in names}
    return next((folded[column] for column in COLUMNS if column in folded), None)


def _parquet_rows(where: Path) -> Iterator[str | None]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "train") from error
    with open_regular(where) as file:
        try:
            table = parquet.ParquetFile(file)
        except arrow.ArrowInvalid as error:
            raise ConfigError(f"targets={str(where)!r} cannot be read as parquet: {error}") from error
        with table:
            column = svg_column(names := table.schema_arrow.names)
            if column is None:
                has = ", ".join(names)
                raise ConfigError(f"targets={str(where)!r} has no column {' or '.join(COLUMNS)}; it has: {has}")
            for batch in table.iter_batches(ROWS_AT_ONCE, columns=[column]):
                for value in batch.column(0).to_pylist():
                    yield value if isinstance(value, str) else None


# ---------------------------------------------------------------------- targets of a split


class Targets(Protocol):
    """The targets of one split."""

    def names(self) -> Sequence[str]:
        """The tasks, in order."""
        ...

    def code(self, name: str) -> str | None:
        """The SVG of a name; None if this split has no such target."""
        ...


class IconTargets:
    """Generated icons, named "icon:SPLIT:GRADE:INDEX"; without a grade all grades take turns."""

    def __init__(self, split: str, difficulty: Any = None, letters: str = "strokes", count: int | None = None) -> None:
        self.split, self.letters = split, _known_letters(letters)
        if difficulty is None:
            self.grades = GRADES
        else:
            asked = list(difficulty) if isinstance(difficulty, (list, tuple)) else [difficulty]
            if not asked:
                raise ConfigError("difficulty must name at least one grade, or be None for all")
            grades = [whole_number("difficulty", each, at_least=1, at_most=len(GRADES)) for each in asked]
            self.grades = tuple(dict.fromkeys(grades))
        self.count = ICONS_PER_SPLIT if count is None else count

    def names(self) -> Sequence[str]:
        """The names of `count` icons, made when they are asked for."""
        return IconNames(self.split, self.grades, self.count)

    def code(self, name: str) -> str | None:
        """Any icon of the split, whether or not it is among the first ones."""
        word, _, rest = name.partition(":")
        split, _, rest = rest.partition(":")
        grade, _, index = rest.partition(":")
        if word != ICON or split != self.split or grade not in map(str, GRADES):
            return None
        if not index.isascii() or not index.isdigit() or str(int(index[:12])) != index or int(index) > MAX_INDEX:
            return None
        return icon(split, int(grade), int(index), self.letters)


class IconNames(Sequence[str]):
    """The names of generated icons, as a sequence that holds none of them."""

    def __init__(self, split: str, grades: Sequence[int], count: int) -> None:
        self._split, self._grades, self._count = split, grades, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(f"there are {self._count} icons")
        index, grade = divmod(place % self._count, len(self._grades))
        return f"{ICON}:{self._split}:{self._grades[grade]}:{index}"

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self._count))


class FileTargets:
    """The SVGs of a folder or a file that belong to this split by their content."""

    def __init__(self, path: str, split: str, count: int | None = None) -> None:
        self.collection: Collection = load_collection(path)
        mine = [name for name, safe in self.collection.codes.items() if owner(safe) == split]
        if not mine:
            raise ConfigError(f"targets={path!r} has no usable SVG for split {split}: {self.collection.report()}")
        self._names = tuple(mine[:count])
        self._known = frozenset(mine)

    def names(self) -> Sequence[str]:
        """Content hashes in the order of the file."""
        return self._names

    def code(self, name: str) -> str | None:
        """The SVG with this content."""
        return self.collection.codes[name] if name in self._known else None


def make_targets(path: Any, split: str, difficulty: Any, letters: Any, count: Any) -> Targets:
    """The targets that an environment's arguments ask for; `ConfigError` names the wrong one."""
    wanted = None if count is None else whole_number("icons", count, at_least=1, at_most=MAX_INDEX)
    if path is None:
        return IconTargets(split, difficulty, letters, wanted)
    if difficulty is not None:
        raise ConfigError("difficulty is for generated icons; leave it out with targets=...")
    _known_letters(letters)
    return FileTargets(str(path), split, wanted)


def _known_letters(letters: Any) -> str:
    if letters not in LETTERS:
        raise ConfigError(f"letters must be one of {', '.join(LETTERS)}; got {letters!r}")
    return letters
