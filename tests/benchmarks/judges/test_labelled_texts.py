"""The labelled texts about directions and points: enough of them, and judged right as often as the figures say."""

from __future__ import annotations

from collections import Counter

import pytest

from agentrl.core.errors import ConfigError
from benchmarks.judges import texts
from benchmarks.judges.states import envs_declaring
from benchmarks.judges.text_hedging import bearing_hedges, point_hedges


def test_there_are_enough_texts_of_each_kind_and_none_twice() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for kind in texts.KINDS:
        found = [one for split in ("train", "heldout") for one in texts.load(kind, split)]
        assert len({(one.purpose, one.text) for one in found}) == len(found)
        counts.update((kind, one.purpose) for one in found)
    assert counts["bearing", "grounding"] >= 120 and counts["bearing", "worldmodeling"] >= 80
    assert counts["points", "grounding"] + counts["points", "worldmodeling"] >= 120


def test_right_and_wrong_texts_are_both_there() -> None:
    for kind in texts.KINDS:
        best = [max(score for _, score in one.cases) for one in texts.load(kind, "heldout")]
        assert 0.2 < sum(score == 0 for score in best) / len(best) < 0.6


def test_the_held_out_texts_are_judged_right() -> None:
    found = texts.accuracies()
    assert {name.split()[0] for name in found} == set(filter(envs_declaring, texts.KINDS)) >= {"points"}
    for name, figures in found.items():
        print(f"{name}: {figures.texts} texts, {figures.exact:.3f} right, {figures.cases:.3f} of the verdicts")
        assert figures.exact >= (0.85 if name.endswith("heldout") else 0.95), name


@pytest.mark.parametrize("purpose", ["grounding", "worldmodeling"])
def test_leaving_a_choice_earns_less_than_a_guess(purpose) -> None:
    for part, measured in (("bearing", bearing_hedges), ("points", point_hedges)):
        for env_id in envs_declaring(part):
            row = measured(env_id, purpose)
            assert row["texts"] > 10 and row["best_hedge"] == 0.0 < row["guessing"] < 0.3


def test_hedges_are_only_measured_where_something_is_declared() -> None:
    with pytest.raises(ConfigError, match="must declare a bearing"):
        bearing_hedges("agentrl/Sokoban-Text-v0", "grounding")
    with pytest.raises(ConfigError, match="must declare points"):
        point_hedges("agentrl/Sokoban-Text-v0", "grounding")


def test_without_the_labelled_texts_one_sentence_says_what_is_missing(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=r"^the labelled texts \(points-train\.jsonl\) are missing: .* a checkout"):
        texts.load("points", "train")
