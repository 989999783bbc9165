"""Finding the verb and turning errors into one line."""

from __future__ import annotations

import json
from importlib import import_module
from types import SimpleNamespace

import gymnasium.error
import pytest

import agentrl
from agentrl.cli import bench, eval, list
from agentrl.cli.main import SHORT_FORMS, VERBS, main
from agentrl.core.errors import ConfigError, EnvFault, MissingExtra
from agentrl.policies import KINDS

LAKE = "agentrl/FrozenLake-Text-v0"


def test_the_help_of_eval_and_an_unknown_policy_name_every_policy(agentrl_cli):
    shown = " ".join(agentrl_cli("eval", "-h").out.replace("\u2502", " ").split())
    assert [name for name in KINDS if name not in shown] == []
    refused = agentrl_cli("eval", LAKE, "--policy", "nonsense").err
    assert [name for name in KINDS if name not in refused] == []


@pytest.mark.parametrize("words", [(), ("-h",), ("--help",), ("help",)])
def test_help_names_every_verb(agentrl_cli, words):
    done = agentrl_cli(*words)
    assert done.status == 0 and all(f"  {verb} " in done.out for verb in VERBS)


def test_version(agentrl_cli):
    assert agentrl_cli("--version").out.strip() == f"agentrl {agentrl.__version__}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(agentrl_cli, verb):
    done = agentrl_cli(verb, "-h")
    assert done.status == 0 and "--json" in done.out
    if verb not in SHORT_FORMS:
        assert import_module(f"agentrl.cli.{verb.replace('-', '_')}").Arguments.__doc__


@pytest.mark.parametrize("verb", ["evla", "", "--json", "../main", "\x1b[2J", "arguments"])
def test_an_unknown_verb_is_refused(agentrl_cli, verb):
    done = agentrl_cli(verb)
    assert done.status == 2 and "unknown verb" in done.err and "\x1b" not in done.err


def test_an_unknown_option_suggests_the_nearest(agentrl_cli):
    done = agentrl_cli("eval", LAKE, "--epsodes", "3")
    assert done.status == 2 and "--episodes" in done.err and done.out == ""


@pytest.mark.parametrize(
    "error",
    [ConfigError("size is\nwrong"), MissingExtra("pygame", "human"), EnvFault("gone"), gymnasium.error.Error("x")],
)
def test_errors_of_any_verb_are_one_line_and_one_object(agentrl_cli, monkeypatch, error):
    def fail(_):
        raise error

    monkeypatch.setattr(list, "run", fail)
    done = agentrl_cli("list", "--json")
    line = " ".join(str(error).split())
    assert done.status == (2 if isinstance(error, ConfigError) else 1)
    assert done.err == f"agentrl: {line}\n"
    assert done.json == {"schema": 1, "error": line}


def test_a_bug_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(list, "run", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["list"])


def test_interrupting_is_not_a_traceback(agentrl_cli, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(eval, "run", interrupt)
    assert agentrl_cli("eval", LAKE).status == 130


@pytest.mark.parametrize("text", ["{", "[1]", "3", "size=3", ""])
def test_env_kwargs_must_be_a_json_object(agentrl_cli, text):
    done = agentrl_cli("eval", LAKE, "--env-kwargs", text, "--json")
    assert done.status == 2 and "--env-kwargs takes a JSON object" in done.json["error"]


def test_the_table_of_benches_is_listed(agentrl_cli):
    assert [row["name"] for row in agentrl_cli("bench", "--json").json["benches"]] == [*bench.BENCHES, *bench.GROUPS]
    assert "grid" in agentrl_cli("bench").out


def test_a_group_of_benches_runs_all_of_them_and_fails_with_any(monkeypatch):
    def report(name: str, passed: bool) -> dict:
        rows = {"results": [{"case": name}], "ratios": [{"case": name, "pass": passed}], "peers": {name: {}}}
        return {"schema": 1, "name": name, "machine": {}, "threads": 1, **rows, "pass": passed}

    loaded = {"one": lambda quick: report("one", True), "two": lambda quick: report("two", not quick)}
    monkeypatch.setattr(bench, "GROUPS", {"both": ["one", "two"]})
    monkeypatch.setattr(bench, "BENCHES", {name: SimpleNamespace(load=lambda f=f: f) for name, f in loaded.items()})
    run = bench.load_bench("both")
    assert [row["case"] for row in run(False)["results"]] == ["one", "two"] == [*run(False)["peers"]]
    assert run(False)["pass"] and not run(True)["pass"]


def test_json_is_on_one_line(agentrl_cli):
    assert json.loads(agentrl_cli("list", "--json").out.strip())
