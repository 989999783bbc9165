"""What `agentrl train` and recipes make of words and files, before anything is trained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentrl.algorithms import ALGORITHMS, arguments_class
from agentrl.cli.option_types import GROUPS, described, grouped_fields
from agentrl.cli.train_options import read_words
from agentrl.cli.training_plan import make_plan
from agentrl.core.errors import ConfigError
from agentrl.recipes import load_recipe, parse_recipe, recipe_names, recipe_text

TWO = """
summary = "two stages"
[all]
max_new_tokens = 8
[[stage]]
name = "first"
algorithm = "sft"
iterations = 3
[[stage]]
name = "second"
algorithm = "ppo"
lr = 1
"""


@pytest.fixture
def two_stages(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    return str(path)


def plan(*words):
    return make_plan(read_words(words))


# ---------------------------------------------------------------------- words


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_help_of_an_algorithm_explains_every_option_under_headings(agentrl_cli, algorithm):
    done = agentrl_cli("train", algorithm, "-h")
    assert done.status == 0 and "--json" in done.out and "--recipe" in done.out
    cls = arguments_class(algorithm)
    for title, names in grouped_fields(cls, algorithm).items():
        shown = title.replace("_", "-")
        assert f"{shown} options" in done.out
        assert all(f"--{name.replace('_', '-')}" in done.out for name in names)
    assert set(described(cls)) >= {name for names in grouped_fields(cls, algorithm).values() for name in names}


def test_every_grouped_option_exists():
    names = {name for algorithm in ("sft", "ppo") for name in described(arguments_class(algorithm))}
    assert {name for group in GROUPS.values() for name in group} <= names


def test_help_of_train_needs_no_torch(agentrl_cli):
    done = agentrl_cli("train", "-h")
    assert done.status == 0 and all(name in done.out for name in ALGORITHMS) and "--resume" in done.out


def test_help_shows_a_recipes_values_as_defaults(agentrl_cli):
    out = agentrl_cli("train", "steppo", "--recipe", "frozenlake-demo", "-h").out
    assert f"(default: {load_recipe('frozenlake-demo').stages[1].options['episodes']})" in " ".join(out.split())


def test_options_are_typed_and_reach_the_dataclass():
    arguments = (
        plan(
            "ppo",
            "--lr",
            "2e-3",
            "--env",
            "agentrl/Sokoban-Text-v0",
            "agentrl/FrozenLake-Text-v0",
            "--no-report",
            "--save-trajectories",
            "-1",
        )
        .runs[0]
        .arguments
    )
    assert (arguments.lr, arguments.env, arguments.report, arguments.save_trajectories) == (
        2e-3, ("agentrl/Sokoban-Text-v0", "agentrl/FrozenLake-Text-v0"), False, -1,
    )  # fmt: skip


def test_underscores_and_equal_signs_are_understood():
    arguments = plan("sft", "--batch_size=4", "--mistake-rate=0.5").runs[0].arguments
    assert (arguments.batch_size, arguments.mistake_rate) == (4, 0.5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pppo",), 'Did you mean "ppo"?'),
        ((), "needs an algorithm"),
        (("ppo", "stray"), "options must begin with --"),
        (("--output", "x"), "needs an algorithm"),
        (("ppo", "--output"), "--output needs a value"),
        (("ppo", "--output", "a", "b"), "unexpected 'b' after --output"),
        (("--resume",), "--resume needs to know the run"),
        (("--resume", "nowhere"), "there is no run in nowhere"),
        (("--recipe", "frozenlake-demp"), 'Did you mean "frozenlake-demo"?'),
        (("--recipe", "missing.toml"), "cannot be read"),
        (("--recipe", "."), "unknown recipe"),
        (("--recipe", "/"), "cannot be read"),
        (("ppo", "--recipe", "frozenlake-demo"), "has 0 stages of ppo"),
        (("ppo", "--lr", "-1"), "lr must be above 0"),
        (("ppo", "--lr", "nan"), "lr must be a finite number"),
        (("ppo", "--episodes", "0"), "episodes must be a whole number"),
        (("sft", "--mistake-rate", "2"), "mistake_rate must lie between 0 and 1"),
        (("ppo", "--judge", "rule"), "judge needs strategy"),
        (("ppo", "--env-kwargs", "{"), "env_kwargs must be JSON"),
        (("--recipe", "frozenlake-demo", "--iteratons", "3"), 'Did you mean "--iterations"?'),
        (("--recipe", "frozenlake-demo", "--lr.rl", "3"), "unknown stage 'lr'"),
    ],
)
def test_words_that_make_no_sense_are_one_line(agentrl_cli, words, said):
    done = agentrl_cli("train", *words)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("words", [("--iteratons", "3"), ("--iterations", "many"), ("--critic", "none")])
def test_a_misspelt_option_or_value_is_explained(agentrl_cli, words):
    done = agentrl_cli("train", "ppo", *words)
    assert done.status == 2 and ("--iterations" in done.err or "--critic" in done.err)


# ---------------------------------------------------------------------- stages


def test_a_stage_starts_from_the_final_policy_of_the_one_before(two_stages, tmp_path):
    first, second = plan("--recipe", two_stages, "--output", str(tmp_path / "run")).runs
    assert first.arguments.model == "tiny-text" and first.folder == tmp_path / "run" / "first"
    assert second.arguments.model == str(tmp_path / "run" / "first" / "checkpoints" / "step_3" / "policy")
    assert second.arguments.lr == 1.0 and first.arguments.max_new_tokens == second.arguments.max_new_tokens == 8


def test_an_option_holds_for_all_stages_that_have_it_unless_it_names_one(two_stages):
    words = (
        "--iterations",
        "5",
        "--second.iterations",
        "7",
        "--episodes",
        "8",
        "--model",
        "smollm2",
        "--second.no-report",
    )
    first, second = plan("--recipe", two_stages, *words).runs
    assert (first.arguments.iterations, second.arguments.iterations) == (5, 7)
    assert second.arguments.episodes == 8
    assert first.arguments.model == "smollm2" and "step_5" in second.arguments.model
    assert first.arguments.report and not second.arguments.report


def test_an_algorithm_picks_its_stage_of_a_recipe(two_stages, tmp_path):
    (only,) = plan("ppo", "--recipe", two_stages, "--lr", "0.5", "--output", str(tmp_path / "run")).runs
    assert only.arguments.lr == 0.5 and only.folder == tmp_path / "run" and only.arguments.model == "tiny-text"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stage = 3", "[[stage]]"),
        ("", "[[stage]]"),
        ("[[stage]]\nlr = 1", "must name an algorithm"),
        ("[[stage]]\nalgorithm = 'ppp'", 'Did you mean "ppo"?'),
        ("[[stage]]\nalgorithm = 'ppo'\nepisodez = 3", 'Did you mean "episodes"?'),
        ("[[stage]]\nalgorithm = 'ppo'\ngamma = 'high'", "gamma must be of type float"),
        ("[[stage]]\nalgorithm = 'ppo'\nepisodes = true", "episodes must be of type int"),
        ("[[stage]]\nalgorithm = 'ppo'\nvariant = 'best'", "variant must be masked or"),
        ("[[stage]]\nalgorithm = 'ppo'\nenv = 'x'", "unknown environment 'x'"),
        ("[[stage]]\nalgorithm = 'ppo'\noutput = 'x'", "output belongs on the command line"),
        ("[[stage]]\nalgorithm = 'ppo'\nname = '../up'", "must be letters"),
        ("[[stage]]\nalgorithm = 'ppo'\nname = 'a'\n" * 2, "two stages one name"),
        ("[stag]\nlr = 1", "a recipe has summary"),
        ("lr = [", "is not TOML"),
        ("\0", "is not TOML"),
    ],
)
def test_a_recipe_that_makes_no_sense_is_one_line(agentrl_cli, tmp_path, text, said):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = agentrl_cli("train", "--recipe", str(path), "--output", str(tmp_path / "run"))
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_tables_become_the_values_that_options_take():
    first, second = "agentrl/Sokoban-Text-v0", "agentrl/FrozenLake-Text-v0"
    mix = f"['{first}', {{id = '{second}', weight = 2.0}}]"
    text = f"[[stage]]\nalgorithm = 'ppo'\nenv_kwargs = {{size = 5}}\nenv = {mix}"
    stage = parse_recipe("x", text).stages[0]
    from agentrl.cli.train_options import stage_arguments

    arguments = stage_arguments("ppo", stage.options, [], "recipe x")
    assert arguments.env_kwargs == {"size": 5}
    assert [(spec.id, spec.weight) for spec in arguments.specs()] == [(first, 1.0), (second, 2.0)]


# ---------------------------------------------------------------------- packaged recipes


@pytest.mark.parametrize("name", recipe_names())
def test_every_packaged_recipe_says_what_it_is_and_makes_valid_arguments(name):
    assert recipe_text(name).startswith("# ") and load_recipe(name).summary
    runs = plan("--recipe", name, "--output", "nowhere").runs
    assert all(run.arguments.eval_every for run in runs)


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_was_measured(name):
    """What it reached stands in its comment, or on a page of results."""
    comment = " ".join(recipe_text(name).partition("summary =")[0].replace("#", " ").split())
    pages = [path.read_text() for path in (Path(__file__).parents[2] / "docs" / "results").glob("*.md")]
    assert "not measured" not in comment
    assert re.search(r"success 0\.\d\d\d", comment) or any(name in page for page in pages)


def test_the_recipes_are_listed_shown_and_copied_but_never_over_a_file(agentrl_cli, tmp_path, monkeypatch):
    listed = agentrl_cli("recipe", "--json").json["recipes"]
    assert [row["name"] for row in listed] == recipe_names() and len(listed) >= 9
    assert all(name in agentrl_cli("recipe").out for name in recipe_names())
    assert agentrl_cli("recipe", "show", "frozenlake-webrl").out == recipe_text("frozenlake-webrl")
    monkeypatch.chdir(tmp_path)
    assert agentrl_cli("recipe", "copy", "frozenlake-webrl").status == 0
    assert (tmp_path / "frozenlake-webrl.toml").read_text() == recipe_text("frozenlake-webrl")
    (tmp_path / "frozenlake-webrl.toml").write_text("mine")
    again = agentrl_cli("recipe", "copy", "frozenlake-webrl")
    assert again.status == 2 and "already exists" in again.err
    assert (tmp_path / "frozenlake-webrl.toml").read_text() == "mine"
    other = agentrl_cli("recipe", "copy", "frozenlake-webrl", str(tmp_path / "other.toml"), "--json")
    assert load_recipe(other.json["file"]).stages == load_recipe("frozenlake-webrl").stages


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cpy",), 'Did you mean "copy"?'),
        (("show",), "needs the NAME"),
        (("show", "frozenlake-web"), 'Did you mean "frozenlake-webrl"?'),
        (("show", "../__init__"), "unknown recipe"),
        (("copy", "frozenlake-webrl", "nowhere/x.toml"), "cannot write the recipe"),
    ],
)
def test_recipe_verbs_that_make_no_sense_are_one_line(agentrl_cli, words, said):
    done = agentrl_cli("recipe", *words)
    assert done.status == 2 and said in done.err


def test_a_plan_that_changed_on_the_disk_is_refused(two_stages, tmp_path):
    folder = tmp_path / "run"
    plan("--recipe", two_stages, "--output", str(folder)).write()
    assert len(plan("--resume", str(folder)).runs) == 2
    text = (folder / "plan.json").read_text()
    for changed in (
        text.replace('"finished": false', '"finished": true'),
        text.replace('"sha256"', '"rha256"'),
        "[" * 9**5,
    ):
        (folder / "plan.json").write_text(changed)
        with pytest.raises(ConfigError, match=r"plan\.json"):
            plan("--resume", str(folder))


# ---------------------------------------------------------------------- resuming a recipe that is finished


@pytest.fixture
def finished(two_stages, tmp_path):
    """The folder of two stages that are done, without what they learned."""
    made = plan("--recipe", two_stages, "--output", str(tmp_path / "run"), "--second.iterations", "4")
    for run in made.runs:
        run.finished = True
        run.final_policy.mkdir(parents=True)
        (run.folder / "metrics.jsonl").touch()
    made.write()
    return str(tmp_path / "run")


def test_the_last_stage_of_a_finished_recipe_is_trained_for_longer(finished):
    made = plan("--resume", finished, "--second.iterations", "6")
    assert [run.finished for run in made.runs] == [True, False] and made.runs[1].arguments.iterations == 6
    assert all(run.finished for run in plan("--resume", finished).runs)
    assert all(run.finished for run in plan("--resume", finished, "--threads", "1").runs)  # changes nothing learned


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--first.iterations", "5"), "second began from the end of first.*--second.iterations"),
        (("--iterations", "5"), "second began from the end of first"),
        (("--second.iterations", "2"), "has 4 iterations; iterations must be at least that; got 2"),
        (("--second.lr", "0.5"), "was started with lr=1.0; it cannot be resumed with 0.5"),
        (("--seed", "3"), "was started with seed=0"),
    ],
)
def test_what_would_change_a_finished_stage_is_refused(finished, words, said):
    with pytest.raises(ConfigError, match=said):
        plan("--resume", finished, *words)
