"""The experiments are what they claim to be: one thing differs, starts are shared, every option exists."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

from agentrl.algorithms import ALGORITHMS, Stage, arguments_class
from agentrl.core.errors import ConfigError
from agentrl.models.loading import load_model
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import Demonstrator
from benchmarks.learning.budgets import reply_tokens
from benchmarks.learning.command import listing
from benchmarks.learning.conditions import run_options
from benchmarks.learning.experiment import Cell, Claim, Experiment, PlannedRun, chosen_cells, chosen_experiments
from benchmarks.learning.scarce_web import STARTS
from benchmarks.learning.separating import CRITIC
from benchmarks.learning.table import BOTH, EXPERIMENTS, LAKE, SOKOBAN, STRATEGIES

RUNS = {run.name: run for one in EXPERIMENTS.values() for cell in one.cells for run in cell.runs()}


def test_every_trainer_accepts_the_options_of_every_run():
    for run in RUNS.values():
        options = run_options(run.algorithm, run.options)
        arguments = arguments_class(run.algorithm).from_json({**options, "seed": run.seed})
        real = arguments.model == "smollm2"  # made for a GPU, where it computes in half precision
        assert arguments.threads == 1 and arguments.dtype == ("auto" if real else "float32")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_cells_of_a_text_experiment_differ_only_in_what_is_asked(name):
    free = {"variant", "form", "judge", "gamma", "reward_at", "step_gae", "step_ratio"}
    if name.startswith("strategies"):
        free = {"strategy", "representation", "max_new_tokens"}
    if name == "farming":
        free = {"max_new_tokens", "iterations", "episodes", "eval_every"}  # the better start belongs to another budget
    if name.startswith(("algorithms", "long", "smollm2")):
        # Options of one algorithm alone; episodes, rates, model, environment and start are shared.
        free |= {"group_size", "loss_mean", "baseline", "clip_high", "dynamic_sampling_rounds", "overlong"}
        free |= {"critic", "critic_lr", "critic_coef"}
    if name == "one-move-estimators":
        free |= {"lam", "turn_lam"}  # each where the estimator has it
        free |= {"clip_low", "clip_high"}
    if name in ("one-move-steppo", "one-move-clips"):
        free |= {"lam", "clip_low", "clip_high"}
    if name == "one-move-full":
        free |= {"turn_lam"}
    if name == "one-move-gigpo":
        free |= {"anchors", "normalise", "loss_mean"}
    if name.startswith("gigpo"):
        free = {"normalise", "loss_mean", "anchors", "zero_variance_by"}
    if name.endswith(("alfworld", "multihop")):
        free |= {"lam", "clip_low", "clip_high", "group_size", "loss_mean", "anchors", "zero_variance_by"}
        free |= {*CRITIC, "critic_lr", "critic_coef"}
    if name == "vlm":
        return
    if name == STARTS:
        free = {"env_kwargs", "demonstrations", "steps_per_iteration"}
    if name.startswith("webrl") and name != STARTS:
        # SFT is what all begin with; offline trainers play all episodes in one phase.
        free = {"beta", "loss", "replay", "curriculum", "first_tasks", "tasks_per_phase", "critic_on_replay"}
        free |= {"critic_heads"}  # imitation of good actions has two
        if name.startswith("webrl-replay"):
            free |= {"perplexity_low", "perplexity_high", "replay_failures"}
        if name.startswith("webrl-variants"):
            free |= {"gamma", "hard_filter", "critic_epochs"}
        if name.startswith(("webrl-steps", "webrl-epochs", "webrl-rates")):
            free |= {"lr", "gamma", "actor_epochs"}
        if "scarce" in name:
            free |= {"lr", "gamma", "negative_weight", "replay_window", "window_heads", "fresh_optimiser"}
            free |= {"critic_on_all", "repeat_tasks", "value_low", "value_high", "iterations", "critic_epochs"}
        chains = [cell.stages for cell in EXPERIMENTS[name].cells if cell.label != "ceiling"]
        assert len({json.dumps(dict(chain[0].options)) for chain in chains}) == 1
        options = [chain[-1].options for chain in chains if chain[-1].algorithm != "sft"]
    else:
        options = [cell.stages[-1].options for cell in EXPERIMENTS[name].cells]
    fixed = [{key: value for key, value in one.items() if key not in free} for one in options]
    assert all(one == fixed[0] for one in fixed)


def test_starts_are_shared_by_seeds_and_equal_cells_across_experiments():
    starts = {cell.runs()[0].name for cell in EXPERIMENTS["bilevel"].cells}
    assert len(starts) == 1
    ends = {name: {cell.runs()[-1].name for cell in one.cells} for name, one in EXPERIMENTS.items()}
    assert len(ends["bilevel"] & ends["base-full-sokoban"]) == 3  # "full" is "bilevel (paper)"
    assert len(ends["gigpo-deviation"] & ends["algorithms-sokoban"]) == 6  # only GiGPO without the deviation is new
    assert len(ends["strategies-sokoban"] & ends["base-full-sokoban"]) == 1  # "base" is the middle cell of the table


def test_the_tables_have_the_sizes_that_were_asked_for():
    sizes = {name: (len(one.labels), len(one.cells)) for name, one in EXPERIMENTS.items()}
    assert sizes["masked-vanilla"] == (2, 6) and sizes["bilevel"] == (4, 12) and sizes["steppo"] == (7, 21)
    assert sizes["one-move-steppo"] == (4, 20) and sizes["one-move-estimators"] == (4, 20)
    assert sizes["webrl-scarce-frozenlake"] == (10, 2 + 8 * 8) and sizes["webrl-rates-scarce-frozenlake"] == (24, 48)
    assert sizes["webrl-scarce-web"] == (3, 1 + 2 * 3)
    assert sizes["strategies-frozenlake"][0] == sizes["strategies-sokoban"][0] == 7
    assert [one["name"] for one in listing()] == list(EXPERIMENTS)


@pytest.mark.parametrize("env", ["frozenlake", "sokoban"])
def test_every_algorithm_stands_in_one_table_with_one_start(env):
    cells = EXPERIMENTS[f"algorithms-{env}"].cells
    assert len(cells) == 12 * 3 and {cell.seed for cell in cells} == {0, 1, 2}
    in_phases = {cell.stages[-1].algorithm for cell in EXPERIMENTS["webrl-baselines-frozenlake"].cells}
    assert {"sft", "webrl"} < in_phases  # imitation, and what learns off-policy in phases: a table of their own
    assert {cell.stages[-1].algorithm for cell in cells} == set(ALGORITHMS) - in_phases - {
        "orm",
        "bc",
    }  # a judge, and robots
    assert len({cell.runs()[0].name for cell in cells}) == 1
    assert {cell.stages[-1].options["prompt_style"] for cell in cells} == {"step"}


@pytest.mark.long
@pytest.mark.parametrize("env", ["frozenlake", "sokoban"])
def test_long_tasks_are_longer_than_the_usual_ones_and_can_be_solved(env):
    cells = EXPERIMENTS[f"long-tasks-{env}"].cells
    assert {cell.label for cell in cells} == {"PPO, masked", "StepPO", "GRPO", "GiGPO"} and len(cells) == 12
    options = cells[0].stages[-1].options
    assert options["env_kwargs"] == cells[0].stages[0].options["env_kwargs"]
    turns = {name: oracle_turns(options["env"][0], kwargs) for name, kwargs in (("usual", "{}"), ("long", options))}
    assert turns["long"] > 1.5 * turns["usual"]


def oracle_turns(env, options):
    """Of the oracle on some tasks, all of which it must solve."""
    kwargs = json.loads(options if isinstance(options, str) else options["env_kwargs"])
    made, turns = gym.make(env, **kwargs), 0
    for seed in range(20):
        _, info = made.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = made.step(made.get_wrapper_attr("oracle")())
            turns, over = turns + 1, terminated or truncated
        assert info["success"]
    made.close()
    return turns / 20


def test_what_is_chosen_for_webrl_is_chosen_on_the_dev_split():
    for name, experiment in EXPERIMENTS.items():
        if name.startswith("webrl"):
            splits = {cell.stages[-1].options.get("eval_split", "test") for cell in experiment.cells}
            assert splits == {"dev" if name.startswith(("webrl-rates", "webrl-beta", STARTS)) else "test"}


def test_the_shop_is_learned_with_a_model_that_reads_it_and_one_start():
    experiment = EXPERIMENTS["steppo-webshop"]
    assert (len(experiment.labels), len(experiment.cells), len(experiment.claims)) == (4, 8, 2)
    assert len({cell.runs()[0].name for cell in experiment.cells}) == 1
    options = experiment.cells[0].stages[-1].options
    assert options["model"] == "smollm2" and options["prompt_style"] == "step" and options["eval_episodes"] == 500


@pytest.mark.long
def test_everything_that_is_demonstrated_in_the_shop_fits_into_a_reply():
    options = EXPERIMENTS["steppo-webshop"].cells[0].stages[0].options
    teacher = Demonstrator(
        load_model(options["model"], "cpu", "float32"), mistake_rate=options["mistake_rate"], mistake_kind="hasty"
    )
    spec = EnvSpec(options["env"][0], {"catalogue_size": 1_000})
    collector = Collector([spec], teacher, num_envs=8, prompt_style="step", history=options["history"])
    played = collector.collect([Start(seed) for seed in range(40)]).trajectories
    collector.close()
    steps = [step for trajectory in played for step in trajectory.steps]
    assert max(len(step.response_ids or ()) for step in steps) <= options["max_new_tokens"]
    assert max(len(step.prompt_ids or ()) for step in steps) <= 1_200
    wins = sum(trajectory.success for trajectory in played)
    assert 0.1 < wins / len(played) < 0.7  # something to imitate, and haste leaves something to learn


FORMS = [(strategy, "natural") for strategy in STRATEGIES] + [(BOTH, "symbolic"), (BOTH, "structured")]


@pytest.mark.parametrize("env", [LAKE, SOKOBAN])
def test_every_truthful_reply_fits_into_the_tokens_it_may_have(env):
    teacher = Demonstrator(load_model("tiny-text", "cpu", "float32"), mistake_rate=0.5)
    for strategy, representation in FORMS:
        form = {"wrapper": "Reasoning", "strategy": strategy, "representation": representation}
        collector = Collector([EnvSpec(env, {}, (form,))], teacher, num_envs=8)
        played = collector.collect([Start(seed) for seed in range(10)]).trajectories
        collector.close()
        longest = max(len(step.response_ids or ()) for trajectory in played for step in trajectory.steps)
        assert longest <= reply_tokens(strategy, representation), (strategy, representation, longest)


def test_a_run_is_named_after_all_that_decides_it():
    run = PlannedRun("ppo", {"env": ["agentrl/Sokoban-Text-v0"], "lr": 1e-4}, 3)
    assert run.name.startswith("ppo-sokoban-text-seed3-")
    assert run.name == PlannedRun("ppo", {"lr": 1e-4, "env": ("agentrl/Sokoban-Text-v0",)}, 3).name
    others = [PlannedRun("ppo", {**run.options, "lr": 2e-4}, 3), PlannedRun("ppo", run.options, 3, "sft-x")]
    others += [PlannedRun("steppo", run.options, 3), PlannedRun("ppo", run.options, 4)]
    assert len({run.name, *(other.name for other in others)}) == 5
    hostile = PlannedRun("ppo", {"env": ["../../etc/x y\n"]}, 0).name
    assert "/" not in hostile and "\n" not in hostile and " " not in hostile


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="algorithm"):
        Stage("pppo")
    with pytest.raises(ConfigError, match="seed"):
        Cell("a", 0, (Stage("ppo", {"seed": 1}),))
    cell = Cell("a", 0, (Stage("ppo"),))
    with pytest.raises(ConfigError, match="same label"):
        Experiment("twice", "?", (cell, cell))
    with pytest.raises(ConfigError, match="'b'"):
        Experiment("claims", "?", (cell,), (Claim("a", "b", "x"),))


def test_experiments_and_cells_are_chosen_by_pattern():
    found = [one.name for one in chosen_experiments("steppo*", EXPERIMENTS)]
    assert found == ["steppo", "steppo-sokoban", "steppo-webshop"]
    with pytest.raises(ConfigError, match="bilevel"):
        chosen_experiments("bilevle", EXPERIMENTS)
    one = [EXPERIMENTS["masked-vanilla"]]
    assert [cell.title for cell in chosen_cells(one, "*/seed1")] == ["masked/seed1", "vanilla/seed1"]
    assert len(chosen_cells(one, "masked")) == 3 and len(chosen_cells(one, "*")) == 6
    with pytest.raises(ConfigError, match="cells"):
        chosen_cells(one, "seed9")
