"""`build_index`: documents to an index file, with several processes, all or nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.cache import builder_lock
from agentrl.core.errors import ConfigError, EnvFault
from agentrl.core.worker import Worker
from agentrl.envs.common.search.documents import (
    DOCUMENTS_AT_ONCE,
    Document,
    DocumentSource,
    Task,
    is_unicode,
    tasks_of_documents,
    tasks_of_source,
)
from agentrl.envs.common.search.index import FILE_NAME, Index
from agentrl.envs.common.search.merge import merge_segments
from agentrl.envs.common.search.segment import SegmentWriter

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
    recipe, total, tasks, is_short = _plan(documents)
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


def _plan(documents: Any) -> tuple[Any, int | None, Iterator[Task], bool]:
    """Recipe, number of documents (None: unknown), the batches, and whether there is only one."""
    if isinstance(documents, DocumentSource):
        target, arguments = documents.recipe
        count = len(documents)
        return (target, dict(arguments)), count, tasks_of_source(count), count <= DOCUMENTS_AT_ONCE
    try:
        tasks = tasks_of_documents(iter(documents))
    except TypeError as error:
        raise ConfigError(f"documents must be a source or an iterable of pairs: {error}") from error
    first = list(islice(tasks, 2))
    total = len(documents) if hasattr(documents, "__len__") else None
    return None, total, chain(first, tasks), len(first) < 2


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
        _remove_if_dead(left)
    scratch = folder / f"{SCRATCH}{os.getpid()}-{secrets.token_hex(4)}"
    scratch.mkdir()
    try:
        with open(scratch / ALIVE, "wb") as sign:
            _lock(sign)
            yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _remove_if_dead(scratch: Path) -> None:
    """The system drops a lock when its owner dies, however it dies: who can be locked is dead."""
    with contextlib.suppress(OSError, ImportError), open(scratch / ALIVE, "rb+") as sign:
        _lock(sign)
        shutil.rmtree(scratch, ignore_errors=True)


def _lock(file: Any) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
