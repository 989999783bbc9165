"""A nano VLA folder for all tests of the networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vla import write_nano_vla


@pytest.fixture(scope="session")
def nano_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It knows no robot yet."""
    return write_nano_vla(tmp_path_factory.mktemp("vla") / "nano")
