"""Trainers from Python: what `env` and the options of environments may be, and what is said about anything else."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import Any

import gymnasium as gym
import pytest

import agentrl  # noqa: F401 (registers the environments)
from agentrl import trainers
from agentrl.algorithms import ALGORITHMS, train_function
from agentrl.core.errors import ConfigError
from agentrl.rollout.collect import EnvSpec
from agentrl.trainers import PPO, SFT, StepPO, WebRL
from agentrl.wrappers import History
from tests.trainers import toys
from tests.trainers.arms import ARMS

LAKE = "agentrl/FrozenLake-Text-v0"


@pytest.mark.parametrize("env", [LAKE, [LAKE], (LAKE,), {"id": LAKE}, [{"id": LAKE}], gym.spec(LAKE), EnvSpec(LAKE)])
def test_an_environment_may_be_named_in_every_usual_way(env: Any) -> None:
    (spec,) = StepPO(env=env).specs()
    assert (spec.id, spec.kwargs, spec.wrappers, spec.weight) == (LAKE, {}, (), 1.0)


def test_an_environment_and_its_spec_carry_their_arguments_and_wrappers() -> None:
    env = gym.make(LAKE, size=5, render_mode="rgb_array")
    for given in (env, env.spec, gym.make(LAKE, size=5).spec):
        (spec,) = PPO(env=given, env_kwargs={"max_turns": 3}).specs()
        assert (spec.id, spec.kwargs) == (LAKE, {"max_turns": 3, "size": 5})
    (spec,) = PPO(env=History(env, turns=2), wrap=[{"wrapper": "RepetitionPenalty"}]).specs()
    assert spec.wrappers[-1] == {"wrapper": "History", "turns": 2}
    env.close()


def test_options_are_real_values_and_config_json_holds_them() -> None:
    args = SFT(
        env=[LAKE, {"id": "agentrl/Sokoban-Text-v0", "weight": 2.0, "kwargs": {"boxes": 1}}],
        env_kwargs={"max_turns": 4},
        wrap=[{"wrapper": "History"}],
        eval_modes=["greedy"],  # pyright: ignore[reportArgumentType]
    )
    stored = json.loads(json.dumps(args.to_json()))
    assert stored["env"][1]["weight"] == 2.0 and stored["env_kwargs"] == {"max_turns": 4}
    assert stored["wrap"] == [{"wrapper": "History"}] and stored["eval_modes"] == ["greedy"]
    assert SFT.from_json(stored) == args
    assert [spec.kwargs for spec in args.specs()] == [{"max_turns": 4}, {"max_turns": 4, "boxes": 1}]
    assert WebRL(orm={"kind": "tests.toy_judges:Constant"}).to_json()["orm"] == {"kind": "tests.toy_judges:Constant"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"env": "agentrl/FrozenLak-Text-v0"}, "Did you mean"),
        ({"env": 3}, "env must be an id, an object with id, an environment or its spec, or a list of these; got 3"),
        ({"env": [LAKE, None]}, "env must be an id, .* got None"),
        ({"env": {"id": LAKE, "weights": 1}}, "env must have id, and may have kwargs, wrappers and weight; got"),
        ({"env_kwargs": '{"size": 5}'}, "env_kwargs must be a dict; got"),
        ({"env_kwargs": {"size": object()}}, "env_kwargs must hold JSON values"),
        ({"wrap": {"wrapper": "History"}}, "wrap must be a list; got"),
        ({"wrap": '[{"wrapper": "History"}]'}, "wrap must be a list; got"),
        ({"engine_options": "{}"}, "engine_options must be a dict; got"),
        ({"judge": 3}, "judge must be a string or a dict; got 3"),
        ({"trackers": "wandb"}, "trackers must be a list; got"),
    ],
)
def test_anything_else_is_refused_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        StepPO(**options)


def test_every_algorithm_is_at_hand_and_train_finds_its_own(undecided: Any, tmp_path: Any) -> None:
    names = {place.partition(":")[2] for place, _ in ALGORITHMS.values()}
    assert names | {"train"} == set(trainers.__all__) and all(hasattr(trainers, name) for name in names)
    folder = trainers.train(toys.grpo(undecided, tmp_path / "run", env=ARMS, iterations=1), report=None)
    assert json.loads((folder / "config.json").read_text())["algorithm"] == "grpo"
    with pytest.raises(ConfigError, match="must be those of an algorithm"):
        trainers.train({"env": LAKE})  # pyright: ignore[reportArgumentType]
    with pytest.raises(AttributeError):
        trainers.TRPO  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_importing_the_package_loads_no_torch() -> None:
    code = "import sys, agentrl.trainers; agentrl.trainers.PPO(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "False", done.stderr[-2000:]


def test_training_prints_its_progress_unless_it_is_told_not_to(undecided: Any, tmp_path: Any, capsys: Any) -> None:
    from agentrl.trainers.algorithms import grpo

    grpo.train(toys.grpo(undecided, tmp_path / "heard", env=ARMS, iterations=1))
    assert "[1/1]" in capsys.readouterr().out
    trainers.train(toys.grpo(undecided, tmp_path / "silent", env=ARMS, iterations=1), report=None)
    assert capsys.readouterr().out == ""
    signatures = [inspect.signature(train_function(name)).parameters["report"].default for name in ALGORITHMS]
    assert signatures == [print] * len(ALGORITHMS)
