"""Where targets come from: generated icons, or the SVGs of a folder or file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, overload

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.envs.svg.targets.files import Collection, load_collection
from agentrl.envs.svg.targets.icons import GRADES, LETTERS, icon, owner

ICONS_PER_SPLIT = 100_000
MAX_INDEX = 10**9
ICON = "icon"


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
        self.grades = _known_grades(difficulty)
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


def _known_grades(difficulty: Any) -> tuple[int, ...]:
    """The grades asked for: one, several, or all of them."""
    if difficulty is None:
        return GRADES
    asked = list(difficulty) if isinstance(difficulty, (list, tuple)) else [difficulty]
    if not asked:
        raise ConfigError("difficulty must name at least one grade, or be None for all")
    return tuple(dict.fromkeys(whole_number("difficulty", each, at_least=1, at_most=len(GRADES)) for each in asked))
