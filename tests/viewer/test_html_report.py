"""The report: right figures, hostile text harmless, nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from agentrl.rollout.episode import EpisodeRecord, TurnRecord
from agentrl.rollout.evaluate import Evaluation
from agentrl.viewer.report import (
    bar_figure,
    clip,
    details,
    filmstrip,
    number_signed,
    page,
    percent,
    picture_uri,
    results_table,
    section,
    short_name,
    style,
)

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'</pre></style>\x00\x1b[2J\u202e"


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


def episode(text="a lake", action="Up", picture=None, **changes) -> EpisodeRecord:
    info = {"reward_terms": {"step": -0.1, text: 1.0}, "actions": ["Up"], "success": True}
    turn = TurnRecord(text, picture, action, 0.9, info)
    ending = {"final_text": text, "final_picture": picture, "terminated": True, "truncated": False}
    return EpisodeRecord(**{"seed": 1, "turns": [turn], **ending, **changes})


class Tags(HTMLParser):
    """Every start tag with its attributes; complains about tags that do not close in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_hostile_text_stays_text_wherever_it_comes_from():
    picture = np.zeros((4, 4, 3), np.uint8)
    result = evaluation(id=HOSTILE, policy=HOSTILE)
    strip = filmstrip(HOSTILE, HOSTILE, episode(text=HOSTILE, action=HOSTILE, picture=picture))
    parts = [bar_figure([result]), results_table([result]), strip, details(HOSTILE, HOSTILE)]
    tags = Tags(page(HOSTILE, HOSTILE, [section(HOSTILE, *parts)], HOSTILE))
    assert not any(tag in ("script", "iframe", "link", "object") for tag, _ in tags.found)
    assert not any(name.startswith("on") or name == "style" for _, attributes in tags.found for name in attributes)
    assert all(a["src"].startswith("data:image/png;base64,") for tag, a in tags.found if tag == "img")
    assert tags.text.count("<script>alert(1)</script>") >= 8


def test_control_characters_never_reach_the_page():
    strip = filmstrip(HOSTILE, HOSTILE, episode(text=HOSTILE, action=HOSTILE))
    html = page(HOSTILE, HOSTILE, [section(HOSTILE, strip, results_table([evaluation(id=HOSTILE)]))])
    assert not set(html) & {"\x00", "\x1b", "\u202e"}


def test_the_page_allows_its_own_style_and_nothing_else():
    html = page("t", "i", [])
    (content,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    (sheet,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in content
    assert content.startswith("default-src 'none'") and "unsafe" not in content and "script-src" not in content
    assert "http" not in sheet and "url(" not in sheet and "prefers-color-scheme: dark" in style()


def test_the_whole_page_has_no_reference_to_the_outside():
    html = page("t", "i", [bar_figure([evaluation()]), results_table([evaluation()])])
    assert not re.search(r"(?:src|href)=\"(?!data:)", html)
    assert "http://" not in html and "https://" not in html


def test_the_table_shows_figures_with_their_intervals():
    text = Tags(results_table([evaluation()])).text
    assert "80.0 %" in text and "49.0 % to 94.3 %" in text
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
    html = bar_figure([evaluation(success=s, success_ci=(s / 2, s)) for s in (1.0, 0.5)])
    full, half = (float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', html))
    assert half == pytest.approx(full / 2)
    low, high = map(float, re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)', html)[0])
    assert high - low == pytest.approx(full / 2)


def test_pictures_survive_the_way_into_the_page():
    picture = np.random.default_rng(0).integers(0, 256, (17, 9, 3), np.uint8)
    data = base64.b64decode(picture_uri(picture).removeprefix("data:image/png;base64,"))
    assert (np.asarray(Image.open(io.BytesIO(data))) == picture).all()


@pytest.mark.parametrize(
    ("changes", "word"),
    [({}, "solved"), ({"turns": [], "truncated": True}, "out of turns"), ({"turns": []}, "lost")],
)
def test_a_strip_says_how_the_episode_ended(changes, word):
    assert f">{word}<" in filmstrip("x", "oracle", episode(**changes))


def test_a_strip_shows_action_terms_and_the_last_text():
    text = Tags(filmstrip("Sokoban: oracle", "oracle", episode(text="box", action="Left, Up"))).text
    for part in ("Sokoban: oracle", "Left, Up", "step \u22120.1", "box +1", "reward +0.9", "seed 1"):
        assert part in text


def test_actions_that_are_no_text_are_named():
    assert "<b>Up</b>" in filmstrip("x", "random", episode(action=3))


def test_long_text_is_cut_and_says_so():
    assert clip("x" * 5000).endswith("... (1000 more characters)")
    assert clip("short") == "short"


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


def test_numbers_read_well():
    assert (percent(1.0), percent(None), number_signed(-0.1), number_signed(10.0)) == (
        "100.0 %",
        "-",
        "\u22120.1",
        "+10",
    )
