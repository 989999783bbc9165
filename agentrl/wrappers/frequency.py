"""Which texts come most often: counts in bounded memory, shared between environments where they ask for it."""

from __future__ import annotations

import hashlib
import heapq
import threading
from collections.abc import Mapping
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError


class FrequencyTable:
    """Counts texts and knows the `top_k` most frequent ones at any moment.

    Texts are kept as hashes. When more than `capacity` are known, the rarer half is forgotten (of equally rare ones the
    older), so a text must come again and again to stay. Counts only grow, one at a time: that is why the
    leaders can be kept up to date without sorting anything.
    """

    def __init__(self, top_k: int = 10, capacity: int = 4096) -> None:
        self.top_k = whole_number("top_k", top_k, at_least=1)
        self.capacity = whole_number("capacity", capacity, at_least=2 * self.top_k)
        self._counts: dict[str, int] = {}
        self._leaders: dict[str, int] = {}
        self._lock = threading.Lock()  # environments in several threads may share a table

    def __len__(self) -> int:
        return len(self._counts)

    def count(self, text: str) -> int:
        """How often the text was seen, as far as is remembered."""
        return self._counts.get(_key(text), 0)

    def is_frequent(self, text: str) -> bool:
        """Is it one of the most frequent? What was never seen is not, however few texts there are."""
        return _key(text) in self._leaders

    def add(self, text: str) -> None:
        """Count the text once more."""
        key = _key(text)
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + 1
            self._lead(key, count)
            if len(self._counts) > self.capacity:
                self._forget()

    def _lead(self, key: str, count: int) -> None:
        if key in self._leaders or len(self._leaders) < self.top_k:
            self._leaders[key] = count
            return
        last = min(self._leaders, key=self._leaders.__getitem__)
        if count > self._leaders[last]:  # a tie does not unseat anybody
            del self._leaders[last]
            self._leaders[key] = count

    def _forget(self) -> None:
        age = {key: index for index, key in enumerate(self._counts)}
        kept = heapq.nlargest(
            self.capacity // 2, self._counts, key=lambda key: (key in self._leaders, self._counts[key], age[key])
        )
        self._counts = {key: self._counts[key] for key in sorted(kept, key=age.__getitem__)}

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        with self._lock:
            return {"counts": dict(self._counts), "leaders": dict(self._leaders)}

    def load(self, data: Mapping[str, Any]) -> None:
        """Inverse of `to_json`; `ValueError` if it cannot be such, and nothing is changed."""
        counts, leaders = _counts(data["counts"]), _counts(data["leaders"])
        if len(counts) > self.capacity or len(leaders) > self.top_k or not leaders.items() <= counts.items():
            raise ValueError("these counts are not from such a table")
        with self._lock:
            self._counts, self._leaders = counts, leaders

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


_SHARED: dict[str, FrequencyTable] = {}
_SHARED_LOCK = threading.Lock()


def shared_table(name: str, top_k: int, capacity: int) -> FrequencyTable:
    """The table of that name in this process; made when first asked for."""
    if not isinstance(name, str) or not name:
        raise ConfigError(f"the name of a shared counter must be a str; got {name!r}")
    with _SHARED_LOCK:
        table = _SHARED.get(name)
        if table is None:
            table = _SHARED[name] = FrequencyTable(top_k, capacity)
    if (table.top_k, table.capacity) != (top_k, capacity):
        raise ConfigError(
            f"counter {name!r} is shared with top_k={table.top_k} and capacity={table.capacity}; use the same here"
        )
    return table


def forget_table(name: str) -> None:
    """Start a shared counter anew (a second training run in one process)."""
    with _SHARED_LOCK:
        _SHARED.pop(name, None)


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _counts(data: Any) -> dict[str, int]:
    fits = isinstance(data, dict) and all(
        isinstance(key, str) and type(count) is int and count > 0 for key, count in data.items()
    )
    if not fits:
        raise ValueError("counts are whole numbers above 0")
    return dict(data)
