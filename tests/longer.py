"""Parameters of which `make test` runs a part and `make test-all` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def only(some: Iterable[str], names: Iterable[str]) -> list[Any]:
    """The names as parameters; those that are not among `some` are long."""
    quick = set(some)
    return [pytest.param(name, marks=[] if name in quick else [pytest.mark.long]) for name in names]
