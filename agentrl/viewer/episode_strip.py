"""One recorded episode as a film strip: picture, actions, reward and response of every turn."""

from __future__ import annotations

import json
import logging
import math
import os
import random
import re
from collections import deque
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.files import open_regular
from agentrl.core.html import details, number_signed, picture_url, safe
from agentrl.rollout.error_types import ERROR_TYPES, error_type, named_ending
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import TrajectoryReader, images_folder, open_picture, picture_names
from agentrl.viewer.canvas import COLOURS, Look
from agentrl.viewer.charts import Series, line_chart
from agentrl.viewer.replay import replay

log = logging.getLogger(__name__)

MAX_TURNS = 12  # shown of one episode
MAX_PICTURE = 1 << 22  # pixels


def episode_strip(
    title: str, trajectory: Trajectory, images: Path, *, play_again: bool = False, most_turns: int = MAX_TURNS
) -> str:
    """An episode from left to right: picture, actions, reward and response of every turn, then the end.

    With `play_again` an episode without pictures is played once more to draw them. Of continuous control, whose turns
    are a fraction of a second, some moments from the whole episode are shown, over the course of all actions.
    """
    pictures = _pictures(trajectory, images, play_again)
    steps, control = trajectory.steps, is_control(trajectory)
    turns = spread(len(steps), MAX_TURNS) if control else range(min(len(steps), most_turns))
    frames = [_turn(turn + 1, steps[turn], pictures[turn]) for turn in turns]
    if len(steps) > len(turns):
        frames.append(_frame(f"{len(steps) - len(turns)} more turns", None, "", ""))
    frames.append(_frame("End", pictures[-1], trajectory.final_observation, ""))
    total = "reward not known" if trajectory.reward is None else f"reward {number_signed(trajectory.reward)}"
    facts = [*failure(trajectory), total, *([trajectory.env_id] if trajectory.env_id else [])]
    facts.append(f"seed {trajectory.seed}")
    end, mood = ending(trajectory)
    tags = f'<span class="tag {mood}">{safe(end)}</span>'
    tags += "".join(f'<span class="tag">{safe(fact)}</span>' for fact in facts)
    head = f'<div class="strip-head"><h3>{safe(title)}</h3>{tags}</div>'
    below = control_charts(trajectory) if control else ""
    return f'<div class="card">{head}<ol class="strip">{"".join(frames)}</ol>{below}</div>'


def ending(trajectory: Trajectory) -> tuple[str, str]:
    """How an episode ended, in words, and whether that is "good" or "bad"."""
    if trajectory.fault is not None:
        return f"fault: {trajectory.fault.get('kind', '')}", "bad"
    if trajectory.success:
        return "solved", "good"
    return named_ending(trajectory) or ("out of turns" if trajectory.truncated else "lost"), "bad"


def failure(trajectory: Trajectory) -> list[str]:
    """The type of error of a failed episode, where it says more than the ending does."""
    kind = None if is_control(trajectory) else error_type(trajectory)
    said = kind == "out_of_turns" or (kind == "wrong_end" and named_ending(trajectory))
    return [] if kind is None or said else [ERROR_TYPES[kind]]


def _turn(number: int, step: Step, picture: np.ndarray | None) -> str:
    ran = step.info.get("actions")
    actions = ", ".join(map(str, ran)) if isinstance(ran, list) else str(step.action)
    said = step.action if step.response is None else step.response
    said = said if isinstance(said, str) else actions  # an array is shown as the environment spelt it
    body = f'<div class="action other"><b>{safe(actions or "nothing ran")}</b></div>'
    mood = "gain" if step.reward > 0 else "loss" if step.reward < 0 else "soft"
    reward = f'<span class="{mood}">reward {number_signed(step.reward)}</span>'
    terms = ", ".join(f"{safe(str(name))} {number_signed(value)}" for name, value in step.reward_terms.items())
    body += f'<div>{reward}<br><span class="soft">{terms}</span></div>'
    body += f'<span class="soft">pending: {safe(", ".join(step.pending))}</span>' if step.pending else ""
    body += f"<pre>{safe(said)}</pre>" if said.strip() not in ("", actions) else ""
    seen = details("what it saw", step.observation) if step.observation else ""
    return _frame(f"Turn {number}", picture, "", body + seen)


