"""`agentrl export lerobot FILE ...`: saved episodes as a data set of another library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.lerobot import write_lerobot
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import with_pictures


@dataclass(kw_only=True)
class Arguments(Common):
    """Write episodes of continuous control as a LeRobotDataset (v3), from trajectory files such as `agentrl eval
    --output` keeps: the oracle's, a person's (--policy human) or any other policy's.

    Pictures lie in the data set as they lay in the observation: play with --env-kwargs '{"protocol": "lerobot"}' for
    those that lerobot's policies know.
    """

    format: Annotated[tyro.conf.Positional[Literal["lerobot"]], tyro.conf.arg(metavar="lerobot")]
    """What to write."""
    files: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="FILE ...")]
    """Trajectory files, .jsonl or .parquet, with their images folder beside them."""
    output: Path
    """A new folder for the data set."""
    fps: int | None = None
    """Actions a second; default: what the environment says."""
    failures: bool = False
    """Also write episodes that ended without success."""


def run(arguments: Arguments) -> int:
    """Write the data set and say what is in it."""
    if not arguments.files:
        raise ConfigError("name a file of trajectories, such as RUN/trajectories/NAME.jsonl")
    fps = None if arguments.fps is None else whole_number("--fps", arguments.fps, at_least=1)
    found = write_lerobot(arguments.output, _episodes(arguments.files), fps=fps, failures=arguments.failures)
    if arguments.json:
        print_json({"schema": 1, "format": arguments.format, "output": str(arguments.output), **found._asdict()})
    else:
        print(f"{arguments.output}: {found.episodes} episodes, {found.frames} frames, {found.tasks} tasks", end="")
        print(f"; {found.left_out} episodes left out" if found.left_out else "")
    return 0


def _episodes(files: tuple[str, ...]) -> Iterator[Trajectory]:
    for path in files:
        yield from with_pictures(path)
