"""Rankings by embeddings and by both, and the benchmark, on the small encyclopaedia."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentrl.envs.common.search.dense import fused
from benchmarks import multihop
from tests.envs.common.test_dense_search import model_folder, table
from tests.envs.multihop.question_kit import hotpot_row, play, small_env, written


def test_every_ranking_is_played_and_the_oracle_finds_its_pages(tmp_path: Path) -> None:
    model = model_folder(tmp_path / "m", {"t": table()})
    path = written(tmp_path / "q.json", [hotpot_row(number) for number in range(3)])
    shown = {}
    for ranking in ("bm25", "embeddings", "hybrid"):
        env = small_env(questions=path, cuts="none", ranking=ranking, embedder=model, hits=4)
        assert all(play(env, task)[1]["success"] for task in env.tasks())
        shown[ranking] = env.collection.find("river author", 4, ranking, str(model))
    words = [hit.number for hit in env.collection.index.search("river author", 100)]
    near = env.collection.dense(str(model)).search("river author", 100)
    assert shown["bm25"] == tuple(words[:4]) and shown["embeddings"] == tuple(near[:4])
    assert shown["hybrid"] == tuple(fused([words, near])[:4])


def test_the_benchmark_measures_turns_and_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentrl.core.measure.peers_python", lambda *_: None)  # they have tests of their own
    report = multihop.run(quick=True)
    assert [row["case"] for row in report["results"]] == ["resets 1,000", "turns 1,000", "search 1,000"]
    assert all(row["value"] > 0 for row in report["results"]) and report["peers"]["bm25s"]["reason"]
    slow = multihop.search_ratio(report["results"], {"case": "search 1,000", "impl": "x", "value": 0.0}, 1_000)
    assert not slow["pass"]
