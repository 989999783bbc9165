"""Wrappers together: rebuilt from JSON, saved and continued at any moment, beside Gymnasium's own."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

import agentrl
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.wrappers import (
    DiscreteActions,
    History,
    ImageObservation,
    Reasoning,
    ReasoningReward,
    RecordEpisode,
    RepetitionPenalty,
    ToolCalls,
)
from agentrl.wrappers.base import AgentWrapper

Build = Callable[[Path], gym.Env]
NINE = {"max_turns": 9, "max_solution": 9}  # room for nine turns of the default levels


def sokoban(kind: str = "Visual", **options: Any) -> gym.Env:
    return gym.make(f"agentrl/Sokoban-{kind}-v0", render_mode="rgb_array", image_size=48, **(NINE | options))


def everything(folder: Path) -> gym.Env:
    # Gymnasium writes a TimeLimit into a spec as a number, and puts it innermost when it rebuilds.
    env = Reasoning(ToolCalls(sokoban(max_episode_steps=20), 2), "grounding_worldmodeling", "structured")
    return RecordEpisode(History(env, 2), folder, formats=("html",), every=2)


def classic(folder: Path) -> gym.Env:
    return ImageObservation(DiscreteActions(sokoban(max_actions_per_turn=1)))


def judged(folder: Path, **options: Any) -> gym.Env:
    env = Reasoning(sokoban("Text"), "grounding_worldmodeling", "structured")
    return History(RepetitionPenalty(ReasoningReward(env, "tests.toy_judges:Exact", **options), training=True), 2)


STACKS: dict[str, Build] = {
    "judged": judged,
    "judged later": lambda folder: judged(folder, deferred=True),
    "everything": everything,
    "classic": classic,
    "history inside": lambda folder: Reasoning(History(sokoban("Text")), "worldmodeling", "symbolic"),
    "history around tools": lambda folder: History(ToolCalls(sokoban("Text"))),
    "recorded lake": lambda folder: RecordEpisode(
        Reasoning(gym.make("agentrl/FrozenLake-Text-v0", render_mode="rgb_array", slippery=True), "no_think"), folder
    ),
}
stacks = pytest.mark.parametrize("build", STACKS.values(), ids=STACKS)


def random_action(env: gym.Env, chooser: np.random.Generator) -> Any:
    """Gold, random, hostile: what a mixed bag of policies would write."""
    options = [env.action_space.sample(), env.action_space.sample(), "<answer>", '[{"name": "move"}]', "\ud800"]
    if env.has_wrapper_attr("gold"):
        options += [env.get_wrapper_attr("gold")()] * 3
    return options[chooser.integers(len(options))]


def same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    return np.array_equal(first, second) if isinstance(first, np.ndarray) else first == second


@stacks
def test_json_rebuilds_the_whole_stack(build: Build, tmp_path: Path) -> None:
    env = build(tmp_path)
    text = env.spec.to_json()
    again = gym.make(EnvSpec.from_json(text))
    assert str(again) == str(env)
    assert json.loads(again.spec.to_json()) == json.loads(text)
    assert again.get_wrapper_attr("system_prompt") == env.get_wrapper_attr("system_prompt")
    mine, theirs = env.reset(seed=3), again.reset(seed=3)
    for action in [env.action_space.sample() for _ in range(3)]:
        assert same(mine[0], theirs[0])
        mine, theirs = env.step(action), again.step(action)
        assert mine[1:4] == theirs[1:4]
        assert same(mine[4], theirs[4])


@stacks
def test_a_fork_at_any_moment_goes_on_equally(build: Build, tmp_path: Path) -> None:
    chooser = np.random.default_rng(0)
    env, other = build(tmp_path), build(tmp_path)
    for seed in range(12):
        env.action_space.seed(seed)
        env.reset(seed=seed)
        for _ in range(chooser.integers(0, 6)):
            env.step(random_action(env, chooser))
        blob = agentrl.snapshot(env)
        actions = [random_action(env, chooser) for _ in range(4)]
        expected = [env.step(action) for action in actions]
        other.reset(seed=seed + 100)
        agentrl.restore(other, blob)
        assert agentrl.snapshot(other) == blob
        for action, (obs, *results, info) in zip(actions, expected, strict=True):
            their_obs, *their_results, their_info = other.step(action)
            assert same(obs, their_obs)
            assert results == their_results
            assert same(info, their_info)
    env.close()
    other.close()


def test_a_fork_goes_on_in_another_process(tmp_path: Path) -> None:
    env = STACKS["history inside"](tmp_path)
    env.reset(seed=2)
    env.step("<answer>Up</answer>")
    (tmp_path / "blob").write_bytes(agentrl.snapshot(env))
    (tmp_path / "spec").write_text(env.spec.to_json())
    program = (
        "import sys, gymnasium as gym, agentrl\n"
        "from gymnasium.envs.registration import EnvSpec\n"
        "env = gym.make(EnvSpec.from_json(open(sys.argv[1] + '/spec').read()))\n"
        "agentrl.restore(env, open(sys.argv[1] + '/blob', 'rb').read())\n"
        "print(env.step('Left')[0]['text'])\n"
    )
    # One warm-up of the order enforcement travels with the snapshot, so no reset is needed over there.
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == env.step("Left")[0]["text"] + "\n"


def test_a_blob_of_another_stack_is_refused(tmp_path: Path) -> None:
    env, other = History(sokoban("Text"), 2), History(sokoban("Text"), 3)
    env.reset(seed=0)
    other.reset(seed=1)
    before = agentrl.snapshot(other)
    with pytest.raises(SnapshotError, match="taken elsewhere"):
        agentrl.restore(other, agentrl.snapshot(env))
    assert agentrl.snapshot(other) == before


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x80", None, "text"])
def test_a_wrapper_refuses_junk_and_stays_as_it_was(junk: Any) -> None:
    env = History(sokoban("Text"))
    env.reset(seed=0)
    env.step("Up")
    before = env.snapshot()
    with pytest.raises(SnapshotError):
        env.restore(junk)
    assert env.snapshot() == before


@stacks
def test_stacks_can_be_pickled_for_worker_processes(build: Build, tmp_path: Path) -> None:
    env = build(tmp_path)
    env.reset(seed=0)
    again = pickle.loads(pickle.dumps(env))
    action = env.action_space.sample()
    assert same(env.step(action)[0], again.step(action)[0])


@stacks
def test_gymnasiums_time_limit_is_an_external_limit(build: Build, tmp_path: Path) -> None:
    env = gym.wrappers.TimeLimit(build(tmp_path), 1)
    env.reset(seed=0)
    _, _, terminated, truncated, info = env.step("nonsense")
    assert (terminated, truncated, info["limit"]) == (False, True, None)
    assert agentrl.core.env.episode_limit(truncated, info) == "external"


def test_gold_plays_tool_calls_through_the_whole_stack(tmp_path: Path) -> None:
    env = everything(tmp_path)
    for seed in range(20):
        env.reset(seed=seed)
        over, info = False, {}
        while not over:
            _, _, terminated, truncated, info = env.step(env.get_wrapper_attr("gold")())
            assert info["format"] is True
            assert json.loads(info["prediction"]) == env.unwrapped.state().structured()
            over = terminated or truncated
        assert info["success"]
    assert len(env.files) == 10


def test_every_wrapper_adds_its_rules_to_the_prompt(tmp_path: Path) -> None:
    prompt = everything(tmp_path).get_wrapper_attr("system_prompt")
    places = [prompt.index(part) for part in ("warehouse", "calling tools", "exactly this form", "the last 2 turns")]
    assert places == sorted(places)


def test_live_objects_cannot_hide_in_a_spec() -> None:
    class Judged(AgentWrapper):
        def __init__(self, env: gym.Env, judge: Any) -> None:
            super().__init__(env, judge=judge)

    with pytest.raises(ConfigError, match=r"judge must be made of plain JSON.*object is not"):
        Judged(sokoban("Text"), object())
    assert json.loads(Judged(sokoban("Text"), ("rule", 1)).spec.to_json())["additional_wrappers"][-1]["kwargs"] == {
        "judge": ["rule", 1]
    }


def test_wrappers_are_light_and_named() -> None:
    program = (
        "import sys, agentrl.wrappers as w\n"
        "assert not any(name.startswith('agentrl.wrappers.') for name in sys.modules)\n"
        "assert set(w.__all__) <= set(dir(w))\n"
        "w.Reasoning\n"
        "assert not {'PIL', 'imageio', 'torch', 'pygame'} & set(sys.modules)\n"
        "for name in w.__all__: getattr(w, name)\n"
        "assert not {'imageio', 'torch', 'pygame'} & set(sys.modules)\n"
        "try: w.Resoning\n"
        "except AttributeError: print('fine')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "fine\n"
