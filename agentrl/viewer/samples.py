"""Sample episodes of a run, turn by turn: some of its first iteration and some of its last."""

from __future__ import annotations

import json
import logging
import os
import random
import re
from collections import deque
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.files import open_regular
from agentrl.core.html import details
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryReader, images_folder, picture_names
from agentrl.viewer.episode_strip import episode_strip

log = logging.getLogger(__name__)

NOT_DRAWN = '<p class="soft">No pictures were recorded; <code>agentrl report RUN --replay</code> draws them.</p>'
MAX_READ = 512  # trajectories of one file that are looked at
TAIL_BYTES = 32 << 20  # how far from the end of a long file the newest ones are looked for


def sample_sections(folder: Path, *, play_again: bool = False) -> list[tuple[str, list[str]]]:
    """(heading, episodes as HTML) for the first and the last iteration that left trajectories."""
    found = trajectory_files(folder / "trajectories")
    if not found:
        return []
    first, last = _group(found[0], newest=False), _group(found[-1], newest=True)
    same = found[0] == found[-1] and _version(first) == _version(last)
    groups = [("Episodes", last, found[-1])] if same else [
        ("Episodes of the first iteration", first, found[0]),
        ("Episodes of the last iteration", last, found[-1]),
    ]  # fmt: skip
    return [(title, _samples(held, images_folder(path), play_again)) for title, held, path in groups if held]


def trajectory_files(folder: Path) -> list[Path]:
    """The files of a run in order of their numbers; evaluations only where there is nothing else."""
    found = {path.stem: path for suffix in ("jsonl", "parquet") for path in sorted(folder.glob(f"*.{suffix}"))}
    trained = [path for stem, path in found.items() if not stem.startswith("eval")]
    return sorted(trained or found.values(), key=lambda path: _by_number(path.stem))


def _by_number(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _group(path: Path, *, newest: bool) -> list[Trajectory]:
    """The trajectories at one end of a file that the same weights played."""
    try:
        held = _last(path) if newest else _first(path)
    except AgentRLError as error:  # damaged, or parquet without its reader: the rest of the report is still there
        log.warning("no sample episodes: %s", error)
        return []
    version = _version(held[-1:] if newest else held[:1])
    return [trajectory for trajectory in held if _version([trajectory]) == version]


def _version(held: Sequence[Trajectory]) -> int | None:
    return next((step.version for trajectory in held for step in trajectory.steps), None)


def _first(path: Path) -> list[Trajectory]:
    return list(islice(TrajectoryReader(path), MAX_READ))


def _last(path: Path) -> list[Trajectory]:
    if path.suffix != ".jsonl":
        return list(deque(TrajectoryReader(path), maxlen=MAX_READ))
    try:
        with open_regular(path) as file:
            start = max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES)
            file.seek(start)
            lines = file.read().splitlines()[1 if start else 0 :]
    except OSError as error:
        raise ConfigError(f"cannot read trajectories: {error}") from error
    held = []
    for line in lines[-MAX_READ:]:
        try:
            held.append(Trajectory.from_json(json.loads(line)))
        except (ValueError, RecursionError):
            continue  # the half line of a run that was killed
    return held


# ---------------------------------------------------------------------- which ones


def choose(held: Sequence[Trajectory]) -> list[tuple[str, Trajectory]]:
    """The best, the worst and one at random, each only once; whole episodes with a known reward go first."""
    known = [(trajectory.reward, trajectory) for trajectory in held if trajectory.reward is not None]
    if not known:
        return [("one", held[0])] if held else []
    best, worst = max(known, key=lambda pair: pair[0])[1], min(known, key=lambda pair: pair[0])[1]
    chosen = [("best", best)] if worst is best else [("best", best), ("worst", worst)]
    others = [trajectory for _, trajectory in known if trajectory is not best and trajectory is not worst]
    return chosen + ([("at random", random.Random(0).choice(others))] if others else [])


def _samples(held: Sequence[Trajectory], images: Path, play_again: bool) -> list[str]:
    prompt = next((trajectory.system_prompt for trajectory in held if trajectory.system_prompt), "")
    told = [details("What the agent is told", prompt)] if prompt else []
    strips = [
        episode_strip(f"{name[:1].upper()}{name[1:]}", one, images, play_again=play_again) for name, one in choose(held)
    ]
    drawn = play_again or any(picture_names(trajectory) for trajectory in held)
    return told + strips + ([] if drawn else [NOT_DRAWN])
