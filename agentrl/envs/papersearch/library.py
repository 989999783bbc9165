"""`Library`: papers, their citations and a search index, in files that all processes of a machine share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.cache import builder_lock, cache_dir, shared
from agentrl.core.env import SPLITS
from agentrl.envs.common.search import IndexCorrupt, RepairingIndex, kept_index
from agentrl.envs.common.search.build import progress_bar, scratch_folder
from agentrl.envs.common.search.storage import CheckedFile, write_file
from agentrl.envs.papersearch import words as writing
from agentrl.envs.papersearch.graph import AUTHORS, MOST_REFERENCES, draw_papers
from agentrl.envs.papersearch.words import FACETS, PER_FAMILY, PER_FIELD, words

HITS, MOST_CITATIONS = 10, 30
SMALLEST, LARGEST = 10_000, 1_000_000
FEWEST_RELEVANT, MOST_RELEVANT = 6, 18
# How relevant a paper is, by how many facets of a question it fits, and how many others it nearly fits (an object of
# the same field; a task, method or setting of the same family).
GRADES = np.array([[0, 0, 0, 0], [0, 0.05, 0.1, 0], [0.1, 0.25, 0, 0], [1, 0, 0, 0]])
ASKED = ((0, 1, 2), (0, 1, 3), (0, 2, 3))  # the facets that a question names
OTHER_SPLITS = {6: "dev", 7: "test"}  # by an object's place among the eight of its field
QUESTIONS_KEPT, SEARCHES_KEPT, PAPERS_KEPT = 256, 4096, 4096
ANY = "x"  # in the id of a question: a facet that it leaves open
LIBRARIES_KEPT = 4
VERSION = 1  # raise it with every change of papers or questions


@dataclass(frozen=True)
class Paper:
    """What is known of a paper without reading it."""

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    year: str = ""
    venue: str = ""


@dataclass(frozen=True)
class Question:
    """What is asked for, and the truth about it."""

    text: str
    asks: dict[str, str]  # facet -> its usual name; empty for questions that people have written
    papers: np.ndarray  # numbers of all papers with a grade above zero, in order
    grades: np.ndarray  # theirs
    relevant: np.ndarray  # numbers of those that answer the question
    absent: int = 0  # answers that are not among the papers
    group: str = ""

    @property
    def answers(self) -> int:
        """How many papers answer the question."""
        return len(self.relevant) + self.absent

    def grades_of(self, numbers: np.ndarray) -> np.ndarray:
        """How relevant these papers are, from 0 to 1."""
        places = np.minimum(np.searchsorted(self.papers, numbers), max(0, len(self.papers) - 1))
        known = self.papers[places] == numbers if len(self.papers) else np.zeros(len(numbers), bool)
        return np.where(known, self.grades[places] if len(self.grades) else 0, 0.0)


class Library(ABC):
    """What all libraries share: searching and following citations."""

    scored = True  # does every paper have a grade, so that those of grade zero can be left out?
    index: RepairingIndex
    ids: Mapping[str, Sequence[str]]  # split -> those of its questions
    arguments: tuple[int, int, str | None]  # of `open_library`
    _arrays: CheckedFile

    def __init__(self) -> None:
        self.search = lru_cache(SEARCHES_KEPT)(self._search)
        self.paper = lru_cache(PAPERS_KEPT)(self._paper)
        self.question = lru_cache(QUESTIONS_KEPT)(self._question)
        self._known_ids = lru_cache(len(SPLITS))(lambda split: frozenset(self.ids[split]))

    def __len__(self) -> int:
        return len(self.index)

    def __reduce__(self) -> tuple[Callable[..., Library], tuple[Any, ...]]:
        return open_library, self.arguments  # every process has or opens its own

    def paper_id(self, number: int) -> str:
        """The id of a paper by its number."""
        return self.paper(number).id

    @abstractmethod
    def number(self, paper_id: str) -> int | None:
        """The number of the paper with this id, if there is one."""

    def has_task(self, split: str, task: str) -> bool:
        """Is there such a question in this split?"""
        return task in self._known_ids(split)

    @abstractmethod
    def _paper(self, number: int) -> Paper:
        """A paper by its number."""

    @abstractmethod
    def _question(self, task: str) -> Question:
        """The question with one of the `ids`."""

    def _search(self, query: str) -> tuple[int, ...]:
        """The numbers of the papers that fit a query best, best first."""
        return tuple(hit.number for hit in self.index.search(query, HITS))

    def neighbours(self, number: int) -> np.ndarray:
        """The papers that cite this one, newest first, and those that it cites: as many as `expand` shows."""
        citing = self._row("citation", number, MOST_CITATIONS)
        return np.concatenate((citing, self._row("reference", number, MOST_REFERENCES)))

    def _row(self, name: str, number: int, most: int) -> np.ndarray:
        first = max(0, number - 1)
        ends = self._arrays.array(f"{name}_ends", first, number + 1).tolist()
        start = ends[0] if number else 0
        return self._arrays.array(f"{name}s", start, min(ends[-1], start + most))


# ---------------------------------------------------------------------- generated


def paper_id(number: int) -> str:
    """The id of a generated paper."""
    return f"P{number:06}"


def fingerprint(seed: int, size: int) -> str:
    """Changes with the seed, the size and the words."""
    return f"papers-{size}-{seed}-{VERSION}-{words().digest}"


def kept_arrays(path: Path, draw: Callable[[], dict[str, np.ndarray]]) -> CheckedFile:
    """Flat arrays in a mapped file of the cache, drawn and written, all or nothing, if they are not there."""
    with suppress(IndexCorrupt):
        return CheckedFile(path)
    with builder_lock(path):
        with suppress(IndexCorrupt):
            return CheckedFile(path)  # another process has drawn them while we waited
        flat = {name: np.ascontiguousarray(array).ravel() for name, array in draw().items()}
        shapes = {name: (array.dtype.str, len(array)) for name, array in flat.items()}
        with scratch_folder(path.parent) as scratch, write_file(path, scratch, shapes, {}) as mapped:
            for name, array in flat.items():
                mapped[name][:] = array
    return CheckedFile(path)


class GeneratedLibrary(Library):
    """`size` papers, all decided by `seed`, and the questions that six to eighteen of them answer.

    Papers are kept as numbers; each is written from them when it is asked for.
    """

    def __init__(self, seed: int, size: int) -> None:
        super().__init__()
        self._size, folder = size, f"papersearch/{fingerprint(seed, size)}"

        def draw() -> dict[str, np.ndarray]:
            with progress_bar(f"drawing {size:,} papers, once") as report:
                return draw_papers(seed, size, report)

        self._arrays = kept_arrays(cache_dir() / folder / "papers.arrays", draw)
        self._facets = self._arrays.array("facets").reshape(size, len(FACETS))
        title = f"indexing {size:,} papers, once"
        self.index = kept_index(folder, lambda: self, title, fingerprint=fingerprint(seed, size))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """For the index: the id and the text of each paper."""
        for number in range(self._size):
            yield paper_id(number), "{}. {}".format(*self._written(number))

    def _written(self, number: int) -> tuple[str, str]:
        """Title and abstract of a paper."""
        facets, traits = self._numbers("facets", number, len(FACETS)), self._numbers("traits", number, writing.TRAITS)
        return writing.title(number, facets, traits), writing.abstract(number, facets, traits)

    def _numbers(self, name: str, number: int, width: int) -> list[int]:
        """What an array with so many numbers for each paper holds of one."""
        return self._arrays.array(name, number * width, (number + 1) * width).tolist()

    def _paper(self, number: int) -> Paper:
        given, family = words().given, words().family
        people = [each for each in self._numbers("people", number, AUTHORS) if each >= 0]
        names = [f"{given[each % len(given)]} {family[each // 7 % len(family)]}" for each in people]
        (year,), field = self._numbers("years", number, 1), self._facets[number, 0] // PER_FIELD
        authors = tuple(dict.fromkeys(names))
        return Paper(paper_id(number), *self._written(number), authors, str(year), words().venues[field])

    def paper_id(self, number: int) -> str:
        """The id of a paper by its number."""
        return paper_id(number)

    def number(self, paper_id: str) -> int | None:
        """The number of the paper with this id, if there is one."""
        digits = paper_id[1:]
        known = paper_id[:1] in "Pp" and len(digits) == 6 and digits.isascii() and digits.isdigit()
        return int(digits) if known and int(digits) < self._size else None

    def _question(self, task: str) -> Question:
        asked: list[int | None] = [None if part == ANY else int(part) for part in task.split("-")]
        exact, close = np.zeros(self._size, np.uint8), np.zeros(self._size, np.uint8)
        for facet, wanted in enumerate(asked):
            if wanted is not None:
                kin = PER_FAMILY if facet else PER_FIELD
                same = self._facets[:, facet] == wanted
                exact += same
                close += (self._facets[:, facet] // kin == wanted // kin) & ~same
        grades = GRADES[exact, close]
        papers = np.flatnonzero(grades)
        names = [words().concepts[facet][wanted or 0][0] for facet, wanted in enumerate(asked)]
        choice = int.from_bytes(blake2b(task.encode(), digest_size=4).digest(), "little")
        return Question(
            text=writing.question(asked, choice),
            asks={kind: name for kind, name, wanted in zip(FACETS, names, asked, strict=True) if wanted is not None},
            papers=papers,
            grades=grades[papers],
            relevant=papers[grades[papers] == 1],
            group=words().fields[(asked[0] or 0) // PER_FIELD],
        )

    @cached_property
    def ids(self) -> dict[str, list[str]]:
        """Split -> the ids of the questions about its objects."""
        found: dict[str, list[str]] = {split: [] for split in SPLITS}
        for asked in ASKED:
            first, second, third = self._facets[:, asked].astype(np.int64).T
            keys, counts = np.unique(first << 16 | second << 8 | third, return_counts=True)
            for key in keys[(counts >= FEWEST_RELEVANT) & (counts <= MOST_RELEVANT)].tolist():
                wanted = dict(zip(asked, (key >> 16, key >> 8 & 255, key & 255), strict=True))
                task = "-".join(str(wanted.get(facet, ANY)) for facet in range(len(FACETS)))
                found[OTHER_SPLITS.get((key >> 16) % PER_FIELD, "train")].append(task)
        return found


# ---------------------------------------------------------------------- opening


def open_library(seed: Any, size: Any, data_dir: str | os.PathLike[str] | None) -> Library:
    """The library of these arguments: one per process, however many environments share it."""
    seed = whole_number("seed", seed, at_least=0)
    size = whole_number("papers", size, at_least=SMALLEST, at_most=LARGEST)
    return _opened(seed, size, None if data_dir is None else os.fspath(data_dir))


@shared(LIBRARIES_KEPT)
def _opened(seed: int, size: int, data_dir: str | None) -> Library:
    from agentrl.envs.papersearch.official import OfficialLibrary

    library = GeneratedLibrary(seed, size) if data_dir is None else OfficialLibrary(data_dir)
    library.arguments = seed, size, data_dir
    return library
