"""The README is short where it should be, and names what exists; tests/docs/test_blocks.py runs its code."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def blocks(text: str) -> list[str]:
    """The Python blocks of a Markdown text, in order."""
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    """What stands under a heading of the second level."""
    return re.split(r"^## ", README.split(f"## {title}\n", 1)[1], flags=re.MULTILINE)[0]


def test_quick_start_is_short() -> None:
    (code,) = blocks(section("Quick start"))
    assert len(code.splitlines()) <= 10


def test_every_file_the_readme_points_at_exists() -> None:
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", README) if not t.startswith("http")]
    assert "docs/_static/worlds.png" in targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_every_environment_is_in_the_table() -> None:
    from agentrl.registry import TABLE

    named = {env_id for words in section("Environments").split("`") for env_id in spelled_out(words)}
    patterns = [re.escape(name).replace("<task>", "[a-z-]+") for name in named if "<task>" in name]
    assert [e.id for e in TABLE if e.id not in named and not any(re.fullmatch(p, e.id) for p in patterns)] == []


def spelled_out(words: str) -> list[str]:
    """`a{b,c}d` means abd and acd; `<task>` is left for every task of a family with many."""
    parts = [part.split(",") for part in re.split(r"[{}]", words)] if "{" in words else [[words]]
    return ["".join(choice) for choice in product(*parts)]
