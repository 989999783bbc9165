"""`build_index`: documents to an index file, by several processes, all or nothing; an index that repairs itself."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import secrets
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agentrl.core.arguments import whole_number
from agentrl.core.cache import builder_lock, cache_dir
from agentrl.core.errors import ConfigError, EnvFault
from agentrl.core.worker import Worker
from agentrl.envs.common.search.index import DEFAULT_HITS, FILE_NAME, Hit, Index
from agentrl.envs.common.search.merge import merge_segments
from agentrl.envs.common.search.segment import (
    DOCUMENTS_AT_ONCE,
    Document,
    DocumentSource,
    SegmentWriter,
    Task,
    is_unicode,
    tasks_of_documents,
    tasks_of_source,
)
from agentrl.envs.common.search.storage import IndexCorrupt

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[str, int, int | None], None]
SCRATCH = "building-"
ALIVE = "alive"
BATCH_DEADLINE = 1800.0  # seconds for some thousand documents: only a source that hangs needs it
MAX_FINGERPRINT = 500


def build_index(
    folder: str | Path,
    documents: DocumentSource | Iterable[Document],
    *,
    processes: int = 2,
    fingerprint: str = "",
    progress: Progress | None = None,
) -> Index:
    """Index the documents (id and text, and a note if there is one) into `folder` and open the result.

    A `DocumentSource` is read by `processes` processes at once, each making the source again by its recipe; other
    documents are sent to them. Few documents are indexed right here. `fingerprint` says which documents these are, for
    `Index.open` to compare. `progress(stage, done, total)` is told how far "reading" (in documents) and "merging" have
    come, from any thread. The index appears under its name when it is complete, and not before; an older one is served
    until then.
    """
    folder = Path(folder)
    processes = whole_number("processes", processes, at_least=1, at_most=256)
    check_fingerprint(fingerprint)
    with builder_lock(folder / FILE_NAME):
        return build_under_lock(folder, documents, processes, fingerprint, progress)


def build_under_lock(
    folder: Path,
    documents: DocumentSource | Iterable[Document],
    processes: int,
    fingerprint: str,
    progress: Progress | None,
) -> Index:
    """`build_index` for a caller that holds the lock of the index file."""
    say = progress or (lambda stage, done, total: None)
    try:
        with scratch_folder(folder) as scratch:
            _write_segments(scratch, documents, processes, say)
            merge_segments(scratch, folder / FILE_NAME, fingerprint, lambda done, total: say("merging", done, total))
    except OSError as error:
        raise EnvFault(f"no index can be built in {folder}: {error}") from error
    return Index.open(folder, fingerprint=fingerprint)


def check_fingerprint(fingerprint: Any) -> None:
    """A `ConfigError` for what does not fit the header."""
    if not isinstance(fingerprint, str) or len(fingerprint) > MAX_FINGERPRINT or not is_unicode(fingerprint):
        raise ConfigError(f"fingerprint must be a string of at most {MAX_FINGERPRINT} characters")


# ---------------------------------------------------------------------- reading


def _write_segments(
    scratch: Path, documents: DocumentSource | Iterable[Document], processes: int, progress: Progress
) -> None:
    if isinstance(documents, DocumentSource):
        recipe = documents.recipe[0], dict(documents.recipe[1])
        total = len(documents)
        tasks, is_short = tasks_of_source(total), total <= DOCUMENTS_AT_ONCE
    else:
        try:
            tasks = tasks_of_documents(iter(documents))
        except TypeError as error:
            raise ConfigError(f"documents must be a source or an iterable of pairs: {error}") from error
        first = list(islice(tasks, 2))
        recipe, total = None, len(documents) if isinstance(documents, Sized) else None
        tasks, is_short = chain(first, tasks), len(first) < 2
    if processes == 1 or is_short or os.name != "posix":  # elsewhere there are no supervised workers
        writer = SegmentWriter(str(scratch), 0, recipe)
        callers = [lambda method, *arguments: getattr(writer, method)(*arguments)]
        _drive(callers, tasks, total, progress)
        return
    with contextlib.ExitStack() as stack:
        target = f"{SegmentWriter.__module__}:{SegmentWriter.__qualname__}"
        workers = [
            stack.enter_context(Worker(target, [str(scratch), number, recipe], deadline=BATCH_DEADLINE))
            for number in range(processes)
        ]
        _drive([worker.call for worker in workers], tasks, total, progress)


def _drive(callers: list[Callable[..., Any]], tasks: Iterator[Task], total: int | None, progress: Progress) -> None:
    """Every caller takes the next batch until none is left; the first failure stops all of them."""
    lock, stop = threading.Lock(), threading.Event()
    done = 0

    def work(call: Callable[..., Any]) -> None:
        nonlocal done
        try:
            while not stop.is_set():
                with lock:
                    task = next(tasks, None)
                if task is None:
                    break
                count = call(task[0], *task[1])
                with lock:
                    done += count
                    progress("reading", done, total)
            call("finish")
        except BaseException:
            stop.set()
            raise

    if len(callers) == 1:
        return work(callers[0])
    with ThreadPoolExecutor(len(callers)) as pool:
        try:
            for future in [pool.submit(work, call) for call in callers]:
                future.result()
        finally:
            stop.set()  # also when this thread was interrupted


# ---------------------------------------------------------------------- a folder to work in


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A folder of our own inside `folder`, removed at the end; those of builders that were killed are removed now."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{SCRATCH}*"):
        # The system drops a lock when its owner dies, however it dies: who can be locked is dead.
        with contextlib.suppress(OSError, ImportError), open(left / ALIVE, "rb+") as sign:
            _lock(sign)
            shutil.rmtree(left, ignore_errors=True)
    scratch = folder / f"{SCRATCH}{os.getpid()}-{secrets.token_hex(4)}"
    scratch.mkdir()
    try:
        with open(scratch / ALIVE, "wb") as sign:
            _lock(sign)
            yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _lock(file: Any) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# ---------------------------------------------------------------------- an index that is always there

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
            with self._lock:
                if self._index is index:  # else another thread was quicker
                    self._index = self._open(verify=True)
                index = self._index
            return question(index)

    def _open(self, verify: bool) -> Index:
        return open_or_build(
            self._folder,
            self._documents,
            fingerprint=self._fingerprint,
            processes=self._processes,
            progress=self._progress,
            verify=verify,
        )


# ---------------------------------------------------------------------- progress


@contextmanager
def progress_bar(title: str = "search index", console: Console | None = None) -> Iterator[Progress]:
    """For `build_index(progress=...)`: a bar on standard error, or nothing where that is not a terminal."""
    state = random.getstate()
    try:
        import rich.console
        import rich.progress
    finally:
        random.setstate(state)  # rich draws a number from the global generator when it is first imported
    console = console or rich.console.Console(stderr=True)
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeRemainingColumn(),
    )
    with rich.progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            bar.update(task, description=f"{title}: {stage}", completed=done, total=total)

        yield show


def kept_index(
    folder: str, documents: Callable[[], Documents], title: str, *, fingerprint: str, processes: int = 1
) -> RepairingIndex:
    """The index in a folder of the cache, built under a bar with this title where it is missing."""
    with progress_bar(title) as progress:
        return RepairingIndex(
            cache_dir() / folder, documents, fingerprint=fingerprint, processes=processes, progress=progress
        )
