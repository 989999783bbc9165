"""Multi-scale structural similarity: 1 for equal pictures, symmetric, within bounds, falling with damage."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.judging import Scorer
from agentrl.core.specs import known_kinds, resolve
from agentrl.judges.similarity import MultiScaleSimilarity

RNG = np.random.default_rng(0)


def scene(height: int = 96, width: int = 128) -> np.ndarray:
    """A picture with structure at several scales."""
    rows, columns = np.mgrid[0:height, 0:width]
    red = 127 + 120 * np.sin(columns / 9) * np.cos(rows / 13)
    green = np.where((columns - width / 2) ** 2 + (rows - height / 2) ** 2 < (height / 4) ** 2, 220, 30)
    blue = (rows * 255 // max(1, height - 1)) ^ (columns % 16)
    return np.stack([red, green, np.clip(blue, 0, 255)], axis=2).astype(np.uint8)


def noise(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, (*shape, 3), dtype=np.uint8)


def one(first: np.ndarray, second: np.ndarray, **arguments) -> float:
    return MultiScaleSimilarity(**arguments).score_pairs([(first, second)])[0]


def test_it_is_found_by_its_spec():
    assert "msssim" in known_kinds("scorer")
    scorer = resolve("scorer", {"kind": "msssim", "max_side": 64})
    assert isinstance(scorer, Scorer) and scorer.max_side == 64
    assert resolve("scorer", scorer.to_json()).max_side == 64
    assert resolve("scorer", "msssim").score_pairs([]) == []


@pytest.mark.parametrize(
    "size", [(1, 1), (1, 40), (3, 3), (7, 5), (11, 11), (64, 64), (96, 128), (177, 176), (300, 500)]
)
def test_equal_pictures_score_one_at_any_size(size):
    for picture in (scene(*size), noise(*size), np.zeros((*size, 3), np.uint8), np.full((*size, 3), 255, np.uint8)):
        assert one(picture, picture.copy()) == pytest.approx(1.0, abs=1e-9)


def test_scores_are_symmetric_and_within_bounds():
    pictures = [scene(), noise(96, 128), 255 - scene(), scene(50, 70), noise(5, 300), np.zeros((40, 40, 3), np.uint8)]
    pairs = [(a, b) for a in pictures for b in pictures]
    there = MultiScaleSimilarity().score_pairs(pairs)
    back = MultiScaleSimilarity().score_pairs([(b, a) for a, b in pairs])
    assert there == pytest.approx(back, abs=1e-12)
    assert all(0.0 <= score <= 1.0 for score in there)


def test_more_damage_scores_less():
    clean = scene().astype(float)
    levels = [np.clip(clean + RNG.normal(0, s, clean.shape), 0, 255).astype(np.uint8) for s in (0, 5, 15, 40, 90)]
    scores = [one(scene(), level) for level in levels]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1.0) and scores[-1] < 0.75


def test_unrelated_and_inverted_pictures_score_low_and_a_small_shift_high():
    assert one(scene(), noise(96, 128)) < 0.4
    assert one(scene(), 255 - scene()) < 0.3
    assert one(scene(), np.roll(scene(), 1, axis=1)) > one(scene(), np.roll(scene(), 12, axis=1))


def test_flat_colours_differ_by_their_brightness():
    black, grey, white = (np.full((64, 64, 3), value, np.uint8) for value in (0, 128, 255))
    assert one(black, white) < one(grey, white) < 1.0
    assert one(black, white) < 0.5


def test_every_channel_counts():
    other = scene()
    other[..., 2] = noise(96, 128)[..., 2]
    assert 0.5 < one(scene(), other) < 0.9


def test_sizes_may_differ():
    from PIL import Image

    small = np.asarray(Image.fromarray(scene(192, 256)).resize((128, 96)))
    assert one(scene(192, 256), small) > 0.9
    assert one(scene(192, 256), noise(96, 128)) < 0.4


def test_a_batch_gives_what_single_pairs_give():
    pairs = [
        (scene(), noise(96, 128)),
        (scene(20, 20), noise(20, 20)),
        (scene(), scene()),
        (noise(20, 20), noise(33, 9)),
    ]
    assert MultiScaleSimilarity().score_pairs(pairs) == pytest.approx([one(*pair) for pair in pairs], abs=1e-12)


def test_inputs_are_left_alone():
    first, second = scene(), noise(96, 128)
    copies = first.copy(), second.copy()
    first.setflags(write=False)
    one(first, second)
    assert (first == copies[0]).all() and (second == copies[1]).all()


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((0, 8, 3), np.uint8),
        np.zeros((8, 8, 3), np.float32),
        [[1]],
        None,
    ],
)
def test_wrong_pictures_are_named_by_their_pair(wrong):
    good = scene(8, 8)
    with pytest.raises(ConfigError, match="pair 1"):
        MultiScaleSimilarity().score_pairs([(good, good), (good, wrong)])
