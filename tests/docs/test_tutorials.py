"""Tutorials are short, and the index names each."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs" / "tutorials").glob("*.md"))}
INDEX = PAGES.pop("index")


@pytest.mark.parametrize("name", PAGES)
def test_tutorials_are_short_and_listed(name: str) -> None:
    assert len(PAGES[name].splitlines()) <= 110
    assert f"{{doc}}`{name}`" in INDEX and f"\n{name}\n" in INDEX.split("{toctree}")[1]