def _frame(label: str, picture: np.ndarray | None, text: str, body: str) -> str:
    """One moment of an episode: its picture, `body` (HTML), the text."""
    image = "" if picture is None else f'<img src="{picture_url(picture)}" alt="{safe(label)}">'
    said = f"<pre>{safe(text)}</pre>" if text else ""
    return f'<li class="frame"><span class="soft">{safe(label)}</span>{image}{body}{said}</li>'


# ---------------------------------------------------------------------- its pictures


def _pictures(trajectory: Trajectory, images: Path, play_again: bool) -> list[np.ndarray | None]:
    """One for each turn and one for the end: as recorded, or drawn by playing the episode again."""
    named = [*(step.images for step in trajectory.steps), trajectory.final_images]
    if any(named):
        return [_stored(images, names[0]) if names else None for names in named]
    scenes = replay(trajectory) if play_again else None
    return [None] * len(named) if scenes is None else [scene.picture for scene in scenes]


def _stored(images: Path, name: Any) -> np.ndarray | None:
    try:
        with open_picture(images, name) as picture:
            if picture.width * picture.height > MAX_PICTURE:
                return None
            return np.asarray(picture.convert("RGB"))
    except (ConfigError, OSError, ValueError, Image.DecompressionBombError) as error:
        log.warning("a picture is missing: %s", error)
        return None


# ---------------------------------------------------------------------- continuous control


def is_control(trajectory: Trajectory) -> bool:
    """Are the actions of this episode arrays?"""
    return any(isinstance(step.action, list) for step in trajectory.steps)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` places, evenly spread, the first among them."""
    return list(range(count)) if count <= most else [round(place * count / most) for place in range(most)]


def control_charts(trajectory: Trajectory) -> str:
    """Two charts over the control steps; empty where a record has nothing that can be drawn."""
    actions: list[Any] = []
    for step in trajectory.steps:
        ran = step.info.get("ran")
        if isinstance(step.action, list) and step.action and isinstance(step.action[0], list):  # rows of a chunk
            actions += step.action[: ran if isinstance(ran, int) else None]
        else:
            actions.append(step.action)
    proprio = [*(step.proprio for step in trajectory.steps), trajectory.final_proprio]
    charts = [_chart("Actions", "control step", actions), _chart("Proprioception", "turn", proprio)]
    drawn = "".join(chart for chart in charts if chart)
    return f'<div class="charts">{drawn}</div>' if drawn else ""


def _chart(title: str, over: str, rows: Sequence[Any]) -> str:
    """A line for each of the numbers, as far as there are colours; rows that are not numbers leave a gap."""
    kept = [
        (place, row)
        for place, row in enumerate(rows)
        if isinstance(row, list) and all(isinstance(value, (int, float)) and math.isfinite(value) for value in row)
    ]
    width = max((len(row) for _, row in kept), default=0)
    lines = [
        Series(f"{number}", [(place, float(row[number])) for place, row in kept if number < len(row)], colour=number)
        for number in range(min(width, COLOURS))
    ]
    said = title if width <= COLOURS else f"{title} (the first {COLOURS} of {width} numbers)"
    return line_chart(lines, Look(said, height=240, x_name=over))


# ---------------------------------------------------------------------- samples of a run

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
    parts = {path: re.split(r"(\d+)", path.stem) for path in trained or found.values()}
    return sorted(parts, key=lambda path: [(int(one), "") if one.isdigit() else (-1, one) for one in parts[path]])


def _group(path: Path, *, newest: bool) -> list[Trajectory]:
    """The trajectories at one end of a file that the same weights played."""
    try:
        held = _last(path) if newest else list(islice(TrajectoryReader(path), MAX_READ))
    except AgentRLError as error:  # damaged, or parquet without its reader: the rest of the report is still there
        log.warning("no sample episodes: %s", error)
        return []
    version = _version(held[-1:] if newest else held[:1])
    return [trajectory for trajectory in held if _version([trajectory]) == version]


def _version(held: Sequence[Trajectory]) -> int | None:
    return next((step.version for trajectory in held for step in trajectory.steps), None)


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
