"""The promises of `AgentEnv` that must not differ between environments."""

from __future__ import annotations

import copy
import json
import pickle

import gymnasium as gym
import numpy as np
import pytest
from counter_env import CounterEnv
from gymnasium.error import ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

import agentrl
from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.env import episode_limit, keyword_arguments
from agentrl.core.errors import ConfigError

INFO_KEYS = {
    "state",
    "success",
    "valid",
    "effective",
    "actions",
    "feedback",
    "reward_terms",
    "pending",
    "format",
    "fault",
    "limit",
    "anchor",
    "turn",
    "task",
}


def started(task: str = "0", **arguments: object) -> CounterEnv:
    env = CounterEnv(**arguments)
    env.reset(seed=0, options={"task": task})
    return env


def lake(**arguments: object) -> gym.Env:
    env = gym.make("agentrl/FrozenLake-Text-v0", **arguments)
    env.reset(seed=0, options={"task": "P___/_O__/____/___G"})
    return env


def everything(env: CounterEnv) -> object:
    """All that could have changed."""
    return copy.deepcopy(
        {name: value for name, value in vars(env).items() if name not in ("_np_random", "action_space")}
    ), (env._np_random.bit_generator.state if env._np_random is not None else None)


# ---------------------------------------------------------------------- turns


def test_a_turn_runs_its_actions_in_order_and_reports_them():
    env = started()
    observation, reward, terminated, truncated, info = env.step("inc, wait, INC")
    assert observation in env.observation_space and not terminated and not truncated
    assert info["actions"] == ["inc", "wait", "inc"] and info["valid"] and info["effective"]
    assert info["state"] == {"count": 2, "target": 4} and info["turn"] == 1 and info["task"] == "0"
    assert reward == pytest.approx(-0.03) and info["reward_terms"] == {"step": pytest.approx(-0.03)}
    assert info["fault"] is None and info["limit"] is None and info["pending"] == [] and info["format"] is None


@given(
    st.lists(
        st.sampled_from(["inc", "wait", "gamble", "break", "lose", "jump", "", "<answer>", "</answer>"]), max_size=6
    )
)
@settings(max_examples=150, deadline=None)
def test_every_turn_has_all_keys_in_json_and_a_reward_that_is_the_sum_of_its_terms(words):
    env = started()
    for _ in range(4):
        observation, reward, terminated, truncated, info = env.step(",".join(words))
        assert info.keys() == INFO_KEYS and observation in env.observation_space
        assert type(reward) is float and reward == pytest.approx(sum(info["reward_terms"].values()))
        assert not (terminated and truncated)
        json.dumps(info, allow_nan=False)


def test_reset_has_the_same_keys():
    _, info = CounterEnv().reset(seed=1)
    assert info.keys() == INFO_KEYS
    assert info["valid"] and not info["effective"] and not info["success"]
    assert info["actions"] == [] and info["reward_terms"] == {} and info["turn"] == 0


def test_an_action_without_effect_is_valid_and_running_goes_on():
    _, _, _, _, info = started().step("wait, inc")
    assert info["valid"] and info["effective"] and info["actions"] == ["wait", "inc"]
    _, _, _, _, info = started().step("wait")
    assert info["valid"] and not info["effective"] and "Nothing happens." in info["feedback"]


def test_surplus_actions_are_dropped_with_feedback_and_stay_valid():
    _, reward, _, _, info = started().step("inc, wait, inc, inc, nonsense")
    assert info["valid"] and info["actions"] == ["inc", "wait", "inc"] and info["state"]["count"] == 2
    assert "first 3" in info["feedback"] and "2 dropped" in info["feedback"]
    assert reward == pytest.approx(-0.03) and info["fault"] is None


@pytest.mark.parametrize("bad", ["jump", "break", ""])
def test_earlier_actions_keep_effect_and_reward_when_a_later_one_is_invalid(bad):
    _, reward, terminated, _, info = started().step(f"inc, {bad}, inc")
    assert not info["valid"] and info["fault"] == "invalid_action" and not terminated
    assert info["actions"] == ["inc"] and info["state"]["count"] == 1 and info["effective"]
    assert info["reward_terms"] == {"step": -0.01, "invalid": -0.1} and reward == pytest.approx(-0.11)
    assert "Invalid" in info["feedback"]


@pytest.mark.parametrize("action", ["", "jump", "<answer>inc", None, 3, b"inc", ["inc"], float("nan"), object()])
def test_nothing_parsed_costs_the_penalty_once_and_the_turn(action):
    env = started(invalid_penalty=-0.25)
    _, reward, terminated, truncated, info = env.step(action)
    assert reward == -0.25 and info["reward_terms"] == {"invalid": -0.25}
    assert not info["valid"] and not info["effective"] and info["fault"] == "unparsed" and info["actions"] == []
    assert info["turn"] == 1 and not terminated and not truncated and info["state"]["count"] == 0


