"""The window of `render_mode="human"`: pygame, with SDL's dummy screen where there is none."""

from __future__ import annotations

import os
import sys

import numpy as np

from agentrl.core.errors import MissingExtra


class Window:
    """Shows pictures one after the other at a steady pace."""

    def __init__(self, title: str) -> None:
        headless = sys.platform.startswith("linux") and not (
            os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        )
        if headless:
            os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError as error:
            raise MissingExtra("pygame", "human") from error
        self._pygame = pygame
        self._title = title
        self._screen: pygame.Surface | None = None
        self._clock = pygame.time.Clock()
        self._headless = os.environ.get("SDL_VIDEODRIVER") == "dummy"

    def show(self, picture: np.ndarray, fps: int) -> None:
        """Put a picture on the screen; waits for the frame rate only where there is a screen."""
        pygame = self._pygame
        size = (picture.shape[1], picture.shape[0])
        if self._screen is None or self._screen.get_size() != size:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen = pygame.display.set_mode(size)
        self._screen.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        if not self._headless:
            self._clock.tick(fps)

    def close(self) -> None:
        """Take the window down."""
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None
