"""A page about evaluations: figures, bars and film strips in one HTML file.

Everything an environment or a model wrote is escaped, and the page's own policy forbids scripts, outside resources
and any style but its own: hostile text can at worst look odd.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from agentrl.rollout.episode import EpisodeRecord, TurnRecord
from agentrl.rollout.evaluate import Evaluation
from agentrl.rollout.statistics import Interval

MAX_TEXT = 4000  # characters of one observation; a whole web page would drown the report


@cache
def style() -> str:
    """The page's one style sheet."""
    return "".join(_sheet(name) for name in ("colours", "style", "charts"))


def figure_style() -> str:
    """What a figure needs that stands alone."""
    return _sheet("colours") + _sheet("charts")


def _sheet(name: str) -> str:
    return files("agentrl.viewer").joinpath(f"{name}.css").read_text(encoding="utf-8")


def page(title: str, intro: str, sections: Sequence[str], footer: str = "") -> str:
    """The whole document. `title`, `intro` and `footer` are plain text; `sections` are HTML from this module."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{safe(title)}</title>
<style>{style()}</style>
</head>
<body>
<main>
<h1>{safe(title)}</h1>
<p class="soft">{safe(intro)}</p>
{chr(10).join(sections)}
<footer>{safe(footer)}</footer>
</main>
</body>
</html>
"""


def section(title: str, *content: str) -> str:
    """A headed part of the page; `content` is HTML."""
    return f"<section>\n<h2>{safe(title)}</h2>\n" + "\n".join(content) + "\n</section>"


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


def _range(bounds: Interval | None, show: Any) -> str:
    return "" if bounds is None else f'<span class="range">{show(bounds[0])} to {show(bounds[1])}</span>'


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def number(value: float | None) -> str:
    """Two decimals and a real minus sign; a dash where there is none."""
    return "-" if value is None else f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


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


# ---------------------------------------------------------------------- the film strips


def filmstrip(title: str, policy: str, episode: EpisodeRecord) -> str:
    """An episode from left to right: picture, text, action and reward of every turn, then the end."""
    frames = [_turn_frame(number, turn, policy) for number, turn in enumerate(episode.turns, 1)]
    end = frame("End", episode.final_picture, episode.final_text, "")
    ending, mood = (
        ("solved", "good") if episode.success else ("out of turns", "bad") if episode.truncated else ("lost", "bad")
    )
    total = "reward pending" if episode.reward is None else f"reward {number_signed(episode.reward)}"
    return strip(title, (ending, mood), (total, f"seed {episode.seed}"), [*frames, end])


def strip(title: str, ending: tuple[str, str], facts: Sequence[str], frames: Sequence[str]) -> str:
    """Frames in a row under a title; `ending` is how it ended and whether that is "good" or "bad"."""
    tags = f'<span class="tag {ending[1]}">{safe(ending[0])}</span>'
    tags += "".join(f'<span class="tag">{safe(fact)}</span>' for fact in facts)
    head = f'<div class="strip-head"><h3>{safe(title)}</h3>{tags}</div>'
    return f'<div class="card">{head}<ol class="strip">{"".join(frames)}</ol></div>'


def _turn_frame(number: int, turn: TurnRecord, policy: str) -> str:
    actions = ", ".join(map(str, turn.info.get("actions", []))) or "nothing ran"
    shown = turn.action if isinstance(turn.action, str) else actions
    body = (
        f'<div class="action {css_class(policy)}"><b>{safe(shown)}</b></div>'
        f"{reward_line(turn.reward, turn.info.get('reward_terms', {}))}"
    )
    return frame(f"Turn {number}", turn.picture, turn.text, body)


def reward_line(reward: float, terms: Mapping[str, float]) -> str:
    """A reward and the terms it is made of."""
    spelled = ", ".join(f"{safe(str(name))} {number_signed(value)}" for name, value in terms.items())
    mood = "gain" if reward > 0 else "loss" if reward < 0 else "soft"
    shown = f'<span class="{mood}">reward {number_signed(reward)}</span>'
    return f'<div>{shown}<br><span class="soft">{spelled}</span></div>'


def frame(label: str, picture: np.ndarray | None, text: str, body: str) -> str:
    """One moment of an episode: its picture, `body` (HTML), the text."""
    image = "" if picture is None else f'<img src="{picture_uri(picture)}" alt="{safe(label)}">'
    said = f"<pre>{safe(text)}</pre>" if text else ""
    return f'<li class="frame"><span class="soft">{safe(label)}</span>{image}{body}{said}</li>'


def details(summary: str, text: str) -> str:
    """Text that opens on a click."""
    return f"<details><summary>{safe(summary)}</summary><pre>{safe(text)}</pre></details>"


def safe(text: str) -> str:
    """Text of any origin, as HTML that shows it and does nothing else."""
    return escape(clip(text))


def clip(text: str) -> str:
    """No more of a text than a page can bear, and none of the characters HTML cannot hold."""
    text = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ... ({len(text) - MAX_TEXT} more characters)"
    held = (char if char in "\n\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return "".join(held)


def number_signed(value: float) -> str:
    """+1.5 or -0.1, with a real minus sign."""
    return f"{value:+.4g}".replace("-", "\N{MINUS SIGN}")


def picture_uri(picture: np.ndarray) -> str:
    """A picture as a PNG inside the page."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
