"""What an SVG shows: every way to write a shape, checked against hand-computed boxes and against drawn pixels."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from agentrl.envs.svg.sandbox.gate import check
from agentrl.envs.svg.sandbox.renderer import shared_renderer
from agentrl.envs.svg.targets.icons import icon
from agentrl.envs.svg.truth.geometry import IDENTITY, box_of, multiply, path_points, transform
from agentrl.envs.svg.truth.shapes import (
    MAX_SHAPES,
    Shape,
    colour_word,
    distance,
    hexadecimal,
    read_colour,
    read_shapes,
)
from agentrl.envs.svg.truth.state import LEAST_AGREEMENT, SvgState, agreements, describe, place, structure_score


def shapes_of(inside: str, attributes: str = 'viewBox="0 0 100 100"') -> tuple[Shape, ...]:
    """The shapes of elements put into a document."""
    return read_shapes(check(f"<svg {attributes}>{inside}</svg>"))


def only(inside: str, attributes: str = 'viewBox="0 0 100 100"') -> Shape:
    """The one shape there is."""
    (shape,) = shapes_of(inside, attributes)
    return shape


def box(shape: Shape) -> tuple[float, float, float, float]:
    """Middle and size."""
    return shape.x, shape.y, shape.width, shape.height


# ---------------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ('<circle cx="30" cy="40" r="10"/>', (30, 40, 20, 20)),
        ('<ellipse cx="30" cy="40" rx="10" ry="5"/>', (30, 40, 20, 10)),
        ('<rect x="10" y="20" width="40" height="30" rx="3"/>', (30, 35, 40, 30)),
        ('<line x1="10" y1="20" x2="50" y2="20" stroke="red" stroke-width="4"/>', (30, 20, 40, 4)),
        ('<line x1="10" y1="20" x2="50" y2="60" stroke="red" stroke-width="4"/>', (30, 40, 42.8, 42.8)),
        ('<line x1="9" y1="9" x2="49" y2="9" stroke="red" stroke-width="4" stroke-linecap="round"/>', (29, 9, 44, 4)),
        ('<polyline points="10,20 30,60 50,20" fill="none" stroke="red" stroke-width="2"/>', (30, 40, 42, 42)),
        ('<polygon points="10 20 30 60 50 20"/>', (30, 40, 40, 40)),
        ('<path d="M10 20H50V60H10z"/>', (30, 40, 40, 40)),
        ('<path d="m10,20 40,0 0,40 -40,0z"/>', (30, 40, 40, 40)),
        ('<path d="M50 10A40 40 0 1 1 50 90A40 40 0 1 1 50 10Z"/>', (50, 50, 80, 80)),
        ('<path d="M10 50a40,40 0 01 80,0"/>', (50, 30, 80, 40)),
        ('<path d="M10 50Q50 10 90 50T90 50"/>', (55, 50, 90, 40)),  # its second half turns back outside
        ('<path d="M10 50C10 10 90 10 90 50"/>', (50, 35, 80, 30)),
        ('<path d="M10 50C10 10 50 10 50 50S90 90 90 50"/>', (50, 50, 80, 60)),
        ('<rect x="-20" y="-20" width="60" height="60"/>', (20, 20, 40, 40)),  # what lies outside is not seen
        ('<g transform="translate(9)"><g transform="scale(2)"><rect width="10" height="5"/></g></g>', (19, 5, 20, 10)),
        ('<rect x="40" y="40" width="20" height="20" transform="rotate(45 50 50)"/>', (50, 50, 28.3, 28.3)),
        ('<rect width="20" height="20" transform="matrix(1 0 0 1 30 40)"/>', (40, 50, 20, 20)),
        ('<rect width="20" height="20" transform="skewX(45) translate(10,0)"/>', (30, 10, 40, 20)),
        ('<defs><rect id="a" width="10" height="10"/></defs><use href="#a" x="30" y="40"/>', (35, 45, 10, 10)),
    ],
)  # fmt: skip
def test_boxes_of_everything_that_can_be_drawn(element: str, expected: tuple[float, ...]) -> None:
    assert box(only(element)) == pytest.approx(expected, abs=0.6)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('viewBox="0 0 24 24"', (25, 25, 50, 50)),
        ('viewBox="-12 -12 24 24"', (75, 75, 50, 50)),
        ('width="24" height="24"', (25, 25, 50, 50)),
        ('viewBox="0 0 48 24"', (12.5, 37.5, 25, 25)),  # centred in the square
        ('viewBox="0 0 48 24" preserveAspectRatio="none"', (12.5, 25, 25, 50)),
    ],
)
def test_places_do_not_depend_on_the_view_box(attributes: str, expected: tuple[float, ...]) -> None:
    assert box(only('<rect width="12" height="12"/>', attributes)) == pytest.approx(expected, abs=0.1)


def test_boxes_agree_with_the_pixels_that_are_drawn() -> None:
    """Each visible shape of an icon alone is the whole picture's ink: compare the box with it."""
    codes = [icon("train", grade, index) for grade in (1, 2, 3, 4, 5) for index in range(8)]
    pictures = shared_renderer(100).draw_many(codes)
    for code, picture in zip(codes, pictures, strict=True):
        shapes = read_shapes(check(code))
        left, top = min(s.x - s.width / 2 for s in shapes), min(s.y - s.height / 2 for s in shapes)
        right, bottom = max(s.x + s.width / 2 for s in shapes), max(s.y + s.height / 2 for s in shapes)
        assert isinstance(picture, np.ndarray)
        rows, columns = np.nonzero((picture < 250).any(axis=2))
        seen = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        for claimed, found, outwards in zip((left, top, right, bottom), seen, (-1, -1, 1, 1), strict=True):
            # White ink is not seen, and joints of strokes stick out a little: boxes may be larger, hardly smaller.
            assert (claimed - found) * outwards > -2.5, f"{claimed} against {found} in {code}"


