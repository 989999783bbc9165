"""The values of a JSON file, a list or one after the other (JSON lines), each with the line that it begins on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agentrl.core.errors import ConfigError

SPACE = re.compile(r"[ \t\r\n]*")


def json_values(content: bytes, name: str) -> Iterator[tuple[int, Any]]:
    """The elements of a list, or the values that follow one another; `name` is what messages call the file."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: this is not JSON, which must be UTF-8 text") from None
    decoder = json.JSONDecoder()
    place, line, seen = _skip(text, 0), 1, 0
    in_list = text.startswith("[", place)
    if in_list:
        place = _skip(text, place + 1)
    while place < len(text) and not (in_list and text[place] == "]"):
        line, seen = line + text.count("\n", seen, place), place
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            # A line that breaks off is wrong itself, not the next one, where that is found out.
            place = error.pos if error.colno > 1 else len(text[: error.pos].rstrip())
            raise _wrong(name, text, place, f"this is not JSON ({error.msg})") from None
        except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
            why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise _wrong(name, text, place, f"this cannot be read as JSON ({why})") from None
        yield line, value
        place = _skip(text, place)
        if in_list:
            if text.startswith(",", place):
                place = _skip(text, place + 1)
                is_wrong = text.startswith("]", place)
            else:
                is_wrong = place < len(text) and text[place] != "]"
            if is_wrong:
                raise _wrong(name, text, place, "this is not JSON (a comma must stand between two values)")
    if in_list and place >= len(text):
        raise _wrong(name, text, place, "the list is not closed")
    if in_list and text[place + 1 :].strip():
        raise _wrong(name, text, place, "nothing may follow the list")


def _skip(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return place if found is None else found.end()


def _wrong(name: str, text: str, place: int, what: str) -> ConfigError:
    line = text.count("\n", 0, place) + 1
    return ConfigError(f"{name}, line {line}: {what}")
