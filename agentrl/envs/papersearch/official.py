"""Papers and questions from files: RealScholarQuery's layout, and the datasets of Semantic Scholar."""

from __future__ import annotations

import gzip
import json
import logging
import re
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from agentrl.core.cache import builder_lock, cache_dir
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular
from agentrl.core.parsing import quote
from agentrl.envs.common.search import IndexCorrupt, RepairingIndex
from agentrl.envs.common.search.build import progress_bar
from agentrl.envs.common.search.storage import CheckedFile
from agentrl.envs.papersearch.actions import plain
from agentrl.envs.papersearch.graph import citation_arrays
from agentrl.envs.papersearch.library import VERSION, Library, Paper, Question, store_arrays

log = logging.getLogger(__name__)
ENDINGS = (".jsonl", ".jsonl.gz")
IDS = ("corpusid", "corpusId", "paperId", "paperID", "paper_id", "id")
LOWEST = 0.01  # a smaller score is none
_VERSION = re.compile(r"v\d+$")
_LETTERS = re.compile(r"[\W\d_]+")
Row = dict[str, Any]


# ---------------------------------------------------------------------- lines


def files_of(folder: Path, kind: str) -> list[Path]:
    """The files of a folder whose names begin with `kind`, in order."""
    return sorted(path for path in folder.glob(f"{kind}*") if path.name.endswith(ENDINGS))


def rows_of(folder: Path, kind: str) -> Iterator[tuple[str, Row]]:
    """The objects in the lines of these files, each with the words that tell where it stands."""
    for path in files_of(folder, kind):
        try:
            with open_regular(path) as raw, gzip.open(raw) if path.suffix == ".gz" else raw as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        place = f"{path}, line {number}"
                        yield place, _object(place, line)
        except (OSError, EOFError) as error:
            raise ConfigError(f"{path} cannot be read: {error}") from None


def _object(place: str, line: bytes) -> Row:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{place}: not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ConfigError(f"{place}: a line must be a JSON object; got {type(row).__name__}")
    return row


def text_in(place: str, row: Row, *names: str) -> str:
    """The first of these fields that is there and not null, a text or a number; empty if there is none."""
    for name in names:
        value = row.get(name)
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                raise ConfigError(f"{place}: {name} must be a text or a number; got {type(value).__name__}")
            return plain(str(value))
    return ""


def texts_in(place: str, row: Row, name: str) -> list[str]:
    """A list of texts; empty where the field is missing."""
    value = row.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ConfigError(f"{place}: {name} must be a list of texts")
    return value


def paper_key(name: str) -> str:
    """An id without case and without the version of a preprint."""
    return _VERSION.sub("", name.strip().casefold())


def title_key(title: str) -> str:
    """A title by its letters alone."""
    return _LETTERS.sub("", title.casefold())


# ---------------------------------------------------------------------- papers


def read_papers(folder: Path) -> tuple[list[tuple[str, Paper]], dict[str, list[str]]]:
    """Every paper with the id that citations use, and under that id what its own line says it cites."""
    abstracts = {text_in(at, row, *IDS): text_in(at, row, "abstract") for at, row in rows_of(folder, "abstracts")}
    found: dict[str, Paper] = {}
    cites: dict[str, list[str]] = {}
    seen: set[str] = set()
    for place, row in rows_of(folder, "papers"):
        key, title = text_in(place, row, *IDS), text_in(place, row, "title")
        if not key or not title:
            raise ConfigError(f"{place}: a paper must have an id ({', '.join(IDS)}) and a title")
        shown_as = _arxiv_id(place, row) or key
        if key not in found and paper_key(shown_as) not in seen:  # dumps repeat themselves
            seen.add(paper_key(shown_as))
            abstract = text_in(place, row, "abstract", "paperAbstract") or abstracts.get(key, "")
            found[key] = Paper(shown_as, title, abstract, *_details(place, row))
            cites[key] = texts_in(place, row, "outCitations")
    return list(found.items()), cites


def _arxiv_id(place: str, row: Row) -> str:
    others = row.get("externalids") or row.get("externalIds") or {}
    if not isinstance(others, dict):
        raise ConfigError(f"{place}: externalids must be an object")
    return _VERSION.sub("", text_in(place, others, "ArXiv") or text_in(place, row, "arxiv_id"))


def _details(place: str, row: Row) -> tuple[tuple[str, ...], int | None, str]:
    authors = row.get("authors") or []
    if not isinstance(authors, list):
        raise ConfigError(f"{place}: authors must be a list")
    names = (each.get("name") if isinstance(each, dict) else each for each in authors)
    year = text_in(place, row, "year")
    known = tuple(plain(name) for name in names if isinstance(name, str))
    return known, int(year) if year.isdigit() and len(year) == 4 else None, text_in(place, row, "venue")


