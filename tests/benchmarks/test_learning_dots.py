"""The dot plot: dots, intervals and starts land where they belong, rows in the order given."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from agentrl.viewer.canvas import Look, standalone
from benchmarks.learning.dots import Dot, DotRow, dot_chart

LOOK = Look("t", width=760, x_name="success", percent=True)
HOSTILE = "<script>alert(1)</script>\"' & \x00"
KINDS = ("sampled", "greedy")


def row(label, sampled, greedy=None, **more):
    dots = {"sampled": Dot(sampled, (sampled - 0.05, sampled + 0.04), **more)}
    if greedy is not None:
        dots["greedy"] = Dot(greedy, (greedy - 0.02, greedy + 0.03), **more)
    return DotRow(label, dots)


def scale(svg):
    """From a place in the picture to the figure that its axis has there."""
    found = re.findall(r'<text class="tick" x="([\d.]+)" y="[\d.]+" text-anchor="middle">([\d.]+) %', svg)
    (x0, low), *_, (x1, high) = [(float(x), float(value) / 100) for x, value in found]
    return lambda x: low + (float(x) - x0) / (x1 - x0) * (high - low)


def groups(svg):
    """The drawing of every dot by what it says on hovering."""
    return {found[1]: found[0] for found in re.findall(r"<g>(.*?)<title>(.*?)</title></g>", svg)}


def starts(svg):
    """Place and length of the start marks, without the one in the legend."""
    found = re.findall(r'<path class="line start c([01])" d="M([\d.]+) ([\d.]+)(v10|V[\d.]+)"', svg)
    return [(int(colour), float(x), float(y), end) for colour, x, y, end in found]


def test_dots_intervals_and_seeds_land_at_their_figures():
    svg = dot_chart([row("a", 0.5, 0.7, singles=(0.47, 0.53)), row("b", 0.6, 0.65)], KINDS, LOOK)
    at, drawn = scale(svg), groups(svg)
    sampled = drawn["a, sampled: 50 % (45 % to 54 %)"]
    (low, high) = re.findall(r'class="line c0" d="M([\d.]+) [\d.]+H([\d.]+)"', sampled)[0]
    assert (at(low), at(high)) == (pytest.approx(0.45, abs=5e-4), pytest.approx(0.54, abs=5e-4))
    assert at(re.findall(r'cx="([\d.]+)"', sampled)[0]) == pytest.approx(0.5, abs=5e-4)
    seeds = [at(x) for x in re.findall(r'class="line single c0" d="M([\d.]+)', sampled)]
    assert seeds == pytest.approx([0.47, 0.53], abs=5e-4)
    greedy = drawn["b, greedy: 65 % (63 % to 68 %)"]
    (left,) = re.findall(r'class="mark fill c1" d="M([\d.]+)', greedy)
    assert at(float(left) + 5.4) == pytest.approx(0.65, abs=5e-4) and "<circle" not in greedy
    assert "single c1" not in greedy


def test_the_axis_is_round_and_no_wider_than_the_figures_need():
    svg = dot_chart([row("a", 0.673), row("b", 0.623, start=0.417)], KINDS, LOOK)
    ticks = [int(text) for text in re.findall(r">(\d+) %</text>", svg)]
    assert ticks == list(range(40, 76, 5))
    full = dot_chart([DotRow("a", {"sampled": Dot(0.0, (0.0, 0.01))}), row("b", 0.96)], KINDS, LOOK)
    assert re.findall(r">(\d+) %</text>", full) == ["0", "20", "40", "60", "80", "100"]


def test_rows_keep_their_order_and_the_picture_grows_with_them():
    few = [row(label, 0.5) for label in ("zebra", "ant")]
    svg = dot_chart(few, KINDS, LOOK)
    assert re.findall(r'text-anchor="end">(\w+)<title>', svg) == ["zebra", "ant"]
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)" r="4.4"/><title>', svg)]
    assert heights == sorted(heights) and len(heights) == 2
    high, higher = (int(re.findall(r'viewBox="0 0 760 (\d+)"', s)[0]) for s in (svg, dot_chart(few * 5, KINDS, LOOK)))
    assert higher - high == 8 * 32


def test_a_start_that_all_share_is_one_line_and_others_are_ticks_in_their_rows():
    rows = [DotRow(n, {"sampled": Dot(0.5, (0.4, 0.6), (), 0.3), "greedy": Dot(0.7, (0.6, 0.8), (), g)}) for n, g in
            (("a", 0.35), ("b", 0.45))]  # fmt: skip
    svg = dot_chart(rows, KINDS, LOOK, start="where it began")
    at, (line, first, second) = scale(svg), starts(svg)
    assert line[0] == 0 and line[3].startswith("V") and at(line[1]) == pytest.approx(0.3, abs=5e-4)
    assert [one[0] for one in (first, second)] == [1, 1] and first[3] == second[3] == "v10"
    assert [at(one[1]) for one in (first, second)] == pytest.approx([0.35, 0.45], abs=5e-4)
    assert second[2] - first[2] == 32 and svg.count("where it began") == 1


def test_a_row_without_a_start_is_not_crossed_by_the_line_of_the_others():
    found = starts(dot_chart([row("a", 0.5, start=0.3), row("b", 0.6)], KINDS, LOOK))
    assert [end for *_, end in found] == ["v10"]


def test_the_legend_names_only_what_is_there():
    plain = dot_chart([row("a", 0.5), row("b", 0.6)], KINDS, LOOK, single="seeds", start="start")
    assert "seeds" not in plain and "start after" not in plain and "greedy" not in plain
    assert 'class="line start' not in plain and 'class="line single' not in plain
    rich = dot_chart([row("a", 0.5, 0.6, singles=(0.4, 0.6), start=0.1)], KINDS, LOOK, single="seeds", start="began")
    assert all(rich.count(f">{word}</text>") == 1 for word in ("seeds", "began", "sampled", "greedy"))
    assert ">sampled</text>" not in dot_chart([row("a", 0.5)], KINDS, Look("t", legend=False))


def test_a_kind_keeps_its_colour_where_the_other_is_missing():
    svg = dot_chart([DotRow("a", {"greedy": Dot(0.5, (0.4, 0.6))})], KINDS, LOOK)
    assert "mark fill c1" in svg and "c0" not in svg


def test_nothing_to_draw_is_no_chart_and_a_figure_without_width_is_one():
    assert dot_chart([], KINDS, LOOK) == "" and dot_chart([DotRow("a", {})], KINDS, LOOK) == ""
    for value in (0.0, 1.0, -3.0):
        svg = dot_chart([DotRow("a", {"sampled": Dot(value, (value, value))})], KINDS, Look("t"))
        ElementTree.fromstring(svg)
        assert "nan" not in svg and svg.count("<circle") == 2  # the dot and its sign


def test_hostile_and_endless_labels_stay_text_inside_the_picture():
    look = Look(HOSTILE, width=760, x_name=HOSTILE)
    rows = [row(HOSTILE, 0.5, 0.6, singles=(0.4, 0.6), start=0.2), row("m" * 500, 0.6)]
    svg = standalone(dot_chart(rows, KINDS, look, single=HOSTILE, start=HOSTILE))
    root = ElementTree.fromstring(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "style", "rect", "text", "path", "line", "circle", "title", "g"} and "\x00" not in svg
    (shown,) = re.findall(r'end">(m+)<', svg)
    assert len(shown) < 50 and ">\N{HORIZONTAL ELLIPSIS}<" in svg and "m" * 500 in svg  # whole on hovering
    assert "prefers-color-scheme: dark" in svg and root.attrib["width"] == "760"


def test_a_long_label_takes_two_lines_of_its_row():
    label = "WebRL, lr / 10, ten epochs, no discount, critic without replay"
    svg = dot_chart([row(label, 0.5), row("b", 0.6)], KINDS, Look("t", width=760))
    lines = re.findall(r'y="([0-9.]+)" text-anchor="end">([^<]+)<title>WebRL', svg)
    assert " ".join(text for _, text in lines) == label
    assert [float(lines[1][0]) - float(lines[0][0])] == [14]
