"""Charts: numbers land where they belong, whatever the numbers are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from agentrl.viewer.canvas import Look, nice_ticks, standalone, tick_text
from agentrl.viewer.charts import MAX_POINTS, Series, line_chart, share_bar, stacked_bars, thinned

HOSTILE = "<script>alert(1)</script>\"' & \x00"


def path_of(svg, kind):
    """The points of the first path of a class, in the units of the picture."""
    (text,) = re.findall(rf'<path class="{kind}" d="M([^"h]*)"', svg)[:1]
    return [tuple(map(float, pair.split())) for pair in text.rstrip("Z").split("L")]


def test_a_line_keeps_the_proportions_of_its_points():
    svg = line_chart([Series("a", [(0, 0.0), (5, 0.5), (10, 1.0)])], Look("t", limits=(0.0, 1.0)))
    (x0, y0), (x1, y1), (x2, y2) = path_of(svg, "line c0")
    assert x1 == pytest.approx((x0 + x2) / 2) and y1 == pytest.approx((y0 + y2) / 2)
    assert x0 < x2 and y0 > y2  # up is less in SVG


def test_a_band_runs_along_its_upper_edge_and_back_along_the_lower_one():
    svg = line_chart([Series("a", [(0, 0.5), (1, 0.5)], [(0, 0.4, 0.6), (1, 0.3, 0.7)])], Look("t", limits=(0, 1)))
    line, band = path_of(svg, "line c0"), path_of(svg, "band fill c0")
    assert [y < line[0][1] for _, y in band] == [True, True, False, False]
    assert band[0][1] - line[0][1] == pytest.approx(-(band[3][1] - line[0][1]))


@pytest.mark.parametrize("points", [[(3, 7.0)], [(1, 2.0), (2, 2.0)], [(0, 0.0), (1, 0.0)], [(0, -1e9), (1, 1e-9)]])
def test_degenerate_lines_are_drawn_too(points):
    svg = line_chart([Series("a", points)], Look("t"))
    ElementTree.fromstring(svg)
    assert "nan" not in svg and "inf" not in svg and ("<circle" in svg or '<path class="line c0" d="M' in svg)


def test_nothing_to_draw_is_no_chart():
    assert line_chart([Series("a", [])], Look("t")) == ""
    assert stacked_bars([], {}, Look("t")) == "" and stacked_bars([1.0], {"a": [0.0]}, Look("t")) == ""
    assert share_bar({"a": 0.0}, Look("t"), str) == ""


def test_long_lines_are_averaged_not_cut():
    series = thinned(Series("a", [(i, i % 2) for i in range(10 * MAX_POINTS)], [(i, 0, 1) for i in range(2400)]))
    assert len(series.points) == MAX_POINTS and {y for _, y in series.points} == {0.5}
    assert series.points[-1][0] > 10 * MAX_POINTS - 10 and len(series.band) == MAX_POINTS
    assert len(line_chart([Series("a", [(i, i) for i in range(100_000)])], Look("t"))) < 10_000


def test_stacked_bars_stand_on_each_other():
    svg = stacked_bars([1, 2], {"a": [1.0, 2.0], "b": [3.0, 0.0]}, Look("t"))
    rects = [tuple(map(float, m)) for m in re.findall(r'<rect[^>]* y="([\d.]+)"[^>]* height="([\d.]+)"', svg)]
    (a_top, a_height), (b_top, b_height), (_, second) = rects
    assert b_top + b_height == pytest.approx(a_top, abs=0.2)
    assert b_height == pytest.approx(3 * a_height, abs=0.3) and second == pytest.approx(2 * a_height, abs=0.3)


def test_only_whole_iterations_are_named():
    svg = line_chart([Series("a", [(1, 0.5)])], Look("t"))
    below = svg[: svg.index(">iteration<")].count('y="256.0"')
    assert below == 1  # 1, and neither 0.75 nor 1.25


def test_what_took_no_time_is_not_in_the_legend_and_the_others_keep_their_colours():
    svg = stacked_bars([1, 2], {"generation": [0.0, 0.0], "update": [1.0, 1.0]}, Look("t"))
    assert "generation" not in svg and 'class="line c1"' in svg
    assert "judge" not in share_bar({"judge": 0.0, "update": 2.0}, Look("t"), str)


def test_shares_divide_the_whole_width():
    svg = share_bar({"a": 1.0, "b": 3.0}, Look("t", width=420), lambda value: f"{value:g} s")
    first, second = map(float, re.findall(r'<rect[^>]* width="([\d.]+)"', svg))
    assert first == 100 and second == 300 and "b 3 s (75%)" in svg


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-3, 7, [-2, 0, 2, 4, 6]),
        (0.0, 3e-4, [0, 1e-4, 2e-4, 3e-4]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round_numbers_inside_the_range(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)


def test_tick_text_is_short():
    texts = [tick_text(v) for v in (0.25, 12000.0, 2.5e6, -0.5, 3e-6, 1e-17)]
    assert texts == ["0.25", "12k", "2.5M", "\u22120.5", "3e\u221206", "0"]
    assert tick_text(0.4, percent=True) == "40 %"


@pytest.mark.parametrize("labels", [1, 8, 12])
def test_a_legend_of_several_rows_keeps_away_from_the_plot(labels):
    series = [Series(f"a long label {n}", [(0, 0.0), (1, 1.0)]) for n in range(labels)]
    look = Look("t", width=760, limits=(0.0, 1.0), percent=True)
    svg = line_chart(series, look)
    lowest = max(int(y) for y in re.findall(r'<text class="soft" x="[\d.]+" y="(\d+)"', svg))
    highest = min(float(y) for y in re.findall(r'<text class="tick" x="[\d.]+" y="([\d.]+)"', svg))
    assert (lowest == 40) is (labels == 1)
    # A line of text is less than 12 high and hangs less than 4 below its own line.
    assert highest - 12 >= lowest + 4 + 6
    assert "a long label" not in line_chart(series, Look("t", legend=False))


def test_a_standalone_file_is_as_large_as_its_chart():
    bar = share_bar({"a": 1.0, "b": 3.0}, Look("t", width=420, height=999), str)
    root = ElementTree.fromstring(standalone(bar))
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    assert root.attrib["width"] == "420" and int(root.attrib["height"]) < 200


def test_alarms_are_marked_where_they_are_in_sight():
    svg = line_chart([Series("a", [(0, 0), (10, 1)])], Look("t", alarms=[5, 99]))
    assert svg.count("alarm-line") == 1 and "a warning at iteration 5" in svg


def test_hostile_labels_stay_text_and_a_standalone_file_is_whole():
    look = Look(HOSTILE, x_name=HOSTILE)
    svg = standalone(line_chart([Series(HOSTILE, [(0, 0), (1, 1)], marks=True)], look))
    root = ElementTree.fromstring(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "style", "rect", "text", "path", "line", "circle", "title"}
    assert root.attrib["width"] == "520" and "prefers-color-scheme: dark" in svg and "\x00" not in svg
    assert "url(" not in svg and svg.count("http") == 1  # the name of the format, which nobody fetches
