"""Phases of a run: what they play again, who labels, what waits, and what the offline trainers take from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import OtherTasks, Task
from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.algorithms import awr, digirl, filtered_bc, sft, webrl
from agentrl.trainers.algorithms.digirl import DigiRL
from agentrl.trainers.algorithms.webrl import WebRL
from agentrl.trainers.run import curriculum, phases
from agentrl.trainers.run.replay import record_of
from tests.trainers import toys
from tests.trainers.runs import lines, training_state

LAKE: dict[str, Any] = {
    "env": ("agentrl/FrozenLake-Text-v0",),
    "env_kwargs": {"max_turns": 2},
    "prompt_style": "step",
    "history": 100,
    "tasks_per_phase": 4,
    "start_tasks": 3,
    "num_envs": 4,
}


def tasks_of(folder: Any, phase: int) -> list[str | None]:
    return [one.task for one in read_trajectories(folder / f"replay/phase_{phase:06d}.jsonl")]


def test_an_outage_of_the_reward_model_makes_episodes_wait_and_teaches_nothing(
    undecided, tmp_path, monkeypatch
) -> None:
    answers = iter([[None] * 16, [0.9, 0.1] * 16])
    asked = []

    def outcomes(trajectories: Any, judge: Any) -> Any:
        asked.append([one.id for one in trajectories])
        return next(answers)

    monkeypatch.setattr(phases, "outcomes", outcomes)
    said: list[str] = []
    options = {"orm": "tests.toy_judges:Constant", "save_every": 1, "save_total_limit": 3}
    folder = webrl.train(toys.webrl(undecided, tmp_path / "run", **options), report=said.append)
    first, second = (line["phase"]["labels"] for line in lines(folder, "train"))
    assert (first["labelled"], first["waiting"], first["success"]) == (0, 16, None)
    assert (second["labelled"], second["waiting"], second["success"]) == (32, 0, 0.5)
    assert asked[1][:16] == asked[0] and 0 <= second["accuracy"] <= 1
    assert any("16 episodes wait" in text for text in said)
    before, between = training_state(folder, 0), training_state(folder, 1)
    assert all((before[name] == between[name]).all() for name in before if name.startswith("/policy"))
    late = [record_of(one).label for one in read_trajectories(folder / "replay/phase_000002.jsonl")]
    assert {label.by for label in late} == {"orm"} and {label.score for label in late} == {0.9, 0.1}
    assert not read_labels(folder, 1) and {label.by for label in read_labels(folder, 0)} == {"truth"}


def read_labels(folder: Any, phase: int) -> list[Any]:
    path = folder / f"replay/phase_{phase:06d}.jsonl"
    return [record_of(one).label for one in read_trajectories(path)] if path.stat().st_size else []


def test_without_a_curriculum_all_phases_play_the_tasks_of_the_first(nano, tmp_path) -> None:
    plain = webrl.train(toys.webrl(nano, tmp_path / "plain", curriculum=False, **LAKE))
    assert tasks_of(plain, 1) == tasks_of(plain, 2) != tasks_of(plain, 0)[:4]
    evolving = webrl.train(toys.webrl(nano, tmp_path / "evolving", attempts=2, **LAKE))
    assert tasks_of(evolving, 1)[::2] == tasks_of(plain, 1) == tasks_of(evolving, 1)[1::2]  # the same first phase
    assert tasks_of(evolving, 2) != tasks_of(evolving, 1)
    start = lines(plain)[0]
    assert start["kind"] == "start" and start["episodes"] == 3 and start["labels"]["labelled"] == 3


def test_what_a_phase_lacks_is_said_and_the_run_goes_on(nano, tmp_path) -> None:
    said: list[str] = []
    folder = webrl.train(toys.webrl(nano, tmp_path / "run", first_tasks="training", **LAKE), report=said.append)
    text = "\n".join(said)
    assert "no success among 4 episodes" in text and "the replay buffer is empty" in text
    assert "environment's own evaluator, as there is no orm" in text
    assert lines(folder, "train")[0]["phase"]["tasks"] == {"played": 4}


@pytest.mark.parametrize("trainer", [webrl, pytest.param(digirl, marks=pytest.mark.long)], ids=["webrl", "digirl"])
def test_the_critic_may_learn_from_every_episode_of_every_phase(undecided, tmp_path, trainer) -> None:
    """8 before the first phase, 16 in each: failures, too, whatever is replayed. And before a task is chosen."""
    make = getattr(toys, trainer.__name__.rpartition(".")[2])
    options = {"replay_limit": 0.0}
    folder = trainer.train(make(undecided, tmp_path / "all", critic_on_all=True, **options))
    (start,), phases = lines(folder, "start"), lines(folder, "train")
    assert start["loss"]["critic_actions"] == 8 and 0 < phases[0]["phase"]["labels"]["success"] < 1
    assert [line["loss"]["critic_actions"] for line in phases] == [8 + 16, 8 + 16 + 16]
    plain = trainer.train(make(undecided, tmp_path / "plain", **options))
    assert [line["loss"]["critic_actions"] for line in lines(plain, "train")] == [16, 16]
    assert "loss" not in lines(plain, "start")[0]


def test_what_the_start_imitated_may_be_replayed(nano, tmp_path) -> None:
    """All but the demonstrations that failed; without them, a policy that never succeeds has nothing to replay."""
    taught = sft.train(toys.sft(nano, tmp_path / "sft", save_demonstrations=True, demonstrations=8, iterations=1))
    shown = read_trajectories(taught / "demonstrations.jsonl")
    good = sum(one.success for one in shown)
    options: dict[str, Any] = {"perplexity_low": 1.0, "perplexity_high": 1e9, "env_kwargs": {"good": "Never"}}
    found = {}
    for wanted in (False, True):
        args = toys.webrl(taught / "checkpoints/step_1/policy", tmp_path / str(wanted), **options)
        folder = webrl.train(replace(args, replay_demonstrations=wanted))
        found[wanted] = [line["phase"]["replay"].get("actions") for line in lines(folder, "train")]
    assert 0 < good < len(shown) == 8 and found == {False: [None] * 2, True: [good] * 2}
    with pytest.raises(ConfigError, match="sft --save-demonstrations; there is no"):
        webrl.train(toys.webrl(nano, tmp_path / "without", replay_demonstrations=True))


class Eight(OtherTasks):
    """Knows eight tasks, and proposes them again and again."""

    def propose(self, seeds: Any, count: int, rng: Any) -> list[Task]:
        return [Task(str(name)) for name in self._env.tasks()[:8]]


@pytest.mark.parametrize("repeat", [True, False])
def test_a_task_that_was_solved_comes_back_as_new_only_if_it_may(nano, tmp_path, monkeypatch, repeat: bool) -> None:
    """The judge calls all solved: the second phase has the four tasks of the first again, or the four others."""
    monkeypatch.setattr(phases, "outcomes", lambda trajectories, judge: [1.0] * len(trajectories))
    monkeypatch.setattr(curriculum, "open_task_generator", lambda _, env: Eight(env))
    options = {"orm": "tests.toy_judges:Constant", "repeat_tasks": repeat, "value_low": 0.0, "value_high": 1.0}
    folder = webrl.train(toys.webrl(nano, tmp_path / "run", **LAKE, **options))
    first, second = (tasks_of(folder, phase) for phase in (1, 2))
    assert [line["phase"]["tasks"]["kept"] for line in lines(folder, "train")] == [4, 4]
    assert first == second if repeat else not set(first) & set(second)


@pytest.mark.parametrize("trainer", [awr, filtered_bc], ids=["awr", "filtered_bc"])
def test_offline_trainers_learn_from_the_file_of_a_phase(undecided, tmp_path, trainer) -> None:
    made = webrl.train(toys.webrl(undecided, tmp_path / "webrl", iterations=1))
    make = getattr(toys, trainer.__name__.rpartition(".")[2])
    data = made / "replay/phase_000001.jsonl"
    folder = trainer.train(make(undecided, tmp_path / "file", data=str(data), iterations=1))
    (line,) = lines(folder, "train")
    won = sum(one.success for one in read_trajectories(data))
    assert line["loss"]["actions"] == (16 if trainer is awr else won) and 0 < won < 16
    assert not (folder / "replay").exists()
    own = trainer.train(make(undecided, tmp_path / "own", iterations=1))
    assert read_trajectories(own / "replay/phase_000001.jsonl") == read_trajectories(data)  # as WebRL's first phase


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tasks_per_phase", 0),
        ("attempts", 0),
        ("start_tasks", -1),
        ("value_low", 0.9),
        ("value_high", 1.5),
        ("replay_limit", -1.0),
        ("perplexity_low", 3.0),
        ("perplexity_high", float("nan")),
        ("proposal_rounds", 0),
        ("first_tasks", "some"),
        ("loss", "bc"),
        ("orm", 3),
        ("negative_weight", -1.0),
        ("quantile_low", 0.8),
        ("quantile_high", 1.5),
        ("replay_window", "all"),
        ("window_heads", "highest"),
    ],
)
def test_options_that_cannot_work_are_refused_by_name(option, value) -> None:
    with pytest.raises(ConfigError, match=option):
        WebRL(**{option: value})


def test_options_of_the_baselines_are_refused_by_name() -> None:
    cases: list[tuple[Any, dict[str, Any]]] = [
        (filtered_bc.FilteredBC, {"percentile": 101.0}),
        (filtered_bc.FilteredBC, {"loss": "awr"}),
        (awr.AWR, {"loss": "bc"}),
        (DigiRL, {"buffer_size": 0}),
        (DigiRL, {"instruction_share": 1.5}),
    ]
    for make, options in cases:
        with pytest.raises(ConfigError, match=next(iter(options))):
            make(**options)
