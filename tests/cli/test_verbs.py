"""list, info, eval, check, bench, record: what they print and when they fail."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import gymnasium as gym
import pytest

from agentrl import registry
from agentrl.cli import check, output, record
from agentrl.cli.bench import quantity
from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError, EnvFault, MissingExtra
from agentrl.envs.grid.frozenlake import FrozenLakeEnv
from agentrl.testing.tasks import check_oracle

LAKE = "agentrl/FrozenLake-Text-v0"


# ---------------------------------------------------------------------- list and info


def test_list_has_the_pinned_keys_for_every_row(agentrl_cli):
    rows = agentrl_cli("list", "--json").json
    entries = (*registry.known(), *registry.MULTIPLAYER)
    assert [row["id"] for row in rows] == [entry.id for entry in entries]
    assert all(list(row) == ["id", "kind", "available", "extra", "backend", "summary"] for row in rows)
    shown = agentrl_cli("list").out
    folded = {entry.id for family in registry.FAMILIES if family.summary for entry in family.envs}
    assert len(folded) > 50 and all((row["id"] in shown) != (row["id"] in folded) for row in rows)


def test_a_large_family_is_one_row_unless_a_pattern_names_it(agentrl_cli):
    shown = agentrl_cli("list").out
    (row,) = (line for line in shown.splitlines() if "MetaWorld" in line)
    assert "agentrl/MetaWorld-* (54 ids)" in row and "Fifty tasks" in shown
    assert agentrl_cli("list", "agentrl/MetaWorld-*").out.count("agentrl/MetaWorld-") == 54


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("sokoban",), {"Sokoban-Grid-v0", "Sokoban-Text-v0", "Sokoban-Visual-v0", "parallel_env"}),
        (("agentrl/*Lake-Text-v0",), {"FrozenLake-Text-v0"}),
        (("Goal", "SVG"), {"LIBERO-Goal-v0", "LIBERO-Goal-Text-v0", "SVG-Visual-v0"}),
    ],
)
def test_list_takes_parts_of_ids_and_patterns(agentrl_cli, words, found):
    rows = agentrl_cli("list", *words, "--json").json
    assert {row["id"].rpartition("/")[2].rpartition("sokoban_duo.")[2] for row in rows} == found


def test_a_pattern_that_fits_nothing_is_wrong_usage(agentrl_cli):
    done = agentrl_cli("list", "*/Sokobann*")
    assert done.status == 2 and "no environment fits" in done.err
    assert "cannot be imported" in agentrl_cli("list", "no_such_module_here").err


def unavailable_table():
    return (replace(registry.TABLE[0], modules=("no_such_module_here",), extra="robots"), *registry.TABLE[1:])


def test_list_says_what_to_install(agentrl_cli, monkeypatch):
    monkeypatch.setattr("agentrl.cli.list.known", unavailable_table)
    assert "pip install 'agentrl-suite[robots]'" in agentrl_cli("list").out
    assert [row["available"] for row in agentrl_cli("list", "--json").json][:2] == [False, True]


def test_info_tells_spaces_arguments_limits_prompt_and_documentation(agentrl_cli):
    facts = agentrl_cli("info", LAKE, "--env-kwargs", '{"size": 5, "levels": 4}', "--json").json
    assert facts["arguments"]["size"] == {"default": 4, "value": 5}
    assert facts["limits"] == {"max_turns": 3, "max_actions_per_turn": 3}
    assert "AnyText(Left, Down, Right, Up)" in facts["action_space"]
    assert "frozen lake" in facts["system_prompt"] and "## Rewards" in facts["doc"]
    shown = agentrl_cli("info", LAKE).out
    for part in (LAKE, "hole_probability", "max turns", "system prompt", "Honest note"):
        assert part in shown


def test_info_works_for_environments_of_others(agentrl_cli):
    facts = agentrl_cli("info", "CartPole-v1", "--json").json
    assert facts["id"] == "CartPole-v1" and facts["arguments"] == {} and facts["system_prompt"] == ""


def test_environments_of_several_players_are_described_and_not_taken_for_others(agentrl_cli):
    for entry in registry.MULTIPLAYER:
        facts = agentrl_cli("info", entry.id, "--json").json
        assert facts["kind"] == "PettingZoo" and "player_1: " in facts["action_space"] and facts["system_prompt"]
        refused = agentrl_cli("eval", entry.id)
        assert refused.status == 2 and "several players" in refused.err
    assert registry.MULTIPLAYER


# ---------------------------------------------------------------------- eval


def test_eval_takes_every_option(agentrl_cli):
    words = (
        "--policy",
        "oracle",
        "--episodes",
        "7",
        "--seed",
        "3",
        "--split",
        "dev",
        "--env-kwargs",
        '{"max_turns": 9}',
    )
    result = agentrl_cli("eval", LAKE, *words, "--json").json
    assert (result["episodes"], result["seed"], result["split"], result["policy"]) == (7, 3, "dev", "oracle")
    assert result["spec"]["kwargs"]["max_turns"] == 9 and result["success"] == 1.0


def test_eval_shows_a_table_with_intervals(agentrl_cli):
    done = agentrl_cli("eval", LAKE, "--episodes", "5")
    assert done.status == 0
    for part in ("success", "Wilson", "Student's t", "valid turns", "faults"):
        assert part in done.out
    assert "5/5" in done.err


def test_eval_fails_when_no_episode_could_be_scored(agentrl_cli, monkeypatch):
    def gone(self, *, seed=None, options=None):
        raise EnvFault("the backend is gone")

    monkeypatch.setattr(FrozenLakeEnv, "reset", gone)
    done = agentrl_cli("eval", LAKE, "--episodes", "2", "--json")
    assert done.status == 1
    assert (done.json["faults"], done.json["success"]) == (2, None)
    assert done.err.count("EnvFault: the backend is gone") == 2


# ---------------------------------------------------------------------- check


@pytest.fixture
def kit(monkeypatch):
    """Stands in for the test kit; set `kit.verdicts[id]` to a bool or an exception."""
    verdicts, calls = {}, []

    def check_env(env_id, **kwargs):
        calls.append((env_id, kwargs))
        found = verdicts.get(env_id, True)
        if isinstance(found, Exception):
            raise found
        checks = [{"name": "seeds", "pass": found, "detail": "" if found else "[red]differs[/red]"}]
        json = {"id": env_id, "status": "ok" if found else "failed", "pass": found, "seconds": 0.1, "checks": checks}
        return SimpleNamespace(passed=found, to_json=lambda: json)

    module = ModuleType("agentrl.testing")
    module.check_env = check_env
    monkeypatch.setitem(sys.modules, "agentrl.testing", module)
    return SimpleNamespace(verdicts=verdicts, calls=calls)


def test_check_all_checks_the_whole_table(agentrl_cli, kit):
    done = agentrl_cli("check", "--all", "--json")
    assert done.status == 0
    assert list(done.json) == ["schema", "pass", "envs"] and done.json["pass"] is True
    assert [env_id for env_id, _ in kit.calls] == [entry.id for entry in registry.TABLE]


def test_one_failure_fails_the_verb_and_is_shown_as_it_is(agentrl_cli, kit):
    kit.verdicts[LAKE] = False
    done = agentrl_cli("check", LAKE, "agentrl/FrozenLake-Grid-v0")
    assert done.status == 1 and "seeds" in done.out and "[red]differs[/red]" in done.out


def test_what_an_environment_does_not_offer_is_skipped_in_so_many_words(agentrl_cli, monkeypatch):
    monkeypatch.setattr(FrozenLakeEnv, "oracle", AgentEnv.oracle)
    monkeypatch.setattr("agentrl.testing.runner.CHECKS", {"oracle": check_oracle})
    done = agentrl_cli("check", LAKE)
    assert done.status == 0 and "skipped check" in done.out and "FrozenLakeEnv has no oracle()" in done.out
    (found,) = agentrl_cli("check", LAKE, "--json").json["envs"][0]["checks"]
    assert found["pass"] and found["skipped"]


def test_a_missing_extra_is_unavailable_and_does_not_pass(agentrl_cli, kit, monkeypatch):
    kit.verdicts[LAKE] = MissingExtra("pygame", "human")
    report = agentrl_cli("check", LAKE, "--json").json
    assert report["pass"] is False and report["envs"][0]["status"] == "unavailable"
    monkeypatch.setattr(check, "known", unavailable_table)
    done = agentrl_cli("check", registry.TABLE[0].id, "--json")
    assert done.status == 1 and done.json["envs"][0]["status"] == "unavailable"
    assert "agentrl-suite[robots]" in done.json["envs"][0]["checks"][0]["detail"]


def test_an_environment_that_breaks_the_kit_does_not_hide_the_others(agentrl_cli, kit):
    kit.verdicts[LAKE] = RuntimeError("boom")
    done = agentrl_cli("check", "--all", "--json")
    assert done.status == 1 and len(done.json["envs"]) == len(registry.TABLE)
    (broken,) = [env for env in done.json["envs"] if not env["pass"]]
    assert broken["checks"][0]["detail"] == "RuntimeError: boom"


def test_check_hands_arguments_on_and_refuses_wrong_ones(agentrl_cli, kit):
    agentrl_cli("check", LAKE, "--env-kwargs", '{"size": 5}')
    assert kit.calls == [(LAKE, {"size": 5})]
    kit.verdicts[LAKE] = ConfigError("size must be smaller")
    assert "size must be smaller" in agentrl_cli("check", LAKE).err


@pytest.mark.parametrize("words", [(), (LAKE, "--all"), ("agentrl/FrozenLak-Text-v0",)])
def test_check_wants_to_know_what(agentrl_cli, kit, words):
    done = agentrl_cli("check", *words)
    assert done.status == 2 and not kit.calls and len(done.err.splitlines()) == 1


# ---------------------------------------------------------------------- bench


@pytest.fixture
def fast_bench(monkeypatch):
    """Stands in for the grid benchmark."""
    result = {
        "schema": 1,
        "name": "grid",
        "machine": {"cpu": "abacus", "cores": 2, "python": "3.11"},
        "threads": 1,
        "results": [
            {"case": "step", "impl": "agentrl", "version": "0.1.0", "num_envs": 4096, "obs": "grid", "px": None,
             "unit": "steps/s", "value": 123456789.0, "repeats": 3},
        ],
        "peers": {"envpool": {"installed": False, "version": None, "reason": "no wheel"}},
        "ratios": [
            {"case": "step", "ours": "agentrl", "peer": "envpool", "ratio": 25.04, "required": 20, "pass": True},
        ],
        "pass": True,
    }  # fmt: skip
    module = ModuleType("benchmarks.grid")
    module.run = lambda quick: {**result, "quick": quick}
    monkeypatch.setitem(sys.modules, "benchmarks", ModuleType("benchmarks"))
    monkeypatch.setitem(sys.modules, "benchmarks.grid", module)
    return result


def test_bench_prints_results_ratios_and_missing_peers(agentrl_cli, fast_bench):
    done = agentrl_cli("bench", "grid")
    assert done.status == 0
    for part in ("abacus", "123,456,789", "25.0x", "20x", "no wheel"):
        assert part in done.out
    assert agentrl_cli("bench", "grid", "--quick", "--json").json == {**fast_bench, "quick": True}


def test_measured_quantities_are_printed_with_the_digits_that_mean_something():
    values = (None, 8, "text", 123456.7, 25.36, 6.333404199998768, 0.04370474, 0.0, 2.384185791015625e-06)
    shown = ["-", "8", "text", "123,457", "25.4", "6.33", "0.0437", "0", "2.38e-06"]
    assert [quantity(value) for value in values] == shown


def test_bench_fails_when_a_ratio_is_missed(agentrl_cli, fast_bench):
    fast_bench["pass"] = fast_bench["ratios"][0]["pass"] = False
    done = agentrl_cli("bench", "grid")
    assert done.status == 1 and "FAIL" in done.out


def test_options_that_a_bench_does_not_take_are_refused(agentrl_cli, fast_bench):
    for words in (("--full",), ("--model", "tiny-text"), ("--jobs", "2")):
        done = agentrl_cli("bench", "grid", *words)
        assert done.status == 2 and f"has no option '{words[0][2:]}'" in done.err


def test_an_unknown_bench_suggests_the_nearest(agentrl_cli):
    done = agentrl_cli("bench", "gird")
    assert done.status == 2 and 'Did you mean "grid"' in done.err


# ---------------------------------------------------------------------- record


@pytest.fixture
def recorder(monkeypatch):
    """Stands in for the recording wrapper: one file per episode and format, complete when closed."""

    class RecordEpisode(gym.Wrapper):
        def __init__(self, env, folder, formats):
            super().__init__(env)
            assert env.render_mode == "rgb_array"
            self.folder, self.formats, self.files, self.episodes = folder, formats, [], 0

        def reset(self, **kwargs):
            self.episodes += 1
            return super().reset(**kwargs)

        def close(self):
            self.files = [self.folder / f"{n}.{f}" for n in range(self.episodes) for f in self.formats]
            super().close()

    module = ModuleType("agentrl.wrappers.record_episode")
    module.RecordEpisode = RecordEpisode
    monkeypatch.setitem(sys.modules, "agentrl.wrappers", ModuleType("agentrl.wrappers"))
    monkeypatch.setitem(sys.modules, "agentrl.wrappers.record_episode", module)


def test_record_says_where_the_files_are(agentrl_cli, recorder, tmp_path):
    words = ("record", LAKE, "--episodes", "2", "--output", str(tmp_path), "--formats", "gif", "html")
    result = agentrl_cli(*words, "--json").json
    names = ["0.gif", "0.html", "1.gif", "1.html"]
    assert result["files"] == [str(tmp_path / name) for name in names]
    assert [episode["success"] for episode in result["episodes"]] == [True, True]
    assert all(str(tmp_path / name) in agentrl_cli(*words).out for name in names)


def test_record_refuses_unknown_formats_and_numbers(agentrl_cli, recorder):
    assert 'Did you mean "gif"' in agentrl_cli("record", LAKE, "--formats", "gfi").err
    assert "--episodes must be" in agentrl_cli("record", LAKE, "--episodes", "0").err


def test_record_leaves_out_what_is_not_installed_unless_asked(monkeypatch):
    monkeypatch.setattr(record, "find_spec", lambda _: None)
    assert record.chosen_formats(()) == ("gif", "html")
    assert record.chosen_formats(("mp4",)) == ("mp4",)


# ---------------------------------------------------------------------- progress


class Terminal:
    """A stream that says it is one."""

    def __init__(self):
        self.written = ""

    def write(self, text):
        self.written += text

    def flush(self):
        pass

    def isatty(self):
        return True


def test_progress_is_a_bar_on_a_terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with output.progress("[b]label", 3) as advance:
        for _ in range(3):
            advance()
    assert "[b]label" in stream.written and "3/3" in stream.written and "\x1b[" in stream.written


def test_the_list_says_whose_world_each_environment_is(agentrl_cli):
    """Meta-World's own package and LIBERO's task files are not embedded worlds of agentrl's."""
    backends = {row["id"]: row["backend"] for row in agentrl_cli("list", "--json").json}
    ids = {name: {where for env_id, where in backends.items() if name in env_id} for name in ("MetaWorld", "LIBERO")}
    assert ids == {"MetaWorld": {"package metaworld"}, "LIBERO": {"LIBERO's task files"}}
    assert backends["agentrl/FrozenLake-Text-v0"] == "embedded"


def test_progress_elsewhere_is_a_line_every_ten_seconds_even_if_nothing_ends(monkeypatch, capsys):
    assert output.SECONDS_BETWEEN_LINES == 10
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0.05)
    turns = iter(range(1, 100))
    with output.progress("eval", 3, lambda: f"{next(turns)} turns") as advance:
        time.sleep(0.3)  # nothing ends: WebShop's first episode took 106 s
        silent = capsys.readouterr().err.splitlines()
        advance(2)
        time.sleep(0.12)
        advance()
    assert len(silent) >= 3 and re.fullmatch(r"eval: 0/3, 1 turns, 0\.\d s", silent[0])
    told = capsys.readouterr().err.splitlines()
    assert "eval: 2/3" in told[0] and "eval: 3/3" in told[-1] and " left" not in told[-1]


def test_progress_ends_with_what_it_watches(monkeypatch, capsys):
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0.01)
    with pytest.raises(ConfigError), output.progress("eval", 3):
        raise ConfigError("size")
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_setups_are_listed_and_unknown_ones_refused(agentrl_cli) -> None:
    assert agentrl_cli("setup", "--json").json["schema"] == 1
    assert "unknown set-up" in agentrl_cli("setup", "nothing").err
