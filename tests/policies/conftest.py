"""Policies in tests never see a real key or a real endpoint."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_real_endpoint(monkeypatch):
    """Whatever the person who runs the tests has set."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENTRL_SERVE_KEY"):
        monkeypatch.delenv(name, raising=False)
