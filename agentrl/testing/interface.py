"""Checks of the Gymnasium side: the interface itself, observations, rendering, closing."""

from __future__ import annotations

import copy
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

from agentrl.testing.compare import digest, require_same, require_same_results
from agentrl.testing.report import CheckFailed, require
from agentrl.testing.subject import Result, Subject, base, episodes, retrace, start, trajectory

REQUIRED_MODES = ("rgb_array", "ansi", "human")
# Gymnasium's checker calls observations without bounds "probably" wrong, and leaves out this warning in its own tests:
# joint speeds and positions of a simulation have none.
NO_BOUNDS = re.compile(r"A Box observation space (minimum|maximum) value is -?infinity")


def check_gymnasium(subject: Subject) -> str:
    """Gymnasium's own checker passes without a single warning, in every render mode that can be shown here."""
    level = gym.logger.min_level
    gym.logger.min_level = gym.logger.WARN  # the caller may have silenced Gymnasium
    try:
        with subject.opened() as env, _no_screen(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bare = base(env)
            modes = _showable(bare)
            # On this instance only: the checker goes through these modes, each with a new environment.
            bare.metadata = {**bare.metadata, "render_modes": modes}
            gymnasium_check_env(bare)
    finally:
        gym.logger.min_level = level
    texts = [re.sub(r"\x1b\[[0-9;]*m", "", str(each.message)).removeprefix("WARN: ") for each in caught]
    messages = dict.fromkeys(text for text in texts if not NO_BOUNDS.match(text))
    require(not messages, "; ".join(messages))
    return f"no warnings; {_modes_shown(modes)}"


def check_spaces(subject: Subject) -> str:
    """Observations are in the space, and every call hands out objects that the environment never touches again."""
    seen = 0
    with subject.opened() as env:
        kept = []
        for result in episodes(env, subject.seed, subject.episodes):
            seen += 1
            where = f"observation {seen} (after {result.action!r:.80})"
            require(result.observation in env.observation_space, f"{where} is not in {env.observation_space}")
            kept.append((where, result, digest(result[1:])))
        for where, result, before in kept:
            require(digest(result[1:]) == before, f"{where} or its info changed after it had been returned")
    # Scribbling over what one environment returned must not change what it does next.
    with subject.opened() as clean, subject.opened() as scribbled:
        expected, found = trajectory(clean, subject.seed, subject.episodes), []
        for result in retrace(scribbled, expected, subject.seed):
            found.append(copy.deepcopy(result))
            _scribble(result.observation)
            _scribble(result.info)
        require_same_results(expected, found, "changing a returned observation or info changes the environment")
    return f"{seen} observations, all fresh"


def _scribble(value: Any) -> None:
    if isinstance(value, np.ndarray) and value.flags.writeable and value.dtype != object:
        value[...] = np.zeros((), value.dtype)
    elif isinstance(value, dict):
        for item in value.values():
            _scribble(item)
        value.clear()
    elif isinstance(value, list):
        for item in value:
            _scribble(item)
        value.clear()


def check_close(subject: Subject) -> str:
    """`close()` works twice: before the first reset, in the middle of an episode, and after rendering."""
    with subject.opened() as env:
        modes = _showable(env)
    with _no_screen():
        for mode in [None, *modes]:
            for begun in (False, True):
                env = subject.make(render_mode=mode)
                if begun:
                    start(env, seed=subject.seed)
                    if mode is not None:
                        env.render()
                env.close()
                try:
                    env.close()
                except Exception as error:
                    when = f"render_mode={mode!r}, {'after' if begun else 'before'} reset"
                    raise CheckFailed(f"the second close() raised {type(error).__name__}: {error} ({when})") from error
    return f"closed twice without rendering and in {_modes_shown(modes)}"


def check_rendering(subject: Subject) -> str:
    """Every render mode gives what its name says and changes nothing."""
    with subject.opened() as env:
        declared = env.metadata["render_modes"]
        for mode in REQUIRED_MODES:
            require(mode in declared, f"render mode {mode!r} is missing from metadata['render_modes'] = {declared}")
        modes = _showable(env)
        expected = trajectory(env, subject.seed, subject.episodes)
    with _no_screen():
        for mode in modes:
            with subject.opened(render_mode=mode) as env:
                _check_mode(env, mode, expected, subject.seed)
    return _modes_shown(modes)


def _check_mode(env: gym.Env, mode: str, expected: list[Result], seed: int) -> None:
    found = []
    for result in retrace(env, expected, seed):
        found.append(copy.deepcopy(result))
        before = base(env).state()
        picture: Any = env.render()
        array, kind = isinstance(picture, np.ndarray), type(picture).__name__
        if mode == "rgb_array":
            kind = f"{picture.dtype}{list(picture.shape)}" if array else kind
            fits = array and picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
            require(fits and picture.size > 0, f"rgb_array must be uint8 [height, width, 3]; got {kind}")
        elif mode == "ansi":
            require(isinstance(picture, str), f"ansi must be a str; got {kind}")
            picture.encode("utf-8")
        elif mode == "human":
            require(picture is None, f"human rendering must return None; got {kind}")
        if array:
            first = digest(picture)
            _scribble(picture)
            require(digest(env.render()) == first, f"rendering twice as {mode} gives two different pictures")
        require_same(before.to_json(), base(env).state().to_json(), f"rendering as {mode} changed the state")
    require_same_results(expected, found, f"rendering as {mode} changed what happened")


def _showable(env: gym.Env) -> list[str]:
    has_window = find_spec("pygame") is not None
    return [mode for mode in env.metadata["render_modes"] if mode != "human" or has_window]


def _modes_shown(modes: list[str]) -> str:
    return f"modes {', '.join(modes)}" + ("" if "human" in modes else " (human not tried: pygame is not installed)")


@contextmanager
def _no_screen() -> Iterator[None]:
    """Windows go to SDL's dummy screen: a check must not show windows."""
    before = os.environ.get("SDL_VIDEODRIVER")
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SDL_VIDEODRIVER"]
        else:
            os.environ["SDL_VIDEODRIVER"] = before
