"""The gate lets ordinary drawings pass unchanged in what they show, and says clearly why it refuses others."""

from __future__ import annotations

import copy
import io
import pickle
from xml.etree import ElementTree

import cairosvg
import numpy as np
import pytest
from PIL import Image

from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.envs.svg.sandbox.gate import REASONS, Limits, SvgRefused, check
from agentrl.envs.svg.sandbox.renderer import Renderer
from tests.envs.svg.ordinary_files import HABITS, ORDINARY, svg


def plain(code: str, size: int) -> np.ndarray:
    """What cairosvg draws by itself, on white."""
    png = cairosvg.svg2png(bytestring=code.encode(), output_width=size, output_height=size, background_color="white")
    assert png is not None
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


@pytest.fixture(scope="module", autouse=True)
def large_letters_first() -> None:
    """The first text of a process decides how cairosvg hints all others; ours always looks as after a large one."""
    for font in ("", "font-family=\"'DejaVu Sans'\""):
        plain(svg(f'<text font-size="20" y="20" {font}>A</text>'), 48)


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_drawings_look_as_without_the_gate(name: str, renderer: Renderer) -> None:
    picture = renderer.draw(ORDINARY[name])
    assert np.array_equal(picture, plain(ORDINARY[name], renderer.size))
    assert (picture != 255).any()


@pytest.mark.parametrize("name", HABITS)
def test_what_models_write_is_drawn(name: str, renderer: Renderer) -> None:
    assert (renderer.draw(HABITS[name]) != 255).any()


def test_a_missing_namespace_changes_nothing(renderer: Renderer) -> None:
    named = ORDINARY["style"]
    assert np.array_equal(renderer.draw(named), renderer.draw(named.replace('xmlns="http://www.w3.org/2000/svg"', "")))


@pytest.mark.parametrize("name", [*ORDINARY, *HABITS])
def test_what_comes_out_passes_again_unchanged(name: str) -> None:
    safe = check({**ORDINARY, **HABITS}[name])
    assert check(safe) == safe
    assert ElementTree.fromstring(safe).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("code", [None, b"<svg/>", 5, ["<svg/>"]])
def test_only_text_is_code(code: object) -> None:
    with pytest.raises(ConfigError, match="code must be the text"):
        check(code)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("limits", "code", "reason"),
    [
        (Limits(bytes=40), svg(""), "too_long"),
        (Limits(nodes=2), svg("<g/><g/>"), "too_many_nodes"),
        (Limits(depth=2), svg("<g><g/></g>"), "too_deep"),
        (Limits(nesting=2), svg('<g id="a"><rect/></g><use href="#a"/>'), "too_deep"),
        (Limits(letters=3), svg("<text>four</text>"), "text"),
        (Limits(value=10), svg('<g transform="translate(1 1)"/>'), "attribute"),
        (Limits(number=100), svg('<rect width="101"/>'), "number"),
        (Limits(number=100), svg('<path d="M0 0h1e3"/>'), "number"),
        (Limits(font_size=10), svg('<text font-size="11">a</text>'), "number"),
        (Limits(rules=1), svg("<style>a{fill:red}b{fill:red}</style>"), "css"),
        (Limits(expansion=3), svg("<g/><g/><g/>"), "expansion"),
    ],
)
def test_each_limit_is_kept(limits: Limits, code: str, reason: str) -> None:
    assert check(code)  # within the ordinary limits
    with pytest.raises(SvgRefused) as caught:
        check(code, limits)
    assert caught.value.reason == reason and caught.value.detail


def test_a_refusal_names_a_known_reason_and_can_be_copied() -> None:
    refused = SvgRefused("size", "too large")
    assert isinstance(refused, ValueError) and isinstance(refused, AgentRLError)
    for twin in (copy.copy(refused), pickle.loads(pickle.dumps(refused))):
        assert (twin.reason, twin.detail, str(twin)) == ("size", "too large", "size: too large")
    with pytest.raises(ValueError, match="unknown reason"):
        SvgRefused("because", "")
    assert len(set(REASONS)) == len(REASONS)


def test_details_are_one_short_line() -> None:
    for code in (
        svg(f'<use href="{"x" * 5000}\n"/>'),
        svg(f'<rect fill="{"é" * 3000}"/>'),
        svg("<" + "y" * 3000 + "/>"),
    ):
        with pytest.raises(SvgRefused) as caught:
            check(code)
        assert len(caught.value.detail) < 300 and "\n" not in caught.value.detail and caught.value.detail.isascii()


def test_a_caller_that_is_deep_already_gets_a_refusal() -> None:
    def deeper(levels: int) -> str:
        return deeper(levels - 1) if levels else check(svg("<g>" * 40 + "</g>" * 40 + '<use href="#a"/>'))

    outcomes = set()
    for levels in range(700, 1000, 10):
        try:
            outcomes.add(bool(deeper(levels)))
        except SvgRefused as refused:
            outcomes.add(refused.reason)
        except RecursionError:
            break
    assert outcomes >= {True, "too_deep"}


def test_numbers_in_colours_and_names_are_not_taken_for_coordinates() -> None:
    for value in ("#1e9999", "#1e9", "rgb(1e2, 2, 3)", "url(#a1e9999)", "info", "nanosecond"):
        assert check(svg(f'<rect fill="{value}"/>'))


def test_the_last_declaration_counts_and_an_important_one_most() -> None:
    safe = check(svg('<rect style="fill:red!important;fill:blue;stroke:red;stroke:blue"/>'))
    assert "fill:red!important" in safe and "stroke:blue" in safe and "fill:blue" not in safe


def test_opacity_in_per_cent_is_understood() -> None:
    assert 'opacity="0.5"' in check(svg('<rect opacity="50%"/>'))
    assert "fill-opacity:0.125" in check(svg('<rect style="fill-opacity: 12.5%"/>'))
