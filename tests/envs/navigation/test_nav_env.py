"""Navigation end to end: actions, rewards, truth, tasks, the oracle, pictures, forks and hostile input."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError, SnapshotError, UnsupportedRepresentation
from agentrl.envs.navigation import views
from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.env import NavigationEnv
from agentrl.envs.navigation.tasks import HOMES, NAMED, SETS
from agentrl.envs.navigation.truth import DIRECTIONS
from agentrl.envs.navigation.world import ACTIONS
from agentrl.testing import check_env

TEXT, VISUAL = "agentrl/Navigation-Text-v0", "agentrl/Navigation-Visual-v0"
UNKNOWN = [
    "home-5000:base:0", "home-0:base:8", "home-00:base:0", "home-0:odd:0", "", "x" * 9999, "home-0:base:0\n",
    "home--1:base:0", 7, ["home-0:base:0"], "home-1²:base:0",
]  # fmt: skip
OTHER_LIMITS = [
    {"step_length": 0.5},
    {"success_distance": 0.6},
    {"step_length": 0.1, "max_turns": 12},
    {"max_turns": 1},
]
TRUTH = {"target_obj_type", "target_distance_to_player", "target_direction_to_player", "visible_objects"}


def make(**kwargs: Any) -> NavigationEnv:
    return NavigationEnv(**{"split": "test", **kwargs})


def solve(env: NavigationEnv) -> tuple[float, dict[str, Any]]:
    """Follow the oracle to the end of the episode: total reward, last info."""
    total, info = 0.0, {}
    while (turn := env.oracle()) is not None:
        _, reward, _, _, info = env.step(turn)
        total += reward
    return total, info


# ---------------------------------------------------------------------- the contract


@pytest.mark.long
def test_the_text_kind_keeps_the_contract() -> None:
    check_env(TEXT).raise_for_failure()  # test_contract.py runs the kit on the Visual kind


@pytest.mark.parametrize("count", [50, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("instructions", SETS)
def test_the_oracle_solves_many_test_tasks(instructions: str, count: int) -> None:
    env = make(instructions=instructions)
    tasks = env.tasks()
    for index in range(0, len(tasks), len(tasks) // count):
        env.reset(options={"task": tasks[index]})
        needed = env.actions_needed()
        assert needed is not None and 5 <= needed <= 20
        reward, info = solve(env)
        assert info["success"] and info["metrics"] == {"spl": 1.0, "distance": info["metrics"]["distance"]}
        assert reward == pytest.approx(10 - 0.1 * (needed - 1)) and info["metrics"]["distance"] <= 1.0


# ---------------------------------------------------------------------- actions


def test_moves_and_turns_are_seen_from_the_heading() -> None:
    env = make()
    env.reset(options={"task": "home-0:base:0"})
    poses = {}
    for action in ACTIONS:
        blob = env.snapshot()
        before = env.state()
        _, _, _, _, info = env.step(action)
        after = env.state()
        poses[action] = (round(after.x - before.x, 4), round(after.y - before.y, 4), after.heading, after.tilt)
        assert info["effective"] == (poses[action] != (0, 0, before.heading, before.tilt))
        if not info["effective"]:
            assert info["feedback"] == f"{action}: blocked."
        env.restore(blob)
    x, y = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}[before.heading]
    ahead, right = np.array((x, y)) * 0.25, np.array((y, -x)) * 0.25
    for action, step in (("moveahead", ahead), ("moveback", -ahead), ("moveright", right), ("moveleft", -right)):
        assert poses[action][:2] in (tuple(step), (0, 0)) and poses[action][2:] == (before.heading, 0)
    compass = ("north", "east", "south", "west")
    place = compass.index(before.heading)
    assert poses["rotateright"][2] == compass[(place + 1) % 4] and poses["rotateleft"][2] == compass[place - 1]
    assert poses["lookup"][3] == 30 and poses["lookdown"][3] == -30


def test_the_camera_tilts_from_30_up_to_60_down() -> None:
    env = make(max_turns=9)
    env.reset(seed=0)
    *_, info = env.step("lookup, lookup")
    assert env.state().tilt == 30 and info["feedback"] == "lookup: you cannot look further that way."
    assert info["valid"] and info["effective"]
    env.step("lookdown, lookdown, lookdown, lookdown")
    assert env.state().tilt == -60


def test_walking_against_a_wall_ends_in_blocked_steps() -> None:
    env = make(max_turns=30)
    env.reset(options={"task": "home-0:base:1"})
    for _ in range(29):
        *_, over, _, info = env.step("moveback, moveback, moveback, moveback, moveback")
        if over or not info["effective"]:
            break
    assert over or info["feedback"] == " ".join(["moveback: blocked."] * 5)
    assert over or info["reward_terms"] == {"step": pytest.approx(-0.5)}


def test_actions_after_arriving_do_not_run() -> None:
    env = make(max_actions_per_turn=20, max_turns=1)
    env.reset(seed=3)
    needed, plan = env.actions_needed(), env.oracle()
    _, _, terminated, truncated, info = env.step(f"{plan}, dance")
    assert terminated and not truncated and info["valid"] and info["success"] and len(info["actions"]) == needed
    assert info["feedback"] == "You have arrived." and info["reward_terms"]["success"] == 10.0
    assert env.oracle() is None and env.actions_needed() is None


def test_an_invalid_action_stops_the_turn_after_what_ran() -> None:
    env = make()
    env.reset(seed=1)
    _, reward, _, _, info = env.step("<answer>RotateLeft, jump, rotateleft</answer>")
    assert info["actions"] == ["rotateleft"] and not info["valid"] and info["fault"] == "invalid_action"
    assert reward == pytest.approx(-0.2) and "'jump' is not an action" in info["feedback"]


def test_surplus_actions_are_dropped() -> None:
    env = make()
    env.reset(seed=1)
    *_, info = env.step(", ".join(["rotateleft"] * 7))
    assert info["valid"] and len(info["actions"]) == 5 and "2 dropped" in info["feedback"]


# ---------------------------------------------------------------------- the truth


def test_the_truth_has_exactly_the_keys_of_the_paper() -> None:
    env = make()
    _, info = env.reset(seed=5)
    truth = env.state().structured()
    assert set(truth) == TRUTH and set(info["state"]) > TRUTH
    assert all(set(each) == {"type", "direction_to_player", "distance_to_player"} for each in truth["visible_objects"])
    assert truth["target_direction_to_player"] in DIRECTIONS
    distances = [each["distance_to_player"] for each in truth["visible_objects"]]
    assert distances == sorted(distances) and all(round(each, 2) == each for each in distances)
    json.dumps(info)
    with pytest.raises(UnsupportedRepresentation):
        env.state().symbolic()


def test_sentences_say_what_the_structure_says() -> None:
    env = make()
    env.reset(options={"task": "home-2:base:0"})
    state, sentences = env.state(), env.state().natural()
    words = {"ahead": "ahead of you", "left": "to your left", "right": "to your right", "back": "behind you"}
    assert sentences[0].startswith("The target, ") and words[state.target_direction_to_player] in sentences[0]
    assert f"{state.target_distance_to_player:.2f} m" in sentences[0]
    assert len(sentences) == 1 + len(state.visible_objects)


def test_turning_turns_the_direction_of_the_target() -> None:
    env = make(max_turns=9)
    env.reset(seed=2)
    seen = [env.state().target_direction_to_player]
    for _ in range(3):
        env.step("rotateleft")
        seen.append(env.state().target_direction_to_player)
    assert sorted(seen) == sorted(DIRECTIONS)


def test_fewer_objects_are_listed_on_request() -> None:
    env = make(max_objects=2)
    for seed in range(5):
        env.reset(seed=seed)
        assert len(env.state().visible_objects) <= 2


# ---------------------------------------------------------------------- tasks


def test_splits_have_homes_of_their_own_and_making_one_builds_none() -> None:
    homes = [set(seeds) for seeds in HOMES.values()]
    assert not homes[0] & homes[1] and not homes[0] & homes[2] and not homes[1] & homes[2]
    assert len(HOMES["train"]) >= 5_000
    env = make(split="train")
    assert len(env.tasks()) == 64_000 and env.tasks()[-1] == "home-9999:base:7"
    assert env.tasks()[:2] == ["home-2000:base:0", "home-2001:base:0"]
    assert len(make(homes=3).tasks()) == 24


@pytest.mark.parametrize("task", UNKNOWN)
def test_unknown_tasks_are_refused_in_one_sentence(task: Any) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="home"):
        env.reset(options={"task": task})


def test_both_instruction_sets_have_the_same_tasks_in_other_words() -> None:
    base, common = make(), make(instructions="common")
    for number in range(8):
        base.reset(options={"task": f"home-4:base:{number}"})
        common.reset(options={"task": f"home-4:common:{number}"})
        one, other = base.state(), common.state()
        assert one.structured() == other.structured()
        noun = TYPES[one.target_obj_type].noun
        assert one.instruction in [each.format(noun=noun) for each in NAMED]
        assert any(other.instruction.startswith(use) for use in TYPES[one.target_obj_type].uses)
        assert noun not in other.instruction.lower()


def test_a_target_is_the_only_one_of_its_type() -> None:
    from agentrl.envs.navigation.homes.build import build_home

    env = make()
    for seed in range(10):
        env.reset(seed=seed)
        state = env.state()
        types = [item.type for item in build_home(int(state.scene.removeprefix("home-"))).items]
        assert types.count(state.target_obj_type) == 1


@pytest.mark.parametrize("in_view", [True, False])
def test_starts_can_have_the_target_in_view_or_not(in_view: bool) -> None:
    env = make(in_view=in_view, max_objects=99)
    for seed in range(8):
        env.reset(seed=seed)
        state = env.state()
        assert (state.target_obj_type in [each.type for each in state.visible_objects]) == in_view
        needed = env.actions_needed()
        assert needed is not None and needed <= (20 if in_view else 17)


def test_about_three_quarters_of_the_tasks_begin_with_the_target_in_view() -> None:
    env, count = make(max_objects=99), 0
    for seed in range(60):
        env.reset(seed=seed)
        count += env.state().target_obj_type in [each.type for each in env.state().visible_objects]
    assert 33 <= count <= 57


def test_the_range_of_solutions_is_kept() -> None:
    env = make(min_solution=8, max_solution=10)
    for seed in range(10):
        env.reset(seed=seed)
        assert 8 <= (env.actions_needed() or 0) <= 10


@pytest.mark.parametrize(
    "kwargs",
    [{"kind": "grid"}, {"instructions": "hard"}, {"backend": "unity"}, {"step_length": float("nan")}, {"fov": 0},
     {"fov": 179}, {"step_length": 0}, {"step_length": 10**9}, {"success_distance": -1}, {"image_size": 1},
     {"image_size": 10**9},
     {"max_objects": 0}, {"min_solution": 0}, {"max_solution": 21}, {"min_solution": 30}, {"homes": 0}, {"in_view": 1},
     {"multiview": "yes"}, {"ahead_angle": 90}, {"success_reward": float("inf")}, {"colour": "red"}],
)  # fmt: skip
def test_wrong_arguments_are_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(kwargs)).partition("_")[0]):
        make(**kwargs)


@pytest.mark.parametrize("kwargs", OTHER_LIMITS)
def test_other_limits_have_tasks_that_the_oracle_solves(kwargs: dict[str, Any]) -> None:
    env = make(**kwargs)
    for seed in range(5):
        env.reset(seed=seed)
        assert solve(env)[1]["success"]


# ---------------------------------------------------------------------- pictures


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every picture that is drawn while a test runs."""
    calls: list[Any] = []
    real = views.draw
    monkeypatch.setattr(views, "draw", lambda *arguments: calls.append(arguments) or real(*arguments))
    return calls


