"""Evaluations on a page: a table of figures, and success as bars with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentrl.core.html import number, percent, safe
from agentrl.rollout.evaluate import Evaluation
from agentrl.rollout.statistics import Interval

# ---------------------------------------------------------------------- the table


def results_table(evaluations: Sequence[Evaluation]) -> str:
    """One row for each evaluation, intervals beside their figures."""
    head = ("environment", "policy"), ("success", "reward", "valid turns", "turns", "episodes", "faults", "seconds")
    names = "".join(f"<th>{name}</th>" for name in head[0]) + "".join(f'<th class="figure">{n}</th>' for n in head[1])
    rows = "\n".join(f"<tr>{_result_cells(result)}</tr>" for result in evaluations)
    return f'<div class="card wide"><table><thead><tr>{names}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'


def _result_cells(result: Evaluation) -> str:
    figures = (
        percent(result.success) + _range(result.success_ci, percent),
        number(result.reward_mean) + _range(result.reward_ci, number),
        percent(result.valid_rate),
        number(result.turns_mean),
        str(result.episodes),
        str(result.faults),
        f"{result.seconds:.1f}",
    )
    names = f"<td>{safe(result.id)}</td><td>{safe(result.policy)}</td>"
    return names + "".join(f'<td class="figure">{figure}</td>' for figure in figures)


def _range(bounds: Interval | None, show: Callable[[float], str]) -> str:
    return "" if bounds is None else f'<span class="range">{show(bounds[0])} to {show(bounds[1])}</span>'


# ---------------------------------------------------------------------- the bars

WIDTH, LABELS, BAR, ROW, GROUP = 860, 250, 16, 24, 18  # of the figure, in its own units
SCALE = WIDTH - LABELS - 130  # length of a full bar


def bar_figure(evaluations: Sequence[Evaluation]) -> str:
    """Success of every evaluation as a bar with its interval, environments in groups."""
    parts, y, previous = [], 28, None
    for result in evaluations:
        y += GROUP if previous not in (None, result.id) else 0
        parts.append(_bar(result, y, named=previous != result.id))
        previous, y = result.id, y + ROW
    grid = "".join(_grid_line(share, y) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    body = "\n".join(parts)
    label = "Success rate of each policy in each environment, with 95 % Wilson intervals"
    frame = f'viewBox="0 0 {WIDTH} {y + 8}" role="img" aria-label="{label}"'
    return f'<div class="card"><svg {frame}>{grid}\n{body}</svg></div>'


def _grid_line(share: float, bottom: int) -> str:
    x = LABELS + share * SCALE
    line = f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{bottom}"/>'
    return f'{line}<text class="soft" x="{x:.1f}" y="13" text-anchor="middle">{share:.0%}</text>'


def _bar(result: Evaluation, y: int, *, named: bool) -> str:
    middle, text_y = y + BAR / 2, y + BAR - 4
    name = f'<text x="0" y="{text_y}">{safe(short_name(result.id))}</text>' if named else ""
    who = f'<text class="soft" x="{LABELS - 12}" y="{text_y}" text-anchor="end">{safe(result.policy)}</text>'
    if result.success is None:
        return f'{name}{who}<text class="soft" x="{LABELS + 8}" y="{text_y}">no episode was scored</text>'
    length, end = result.success * SCALE, LABELS + result.success * SCALE
    place = f'x="{LABELS}" y="{y}" width="{max(length, 2):.1f}" height="{BAR}" rx="2"'
    bar = f'<rect class="{css_class(result.policy)}" {place}/>'
    whisker = ""
    if result.success_ci is not None:
        low, high = (LABELS + bound * SCALE for bound in result.success_ci)
        end = max(end, high)
        tips = f"M{low:.1f} {middle - 4}V{middle + 4}M{high:.1f} {middle - 4}V{middle + 4}"
        whisker = f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}{tips}"/>'
    return f'{name}{who}{bar}{whisker}<text x="{end + 10:.1f}" y="{text_y}">{percent(result.success)}</text>'


def short_name(env_id: str) -> str:
    """`agentrl/Sokoban-Text-v0` as people say it: Sokoban Text."""
    name = env_id.rpartition("/")[2]
    stem, _, version = name.rpartition("-")
    return (stem if version.startswith("v") and stem else name).replace("-", " ")


def css_class(policy: str) -> str:
    """The colour of a policy."""
    return policy if policy in ("random", "oracle") else "other"
