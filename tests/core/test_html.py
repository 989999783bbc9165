"""Pages: hostile text harmless, nothing from outside, pictures inside."""

from __future__ import annotations

import base64
import hashlib
import io
import re

import numpy as np
import pytest
from PIL import Image

from agentrl.core.errors import ConfigError
from agentrl.core.html import (
    clip,
    data_url,
    details,
    number_signed,
    page,
    percent,
    picture_url,
    safe,
    section,
    write_page,
)
from tests.core.markup import HOSTILE, Tags


def test_hostile_text_stays_text_wherever_it_comes_from():
    tags = Tags(page(HOSTILE, HOSTILE, [section(HOSTILE, details(HOSTILE, HOSTILE))], HOSTILE))
    assert not any(tag in ("script", "iframe", "link", "object", "img") for tag, _ in tags.found)
    assert not any(name.startswith("on") or name == "style" for _, attributes in tags.found for name in attributes)
    assert tags.text.count("<script>alert(1)</script>") == 7


def test_characters_that_hide_or_turn_text_round_are_spelled_out():
    html = page(HOSTILE, HOSTILE, [section(HOSTILE)])
    assert not set(html) & {"\x00", "\x1b", "\u202e"}
    assert safe("a\u202eb\x00\ud800") == "a\\u202eb\\u0000\\ud800"
    assert safe("a\n\tb\u00a0\u3000\U0001f600") == "a\n\tb\u00a0\u3000\U0001f600"


@pytest.mark.parametrize("style", ["", "p { color: red; }"])
def test_the_page_allows_its_own_style_and_nothing_else(style):
    html = page("t", "i", [], style=style)
    (content,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    (sheet,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in content and style in sheet
    assert content.startswith("default-src 'none'") and "unsafe" not in content and "script-src" not in content
    assert "http" not in sheet and "url(" not in sheet and "prefers-color-scheme: dark" in sheet


def test_a_page_without_introduction_has_no_empty_paragraph():
    assert "<p" not in page("t", "", [])


def test_pictures_survive_the_way_into_the_page():
    picture = np.random.default_rng(0).integers(0, 256, (17, 9, 3), np.uint8)
    data = base64.b64decode(picture_url(picture).removeprefix("data:image/png;base64,"))
    assert (np.asarray(Image.open(io.BytesIO(data))) == picture).all()
    assert data_url(b"abc", "gif") == "data:image/gif;base64,YWJj"


def test_long_text_is_cut_and_says_so_unless_all_of_it_is_wanted():
    assert clip("x" * 5000).endswith("... (1000 more characters)")
    assert clip("short") == "short"
    assert safe("x" * 5000, longest=None) == "x" * 5000


def test_numbers_read_well():
    shown = percent(1.0), percent(None), number_signed(-0.1), number_signed(10.0)
    assert shown == ("100.0 %", "-", "\u22120.1", "+10")


def test_a_page_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot write the report"):
        write_page(tmp_path / "file" / "x.html", "")
