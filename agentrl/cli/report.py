"""`agentrl report RUN|FILE ...`: the page about a training run or a recipe, pages about the episodes of a trajectory
file, or a comparison of several of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json
from agentrl.cli.training_plan import METRICS, PLAN, read_plan
from agentrl.core.errors import ConfigError
from agentrl.recipes import NAME
from agentrl.viewer.comparison import write_comparison
from agentrl.viewer.episode_pages import write_episode_pages
from agentrl.viewer.recipe_report import write_recipe_report
from agentrl.viewer.run_report import write_run_report


@dataclass(kw_only=True)
class Arguments(Common):
    """Of a run folder: write report.html with curves, some episodes and timing; works during the run too. Of the folder
    of a recipe: write that of every stage, and one that shows what each stage reached. Of a file of
    trajectories (.jsonl or .parquet): write pages to leaf through its episodes, turn by turn. Of several of them:
    compare held-out success by group, required steps, complexity and types of error.

    Only reads: nothing that the folder or the file names is imported or run.
    """

    paths: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN|FILE ...")]
    """The run folder, or a file such as RUN/trajectories/iteration_000001.parquet. Several are compared; NAME=RUN names
    one, and runs of the same name count together (seeds of one condition)."""
    replay: bool = False
    """Play episodes without pictures again to draw them, in environments that are registered here, with arguments that
    name no program, file, address or key; others are not drawn."""
    output: Path | None = None
    """Of a file: the folder of the pages. Of several: the page. Default: NAME-episodes beside the file, or
    comparison.html in the present folder."""
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
    paths = list(arguments.paths)
    if not paths:
        raise ConfigError("name a run folder or a file of trajectories; several are compared")
    if len(paths) > 1:
        return _compare(arguments, given)
    path = Path(paths[0])
    if path.is_dir():
        if given or arguments.output is not None:
            raise ConfigError("--output, --first, --episodes and --per-page are for a file of trajectories")
        write = write_stages if (path / PLAN).exists() else write_run_report
        return _say(arguments, write(path, play_again=arguments.replay))
    if not path.exists():
        raise ConfigError(f"{str(path)!r} does not exist; name a run folder or a file of trajectories")
    found = write_episode_pages(path, arguments.output, play_again=arguments.replay, **given)
    further = ", the file holds more" if found.more else ""
    facts = {"pages": found.pages, "episodes": found.episodes, "more": found.more, "damaged": found.damaged}
    return _say(arguments, found.overview, f" (episodes: {found.episodes}, pages: {found.pages}{further})", **facts)


def write_stages(folder: Path, *, play_again: bool) -> Path:
    """The page of every stage of a recipe that has begun, and that of the whole."""
    plan = read_plan(folder / PLAN)
    stages = plan.get("stages")
    named = [(one.get("name"), str(one.get("algorithm"))) for one in stages or [] if isinstance(one, dict)]
    found = [(name, algorithm) for name, algorithm in named if isinstance(name, str) and NAME.fullmatch(name)]
    if not isinstance(stages, list) or len(found) < len(stages):
        raise ConfigError(f"{folder / PLAN} is damaged: every stage must have a name")
    for name, _ in found:
        if (folder / name / METRICS).is_file():
            write_run_report(folder / name, play_again=play_again)
    return write_recipe_report(folder, str(plan.get("recipe", "")), found)


def _compare(arguments: Arguments, given: dict[str, int]) -> int:
    if given or arguments.replay:
        raise ConfigError("--replay, --first, --episodes and --per-page are for one run or file")
    sources = [named_source(text) for text in arguments.paths]
    return _say(arguments, write_comparison(sources, arguments.output or Path("comparison.html")))


def named_source(text: str) -> tuple[str, Path]:
    """NAME=PATH, or a path alone, which is called by its last part."""
    name, sign, path = text.partition("=")
    if sign and name and path and not Path(text).exists():
        return name, Path(path)
    return Path(text).resolve().name, Path(text)


def _say(arguments: Arguments, page: Path, further: str = "", **facts: Any) -> int:
    path = str(page.resolve())
    print_json({"schema": 1, "report": path, **facts}) if arguments.json else print(f"report: {path}{further}")
    return 0
