"""A damaged, half-written or foreign file is never served; a killed build leaves nothing behind that is."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from search_corpora import QUERIES, SourceOfGoods, note, random_documents

from agentrl.core.errors import ConfigError, EnvFault, Fault
from agentrl.envs.common.search import Hit, Index, IndexCorrupt, RepairingIndex, build_index, open_or_build
from agentrl.envs.common.search.index import FILE_NAME

NOTES = [note(number) for number in range(4000)]
DOCUMENTS = [(*pair, told) for pair, told in zip(random_documents(4000, 1), NOTES, strict=True)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    build_index(folder, DOCUMENTS, fingerprint="goods 1")
    return folder / FILE_NAME


@pytest.fixture(scope="module")
def expected(whole: Path) -> list[list[Hit]]:
    return answers(whole.parent)


def answers(folder: Path) -> list[list[Hit]]:
    index = Index.open(folder)
    return [index.search(query) for query in QUERIES]


def damaged_copy(folder: Path, content: bytes) -> Path:
    """Written in place of an older one, as a failing disk would do it: same inode, same times."""
    path = folder / FILE_NAME
    path.write_bytes(content)
    os.utime(path, (1, 1))
    return folder


def places_of(size: int) -> list[int]:
    """The header's parts, the ends of blocks and of the file, and many places between."""
    edges = [0, 3, 7, 8, 9, 12, 40, 200, 1000, 4063, 4064, 4095, 4096, 4097, size - 1, size - 2, size - 40]
    blocks = [4096 + 65536 * number + shift for number in range(20) for shift in (-1, 0, 1)]
    dice = random.Random(0)
    return [*edges, *(at for at in blocks if 4095 <= at < size), *dice.choices(range(size), k=150)]


def test_a_changed_byte_anywhere_is_never_served(whole: Path, expected: list[list[Hit]], tmp_path: Path) -> None:
    content = whole.read_bytes()
    found = 0
    for place in places_of(len(content)):
        wrong = bytearray(content)
        wrong[place] ^= 1 << place % 8
        folder = damaged_copy(tmp_path, bytes(wrong))
        with pytest.raises(IndexCorrupt):
            Index.open(folder).verify()
        try:
            assert answers(folder) == expected  # these searches do not touch the damaged block
        except IndexCorrupt:
            found += 1
    assert found > 100


@pytest.mark.parametrize("kept", [0, 1, 100, 4095, 4096, 4097, 70_000, -65536, -4096, -4, -1])
def test_a_file_that_was_cut_off_does_not_open(whole: Path, tmp_path: Path, kept: int) -> None:
    with pytest.raises(IndexCorrupt):
        Index.open(damaged_copy(tmp_path, whole.read_bytes()[:kept]))


