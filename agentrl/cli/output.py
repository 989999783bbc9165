"""Output of the commands: results on stdout, everything else on stderr, progress bars only on a terminal."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentrl.policies.human import printable

Advance = Callable[..., None]  # advance() or advance(count)
SECONDS_BETWEEN_LINES = 10.0


def print_json(value: Any) -> None:
    """One object on one line of stdout."""
    print(json.dumps(value, allow_nan=False), flush=True)  # a program may wait for the address of a server that runs on


def log(text: str) -> None:
    """A line on stderr, apart from the results."""
    print(text, file=sys.stderr, flush=True)


def console() -> Console:
    """Rich's console on stdout; as wide as needed where it is not a terminal, so that nothing is cut."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """A table of plain text: cells are shown as they are, never read as markup."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(printable(str(cell))) for cell in row))
    console().print(table)


def verdict(good: bool, text: str | None = None) -> Text:
    """pass or FAIL, coloured."""
    return Text(text or ("pass" if good else "FAIL"), style="green" if good else "bold red")


@contextlib.contextmanager
def progress(label: str, total: int, note: Callable[[], str] = str) -> Iterator[Advance]:
    """A bar on a terminal, a line every ten seconds elsewhere, whether or not anything is done by then; call what it
    gives for things done. `note` says what else has happened."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as Left

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Left())
        with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task(label, total=total)
            yield lambda count=1: bars.update(task, advance=count, description=f"{label} {note()}".rstrip())
        return
    printer = _LinePrinter(label, total, note)
    teller = threading.Thread(target=printer.tell_now_and_then, daemon=True)
    teller.start()
    try:
        yield printer
    finally:
        printer.over.set()
        teller.join()


class _LinePrinter:
    def __init__(self, label: str, total: int, note: Callable[[], str]) -> None:
        self._label, self._total, self._note, self._done = label, total, note, 0
        self._started = self._first = time.monotonic()
        self._before = 0  # done when the first was
        self.over = threading.Event()

    def __call__(self, count: int = 1) -> None:
        self._done += count
        if not self._before:
            self._first, self._before = time.monotonic(), self._done
        if self._done == self._total:
            self.tell()

    def tell_now_and_then(self) -> None:
        while not self.over.wait(SECONDS_BETWEEN_LINES):
            self.tell()

    def tell(self) -> None:
        now, note = time.monotonic(), self._note()
        # The first takes as long as everything that is loaded for it: it says nothing about the others.
        later, rest = self._done - self._before, self._total - self._done
        left = f", about {(now - self._first) / later * rest:.0f} s left" if later and rest else ""
        further = f", {note}" if note else ""
        log(f"{self._label}: {self._done}/{self._total}{further}, {now - self._started:.1f} s{left}")


@contextlib.contextmanager
def waiting(text: str) -> Iterator[None]:
    """A spinner on a terminal while something takes long, for example the first levels of a game."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(text):
        yield


def number(value: float | None, digits: int = 3) -> str:
    """A figure for a table; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def interval(bounds: Sequence[float] | None, digits: int = 3) -> str:
    """`[low, high]` for a table."""
    return "-" if bounds is None else f"[{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]"
