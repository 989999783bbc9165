"""The page about a recipe: success at the start and after each stage, and the pages of its stages.

Made from the folder alone, at any moment. `agentrl demo` leaves two more files there, which the page shows: a film, and
how random play and the oracle do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentrl import __version__
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.core.html import data_url, page, safe, section, write_page
from agentrl.rollout.evaluate import Evaluation
from agentrl.viewer.canvas import chart_style
from agentrl.viewer.eval_report import bar_figure, results_table, short_name
from agentrl.viewer.findings import card, sharpening
from agentrl.viewer.run_data import Line, RunData, figure, interval, read_run

BASELINES, FILM = "baselines.json", "before_after.gif"
RATES = ("success", "reward_mean", "valid_rate", "format_rate", "effective_rate", "turns_mean", "truncated_rate")
Moments = dict[str, list[Line]]


def write_recipe_report(
    folder: Path, recipe: str, stages: Sequence[tuple[str, str]], *, title: str = "", intro: str = ""
) -> Path:
    """`report.html` in the folder of a recipe whose stages are (name, algorithm); `ConfigError` if none has begun."""
    runs = {name: read_run(folder / name) for name, _ in stages if (folder / name / "metrics.jsonl").is_file()}
    if not runs:
        raise ConfigError(f"no stage of the recipe in {str(folder)!r} has begun")
    moments = measured_moments(runs)
    lines = [line for lines in moments.values() for line in lines]
    results = list(_in_order(moments, _baselines(folder)))
    places = ", ".join(dict.fromkeys(short_name(result.id) for result in results))
    splits = " and ".join(dict.fromkeys(str(line.get("split")) for line in lines))
    notes = [card("note", *found) for found in _sharpened(moments)]
    shown = [bar_figure(results), *notes] if results else ["<p>Nothing was measured: eval_every is 0.</p>"]
    links = "".join(
        f'<li><a href="{safe(name)}/report.html">{safe(name)} ({safe(algorithm)})</a></li>'
        for name, algorithm in stages
        if (folder / name / "report.html").exists()
    )
    film = _read(folder / FILM)
    picture = f'<div class="card"><img src="{data_url(film, "gif")}" alt="two games of one level"></div>'
    sections = [
        section(f"Success on the {splits} split" if results else "Success", *shown),
        section("The same level, before and after the last stage", picture) if film.startswith(b"GIF8") else "",
        section("Curves and episodes of each stage", f"<ul>{links}</ul>") if links else "",
        section("Figures", results_table(results)) if results else "",
    ]
    footer = f"agentrl {__version__}, {sum(map(_seconds, runs.values())) / 60:.1f} minutes, recipe {recipe}."
    usual = "Success at the start and after each stage, with 95 % intervals."
    title = title or " in ".join(filter(None, (recipe, places)))
    html = page(title, intro or usual, [part for part in sections if part], footer, style=chart_style())
    return write_page(folder / "report.html", html)


def measured_moments(runs: Mapping[str, RunData]) -> Moments:
    """The evaluations at the start, and the last ones of each stage, by the name of the moment."""
    found: Moments = {}
    for name, run in runs.items():
        last = max((line["iteration"] for line in run.evals), default=0)
        if not found:
            found["start"] = [line for line in run.evals if line["iteration"] == 0]
        if last:
            ended = last == figure(run.config, "arguments", "iterations")
            moment = f"after {name}" if ended else f"{name}, iteration {last:.0f}"
            found[moment] = [line for line in run.evals if line["iteration"] == last]
    return {moment: lines for moment, lines in found.items() if lines}


def evaluation_of(name: str, line: Line) -> Evaluation:
    """A line of metrics as the result it was made from."""
    held: dict[str, Any] = {key: figure(line, key) for key in RATES}
    held |= {key: int(figure(line, key) or 0) for key in ("seed", "episodes", "faults")}
    held |= {key: interval(line, key) for key in ("success_ci", "reward_ci")}
    terms, metrics = (line.get(key) if isinstance(line.get(key), dict) else {} for key in ("reward_terms", "metrics"))
    held |= {"reward_terms": terms, "metrics": metrics, "seconds": figure(line, "seconds_total") or 0.0}
    return Evaluation(str(line.get("env_id")), None, name, str(line.get("split")), **held)


def write_baselines(folder: Path, baselines: Sequence[Evaluation]) -> None:
    """Keep how other policies do beside the stages, for the page."""
    lines = [{**one.to_json(), "env_id": one.id, "seconds_total": one.seconds} for one in baselines]
    write_atomically(folder / BASELINES, json.dumps(lines, indent=1).encode())


def _baselines(folder: Path) -> list[Evaluation]:
    try:
        lines = json.loads(_read(folder / BASELINES) or b"[]")
    except (ValueError, RecursionError):
        return []
    known = [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    return [evaluation_of(str(line.get("policy")), line) for line in known]


def _in_order(moments: Moments, baselines: Sequence[Evaluation]) -> Iterator[Evaluation]:
    """By environment; the first baseline (the floor) before the moments, the others after them."""
    for place in dict.fromkeys(str(line.get("env_id")) for lines in moments.values() for line in lines):
        beside = [one for one in baselines if one.id == place]
        yield from beside[:1]
        for moment, lines in moments.items():
            for line in lines:
                if str(line.get("env_id")) == place:
                    yield evaluation_of(f"{moment}, {'greedy' if line.get('greedy') else 'sampled'}", line)
        yield from beside[1:]


def _sharpened(moments: Moments) -> Iterator[tuple[str, str]]:
    """Environments where the last stage changed how the model plays and not what it would play at best."""
    if len(moments) < 3:  # the start and one stage: that was imitation, or began from somebody else's model
        return
    last = [[{**line, "iteration": at} for line in lines] for at, lines in enumerate(list(moments.values())[-2:])]
    ids = dict.fromkeys(str(line.get("env_id")) for line in last[-1])
    for place in ids:
        own = [line for lines in last for line in lines if str(line.get("env_id")) == place]
        played = ([line for line in own if bool(line.get("greedy")) is greedy] for greedy in (False, True))
        if found := sharpening(short_name(place) if len(ids) > 1 else "", *played):
            yield found


def _seconds(run: RunData) -> float:
    """Of all iterations and evaluations of a stage."""
    trained = sum(figure(line, "seconds", "total") or 0.0 for line in run.train)
    return trained + sum(figure(line, "seconds_total") or 0.0 for line in run.evals)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""
