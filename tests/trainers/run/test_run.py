"""A run: what stands in its folder, what it does about judges, faults and farming."""

from __future__ import annotations

import gc
import json
import logging
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import Verdict
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.trainers.algorithms import ppo
from agentrl.trainers.run import run as run_module
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import Learner, TrainingFault, make_learner
from tests.trainers import toys
from tests.trainers.runs import assert_same_run, lines, training_state

DEFERRED = [{"wrapper": "ReasoningReward", "judge": "rule", "deferred": True}]
JUDGED: dict[str, Any] = {
    "env": ("agentrl/FrozenLake-Text-v0",),
    "env_kwargs": {"max_turns": 2},
    "strategy": "grounding",
    "wrap": DEFERRED,
    "episodes": 6,
    "num_envs": 3,
    "old_logprobs": "recomputed",
}


def test_the_folder_holds_configuration_metrics_trajectories_checkpoints_and_report(undecided, tmp_path) -> None:
    options = {
        "save_trajectories": 3,
        "report": True,
        "eval_every": 2,
        "eval_episodes": 4,
        "save_every": 1,
        "save_total_limit": 2,
    }
    lake = {"env": ("agentrl/FrozenLake-Text-v0",), "env_kwargs": {"max_turns": 2}}
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", **lake, **options))
    config = json.loads((folder / "config.json").read_text())
    assert config["algorithm"] == "ppo" and config["arguments"]["episodes"] == 16
    assert {"agentrl", "torch", "transformers", "numpy", "python"} <= set(config["versions"])
    assert [(line["kind"], line["iteration"]) for line in lines(folder)] == [
        *[("eval", 0)] * 2,
        ("train", 1),
        ("train", 2),
        *[("eval", 2)] * 2,
    ]
    assert [line["episodes_total"] for line in lines(folder, "train")] == [16, 32]
    assert {line["greedy"] for line in lines(folder, "eval")} == {True, False}
    names = sorted(path.name for path in (folder / "trajectories").iterdir())
    assert names == ["iteration_000001.parquet", "iteration_000002.parquet"]
    assert len(list(TrajectoryReader(folder / "trajectories" / names[0]))) == 3
    assert sorted(path.name for path in (folder / "checkpoints").iterdir()) == ["step_1", "step_2"]
    assert (folder / "report.html").stat().st_size > 1000


def test_the_start_is_measured_unless_it_was_already(undecided, tmp_path) -> None:
    options = {"eval_every": 2, "eval_episodes": 4, "eval_at_start": False, "iterations": 2}
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", **options))
    assert [line["iteration"] for line in lines(folder, "eval")] == [2, 2]


def test_a_checkpoint_is_a_start_for_another_run(undecided, tmp_path) -> None:
    first = ppo.train(toys.ppo(undecided, tmp_path / "first"))
    second = ppo.train(toys.ppo(first / "checkpoints/step_2/policy", tmp_path / "second", iterations=1))
    before = training_state(first, 2)
    assert any("/policy/" in name for name in before)
    learner = Learner(toys.ppo(first / "checkpoints/step_2/policy", tmp_path))
    for name, parameter in learner.policy.named_parameters():
        assert torch.equal(parameter, before[f"/policy/{name}"])
    assert lines(second, "train")


def test_figures_that_are_no_numbers_become_null(undecided, tmp_path) -> None:
    args = toys.ppo(undecided, tmp_path / "run")
    with Run(args, "ppo", make_learner(args)) as run:
        run.log("train", {"loss": {"kl": float("inf"), "policy": float("nan")}, "x": (1, 2.5)})
    (line,) = lines(tmp_path / "run", "train")
    assert line["loss"] == {"kl": None, "policy": None} and line["x"] == [1, 2.5]


def test_an_output_that_cannot_be_made_is_named(nano, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="choose another output"):
        ppo.train(toys.ppo(nano, tmp_path / "file" / "run"))


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_the_last_good_checkpoint(
    undecided, tmp_path, monkeypatch
) -> None:
    options = {"iterations": 4, "save_every": 1, "critic_init": "zero"}  # one estimate in each iteration
    args = toys.ppo(undecided, tmp_path / "run", **options)
    real, calls = ppo.advantages, []

    def spoiled(*given: Any) -> Any:
        calls.append(1)
        found = real(*given)
        return found if len(calls) < 3 else found._replace(advantages=found.advantages * float("nan"))

    monkeypatch.setattr(ppo, "advantages", spoiled)
    with pytest.raises((TrainingFault, ConfigError)):
        ppo.train(args)
    good = training_state(tmp_path / "run", 2)
    assert all(bool(torch.isfinite(value).all()) for value in good.values() if isinstance(value, torch.Tensor))
    monkeypatch.setattr(ppo, "advantages", real)
    ppo.train(toys.ppo(undecided, tmp_path / "run", **options, resume=True))
    assert len(lines(tmp_path / "run", "train")) == 4


