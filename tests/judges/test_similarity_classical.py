"""Structure, edges and colours each see what they should and nothing else; the mix is what it says."""

from __future__ import annotations

import numpy as np
import pytest
from similarity_pictures import PICTURES, blank, icon, recoloured, ring, shifted, stripes

from agentrl.core.errors import ConfigError
from agentrl.core.specs import resolve
from agentrl.judges.similarity.classical import (
    CONTRAST,
    LUMINANCE,
    MIX,
    SIGMA,
    WEIGHTS,
    Colours,
    Edges,
    colour_distance,
    edge_distance,
    edge_map,
    structural_similarity,
    structure_of,
    widen,
)

KINDS = ("msssim", "edges", "colours", "classical")


def one(kind: str, first: np.ndarray, second: np.ndarray, **arguments) -> float:
    return resolve("scorer", {"kind": kind, **arguments}).score_pairs([(first, second)])[0]


# ---------------------------------------------------------------------- structure


def plain_similarity(first: np.ndarray, second: np.ndarray) -> float:
    """The paper's formulas in float64, one window position after the other."""
    one, two = (picture.astype(np.float64) / 255 for picture in (first, second))
    offsets = np.arange(11) - 5
    line = np.exp(-0.5 * (offsets / SIGMA) ** 2)
    window = (np.outer(line, line) / line.sum() ** 2)[..., None]
    result = np.ones(3)
    scales = [s for s in range(5) if min(first.shape[:2]) // 2**s >= 11]
    weights = WEIGHTS[: len(scales)] / WEIGHTS[: len(scales)].sum()
    for scale, weight in zip(scales, weights, strict=True):
        terms = []
        for row in range(one.shape[0] - 10):
            for column in range(one.shape[1] - 10):
                a, b = (p[row : row + 11, column : column + 11] for p in (one, two))
                mean_a, mean_b = ((window * p).sum(axis=(0, 1)) for p in (a, b))
                var_a, var_b = ((window * p * p).sum(axis=(0, 1)) - m * m for p, m in ((a, mean_a), (b, mean_b)))
                cov = (window * a * b).sum(axis=(0, 1)) - mean_a * mean_b
                luminance = (2 * mean_a * mean_b + LUMINANCE) / (mean_a**2 + mean_b**2 + LUMINANCE)
                terms.append((luminance, (2 * cov + CONTRAST) / (var_a + var_b + CONTRAST)))
        luminance, structure = np.mean(terms, axis=0)
        result *= np.clip(structure, 0, 1) ** weight
        if scale == scales[-1]:
            result *= np.clip(luminance, 0, 1) ** weight
        one, two = (p[: len(p) // 2 * 2, : p.shape[1] // 2 * 2] for p in (one, two))
        one, two = (p.reshape(p.shape[0] // 2, 2, p.shape[1] // 2, 2, 3).mean(axis=(1, 3)) for p in (one, two))
    return float(result.mean())


@pytest.mark.parametrize("other", [shifted(icon(44), 0.2), recoloured(icon(44), 0.7), blank(44), ring(44)])
def test_structure_agrees_with_the_papers_formulas(other):
    quick = structural_similarity(structure_of(icon(44)), structure_of(other))
    assert quick == pytest.approx(plain_similarity(icon(44), other), abs=2e-4)


def test_the_raw_and_the_measured_structure_have_different_names():
    raw, measured = resolve("scorer", "msssim"), resolve("scorer", {"kind": "msssim", "above_blank": True})
    assert (raw.name, measured.name) == ("msssim", "msssim_above_blank")
    assert raw.score_pairs([(icon(96), blank())])[0] > 0.05
    assert measured.score_pairs([(icon(96), blank()), (icon(96), icon(96))]) == pytest.approx([0, 1])


# ---------------------------------------------------------------------- edges


def test_edges_are_found_where_they_are():
    picture = blank(12)
    picture[4:8, 4:8] = (255, 255, 200)  # pale, but there
    edges = edge_map(picture)
    assert edges.shape == (13, 13) and edges.sum() == 15
    # row 4 of the picture is row 5 of the framed one, so the step into the box lies at 4 and the step out at 8
    assert edges[4, 5:9].all() and edges[8, 5:9].all() and edges[5:9, 4].all() and edges[5:9, 8].all()
    assert not edge_map(blank(12)).any() and edge_map(np.zeros((3, 3, 3), np.uint8)).any()


def test_widening_reaches_as_far_as_it_says():
    mask = np.zeros((9, 9), bool)
    mask[4, 4] = True
    assert (widen(mask, 0) == mask).all()
    assert widen(mask, 2).sum() == 25 and widen(mask, 2)[2:7, 2:7].all()
    assert widen(mask, 20).all()


def test_edge_f1_by_hand():
    picture = icon(96)
    edges, none = Edges(picture, 1), Edges(blank(), 1)
    assert edge_distance(edges, edges) == 0 and edge_distance(none, none) == 0
    assert edge_distance(edges, none) == edge_distance(none, edges) == 1
    half = Edges(picture, 1)
    half.at = half.at.copy()
    half.at[:, 48:] = False
    half.near, half.count = widen(half.at, 1), int(half.at.sum())
    assert 1 - edge_distance(edges, half) == pytest.approx(2 * half.count / (edges.count + half.count))


def test_scribbling_everywhere_finds_no_edges():
    noise = np.random.default_rng(0).integers(0, 256, (96, 96, 3), dtype=np.uint8)
    assert one("edges", icon(96), noise) < 0.2 < one("edges", icon(96), icon(96, parts=1))


def test_edges_within_the_tolerance_count_and_colours_do_not():
    near, far = icon(96, right=2), icon(96, right=5)
    assert one("edges", icon(96), near, tolerance=2) == pytest.approx(1.0, abs=0.02)
    assert one("edges", icon(96), near, tolerance=0) < 0.7
    assert one("edges", icon(96), far) < one("edges", icon(96), near)
    assert one("edges", icon(96), icon(96, ink=(0, 150, 0))) == 1.0


# ---------------------------------------------------------------------- colours


def test_colours_know_amounts_and_hues_but_no_places():
    assert one("colours", icon(96), icon(96)[::-1, ::-1]) == pytest.approx(1.0)
    assert 0.3 < one("colours", icon(96), icon(96, ink=(40, 160, 60))) < 0.9
    assert one("colours", icon(96), icon(96, parts=1)) < 0.7


def test_much_white_paper_does_not_make_colours_alike():
    size, side = 96, 12  # the drawing covers a sixty-fourth of the paper
    red, blue = blank(size), blank(size)
    red[:side, :side], blue[:side, :side] = (220, 0, 0), (0, 0, 220)
    assert colour_distance(Colours(red), Colours(blue)) > 0.25
    assert one("colours", red, blue) < 0.6
    large_red, large_blue = (np.full((size, size, 3), p[0, 0], np.uint8) for p in (red, blue))
    assert one("colours", red, blue) == pytest.approx(one("colours", large_red, large_blue), abs=0.02)


def test_red_and_green_beside_each_other_are_not_yellow_and_black():
    mixed, other = blank(16), blank(16)
    mixed[:8], mixed[8:] = (255, 0, 0), (0, 255, 0)
    other[:8], other[8:] = (255, 255, 0), (0, 0, 0)
    assert (Colours(mixed).spread[:3] == Colours(other).spread[:3]).all()  # channel by channel they are equal
    assert colour_distance(Colours(mixed), Colours(other)) > 0.1


def test_black_against_white_is_as_far_as_it_goes():
    black = np.zeros((8, 8, 3), np.uint8)
    assert colour_distance(Colours(black), Colours(blank(8))) == pytest.approx(1.0)
    assert colour_distance(Colours(blank(8)), Colours(blank(8))) == 0


# ---------------------------------------------------------------------- the mix and what all share


def test_the_mix_is_the_weighted_mean_of_its_parts():
    target, drawing = icon(96), icon(96, ink=(0, 100, 0), right=4)
    parts = [one(kind, target, drawing, above_blank=False) for kind in ("msssim", "colours")]
    edges = one("edges", target, drawing, above_blank=False, tolerance=1)
    expected = MIX["structure"] * parts[0] + MIX["edges"] * edges + MIX["colours"] * parts[1]
    assert sum(MIX.values()) == 1
    assert one("classical", target, drawing, above_blank=False) == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_scores_are_symmetric(kind):
    pictures = [*PICTURES.values(), blank(), stripes(64)]
    scorer = resolve("scorer", {"kind": kind, "above_blank": False})
    there = scorer.score_pairs([(a, b) for a in pictures for b in pictures])
    back = scorer.score_pairs([(b, a) for a in pictures for b in pictures])
    assert there == pytest.approx(back, abs=1e-12) and all(0 <= score <= 1 for score in there)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (1, 50), (2, 3), (11, 11), (300, 200)])
def test_any_size_can_be_compared(kind, size):
    picture = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    assert one(kind, picture, picture.copy()) == 1.0
    assert 0 <= one(kind, picture, icon(64)) <= 1


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ({"kind": "edges", "tolerance": -1}, "tolerance"),
        ({"kind": "classical", "max_side": 4}, "max_side"),
        ({"kind": "colours", "batch_size": 0}, "batch_size"),
        ({"kind": "msssim", "cache_mb": -1}, "cache_mb"),
        ({"kind": "classical", "cache_mb": float("nan")}, "cache_mb"),
        ({"kind": "edges", "above_blank": "yes"}, "above_blank"),
        ({"kind": "edges", "reach": 3}, "reach"),
    ],
)
def test_bad_arguments_are_named(spec, named):
    with pytest.raises(ConfigError, match=named):
        resolve("scorer", spec)
