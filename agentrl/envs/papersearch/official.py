"""Papers and questions from files: RealScholarQuery's layout, and the datasets of Semantic Scholar."""

from __future__ import annotations

import gzip
import json
import logging
import re
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from agentrl.core.cache import cache_dir
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular
from agentrl.core.parsing import quote
from agentrl.envs.common.search import kept_index
from agentrl.envs.common.search.build import progress_bar
from agentrl.envs.papersearch.actions import plain
from agentrl.envs.papersearch.graph import citation_arrays
from agentrl.envs.papersearch.library import VERSION, Library, Paper, Question, kept_arrays

log = logging.getLogger(__name__)
ENDINGS = (".jsonl", ".jsonl.gz")
LOWEST = 0.01  # a smaller score is none
_VERSION = re.compile(r"v\d+$")
_LETTERS = re.compile(r"[\W\d_]+")
Id = str | int | None
Line = TypeVar("Line", bound=msgspec.Struct)

# ---------------------------------------------------------------------- lines


class PaperLine(msgspec.Struct):
    """A paper, as several generations of Semantic Scholar's files write it."""

    title: str
    corpusid: Id = None
    paperId: Id = None
    paper_id: Id = None
    id: Id = None
    externalids: dict[str, Id] | None = None
    externalIds: dict[str, Id] | None = None
    abstract: str | None = None
    paperAbstract: str | None = None
    authors: list[dict[str, Any] | str] | None = None
    year: Id = None
    venue: str | None = None
    outCitations: list[str] = []


class AbstractLine(msgspec.Struct):
    """The abstract of a paper."""

    corpusid: Id
    abstract: str | None = None


class CitationLine(msgspec.Struct):
    """One paper cites another; which of them is not always known."""

    citingcorpusid: Id
    citedcorpusid: Id


class QuestionLine(msgspec.Struct):
    """A question with its answers, by title or by preprint or both."""

    question: str
    answer: list[str] = []
    answer_arxiv_id: list[str] = []
    qid: Id = None


class ScoreLine(msgspec.Struct):
    """What a selector says of a paper."""

    qid: str | int
    paper_id: str | int
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


def files_of(folder: Path, kind: str) -> list[Path]:
    """The files of a folder whose names begin with `kind`, in order."""
    return sorted(path for path in folder.glob(f"{kind}*") if path.name.endswith(ENDINGS))


def lines_of(folder: Path, kind: str, line_type: type[Line]) -> Iterator[tuple[str, Line]]:
    """The lines of these files, each with the words that tell where it stands."""
    decode = msgspec.json.Decoder(line_type).decode
    for path in files_of(folder, kind):
        place = str(path)
        try:
            with open_regular(path) as raw, gzip.open(raw) if path.suffix == ".gz" else raw as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        place = f"{path}, line {number}"
                        yield place, decode(line)
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigError(f"{path} cannot be read: {error}") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"{place}: {error}") from None


def paper_key(name: str) -> str:
    """An id without case and without the version of a preprint."""
    return _VERSION.sub("", name.strip().casefold())


def title_key(title: str) -> str:
    """A title by its letters alone."""
    return _LETTERS.sub("", title.casefold())


# ---------------------------------------------------------------------- papers


def read_papers(folder: Path) -> dict[str, tuple[Paper, list[str]]]:
    """Every paper under the id that citations use, and what its own line says it cites."""
    abstracts = {str(line.corpusid): line.abstract for _, line in lines_of(folder, "abstracts", AbstractLine)}
    found: dict[str, tuple[Paper, list[str]]] = {}
    seen: set[str] = set()
    for place, line in lines_of(folder, "papers", PaperLine):
        names = (line.corpusid, line.paperId, line.paper_id, line.id)  # under one of these citations know it
        key = next((str(name) for name in names if name is not None), "")
        if not key or not plain(line.title):
            raise ConfigError(f"{place}: a paper must have a title, and an id in corpusid, paperId or id")
        others = line.externalids or line.externalIds or {}
        shown_as = plain(_VERSION.sub("", str(others.get("ArXiv") or key)))
        if key not in found and paper_key(shown_as) not in seen:  # dumps repeat themselves
            seen.add(paper_key(shown_as))
            people = (each.get("name", "") if isinstance(each, dict) else each for each in line.authors or [])
            abstract = line.abstract or line.paperAbstract or abstracts.get(key) or ""
            title, abstract, year, venue = map(plain, (line.title, abstract, str(line.year or ""), line.venue or ""))
            authors = tuple(plain(str(each)) for each in people)
            found[key] = Paper(shown_as, title, abstract, authors, year, venue), line.outCitations
    return found


