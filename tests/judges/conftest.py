"""Judges in tests never read or write the user's own cache, and never see a real key."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
