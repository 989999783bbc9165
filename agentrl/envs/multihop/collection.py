"""Pages that can be searched and the questions about them, shared by all environments of a process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np

from agentrl.core.cache import cached_arrays
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import quote
from agentrl.envs.common.search import RepairingIndex
from agentrl.envs.common.search.build import progress_bar
from agentrl.envs.common.search.dense import DenseIndex, fused
from agentrl.envs.common.search.encoders import PACKAGE, load_encoder
from agentrl.envs.multihop.questions import Question

RANKINGS = ("bm25", "embeddings", "hybrid")
SEARCHES_KEPT = 4_096
FUSED = 100  # hits of each ranking that are joined
READ_AT_ONCE = 512
Asked = Mapping[str, Sequence[Question]]  # split -> questions
Document = tuple[str, str, str]  # number, text to be searched, text to be shown
_QUESTIONS = msgspec.json.Decoder(dict[str, list[Question]])


class Page(NamedTuple):
    """One page as it is shown."""

    number: int
    title: str
    text: str


def documents(pages: Iterable[tuple[str, str]]) -> list[Document]:
    """Titles and texts as the search engine takes them."""
    return [(str(number), text, text) for number, text in enumerate(map("\n".join, pages))]


class Collection:
    """A searchable corpus and the questions of each split."""

    recipe: tuple[Callable[..., Collection], tuple[Any, ...]]  # what opens it, and with which arguments

    def __init__(self, folder: str, index: RepairingIndex, questions: Asked) -> None:
        self.folder, self.index, self.questions = folder, index, questions  # a folder of the cache
        self.find = lru_cache(SEARCHES_KEPT)(self._find)
        self._dense: dict[str, DenseIndex] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.index)

    def __reduce__(self) -> tuple[Callable[..., Collection], tuple[Any, ...]]:
        return self.recipe  # every process has or opens its own

    def pages(self, numbers: Sequence[int]) -> list[Page]:
        """The pages with these numbers."""
        notes = self.index.notes(numbers)
        return [Page(number, *note.partition("\n")[::2]) for number, note in zip(numbers, notes, strict=True)]

    def _find(self, query: str, hits: int, ranking: str = "bm25", embedder: str = PACKAGE) -> tuple[int, ...]:
        """The numbers of the pages that a search brings up, best first."""
        words = () if ranking == "embeddings" else self.index.search(query, hits if ranking == "bm25" else FUSED)
        numbers = [hit.number for hit in words]
        if ranking != "bm25":
            near = self.dense(embedder).search(query, hits if ranking == "embeddings" else FUSED)
            numbers = fused([numbers, near]) if numbers else near
        return tuple(numbers[:hits])

    def dense(self, embedder: str) -> DenseIndex:
        """The vectors of all pages, made when they are first asked for."""
        with self._lock:
            if embedder not in self._dense:
                encoder, texts = load_encoder(embedder), self._texts
                with progress_bar(f"embedding {len(self):,} pages, once") as progress:
                    self._dense[embedder] = DenseIndex(f"{self.folder}/vectors", encoder, texts, progress)
        return self._dense[embedder]

    def _texts(self) -> Iterator[str]:
        for start in range(0, len(self), READ_AT_ONCE):
            yield from self.index.notes(range(start, min(start + READ_AT_ONCE, len(self))))

    @cached_property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """Split -> ids of its questions."""
        return {split: tuple(question.id for question in asked) for split, asked in self.questions.items()}

    @cached_property
    def places(self) -> dict[str, dict[str, int]]:
        """Split -> id of a question -> its place."""
        return {split: {q.id: place for place, q in enumerate(asked)} for split, asked in self.questions.items()}

    def of_split(self, split: str) -> Sequence[Question]:
        """The questions of a split; `ConfigError` where there is none."""
        if not (found := self.questions.get(split)):
            has = ", ".join(name for name, asked in self.questions.items() if asked)
            raise ConfigError(f"there are no questions for the split {split}, only for {has or 'none'}")
        return found

    def place(self, split: str, task: Any) -> int:
        """The place of a question; `ConfigError` for an unknown id."""
        asked = self.of_split(split)
        if isinstance(task, str) and (found := self.places[split].get(task)) is not None:
            return found
        shown = quote(task) if isinstance(task, str) else type(task).__name__
        raise ConfigError(f"a task must be the id of a question of split {split}, such as {asked[0].id}; got {shown}")


def kept_questions(folder: str, ask: Callable[[], Asked]) -> dict[str, list[Question]]:
    """The questions kept in a folder of the cache; asked, and kept, where they are missing or damaged."""

    def usable(arrays: dict[str, np.ndarray]) -> bool:
        try:
            return bool(_QUESTIONS.decode(arrays["questions"].tobytes()))
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError):
            return False

    arrays = cached_arrays(
        f"{folder}/questions", lambda: {"questions": np.frombuffer(msgspec.json.encode(ask()), np.uint8)}, usable
    )
    return _QUESTIONS.decode(arrays["questions"].tobytes())
