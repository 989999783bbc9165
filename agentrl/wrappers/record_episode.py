"""`RecordEpisode`: each episode as a GIF, an MP4 or a self-contained HTML page."""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike
from PIL import Image

from agentrl.core.arguments import whole_number
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.gif import encode_gif, same_size
from agentrl.core.html import data_url, number_signed, page, safe
from agentrl.wrappers.base import AgentWrapper, StepResult, clean_text

log = logging.getLogger(__name__)

FORMATS = ("gif", "mp4", "html")
MAX_CHARS = 20_000  # of one text on the page
# Letters, digits, dash, underscore and inner dots: nothing that any file system reads as a path.
NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")
LAST_FRAME_SECONDS = 2.0  # the result stays on the screen for a moment
STYLE = """
.moment { display: grid; grid-template-columns: 13rem 1fr; gap: 1.2rem; padding: 1rem 0; }
.moment { border-top: 1px solid var(--line); }
.moment > div { min-width: 0; }
.moment h2 { font-size: .95rem; margin: 0 0 .5rem; }
.moment img { width: 100%; height: auto; border-radius: 6px; image-rendering: pixelated; }
.moment pre { margin: 0 0 .6rem; unicode-bidi: isolate; max-height: 24rem; overflow: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: 0 0 .8rem; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { .moment { grid-template-columns: 1fr; } }
"""


class RecordEpisode(AgentWrapper):
    """Writes one set of files for every `every`-th episode into `folder`; `files` lists what was written.

    Files appear whole or not at all when an episode ends, is reset or closed half-way, and never replace older ones: a
    name that is taken gets a number at its end. A folder that cannot be written to any more is logged and does not stop
    the episode. GIF and HTML need nothing further; MP4 needs the extra `record`.
    """

    memory = ("_pages", "_number", "_recording", "_facts")

    def __init__(
        self,
        env: gym.Env,
        folder: str | os.PathLike[str],
        formats: Sequence[str] = ("gif", "html"),
        every: int = 1,
        name: str = "episode",
    ) -> None:
        folder = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
        super().__init__(env, folder=folder, formats=formats, every=every, name=name)
        if env.render_mode != "rgb_array":
            raise ConfigError(
                f"RecordEpisode needs gym.make(id, render_mode='rgb_array'); got render_mode={env.render_mode!r}"
            )
        if not isinstance(formats, (list, tuple)) or not formats or not all(kind in FORMATS for kind in formats):
            raise ConfigError(f"formats must be a list of some of {', '.join(FORMATS)}; got {formats!r}")
        if "mp4" in formats:
            require_mp4()
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ConfigError(
                f"name must be up to 100 letters, digits, dots, dashes and underscores (no path); got {name!r}"
            )
        self.formats, self.name = tuple(dict.fromkeys(formats)), name
        self.every = whole_number("every", every, at_least=1)
        if not isinstance(folder, str) or not folder or "\0" in folder:
            raise ConfigError(f"folder must be the path of a folder; got {folder!r}")
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"folder {folder!r} cannot be created: {error}") from error
        self.files: list[Path] = []
        self._pages: list[dict[str, Any]] = []
        self._facts: dict[str, Any] = {}
        self._number = -1  # of the present episode
        self._recording = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Write an episode that was cut short, then start the next."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._write()
        self._number += 1
        self._recording = self._number % self.every == 0
        if self._recording:
            title = self.unwrapped.spec.id if self.unwrapped.spec else type(self.unwrapped).__name__
            self._facts = {"environment": title, "task": _show(info.get("task", "")), "seed": seed}
            self._pages = [self._page(obs, None, None, info, {})]
        return obs, info

    def step(self, action: Any) -> StepResult:
        """Add the turn; write the files when it is the last one."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self._recording:
            end = {"terminated": terminated or None, "truncated": truncated or None}
            self._pages.append(self._page(obs, action, float(reward), info, end))
            if terminated or truncated:
                self._write()
        return obs, reward, terminated, truncated, info

    def close(self) -> None:
        """Write what there is, then close the environment."""
        try:
            self._write()
        finally:
            super().close()

    # ------------------------------------------------------------------ what is kept

    def _page(
        self, obs: Any, action: Any, reward: float | None, info: dict[str, Any], end: dict[str, Any]
    ) -> dict[str, Any]:
        # Pictures are kept as PNG: a tenth of the memory, and small enough for a snapshot.
        said = {} if action is None else {key: info.get(key) for key in ("success", "valid", "effective", "format")}
        return {
            "png": encode_png(np.ascontiguousarray(self.env.render())),
            "text": _show(obs["text"]) if isinstance(obs, dict) and "text" in obs else "",
            "action": None if action is None else _show(action),
            "reward": reward,
            "terms": {str(name): float(value) for name, value in info.get("reward_terms", {}).items()},
            "feedback": _show(info.get("feedback", "")),
            "flags": {name: value if value is None else bool(value) for name, value in {**said, **end}.items()},
        }

    # ------------------------------------------------------------------ files

    def _write(self) -> None:
        pages, self._pages, self._recording = self._pages, [], False
        if len(pages) < 2:  # no action was taken
            return
        try:
            base = stem = f"{self.name}-{self._number:06d}"
            attempt = 1
            while any((self.folder / f"{stem}.{kind}").exists() for kind in FORMATS):
                attempt += 1
                stem = f"{base}-{attempt}"
            for kind in self.formats:
                path = self.folder / f"{stem}.{kind}"
                write_atomically(path, self._encode(kind, stem, pages))
                self.files.append(path)
        except OSError as error:
            log.warning("cannot write the recording of episode %d to %s: %s", self._number, self.folder, error)

    def _encode(self, kind: str, stem: str, pages: list[dict[str, Any]]) -> bytes:
        if kind == "html":
            total = {"turns": len(pages) - 1, "total reward": number_signed(sum(page["reward"] for page in pages[1:]))}
            return episode_page(stem, {**self._facts, **total}, pages).encode("utf-8")
        # A turn of several actions takes a second to follow; single actions run at the environment's own pace.
        several = getattr(self.unwrapped, "max_actions_per_turn", 1) > 1
        fps = 1.0 if several else float(self.metadata.get("render_fps") or 4)
        return {"gif": gif, "mp4": mp4}[kind]([page["png"] for page in pages], fps)


def _show(value: Any) -> str:
    """Anything as text that a page and a snapshot can hold."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            value = str(value) if isinstance(value, (np.ndarray, np.generic)) else f"<{type(value).__name__}>"
    return clean_text(value, MAX_CHARS)