# ---------------------------------------------------------------------- judges


class Teacher(Demonstrator):
    """The demonstrator in the place of the model, so that replies have something to judge."""

    calls = version = 0


def judged_run(undecided: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ppo.PPO, Run]:
    args = toys.ppo(undecided, folder, **JUDGED, format_rule="paper")  # random turns are judged like the others
    monkeypatch.setattr(Run, "sampler", lambda self, **_: Teacher(self.learner.engine, mistake_rate=0.5))
    return args, Run(args, "ppo", make_learner(args))


def test_what_a_judge_owes_is_settled_before_the_update_and_never_zero(undecided, tmp_path, monkeypatch) -> None:
    _, run = judged_run(undecided, tmp_path / "run", monkeypatch)
    with run:
        for _ in run.iterations():
            episodes = run.collect(6)
            assert len(episodes) == 6 and not any(episode.pending for episode in episodes)
            terms = [step.reward_terms.get("grounding") for episode in episodes for step in episode.steps]
            assert all(term == 0.5 for term in terms)  # the teacher tells the truth
            assert Batch(episodes).scores().tolist() == pytest.approx([episode.reward for episode in episodes])
            run.log_training({})
    line = lines(tmp_path / "run", "train")[0]
    assert line["pending"] == 0 and line["reward_terms"]["grounding"] > 0 and line["seconds"]["judge"] >= 0


class Moody:
    """A judge that answers about every second state only."""

    def score_sync(self, requests: Any) -> list[Any]:
        return [Verdict(1.0, "moody") if len(one.text) % 2 else JudgeFault("not today") for one in requests]

    async def score(self, requests: Any) -> list[Any]:
        return self.score_sync(requests)


class Silent(Moody):
    """A judge that is not there."""

    def score_sync(self, requests: Any) -> list[Any]:
        return [JudgeFault("gone") for _ in requests]


def test_episodes_that_stay_pending_stay_out_of_the_update_and_are_counted(undecided, tmp_path, monkeypatch) -> None:
    _, run = judged_run(undecided, tmp_path / "run", monkeypatch)
    run.collector.judge = Moody()
    with run:
        next(iter(run.iterations()))
        known = run.collect(24)
        assert 0 < len(known) < 24 and all(episode.reward is not None for episode in known)
        run.log_training({})
    (line,) = lines(tmp_path / "run", "train")
    assert line["pending"] == 24 - len(known) and line["episodes"] == 24


def test_an_iteration_in_which_nothing_is_known_stops_the_run(undecided, tmp_path, monkeypatch) -> None:
    _, run = judged_run(undecided, tmp_path / "run", monkeypatch)
    run.collector.judge = Silent()
    with run, pytest.raises(TrainingFault, match="0 ended by a fault, 6 wait for a judge"):
        run.collect(6)


def test_environments_that_defer_to_different_judges_are_refused(nano, tmp_path) -> None:
    other = [{"wrapper": "ReasoningReward", "judge": {"kind": "rule"}, "deferred": True}]
    envs = tuple({"id": "agentrl/FrozenLake-Text-v0", "wrappers": own} for own in (DEFERRED, other))
    with pytest.raises(ConfigError, match="same judge"):
        toys.ppo(nano, tmp_path, env=envs)
    assert toys.ppo(nano, tmp_path, env=envs[:1]).deferred_judge() == "rule"
    assert toys.ppo(nano, tmp_path).deferred_judge() is None


def test_a_run_in_hosts_is_the_same_to_the_last_bit(undecided, tmp_path) -> None:
    options = {"iterations": 1, "save_every": 1, "save_trajectories": -1}
    here, there = (ppo.train(toys.ppo(undecided, tmp_path / str(hosts), hosts=hosts, **options)) for hosts in (0, 2))
    assert_same_run(here, there, 1)


# ---------------------------------------------------------------------- trouble