def test_no_frame_is_drawn_while_the_state_is_unchanged(drawn: list[Any]) -> None:
    env = make(kind="visual", image_size=48, render_mode="rgb_array", max_turns=9)
    first, _ = env.reset(options={"task": "home-0:base:0"})
    env.render()
    env.step("nonsense")
    same, *_ = env.step("")
    assert len(drawn) == 1 and (first["image"] == same["image"]).all() and first["image"] is not same["image"]
    other, *_ = env.step("rotateleft")
    assert len(drawn) == 2 and (other["image"] != first["image"]).any()
    again, *_ = env.step("rotateleft, rotateright")
    assert len(drawn) == 2 and (again["image"] == other["image"]).all()


def test_every_pose_has_a_picture_of_its_own() -> None:
    """Stale frames look like pictures as well: what changes the view must change them."""
    env = make(kind="visual", image_size=64, max_turns=40)
    env.reset(options={"task": "home-0:base:0"})
    frames: dict[Any, bytes] = {}
    for action in ["rotateleft"] * 4 + ["lookdown"] * 2 + ["rotateleft"] * 4:
        observation, *_ = env.step(action)
        state = env.state()
        pose = state.x, state.y, state.heading, state.tilt
        assert frames.setdefault(pose, observation["image"].tobytes()) == observation["image"].tobytes()
    assert len(frames) == len(set(frames.values())) == 9


