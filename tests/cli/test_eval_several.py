"""`agentrl eval` with several environments and policies: one table, one page, every episode kept."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from agentrl.policies.hf import HFPolicy
from agentrl.rollout.trajectory_file import read_trajectories

LAKE, ROOM = "agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Text-v0"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two environments, two policies."""
    from agentrl.cli.main import main

    folder = tmp_path_factory.mktemp("eval") / "run"
    words = ("--policy", "random", "--policy", "oracle", "--episodes", "6", "--output", str(folder), "--json")
    assert main(["eval", LAKE, ROOM, *words]) == 0
    return folder


def test_every_policy_plays_every_environment_and_figures_are_those_of_one_alone(agentrl_cli, kept: Path) -> None:
    found = json.loads((kept / "results.json").read_text())
    rows = [(row["id"], row["policy"]) for row in found["results"]]
    assert list(found) == ["schema", "results"]
    assert rows == [(LAKE, "random"), (LAKE, "oracle"), (ROOM, "random"), (ROOM, "oracle")]
    for row in (found["results"][2], found["results"][3]):
        alone = agentrl_cli("eval", ROOM, "--policy", row["policy"], "--episodes", "6", "--json").json
        assert {**alone, "seconds": 0} == {**row, "seconds": 0}


def test_the_table_has_a_line_for_each(agentrl_cli) -> None:
    done = agentrl_cli("eval", LAKE, ROOM, "--policy", "oracle", "--policy", "random", "--episodes", "2")
    lines = [line for line in done.out.splitlines() if "agentrl/" in line]
    assert done.status == 0 and len(lines) == 4 and all("1.000" in line for line in lines[::2])
    assert f"{LAKE} oracle: 2/2, " in done.err and " turns, " in done.err


def test_every_trajectory_is_kept_and_the_page_leads_to_episodes(kept: Path) -> None:
    files = sorted((kept / "trajectories").iterdir())
    assert [len(read_trajectories(path)) for path in files] == [6] * 4
    page = (kept / "report.html").read_text()
    links = re.findall(r'href="([^"]+)"', page)
    assert len(links) == 4 and all((kept / link).is_file() for link in links)
    for said in ("6 episodes of the split test, seed 0", "FrozenLake Text", "Sokoban Text", "oracle", "100.0 %"):
        assert said in page


def test_an_evaluation_is_no_run_and_misses_no_configuration(agentrl_cli, tmp_path: Path, caplog) -> None:
    words = ("--policy", "oracle", "--episodes", "1", "--output", str(tmp_path / "kept"))
    assert agentrl_cli("eval", LAKE, *words).status == 0
    assert "config.json" not in caplog.text


def test_ids_may_be_patterns_and_are_played_once(agentrl_cli) -> None:
    found = agentrl_cli("eval", "agentrl/FrozenLake-*", LAKE, "--policy", "oracle", "--episodes", "1", "--json").json
    assert [row["id"][-9:-3] for row in found["results"]] == ["e-Grid", "e-Text", "Visual"]


def test_a_model_is_loaded_once_for_all_environments(agentrl_cli, monkeypatch) -> None:
    loaded, whole = [], HFPolicy.__init__

    def counted(self, *given, **options):
        loaded.append(options)
        whole(self, *given, **options)

    monkeypatch.setattr(HFPolicy, "__init__", counted)
    words = ("--policy", "hf:tiny-text", "--policy", "random", "--greedy", "--max-new-tokens", "4", "--device", "cpu")
    found = agentrl_cli("eval", LAKE, ROOM, *words, "--episodes", "1", "--json").json
    assert len(found["results"]) == 4
    assert [options["greedy"] for options in loaded] == [True]  # the options of models do not disturb random play


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((LAKE, "agentrl/FrozenLak-Text-v0"), "FrozenLake-Text"),
        (("agentrl/Nothing-*",), "no environment fits"),
        ((LAKE, "agentrl/FrozenLake-Grid-v0", "--policy", "hf:tiny-text"), "use its Text or Visual kind"),
        ((LAKE, "--policy", "random", "--policy", "oracle", "--greedy"), "the policy must be a model"),
    ],
)
def test_what_cannot_be_played_is_said_before_anything_is(agentrl_cli, tmp_path: Path, words, says: str) -> None:
    done = agentrl_cli("eval", *words, "--output", str(tmp_path / "run"), "--json")
    assert done.status == 2 and says in done.json["error"] and not (tmp_path / "run").exists()
    assert done.err.count("\n") == 1


def test_without_an_id_the_usage_is_explained(agentrl_cli) -> None:
    done = agentrl_cli("eval", "--policy", "oracle")
    assert done.status == 2 and "ID" in done.err


def test_an_evaluation_that_breaks_off_keeps_the_others(agentrl_cli, tmp_path: Path) -> None:
    kwargs = '{"slippery": false}'  # an argument of the first environment alone
    words = ("--policy", "oracle", "--episodes", "2", "--env-kwargs", kwargs, "--output", str(tmp_path / "run"))
    done = agentrl_cli("eval", LAKE, ROOM, *words)
    assert done.status == 2 and "slippery" in done.err
    assert json.loads((tmp_path / "run" / "results.json").read_text())["id"] == LAKE
    assert (tmp_path / "run" / "report.html").is_file()


def test_without_the_client_of_endpoints_the_extra_is_named_before_anything_is_played(agentrl_cli, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    done = agentrl_cli("eval", LAKE, "--policy", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--episodes", "2")
    assert (
        done.status == 1 and done.err == "agentrl: openai is not installed; run: pip install 'agentrl-suite[openai]'\n"
    )


def test_record_takes_the_policy_options_of_eval(agentrl_cli, tmp_path: Path) -> None:
    model = (
        "--policy",
        "hf:tiny-text",
        "--max-new-tokens",
        "4",
        "--greedy",
        "--device",
        "cpu",
        "--prompt-style",
        "step",
    )
    form = ("--strategy", "grounding", "--formats", "html", "--output", str(tmp_path))
    done = agentrl_cli("record", LAKE, *model, *form, "--json")
    assert done.status == 0 and len(done.json["files"]) == 1
    refused = agentrl_cli("record", LAKE, "--policy", "oracle", "--temperature", "1")
    assert refused.status == 2 and "the policy must be a model" in refused.err


def test_no_key_of_the_command_line_reaches_the_folder(agentrl_cli, tmp_path: Path) -> None:
    kwargs = '{"max_turns": 2, "api_key": "canary-0815"}'
    done = agentrl_cli("eval", LAKE, "--episodes", "1", "--env-kwargs", kwargs, "--output", str(tmp_path / "run"))
    assert done.status == 2 and "canary" not in done.out + done.err
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
