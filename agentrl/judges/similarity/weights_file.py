"""Where the weights of ST-LPIPS lie, found without importing torch or their package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGE = "stlpips_pytorch"
INSIDE = Path("weights", "vST0.0", "alex_shift_tolerant.pth")


def stlpips_weights() -> Path | None:
    """The weight file inside the installed package; None where there is none."""
    found = importlib.util.find_spec(PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        if (path := Path(place) / INSIDE).is_file():
            return path
    return None
