"""Are two things the same, and if not, where do they differ? Also: digests that travel between processes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from agentrl.core.parsing import quote
from agentrl.testing.report import CheckFailed
from agentrl.testing.subject import Result


def canonical(value: Any) -> Iterator[bytes]:
    """A value as bytes that are equal exactly when the values are; types count, the order of dict keys does not."""
    if isinstance(value, dict):
        yield b"{"
        for key in sorted(value, key=repr):
            yield from canonical(key)
            yield from canonical(value[key])
        yield b"}"
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__}[".encode()
        for item in value:
            yield from canonical(item)
        yield b"]"
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
        yield f"{value.dtype.str}{value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, (set, frozenset)):
        yield b"set" + b"".join(sorted(digest(item).encode() for item in value))
    else:
        yield f"{type(value).__name__}:{value!r};".encode("utf-8", "backslashreplace")


def digest(value: Any) -> str:
    """A short fingerprint of any nesting of plain values and arrays."""
    state = hashlib.blake2b(digest_size=12)
    for piece in canonical(value):
        state.update(piece)
    return state.hexdigest()


def difference(left: Any, right: Any, path: str = "") -> str | None:
    """Where two values first differ, in words; None if they are equal."""
    if type(left) is type(right):
        if isinstance(left, dict) and left.keys() == right.keys():
            return _first(difference(left[key], right[key], f"{path}[{key!r}]") for key in left)
        if isinstance(left, Result):
            return _first(difference(getattr(left, f), getattr(right, f), f"{path}.{f}") for f in Result._fields)
        if isinstance(left, (list, tuple)) and len(left) == len(right):
            pairs = zip(left, right, strict=True)
            return _first(difference(one, other, f"{path}[{i}]") for i, (one, other) in enumerate(pairs))
        if b"".join(canonical(left)) == b"".join(canonical(right)):
            return None
    return f"{path.lstrip('.') or 'value'} is {_brief(left)} against {_brief(right)}"


def require_same(left: Any, right: Any, what: str) -> None:
    """Fail the running check, naming the place, unless both are equal."""
    if found := difference(left, right):
        raise CheckFailed(f"{what}: {found}")


def require_same_results(left: list[Result], right: list[Result], what: str) -> None:
    """The same for two runs; says after which actions they part."""
    for moment, (one, other) in enumerate(zip(left, right, strict=True)):
        if found := difference(one, other):
            actions = [_brief(result.action) for result in left[max(0, moment - 3) : moment + 1]]
            raise CheckFailed(f"{what}: after {' '.join(actions)} (call {moment}) {found}")


def fingerprint(result: Result) -> dict[str, Any]:
    """A result small enough to send from process to process, fine enough to say what differs."""
    parts = {name: digest(getattr(result, name)) for name in Result._fields if name != "info"}
    return {**parts, **{f"info.{key}": digest(value) for key, value in result.info.items()}}


def _first(found: Iterator[str | None]) -> str | None:
    return next((text for text in found if text is not None), None)


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)} with digest {digest(value)[:8]}"
    text = value if isinstance(value, str) else repr(value)
    return quote(text, 80) if isinstance(value, str) else text if len(text) <= 120 else text[:120] + "..."
