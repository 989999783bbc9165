"""An index that is always there: built when it is missing, built again when it turns out to be damaged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from agentrl.core.arguments import whole_number
from agentrl.core.cache import builder_lock
from agentrl.envs.common.search.build import Progress, build_under_lock, check_fingerprint
from agentrl.envs.common.search.documents import Document, DocumentSource
from agentrl.envs.common.search.index import DEFAULT_HITS, FILE_NAME, Hit, Index
from agentrl.envs.common.search.storage import IndexCorrupt

T = TypeVar("T")
log = logging.getLogger(__name__)
Documents = DocumentSource | Iterable[Document]


def open_or_build(
    folder: str | Path,
    documents: Callable[[], Documents],
    *,
    fingerprint: str,
    processes: int = 2,
    progress: Progress | None = None,
    verify: bool = False,
) -> Index:
    """The index of these documents in `folder`; where there is none to be used, one process builds it, others wait.

    `documents` is called only if the index has to be built. `verify` checks every byte of an index that is there.
    """
    folder = Path(folder)
    processes = whole_number("processes", processes, at_least=1, at_most=256)
    check_fingerprint(fingerprint)
    if index := _usable(folder, fingerprint, verify):
        return index
    with builder_lock(folder / FILE_NAME):
        if index := _usable(folder, fingerprint, verify):  # another process has built it while we waited
            return index
        return build_under_lock(folder, documents(), processes, fingerprint, progress)


def _usable(folder: Path, fingerprint: str, verify: bool) -> Index | None:
    try:
        index = Index.open(folder, fingerprint=fingerprint)
        if verify:
            index.verify()
    except IndexCorrupt as error:
        log.info("building an index: %s", error)
        return None
    return index


class RepairingIndex:
    """Answers like `Index`; one that proves damaged is built again, by the thread that found it, and asked again."""

    def __init__(
        self,
        folder: str | Path,
        documents: Callable[[], Documents],
        *,
        fingerprint: str,
        processes: int = 2,
        progress: Progress | None = None,
    ) -> None:
        self._folder, self._documents, self._fingerprint = Path(folder), documents, fingerprint
        self._processes, self._progress = processes, progress
        self._lock = threading.Lock()
        self._index = self._open(verify=False)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def index(self) -> Index:
        """The index as it is now."""
        return self._index

    def search(self, query: str, k: int = DEFAULT_HITS) -> list[Hit]:
        """`Index.search`; never fails because of a damaged file unless the one built in its place is damaged too."""
        return self._asked(lambda index: index.search(query, k))

    def notes(self, numbers: Sequence[int]) -> list[str]:
        """`Index.notes`, with the same promise."""
        return self._asked(lambda index: index.notes(numbers))

    def _asked(self, question: Callable[[Index], T]) -> T:
        index = self._index
        try:
            return question(index)
        except IndexCorrupt as error:
            log.warning("%s; building it again", error)
            return question(self._replace(index))

    def _replace(self, damaged: Index) -> Index:
        with self._lock:
            if self._index is damaged:  # else another thread was quicker
                self._index = self._open(verify=True)
            return self._index

    def _open(self, verify: bool) -> Index:
        return open_or_build(
            self._folder,
            self._documents,
            fingerprint=self._fingerprint,
            processes=self._processes,
            progress=self._progress,
            verify=verify,
        )
