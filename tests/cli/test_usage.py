"""What every verb has in common: one name for what is written, usage lines, defaults, completion, `agentrl env`."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from agentrl.cli.arguments import metavar, one_default
from agentrl.cli.main import SHORT_FORMS, VERBS
from agentrl.registry import known

OWN = [verb for verb in VERBS if verb not in SHORT_FORMS and verb != "train"]


def help_of(agentrl_cli, verb: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", agentrl_cli(verb, "-h").out)


# ---------------------------------------------------------------------- options and usage lines


@pytest.mark.parametrize("verb", OWN)
def test_what_a_verb_writes_goes_where_output_says(verb: str) -> None:
    names = {field.name for field in fields(import_module(f"agentrl.cli.{verb.replace('-', '_')}").Arguments)}
    assert not names & {"save", "out", "folder", "output_folder", "directory", "dest"}


@pytest.mark.parametrize(
    ("verb", "usage"),
    [
        ("list", "[PATTERN|MODULE ...]"),
        ("eval", "[ID ...]"),
        ("check", "[ID ...]"),
        ("recipe", "[list|show|copy] [NAME] [FILE]"),
        ("setup", "[NAME]"),
        ("site", "[NAME|ID]"),
        ("orm", "[ID]"),
        ("report", "RUN|FILE ..."),
        ("record", "ID"),
    ],
)
def test_words_that_may_be_left_out_stand_in_brackets(agentrl_cli, verb: str, usage: str) -> None:
    line = help_of(agentrl_cli, verb).splitlines()[0]
    assert re.sub(r" \[(OPTIONS|-h|--[^]]+)\]", "", line) == f"usage: agentrl {verb} {usage}"


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "train"])
def test_no_option_has_two_defaults_or_an_empty_one(agentrl_cli, verb: str) -> None:
    text = help_of(agentrl_cli, verb)
    assert "{None}" not in text and not re.findall(r"\(default:\s+(?:''|None|False|'\{\}'|'\[\]'|)\)", text)
    options = re.split(r"^[\u2502 ] (?=\S)", text, flags=re.MULTILINE)
    assert [option for option in options if len(re.findall(r"\bdefault:", option, re.IGNORECASE)) > 1] == []


def test_a_default_is_told_where_the_text_does_not() -> None:
    assert one_default("Number of episodes.")("100") == "(default: 100)"
    assert one_default("The device; default: the GPU.")("None") == one_default("Greedy decoding.")("False") == ""
    assert metavar(int | None, needed=False) == "INT" and metavar(int, needed=False) is None


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "agentrl/FrozenLake-Text-v0", "--epsodes", "3"),  # an option that there is not
        ("eval", "agentrl/FrozenLake-Text-v0", "--episodes", "many"),
        ("eval", "agentrl/FrozenLake-Text-v0", "--episodes", "0"),  # a value that cannot work
        ("eval", "agentrl/FrozenLake-Text-v0", "--policy", "nobody"),
        ("eval", "agentrl/FrozenLake-Text-v0", "--split", "none"),
        ("info", "agentrl/Nothing-v0"),
        ("play", "agentrl/FrozenLake-Text-v0", "--seed", "-1"),
        ("check",),
        ("recipe", "show"),
        ("report", "nowhere"),
        ("train", "--recipe", "nothing"),
        ("completion", "tcsh"),
        ("nonsense",),
    ],
)
def test_wrong_usage_has_status_two(agentrl_cli, words: tuple[str, ...]) -> None:
    done = agentrl_cli(*words)
    assert done.status == 2 and done.err and not done.out


# ---------------------------------------------------------------------- completion


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The completion of bash in a file."""
    import io
    from contextlib import redirect_stdout

    from agentrl.cli.main import main

    path, said = tmp_path_factory.mktemp("completion") / "agentrl.bash", io.StringIO()
    with redirect_stdout(said):
        assert main(["completion", "bash"]) == 0
    path.write_text(said.getvalue())
    return path


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("comp", ["completion"]),
        ("eval agentrl/Frozen", [entry.id for entry in known() if entry.id.startswith("agentrl/Frozen")]),
        ("eval agentrl/FrozenLake-Text-v0 --epi", ["--episodes"]),
        ("eval --policy ora", ["oracle"]),
        ("eval --split d", ["dev"]),
        ("train step", ["steppo"]),
        ("train steppo --env agentrl/SVG", ["agentrl/SVG-Visual-v0"]),
        ("recipe co", ["copy"]),
        ("completion ", ["bash", "zsh", "fish", "--json", "--help"]),
    ],
)
def test_bash_completes_verbs_ids_options_and_values(script: Path, line: str, offered: list[str]) -> None:
    words = ["agentrl", *line.split(" ")]
    code = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _agentrl; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", code, "-", *words], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.split() == offered


def test_zsh_and_fish_have_the_same_words(agentrl_cli, script: Path) -> None:
    zsh, fish = agentrl_cli("completion", "zsh").out, agentrl_cli("completion", "fish").out
    assert zsh.endswith(script.read_text()) and "bashcompinit" in zsh.splitlines()[0]
    assert all(f"-n __fish_use_subcommand -a {verb} " in fish for verb in VERBS)
    assert "-n '__fish_seen_subcommand_from eval' -l split -xa 'train dev test'" in fish
    assert agentrl_cli("completion", "fish", "--json").json["script"] == fish


# ---------------------------------------------------------------------- env


def test_env_tells_versions_extras_and_caches_and_no_secret(agentrl_cli, monkeypatch, tmp_path: Path) -> None:
    home = tmp_path / "jane"
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "levels.npz").write_bytes(b"12345")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENTRL_CACHE", str(home / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0815")
    facts = agentrl_cli("env", "--json").json
    assert facts["cache"] == {"folder": "~/cache", "files": 1, "bytes": 5}
    assert facts["packages"]["gymnasium"] and facts["machine"]["python"] and isinstance(facts["gpus"], list)
    assert facts["extras"]["human"] == [] and "robots" in facts["extras"]
    shown = agentrl_cli("env").out
    assert "gymnasium" in shown and "canary" not in shown + json.dumps(facts) and "jane" not in shown


def test_env_names_what_an_extra_lacks(agentrl_cli, monkeypatch) -> None:
    lines = [
        'pygame>=2.5; extra == "human"',
        'no-such-thing>=1; extra == "train"',
        'agentrl-suite[train]; extra == "all"',
    ]
    monkeypatch.setattr("agentrl.cli.env.requires", lambda _: lines)
    assert agentrl_cli("env", "--json").json["extras"] == {
        "all": ["no-such-thing"],
        "human": [],
        "train": ["no-such-thing"],
    }