def test_what_stands_behind_the_end_of_the_episode_is_neither_run_nor_blamed():
    _, reward, terminated, truncated, info = started("2").step("inc, inc, jump")
    assert terminated and not truncated and info["success"] and info["valid"]
    assert info["actions"] == ["inc", "inc"] and reward == pytest.approx(0.98)
    _, _, terminated, _, info = started("2").step("inc, inc, inc, inc")
    assert terminated and "dropped" not in info["feedback"]


def test_an_end_without_success_is_no_success():
    _, _, terminated, _, info = started().step("lose")
    assert terminated and not info["success"]


# ---------------------------------------------------------------------- limits


def test_the_last_turn_truncates_and_says_that_the_task_set_the_limit():
    env = started(max_turns=2)
    _, _, terminated, truncated, info = env.step("wait")
    assert not truncated and info["limit"] is None
    _, _, terminated, truncated, info = env.step("wait")
    assert truncated and not terminated and info["limit"] == "task" and not info["success"]


def test_invalid_turns_count():
    env = started(max_turns=2)
    env.step("nonsense")
    assert env.step("nonsense")[3]


def test_success_on_the_last_turn_terminates():
    env = started("2", max_turns=1)
    _, _, terminated, truncated, info = env.step("inc, inc")
    assert terminated and not truncated and info["success"] and info["limit"] is None


def test_a_limit_from_a_wrapper_counts_as_external():
    env = gym.wrappers.TimeLimit(started(), 1)
    env.reset(seed=0)
    _, _, _, truncated, info = env.step("wait")
    assert truncated and episode_limit(truncated, info) == "external"
    assert episode_limit(True, {"limit": "task"}) == "task" and episode_limit(False, {"limit": None}) is None


def test_a_step_before_the_first_reset_raises_what_gymnasium_raises():
    env = CounterEnv()
    with pytest.raises(ResetNeeded):
        env.step("inc")
    with pytest.raises(ResetNeeded):
        CounterEnv(render_mode="rgb_array").render()


@pytest.mark.parametrize("last", ["lose", "wait"])
def test_a_step_after_the_end_changes_and_earns_nothing(last):
    env = started(max_turns=1)
    _, _, terminated, truncated, _ = env.step(last)
    before = env.state()
    for _ in range(2):
        _, reward, *ends, info = env.step("inc")
        assert reward == 0.0 and ends == [terminated, truncated] and env.state() == before
        assert info["fault"] == "episode_over" and not info["valid"] and info["turn"] == 1
    env.reset()
    assert env.step("wait")[4]["valid"]


# ---------------------------------------------------------------------- configuration


def test_an_unknown_keyword_suggests_the_nearest_and_lists_all():
    with pytest.raises(ConfigError) as caught:
        CounterEnv(max_turn=3)
    assert 'Did you mean "max_turns"?' in str(caught.value) and "target" in str(caught.value)
    with pytest.raises(ConfigError, match='"slippery"'):
        gym.make("agentrl/FrozenLake-Text-v0", slipery=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"split": "validation"},
        {"render_mode": "film"},
        {"max_turns": 0},
        {"max_turns": 2.0},
        {"max_turns": True},
        {"max_turns": "3"},
        {"max_actions_per_turn": -1},
        {"invalid_penalty": float("nan")},
        {"invalid_penalty": "much"},
    ],
)
def test_a_bad_argument_is_named(arguments):
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        CounterEnv(**arguments)


def test_numbers_of_numpy_are_numbers():
    assert CounterEnv(max_turns=np.int64(2)).max_turns == 2
    assert whole_number("n", np.uint8(3), at_least=0) == 3 and finite_number("x", np.float32(0.5)) == 0.5
    with pytest.raises(ConfigError, match="at most 4"):
        whole_number("n", 5, at_least=1, at_most=4)


def test_the_keyword_arguments_of_a_class_are_those_of_all_its_bases():
    names = keyword_arguments(CounterEnv)
    assert {"target", "split", "render_mode", "max_turns", "invalid_penalty"} <= names.keys()
    assert names["max_turns"] == 3  # the class nearest to the user decides


BAD_RESETS = [
    {"options": {"task": "9"}},
    {"options": {"task": 3.5}},
    {"options": {"task": ["0"]}},
    {"options": {"level": "0"}},
    {"options": "task"},
    {"options": ["task"]},
    {"options": 3},
    {"seed": 1.5, "options": {"task": "1"}},
    {"seed": -1},
    {"seed": "x"},
]


@pytest.mark.parametrize("arguments", BAD_RESETS)
@pytest.mark.parametrize("begun", [True, False])
def test_a_bad_option_task_or_seed_raises_and_changes_nothing(arguments, begun):
    env = started() if begun else CounterEnv()
    if begun:
        env.step("inc")
    before = everything(env)
    with pytest.raises((ConfigError, gym.error.Error)):
        env.reset(**arguments)
    assert everything(env) == before


@pytest.mark.parametrize("task", ["P", "P___/_O__/____/____", "PP__/_O__/____/___G", "P___/_O__/____/__?G", 4])
def test_a_lake_that_is_no_lake_raises_and_leaves_the_lake_as_it_was(task):
    env = lake()
    env.step("Down")
    before = agentrl.snapshot(env)
    with pytest.raises(ConfigError):
        env.reset(options={"task": task})
    assert agentrl.snapshot(env) == before


