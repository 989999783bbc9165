"""Loading and saving without progress bars: they would end up between the lines of a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars of transformers inside; afterwards as before."""
    from transformers.utils import logging

    before = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if before:
            logging.enable_progress_bar()
