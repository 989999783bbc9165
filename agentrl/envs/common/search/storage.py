"""One file of named arrays, memory-mapped, every block of it checked before its first use.

Layout: a header page (magic, JSON, SHA-256), the arrays, a table with the CRC-32 of every 64 KiB block of them. The
header holds the file's size and the table's SHA-256, so opening reads two small pieces and no more at any size, and a
block is checked when a process first touches it. Whatever was damaged, whenever, is found before it is served.
Strings that are read one here, one there have checksums of their own (`SingleStrings`): a block for each takes longer.

A file appears under its name only when it is complete (`write_file` renames it last), and a file that is replaced stays
whole for those who have it open. Writing *into* a file that is in use is the one thing this does not survive.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from struct import Struct
from typing import Any

import msgspec
import numpy as np

from agentrl.core.errors import EnvFault

MAGIC = b"ARLBM25\x03"  # the last byte is the version: raise it with every change of layout, analyzer or notes
HEADER = 4096
BLOCK = 1 << 16
DIGEST = 32


class IndexCorrupt(EnvFault):
    """An index that is missing, half-written, damaged or of another version; to be built again, never served."""


class Section(msgspec.Struct, array_like=True, frozen=True):
    """Where an array lies in the file."""

    dtype: str
    count: int
    offset: int

    @property
    def size(self) -> int:
        """Bytes."""
        return np.dtype(self.dtype).itemsize * self.count


class Header(msgspec.Struct, frozen=True):
    """The header's JSON."""

    sections: dict[str, Section]
    table_offset: int
    table_digest: str
    facts: dict[str, Any]


# ---------------------------------------------------------------------- writing


@contextlib.contextmanager
def write_file(
    path: Path, scratch: Path, shapes: Mapping[str, tuple[str, int]], facts: Mapping[str, Any]
) -> Iterator[dict[str, np.ndarray]]:
    """Arrays of these dtypes and lengths to be filled in; the file is there once the block has ended without error.

    `scratch` is a folder on the same disk.
    """
    sections, end = {}, HEADER  # every array at the start of a page: aligned, and no number in two blocks
    for name, (dtype, count) in shapes.items():
        sections[name] = Section(dtype, count, end)
        end += -(-sections[name].size // HEADER) * HEADER
    temporary = scratch / path.name
    with open(temporary, "xb+") as file:
        file.truncate(end)
        mapped = mmap.mmap(file.fileno(), end)
        yield {
            name: np.frombuffer(mapped, section.dtype, section.count, section.offset)
            for name, section in sections.items()
        }
        mapped.flush()
        with mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ) as content, memoryview(content) as view:
            found = [zlib.crc32(view[at : min(at + BLOCK, end)]) for at in range(HEADER, end, BLOCK)]
        table = np.array(found, "<u4").tobytes()
        text = msgspec.json.encode(Header(sections, end, hashlib.sha256(table).hexdigest(), dict(facts)))
        page = MAGIC + len(text).to_bytes(4, "little") + text
        if len(page) > HEADER - DIGEST:
            raise ValueError("the facts about an index must be short")
        page = page.ljust(HEADER - DIGEST, b"\0")
        file.seek(end)
        file.write(table)
        file.seek(0)
        file.write(page + hashlib.sha256(page).digest())
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


# ---------------------------------------------------------------------- reading


