"""The scorer that needs nothing from the user: ST-LPIPS where it is installed, else the classical mix."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentrl.core.specs import resolve
from agentrl.judges.similarity.scorer import Pair


def default_kind() -> str:
    """The kind "stlpips" where torch and the weights are installed, else "classical"; finding out imports nothing."""
    return "stlpips" if importlib.util.find_spec("torch") and stlpips_weights() else "classical"


class DefaultSimilarity:
    """Whichever of the two it is, chosen once: its `name` and its spec are those of the chosen one, so that its scores
    are never taken for the other's. The options of the network are for the network alone."""

    def __init__(self, *, device: str = "auto", threads: int | None = None, batch_size: int = 16) -> None:
        spec: dict[str, Any] = {"kind": default_kind(), "batch_size": batch_size}
        if spec["kind"] == "stlpips":
            spec |= {"device": device, "threads": threads}
        self.chosen: Any = resolve("scorer", spec)

    @property
    def name(self) -> str:
        """The name of the chosen scorer."""
        return self.chosen.name

    def score_pairs(self, pairs: Sequence[Pair]) -> list[float]:
        """What the chosen scorer says."""
        return self.chosen.score_pairs(pairs)

    def to_json(self) -> dict[str, Any]:
        """The spec of the chosen scorer: elsewhere, another might be chosen."""
        return self.chosen.to_json()


PACKAGE = "stlpips_pytorch"
INSIDE = Path("weights", "vST0.0", "alex_shift_tolerant.pth")


def stlpips_weights() -> Path | None:
    """The weight file inside the installed package; None where there is none."""
    found = importlib.util.find_spec(PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        if (path := Path(place) / INSIDE).is_file():
            return path
    return None
