"""A progress bar for building: some minutes at full size."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentrl.envs.common.search.build import Progress

if TYPE_CHECKING:
    from rich.console import Console


def _import_rich() -> None:
    """For the first time, without moving the user's random numbers: rich draws one from the global generator."""
    state = random.getstate()
    try:
        import rich.progress  # noqa: F401
    finally:
        random.setstate(state)


@contextmanager
def progress_bar(title: str = "search index", console: Console | None = None) -> Iterator[Progress]:
    """For `build_index(progress=...)`: a bar on standard error, or nothing where that is not a terminal."""
    _import_rich()
    import rich.console
    import rich.progress

    console = console or rich.console.Console(stderr=True)
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeRemainingColumn(),
    )
    with rich.progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            bar.update(task, description=f"{title}: {stage}", completed=done, total=total)

        yield show
