"""The table of environments; `import agentrl` registers every row with Gymnasium."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One row: an id and where its class lives. Strings only, so that reading the table imports nothing."""

    id: str
    kind: str  # Grid, Text, Visual or "" where only one makes sense
    entry_point: str
    summary: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    vector_entry_point: str | None = None
    extra: str | None = None  # the optional dependency group it needs
    backend: str = "embedded"
    modules: tuple[str, ...] = ()  # what that extra must bring; tells whether it is available


def _grid_game(name: str, path: str, summary: str) -> list[Entry]:
    return [
        Entry(
            id=f"agentrl/{name}-{kind}-v0",
            kind=kind,
            entry_point=f"{path}:{name}Env",
            summary=summary,
            kwargs={"kind": kind.lower()},
            vector_entry_point=f"{path}:{name}VectorEnv" if kind == "Grid" else None,
        )
        for kind in ("Grid", "Text", "Visual")
    ]


TABLE: tuple[Entry, ...] = (
    *_grid_game("FrozenLake", "agentrl.envs.frozenlake", "Walk over a frozen lake to the goal."),
    *_grid_game("Sokoban", "agentrl.envs.sokoban", "Push every box onto a target."),
    Entry(
        id="agentrl/SVG-Visual-v0",
        kind="Visual",
        entry_point="agentrl.envs.svg.env:SVGEnv",
        summary="Write SVG code that draws the picture you see.",
        extra="svg",
        modules=("cairosvg",),
    ),
)


def find(env_id: str) -> Entry:
    """The row of an id (`ConfigError` with the nearest id if there is none)."""
    from agentrl.core.errors import ConfigError, did_you_mean

    for entry in TABLE:
        if entry.id == env_id:
            return entry
    raise ConfigError(f"no environment is called {env_id!r}.{did_you_mean(env_id, [e.id for e in TABLE])}")


def is_available(entry: Entry) -> bool:
    """Are the modules of the entry's extra installed?"""
    from importlib.util import find_spec

    return all(find_spec(module) is not None for module in entry.modules)


def register_all() -> None:
    """Tell Gymnasium about every row (again: harmless)."""
    from gymnasium.envs.registration import register, registry

    for entry in TABLE:
        if entry.id not in registry:
            register(
                id=entry.id,
                entry_point=entry.entry_point,
                vector_entry_point=entry.vector_entry_point,
                kwargs=dict(entry.kwargs),
            )
