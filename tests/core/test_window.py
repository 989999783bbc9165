"""The window of `render_mode="human"`: works without a screen, and says what is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from counter_env import CounterEnv

from agentrl.core.errors import MissingExtra
from agentrl.core.window import Window


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_human_environment_draws_every_turn_without_a_screen():
    import pygame

    env = CounterEnv(render_mode="human")
    env.reset(seed=0, options={"task": "0"})
    env.step("inc, inc")
    assert pygame.display.get_surface().get_at((4, 4))[:3] == (2, 2, 2)
    env.close()
    env.close()
    assert not pygame.display.get_init()
    env.step("inc")  # a closed window opens again when there is something to show
    assert pygame.display.get_surface().get_at((4, 4))[:3] == (3, 3, 3)
    env.close()


def test_rows_and_columns_are_not_swapped_and_the_window_takes_the_pictures_size():
    import pygame

    window = Window("test")
    picture = np.zeros((10, 20, 3), np.uint8)
    picture[2, 15] = (255, 0, 0)
    window.show(picture, 4)
    assert pygame.display.get_surface().get_size() == (20, 10)
    assert pygame.display.get_surface().get_at((15, 2))[:3] == (255, 0, 0)
    window.show(np.zeros((30, 30, 3), np.uint8), 4)
    assert pygame.display.get_surface().get_size() == (30, 30)
    window.close()


def test_a_missing_pygame_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    env = CounterEnv(render_mode="human")
    with pytest.raises(MissingExtra, match=r"agentrl-suite\[human\]"):
        env.reset(seed=0)
