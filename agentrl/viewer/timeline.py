"""What simulators, generators and the trainer of an asynchronous run did: a timeline of its last updates, how busy each
was, what waited, how large batches were and how old the episodes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from agentrl.core.files import read_regular
from agentrl.core.html import safe, section
from agentrl.viewer.canvas import Look, chart_svg, legend, nice_ticks, plot_top, tick_text
from agentrl.viewer.charts import Bar, Bars, grouped_bars, line_chart, stacked_bars
from agentrl.viewer.layout import charts, in_two_sizes, wide
from agentrl.viewer.run_data import Line, RunData, figure, series

log = logging.getLogger(__name__)

TIMELINE = "timeline.json"
GROUPS = ("simulators", "generators", "trainer")
UPDATES = 4  # that a timeline shows
ROWS = 8  # of one group
LEFT, RIGHT, ROW, GAP = 96.0, 14.0, 15, 5


class Timeline(msgspec.Struct):
    """As a run writes it: spans are group, worker, begin, end and size; updates are second and iteration."""

    workers: dict[str, int]
    spans: list[tuple[str, int, float, float, int]]
    updates: list[tuple[float, int]]
    processes: int = 1  # of the run; it is the main one's


def async_section(run: RunData) -> str:
    """The part of the page about it; "" for a synchronous run."""
    lines = [line for line in run.train if isinstance(line.get("async"), dict)]
    if not lines:
        return ""
    timeline = read_timeline(run.folder / TIMELINE)
    busy = [series(lines, group, ("async", "utilisation", group), i) for i, group in enumerate(GROUPS)]
    waiting = [series(lines, name, ("async", "queue", name), i) for i, name in enumerate(("mean", "max"))]
    drawn = [
        in_two_sizes(partial(line_chart, busy), Look("Share of the time at work", limits=(0.0, 1.0), percent=True)),
        in_two_sizes(partial(line_chart, waiting), Look("Requests that wait for a generator", limits=(0.0, 0.0))),
        in_two_sizes(partial(staleness_bars, lines), Look("Episodes by their age in updates")),
        in_two_sizes(
            partial(batch_bars, lines), Look("Sizes of batches, all iterations", x_name="at most so many", percent=True)
        ),
    ]
    across = "" if timeline is None else in_two_sizes(partial(timeline_chart, timeline), wide("The last updates"))
    return section("Simulators, generators, trainer", charts(drawn, across=across))


def read_timeline(path: Path) -> Timeline | None:
    """The file of a run; None where there is none that can be read."""
    try:
        return msgspec.json.decode(read_regular(path), type=Timeline)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.info("no timeline: %s", error)
        return None


def staleness_bars(lines: Sequence[Line], look: Look) -> str:
    """How many episodes of each iteration were how old; dropped ones on top."""
    ages = sorted({age for line in lines for age in counts(line, "staleness")})
    layers = {
        f"{age} updates" if age - 1 else "1 update": [float(counts(line, "staleness").get(age, 0)) for line in lines]
        for age in ages
    }
    dropped = [figure(line, "async", "dropped_episodes") or 0.0 for line in lines]
    return stacked_bars([line["iteration"] for line in lines], layers | {"dropped": dropped}, look)


def batch_bars(lines: Sequence[Line], look: Look) -> str:
    """How many batches of the generators and calls of the simulators were how large; sizes in powers of two."""
    found = [sizes(lines, f"{group}_batches") for group in ("generator", "simulator")]
    bounds = sorted({bound for one in found for bound in one})
    names = ("requests of a batch", "slots of a call")
    bars = [
        Bars(name, [Bar(one[bound] / max(1, sum(one.values()))) for bound in bounds], colour)
        for colour, (name, one) in enumerate(zip(names, found, strict=True))
    ]
    return grouped_bars([str(bound) for bound in bounds], bars, look) if bounds else ""


def sizes(lines: Iterable[Line], name: str) -> Counter[int]:
    """How often a size up to 1, 2, 4, 8 ... occurred."""
    found = Counter[int]()
    for line in lines:
        for size, count in counts(line, name).items():
            found[1 << max(0, size - 1).bit_length()] += count
    return found


def counts(line: Line, name: str) -> dict[int, int]:
    """A histogram of the metrics; what is no number in it is left out."""
    told: Any = line["async"].get(name)
    items = told.items() if isinstance(told, dict) else ()
    return {int(key): int(value) for key, value in items if str(key).isdecimal() and isinstance(value, int)}


# ---------------------------------------------------------------------- the timeline


def timeline_chart(timeline: Timeline, look: Look) -> str:
    """A row for each worker: coloured while it works. Lines are the ends of updates."""
    marks = [at for at, _ in timeline.updates][-UPDATES - 1 :]
    spans = [span for span in timeline.spans if len(marks) <= UPDATES or span[3] >= marks[0]]
    if not spans:
        return ""
    begin = marks[0] if len(marks) > UPDATES else min(span[2] for span in spans)
    end = max([*marks, *(span[3] for span in spans)])
    rows = [(group, n) for group in GROUPS for n in range(min(ROWS, timeline.workers.get(group, 0)))]
    signs, count = legend([(group, colour, False) for colour, group in enumerate(GROUPS)], look)
    top = plot_top(count)
    scale = (look.width - LEFT - RIGHT) / max(end - begin, 1e-9)
    x = lambda at: LEFT + (min(max(at, begin), end) - begin) * scale  # noqa: E731
    parts = [signs]
    for place, (group, worker) in enumerate(rows):
        y, colour = top + place * (ROW + GAP), GROUPS.index(group)
        name = f"{group.removesuffix('s')} {worker}" if timeline.workers[group] > 1 else group.removesuffix("s")
        parts.append(f'<text class="tick" x="{LEFT - 7}" y="{y + 12}" text-anchor="end">{safe(name)}</text>')
        for low, high in merged([s for s in spans if s[:2] == (group, worker)], 0.5 / scale):
            place_of = f'x="{x(low):.1f}" y="{y}" width="{max(0.6, x(high) - x(low)):.1f}" height="{ROW}"'
            parts.append(f'<rect class="fill c{colour}" {place_of}/>')
    floor = top + len(rows) * (ROW + GAP)
    for at, iteration in timeline.updates:
        if begin <= at <= end:
            line = f'<line class="alarm-line" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{top - 4}" y2="{floor}">'
            parts.append(f"{line}<title>update {iteration} is done</title></line>")
    for tick in nice_ticks(begin, end, about=max(2, look.width // 110)):
        parts.append(f'<text class="tick" x="{x(tick):.1f}" y="{floor + 14}" text-anchor="middle">')
        parts.append(f"{tick_text(tick)} s</text>")
    height = int(floor + 24)
    return chart_svg(Look(look.title, look.width, height), "".join(parts))


def merged(spans: Sequence[tuple[str, int, float, float, int]], gap: float) -> list[tuple[float, float]]:
    """Begin and end of the spans of one worker; what no eye can tell apart is one."""
    found: list[tuple[float, float]] = []
    for _, _, begin, end, _ in sorted(spans, key=lambda span: span[2]):
        if found and begin - found[-1][1] < gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
