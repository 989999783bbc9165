"""The library of papers measured: building, opening, searching, turns, memory; SQLite's FTS5 on the same papers.

Seconds are those of the processor. The peer is the sparse search that the paper of StepPO names: BM25 by SQLite's FTS5,
in memory, with its stemmer, for any of the words; questions and papers are the same.
"""

from __future__ import annotations

import gc
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import agentrl
from agentrl.core.cache import forget_caches
from agentrl.core.measure import compare, cpu_seconds, machine, result
from agentrl.envs.common.search.kernel import kernel_name
from agentrl.envs.papersearch.env import DEFAULT_PAPERS, PaperSearchEnv
from agentrl.envs.papersearch.library import Library, open_library
from agentrl.envs.papersearch.players import Expander
from benchmarks.search import anonymous_megabytes

BUILD_SECONDS, PRIVATE_MEGABYTES = 20.0, 100.0  # at the full size
PEER = "SQLite FTS5"
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """A library of the default size is built in a folder of its own; a small one, and few turns, if `quick`."""
    size, asked, episodes = (10_000, 20, 4) if quick else (DEFAULT_PAPERS, 30, 50)
    with tempfile.TemporaryDirectory(prefix="agentrl-papers-") as folder:
        with mock.patch.dict(os.environ, AGENTRL_CACHE=folder):
            results = library_rows(size) + turn_rows(size, episodes)
            library = open_library(0, size, None)
            results += search_rows(library, asked, repeats=1 if quick else 3)
        forget_caches()
    by_case = {row["case"]: row["value"] for row in results if row["impl"] == "agentrl"}
    ratios = [
        _limit("build", by_case["build"], BUILD_SECONDS),
        _limit("private memory", by_case["private memory"], PRIVATE_MEGABYTES),
        compare(results, "search", PEER, 1.0),
    ]
    return {
        "schema": 1,
        "name": "papersearch",
        "machine": machine(),
        "threads": 1,
        "kernel": kernel_name(),
        "results": results,
        "peers": {PEER: {"installed": True, "version": sqlite3.sqlite_version, "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def _row(case: str, found: list[float], unit: str, impl: str = "agentrl", version: str = "") -> dict[str, Any]:
    return result(case, impl, version or agentrl.__version__, found, unit)


def _limit(case: str, value: float, most: float) -> dict[str, Any]:
    """A limit as a ratio: 1 or more passes."""
    ratio = most / value
    return {"case": case, "ours": value, "peer": most, "ratio": ratio, "required": 1.0, "pass": ratio >= 1}


def library_rows(size: int) -> Rows:
    """Building for the first time, opening again, and what an open library costs this process alone."""
    build = cpu_seconds(lambda: open_library(0, size, None))
    forget_caches()
    gc.collect()
    before = anonymous_megabytes()
    opened = cpu_seconds(lambda: open_library(0, size, None))
    env = PaperSearchEnv(papers=size)
    for seed in range(10):
        play(env, seed)
    private = anonymous_megabytes() - before
    return [_row("build", [build], "s"), _row("open", [opened * 1e3], "ms"), _row("private memory", [private], "MB")]


def turn_rows(size: int, episodes: int) -> Rows:
    """Resets, turns of five calls and the oracle's thinking, in milliseconds each."""
    env = PaperSearchEnv(papers=size, split="test")
    resets, turns, thinking = [], [], []
    for seed in range(episodes):
        resets.append(cpu_seconds(lambda seed=seed: env.reset(seed=seed)))
        thinking.append(cpu_seconds(env.oracle))
        turns += play(env, seed)
    pairs = (("reset", resets), ("turn of up to five calls", turns), ("oracle's first turn", thinking))
    return [_row(case, [1e3 * each for each in found], "ms") for case, found in pairs]


def play(env: PaperSearchEnv, seed: int) -> list[float]:
    """Seconds of each turn of the player that expands what it sees."""
    env.reset(seed=seed)
    player, seconds, over = Expander(), [], False
    while not over:
        turn = player.act([[]], [env])[0].action
        start = time.process_time()
        _, _, terminated, truncated, _ = env.step(turn)
        seconds.append(time.process_time() - start)
        over = terminated or truncated
    return seconds


def search_rows(library: Library, asked: int, repeats: int) -> Rows:
    """Searches a second for questions of the training split, ours and the peer's by turns."""
    questions = [library.question(task).text for task in library.ids["train"][:asked]]
    base = fts5(library)
    ways: dict[str, Callable[[str], Sequence[Any]]] = {
        "agentrl": lambda text: library.index.search(text, 10),
        PEER: lambda text: base.execute(
            "SELECT rowid FROM papers WHERE papers MATCH ? ORDER BY bm25(papers) LIMIT 10", [any_word(text)]
        ).fetchall(),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, search in ways.items():
            spent = cpu_seconds(lambda search=search: [search(text) for text in questions])
            found[name].append(len(questions) / spent)
    versions = {"agentrl": agentrl.__version__, PEER: sqlite3.sqlite_version}
    return [_row("search", rates, "queries/s", name, versions[name]) for name, rates in found.items()]


def fts5(library: Library) -> sqlite3.Connection:
    """The same texts in SQLite's full-text index."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE papers USING fts5(text, tokenize = 'porter')")
    papers = (library.paper(number) for number in range(len(library)))
    rows = ((number, f"{paper.title}. {paper.abstract}") for number, paper in enumerate(papers))
    base.executemany("INSERT INTO papers(rowid, text) VALUES (?, ?)", rows)
    return base


def any_word(text: str) -> str:
    """A question in the peer's language: any of its words."""
    return " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
