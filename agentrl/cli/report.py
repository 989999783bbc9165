"""`agentrl report RUN|FILE`: the page about a training run, or pages about the episodes of a trajectory file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json
from agentrl.core.errors import ConfigError
from agentrl.viewer.episode_pages import write_episode_pages
from agentrl.viewer.run_report import write_run_report


@dataclass(kw_only=True)
class Arguments(Common):
    """Of a run folder: write report.html with curves, some episodes and timing; works during the run too. Of a file of
    trajectories (.jsonl or .parquet): write pages to leaf through its episodes, turn by turn.

    Only reads: nothing that the folder or the file names is imported or run.
    """

    path: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN|FILE")]
    """The run folder, or a file such as RUN/trajectories/iteration_000001.parquet."""
    replay: bool = False
    """Play episodes without pictures again to draw them. Builds the environments that the record names, and reads their
    data files: for runs you trust."""
    output: Path | None = None
    """Of a file: the folder of the pages. Default: NAME-episodes beside the file."""
    first: int | None = None
    """Of a file: the first episode to show. Default: 1."""
    episodes: int | None = None
    """Of a file: how many episodes to show. Default: 200."""
    per_page: int | None = None
    """Of a file: episodes on one page. Default: 20."""


def run(arguments: Arguments) -> int:
    """Write the page or the pages, say where they are."""
    options = {name: getattr(arguments, name) for name in ("first", "episodes", "per_page")}
    given = {name: value for name, value in options.items() if value is not None}
    if arguments.path.is_dir():
        if given or arguments.output is not None:
            raise ConfigError("--output, --first, --episodes and --per-page are for a file of trajectories")
        path = str(write_run_report(arguments.path, play_again=arguments.replay).resolve())
        print_json({"schema": 1, "report": path}) if arguments.json else print(f"report: {path}")
        return 0
    if not arguments.path.exists():
        raise ConfigError(f"{str(arguments.path)!r} does not exist; name a run folder or a file of trajectories")
    found = write_episode_pages(arguments.path, arguments.output, play_again=arguments.replay, **given)
    path = str(found.overview.resolve())
    if arguments.json:
        facts = {"pages": found.pages, "episodes": found.episodes, "more": found.more, "damaged": found.damaged}
        print_json({"schema": 1, "report": path, **facts})
    else:
        further = ", the file holds more" if found.more else ""
        print(f"report: {path} (episodes: {found.episodes}, pages: {found.pages}{further})")
    return 0
