"""One episode in a line: what its task was like, and how it went. Analyses of success are made from these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from agentrl.rollout.error_types import error_type, steps_needed
from agentrl.rollout.trajectory import Trajectory


@dataclass(frozen=True)
class EpisodeFacts:
    """`group`, `complexity` and `steps` are those of `AgentEnv.about_task`; `error` is a key of
    `agentrl.rollout.error_types.ERROR_TYPES`, None for a success and where the outcome is not known."""

    success: bool
    turns: int
    group: str | None = None
    complexity: int | None = None
    steps: int | None = None
    error: str | None = None

    @classmethod
    def of(cls, episode: Trajectory, success: bool | None = None) -> EpisodeFacts:
        """Read them off a record; `success` replaces the record's own where another evaluator decides."""
        about = episode.about
        group, complexity = about.get("group"), about.get("complexity")
        return cls(
            success=episode.success if success is None else success,
            turns=len(episode.steps),
            group=None if group is None else str(group),
            complexity=complexity if isinstance(complexity, int) else None,
            steps=steps_needed(about),
            error=error_type(episode, success),
        )


NAMES = tuple(field.name for field in fields(EpisodeFacts))


def to_columns(episodes: Sequence[EpisodeFacts | None]) -> dict[str, list[Any]]:
    """For a line of metrics: each field as a list, with None in the place of an episode that a fault ended. Fields
    that nothing is known of are left out."""
    rows = [asdict(one) if one is not None else {} for one in episodes]
    columns = {name: [row.get(name) for row in rows] for name in NAMES}
    return {name: column for name, column in columns.items() if any(value is not None for value in column)}


def from_columns(columns: Any) -> list[EpisodeFacts | None]:
    """Inverse of `to_columns`; an empty list for anything else: a file may hold whatever it likes."""
    if not isinstance(columns, Mapping) or not all(isinstance(columns.get(name, []), list) for name in NAMES):
        return []
    return [_episode(row) for row in _rows({name: columns[name] for name in NAMES if name in columns})]


def _rows(columns: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for place in range(max(map(len, columns.values()), default=0)):
        yield {name: column[place] for name, column in columns.items() if place < len(column)}


def _episode(row: Mapping[str, Any]) -> EpisodeFacts | None:
    if not isinstance(row.get("success"), bool) or not _whole(row.get("turns")):
        return None
    numbers = {name: row.get(name) if _whole(row.get(name)) else None for name in ("complexity", "steps")}
    texts = {name: row.get(name) if isinstance(row.get(name), str) else None for name in ("group", "error")}
    return EpisodeFacts(row["success"], row["turns"], **numbers, **texts)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
