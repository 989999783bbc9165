"""The steps of an update: what they came to, and what becomes of one whose loss or gradient is not finite."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from agentrl.trainers.update.learner import Learner, NotFinite, TrainingFault

log = logging.getLogger(__name__)


class Steps:
    """Takes the optimiser steps of an update and keeps their metrics.

    A step that is `NotFinite` has changed nothing: it is left out with a warning, and the learner counts it. An update
    in which no step could be taken is a `TrainingFault`, since the next one would begin with the same weights.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.found: list[dict[str, float] | None] = []  # None where a step was left out
        self.fault: NotFinite | None = None  # the last

    def take(self, step: Callable[..., dict[str, float]], *given: Any) -> None:
        """One step: `step(*given)` tells its metrics."""
        try:
            self.found.append(step(*given))
        except NotFinite as fault:
            log.warning("a step was skipped: %s", fault)
            self.found.append(None)
            self.fault = fault
            self.learner.skipped_steps += 1

    def taken(self, first: int | None = None) -> list[dict[str, float]]:
        """The metrics of those (of the `first`) that were not left out."""
        found = [one for one in self.found[:first] if one is not None]
        if not found:
            what = f"none of the {len(self.found[:first])} steps of this update could be taken"
            raise TrainingFault(f"{what}: {self.fault}") from self.fault
        return found

    def means(self, first: int | None = None) -> dict[str, float]:
        """The mean of each metric over these."""
        found = self.taken(first)
        names = dict.fromkeys(name for one in found for name in one)
        return {name: sum(one.get(name, 0.0) for one in found) / len(found) for name in names}
