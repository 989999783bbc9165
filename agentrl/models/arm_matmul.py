"""Matrix products of small models on ARM processors: several times quicker without oneDNN."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quick_products(model: Any) -> Iterator[None]:
    """Inside, torch multiplies float32 matrices without oneDNN if `model` is on an ARM processor; else nothing changes.

    There oneDNN prepares the weights anew in every call, about 0.7 ms each: at 64 rows of a tiny model that is most of
    a forward pass, and large products gain nothing from it. A trainer puts forward *and* backward passes inside.
    """
    import torch

    slow = model.device.type == "cpu" and model.dtype == torch.float32 and platform.machine() in ("aarch64", "arm64")
    before = torch.backends.mkldnn.enabled
    if slow and before:
        torch.backends.mkldnn.set_flags(_enabled=False)
    try:
        yield
    finally:
        if slow and before:
            torch.backends.mkldnn.set_flags(_enabled=True)
