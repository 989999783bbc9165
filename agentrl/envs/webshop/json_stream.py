"""JSON files of gigabytes, read one element at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular

CHUNK = 1 << 20  # bytes
MAX_ELEMENT = 1 << 26  # characters: beyond this an element is broken rather than long
_SPACE = " \t\r\n"
_AFTER_A_VALUE = frozenset(_SPACE + ",:]}")


class JsonStream:
    """The elements of a top-level array, or the members of a top-level object, in order and without keeping them.

    `digest` is the SHA-256 of what was read; after the last element it is that of the whole file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decoder = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: missing
        self._text, self._at, self._passed, self._ended = "", 0, 0, False
        self._hash = hashlib.sha256()
        self._leftover = b""

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes read so far, in hexadecimal."""
        return self._hash.hexdigest()

    def elements(self) -> Iterator[Any]:
        """The elements of an array; a `ConfigError` that names file and place where it is broken."""
        with self._opened() as file:
            for _ in self._between(file, "[", "]"):
                yield self._value(file)

    def members(self) -> Iterator[tuple[str, Any]]:
        """The (key, value) pairs of an object."""
        with self._opened() as file:
            for _ in self._between(file, "{", "}"):
                key = self._value(file)
                if not isinstance(key, str) or self._peek(file) != ":":
                    self._broken("a key and a colon were expected")
                self._at += 1
                yield key, self._value(file)

    def _opened(self) -> BinaryIO:
        try:
            return open_regular(self._path)
        except OSError as error:
            raise ConfigError(f"cannot read {self._path}: {error.strerror}") from None

    def _between(self, file: BinaryIO, opening: str, closing: str) -> Iterator[None]:
        """Yields before each element; sees to brackets, commas and the end."""
        if self._peek(file) != opening:
            self._broken(f"{opening!r} was expected")
        self._at += 1
        if self._peek(file) != closing:
            yield
            while self._peek(file) == ",":
                self._at += 1
                yield
        if self._peek(file) != closing:
            self._broken(f"a comma or {closing!r} was expected")
        self._at += 1
        if self._peek(file):
            self._broken("nothing more was expected")

    def _peek(self, file: BinaryIO) -> str:
        """The next character that is not space, left where it is; nothing at the end of the file."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more(file, CHUNK):
                return ""

    def _value(self, file: BinaryIO) -> Any:
        self._peek(file)
        size = CHUNK
        while True:
            why = "it goes on without end"
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                if self._ended or self._text[end : end + 1] in _AFTER_A_VALUE:  # else a number may go on: 1 | .5
                    self._at = end
                    return value
            except RecursionError:
                self._broken("it is nested too deeply")
            except ValueError as error:
                why = str(error).partition(":")[0]
                if self._ended:
                    self._broken(why)
            if len(self._text) - self._at > MAX_ELEMENT:
                self._broken(why)
            self._more(file, size)
            size *= 2  # an element of n characters is tried log(n) times

    def _more(self, file: BinaryIO, size: int) -> bool:
        """Read on, forgetting what has been used; False at the end of the file."""
        raw = file.read(size)
        self._hash.update(raw)
        raw = self._leftover + raw
        self._ended = not raw or len(raw) == len(self._leftover)
        text = self._decoded(raw)
        if self._passed == 0 and self._at == 0 and not self._text:
            text = text.removeprefix("\ufeff")
        self._passed += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        return not self._ended

    def _decoded(self, raw: bytes) -> str:
        """`raw` as text; the start of a character that is cut off at its end waits for the next piece."""
        try:
            self._leftover = b""
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._ended or error.start < len(raw) - 3:
                self._broken("it is not UTF-8")
            self._leftover = raw[error.start :]
            return raw[: error.start].decode("utf-8")

    def _broken(self, why: str) -> NoReturn:
        raise ConfigError(f"{self._path} is broken near character {self._passed + self._at}: {why}")
