"""The modes by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.webarena.browsing.view import View
from agentrl.envs.webarena.observing.accessibility import accessibility_tree
from agentrl.envs.webarena.observing.compact import compact_text
from agentrl.envs.webarena.observing.marked import marked_list, nothing
from agentrl.envs.webarena.observing.raw import raw_html
from agentrl.envs.webarena.observing.simplified import simplified_html

# Of each mode: how it writes a page, and whether tabs and address stand above it unless said otherwise.
MODES: dict[str, tuple[Callable[..., str], bool]] = {
    "simplified": (simplified_html, False),
    "accessibility": (accessibility_tree, True),
    "html": (raw_html, False),
    "compact": (compact_text, False),
    "marks": (marked_list, False),
    "none": (nothing, False),
}
BESIDE_PICTURES = ("marks", "none")  # say too little without a picture


def check_mode(name: Any) -> str:
    """The name of a mode; ConfigError for anything else."""
    if not isinstance(name, str) or name not in MODES:
        raise ConfigError(
            f"observation_mode must be one of {', '.join(MODES)}; got {name!r}.{did_you_mean(name, MODES)}"
        )
    return name


def observe(view: View, mode: str = "simplified", *, header: bool | None = None) -> str:
    """The page as text. Equal views, such as the start pages of many episodes, are written once."""
    default = MODES[mode][1]
    return _written(_Shown(view), mode, default if header is None else header)


class _Shown:
    """A view that equals every other one in which an agent would see the same."""

    def __init__(self, view: View) -> None:
        self.view = view
        contents = tuple(view.values.values())
        where = view.url, view.tabs, view.active, view.scroll, view.viewport
        self._facts = (view.root, contents, view.focused, where, view.status, view.error)
        self._hash = hash(self._facts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shown) and self._facts == other._facts


@lru_cache(maxsize=128)
def _written(shown: _Shown, mode: str, header: bool) -> str:
    return MODES[mode][0](shown.view, header=header)
