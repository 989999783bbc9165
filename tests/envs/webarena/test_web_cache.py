"""A cache without room, or one that cannot be written: an error that names the variable, and nothing left behind."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.sites import places

BUILD = places.base_file.__wrapped__  # without what this process knows already


def test_a_full_cache_names_the_variable_and_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        with pytest.raises(ConfigError, match=r"cannot write .*; point AGENTRL_CACHE to a folder with room"):
            BUILD("code")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_cannot_be_made_is_named_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="AGENTRL_CACHE"):
        BUILD("map")


def test_data_that_cannot_be_written_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BUILD("map")
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and allowed(path, mode))  # root may write all
    assert stat.S_ISREG(whole.stat().st_mode)
    with pytest.raises(ConfigError, match=r"is read-only.*AGENTRL_CACHE"):
        BUILD("map")