class OfficialLibrary(Library):
    """The papers and questions of a folder. What is read of them once is kept in the cache."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = Path(folder).expanduser()
        if not files_of(self._folder, "papers"):
            raise ConfigError(f"{self._folder} holds no papers*.jsonl (papers of Semantic Scholar, one a line)")
        stats = [
            (path.name, path.stat()) for kind in ("papers", "abstracts", "citations") for path in self._files(kind)
        ]
        told = json.dumps([VERSION, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]])
        print_of_files = blake2b(told.encode(), digest_size=8).hexdigest()
        home = cache_dir() / "papersearch" / f"files-{print_of_files}"
        with progress_bar("reading papers, once") as progress:
            self._arrays = self._open_arrays(home / "papers.arrays")
            self.index = RepairingIndex(
                home, partial(_documents, self._folder), fingerprint=print_of_files, processes=1, progress=progress
            )
        keys, numbers = (self._arrays.array(name) for name in ("keys", "key_numbers"))
        self._keys, self._key_numbers = keys, numbers
        self._scores = self._read_scores()
        self.scored = bool(self._scores)
        self._questions = {split: self._read_questions(split) for split in SPLITS}

    def _files(self, kind: str) -> list[Path]:
        return files_of(self._folder, kind)

    def _open_arrays(self, path: Path) -> CheckedFile:
        try:
            return CheckedFile(path)
        except IndexCorrupt:
            with builder_lock(path):
                store_arrays(path, _arrays_of(self._folder))
        return CheckedFile(path)

    def __len__(self) -> int:
        return len(self.index)

    def number(self, paper_id: str) -> int | None:
        """The number of the paper with this id, if there is one."""
        found = self._look_up(f"id {paper_key(paper_id)}")
        return found if found is not None and paper_key(self.paper_id(found)) == paper_key(paper_id) else None

    def _look_up(self, key: str) -> int | None:
        wanted = _hash(key)
        place = int(np.searchsorted(self._keys, wanted))
        return int(self._key_numbers[place]) if place < len(self._keys) and self._keys[place] == wanted else None

    def paper_id(self, number: int) -> str:
        """The id of a paper by its number."""
        return self.paper(number).id

    def _paper(self, number: int) -> Paper:
        return msgspec.json.decode(self.index.notes([number])[0], type=Paper)

    # ------------------------------------------------------------------ questions

    def tasks(self, split: str) -> Sequence[str]:
        """The questions of the split's files of which some answer is among the papers."""
        return list(self._questions[split])

    def _question(self, task: str) -> Question:
        return self._questions[task.partition(":")[0]][task]

    def _read_scores(self) -> dict[str, dict[int, float]]:
        found: dict[str, dict[int, float]] = {}
        for place, row in rows_of(self._folder, "scores"):
            score, number = row.get("score"), self.number(text_in(place, row, "paper_id"))
            if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
                raise ConfigError(f"{place}: score must be a number from 0 to 1; got {quote(str(score))}")
            if number is not None:
                found.setdefault(text_in(place, row, "qid"), {})[number] = float(score)
        return found

    def _read_questions(self, split: str) -> dict[str, Question]:
        found: dict[str, Question] = {}
        left_out = 0
        for line, (place, row) in enumerate(rows_of(self._folder, split)):
            text, name = text_in(place, row, "question"), text_in(place, row, "qid") or str(line)
            ids, titles = texts_in(place, row, "answer_arxiv_id"), texts_in(place, row, "answer")
            if not text or not (ids or titles):
                raise ConfigError(f"{place}: a question must have a text in question and titles or ids of its answers")
            if f"{split}:{name}" in found:
                raise ConfigError(f"{place}: there is another question with the qid {quote(name)}")
            question = self._answered(text, name, ids, titles)
            if len(question.relevant):
                found[f"{split}:{name}"] = question
            else:
                left_out += 1
        if left_out:
            log.warning("%d questions of split %s have no answer among the papers; left out", left_out, split)
        return found

    def _answered(self, text: str, name: str, ids: list[str], titles: list[str]) -> Question:
        count = max(len(ids), len(titles))
        known: set[int] = set()
        for place in range(count):
            number = self.number(ids[place]) if place < len(ids) and ids[place] else None
            if number is None and place < len(titles):
                number = self._look_up(f"title {title_key(titles[place])}")
            known |= set() if number is None else {number}
        relevant = np.array(sorted(known), np.int64)
        grades = {**dict.fromkeys(known, 1.0), **self._scores.get(name, {})}
        papers = np.array(sorted(number for number, grade in grades.items() if grade >= LOWEST), np.int64)
        scores = np.array([grades[number] for number in papers.tolist()])
        return Question(text.strip(), {}, papers, scores, relevant, absent=count - len(known))


# ---------------------------------------------------------------------- what is kept


def _documents(folder: Path) -> Iterator[tuple[str, str, str]]:
    """For the index: a name that sorts like the number, the text, and as a note the whole paper."""
    for number, (_, paper) in enumerate(read_papers(folder)[0]):
        yield f"{number:09}", f"{paper.title}. {paper.abstract}", msgspec.json.encode(paper).decode()


def _arrays_of(folder: Path) -> dict[str, np.ndarray]:
    """Citations, and numbers of papers by hashes of their ids and titles."""
    papers, cites = read_papers(folder)
    numbers = {key: number for number, (key, _) in enumerate(papers)}
    pairs = {(numbers[key], numbers[other]) for key, others in cites.items() for other in others if other in numbers}
    for place, row in rows_of(folder, "citations"):
        citing, cited = text_in(place, row, "citingcorpusid"), text_in(place, row, "citedcorpusid")
        if "citingcorpusid" not in row or "citedcorpusid" not in row:
            raise ConfigError(f"{place}: a citation must have citingcorpusid and citedcorpusid")
        if citing in numbers and cited in numbers:
            pairs.add((numbers[citing], numbers[cited]))
    keys: dict[int, int] = {}
    for number, (_, paper) in enumerate(papers):
        keys.setdefault(_hash(f"id {paper_key(paper.id)}"), number)
        keys.setdefault(_hash(f"title {title_key(paper.title)}"), number)
    hashes = sorted(keys)
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    moments = np.array([paper.year or 0 for _, paper in papers], np.int64)
    return {
        "keys": np.array(hashes, np.uint64),
        "key_numbers": np.array([keys[each] for each in hashes], np.int64),
        **citation_arrays(both[:, 0], both[:, 1], moments),
    }


def _hash(key: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "little"))
