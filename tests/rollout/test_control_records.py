"""Records of continuous control: arrays and proprioception survive files and replays; old records are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.core.policy import Generation, as_generation
from agentrl.policies import load_policy
from agentrl.rollout.episode import numbers_of, play_episode
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.json_lines import encode, from_line
from agentrl.rollout.parquet import to_parquet
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter, read_trajectories
from agentrl.viewer.episode_pages import write_episode_pages
from agentrl.viewer.replay import replay
from agentrl.wrappers import ActionChunks, RecordEpisode
from tests.core.markup import Tags
from tests.toy_control import PUCK

OLD = (
    '{"schema":2,"id":"a","group_id":null,"steps":[{"observation":"seen","images":[],"action":"Up","response":null,'
    '"prompt_ids":null,"response_ids":null,"logprobs":null,"sampling":{},"version":0,"finish_reason":"stop",'
    '"reward":1.0,"reward_terms":{"success":1.0},"pending":[],"info":{"success":true}}],"env_id":"toy","split":"train",'
    '"seed":1,"task":"t","spec":null,"policy":"oracle","system_prompt":"","prompt_style":"conversation",'
    '"tokenizer":null,"terminated":true,"truncated":false,"limit":null,"final_observation":"end","final_images":[],'
    '"final_prompt_ids":null,"stop_reason":"terminated","fault":null,"reward":1.0}'
)


class Hostile:
    """Answers with everything but an action."""

    name = "hostile"

    def __init__(self) -> None:
        self.answers: list[Any] = [None, np.full(2, np.nan), "<b>up</b>", np.zeros((2, 2, 2)), {"a": 1}, object()]

    def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
        return [as_generation(self.answers.pop(0) if self.answers else np.zeros(2, np.float32)) for _ in conversations]


def played(policy: Any = None, size: int = 0, **arguments: Any) -> Trajectory:
    env = gym.make(PUCK, disable_env_checker=True, **arguments)
    return play_episode(ActionChunks(env, size) if size else env, policy or load_policy("oracle"), seed=4)


def stored(folder: Path, *trajectories: Trajectory) -> Path:
    path = folder / "trajectories" / "all.jsonl"
    with TrajectoryWriter(path) as writer:
        for trajectory in trajectories:
            writer.write(trajectory)
    return path


def test_a_record_keeps_what_the_robot_felt_and_did_to_the_bit() -> None:
    env, record = gym.make(PUCK, obs_mode="state"), played(obs_mode="state")
    observation, _ = env.reset(seed=4)
    for step in record.steps:
        assert step.proprio == observation["proprio"].tolist() and step.state == observation["state"].tolist()
        action = np.array(step.action, np.float32)
        assert np.array_equal(action, env.get_wrapper_attr("oracle")())
        observation = env.step(action)[0]
    assert record.success and record.final_state == observation["state"].tolist()
    assert record.final_proprio == observation["proprio"].tolist()


@pytest.mark.parametrize("size", [0, 4])
def test_records_survive_json_lines_and_parquet(size: int, tmp_path: Path) -> None:
    record = played(size=size)
    assert np.shape(record.steps[0].action) == ((4, 2) if size else (2,))
    assert len(record.steps[0].images) == 2  # one for each camera
    path = stored(tmp_path, record)
    assert read_trajectories(path) == [record]
    assert read_trajectories(to_parquet(path)) == [record]


def test_records_from_before_are_still_read(tmp_path: Path) -> None:
    old = Trajectory.from_json(json.loads(OLD))
    assert old.steps[0].action == "Up" and old.steps[0].proprio is None and old.final_state is None
    path = tmp_path / "old.jsonl"
    path.write_text(OLD + "\n")
    assert read_trajectories(path) == [old]
    assert Trajectory.from_json(from_line(encode(old))) == old


def test_tables_without_the_new_columns_are_still_read(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    record = played(obs_mode="state")
    path = stored(tmp_path, record)
    table = pq.read_table(to_parquet(path))
    new = ["step_proprio", "step_state", "final_proprio", "final_state"]
    assert table.schema.field("step_proprio").type.value_type == "double"
    pq.write_table(table.drop_columns(new), tmp_path / "old.parquet")
    (old,) = read_trajectories(tmp_path / "old.parquet")
    assert [step.action for step in old.steps] == [step.action for step in record.steps]
    assert {step.proprio for step in old.steps} == {None}


@pytest.mark.parametrize("size", [0, 4])
def test_the_page_of_an_episode_draws_its_actions_and_its_pictures(size: int, tmp_path: Path) -> None:
    pages = write_episode_pages(stored(tmp_path, played(size=size)))
    html = (pages.overview.parent / "page_1.html").read_text()
    assert "Actions" in html and "Proprioception" in html and html.count("<svg") == 2
    assert "data:image/png" in html and "svg .line.c0" in html


def test_hostile_actions_do_not_break_a_page(tmp_path: Path) -> None:
    record = played(Hostile())
    assert not record.success and record.reward == 0.0
    assert [step.info["valid"] for step in record.steps[:6]] == [False] * 6
    pages = write_episode_pages(stored(tmp_path, record))
    tags = Tags((pages.overview.parent / "page_1.html").read_text())
    assert "<b>up</b>" in tags.text  # as text
    assert read_trajectories(tmp_path / "trajectories" / "all.jsonl")[0].steps[1].action == [None, None]


@pytest.mark.parametrize("size", [0, 4])
def test_an_episode_can_be_played_again_for_its_pictures(size: int) -> None:
    record = played(size=size, obs_mode="state")
    scenes = replay(record)
    assert scenes is not None and len(scenes) == len(record.steps) + 1
    shown = gym.make(PUCK, render_mode="rgb_array")
    shown.reset(seed=4)
    assert np.array_equal(scenes[0].picture, shown.render())
    assert not np.array_equal(scenes[0].picture, scenes[-1].picture)


def test_the_recorder_writes_films_and_pages_of_arrays(tmp_path: Path) -> None:
    env = RecordEpisode(gym.make(PUCK, render_mode="rgb_array"), tmp_path, formats=("gif", "html"))
    env.reset(seed=1)
    for _ in range(3):
        env.step(np.array([0.25, -0.5], np.float32))
    env.close()
    html = next(path for path in env.files if path.suffix == ".html").read_text()
    assert "0.25" in html and "-0.5" in html and html.count("<section") == 4


def test_policies_are_evaluated_and_language_models_refused() -> None:
    assert evaluate(PUCK, "oracle", episodes=3).success == 1.0
    result = evaluate(PUCK, "random", episodes=3, env_kwargs={"obs_mode": "state"})
    assert result.success is not None and result.valid_rate == 1.0 and result.faults == 0
    with pytest.raises(Exception, match="a language model plays environments that read and write text"):
        evaluate(PUCK, "react:openai:x", episodes=1)


def test_vectors_that_are_none_are_left_out() -> None:
    assert numbers_of({"proprio": np.array([1.0, np.nan])}, "proprio") is None
    assert numbers_of({"proprio": np.zeros((2, 2))}, "proprio") is None
    assert numbers_of(np.zeros(3), "proprio") is None
