"""The experiment with one VLA policy from end to end, and its speed, with tiny numbers on a processor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import vla
from benchmarks.libero.vla_rl import main
from tests.vla import write_nano_vla

pytestmark = pytest.mark.warp


def test_imitation_practice_and_measuring_work_and_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One demonstration of one task, one update of each kind, one start measured; given again nothing is repeated."""
    folder, results = tmp_path / "runs", tmp_path / "results.json"
    words = "--env agentrl/LIBERO-Goal-v0 --algorithm ppo --numbers 7 --device cpu --processes 1 --chunk 4 --size 16 "
    words += "--max-turns 8 --demonstrations 1 --noise 0.02 --imitations 1 --steps 2 --iterations 1 --episodes 2 "
    words += "--places 1 --starts 1 "
    words += f"--folder {folder} --json {results} --model {write_nano_vla(tmp_path / 'nano')}"
    for what in ("imitate", "practise", "measure", "films"):
        main([what, *words.split()])
    assert "1 of 1 demonstrations succeeded" in capsys.readouterr().err
    measured = (folder / "measured.json").read_bytes()
    for what in ("imitate", "practise", "measure", "page"):
        main([what, *words.split()])
    told = capsys.readouterr()
    assert "demonstrations:" not in told.err and "| right instructions | 1 | 0.000" in told.out
    assert (folder / "measured.json").read_bytes() == measured
    assert json.loads(results.read_text())["libero_goal"]["conditions"]["right instructions"]["starts"] == 1
    assert (folder / "films" / "practice.gif").stat().st_size > 0


def test_the_loop_in_warp_is_measured_with_its_split() -> None:
    found = vla.run(quick=True, simulator="warp", model="tiny-vla")
    shares = {row["case"]: row["value"] for row in found["results"] if row["case"].startswith("share")}
    assert set(shares) == {"share of simulator", "share of policy", "share of update", "share of drawing"}
    assert 0 < sum(share for case, share in shares.items() if case != "share of drawing") <= 1
    assert {row["case"] for row in found["results"]} >= {"whole loop", "policy passes", "update"}
