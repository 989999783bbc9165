"""Bounded staleness: which episodes may begin, so that hardly any is too old when it comes to be trained on.

Staleness is the number of updates between the weights that wrote an episode's oldest step and those that it trains. A
bound alone is wasteful: episodes that are begun too early are played to their end and then dropped. So their beginning
is gated.
"""

from __future__ import annotations

import math

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError


class AdmissionGate:
    """Admits groups of episodes, and says which are too old.

    With updates of `batch` episodes, `updates` done and generators that have the weights of update `version`, a group
    is admitted while at most `(max_staleness + 1 - (updates - version)) * batch` episodes are under way: being played,
    finished, or in the update that is running.

    So at most `(version + max_staleness + 1) * batch` episodes were ever admitted for training by then. Trained in the
    order in which they were admitted, the last of them is in update number `version + max_staleness` (from 0), and
    none of its steps is older than `version`: nothing is dropped. An episode that takes so long that others overtake it
    may be too old in the end; then it is dropped, and never trained on.
    """

    def __init__(self, batch: int, max_staleness: int, total_updates: float = math.inf) -> None:
        self.batch, self.total_updates = whole_number("batch", batch, at_least=1), total_updates
        self.max_staleness = whole_number("max_staleness", max_staleness, at_least=0)
        self.updates = self.version = 0
        self.under_way = self.training = 0  # episodes; those in the running update are under way, too
        self.asked = 0  # episodes that the trainer waits for

    @property
    def limit(self) -> int:
        """Episodes that may be under way. What the trainer waits for may begin in any case."""
        ahead = min(self.max_staleness + 1 - (self.updates - self.version), self.total_updates - self.updates)
        return max(int(ahead * self.batch), self.training + self.asked)

    def admit(self, size: int) -> bool:
        """May a group of this size begin? Then it counts from now on."""
        if self.under_way + size > self.limit:
            return False
        self.under_way += size
        return True

    def drop(self, size: int) -> None:
        """A group is not trained on, and makes room."""
        self.under_way -= size

    def train(self, size: int) -> None:
        """The next update learns from this group, too."""
        self.training += size

    def updated(self, version: int) -> None:
        """The update is done; generators have the weights of update `version` in all batches that begin from now on."""
        if not self.version <= version <= self.updates + 1:
            raise ConfigError(f"version must be from {self.version} to {self.updates + 1}; got {version}")
        self.updates, self.version = self.updates + 1, version
        self.under_way, self.training = self.under_way - self.training, 0

    def begin_at(self, updates: int) -> None:
        """A run that is resumed has this many updates behind it."""
        self.updates = self.version = updates

    def too_old(self, oldest: int) -> bool:
        """Can an episode whose oldest step has this version no longer be in the next update?"""
        return oldest < self.updates + (self.training > 0 and not self.asked) - self.max_staleness