def test_transforms_multiply_as_matrices_do() -> None:
    turned = multiply(transform("translate(10 0)"), transform("rotate(90)"))
    assert box_of([(5, 0)], turned) == pytest.approx((10, 5, 10, 5))
    assert transform("nonsense(1) rotate() scale(2)") == (2, 0, 0, 2, 0, 0)
    assert transform(None) == IDENTITY
    assert box_of([(1, 1)], transform("skewY(45)")) == pytest.approx((1, 2, 1, 2))


@pytest.mark.parametrize(
    "d",
    [
        "",
        "M",
        "10 20",
        "M10",
        "L L L",
        "M0 0A1 1 0 2 3 4 4",
        "M0 0A0 0 0 0 0 1 1",
        "M0 0C1 1",
        "z",
        "M1e999 0L1 1",
        "é",
    ],
)
def test_broken_paths_are_read_as_far_as_they_make_sense(d: str) -> None:
    found = box_of(path_points(d), IDENTITY)
    assert found is None or all(map(math.isfinite, found))


def test_a_path_of_endless_segments_is_cut_short() -> None:
    assert len(path_points("M0 0" + "l1 1" * 100_000)) <= 8000


# ---------------------------------------------------------------------- colours and styles


@pytest.mark.parametrize(
    ("element", "fill", "stroke"),
    [
        ('<circle r="9"/>', "#000000", None),
        ('<circle r="9" fill="crimson"/>', "#dc143c", None),
        ('<circle r="9" fill="#F00"/>', "#ff0000", None),
        ('<circle r="9" fill="rgb(1, 2, 3)"/>', "#010203", None),
        ('<circle r="9" fill="rgba(1,2,3,.5)"/>', "#010203", None),
        ('<circle r="9" fill="hsl(120, 100%, 50%)"/>', "#00ff00", None),
        ('<circle r="9" style="fill: blue; stroke: red"/>', "#0000ff", "#ff0000"),
        ('<circle r="9" fill="red" style="fill:blue"/>', "#0000ff", None),
        ('<g fill="red" stroke="lime"><circle r="9" stroke="none"/></g>', "#ff0000", None),
        ('<g color="teal"><circle r="9" fill="currentColor"/></g>', "#008080", None),
        ('<style>.a{fill:green}#b{stroke:red}circle{stroke:blue}*{fill:blue}</style><circle id="b" class="x a" r="9"/>',
         "#008000", "#ff0000"),
        ('<circle r="9" fill="none" stroke="red"/>', None, "#ff0000"),
        ('<circle r="9" fill="red" stroke="blue" stroke-width="0"/>', "#ff0000", None),
        ('<circle r="9" fill="red" fill-opacity="0" stroke="blue"/>', None, "#0000ff"),
        ('<linearGradient id="g"><stop stop-color="#000"/><stop offset="1" style="stop-color:#fff"/></linearGradient>'
         '<circle r="9" fill="url(#g)"/>', "#808080", None),
        ('<linearGradient id="g"><stop stop-color="red"/></linearGradient><radialGradient id="h" href="#g"/>'
         '<circle r="9" fill="url(#h)"/>', "#ff0000", None),
        ('<circle r="9" fill="url(#missing) lime"/>', "#00ff00", None),
    ],
)  # fmt: skip
def test_paint_is_found_wherever_it_is_written(element: str, fill: str | None, stroke: str | None) -> None:
    shape = only(f'<g transform="translate(50 50)">{element}</g>')
    assert (shape.fill, shape.stroke) == (fill, stroke)


