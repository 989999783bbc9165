"""Recorded episodes as a GIF: what the policy did, action by action, with captions; side by side to compare."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.gif import PAPER, encode_gif
from agentrl.rollout.trajectory import Trajectory
from agentrl.viewer.replay import replay

INK, SOFT, GOOD, BAD = "#1d2228", "#5c6670", "#217a45", "#b3352c"
HEAD, FOOT, EDGE = 34, 52, 14  # pixels above, below and beside a picture
MAX_FRAMES = 200


@dataclass(frozen=True)
class _Panel:
    """What is to be seen of one episode at one moment."""

    picture: Image.Image
    title: str
    caption: str
    mood: str = INK


def episodes_gif(
    episodes: Mapping[str, Trajectory], path: str | os.PathLike[str], *, seconds: float = 0.7, size: int = 320
) -> Path:
    """Draw episodes side by side, each under its title, as an animated GIF; the shorter ones wait at their end.

    `seconds` is how long each action is seen, `size` how many pixels a world is wide and high at most. `ConfigError`
    where a world cannot be built again.
    """
    if finite_number("seconds", seconds) <= 0:
        raise ConfigError(f"seconds must be above 0; got {seconds!r}")
    films = [_panels(episode, title, size) for title, episode in episodes.items()]
    frames, shown = [], [film[0] for film in films]
    for moment in zip_longest(*films):
        shown = [new or old for new, old in zip(moment, shown, strict=True)]
        drawn = [_draw(panel) for panel in shown]
        frame, x = Image.new("RGB", (sum(each.width for each in drawn), max(each.height for each in drawn)), PAPER), 0
        for each in drawn:
            frame.paste(each, (x, 0))
            x += each.width
        frames.append(frame)
    try:
        write_atomically(Path(path), encode_gif(frames, seconds))
    except OSError as error:
        raise ConfigError(f"cannot write the GIF: {error}; choose another place") from error
    return Path(path)


def _panels(trajectory: Trajectory, title: str, size: int) -> list[_Panel]:
    whole_number("size", size, at_least=32, at_most=2048)
    scenes = replay(trajectory, each_action=True)
    if scenes is None:
        raise ConfigError(
            f"the episode {trajectory.id or '(no id)'} in {trajectory.env_id or 'an unknown environment'} cannot be "
            "played again, so there is nothing to draw"
        )
    panels, turn, ran = [], 0, list[str]()
    for number, scene in enumerate(scenes[:MAX_FRAMES]):
        image = Image.fromarray(np.ascontiguousarray(scene.picture)).convert("RGB")
        scale = size / max(image.size)
        method = Image.Resampling.NEAREST if scale >= 1 else Image.Resampling.LANCZOS  # small pixels stay sharp
        image = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))), method)
        caption = "start"
        if number:  # the actions of a turn so far: two equal ones in a row must look like two
            turn, ran = scene.turn, [*(ran if scene.turn == turn else []), scene.action]
            caption = f"turn {turn} of {len(trajectory.steps)}: {', '.join(ran)}"
        panels.append(_Panel(image, title, caption))
    end = "solved" if trajectory.success else "out of turns" if trajectory.truncated else "not solved"
    last = panels[-1]
    return [*panels, _Panel(last.picture, title, end, GOOD if trajectory.success else BAD)]


# ---------------------------------------------------------------------- drawing


def _draw(panel: _Panel) -> Image.Image:
    width = panel.picture.width + 2 * EDGE
    canvas = Image.new("RGB", (width, panel.picture.height + HEAD + FOOT), PAPER)
    canvas.paste(panel.picture, (EDGE, HEAD))
    pen = ImageDraw.Draw(canvas)
    _text(pen, (EDGE, 8), panel.title, 17, SOFT, panel.picture.width)
    _text(pen, (EDGE, HEAD + panel.picture.height + 12), panel.caption, 18, panel.mood, panel.picture.width)
    return canvas


def _text(pen: ImageDraw.ImageDraw, place: tuple[int, int], text: str, size: int, colour: str, room: int) -> None:
    """One line that fits: what is too long is cut, what cannot be shown is left out."""
    font = ImageFont.load_default(size=size)
    shown = "".join(char for char in " ".join(text.split()) if char.isprintable())[:200]
    whole = shown
    while shown and pen.textlength(shown if shown == whole else f"{shown}...", font=font) > room:
        shown = shown[:-1]
    pen.text(place, shown if shown == whole else f"{shown}...", fill=colour, font=font)
