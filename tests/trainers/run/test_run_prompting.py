"""A checkpoint carries how it was prompted; whatever plays or trains it further does the same, or says otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrl.cli.train_options import read_words
from agentrl.cli.training_plan import make_plan
from agentrl.models.prompt_settings import PromptSettings, read_settings, settings_of
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.evaluate import evaluate
from agentrl.trainers.algorithms import sft, steppo
from agentrl.trainers.run.prompting import further_arguments, prompting_changes, run_settings

LAKE = "agentrl/FrozenLake-Text-v0"
SMALL = {
    "env": (LAKE,),
    "env_kwargs": {"max_turns": 4},
    "iterations": 1,
    "num_envs": 4,
    "save_trajectories": 0,
    "report": False,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy folder of an imitation run with settings that no trainer has by default."""
    args = sft.SFT(
        **SMALL,
        prompt_style="step",
        history=1,
        strategy="grounding",
        judge="rule",
        wrap=[{"wrapper": "RepetitionPenalty"}, {"wrapper": "History", "turns": 2}],
        max_new_tokens=6,
        demonstrations=4,
        steps_per_iteration=1,
        batch_size=2,
        output=str(tmp_path_factory.mktemp("runs") / "imitation"),
    )
    return sft.train(args) / "checkpoints" / "step_1" / "policy"


def test_a_checkpoint_carries_what_shapes_its_prompts_and_nothing_else(trained: Path) -> None:
    assert read_settings(trained) == PromptSettings(
        environments=(LAKE,),
        prompt_style="step",
        history=1,
        strategy="grounding",
        wrap=({"wrapper": "History", "turns": 2},),
        max_new_tokens=6,
        limits={"max_turns": 4},
    )


def test_evaluation_plays_it_as_it_was_trained(trained: Path, caplog: pytest.LogCaptureFixture) -> None:
    played = []
    result = evaluate(LAKE, f"hf:{trained}", 2, on_trajectory=played.append)
    assert caplog.text == "" and result.format_rate is not None  # the Reasoning wrapper was there
    assert result.spec is not None and result.spec["kwargs"]["max_turns"] == 4
    assert [layer["name"] for layer in result.spec["additional_wrappers"]] == ["Reasoning", "History"]
    assert all(len(step.response_ids) <= 6 for episode in played for step in episode.steps)
    first, second = played[0].steps[:2]
    assert second.prompt_ids[: len(first.prompt_ids)] != first.prompt_ids  # rebuilt each step, not continued


def test_evaluation_says_what_is_not_as_it_was_trained(trained: Path, caplog: pytest.LogCaptureFixture) -> None:
    policy = HFPolicy(trained, max_new_tokens=3)
    result = evaluate(LAKE, policy, 1, env_kwargs={"max_turns": 2}, prompt_style="conversation", wrappers=[])
    assert result.format_rate is None and result.turns_mean <= 2
    for words in ("max_new_tokens=6", "prompt_style=step", "strategy=grounding", "wrap=[{", "max_turns=4"):
        assert f"the model was trained with {words}" in caplog.text


def test_further_training_takes_its_prompts_over(trained: Path) -> None:
    (run,) = make_plan(read_words(["steppo", "--model", str(trained), "--lr", "1e-3"])).runs
    for args in (run.arguments, further_arguments(steppo.StepPO, str(trained), lr=1e-3)):
        assert (args.prompt_style, args.history, args.strategy, args.max_new_tokens) == ("step", 1, "grounding", 6)
        assert args.env == (LAKE,) and args.lr == 1e-3
        assert args.env_kwargs == {"max_turns": 4} and "History" in str(args.wrap)
        assert prompting_changes(args) == []
    assert prompting_changes(steppo.StepPO(model="tiny-text")) is None


def test_an_option_that_is_typed_counts_and_the_run_warns(trained: Path, tmp_path: Path) -> None:
    words = ["--prompt-style", "conversation", "--env-kwargs", '{"max_turns": 2}', "--episodes", "2", "--kl-coef", "0"]
    small = ["--iterations", "1", "--num-envs", "2", "--minibatches", "1", "--device", "cpu", "--no-report"]
    plan = make_plan(read_words(["steppo", "--model", str(trained), *words, *small, "--output", str(tmp_path / "rl")]))
    args = plan.runs[0].arguments
    assert args.prompt_style == "conversation" and args.strategy == "grounding"
    said: list[str] = []
    folder = steppo.train(args, said.append)
    expected = "the model was trained with prompt_style=step; it is used with prompt_style=conversation"
    assert f"warning: {expected}" in said and any("max_turns=4" in line for line in said)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert {"iteration": 0, "kind": "warning", "warning": "prompts", "detail": expected} in lines
    carried = settings_of(f"hf:{folder / 'checkpoints' / 'step_1' / 'policy'}")
    assert carried is not None and carried.prompt_style == "conversation" and carried.limits == {"max_turns": 2}


def test_a_stage_takes_over_from_the_stage_before_it(tmp_path: Path) -> None:
    recipe = tmp_path / "two.toml"
    recipe.write_text(
        'summary = "two stages"\n[[stage]]\nname = "a"\nalgorithm = "sft"\nmax_new_tokens = 9\n'
        '[[stage]]\nname = "b"\nalgorithm = "steppo"\n'
        '[[stage]]\nname = "c"\nalgorithm = "steppo"\nprompt_style = "step"\n'
    )
    first, second, third = (run.arguments for run in make_plan(read_words(["--recipe", str(recipe)])).runs)
    assert first.prompt_style == second.prompt_style == "conversation"  # steppo alone would choose "step"
    assert second.max_new_tokens == third.max_new_tokens == 9 and third.prompt_style == "step"


def test_a_mix_of_unlike_forms_carries_what_they_share() -> None:
    plain = {"id": LAKE, "wrappers": [], "kwargs": {"max_turns": 3}}
    args = steppo.StepPO(env=(plain, "agentrl/Sokoban-Text-v0"), strategy="free_think", history=2)
    found = run_settings(args)
    assert found.strategy is None and found.limits == {} and found.history == 2 and len(found.environments) == 2
    assert "strategy" not in found.values(LAKE)
