"""Parameters of which `make test` runs a part and `make test-all` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def only(some: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """The values as parameters; those that are not among `some` are long."""
    quick = set(some)
    return [pytest.param(value, marks=[] if value in quick else [pytest.mark.long]) for value in values]