@pytest.mark.parametrize("option", [None, {}, {"task": None}])
def test_no_option_is_the_next_task(option):
    assert CounterEnv().reset(seed=3, options=option)[1]["task"] == CounterEnv().reset(seed=3)[1]["task"]


def test_the_walk_visits_every_task_before_any_comes_again_and_a_named_task_does_not_move_it():
    env, straight = CounterEnv(), CounterEnv()
    walk = [env.reset(seed=5)[1]["task"], *(env.reset()[1]["task"] for _ in range(5))]
    assert sorted(walk[:3]) == env.tasks() and walk[:3] == walk[3:]
    straight.reset(seed=5)
    assert straight.reset(options={"task": walk[0]})[1]["task"] == walk[0]
    assert [straight.reset()[1]["task"] for _ in range(5)] == walk[1:]


def test_a_split_without_tasks_is_refused(monkeypatch):
    monkeypatch.setattr(CounterEnv, "tasks", lambda self: [])
    with pytest.raises(ConfigError, match="no tasks in split 'dev'"):
        CounterEnv(split="dev").reset(seed=1)


def test_tasks_and_seeds_are_reproducible():
    env = CounterEnv()
    for task in env.tasks():
        assert env.reset(options={"task": task})[1]["task"] == task
    walks = [
        [env.reset(seed=5)[1]["task"], *(env.reset()[1]["task"] for _ in range(10))]
        for env in (CounterEnv(), CounterEnv())
    ]
    assert walks[0] == walks[1] and len(set(walks[0])) > 1


# ---------------------------------------------------------------------- the real thing


def test_the_same_promises_hold_on_the_ice():
    env = lake()
    _, reward, _, _, info = env.step("<think>Up is a wall.</think><answer>Up, right, jump</answer>")
    assert info["actions"] == ["Up", "Right"] and not info["valid"] and info["effective"]
    assert info["state"]["player_position"] == [0, 1]
    assert info["reward_terms"]["invalid"] == -0.1 and reward == pytest.approx(sum(info["reward_terms"].values()))
    _, _, terminated, _, info = env.step("Down")
    assert terminated and not info["success"]


# ---------------------------------------------------------------------- rendering, copying, closing


def test_render_modes_give_pictures_and_characters():
    picture = started(render_mode="rgb_array").render()
    assert picture.dtype == np.uint8 and picture.shape == (8, 8, 3)
    assert started(render_mode="ansi").render() == "0/4"


def test_rendering_without_a_mode_warns_and_gives_nothing():
    with pytest.warns(UserWarning, match="render_mode"):
        assert started().render() is None


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_live_on_by_themselves_with_the_same_future(twin_of):
    env = started(target=40)
    env.step("gamble")
    twin = twin_of(env)
    results = [[e.step("gamble, gamble, gamble")[4]["state"] for _ in range(2)] for e in (env, twin)]
    assert results[0] == results[1] and twin.parameters == env.parameters


def test_closing_twice_is_fine():
    env = started()
    env.close()
    env.close()


def test_nothing_touches_the_global_random_state():
    before = np.random.get_state()[1].copy()
    env = started()
    env.step("gamble, gamble")
    env.restore(env.snapshot())
    assert np.array_equal(before, np.random.get_state()[1])


# ---------------------------------------------------------------------- info that fits into arrays


@pytest.mark.parametrize("env_id", ["agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Grid-v0"])
def test_brief_info_has_one_shape_at_every_moment(env_id: str) -> None:
    env = gym.make(env_id, full_info=False)
    infos = [env.reset(seed=0)[1]]
    for number in range(60):
        action = env.action_space.sample() if number % 3 else "no such action" if "Text" in env_id else 99
        *_, terminated, truncated, info = env.unwrapped.step(action)
        infos.append(info)
        if number % 20 == 19 and (terminated or truncated):
            infos.append(env.reset()[1])
    # What a buffer does: arrays made for the first info take every later one.
    store = {
        name: np.zeros((len(infos), *np.shape(value)), np.asarray(value).dtype) for name, value in infos[0].items()
    }
    for row, info in enumerate(infos):
        assert info.keys() == store.keys() == {"success", "valid", "effective"}
        for name, value in info.items():
            assert type(value) is bool
            store[name][row] = value
    assert store["valid"].any() and not store["valid"].all()


def test_brief_info_changes_nothing_else() -> None:
    full, brief = started(), started(full_info=False)
    for action in ("inc", "nonsense", "inc"):
        told, short = full.step(action), brief.step(action)
        assert told[:4] == short[:4] and short[4] == {name: told[4][name] for name in ("success", "valid", "effective")}
    brief.restore(full.snapshot())  # how an environment is watched is no part of a snapshot
    assert brief.state() == full.state()
    assert "full_info" not in full.parameters


def test_trajectories_need_the_whole_info() -> None:
    from agentrl.rollout.starts import EnvSpec

    with pytest.raises(ConfigError, match="full_info"):
        EnvSpec("agentrl/FrozenLake-Text-v0", {"full_info": False})
