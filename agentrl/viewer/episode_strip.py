"""One recorded episode as a film strip: picture, actions, reward and response of every turn."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.errors import ConfigError
from agentrl.core.html import details, number_signed, picture_url, safe
from agentrl.rollout.error_types import ERROR_TYPES, error_type
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import open_picture
from agentrl.viewer.control_charts import control_charts, is_control, spread
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
    return _strip(title, ending(trajectory), facts, frames, control_charts(trajectory) if control else "")


def ending(trajectory: Trajectory) -> tuple[str, str]:
    """How an episode ended, in words, and whether that is "good" or "bad"."""
    if trajectory.fault is not None:
        return f"fault: {trajectory.fault.get('kind', '')}", "bad"
    if trajectory.success:
        return "solved", "good"
    return ("out of turns" if trajectory.truncated else "lost"), "bad"


def failure(trajectory: Trajectory) -> list[str]:
    """The type of error of a failed episode, where it says more than the ending does."""
    kind = None if is_control(trajectory) else error_type(trajectory)
    return [] if kind is None or kind == "out_of_turns" else [ERROR_TYPES[kind]]


def _turn(number: int, step: Step, picture: np.ndarray | None) -> str:
    ran = step.info.get("actions")
    actions = ", ".join(map(str, ran)) if isinstance(ran, list) else str(step.action)
    said = step.action if step.response is None else step.response
    said = said if isinstance(said, str) else actions  # an array is shown as the environment spelt it
    owed = f'<span class="soft">pending: {safe(", ".join(step.pending))}</span>' if step.pending else ""
    body = f'<div class="action other"><b>{safe(actions or "nothing ran")}</b></div>'
    body += _reward_line(step.reward, step.reward_terms) + owed
    body += f"<pre>{safe(said)}</pre>" if said.strip() not in ("", actions) else ""
    seen = details("what it saw", step.observation) if step.observation else ""
    return _frame(f"Turn {number}", picture, "", body + seen)


def _strip(title: str, ending: tuple[str, str], facts: Sequence[str], frames: Sequence[str], below: str) -> str:
    """Frames in a row under a title; `ending` is how it ended and whether that is "good" or "bad"."""
    tags = f'<span class="tag {ending[1]}">{safe(ending[0])}</span>'
    tags += "".join(f'<span class="tag">{safe(fact)}</span>' for fact in facts)
    head = f'<div class="strip-head"><h3>{safe(title)}</h3>{tags}</div>'
    return f'<div class="card">{head}<ol class="strip">{"".join(frames)}</ol>{below}</div>'


def _reward_line(reward: float, terms: Mapping[str, float]) -> str:
    """A reward and the terms it is made of."""
    spelled = ", ".join(f"{safe(str(name))} {number_signed(value)}" for name, value in terms.items())
    mood = "gain" if reward > 0 else "loss" if reward < 0 else "soft"
    shown = f'<span class="{mood}">reward {number_signed(reward)}</span>'
    return f'<div>{shown}<br><span class="soft">{spelled}</span></div>'


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
