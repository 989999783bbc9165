"""Secrets never reach a file: keys are taken out of everything that is written down.

Three ways to recognise one: the name it stands under (`api_key`, `password`, ...), its value where the process
environment holds it under such a name, and the shapes in which they travel (`Bearer ...`, `sk-...`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MARK = "[redacted]"
SHORTEST = 8  # a shorter value would strike out ordinary words
# The end of the name decides: api_key_env and max_tokens hold no secret, OPENAI_API_KEY and hub_token do.
_NAME = re.compile(r"(?:.*[_-])?(?:api[_-]?key|token|password|passwd|secret|authorization|credentials?)", re.IGNORECASE)
_SHAPE = re.compile(r"(?i:\bbearer\s+)[\w.~+/=-]{8,}|\bsk-[\w-]{16,}")


def is_secret_name(name: str) -> bool:
    """Would a value under this name be a secret?"""
    return _NAME.fullmatch(name) is not None


def secrets_in(value: Any) -> Iterator[str]:
    """Every text that stands under the name of a secret."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str) and is_secret_name(str(name)):
                yield item
            else:
                yield from secrets_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from secrets_in(item)


def redact_text(text: str, known: Iterable[str] = ()) -> str:
    """The text without known secrets, those of the process environment, and whatever has the shape of one."""
    return _strike(text, _by_length(known))


def redact(value: Any, known: Iterable[str] = (), *, names: bool = True) -> Any:
    """A copy of JSON-like values: what stands under the name of a secret goes, and its value everywhere else too.

    With `names=False` names do not count, only values: where the names are those of somebody's data.
    """
    found = secrets_in(value) if names else ()
    return _clean(value, _by_length([*known, *found]), names)


def _by_length(known: Iterable[str]) -> list[str]:
    """Long ones first, lest one that contains another be struck out in part."""
    held = (value for name, value in os.environ.items() if is_secret_name(name))
    return sorted({secret for secret in (*known, *held) if len(secret) >= SHORTEST}, key=len, reverse=True)


def _strike(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MARK)
    return _SHAPE.sub(MARK, text)


def _clean(value: Any, secrets: list[str], names: bool) -> Any:
    if isinstance(value, str):
        return _strike(value, secrets)
    if isinstance(value, Mapping):
        return {
            _clean(name, secrets, names): MARK
            if names and isinstance(item, str) and is_secret_name(str(name))
            else _clean(item, secrets, names)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_clean(item, secrets, names) for item in value]
    return value
