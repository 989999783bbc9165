"""The embedded sites at real addresses, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentrl.core.cache import cache_dir
from agentrl.envs.webarena.tasks.files import SETS, find_official
from benchmarks.webarena.ports import SitesOnPorts


@pytest.fixture(scope="module")
def sites() -> Iterator[SitesOnPorts]:
    with SitesOnPorts() as served:
        yield served


@pytest.fixture
def login_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A place of the test's own for logins, and none in memory."""
    from agentrl.envs.webarena.live import sites as live

    kept = cache_dir()
    monkeypatch.setattr(live, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(live, "_logins", {})
    assert kept != tmp_path
    return tmp_path / "webarena" / "logins"


@pytest.fixture
def official_file(request: pytest.FixtureRequest) -> str:
    """The name of the official tasks, where they are on this machine."""
    if find_official("lite") is None:
        reason = f"needs the official tasks: {SETS['lite'].command}"
        (pytest.fail if request.config.getoption("--require-all") else pytest.skip)(reason)
    return "webarena-lite"
