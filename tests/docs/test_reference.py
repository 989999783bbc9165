"""The API reference names what there is, and docstrings reach it as they were meant."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import agentrl.adapters
from agentrl.core.specs import _TABLE
from agentrl.policies import KINDS
from agentrl.registry import parts
from docs.markdown_docstrings import to_rst

PAGES = {path.stem: path.read_text() for path in (Path(__file__).parents[2] / "docs" / "reference").glob("*.md")}
TEXT = "\n".join(PAGES.values())


def names(page: str) -> list[str]:
    """Every object that a page documents by its full name, with the module it stands under."""
    found, module = [], ""
    for directive, name in re.findall(r"^\.\. (automodule|currentmodule|autoclass|autofunction):: (\S+)", page, re.M):
        if directive in ("automodule", "currentmodule"):
            module = name
        else:
            found.append(name if name.startswith("agentrl.") else f"{module}.{name}")
    return found


NAMES = [name for page in PAGES.values() for name in names(page)]


@pytest.mark.parametrize("name", NAMES)
def test_everything_in_the_reference_exists_and_is_documented(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert getattr(importlib.import_module(module), attribute).__doc__


def test_nothing_is_documented_twice() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_every_policy_judge_adapter_and_public_name_is_in_the_reference() -> None:
    scripted = parts("policies")
    targets = [kind.path for name, kind in KINDS.items() if name not in scripted]
    targets += [entry.target for entry in _TABLE["judge"].values()]
    assert [target for target in targets if target.replace(":", ".") not in NAMES] == []
    modules = [f"agentrl.adapters.{module.name}" for module in pkgutil.iter_modules(agentrl.adapters.__path__)]
    assert [module for module in modules if f"automodule:: {module}" not in TEXT] == []
    public = [name for name in agentrl.__all__ if name not in ("ConfigError", "__version__", "testing")]
    assert [name for name in public if f"agentrl.{name}" not in NAMES] == []


@pytest.mark.parametrize(
    ("markdown", "rst"),
    [
        ("Takes `a` or\n`b_`; c_ too.", "Takes ``a`` or\n``b_``; c\\_ too."),
        ("Some `Step`s | one_word", "Some ``Step``\\ s \\| one_word"),
        (
            "So:\n\n    x = 1\n\n    y = `2`\n\nDone.",
            "So:\n\n.. code-block:: python\n\n   x = 1\n\n   y = `2`\n\nDone.",
        ),
        ("```bash\nls\n\nls\n```\nDone.", ".. code-block:: bash\n\n   ls\n\n   ls\n\nDone."),
        ("Such:\n- a\n  b\n- c", "Such:\n\n- a\n  b\n- c"),
        ("## Rewards\n\nOne.", "**Rewards**\n\nOne."),
        ("", ""),
    ],
)
def test_docstrings_become_restructured_text(markdown: str, rst: str) -> None:
    assert to_rst(markdown).strip() == rst
