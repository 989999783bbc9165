"""Building: sources and pairs, one process and several, progress, bad documents."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from search_corpora import QUERIES, SourceOfGoods, note, random_documents

from agentrl.core.errors import ConfigError, WorkerFault
from agentrl.envs.common.search import CatalogueDocuments, DocumentSource, Index, build_index
from agentrl.envs.common.search.build import progress_bar
from agentrl.envs.common.search.index import FILE_NAME
from agentrl.envs.common.search.storage import pack_strings, unpack_strings


def test_processes_and_kinds_of_documents_give_the_same_file(tmp_path: Path) -> None:
    """Byte for byte: neither the number of processes nor which of them was quicker can be seen."""
    source = SourceOfGoods(9000, seed=3)
    assert isinstance(source, DocumentSource)
    pairs = random_documents(9000, 3, longest=12)
    files = []
    for name, documents, processes in (("a", source, 1), ("b", source, 2), ("c", iter(pairs), 2), ("d", pairs, 1)):
        index = build_index(tmp_path / name, documents, processes=processes)
        index.verify()
        files.append((tmp_path / name / FILE_NAME).read_bytes())
    assert len(index) == 9000 and all(index.search(query) for query in QUERIES)
    assert files == [files[0]] * 4


def test_a_catalogue_is_made_again_in_every_process(tmp_path: Path) -> None:
    documents = CatalogueDocuments("search_corpora:SmallCatalogue", {"size": 8500})
    assert isinstance(documents, DocumentSource)
    made = build_index(tmp_path / "made", documents)
    sent = build_index(tmp_path / "sent", [(*pair, note(n)) for n, pair in enumerate(random_documents(8500))])
    assert (tmp_path / "made" / FILE_NAME).read_bytes() == (tmp_path / "sent" / FILE_NAME).read_bytes()
    assert made.notes(range(8500)) == [note(number) for number in range(8500)]
    assert [made.search(query) for query in QUERIES] == [sent.search(query) for query in QUERIES]


def test_notes_are_told_by_the_numbers_of_hits_and_are_not_searched(tmp_path: Path) -> None:
    documents = [("b", "red tea", "of b\0"), ("a", "tea"), ("c", "lamp", "tea \U0001f375\n"), ("d", "", "x" * 70_000)]
    index = build_index(tmp_path, documents)
    hits = index.search("tea")
    assert [hit.docid for hit in hits] == ["a", "b"]
    assert index.notes([hit.number for hit in hits]) == ["", "of b\0"]
    for copy in (index, Index.open(tmp_path), pickle.loads(pickle.dumps(index))):
        assert copy.notes([3, 2, 2, 0]) == ["x" * 70_000, "tea \U0001f375\n", "tea \U0001f375\n", "of b\0"]
    assert index.notes([]) == []


def test_notes_of_documents_that_are_not_there_are_refused(tmp_path: Path) -> None:
    index = build_index(tmp_path, random_documents(3))
    assert index.notes([2, 0, 1]) == ["", "", ""]
    for wrong in ([3], [-1], [0, 1 << 40], [2, -3]):
        with pytest.raises(IndexError, match="of an index of 3"):
            index.notes(wrong)
    with pytest.raises(IndexError):
        build_index(tmp_path / "none", []).notes([0])


@pytest.mark.parametrize("processes", [1, 2])
def test_progress_counts_up_to_all(tmp_path: Path, processes: int) -> None:
    heard: list[tuple[str, int, int | None]] = []
    source = SourceOfGoods(9000)
    build_index(tmp_path, source, processes=processes, progress=lambda *news: heard.append(news))
    reading = [done for stage, done, total in heard if stage == "reading" and total == 9000]
    assert reading == sorted(reading) and reading[-1] == 9000 and len(reading) == 2
    assert [news for news in heard if news[0] == "merging"] == [("merging", n, 2) for n in (1, 2)]


def test_a_progress_bar_is_drawn_on_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    for is_terminal in (True, False):
        written = io.StringIO()
        console = Console(file=written, force_terminal=is_terminal, width=80)
        with progress_bar("goods", console) as progress:
            build_index(tmp_path, random_documents(30), progress=progress)
        assert ("goods: merging" in written.getvalue() and "1/1" in written.getvalue()) == is_terminal
        assert bool(written.getvalue()) == is_terminal


def test_the_number_of_documents_of_an_iterator_is_unknown(tmp_path: Path) -> None:
    heard = []
    build_index(tmp_path, iter(random_documents(10)), progress=lambda *news: heard.append(news))
    assert heard[0] == ("reading", 10, None)


def test_a_failing_source_fails_the_build_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(WorkerFault, match="document 8500 is lost"):
        build_index(tmp_path, SourceOfGoods(9000, fails_at=8500))
    assert list(tmp_path.iterdir()) == []


def test_a_failing_iterator_fails_the_build_and_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[tuple[str, str]]:
        yield from random_documents(9000)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        build_index(tmp_path, broken())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "documents",
    [
        [("a", "tea"), ("a", "lamp")],
        [("", "tea")],
        [("\ud800", "tea")],
        [("a", None)],
        [("a", b"tea")],
        [(1, "tea")],
        ["ab"],
        [("a", "tea", None)],
        [("a", "tea", "\udc00")],
        [("a", "tea", "lamp", "mask")],
        [("a",)],
        [None],
        5,
        None,
    ],
    ids=repr,
)
def test_bad_documents_are_named(tmp_path: Path, documents: Any) -> None:
    with pytest.raises(ConfigError, match=r"^documents"):
        build_index(tmp_path, documents)
    assert not list(tmp_path.glob("*"))


@pytest.mark.parametrize("processes", [0, -1, 1.5, "2", 10_000, True])
def test_bad_numbers_of_processes_are_named(tmp_path: Path, processes: Any) -> None:
    with pytest.raises(ConfigError, match=r"^processes"):
        build_index(tmp_path, [], processes=processes)


def test_hostile_texts_can_be_indexed(tmp_path: Path) -> None:
    texts = ["\ud800 tea", "x" * 100_000, "tea\x00lamp", "'" * 1000, "日本 tea", "tea " * 100_000, "\n" * 1000]
    index = build_index(tmp_path, [(f"id\n{number}/..", text) for number, text in enumerate(texts)])
    assert {hit.number for hit in index.search("tea")} == {0, 2, 4, 5}
    assert [hit.docid for hit in index.search("本")] == ["id\n4/.."]
    assert [hit.number for hit in index.search("x" * 255)] == [1]


def test_opening_reads_little_and_reports_what_is_there(tmp_path: Path) -> None:
    index = build_index(tmp_path, SourceOfGoods(3000), fingerprint="three thousand")
    assert (len(index), index.fingerprint) == (3000, "three thousand")
    assert index.size == (tmp_path / FILE_NAME).stat().st_size > 40_000
    assert 400 < index.term_count < 600
    assert "documents=3000" in repr(Index.open(tmp_path))


def test_strings_are_packed_and_unpacked() -> None:
    strings = ["", "a", "日本", "\n", "", "x" * 1000]
    assert unpack_strings(*pack_strings(strings)) == strings
    assert unpack_strings(*pack_strings([])) == []