# ---------------------------------------------------------------------- one episode as an HTML page


def episode_page(title: str, facts: Mapping[str, Any], moments: Sequence[Mapping[str, Any]]) -> str:
    """The HTML of an episode: `facts` at the top, then a section for each moment."""
    sections = [_facts(facts), *(_moment(number, moment) for number, moment in enumerate(moments))]
    return page(title, "", sections, style=STYLE)


def _moment(number: int, moment: Mapping[str, Any]) -> str:
    if moment["action"] is None:
        heading, action, facts = "Start", "", {}
    else:
        heading, action = f"Turn {number}", _text("action", moment["action"])
        terms = ", ".join(f"{name} {number_signed(value)}" for name, value in moment["terms"].items())
        facts = {"reward": number_signed(moment["reward"]), "terms": terms}
    facts |= {"feedback": moment["feedback"], **moment["flags"]}
    return (
        f'<section class="moment"><div><img alt="{heading}" src="{data_url(moment["png"])}"></div>\n'
        f"<div><h2>{heading}</h2>{action}{_text('observation', moment['text'])}{_facts(facts)}</div></section>"
    )


def _text(kind: str, text: str) -> str:
    # The line break after <pre> is not part of the text; without it a text's own first one would be swallowed.
    return f'<pre class="{kind}">\n{safe(text, None)}</pre>' if text else ""


def _facts(facts: Mapping[str, Any]) -> str:
    rows = []
    for name, value in facts.items():
        if isinstance(value, bool):
            say, colour = ("yes", "gain") if value else ("no", "loss")
            rows.append(f'<dt>{safe(str(name))}</dt><dd class="{colour}">{say}</dd>')
        elif value is not None and value != "":
            rows.append(f"<dt>{safe(str(name))}</dt><dd>{safe(str(value))}</dd>")
    return f"<dl>{''.join(rows)}</dl>" if rows else ""


# ---------------------------------------------------------------------- frames to moving pictures


def require_mp4() -> None:
    """`MissingExtra` unless MP4 can be written here; called before the first episode, not after it."""
    if any(importlib.util.find_spec(module) is None for module in ("imageio", "imageio_ffmpeg")):
        raise MissingExtra("imageio[ffmpeg]", "record")


def encode_png(picture: np.ndarray) -> bytes:
    """A uint8 picture as PNG."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()


def decode_png(data: bytes) -> Image.Image:
    """The picture back, in RGB."""
    return Image.open(io.BytesIO(data)).convert("RGB")


def gif(frames: Sequence[bytes], fps: float) -> bytes:
    """PNG frames as a looping GIF."""
    return encode_gif([decode_png(frame) for frame in frames], 1 / fps, LAST_FRAME_SECONDS)


def mp4(frames: Sequence[bytes], fps: float) -> bytes:
    """PNG frames as H.264 in MP4."""
    require_mp4()
    import imageio.v2 as imageio

    pictures = same_size([decode_png(frame) for frame in frames])
    arrays: list[ArrayLike] = []
    for picture in map(np.asarray, pictures):
        # The last row or column twice where needed: common players want even sizes.
        arrays.append(np.pad(picture, ((0, picture.shape[0] % 2), (0, picture.shape[1] % 2), (0, 0)), mode="edge"))
    arrays += [arrays[-1]] * max(0, round(fps * LAST_FRAME_SECONDS) - 1)
    with TemporaryDirectory() as folder:  # ffmpeg writes to a name, not to memory
        path = Path(folder) / "film.mp4"
        imageio.mimwrite(path, arrays, fps=fps, macro_block_size=1, ffmpeg_log_level="error")
        return path.read_bytes()
