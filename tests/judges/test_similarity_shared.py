"""What all scorers have in common: remembered targets within a bound, faults, hostile input, specs, the default."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from similarity_pictures import PICTURES, icon, ring, shifted, stripes

from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import Scorer, scorer_name
from agentrl.core.specs import known_kinds, resolve
from agentrl.judges.similarity import default
from agentrl.judges.similarity.classical import ClassicalSimilarity, EdgeSimilarity
from agentrl.judges.similarity.scorer import Memory, content_hash

READY = ("msssim", "edges", "colours", "classical", "stlpips", "default")


@pytest.fixture(scope="module")
def scorers() -> dict:
    return {kind: resolve("scorer", kind) for kind in READY}


# ---------------------------------------------------------------------- remembering


def test_the_memory_keeps_the_most_recent_within_its_bound():
    memory = Memory(100)
    for name, size in (("a", 40), ("b", 40)):
        memory.put(name, name.upper(), size)
    assert memory.get("a") == "A"
    memory.put("c", "C", 40)
    assert (memory.get("b"), memory.get("a"), memory.get("c")) == (None, "A", "C")
    memory.put("huge", "H", 101)
    assert memory.get("huge") is None and memory.held == 80 and len(memory) == 2
    memory.put("a", "new", 10)
    assert memory.get("a") == "new" and memory.held == 50


def test_a_target_is_looked_at_once_and_a_drawing_every_time(monkeypatch):
    scorer, seen = ClassicalSimilarity(), []
    original = ClassicalSimilarity._features
    monkeypatch.setattr(
        ClassicalSimilarity, "_features", lambda self, some: seen.append(len(some)) or original(self, some)
    )
    pairs = [(icon(64), shifted(icon(64), amount)) for amount in (0, 0.5, 1)]
    first = scorer.score_pairs(pairs)
    assert seen == [1, 1, 3]  # the target, the blank picture, the drawings
    seen.clear()
    assert scorer.score_pairs([(target.copy(), drawing) for target, drawing in pairs]) == first
    assert seen == [3] and scorer.memory.hits > 0


def test_a_cache_too_small_for_anything_changes_no_score():
    pairs = [(target, drawing) for target in PICTURES.values() for drawing in PICTURES.values()]
    forgetful, small = ClassicalSimilarity(cache_mb=0), ClassicalSimilarity(cache_mb=1, batch_size=2)
    expected = ClassicalSimilarity().score_pairs(pairs)
    assert forgetful.score_pairs(pairs) == expected == small.score_pairs(pairs) == small.score_pairs(pairs)
    assert len(forgetful.memory) == 0 and small.memory.held <= 2**20


def test_pictures_are_known_by_their_content_and_shape():
    picture = icon(32)
    assert content_hash(picture) == content_hash(picture.copy()) == content_hash(picture[::-1][::-1])
    other = picture.copy()
    other[5, 5, 0] ^= 1
    assert content_hash(other) != content_hash(picture)
    assert content_hash(np.zeros((4, 9, 3), np.uint8)) != content_hash(np.zeros((9, 4, 3), np.uint8))


def test_a_target_changed_in_place_is_another_target():
    scorer, target = EdgeSimilarity(), icon(64)
    assert scorer.score_pairs([(target, icon(64))]) == [1.0]
    target[:] = ring(64)
    assert scorer.score_pairs([(target, icon(64))])[0] < 0.6


# ---------------------------------------------------------------------- every scorer


@pytest.mark.parametrize("kind", READY[:-1])
def test_a_batch_gives_what_single_pairs_give(scorers, kind):
    pictures = [icon(40), ring(40), stripes(36), np.zeros((33, 40, 3), np.uint8)]
    pairs = [(a, b) for a in pictures for b in pictures]
    together = scorers[kind].score_pairs(pairs)
    assert together == pytest.approx([scorers[kind].score_pairs([pair])[0] for pair in pairs], abs=1e-5)
    assert all(isinstance(score, float) and 0 <= score <= 1 for score in together)
    assert together[:: len(pictures) + 1] == pytest.approx([1.0] * len(pictures), abs=1e-6)


@pytest.mark.parametrize("kind", READY)
def test_nothing_to_score_is_no_scores(scorers, kind):
    assert scorers[kind].score_pairs([]) == []


@pytest.mark.parametrize("kind", READY)
@pytest.mark.parametrize(
    "wrong",
    [
        (icon(16),),
        icon(16),
        (icon(16), icon(16).astype(np.float32)),
        (icon(16)[..., 0], icon(16)),
        (icon(16), np.zeros((16, 16, 4), np.uint8)),
        (icon(16), np.zeros((0, 16, 3), np.uint8)),
        (None, icon(16)),
        (icon(16).tolist(), icon(16)),
        "ab",
    ],
    ids=range(9),
)
def test_wrong_pairs_are_named(scorers, kind, wrong):
    with pytest.raises(ConfigError, match="pair 1"):
        scorers[kind].score_pairs([(icon(16), icon(16)), wrong])


@pytest.mark.parametrize("kind", READY)
def test_pictures_are_left_alone_however_they_lie_in_memory(scorers, kind):
    odd = icon(64)[::-1, ::2][:, ::-1]
    odd.setflags(write=False)
    before = odd.copy()
    assert scorers[kind].score_pairs([(odd, odd.copy())]) == pytest.approx([1.0], abs=1e-6)
    assert (odd == before).all()


@pytest.mark.parametrize("kind", READY)
def test_the_spec_of_a_scorer_builds_it_again(scorers, kind):
    again = resolve("scorer", scorers[kind].to_json())
    assert again.to_json() == scorers[kind].to_json() and again.name == scorers[kind].name
    pair = (icon(48), ring(48))
    assert again.score_pairs([pair]) == pytest.approx(scorers[kind].score_pairs([pair]), abs=1e-6)


def test_all_kinds_are_known_and_say_their_names(scorers):
    assert {*READY, "dino", "dreamsim"} <= set(known_kinds("scorer"))
    for kind in ("msssim", "edges", "colours", "classical", "stlpips"):
        assert isinstance(scorers[kind], Scorer) and scorer_name(scorers[kind]) == kind


def test_a_distance_that_is_not_finite_is_a_fault(monkeypatch):
    monkeypatch.setattr(EdgeSimilarity, "_distances", lambda self, targets, drawings: np.array([np.nan] * len(targets)))
    with pytest.raises(JudgeFault, match="edges"):
        EdgeSimilarity().score_pairs([(icon(16), icon(16))])


def test_the_global_random_state_is_not_touched(scorers):
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    for kind in READY:
        scorers[kind].score_pairs([(icon(40), ring(40))])
    assert (np.random.get_state()[1] == before).all()


# ---------------------------------------------------------------------- the default


def test_the_default_is_the_network_where_it_is_installed_and_says_so(scorers):
    assert default.default_kind() == "stlpips" and scorer_name(scorers["default"]) == "stlpips"
    pair = (icon(48), ring(48))
    assert scorers["default"].score_pairs([pair]) == pytest.approx(scorers["stlpips"].score_pairs([pair]), abs=1e-6)


@pytest.mark.parametrize("missing", ["torch", "weights"])
def test_the_default_is_the_mix_where_the_network_cannot_be(monkeypatch, missing):
    if missing == "weights":
        monkeypatch.setattr(default, "PACKAGE", "no_such_package_of_weights")
    else:
        found = default.importlib.util.find_spec
        monkeypatch.setattr(default.importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    scorer = resolve("scorer", {"kind": "default", "device": "cpu", "threads": 1})
    assert scorer_name(scorer) == "classical" and scorer.to_json()["kind"] == "classical"
    pair = (icon(48), ring(48))
    assert scorer.score_pairs([pair]) == resolve("scorer", "classical").score_pairs([pair])


def test_the_classical_scorers_need_no_torch():
    code = """
import sys
sys.modules["torch"] = None
import numpy as np
from agentrl.core.specs import resolve
white = np.full((32, 32, 3), 255, np.uint8)
for kind in ("msssim", "edges", "colours", "classical"):
    assert resolve("scorer", kind).score_pairs([(white, white)]) == [1.0]
try:
    resolve("scorer", "stlpips")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "torch is not installed; run: pip install 'agentrl-suite[similarity]'"
