"""What a task is like is recorded once per episode, and evaluations carry it as columns."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trajectories import JSON

from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector
from agentrl.rollout.error_types import EpisodeFacts, from_columns, to_columns
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.starts import EnvSpec, Start
from agentrl.rollout.trajectory import Trajectory

SOLVED = EpisodeFacts(True, 3, "4x4", 5, 6)
LOST = EpisodeFacts(False, 3, "4x4", None, 2, "stuck")


def test_columns_come_back_as_they_were():
    assert from_columns(json.loads(json.dumps(to_columns([SOLVED, None, LOST])))) == [SOLVED, None, LOST]
    assert to_columns([EpisodeFacts(True, 1), None]) == {"success": [True, None], "turns": [1, None]}
    assert to_columns([]) == {} and from_columns({}) == []


@settings(max_examples=100, deadline=None)
@given(JSON | st.dictionaries(st.sampled_from(["success", "turns", "group", "steps"]), JSON | st.lists(JSON)))
def test_foreign_columns_never_raise(columns):
    assert all(one is None or isinstance(one, EpisodeFacts) for one in from_columns(columns))


def test_an_evaluation_tells_what_its_tasks_were_like():
    result = evaluate("agentrl/FrozenLake-Text-v0", "oracle", 6, split="test")
    assert all(facts and facts.group == "4x4" and facts.steps and facts.success for facts in result.tasks)
    assert "tasks" not in result.to_json()


@pytest.mark.parametrize("hosts", [0, 1])
def test_records_hold_it_once_also_from_other_processes(hosts):
    collector = Collector([EnvSpec("agentrl/Sokoban-Text-v0")], load_policy("random", seed=0), split="dev", hosts=hosts)
    (record,) = collector.collect([Start(3)]).trajectories
    collector.close()
    assert record.about["group"] == "6x6" and record.about["complexity"] == 1 and record.about["steps"] >= 1
    assert Trajectory.from_json(json.loads(json.dumps(record.to_json()))).about == record.about
    assert all("about" not in step.info for step in record.steps)