class CheckedFile:
    """A file that `write_file` made, open for reading. Threads and forked processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                page = file.read(HEADER)
                if len(page) < HEADER or hashlib.sha256(page[:-DIGEST]).digest() != page[-DIGEST:]:
                    raise self._corrupt("its header is damaged")
                if not page.startswith(MAGIC):
                    raise self._corrupt("it is of another version")
                length, text = int.from_bytes(page[len(MAGIC) :][:4], "little"), page[len(MAGIC) + 4 :]
                try:
                    self._header = msgspec.json.decode(text[:length], type=Header)
                except msgspec.MsgspecError as error:
                    raise self._corrupt(f"its header makes no sense: {error}") from error
                end, size = self._header.table_offset, os.fstat(file.fileno()).st_size
                expected = end + 4 * -(-(end - HEADER) // BLOCK)
                if size != expected:
                    raise self._corrupt(f"it has {size} bytes, not {expected}")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise IndexCorrupt(f"{path} does not exist") from None
        except OSError as error:
            raise EnvFault(f"{path} cannot be read: {error}") from error
        self._view = memoryview(self._map)
        table = self._view[self._header.table_offset :]
        if hashlib.sha256(table).hexdigest() != self._header.table_digest:
            raise self._corrupt("its table of checksums is damaged")
        self._table = np.frombuffer(table, "<u4")
        self._good = bytearray(len(self._table))  # which blocks this process has checked
        self._arrays = {
            name: np.frombuffer(self._map, section.dtype, section.count, section.offset)
            for name, section in self._header.sections.items()
        }

    @property
    def facts(self) -> dict[str, Any]:
        """What the writer noted in the header."""
        return self._header.facts

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self._map)

    def array(self, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Elements of an array, checked; `IndexCorrupt` if any block that holds them is damaged."""
        whole = self._arrays[name]
        stop = len(whole) if stop is None else stop
        if stop > start:
            offset = self._header.sections[name].offset - HEADER
            self._check_blocks(
                (offset + start * whole.itemsize) // BLOCK, (offset + stop * whole.itemsize - 1) // BLOCK
            )
        return whole[start:stop]

    def pick(self, name: str, places: np.ndarray) -> np.ndarray:
        """Single elements of an array, checked as `array` does."""
        whole = self._arrays[name]
        offset = self._header.sections[name].offset - HEADER
        for block in set(((offset + places * whole.itemsize) // BLOCK).tolist()):  # no element lies in two blocks
            self._check_blocks(block, block)
        return whole[places]

    def cut(self, name: str, starts: np.ndarray, stops: np.ndarray) -> list[bytes]:
        """Several pieces of an array of bytes, none of them empty, checked as `array` does."""
        offset = self._header.sections[name].offset - HEADER
        first, last = (offset + starts) // BLOCK, (offset + stops - 1) // BLOCK
        for blocks in set(zip(first.tolist(), last.tolist(), strict=True)):
            self._check_blocks(*blocks)
        content = self.unchecked_bytes(name)
        return [content[start:stop].tobytes() for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

    def unchecked(self, name: str) -> np.ndarray:
        """A whole array, for callers that have asked `array` for every part they will read."""
        return self._arrays[name]

    def unchecked_bytes(self, name: str) -> memoryview:
        """The same as bytes."""
        section = self._header.sections[name]
        return self._view[section.offset : section.offset + section.size]

    def check_everything(self) -> None:
        """Every block, also those already checked; `IndexCorrupt` names the first damaged one."""
        self._good[:] = bytes(len(self._good))
        if len(self._good):
            self._check_blocks(0, len(self._good) - 1)

    def _check_blocks(self, first: int, last: int) -> None:
        block = self._good.find(0, first, last + 1)
        while block >= 0:
            at = HEADER + block * BLOCK
            end = min(at + BLOCK, self._header.table_offset)
            if zlib.crc32(self._view[at:end]) != self._table[block]:
                raise self._corrupt(f"the block at byte {at} is damaged")
            self._good[block] = 1
            block = self._good.find(0, block + 1, last + 1)

    def _corrupt(self, why: str) -> IndexCorrupt:
        return IndexCorrupt(f"{self.path}: {why}")


# ---------------------------------------------------------------------- strings

ROW = Struct("<QII")  # of a single string: where it starts, how many bytes it has, their checksum
ROW_TYPE = np.dtype([("start", "<u8"), ("length", "<u4"), ("check", "<u4")])


def pack_strings(strings: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strings as bytes one after the other, and where each of them ends."""
    encoded = [string.encode() for string in strings]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def pack_single_strings(strings: Sequence[str], first: int) -> tuple[np.ndarray, np.ndarray]:
    """Strings for `SingleStrings`, of which the first has this number among all: their bytes, and a row for each."""
    encoded = [string.encode() for string in strings]
    rows = np.zeros(len(encoded), ROW_TYPE)
    rows["length"] = lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    rows["start"] = np.cumsum(lengths) - lengths
    rows["check"] = [_string_check(string, number) for number, string in enumerate(encoded, first)]
    return np.frombuffer(b"".join(encoded), np.uint8), rows


def _string_check(content: bytes, number: int) -> int:
    """Starts from the number, so that no string passes for another, nor a stretch of zeros for an empty string."""
    return zlib.crc32(content, number + 1 & 0xFFFFFFFF)


def unpack_strings(content: np.ndarray, ends: np.ndarray) -> list[str]:
    """What `pack_strings` was given."""
    data, stops = content.tobytes(), ends.tolist()
    return [data[start:stop].decode() for start, stop in zip([0, *stops], stops, strict=False)]


class SingleStrings:
    """Strings that are checked one by one, as they are read, by checksums of their own (`pack_single_strings`)."""

    def __init__(self, file: CheckedFile, name: str) -> None:
        self._path, self._name = file.path, name
        self._rows, self._content = file.unchecked_bytes(f"{name}_rows"), file.unchecked_bytes(f"{name}_content")

    def read(self, numbers: Iterable[int]) -> list[str]:
        """The strings with these numbers, which must be there; `IndexCorrupt` if one of them is damaged.

        A damaged row is found like damaged content: what lies at a wrong place has another checksum.
        """
        rows, content, row_at, size = self._rows, self._content, ROW.unpack_from, ROW.size
        found: list[str] = []
        for number in numbers:
            start, length, check = row_at(rows, size * number)
            string = content[start : start + length].tobytes()
            if _string_check(string, number) != check:
                raise IndexCorrupt(f"{self._path}: {self._name} {number} is damaged")
            found.append(string.decode())
        return found
