"""Our result lists against those of Lucene itself, on generated files of the benchmark's format.

    python -m benchmarks.webshop.lucene anserini-0.14.3-fatjar.jar [lists.txt]

Needs a JDK and the jar of Anserini that the benchmark uses: it is in the wheel of pyserini 0.17.0, under
`pyserini/resources/jars`. With a second argument, a fingerprint of each of Lucene's lists is written there, so that a
test can compare without Java.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agentrl.envs.common.search import Index, build_index
from agentrl.envs.webshop.goals import SPLITS
from agentrl.envs.webshop.official import OfficialCatalogue
from benchmarks.webshop.official_format import write_files

INDEXER = (
    "io.anserini.index.IndexCollection -collection JsonCollection -generator DefaultLuceneDocumentGenerator "
    "-threads 1 -storePositions -storeDocvectors -storeRaw"
)
SIGNS = ("\u00ae", "\u2122 \u00a9", "\uff76\uff9e", "\uff9f x", "\u2605 \U0001f9f4", "brand\u00ae \uff8a\uff9f")


def documents(catalogue: OfficialCatalogue) -> list[tuple[str, str]]:
    """Id and indexed text of every product."""
    return [catalogue.entry(number)[:2] for number in range(len(catalogue))]


def queries(catalogue: OfficialCatalogue) -> list[str]:
    """Every instruction, every title, and signs alone; each on one line, none empty."""
    asked = [goal.instruction for split in SPLITS for goal in catalogue.goals(split)]
    titles = [catalogue.product(number).title for number in range(len(catalogue))]
    return [line for text in (*asked, *titles, *SIGNS) if (line := " ".join(text.split()))]


def our_lists(texts: Sequence[tuple[str, str]], asked: Sequence[str], folder: Path) -> list[list[str]]:
    """What our search finds, best first."""
    index: Index = build_index(folder, texts, processes=1)
    return [[hit.docid for hit in index.search(query)] for query in asked]


def lucene_lists(texts: Sequence[tuple[str, str]], asked: Sequence[str], jar: Path, folder: Path) -> list[list[str]]:
    """What Lucene finds, best first."""
    (folder / "texts").mkdir(parents=True)
    rows = [json.dumps({"id": docid, "contents": text}) for docid, text in texts]
    (folder / "texts" / "documents.jsonl").write_text("\n".join(rows) + "\n")
    java = ["java", "-cp", str(jar)]
    place = ["-input", str(folder / "texts"), "-index", str(folder / "index")]
    subprocess.run([*java, *INDEXER.split(), *place], check=True, capture_output=True)
    source = Path(__file__).with_name("LuceneLists.java")
    lines = "\n".join(asked) + "\n"
    done = subprocess.run([*java, str(source), place[-1]], input=lines.encode(), check=True, capture_output=True)
    return [line.split() for line in done.stdout.decode().split("\n")[:-1]]


def fingerprint(found: Sequence[str]) -> str:
    """Eight digits for one list, its order included."""
    return hashlib.sha256(" ".join(found).encode()).hexdigest()[:8]


def main(jar: str, kept: str | None = None) -> int:
    """Print how many lists are equal; 1 if any is not."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        catalogue = OfficialCatalogue(write_files(folder / "files"))
        texts, asked = documents(catalogue), queries(catalogue)
        theirs = lucene_lists(texts, asked, Path(jar), folder / "lucene")
        ours = our_lists(texts, asked, folder / "ours")
    equal = sum(left == right for left, right in zip(ours, theirs, strict=True))
    print(f"{equal:,} of {len(asked):,} lists of {len(texts):,} products are those of Lucene, order included")
    if kept is not None:
        Path(kept).write_text("".join(f"{fingerprint(found)}\n" for found in theirs))
    return int(equal < len(asked))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
