"""ST-LPIPS gives the published package's numbers, whatever the batch, the cache and the size of the pictures."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from similarity_pictures import blank, icon, scene, stripes
from torch import nn

from agentrl.core.errors import ConfigError, JudgeFault, MissingExtra
from agentrl.core.specs import resolve
from agentrl.judges.similarity import default, stlpips
from agentrl.judges.similarity.stlpips import ShiftTolerantAlexNet, ShiftTolerantLPIPS, thin_out, thinned_convolution

# Distances that the code of stlpips-pytorch 0.0.2 itself gives for these pairs (AlexNet, shift-tolerant).
GOLDEN = [
    (icon(224), icon(224), 0.0),
    (icon(224), icon(224, right=4), 0.0235569),
    (icon(224), icon(224, ink=(40, 160, 60)), 0.1652082),
    (icon(224), blank(224), 0.5854052),
    (icon(224), np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8), 0.9021370),
    (icon(96), icon(96, right=3), 0.0177444),
    (icon(131)[:, :100], icon(131, right=3)[:, :100], 0.0190505),  # odd height, even width
]


@pytest.fixture(scope="module")
def scorer() -> ShiftTolerantLPIPS:
    return ShiftTolerantLPIPS(threads=1)


def test_distances_are_those_of_the_published_package():
    raw = ShiftTolerantLPIPS(threads=1, above_blank=False)
    assert raw.name == "stlpips_raw"
    scores = raw.score_pairs([(target, drawing) for target, drawing, _ in GOLDEN])
    assert [1 - score for score in scores] == pytest.approx([distance for _, _, distance in GOLDEN], abs=2e-6)


def test_scores_are_measured_from_the_blank_drawing_up(scorer):
    assert scorer.name == "stlpips"
    near, green, nothing = scorer.score_pairs([(target, drawing) for target, drawing, _ in GOLDEN[1:4]])
    assert near == pytest.approx(1 - 0.0235569 / 0.5854052, abs=1e-5)
    assert green == pytest.approx(1 - 0.1652082 / 0.5854052, abs=1e-5)
    assert nothing == 0


@pytest.mark.parametrize("size", [(40, 40), (41, 40), (33, 52), (47, 35)])
def test_the_shortened_first_layer_equals_the_long_one(size):
    chance = torch.Generator().manual_seed(0)
    layer = nn.Conv2d(3, 8, 11, padding=2)
    layer.weight.data, layer.bias.data = (torch.randn(p.shape, generator=chance) for p in (layer.weight, layer.bias))
    pixels = torch.randn((2, 3, *size), generator=chance)
    with torch.inference_mode():
        assert torch.allclose(thinned_convolution(pixels, layer), thin_out(layer(pixels)), atol=1e-4)


def test_a_batch_gives_what_single_pairs_give_and_the_cache_what_no_cache_gives(scorer):
    targets, drawings = [icon(48), scene(3, 48)], [icon(48, right=2), stripes(48), blank(48), scene(4, 60)]
    pairs = [(target, drawing) for target in targets for drawing in drawings]
    together = scorer.score_pairs(pairs)
    again = scorer.score_pairs(pairs)
    alone = [ShiftTolerantLPIPS.score_pairs(scorer, [pair])[0] for pair in pairs]
    forgetful = ShiftTolerantLPIPS(threads=1, cache_mb=0, batch_size=3)
    assert together == pytest.approx(again, abs=1e-5)
    assert together == pytest.approx(alone, abs=1e-5)
    assert together == pytest.approx(forgetful.score_pairs(pairs), abs=1e-5) and len(forgetful.memory) == 0


def test_tiny_and_narrow_pictures_are_enlarged_and_large_ones_reduced(scorer):
    chance = np.random.default_rng(0)
    for size in [(1, 1), (3, 200), (500, 40)]:
        picture = chance.integers(0, 200, (*size, 3), dtype=np.uint8)
        equal, other = scorer.score_pairs([(picture, picture), (picture, blank(50))])
        assert equal == pytest.approx(1, abs=1e-6) and 0 <= other < 1
    assert scorer._size((np.zeros((500, 40, 3), np.uint8),) * 2) == (224, 32)


def test_the_number_of_threads_is_put_back(scorer):
    before = torch.get_num_threads()
    two = ShiftTolerantLPIPS(threads=2)
    assert two.threads == 2 and two.score_pairs([(icon(40), icon(40))]) == [1.0]
    assert torch.get_num_threads() == before


def test_weights_that_are_not_finite_are_a_fault_and_no_score():
    broken = ShiftTolerantLPIPS(threads=1)
    broken.network.convolutions[4].bias.data.fill_(float("nan"))
    with pytest.raises(JudgeFault, match="stlpips"):
        broken.score_pairs([(icon(40), blank(40))])


def test_what_breaks_while_computing_is_a_fault_and_no_score():
    broken = ShiftTolerantLPIPS(threads=1)
    broken.network.convolutions[0].weight.data = torch.zeros(64, 4, 11, 11)
    with pytest.raises(JudgeFault, match="inference failed"):
        broken.score_pairs([(icon(40), blank(40))])


def test_missing_weights_are_a_missing_extra(monkeypatch):
    monkeypatch.setattr(default, "PACKAGE", "no_such_package_of_weights")
    assert default.stlpips_weights() is None
    with pytest.raises(MissingExtra, match=r"stlpips-pytorch is not installed.*agentrl-suite\[similarity\]"):
        ShiftTolerantLPIPS()


def test_other_weights_than_the_published_are_refused(monkeypatch, tmp_path):
    path = tmp_path / "alex_shift_tolerant.pth"
    path.write_bytes(b"something else")
    monkeypatch.setattr(stlpips, "stlpips_weights", lambda: path)
    with pytest.raises(ConfigError, match=r"is not the file of stlpips-pytorch 0\.0\.2"):
        ShiftTolerantLPIPS()


def test_a_state_without_a_layer_does_not_load():
    with pytest.raises(KeyError):
        ShiftTolerantAlexNet().load({})


@pytest.mark.parametrize(
    ("argument", "value"),
    [("device", "tpu"), ("device", 3.5), ("device", "meta"), ("threads", 0), ("threads", "two"), ("max_side", 16)],
)
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(ConfigError, match=argument):
        resolve("scorer", {"kind": "stlpips", argument: value})


def test_a_gpu_that_is_not_there_is_the_users_mistake(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"device 'cuda' is not available"):
        ShiftTolerantLPIPS(device="cuda")
    assert ShiftTolerantLPIPS().device.type == "cpu"
