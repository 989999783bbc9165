"""Measures other search engines on the same documents; a script for the interpreter of the peers' own environment.

python search.py DOCUMENTS QUERIES     a file of JSON lines [id, text], a JSON list; one JSON object on stdout

They are faster or slower at a different task: neither keeps lengths as Lucene does, and tantivy fixes k1 and b.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from agentrl.core.measure import result, times_of

warnings.simplefilter("ignore")
HITS = 50
Search = Callable[[str], Any]


def bm25s_search(documents: list[tuple[str, str]], folder: str) -> tuple[float, Callable[[], Search]]:
    """Its Lucene flavour, memory-mapped; no stemmer is installed for it."""
    import bm25s  # pyright: ignore[reportMissingImports]  (the peers' own environment has it)

    start = time.perf_counter()
    engine = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    engine.index(bm25s.tokenize([text for _, text in documents], show_progress=False), show_progress=False)
    engine.save(folder)
    seconds = time.perf_counter() - start

    def opened() -> Search:
        loaded = bm25s.BM25.load(folder, mmap=True)

        def search(query: str) -> Any:
            terms = bm25s.tokenize([query], return_ids=False, show_progress=False)
            return loaded.retrieve(terms, k=min(HITS, len(documents)), show_progress=False)

        return search

    return seconds, opened


def tantivy_search(documents: list[tuple[str, str]], folder: str) -> tuple[float, Callable[[], Search]]:
    """English stems, frequencies only, one thread."""
    import tantivy  # pyright: ignore[reportMissingImports]  (as above)

    start = time.perf_counter()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("docid", stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("text", tokenizer_name="en_stem", index_option="freq")
    index = tantivy.Index(schema.build(), path=folder)
    writer = index.writer(num_threads=1)
    for docid, text in documents:
        writer.add_document(tantivy.Document(docid=docid, text=text))
    writer.commit()
    writer.wait_merging_threads()
    seconds = time.perf_counter() - start

    def opened() -> Search:
        loaded = tantivy.Index.open(folder)
        searcher = loaded.searcher()

        def search(query: str) -> Any:
            plain = " ".join(re.findall(r"\w+", query.lower()))  # its query language is not what is measured
            found = searcher.search(loaded.parse_query(plain, ["text"]), HITS, count=False).hits
            return [(searcher.doc(address)["docid"][0], score) for score, address in found]

        return search

    return seconds, opened


PEERS = {"bm25s": bm25s_search, "tantivy": tantivy_search}


def rows_of(name: str, documents: list[tuple[str, str]], queries: list[str]) -> list[dict[str, Any]]:
    """Building, opening and searching with one engine."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, opened = PEERS[name](documents, folder)
        opening = times_of(lambda: opened()(queries[0]), 3)
        search = opened()
        for query in queries:
            search(query)
        found = times_of(lambda query: search(query), queries)
    size, v = f"{len(documents):,}", version(name)
    return [
        result(f"build {size}", name, v, [seconds], "s"),
        result(f"open {size}", name, v, [1e3 * spent for spent in opening], "ms"),
        result(f"search {size}", name, v, [1e3 * spent for spent in found], "ms"),
    ]


def main() -> None:
    """Measure every peer that can be imported; say why for the others."""
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = [tuple(json.loads(line)) for line in file]
    queries = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    report: dict[str, Any] = {"results": [], "peers": {}}
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print greetings
    for name in PEERS:
        try:
            report["results"] += rows_of(name, documents, queries)
            report["peers"][name] = {"installed": True, "version": version(name), "reason": None}
        except Exception as error:
            report["peers"][name] = {"installed": False, "version": None, "reason": f"{type(error).__name__}: {error}"}
    json.dump(report, output)


if __name__ == "__main__":
    main()
