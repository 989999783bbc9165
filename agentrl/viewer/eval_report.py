"""Evaluations on a page: a table of figures, and success as bars with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentrl import __version__
from agentrl.core.html import number, page, percent, safe, section, write_page
from agentrl.rollout.evaluate import Evaluation
from agentrl.rollout.statistics import Interval
from agentrl.viewer.canvas import chart_style

# ---------------------------------------------------------------------- the page


def write_eval_report(
    path: Path, evaluations: Sequence[Evaluation], about: str, episodes: Mapping[tuple[str, str], str]
) -> Path:
    """A page about evaluations that were played alike, as `about` says in words; `episodes` are the addresses of pages
    about single episodes, by label and policy."""
    links = "".join(
        f'<li><a href="{safe(episodes[result.label, result.policy])}">{safe(short_name(result.label))}, '
        f"{safe(result.policy)}</a></li>"
        for result in evaluations
        if (path.parent / episodes[result.label, result.policy]).exists()
    )
    sections = [
        section("Success", bar_figure(evaluations)),
        section("Figures", results_table(evaluations)),
        section("The first episodes, turn by turn", f"<ul>{links}</ul>") if links else "",
    ]
    names = dict.fromkeys(short_name(result.label) for result in evaluations)
    title = f"Evaluation: {', '.join(names)}" if len(names) < 4 else f"Evaluation in {len(names)} environments"
    intro = f"{about} Success has Wilson's 95 % intervals, reward Student's t."
    html = page(title, intro, [part for part in sections if part], f"agentrl {__version__}.", style=chart_style())
    return write_page(path, html)


# ---------------------------------------------------------------------- the table


def results_table(evaluations: Sequence[Evaluation]) -> str:
    """One row for each evaluation, intervals beside their figures."""
    texts = ("environment", "policy", "split")
    columns = ("success", "reward", "valid turns", "turns", "episodes", "faults", "seconds")
    names = "".join(f"<th>{name}</th>" for name in texts) + "".join(f'<th class="figure">{n}</th>' for n in columns)
    lines = []
    for result in evaluations:
        figures = (
            percent(result.success) + _range(result.success_ci, percent),
            number(result.reward_mean) + _range(result.reward_ci, number),
            percent(result.valid_rate),
            number(result.turns_mean),
            str(result.episodes),
            str(result.faults),
            f"{result.seconds:.1f}",
        )
        cells = "".join(f"<td>{safe(text)}</td>" for text in (result.label, result.policy, result.split))
        cells += "".join(f'<td class="figure">{figure}</td>' for figure in figures)
        lines.append(f"<tr>{cells}</tr>")
    rows = "\n".join(lines)
    return f'<div class="card wide"><table><thead><tr>{names}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _range(bounds: Interval | None, show: Callable[[float], str]) -> str:
    return "" if bounds is None else f'<span class="range">{show(bounds[0])} to {show(bounds[1])}</span>'


# ---------------------------------------------------------------------- the bars

NAME = 30  # characters of a policy: of a long path, the end tells most
BAR, TEXT, GROUP = 16, 24, 18  # heights of a bar, a line of text, and the air between environments, in its own units


@dataclass(frozen=True)
class _Layout:
    """Names stand before their bars or, where the figure is narrow, above them."""

    width: int
    start: int  # where bars begin
    above: bool
    shares: tuple[float, ...]  # that have a line

    @property
    def scale(self) -> int:
        """The length of a full bar; the figure beside it needs room."""
        return self.width - self.start - 80


LARGE = _Layout(860, 250, above=False, shares=(0.0, 0.25, 0.5, 0.75, 1.0))
NARROW = _Layout(340, 14, above=True, shares=(0.0, 0.5, 1.0))


def bar_figure(evaluations: Sequence[Evaluation]) -> str:
    """Success of every evaluation as a bar with its interval, environments in groups; for large and small screens."""
    large, narrow = _bars(evaluations, LARGE), _bars(evaluations, NARROW)
    return f'<div class="card"><div class="large">{large}</div><div class="narrow">{narrow}</div></div>'


def _bars(evaluations: Sequence[Evaluation], layout: _Layout) -> str:
    parts, y, previous = [], 28, None
    for result in evaluations:
        if previous != result.label:
            y += GROUP if previous is not None else 0
            parts.append(f'<text x="0" y="{y + BAR - 4}">{safe(short_name(result.label))}</text>')
            y += TEXT
        shown = result.policy if len(result.policy) <= NAME else f"...{result.policy[3 - NAME :]}"
        place = f'x="{layout.start}"' if layout.above else f'x="{layout.start - 12}" text-anchor="end"'
        parts.append(f'<text class="soft" {place} y="{y + BAR - 4}">{safe(shown)}</text>')
        y += TEXT - 4 if layout.above else 0
        parts.append(_bar(result, y, layout))
        previous, y = result.label, y + TEXT
    grid = ""
    for share in layout.shares:
        x = layout.start + share * layout.scale
        grid += f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{y}"/>'
        grid += f'<text class="soft" x="{x:.1f}" y="13" text-anchor="middle">{share:.0%}</text>'
    body = "\n".join(parts)
    label = "Success rate of each policy in each environment, with 95 % Wilson intervals"
    frame = f'viewBox="0 0 {layout.width} {y + 8}" role="img" aria-label="{label}"'
    return f"<svg {frame}>{grid}\n{body}</svg>"


def _bar(result: Evaluation, y: int, layout: _Layout) -> str:
    middle, text_y, start = y + BAR / 2, y + BAR - 4, layout.start
    if result.success is None:
        return f'<text class="soft" x="{start + 8}" y="{text_y}">no episode was scored</text>'
    length, end = result.success * layout.scale, start + result.success * layout.scale
    place = f'x="{start}" y="{y}" width="{max(length, 2):.1f}" height="{BAR}" rx="2"'
    bar = f'<rect class="{css_class(result.policy)}" {place}/>'
    whisker = ""
    if result.success_ci is not None:
        low, high = (start + bound * layout.scale for bound in result.success_ci)
        end = max(end, high)
        tips = f"M{low:.1f} {middle - 4}V{middle + 4}M{high:.1f} {middle - 4}V{middle + 4}"
        whisker = f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}{tips}"/>'
    return f'{bar}{whisker}<text x="{end + 10:.1f}" y="{text_y}">{percent(result.success)}</text>'


def short_name(env_id: str) -> str:
    """`agentrl/Sokoban-Text-v0` as people say it: Sokoban Text."""
    name = env_id.rpartition("/")[2]
    stem, _, version = name.rpartition("-")
    return (stem if version.startswith("v") and stem else name).replace("-", " ")


def css_class(policy: str) -> str:
    """The colour of a policy."""
    return policy if policy in ("random", "oracle") else "other"