@pytest.mark.long  # tests/rollout/test_collect_faults.py proves it without a trainer
@pytest.mark.parametrize("trouble", ["die", "hang"])
def test_a_worker_that_dies_or_hangs_costs_its_own_episode_only(undecided, tmp_path, trouble) -> None:
    kwargs = {"trouble": trouble, "trouble_every": 4}
    options = {"episodes": 5, "num_envs": 5, "hosts": 5, "env_timeout": 1.5, "iterations": 1}
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", env_kwargs=kwargs, save_trajectories=-1, **options))
    (line,) = lines(folder, "train")
    (path,) = (folder / "trajectories").iterdir()
    episodes = list(TrajectoryReader(path))
    troubled = [episode for episode in episodes if episode.seed % 4 == 0]  # pyright: ignore
    assert 0 < len(troubled) < 5 and line["faults"] == len(troubled) and line["episodes"] == 5
    for episode in episodes:
        assert (episode.fault is not None) == (episode.reward is None) == (episode in troubled)


def test_a_run_whose_every_episode_breaks_says_why(undecided, tmp_path) -> None:
    kwargs = {"trouble": "raise", "trouble_every": 1}
    with pytest.raises(TrainingFault, match=r"16 ended by a fault.*a bug of the simulator"):
        ppo.train(toys.ppo(undecided, tmp_path / "run", env_kwargs=kwargs))


def test_farming_is_noticed(undecided, tmp_path, caplog) -> None:
    """Nothing can be solved, but one of the words is paid for: reward rises, success does not."""
    kwargs = {"good": "Nowhere", "form": 1.0, "form_for": ["Left"]}
    slowly = {"lr": 2e-3, "warmup": 30}  # the watch compares blocks of iterations that are steady in themselves
    options = {"iterations": 32, "episodes": 32, "num_envs": 32, "env_kwargs": kwargs, **slowly}
    said: list[str] = []
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", **options), said.append)
    warnings = [line for line in lines(folder, "warning") if line["warning"] == "reward_hacking"]
    assert len(warnings) == 1 and 8 < warnings[0]["iteration"] <= 32 and warnings[0]["detail"]
    before = lines(folder)[lines(folder).index(warnings[0]) - 1]
    assert before["kind"] == "train" and before["iteration"] == warnings[0]["iteration"]
    assert any("reward_hacking" in text for text in said)
    first, last = lines(folder, "train")[0], lines(folder, "train")[-1]
    assert first["success"] == last["success"] == 0 and last["reward_mean"] > first["reward_mean"] + 0.2


def test_an_honest_run_is_not_called_reward_hacking(undecided, tmp_path) -> None:
    options = {"iterations": 18, "episodes": 32, "num_envs": 32}
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", **options))
    assert not [line for line in lines(folder, "warning") if line["warning"] == "reward_hacking"]
    assert lines(folder, "train")[-1]["success"] > 0.7


def test_a_second_signal_stops_at_once(undecided, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO, run_module.__name__)
    args = toys.ppo(undecided, tmp_path / "run")
    with Run(args, "ppo", make_learner(args)) as run:
        run._asked_to_stop(15, None)
        assert run.stopped == "SIGTERM" and list(run.iterations()) == []
        with pytest.raises(KeyboardInterrupt):
            run._asked_to_stop(2, None)
    assert (tmp_path / "run/checkpoints/step_0").is_dir()


def test_the_garbage_collector_leaves_out_what_stays_until_the_run_ends(undecided, tmp_path, monkeypatch) -> None:
    args, count, thresholds = (
        toys.ppo(undecided, tmp_path / "run", iterations=2),
        gc.get_freeze_count,
        gc.get_threshold(),
    )
    gc.unfreeze()
    monkeypatch.setattr(gc, "get_freeze_count", lambda: count() + 375)  # what Python 3.12 begins with
    with Run(args, "ppo", make_learner(args)) as run:
        frozen = [gc.get_freeze_count() for _ in run.iterations()]
        assert frozen[0] == 375 < frozen[1] and gc.get_threshold()[2] > thresholds[2]
    assert count() == 0 and gc.get_threshold() == thresholds
    gc.freeze()  # what the caller has frozen stays so
    ppo.train(toys.ppo(undecided, tmp_path / "another", iterations=1))
    assert count() > 0


def test_on_a_gpu_threads_of_the_processor_leave_cores_to_hosts(monkeypatch) -> None:
    monkeypatch.setattr(run_module, "usable_cores", lambda: 16)
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    assert [run_module.cpu_threads(hosts, gpu, 16) for hosts in (0, 4, 15, 16, 32)] == [16, 12, 1, 1, 1]
    assert run_module.cpu_threads(4, gpu, 2) == 2 and run_module.cpu_threads(16, cpu, 8) == 8
