"""Pages about the episodes of a trajectory file: an overview that links to every episode, and the episodes by turns.

Only reads: nothing that the file names is imported or run. One page of episodes is in memory at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.html import details, number, page, percent, safe, section, write_page
from agentrl.rollout.statistics import mean, share_interval
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.viewer.canvas import chart_style
from agentrl.viewer.episode_strip import ending, episode_strip
from agentrl.viewer.layout import facts_table
from agentrl.viewer.run_data import read_config
from agentrl.viewer.setting import Setting, of_episode, options_of

MAX_TURNS = 100  # shown of one episode
Played = tuple[Setting, str]  # where and how, and by whom


@dataclass(frozen=True)
class EpisodePages:
    """What was written, and how much of the file it shows."""

    overview: Path
    pages: int
    episodes: int
    more: bool  # the file holds further episodes
    damaged: int  # lines that could not be read


@dataclass(frozen=True)
class _Row:
    """What the overview says about an episode."""

    number: int
    place: str  # where its link leads
    ending: tuple[str, str]
    reward: float | None
    success: bool
    task: str | None
    about: Played
    cells: tuple[str, ...]


def write_episode_pages(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    first: int = 1,
    episodes: int = 200,
    per_page: int = 20,
    play_again: bool = False,
) -> EpisodePages:
    """Write pages about `episodes` episodes of a file, JSON lines or parquet, from the `first` on.

    They go into `folder`, by default `NAME-episodes` beside the file. `play_again` draws episodes without pictures by
    playing them once more (see `agentrl.viewer.replay`).
    """
    source = Path(path)
    target = source.with_name(f"{source.stem}-episodes") if folder is None else Path(folder)
    start = whole_number("first", first, at_least=1) - 1
    count = whole_number("episodes", episodes, at_least=1)
    size = whole_number("per_page", per_page, at_least=1)
    reader = TrajectoryReader(source)
    stream = iter(reader)
    held = batched(enumerate(islice(stream, start, start + count), start + 1), size)
    rows: list[_Row] = []
    written, batch = 0, next(held, None)
    while batch is not None:
        following = next(held, None)
        written += 1
        html = _page(source, batch, written, following is not None, reader.images, play_again)
        write_page(target / page_name(written), html)
        rows += [_row(number, trajectory, written) for number, trajectory in batch]
        batch = following
    if not rows:
        why = f": line {reader.damaged[0][0]}: {reader.damaged[0][1]}" if reader.damaged else ""
        raise ConfigError(f"{source} has no episode {start + 1}" if start else f"no trajectory in {source}{why}")
    more = next(stream, None) is not None
    overview = write_page(target / "index.html", _overview(source, rows, more, len(reader.damaged)))
    return EpisodePages(overview, written, len(rows), more, len(reader.damaged))


def batched(items: Iterable[tuple[int, Trajectory]], size: int) -> Iterator[list[tuple[int, Trajectory]]]:
    """Pieces of `size` items, the last one perhaps shorter."""
    stream = iter(items)
    return iter(lambda: list(islice(stream, size)), [])


def page_name(number: int) -> str:
    """The file of a page."""
    return f"page_{number}.html"


# ---------------------------------------------------------------------- a page of episodes


def _page(
    source: Path, batch: Sequence[tuple[int, Trajectory]], number: int, more: bool, images: Path, play_again: bool
) -> str:
    links = [("index.html", "all episodes")]
    links += [(page_name(number - 1), "previous page")] if number > 1 else []
    links += [(page_name(number + 1), "next page")] if more else []
    bar = '<p class="links">' + " ".join(f'<a href="{href}">{name}</a>' for href, name in links) + "</p>"
    played = [(of_episode(trajectory), trajectory.policy) for _, trajectory in batch]
    parts, told = [bar, facts_table(file_facts(source, played))], None
    for index, trajectory in batch:
        if trajectory.system_prompt and trajectory.system_prompt != told:
            told = trajectory.system_prompt
            parts.append(details("What the agent is told", told))
        strip = episode_strip(f"Episode {index}", trajectory, images, play_again=play_again, most_turns=MAX_TURNS)
        parts.append(f'<div id="episode-{index}">{strip}</div>')
    title = f"Episodes {batch[0][0]} to {batch[-1][0]}" if len(batch) > 1 else f"Episode {batch[0][0]}"
    return page(title, f"Page {number} of {source.name}.", [*parts, bar], style=chart_style())


# ---------------------------------------------------------------------- the overview


def _row(number: int, trajectory: Trajectory, page_number: int) -> _Row:
    seed = "" if trajectory.seed is None else str(trajectory.seed)
    return _Row(
        number,
        f"{page_name(page_number)}#episode-{number}",
        ending(trajectory),
        trajectory.reward,
        trajectory.success,
        trajectory.task_key,
        (of_episode(trajectory), trajectory.policy),
        (trajectory.env_id, trajectory.policy, trajectory.split or "", seed, str(len(trajectory.steps))),
    )


def _overview(source: Path, rows: Sequence[_Row], more: bool, damaged: int) -> str:
    scored = [row for row in rows if row.reward is not None]
    solved, tasks = sum(row.success for row in scored), len({row.task for row in rows})
    bounds = share_interval([row.success for row in scored], [row.task for row in scored])
    said = f"{len(rows):,} episodes" if len(rows) != 1 else "1 episode"
    said += f" of {tasks:,} task{'' if tasks == 1 else 's'}"
    if scored and bounds:
        said += f"; {percent(solved / len(scored))} solved (95 % interval {percent(bounds[0])} to {percent(bounds[1])}"
        said += ", plays of one task taken together)" if 1 < tasks < len(rows) else ")"
        said += f", mean reward {number(mean([row.reward for row in scored if row.reward is not None]))}"
    said += f"; {len(rows) - len(scored)} without a known reward" if len(scored) < len(rows) else ""
    said += ". The file holds more: see --first and --episodes." if more else "."
    said += f" {damaged} of its lines could not be read." if damaged else ""
    names = ("environment", "policy", "split", "seed", "turns")
    head = "<th>episode</th><th>end</th><th>reward</th>" + "".join(f"<th>{name}</th>" for name in names)
    lines = []
    for row in rows:
        mark = f'<span class="tag {row.ending[1]}">{safe(row.ending[0])}</span>'
        cells = f'<td><a href="{row.place}">{row.number}</a></td><td>{mark}</td><td>{safe(number(row.reward))}</td>'
        lines.append(f"<tr>{cells}{''.join(f'<td>{safe(cell, 120)}</td>' for cell in row.cells)}</tr>")
    body = "\n".join(lines)
    table = f'<div class="card wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    facts = facts_table(file_facts(source, [row.about for row in rows]))
    return page(source.name, said, [facts, section("Episodes", table)])


def file_facts(source: Path, played: Sequence[Played]) -> dict[str, str]:
    """Who played what; where the file is one of a run, what was trained there."""
    folder = source.resolve().parent
    path = folder.parent / "config.json"  # of a run; an evaluation has none
    config = read_config(path) if folder.name == "trajectories" and path.is_file() else {}
    settings = [vars(setting) | {"policy": policy} for setting, policy in played]
    told = {name: ", ".join(dict.fromkeys(one[name] for one in settings)) for name in settings[0]}
    return told | {"model": str(options_of(config).get("model") or ""), "algorithm": str(config.get("algorithm") or "")}
