"""Imitation: only replies are learned, from episodes that are played or read, pictures included."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.loading import load_model
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.parquet import to_parquet
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter, read_trajectories
from agentrl.trainers.algorithms import sft
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import Learner
from tests.trainers import toys
from tests.trainers.algorithms.test_ppo import chance, last_policy
from tests.trainers.episodes import conversation
from tests.trainers.runs import lines, training_state


def written(path: Any, episodes: list[Trajectory]) -> str:
    with TrajectoryWriter(path) as writer:
        for episode in episodes:
            writer.write(episode)
    return str(path)


def demonstrated(model: Any, spec: EnvSpec, count: int = 4) -> list[Trajectory]:
    collector = Collector([spec], Demonstrator(load_model(model, "cpu", "float32")))
    found = collector.collect([Start(seed) for seed in range(count)]).trajectories
    collector.close()
    return found


def test_what_is_demonstrated_becomes_likely(nano, tmp_path) -> None:
    folder = sft.train(toys.sft(nano, tmp_path / "run", mistake_rate=0.0, iterations=4, eval_every=4, eval_episodes=20))
    found = lines(folder, "train")
    assert found[-1]["loss"]["nll"] < 0.1 < found[0]["loss"]["nll"]
    assert chance(last_policy(folder)) > 0.95 > 0.1 > chance(nano)
    assert "success" not in found[0] and found[0]["tokens"]["trained"] > 0 and found[0]["lr"] == 1e-2
    first, *_, last = lines(folder, "eval")
    assert first["success"] == 0 and last["success"] > 0.9


def test_mistakes_share_the_probability(undecided) -> None:
    assert 0.35 < chance(undecided, "Right") < 0.65 and 0.35 < chance(undecided, "Left") < 0.65


def test_the_loss_is_the_mean_over_reply_tokens_alone(nano, tmp_path) -> None:
    learner = Learner(toys.sft(nano, tmp_path))
    rows = Batch([conversation([[30, 31, 2], [32, 2]]), conversation([[40, 2]], first=[5, 6])]).rows
    scored = torch.cat(learner.logprobs(rows))
    assert len(scored) == 7
    assert sft.imitate(learner, rows)["nll"] == pytest.approx(-float(scored.mean()), abs=1e-5)


def test_batches_use_all_data_before_any_twice_and_follow_the_rng(nano, tmp_path) -> None:
    args = toys.sft(nano, tmp_path, steps_per_iteration=3, batch_size=4)
    rows = Batch([conversation([[30 + n, 2]]) for n in range(8)]).rows
    found = sft.batches(rows, args, torch.Generator().manual_seed(1))
    assert [len(batch) for batch in found] == [4, 4, 4]
    assert {id(row) for row in found[0] + found[1]} == {id(row) for row in rows}
    again = sft.batches(rows, args, torch.Generator().manual_seed(1))
    assert [[id(row) for row in batch] for batch in found] == [[id(row) for row in batch] for batch in again]


def test_episodes_from_a_file_teach_the_same_as_when_they_were_played(nano, tmp_path) -> None:
    args = toys.sft(nano, tmp_path / "played", mistake_rate=0.0, demonstrations=4)
    spec = args.specs()[0]
    from agentrl.core.seeding import episode_seed

    collector = Collector([spec], Demonstrator(load_model(nano, "cpu", "float32")))
    episodes = collector.collect([Start(episode_seed(0, n)) for n in range(4)]).trajectories
    collector.close()
    data = written(tmp_path / "episodes.jsonl", episodes)
    played = sft.train(args)
    read = sft.train(toys.sft(nano, tmp_path / "read", mistake_rate=0.0, demonstrations=4, data=data))
    one, two = training_state(played, 2), training_state(read, 2)
    assert all(torch.equal(one[name], two[name]) for name in one if name.startswith("/policy/"))


def test_demonstrations_are_played_the_way_the_run_plays(nano, tmp_path, monkeypatch) -> None:
    made: list[dict[str, Any]] = []

    class Noted(Collector):
        def __init__(self, *args: Any, **options: Any) -> None:
            made.append(options)
            super().__init__(*args, **options)

    monkeypatch.setattr(sft, "Collector", Noted)
    sft.train(toys.sft(nano, tmp_path / "run", iterations=1, hosts=2, num_envs=2, env_timeout=50.0))
    assert [(one["hosts"], one["num_envs"], one["timeout"]) for one in made] == [(2, 2, 50.0)]


def test_pictures_of_a_file_are_read_with_it(tmp_path) -> None:
    spec = EnvSpec("agentrl/FrozenLake-Visual-v0", {"image_size": 64})
    episodes = demonstrated("tiny-vlm", spec)
    data = to_parquet(written(tmp_path / "trajectories" / "seen.jsonl", episodes))
    options = {"env": (spec.id,), "iterations": 1, "steps_per_iteration": 2, "batch_size": 4, "lr": 1e-3}
    folder = sft.train(toys.sft("tiny-vlm", tmp_path / "run", data=str(data), **options))
    (line,) = lines(folder, "train")
    assert 0 < line["loss"]["nll"] < 20 and line["loss"]["grad_norm"] > 0


def test_data_of_another_tokenizer_without_tokens_or_without_episodes_is_refused(nano, tmp_path) -> None:
    spec = EnvSpec("agentrl/FrozenLake-Text-v0")
    good = demonstrated(nano, spec, 1)
    foreign, empty = demonstrated(nano, spec, 1), demonstrated(nano, spec, 1)
    foreign[0].tokenizer = "other"
    for step in empty[0].steps:
        step.response_ids = []
    broken = demonstrated(nano, spec, 1)
    broken[0].fault = {"kind": "EnvFault", "detail": "x"}
    cases = {"another tokenizer": foreign, "no tokens": empty, "no demonstrations": broken}
    for number, (message, episodes) in enumerate(cases.items()):
        data = written(tmp_path / f"{number}.jsonl", episodes)
        with pytest.raises(ConfigError, match=message):
            sft.train(toys.sft(nano, tmp_path / str(number), data=data))
    with pytest.raises(ConfigError, match=r"cannot be read.*nowhere.jsonl"):
        sft.train(toys.sft(nano, tmp_path / "missing", data=str(tmp_path / "nowhere.jsonl")))
    assert good[0].reward is not None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("mistake_rate", 1.5), ("mistake_rate", float("nan")), ("batch_size", 0), ("demonstrations", -1)],
        *[("player", "alfworld-serach"), ("player", "hf:tiny-text"), ("player", 3)],
    ],
)
def test_options_that_cannot_work_are_refused_by_name(option, value) -> None:
    with pytest.raises(ConfigError, match=option):
        sft.SFT(**{option: value})


def test_a_named_player_demonstrates_and_the_run_says_so(nano, tmp_path) -> None:
    options = {"env": ("agentrl/ALFWorld-Text-v0",), "env_kwargs": {"max_turns": 6}, "prompt_style": "step"}
    options |= {"player": "alfworld-search", "mistake_rate": 0.0, "demonstrations": 3, "save_demonstrations": True}
    folder = sft.train(toys.sft(nano, tmp_path / "run", max_new_tokens=40, **options))
    assert json.loads((folder / "config.json").read_text())["arguments"]["player"] == "alfworld-search"
    first = [episode.steps[0].action for episode in read_trajectories(folder / "demonstrations.jsonl")]
    assert len(first) == 3 and all(str(action).startswith("go to ") for action in first)


def test_step_style_demonstrations_have_a_row_for_each_step(nano, tmp_path) -> None:
    kwargs = {"turns": 3}
    folder = sft.train(toys.sft(nano, tmp_path / "run", prompt_style="step", env_kwargs=kwargs, iterations=1))
    assert lines(folder, "train")[0]["loss"]["nll"] > 0