@pytest.mark.parametrize(
    "element",
    [
        '<circle r="0"/>', '<circle r="9" fill="none"/>', '<rect width="0" height="9"/>', '<circle cx="500" r="9"/>',
        '<circle r="9" visibility="hidden"/>', '<circle r="9" opacity="0"/>', '<g display="none"><circle r="9"/></g>',
        '<defs><circle r="9"/></defs>', '<clipPath id="c"><circle r="9"/></clipPath>', "<title>a</title>",
        '<use href="#no"/>', '<path d=""/>',
        '<polygon points=""/>', "<text> </text>", '<symbol id="s"><circle r="9"/></symbol>', '<ellipse rx="3" ry="0"/>',
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_no_shape(element: str) -> None:
    assert shapes_of(element) == ()


def test_text_is_told_with_its_words() -> None:
    shape = only('<text x="50" y="50" font-size="20" text-anchor="middle">Hi <tspan>there</tspan></text>')
    assert shape.kind == "text" and shape.text == "Hi there" and shape.x == pytest.approx(50, abs=0.1)
    assert "reading 'Hi there'" in describe(shape)


def test_more_shapes_than_anybody_compares_are_cut_off() -> None:
    assert len(shapes_of('<circle cx="9" cy="9" r="1"/>' * (MAX_SHAPES + 50))) == MAX_SHAPES


def test_a_path_used_again_and_again_is_not_read_for_ever() -> None:
    curves = f'<path id="p" d="M500 500{"a1 1 0 0 1 1 1" * 1000}"/>'  # out of sight, so that no shape is counted
    began = time.process_time()
    assert shapes_of(f"<defs>{curves}</defs>" + '<use href="#p"/>' * 40 + '<circle cx="9" cy="9" r="5"/>') == ()
    assert time.process_time() - began < 2.0  # without a limit several times as long


def test_colours_have_distances_and_names() -> None:
    assert distance((0, 0, 0), (255, 255, 255)) == 1.0 and distance((9, 9, 9), (9, 9, 9)) == 0.0
    assert distance((255, 0, 0), (250, 0, 0)) < distance((255, 0, 0), (200, 0, 0)) < distance((255, 0, 0), (0, 0, 255))
    assert [colour_word(hexadecimal(read_colour(c) or (0, 0, 0))) for c in ("crimson", "navy", "gold", "seagreen")] == [
        "red", "dark blue", "yellow", "green",
    ]  # fmt: skip
    assert read_colour("no colour") is None and read_colour("transparent") is None


# ---------------------------------------------------------------------- comparing


def moved(shape: Shape, **changes: float | str) -> Shape:
    """The shape with some fields changed."""
    return Shape(**{**vars(shape), **changes})  # pyright: ignore[reportArgumentType]


SHAPES = shapes_of(
    '<circle cx="25" cy="25" r="15" fill="red"/><rect x="60" y="60" width="30" height="20" fill="blue"/>'
    '<line x1="10" y1="90" x2="40" y2="60" stroke="green" stroke-width="4"/>'
)


def test_equal_structures_score_one_in_any_order() -> None:
    assert structure_score(SHAPES, SHAPES).f1 == 1.0
    assert structure_score(SHAPES, SHAPES[::-1]).f1 == 1.0
    assert structure_score((), ()).f1 == 1.0
    assert structure_score(SHAPES, ()).f1 == structure_score((), SHAPES).f1 == 0.0


def test_missing_and_surplus_shapes_cost_recall_and_precision() -> None:
    fewer = structure_score(SHAPES, SHAPES[:2])
    assert (fewer.precision, fewer.recall, fewer.f1) == pytest.approx((1, 2 / 3, 0.8))
    more = structure_score(SHAPES[:2], SHAPES)
    assert (more.precision, more.recall, more.f1) == pytest.approx((2 / 3, 1, 0.8))
    assert structure_score(SHAPES, SHAPES * 100).f1 < 0.03  # many guesses do not pay


@pytest.mark.parametrize("field", ["x", "y", "width", "height"])
def test_a_growing_error_never_scores_more(field: str) -> None:
    scores = [
        structure_score(SHAPES, (moved(SHAPES[0], **{field: getattr(SHAPES[0], field) + error}), *SHAPES[1:])).f1
        for error in (0, 1, 2, 4, 6, 8, 10, 12, 15, 20, 40)
    ]
    assert scores == sorted(scores, reverse=True) and scores[0] == 1.0 and scores[-1] < 0.95


def test_colour_and_kind_count_a_quarter_each() -> None:
    wrong_colour = (moved(SHAPES[0], fill="#00ffff"),)
    assert agreements(SHAPES[:1], wrong_colour)[0, 0] == pytest.approx(0.75)
    wrong_kind = (moved(SHAPES[0], kind="rect"),)
    assert agreements(SHAPES[:1], wrong_kind)[0, 0] == pytest.approx(0.75)
    assert agreements(SHAPES[:1], (moved(SHAPES[0], kind="ellipse"),))[0, 0] == pytest.approx(0.875)
    both = (moved(SHAPES[0], kind="rect", fill="#00ffff"),)
    assert agreements(SHAPES[:1], both)[0, 0] < LEAST_AGREEMENT and structure_score(SHAPES[:1], both).f1 == 0


# ---------------------------------------------------------------------- state


def test_the_state_says_what_is_where() -> None:
    state = SvgState(SHAPES, None)
    assert state.natural() == [
        "The target shows a red circle in the upper left, 30 wide and 30 high, centred at 25, 25.",
        "The target shows a blue rectangle in the lower right, 30 wide and 20 high, centred at 75, 70.",
        "The target shows a green line in the lower left, 33 wide and 33 high, centred at 25, 75.",
        "Nothing has been drawn yet.",
    ]
    assert SvgState(SHAPES, ()).natural()[-1] == "The drawing is blank."
    assert SvgState(SHAPES, SHAPES[:1]).natural()[-1].startswith("The drawing shows a red circle")
    assert state.structured()["target"][1] == {
        "kind": "rect", "fill": "#0000ff", "stroke": None, "position": [75.0, 70.0], "size": [30.0, 20.0],
    }  # fmt: skip
    assert state.to_json()["drawing"] is None


def test_places_have_nine_names_and_backgrounds_are_told_as_such() -> None:
    assert len({place(x, y) for x in (10, 50, 90) for y in (10, 50, 90)}) == 9
    assert (
        describe(only('<rect width="100" height="100" fill="orange"/>')) == "an orange rectangle over the whole canvas"
    )