def test_several_views_are_what_turning_would_show() -> None:
    env = make(kind="visual", multiview=True, image_size=48, max_turns=9)
    observation, _ = env.reset(options={"task": "home-1:base:0"})
    assert list(observation) == ["text", "image", "image_back", "image_left", "image_right"]
    assert observation["text"].count("<image>") == 4 and "Left: <image>" in observation["text"]
    assert observation in env.observation_space
    turned, *_ = env.step("rotateright")
    assert (turned["image"] == observation["image_right"]).all()
    assert (turned["image_left"] == observation["image"]).all()


def test_the_visual_text_does_not_describe_the_picture() -> None:
    env = make(kind="visual", image_size=48)
    observation, _ = env.reset(seed=0)
    assert observation["text"].count("<image>") == 1 and "You see" not in observation["text"]
    assert env.state().instruction in observation["text"]


def test_text_needs_no_pictures_and_no_simulator() -> None:
    code = (
        "import sys, agentrl, gymnasium as gym\n"
        f"env = gym.make({TEXT!r}, render_mode='ansi')\n"
        "env.reset(seed=0); env.step('rotateleft'); print(env.render())\n"
        "assert 'mujoco' not in sys.modules and 'PIL' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "X" in done.stdout and "#" in done.stdout and any(arrow in done.stdout for arrow in "^>v<")


# ---------------------------------------------------------------------- forks, processes, threads


def test_a_snapshot_continues_in_another_environment() -> None:
    env, other = make(), make()
    env.reset(seed=9)
    env.step("rotateleft, moveahead, lookdown")
    blob = env.snapshot()
    other.restore(blob)
    assert other.state() == env.state() and other.snapshot() == blob
    script = ["moveright, moveahead", "rotateright", "moveahead, moveahead"]
    assert [env.step(turn)[:4] for turn in script] == [other.step(turn)[:4] for turn in script]
    assert env.reset()[1]["task"] == other.reset()[1]["task"]


def test_forged_poses_are_refused() -> None:
    from agentrl.core.snapshot import open_blob, seal_blob

    env = make()
    env.reset(seed=9)
    before = env.state()
    for pose in ({"cell": [10**6, 0], "heading": 0, "tilt": 0}, {"cell": [0, 0], "heading": 7, "tilt": 0},
                 {"cell": [0, 0], "heading": 0, "tilt": 17}, {"cell": [0], "heading": 0, "tilt": 0}, {}):  # fmt: skip
        data = open_blob(env.snapshot(), env._identity())
        data["world"]["pose"] = pose
        with pytest.raises(SnapshotError):
            env.restore(seal_blob(env._identity(), data))
        assert env.state() == before


def test_a_pickled_environment_continues() -> None:
    env = make(kind="visual", image_size=48)
    env.reset(seed=4)
    env.step("rotateleft")
    copy = pickle.loads(pickle.dumps(env))
    assert copy.state() == env.state()
    one, other = env.step("moveahead"), copy.step("moveahead")
    assert one[1:4] == other[1:4] and (one[0]["image"] == other[0]["image"]).all()
    assert len(pickle.dumps(env)) < 50_000


def test_threads_in_one_home_do_not_mix_their_pictures() -> None:
    def play(turns: int) -> bytes:
        env = make(kind="visual", image_size=32, max_turns=9)
        observation, _ = env.reset(options={"task": "home-1:base:0"})
        for _ in range(turns):
            observation, *_ = env.step("rotateleft")
        return observation["image"].tobytes()

    expected = [play(turns) for turns in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(play, [0, 1, 2, 3] * 3)) == expected * 3


def test_vectorised_environments_step_alike() -> None:
    many = gym.make_vec(TEXT, 2, vectorization_mode="sync", split="test")
    observations, _ = many.reset(seed=1)
    single = gym.make(TEXT, split="test")
    assert observations["text"][1] == single.reset(seed=2)[0]["text"]
    many.close()


def test_the_stack_with_reasoning_can_be_saved() -> None:
    env = gym.make(TEXT, split="test")
    env.reset(seed=1)
    blob = agentrl.snapshot(env)
    env.step("rotateleft")
    agentrl.restore(env, blob)
    assert env.unwrapped.state().heading is not None  # pyright: ignore[reportAttributeAccessIssue]


# ---------------------------------------------------------------------- tools and prompts


def test_tools_name_every_action() -> None:
    env = make()
    env.reset(seed=0)
    (tool,) = env.tools
    assert tool["function"]["parameters"]["properties"]["action"]["enum"] == list(ACTIONS)
    plan = env.oracle()
    assert plan is not None
    calls = env.tool_calls(plan)
    assert ", ".join(str(env.tool_action(call["name"], call["arguments"])) for call in calls) == plan


def test_the_prompt_states_the_limits_in_force() -> None:
    env = make(step_length=0.5, success_distance=1.5, max_turns=7, max_actions_per_turn=3)
    for part in ("0.5 m", "1.5 m", "7 turns", "up to 3 actions", *ACTIONS):
        assert part in env.system_prompt
