"""Evaluations on a page: right figures, hostile names harmless."""

from __future__ import annotations

import re

import pytest

from agentrl.core.html import page
from agentrl.rollout.evaluate import Evaluation
from agentrl.viewer.eval_report import bar_figure, results_table, short_name
from tests.core.markup import HOSTILE, Tags


def evaluation(**changes) -> Evaluation:
    figures = {
        "id": "agentrl/Sokoban-Text-v0",
        "spec": None,
        "policy": "random",
        "split": "test",
        "seed": 0,
        "episodes": 10,
        "success": 0.8,
        "success_ci": (0.49, 0.943),
        "reward_mean": -0.25,
        "reward_ci": (-0.5, 0.0),
        "reward_terms": {},
        "valid_rate": 1.0,
        "format_rate": None,
        "effective_rate": 1.0,
        "turns_mean": 2.5,
        "truncated_rate": 0.0,
        "faults": 1,
        "seconds": 1.0,
    }
    return Evaluation(**{**figures, **changes})


def test_hostile_names_stay_text():
    result = evaluation(id=HOSTILE, policy=HOSTILE)
    tags = Tags(page("t", "i", [bar_figure([result]), results_table([result])]))
    assert not any(tag in ("script", "img") for tag, _ in tags.found)
    assert tags.text.count("<script>alert(1)</script>") == 2  # in the table; bars show the ends of long names


def test_the_whole_page_has_no_reference_to_the_outside():
    html = page("t", "i", [bar_figure([evaluation()]), results_table([evaluation()])])
    assert not re.search(r"(?:src|href)=\"(?!data:)", html)
    assert "http://" not in html and "https://" not in html


def test_the_table_shows_figures_with_their_intervals():
    text = Tags(results_table([evaluation()])).text
    assert "test" in text and "80.0 %" in text and "49.0 % to 94.3 %" in text
    assert "\u22120.25" in text and "\u22120.50 to 0.00" in text


def test_an_evaluation_without_figures_shows_dashes_and_no_bar():
    nothing = evaluation(
        success=None, success_ci=None, reward_mean=None, reward_ci=None, valid_rate=None, turns_mean=None
    )
    html = results_table([nothing])
    assert html.count('<td class="figure">-</td>') == 4 and "None" not in html
    figure = bar_figure([nothing])
    assert "no episode was scored" in figure and "<rect" not in figure


def test_bars_are_as_long_as_the_success_and_whiskers_span_the_interval():
    figure = bar_figure([evaluation(success=s, success_ci=(s / 2, s)) for s in (1.0, 0.5)])
    for html in figure.split('<div class="narrow">'):
        full, half = (float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', html))
        assert half == pytest.approx(full / 2)
        low, high = map(float, re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)', html)[0])
        assert high - low == pytest.approx(full / 2)
    assert re.findall(r'viewBox="0 0 (\d+) ', figure) == ["860", "340"]


@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        ("agentrl/Sokoban-Text-v0", "Sokoban Text"),
        ("Lake-v1", "Lake"),
        ("odd", "odd"),
        ("a/-v0", " v0"),
    ],
)
def test_names_as_people_say_them(env_id, name):
    assert short_name(env_id) == name
