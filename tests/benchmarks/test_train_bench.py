"""The benchmark of training measures what it says."""

from __future__ import annotations

import json
import time

import pytest

from agentrl.cli import bench
from agentrl.cli.bench import BENCHES, load_bench
from agentrl.core.errors import ConfigError
from agentrl.models.loading import load_model
from agentrl.policies.hf import HFPolicy
from benchmarks import train, update_rows

UPDATES = [("a quarter shared", "agentrl"), ("nothing shared", "transformers loop")]


@pytest.fixture(scope="module")
def report():
    """A quick run of a few short rows: what is measured, not how fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "BATCH", {"cpu": 6})
        patch.setattr(train, "EPISODES", {"cpu": 8})
        patch.setattr(update_rows, "ROWS", {"cpu": (8, 40)})
        patch.setattr(train, "MAX_LENGTH", 4)
        return train.run(quick=True)


@pytest.mark.long
def test_a_quick_run_has_the_contracts_keys_and_compares_with_generate(report):
    assert {"schema", "name", "machine", "threads", "results", "peers", "ratios", "pass"} <= set(report)
    rows = {(row["case"], row["impl"]): row for row in report["results"]}
    ours, peer = (rows["generation, batch 6", name] for name in ("agentrl", "transformers generate"))
    (ratio,) = report["ratios"]
    assert ratio["ratio"] == ours["value"] / peer["value"] and ratio["required"] == 1
    assert report["pass"] == ratio["pass"] == (ratio["ratio"] >= 1)
    assert report["peers"]["transformers"]["version"]


@pytest.mark.long
def test_a_quick_run_says_where_the_time_of_training_went(report):
    rows = {row["case"]: row for row in report["results"]}
    shares = [rows[f"time: {part}"]["value"] for part in train.PARTS]
    assert sum(shares) == pytest.approx(1, abs=0.01) and rows["time: update"]["value"] > 0
    assert rows["rollout, tokens generated"]["value"] > 0 and rows["update, tokens trained"]["value"] > 0
    assert 0 <= rows["padding of the update"]["value"] < 1
    ours, loop = ((f"update, rows of 40 tokens, {kind}", name) for kind, name in UPDATES)
    every = {(row["case"], row["impl"]): row["value"] for row in report["results"]}
    assert every[ours] > 0 and every[loop] > 0
    assert 0.05 < rows["peak memory"]["value"] < 100 and rows["peak memory"]["unit"] == "GiB"


@pytest.mark.long
def test_a_quick_run_says_how_far_generation_is_from_training(report):
    (row,) = [row for row in report["results"] if row["unit"] == "nats"]
    assert "from the trainer's" in row["case"] and 0 <= row["value"] < 1e-4  # in float32 on the CPU


def test_both_sides_count_tokens_up_to_the_end_of_an_answer(monkeypatch):
    monkeypatch.setattr(train, "MAX_LENGTH", 4)
    engine = load_model("tiny-text", device="cpu")
    policy = HFPolicy(engine, max_new_tokens=4)
    prompts = [policy.encode(conversation) for conversation in train.openings(6)]
    assert 6 <= train.generate_ours(policy, prompts) <= 24
    assert 6 <= train.generate_plain(policy, prompts) <= 24
    engine.stops = frozenset(range(engine.model.config.vocab_size))  # whatever comes first ends the answer
    assert train.generate_ours(policy, prompts) == train.generate_plain(policy, prompts) == 6


def test_openings_differ_and_rates_are_things_over_seconds():
    texts = [conversation[-1]["content"] for conversation in train.openings(5)]
    assert len(set(texts)) == 5
    found = train.in_turns({"slow": lambda: time.sleep(0.02) or 10, "none": lambda: 0}, repeats=3)
    assert len(found["slow"]) == 3 and all(100 < rate <= 500 for rate in found["slow"])
    assert found["none"] == [0, 0, 0]


def test_what_training_reports_is_kept_apart_from_the_json(monkeypatch, capsys):
    measured = {"schema": 1, "pass": True}
    monkeypatch.setattr(bench, "load_bench", lambda name: lambda quick: print("[1/7]  success 0.05") or measured)
    assert bench.run(bench.Arguments(name="train", json=True)) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == measured and "[1/7]" in printed.err


def test_it_is_listed_and_takes_a_model(agentrl_cli_error):
    assert "train" in BENCHES and load_bench("train") is train.run
    with pytest.raises(ConfigError, match="unknown model"):
        train.run(model="tiny-txt")
    assert "bench judge has no option 'model'" in agentrl_cli_error("bench", "judge", "--model", "tiny-text")


@pytest.fixture
def agentrl_cli_error(capsys):
    from agentrl.cli.main import main

    def run(*words):
        assert main(list(words)) == 2
        return capsys.readouterr().err

    return run