def test_files_that_are_no_index_do_not_open(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    for wrong in (b"\0" * len(content), content + b"\0", content[4096:], content[::-1], b"{}", content * 2):
        with pytest.raises(IndexCorrupt):
            Index.open(damaged_copy(tmp_path, wrong))


def test_an_index_that_is_missing_unreadable_or_of_other_documents(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexCorrupt, match="does not exist"):
        Index.open(tmp_path / "nowhere")
    with pytest.raises(IndexCorrupt, match="goods 1"):
        Index.open(whole.parent, fingerprint="goods 2")
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(EnvFault, match="cannot be read"):
        Index.open(tmp_path)
    assert issubclass(IndexCorrupt, Fault)


def test_a_file_of_the_version_before_does_not_open(whole: Path, tmp_path: Path) -> None:
    page = bytearray(whole.read_bytes()[:4096])
    page[7] -= 1
    page[-32:] = hashlib.sha256(page[:-32]).digest()
    with pytest.raises(IndexCorrupt, match="another version"):
        Index.open(damaged_copy(tmp_path, bytes(page) + whole.read_bytes()[4096:]))


# ---------------------------------------------------------------------- notes, which have checksums of their own


def sections_of(content: bytes) -> dict[str, tuple[int, int]]:
    """Where the arrays lie in a file: first byte and last."""
    header = json.loads(content[12:4064].rstrip(b"\0"))
    spans = {name: (at, np.dtype(kind).itemsize * count) for name, (kind, count, at) in header["sections"].items()}
    return {name: (at, at + size) for name, (at, size) in spans.items()}


def told_or_refused(folder: Path) -> list[str | None]:
    """Each note by itself; None for one that is found damaged."""
    index = Index.open(folder)
    found: list[str | None] = []
    for number in range(len(index)):
        try:
            found += index.notes([number])
        except IndexCorrupt:
            found.append(None)
    return found


@pytest.mark.parametrize("section", ["note_content", "note_rows"])
def test_a_changed_byte_of_the_notes_is_never_served(whole: Path, tmp_path: Path, section: str) -> None:
    content = whole.read_bytes()
    first, end = sections_of(content)[section]
    dice = random.Random(1)
    for place in [first, end - 1, *dice.sample(range(first, end), 60)]:
        wrong = bytearray(content)
        wrong[place] ^= 1 << dice.randrange(8)
        folder = damaged_copy(tmp_path, bytes(wrong))
        found = told_or_refused(folder)
        assert [NOTES[number] if told is None else told for number, told in enumerate(found)] == NOTES
        row = (place - first) // 16
        of_nothing = section == "note_rows" and not NOTES[row]  # where an empty note lies does not matter
        assert found.count(None) == 1 or of_nothing
        with pytest.raises(IndexCorrupt):
            Index.open(folder).verify()


def test_notes_that_were_overwritten_with_zeros_or_with_other_notes_are_never_served(
    whole: Path, tmp_path: Path
) -> None:
    content = whole.read_bytes()
    sections = sections_of(content)
    (rows, rows_end), (text, text_end) = sections["note_rows"], sections["note_content"]
    zeroed = content[:rows] + bytes(rows_end - rows) + content[rows_end:]
    assert told_or_refused(damaged_copy(tmp_path, zeroed)) == [None] * len(NOTES)
    both = zeroed[:text] + bytes(text_end - text) + zeroed[text_end:]
    assert told_or_refused(damaged_copy(tmp_path, both)) == [None] * len(NOTES)
    moved = content[:rows] + content[rows + 16 : rows_end] + content[rows : rows + 16] + content[rows_end:]
    assert told_or_refused(damaged_copy(tmp_path, moved)) == [None] * len(NOTES)
    far = content[:rows] + b"\xff" * (rows_end - rows) + content[rows_end:]
    assert told_or_refused(damaged_copy(tmp_path, far)) == [None] * len(NOTES)


def test_damaged_notes_are_repaired_for_all_who_ask(whole: Path, tmp_path: Path) -> None:
    content = bytearray(whole.read_bytes())
    first, end = sections_of(whole.read_bytes())["note_content"]
    content[first:end] = b"?" * (end - first)
    built = []

    def documents() -> list[tuple[str, str, str]]:
        built.append(1)
        return DOCUMENTS

    index = RepairingIndex(damaged_copy(tmp_path, bytes(content)), documents, fingerprint="goods 1")
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda number: index.notes([number, number + 1]), range(20)))
    assert told == [NOTES[number : number + 2] for number in range(20)] and built == [1]
    index.index.verify()
    with pytest.raises(IndexError):  # nothing is wrong with the file, so nothing is built
        index.notes([len(NOTES)])
    assert built == [1]


# ---------------------------------------------------------------------- built again


def test_a_damaged_index_is_built_again_when_it_is_opened(
    tmp_path: Path, whole: Path, expected: list[list[Hit]]
) -> None:
    damaged_copy(tmp_path, whole.read_bytes()[:-100])
    index = open_or_build(tmp_path, lambda: DOCUMENTS, fingerprint="goods 1")
    index.verify()
    assert [index.search(query) for query in QUERIES] == expected


def test_an_index_that_is_there_is_not_built(whole: Path) -> None:
    def nobody_asks() -> list[tuple[str, str]]:
        raise AssertionError

    assert len(open_or_build(whole.parent, nobody_asks, fingerprint="goods 1")) == len(DOCUMENTS)


