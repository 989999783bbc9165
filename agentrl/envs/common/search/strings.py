"""Many strings as arrays: read all at once, or one here and one there, each with a checksum of its own."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from struct import Struct

import numpy as np

from agentrl.envs.common.search.storage import CheckedFile, IndexCorrupt

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
