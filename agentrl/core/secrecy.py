"""Secrets that were not registered: in specs by the name of their field, elsewhere by value.

`agentrl.core.redact` knows the secrets it was told about and the usual shapes of keys. What is written to a file goes
through here first: a spec may hold `"api_key": "..."`, and the process environment holds keys under such names too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentrl.core.redact import MASK, redact

SHORTEST = 8  # a shorter value would strike out ordinary words
# The end of the name decides: api_key_env and max_tokens hold no secret, OPENAI_API_KEY and hub_token do.
_NAME = re.compile(r"(?:.*[_-])?(?:api[_-]?key|token|password|passwd|secret|authorization|credentials?)", re.IGNORECASE)


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


def scrub(value: Any, known: Iterable[str] = (), *, names: bool = True) -> Any:
    """A copy of JSON-like values: what stands under the name of a secret goes, and its value everywhere else too.

    With `names=False` names do not count, only values: where the names are an environment's data.
    """
    found = secrets_in(value) if names else ()
    held = (text for name, text in os.environ.items() if is_secret_name(name))
    secrets = {text for text in (*known, *found, *held) if len(text) >= SHORTEST}
    # Long ones first, lest one that contains another be struck out in part.
    return redact(_strike(value, sorted(secrets, key=len, reverse=True), names))


def _strike(value: Any, secrets: list[str], names: bool) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, Mapping):
        return {
            _strike(name, secrets, names): MASK
            if names and isinstance(item, str) and is_secret_name(str(name))
            else _strike(item, secrets, names)
            for name, item in value.items()
        }
    return [_strike(item, secrets, names) for item in value] if isinstance(value, (list, tuple)) else value
