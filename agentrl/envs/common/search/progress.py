"""A progress bar for building: some minutes at full size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentrl.envs.common.search.build import Progress

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def progress_bar(title: str = "search index", console: Console | None = None) -> Iterator[Progress]:
    """For `build_index(progress=...)`: a bar on standard error, or nothing where that is not a terminal."""
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