def test_damage_found_while_searching_is_repaired(tmp_path: Path, whole: Path, expected: list[list[Hit]]) -> None:
    content = bytearray(whole.read_bytes())
    content[4096:-200] = bytes(len(content) - 4296)  # everything but the header and the table
    index = RepairingIndex(damaged_copy(tmp_path, bytes(content)), lambda: DOCUMENTS, fingerprint="goods 1")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(index.search, QUERIES)) == expected
    index.index.verify()
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_an_open_index_stays_whole_while_it_is_replaced(tmp_path: Path) -> None:
    old = build_index(tmp_path, DOCUMENTS)
    before = [old.search(query) for query in QUERIES[:2]]
    new = build_index(tmp_path, [("only", "red shoes")])
    assert [old.search(query) for query in QUERIES[:2]] == before
    assert [hit.docid for hit in new.search("red shoes")] == ["only"]


def test_a_folder_that_cannot_be_written_is_a_fault_and_no_index(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvFault, match="no index can be built"):
        build_index(tmp_path / "file" / "folder", DOCUMENTS[:5])


# ---------------------------------------------------------------------- killed and crowded builders

BUILDER = """
import sys, time
from search_corpora import SourceOfGoods
from agentrl.envs.common.search import build_index
def progress(stage, done, total):
    if stage == sys.argv[2]:
        print(stage, flush=True)
        time.sleep(60)
build_index(sys.argv[1], SourceOfGoods(9000, seed=2), fingerprint="new", progress=progress)
"""


def killed_builder(folder: Path, stage: str) -> None:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", BUILDER, str(folder), stage]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables) as builder:
        assert builder.stdout is not None and builder.stdout.readline().strip() == stage.encode()
        builder.send_signal(signal.SIGKILL)
    assert builder.returncode == -signal.SIGKILL
    assert list(folder.glob("building-*"))  # it really was at work


@pytest.mark.parametrize("stage", ["reading", "merging"])
def test_a_killed_build_leaves_nothing_that_is_served(tmp_path: Path, stage: str) -> None:
    killed_builder(tmp_path, stage)
    with pytest.raises(IndexCorrupt):
        Index.open(tmp_path)
    index = open_or_build(tmp_path, lambda: DOCUMENTS, fingerprint="goods 1")
    assert len(index) == len(DOCUMENTS)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_killed_build_leaves_the_older_index_as_it_was(
    tmp_path: Path, whole: Path, expected: list[list[Hit]]
) -> None:
    (tmp_path / FILE_NAME).write_bytes(whole.read_bytes())
    killed_builder(tmp_path, "merging")
    Index.open(tmp_path, fingerprint="goods 1").verify()
    assert answers(tmp_path) == expected


def test_builders_at_the_same_time_build_once_and_all_get_it(tmp_path: Path) -> None:
    built = []

    def documents() -> list[tuple[str, str, str]]:
        built.append(1)
        return DOCUMENTS

    with ThreadPoolExecutor(4) as pool:
        opening = [pool.submit(open_or_build, tmp_path, documents, fingerprint="goods 1") for _ in range(4)]
        found = [future.result().search("tea") for future in opening]
    assert found[0] and found == [found[0]] * 4
    assert built == [1]


def test_builders_of_different_documents_in_one_folder_each_leave_a_whole_index(tmp_path: Path) -> None:
    corpora = [DOCUMENTS[: 500 * number] for number in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        indexes = list(pool.map(lambda documents: build_index(tmp_path, documents), corpora))
    assert {len(index) for index in indexes} <= {len(corpus) for corpus in corpora}
    Index.open(tmp_path).verify()
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_fingerprint_must_fit() -> None:
    for wrong in (None, 5, "x" * 501, "\ud800"):
        with pytest.raises(ConfigError, match=r"^fingerprint"):
            open_or_build("never", lambda: SourceOfGoods(1), fingerprint=wrong)  # pyright: ignore[reportArgumentType]
