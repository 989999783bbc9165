"""`RecordEpisode`: each episode as a GIF, an MP4 or a self-contained HTML page."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.html import number_signed
from agentrl.wrappers.base import AgentWrapper, StepResult, clean_text
from agentrl.wrappers.episode_page import episode_page
from agentrl.wrappers.film import encode_png, gif, mp4, require_mp4

log = logging.getLogger(__name__)

FORMATS = ("gif", "mp4", "html")
MAX_CHARS = 20_000  # of one text on the page
# Letters, digits, dash, underscore and inner dots: nothing that any file system reads as a path.
NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")


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
        self.formats, self.name = _check_formats(formats), _check_name(name)
        self.every = whole_number("every", every, at_least=1)
        self.folder = _make_folder(folder)
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
            self._facts = {"environment": self._title(), "task": _show(info.get("task", "")), "seed": seed}
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

    def _title(self) -> str:
        return self.unwrapped.spec.id if self.unwrapped.spec else type(self.unwrapped).__name__

    # ------------------------------------------------------------------ files

    def _write(self) -> None:
        pages, self._pages, self._recording = self._pages, [], False
        if len(pages) < 2:  # no action was taken
            return
        try:
            stem = self._free_stem()
            for kind in self.formats:
                path = self.folder / f"{stem}.{kind}"
                write_atomically(path, self._encode(kind, stem, pages))
                self.files.append(path)
        except OSError as error:
            log.warning("cannot write the recording of episode %d to %s: %s", self._number, self.folder, error)

    def _free_stem(self) -> str:
        stem = f"{self.name}-{self._number:06d}"
        attempt, candidate = 1, stem
        while any((self.folder / f"{candidate}.{kind}").exists() for kind in FORMATS):
            attempt += 1
            candidate = f"{stem}-{attempt}"
        return candidate

    def _encode(self, kind: str, stem: str, pages: list[dict[str, Any]]) -> bytes:
        frames = [page["png"] for page in pages]
        if kind == "html":
            total = {"turns": len(pages) - 1, "total reward": number_signed(sum(page["reward"] for page in pages[1:]))}
            return episode_page(stem, {**self._facts, **total}, pages).encode("utf-8")
        return {"gif": gif, "mp4": mp4}[kind](frames, self._fps())

    def _fps(self) -> float:
        """A turn of several actions takes a second to follow; single actions run at the environment's own pace."""
        several = getattr(self.unwrapped, "max_actions_per_turn", 1) > 1
        return 1.0 if several else float(self.metadata.get("render_fps") or 4)


def _show(value: Any) -> str:
    """Anything as text that a page and a snapshot can hold."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            value = str(value) if isinstance(value, (np.ndarray, np.generic)) else f"<{type(value).__name__}>"
    return clean_text(value, MAX_CHARS)


def _check_formats(formats: Any) -> tuple[str, ...]:
    fits = isinstance(formats, (list, tuple)) and formats and all(kind in FORMATS for kind in formats)
    if not fits:
        raise ConfigError(f"formats must be a list of some of {', '.join(FORMATS)}; got {formats!r}")
    if "mp4" in formats:
        require_mp4()
    return tuple(dict.fromkeys(formats))


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConfigError(
            f"name must be up to 100 letters, digits, dots, dashes and underscores (no path); got {name!r}"
        )
    return name


def _make_folder(folder: Any) -> Path:
    if not isinstance(folder, str) or not folder or "\0" in folder:
        raise ConfigError(f"folder must be the path of a folder; got {folder!r}")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"folder {folder!r} cannot be created: {error}") from error
    return path