class OfficialLibrary(Library):
    """The papers and questions of a folder. What is read of them once is kept in the cache."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = Path(folder).expanduser()
        if not files_of(self._folder, "papers"):
            raise ConfigError(f"{self._folder} holds no papers*.jsonl (papers of Semantic Scholar, one a line)")
        kinds = ("papers", "abstracts", "citations")
        stats = [(path.name, path.stat()) for kind in kinds for path in files_of(self._folder, kind)]
        told = json.dumps([VERSION, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]])
        print_of_files = blake2b(told.encode(), digest_size=8).hexdigest()
        home = f"papersearch/files-{print_of_files}"
        with progress_bar("reading papers, once"):
            self._arrays = kept_arrays(cache_dir() / home / "papers.arrays", self._read_arrays)
        self.index = kept_index(home, self._documents, "indexing papers, once", fingerprint=print_of_files)
        self._keys, self._key_numbers = self._arrays.array("keys"), self._arrays.array("key_numbers")
        self._scores = self._read_scores()
        self.scored = bool(self._scores)
        self._questions = {split: self._read_questions(split) for split in SPLITS}
        self.ids = {split: list(questions) for split, questions in self._questions.items()}

    def number(self, paper_id: str) -> int | None:
        """The number of the paper with this id, if there is one."""
        found = self._look_up(f"id {paper_key(paper_id)}")
        return found if found is not None and paper_key(self.paper_id(found)) == paper_key(paper_id) else None

    def _look_up(self, key: str) -> int | None:
        wanted = np.uint64(_hash(key))
        place = int(np.searchsorted(self._keys, wanted))
        return int(self._key_numbers[place]) if place < len(self._keys) and self._keys[place] == wanted else None

    def _paper(self, number: int) -> Paper:
        return msgspec.json.decode(self.index.notes([number])[0], type=Paper)

    # ------------------------------------------------------------------ what is kept

    def _documents(self) -> Iterator[tuple[str, str, str]]:
        """For the index: a name that sorts like the number, the text, and as a note the whole paper."""
        for number, (paper, _) in enumerate(read_papers(self._folder).values()):
            yield f"{number:09}", f"{paper.title}. {paper.abstract}", msgspec.json.encode(paper).decode()

    def _read_arrays(self) -> dict[str, np.ndarray]:
        """Citations, and numbers of papers by hashes of their ids and titles."""
        papers = read_papers(self._folder)
        numbers = {key: number for number, key in enumerate(papers)}
        named = ((key, other) for key, (_, others) in papers.items() for other in others)
        lines = (line for _, line in lines_of(self._folder, "citations", CitationLine))
        listed = ((str(line.citingcorpusid), str(line.citedcorpusid)) for line in lines)
        pairs = {
            (numbers[citing], numbers[cited])
            for citing, cited in chain(named, listed)
            if citing in numbers and cited in numbers
        }
        keys: dict[int, int] = {}
        for number, (paper, _) in enumerate(papers.values()):
            keys.setdefault(_hash(f"id {paper_key(paper.id)}"), number)
            keys.setdefault(_hash(f"title {title_key(paper.title)}"), number)
        hashes = sorted(keys)
        both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        years = (paper.year for paper, _ in papers.values())
        moments = np.array([int(year[:4]) if year.isdecimal() else 0 for year in years], np.int64)
        return {
            "keys": np.array(hashes, np.uint64),
            "key_numbers": np.array([keys[each] for each in hashes], np.int64),
            **citation_arrays(both[:, 0], both[:, 1], moments),
        }

    # ------------------------------------------------------------------ questions

    def _question(self, task: str) -> Question:
        return self._questions[task.partition(":")[0]][task]

    def _read_scores(self) -> dict[str, dict[int, float]]:
        found: dict[str, dict[int, float]] = {}
        for _, line in lines_of(self._folder, "scores", ScoreLine):
            if (number := self.number(str(line.paper_id))) is not None:
                found.setdefault(str(line.qid), {})[number] = line.score
        return found

    def _read_questions(self, split: str) -> dict[str, Question]:
        found: dict[str, Question] = {}
        left_out = 0
        for order, (place, line) in enumerate(lines_of(self._folder, split, QuestionLine)):
            name, text = str(order if line.qid is None else line.qid), plain(line.question)
            if not text or not (line.answer or line.answer_arxiv_id):
                raise ConfigError(f"{place}: a question must have words in question and answers in answer")
            if f"{split}:{name}" in found:
                raise ConfigError(f"{place}: there is another question with the qid {quote(name)}")
            question = self._answered(text, name, line.answer_arxiv_id, line.answer)
            if len(question.relevant):
                found[f"{split}:{name}"] = question
            else:
                left_out += 1
        if left_out:
            log.warning("%d questions of split %s have no answer among the papers; left out", left_out, split)
        return found

    def _answered(self, text: str, name: str, ids: list[str], titles: list[str]) -> Question:
        known: set[int] = set()
        for paper_id, title in (pairs := list(zip_longest(ids, titles))):
            number = self.number(paper_id) if paper_id else None
            if number is None and title is not None:
                number = self._look_up(f"title {title_key(title)}")
            known |= set() if number is None else {number}
        relevant = np.array(sorted(known), np.int64)
        grades = {**dict.fromkeys(known, 1.0), **self._scores.get(name, {})}
        papers = np.array(sorted(number for number, grade in grades.items() if grade >= LOWEST), np.int64)
        scores = np.array([grades[number] for number in papers.tolist()])
        return Question(text, {}, papers, scores, relevant, absent=len(pairs) - len(known))


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "little")
