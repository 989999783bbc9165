"""The speed of similarity is measured on real comparisons and reported in the benchmarks' form."""

from __future__ import annotations

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.specs import resolve
from benchmarks import similarity


@pytest.mark.long
def test_a_quick_run_measures_every_scorer_that_needs_no_folder():
    report = similarity.run(quick=True)
    assert {"schema", "name", "machine", "threads", "results", "peers", "ratios", "pass"} <= set(report)
    rows = report["results"]
    kinds = [row["impl"].removeprefix("agentrl ") for row in rows]
    assert kinds[:8:2] == kinds[1:8:2] == ["msssim", "edges", "colours", "classical"] and set(kinds[8:]) == {"stlpips"}
    for row in rows:
        assert {"case", "impl", "version", "num_envs", "obs", "px", "unit", "value", "repeats"} <= set(row)
        assert row["unit"] == "pairs/s" and row["px"] == 224 and row["value"] > 0
    assert len({row["case"] for row in rows}) == len(rows)


def test_the_large_models_are_measured_with_random_weights_of_their_format(monkeypatch):
    from benchmarks import random_weights

    monkeypatch.setattr(random_weights, "BASE", random_weights.Sizes())
    for kind in similarity.LARGE:
        with similarity._random_folder(kind) as folder:
            row = similarity._row({"kind": kind, "folder": str(folder)}, "cpu", 0.01, 1)
        assert row["impl"] == f"agentrl {kind} (random weights)" and row["value"] > 0
        assert not folder.exists()


def test_pairs_share_a_target_in_groups_of_eight_and_are_not_alike():
    pairs = similarity.picture_pairs(20, side=64)
    assert len(pairs) == 20 and len({id(target) for target, _ in pairs}) == 3
    assert max(resolve("scorer", "classical").score_pairs(pairs)) < 0.9
    with pytest.raises(ConfigError):
        similarity.picture_pairs(0)
