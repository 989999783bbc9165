"""check, record and bench against the real kit, the real recorder and the real benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

LAKE = "agentrl/FrozenLake-Visual-v0"


@pytest.mark.long  # tests/test_family_package.py checks a family by the command, test_grid_contract.py the lakes
def test_check_runs_the_real_kit(agentrl_cli):
    done = agentrl_cli("check", LAKE, "--json")
    (entry,) = done.json["envs"]
    assert done.status == 0 and done.json["pass"] and entry["id"] == LAKE and entry["status"] == "ok"
    assert len(entry["checks"]) >= 15 and all(check["pass"] for check in entry["checks"])


def test_record_writes_a_film_that_can_be_watched_and_a_page_that_can_be_read(agentrl_cli, tmp_path):
    done = agentrl_cli("record", LAKE, "--policy", "oracle", "--episodes", "2", "--output", str(tmp_path), "--json")
    assert done.status == 0, done.err
    films = sorted(tmp_path.rglob("*.gif"))
    assert len(films) == 2
    with Image.open(films[0]) as film:
        assert film.n_frames >= 3  # at least two turns: the shortest solutions have five moves
    pages = [path.read_text() for path in Path(tmp_path).rglob("*.html")]
    assert len(pages) == 2 and all("Content-Security-Policy" in page and "data:image/png" in page for page in pages)


def test_bench_measures_for_real_and_fails_without_peers(agentrl_cli, monkeypatch, tmp_path):
    monkeypatch.setenv("AGENTRL_PEERS", str(tmp_path))
    done = agentrl_cli("bench", "grid", "--quick", "--json")
    assert done.status == 1 and not done.json["pass"]
    assert all(row["value"] > 0 for row in done.json["results"])
