"""Features of the pictures seen last, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class Memory:
    """A least-recently-used store bounded by the size of what it holds. Safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self.hits = self.misses = 0
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Any | None:
        """What was stored under `key`, now the most recent; None where there is nothing."""
        with self._lock:
            if (entry := self._entries.get(key)) is None:
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Store; the oldest entries go. A value larger than the whole store is not kept at all."""
        with self._lock:
            if key in self._entries:
                self.held -= self._entries.pop(key)[1]
            if size > self.limit:
                return
            self._entries[key] = value, size
            self.held += size
            while self.held > self.limit:
                self.held -= self._entries.popitem(last=False)[1][1]
