"""Secrets that were not registered: in specs by the name of their field, elsewhere by value.

`agentrl.core.redact` knows the secrets it was told about and the usual shapes of keys. What is written to a file goes
through here first: a spec may hold `"api_key": "..."`, as JSON text inside an option too, and the process environment
holds keys under such names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from agentrl.core.redact import MASK, protect, redact, spellings

SHORTEST = 8  # a shorter value would strike out ordinary words
# The end of the name decides: api_key_env and max_tokens hold no secret, OPENAI_API_KEY and hub_token do. What a
# tokenizer calls a token is none.
_NAME = re.compile(
    r"(?:.*[_-])?(?:(?:api|access|secret|private|account|subscription|encryption)[_-]?key|(?<!pad_)(?<!eos_)(?<!bos_)"
    r"(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(?<!stop_)(?<!image_)(?<!special_)token|password|passwd|passphrase|pwd|secret"
    r"|auth|authorization|bearer|cookie|credentials?)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FOLDERS = ("PWD", "OLDPWD")  # a shell's words for where it is and was


@lru_cache(4096)  # those of the process environment come again with every record
def is_secret_name(name: str) -> bool:
    """Would a value under this name be a secret?"""
    return _NAME.fullmatch(_CAMEL.sub("_", name)) is not None


def is_secret(text: str) -> bool:
    """Is a text under the name of a secret one? The place of a file that holds one (`credentials`) is none."""
    return bool(text) and not (os.sep in text and os.path.exists(text))


def secrets_in(value: Any) -> Iterator[str]:
    """Every secret that stands under the name of one, also inside text that is JSON."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from filter(is_secret, _texts(item)) if is_secret_name(str(name)) else secrets_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from secrets_in(item)
    elif (inner := _parsed(value)) is not None:
        yield from secrets_in(inner)


def protect_secrets_in(value: Any) -> None:
    """Have every text under the name of a secret struck out of whatever this process writes from now on."""
    for text in secrets_in(value):
        if len(text) >= SHORTEST:
            protect(text)


def scrub(value: Any, known: Iterable[str] = (), *, names: bool = True) -> Any:
    """A copy of JSON-like values: what stands under the name of a secret goes, and its value everywhere else too.

    With `names=False` names do not count, only values: where the names are an environment's data.
    """
    found = secrets_in(value) if names else ()
    held = (text for name, text in os.environ.items() if is_secret_name(name) and name not in _FOLDERS)
    secrets = {text for text in (*known, *found, *filter(is_secret, held)) if len(text) >= SHORTEST}
    written = {spelling for text in secrets for spelling in spellings(text)}
    # Long ones first, lest one that contains another be struck out in part.
    return redact(_strike(value, sorted(written, key=len, reverse=True), names))


def _strike(value: Any, secrets: list[str], names: bool) -> Any:
    if isinstance(value, str):
        if names and (inner := _parsed(value)) is not None and (clean := _strike(inner, secrets, names)) != inner:
            value = json.dumps(clean)
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, Mapping):
        return {
            _strike(name, secrets, names): MASK
            if names and is_secret_name(str(name)) and any(map(is_secret, _texts(item)))
            else _strike(item, secrets, names)
            for name, item in value.items()
        }
    return [_strike(item, secrets, names) for item in value] if isinstance(value, (list, tuple)) else value


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _parsed(value: Any) -> Any:
    """The object or list that a text holds as JSON, or else None."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
