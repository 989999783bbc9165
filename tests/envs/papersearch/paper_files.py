"""Small files in the layouts of Semantic Scholar and RealScholarQuery."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TITLES = ("A Survey of Lakes", "Ice on Lakes", "Fish below the Ice", "Birds of the Shore", "Stones")


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """One JSON value a line, packed where the name says so."""
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def write_library(folder: Path) -> Path:
    """Five papers, of which each cites all before it, and two questions; one answer is not among the papers."""
    papers = [
        {
            "corpusid": 10 + number,
            "externalids": {"ArXiv": f"2001.0000{number}v2" if number < 3 else None},
            "title": title,
            "year": 2000 + number,
            "venue": "Waters",
            "authors": [{"authorId": "1", "name": "Ada Lake"}],
        }
        for number, title in enumerate(TITLES)
    ]
    write_lines(folder / "papers-0.jsonl", [*papers, papers[0]])  # dumps repeat themselves
    write_lines(folder / "abstracts-0.jsonl.gz", [{"corpusid": 11, "abstract": "We look at <b>frozen</b> water."}])
    cites = [(11, 10), ("12", "10"), (12, 11), (13, 10), (14, 13), (14, 14_000), (14, None)]
    write_lines(folder / "citations-0.jsonl", [{"citingcorpusid": a, "citedcorpusid": b} for a, b in cites])
    questions = [
        {
            "qid": "ice",
            "question": "What lives under ice?",
            "answer": [*TITLES[1:3]],
            "answer_arxiv_id": ["2001.00001"],
        },
        {"qid": "odd", "question": "Which birds?", "answer": ["birds, of the SHORE!", "No Such Paper"]},
        {"qid": "none", "question": "What is lost?", "answer": ["Nothing of This"]},
    ]
    write_lines(folder / "test.jsonl", questions)
    return folder
