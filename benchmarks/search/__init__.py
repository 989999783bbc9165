"""The search engine measured on any source of documents: building, opening, searching, private memory.

A family's benchmark gives its own documents and queries; bm25s and tantivy are measured on the same.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import agentrl
from agentrl.core.measure import ONE_THREAD, measure_peers, result, times_of
from agentrl.envs.common.search import DocumentSource, Index, build_index
from agentrl.envs.common.search.build import Progress
from agentrl.envs.common.search.kernel import kernel_name

Rows = list[dict[str, Any]]
MEDIUM, FULL = 100_000, 1_180_000
PEERS = ("bm25s", "tantivy")
BUILD_SECONDS, OPEN_MS, PRIVATE_MB = 300.0, 1000.0, 300.0  # at full size
SEARCH_MS = {MEDIUM: 5.0, FULL: 30.0}
PEER_TIMEOUT = 1800
BUILDERS = 2  # processes
USER = """
import sys
from benchmarks.search import anonymous_megabytes
from agentrl.envs.common.search import Index
index = Index.open(sys.argv[1])
for query in sys.stdin.read().splitlines():
    index.search(query)
print(anonymous_megabytes())
"""


def source_cases(folder: Path, documents: DocumentSource, queries: Sequence[str], progress: Progress | None) -> Rows:
    """All that is measured of one source: builds its index in `folder`."""
    rows = [build_case(folder, documents, progress), open_case(folder, queries[0])]
    return [*rows, *search_cases(Index.open(folder), queries), memory_case(folder, queries)]


def build_case(folder: Path, documents: DocumentSource, progress: Progress | None) -> dict[str, Any]:
    """Seconds from the source to a checked file on disk, and the processor's share of them."""
    start, before = time.perf_counter(), _processor_seconds()
    index = build_index(folder, documents, processes=BUILDERS, progress=progress)
    seconds, spent = time.perf_counter() - start, _processor_seconds() - before
    return _row("build", len(index), [seconds], "s", processes=BUILDERS, cpu=spent, megabytes=index.size / 1e6)


def _processor_seconds() -> float:
    """Of this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def open_case(folder: Path, query: str) -> dict[str, Any]:
    """Milliseconds to open an index and search it for the first time, which checks all blocks that the query needs."""
    found = times_of(lambda: Index.open(folder).search(query), 9)
    return _row("open", len(Index.open(folder)), [1e3 * spent for spent in found], "ms")


def search_cases(index: Index, queries: Sequence[str]) -> Rows:
    """Milliseconds a query once its pages are in memory: the median counts; `p99` and the mean `cpu` beside it."""
    for query in queries:
        index.search(query)
    before = time.thread_time()
    found = sorted(1e3 * spent for spent in times_of(index.search, queries))
    cpu = 1e3 * (time.thread_time() - before) / len(queries)
    return [_row("search", len(index), found, "ms", p99=found[int(0.99 * (len(found) - 1))], cpu=cpu)]


def memory_case(folder: Path, queries: Sequence[str]) -> dict[str, Any]:
    """Megabytes that a process of its own cannot share with others after searching, interpreter included."""
    done = subprocess.run(
        [sys.executable, "-c", USER, str(folder)],
        input="\n".join(query.replace("\n", " ") for query in queries),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return _row("private memory", len(Index.open(folder)), [float(done.stdout)], "MB")


def anonymous_megabytes() -> float:
    """This process's memory that is not backed by a file (Linux); pages of a mapped file are shared."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) / 1e3
    raise OSError("the system does not tell how much memory is private")


def _row(case: str, size: int, found: list[float], unit: str, **more: Any) -> dict[str, Any]:
    return result(f"{case} {size:,}", f"agentrl ({kernel_name()})", agentrl.__version__, found, unit, **more)


def limits(results: Rows, medium: int = MEDIUM, full: int = FULL) -> list[dict[str, Any]]:
    """What is required at the two sizes; the peer of each ratio is the limit."""
    required = {
        f"search {medium:,}": SEARCH_MS[MEDIUM],
        f"search {full:,}": SEARCH_MS[FULL],
        f"open {full:,}": OPEN_MS,
        f"private memory {full:,}": PRIVATE_MB,
        f"build {full:,}": BUILD_SECONDS,
    }
    return [_limit(results, case, limit) for case, limit in required.items()]


def _limit(results: Rows, case: str, limit: float) -> dict[str, Any]:
    ours = next((row["value"] for row in results if row["case"] == case and row["impl"].startswith("agentrl")), None)
    ratio = None if ours is None else limit / ours
    passed = ratio is not None and ratio >= 1
    return {
        "case": f"{case}, limit over ours",
        "ours": ours,
        "peer": limit,
        "ratio": ratio,
        "required": 1,
        "pass": passed,
    }


def peer_cases(documents: Iterable[tuple[str, str]], queries: Sequence[str]) -> dict[str, Any]:
    """What `benchmarks/peers/search.py` measured on these documents."""
    with tempfile.TemporaryDirectory(prefix="agentrl-search-") as folder:
        lines, asked = Path(folder) / "documents.jsonl", Path(folder) / "queries.json"
        with open(lines, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(pair) + "\n" for pair in documents)
        asked.write_text(json.dumps(list(queries)), encoding="utf-8")
        return measure_peers("search.py", [str(lines), str(asked)], PEERS, PEER_TIMEOUT)
