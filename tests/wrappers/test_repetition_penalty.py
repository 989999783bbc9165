"""RepetitionPenalty: both conditions, who feeds the counter, bounded memory, pending verdicts."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

import agentrl
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.core.response import build_response
from agentrl.wrappers import Reasoning, ReasoningReward, RepetitionPenalty
from agentrl.wrappers.repetition_penalty import FrequencyTable, forget_table
from tests import toy_judges as toys

LOW, HIGH = ({"kind": "tests.toy_judges:Constant", "value": value} for value in (0.69, 0.7))


def make(
    judge: Any = LOW, strategy: str = "grounding", split: str = "train", deferred: bool = False, **options: Any
) -> RepetitionPenalty:
    env = gym.make("agentrl/Sokoban-Text-v0", split=split, max_turns=9)
    reward = ReasoningReward(Reasoning(env, strategy), judge, deferred=deferred)
    return RepetitionPenalty(reward, **options)


def say(env: gym.Env, text: str, prediction: str = "?", answer: str = "Up") -> tuple[float, dict[str, Any]]:
    texts = {"observation": text, "prediction": prediction, "reasoning": "?", "answer": answer}
    _, reward, _, _, info = env.step(build_response(env.get_wrapper_attr("strategy"), texts))
    return reward, info


def penalties(env: gym.Env, *texts: str) -> list[float | None]:
    env.reset(seed=0)
    return [say(env, text)[1]["reward_terms"].get("repetition") for text in texts]


@pytest.fixture(autouse=True)
def no_shared_counts():
    yield
    forget_table("shared")


def test_a_wrong_description_costs_when_it_was_said_before() -> None:
    assert penalties(make(), "left", "left", "right", "left") == [None, -0.1, None, -0.1]


def test_a_right_description_may_be_repeated() -> None:
    assert penalties(make(HIGH), "left", "left", "left") == [None, None, None]


def test_the_reward_includes_the_penalty() -> None:
    env = make(penalty=-0.3)
    env.reset(seed=0)
    first, _ = say(env, "a")
    second, info = say(env, "a")
    assert info["reward_terms"]["repetition"] == -0.3
    assert second == math.fsum(info["reward_terms"].values()) == pytest.approx(first - 0.3)


def test_case_spaces_and_punctuation_do_not_make_a_description_new() -> None:
    assert penalties(make(), "The box is left.", "the  BOX is left", "the box is left of it") == [None, -0.1, None]


def test_in_drawings_punctuation_is_content() -> None:
    env = gym.make("agentrl/Sokoban-Text-v0", max_turns=9)
    env = RepetitionPenalty(ReasoningReward(Reasoning(env, "grounding", "symbolic"), LOW))
    assert penalties(env, "#_#", "#*#", "#_#\n") == [None, None, -0.1]


def test_only_the_most_frequent_count_as_repetitive() -> None:
    # "a" leads with two; "b", said once, is not among the top one.
    assert penalties(make(top_k=1), "a", "a", "b", "b", "a") == [None, -0.1, None, None, -0.1]


def test_the_penalty_is_there_once_however_many_descriptions_deserve_it() -> None:
    env = make(strategy="grounding_worldmodeling")
    env.reset(seed=0)
    assert "repetition" not in say(env, "same", "same")[1]["reward_terms"]  # twice in one turn is not yet the past
    _, info = say(env, "same", "same")
    assert info["reward_terms"]["repetition"] == -0.1
    assert info["repetition"]["frequent"] == ["grounding", "worldmodeling"]


def test_turns_that_are_not_judged_feed_nothing() -> None:
    env = make()
    env.reset(seed=0)
    for _ in range(3):
        say(env, "a", answer="Fly")
    assert len(env.table) == 0


# ---------------------------------------------------------------------- evaluation


@pytest.mark.parametrize(
    ("split", "training", "fed"),
    [
        ("train", None, True),
        ("dev", None, False),
        ("test", None, False),
        ("train", False, False),
        ("test", True, True),
    ],
)
def test_evaluation_never_feeds_the_counter(split: str, training: bool | None, fed: bool) -> None:
    env = make(split=split, training=training)
    assert penalties(env, "a", "a") == [None, -0.1 if fed else None]
    assert (len(env.table) > 0) == fed


def test_evaluation_with_a_shared_counter_reads_what_training_counted_and_leaves_it_alone() -> None:
    training, testing = make(counter="shared"), make(split="test", counter="shared")
    penalties(training, "a")
    before = training.table.to_json()
    assert penalties(testing, "a", "b", "b") == [-0.1, None, None]
    assert training.table.to_json() == before


def test_environments_share_counts_by_name_and_only_so() -> None:
    first, second, apart = make(counter="shared"), make(counter="shared"), make()
    assert penalties(first, "a") == [None]
    assert penalties(second, "a") == [-0.1]
    assert penalties(apart, "a") == [None]


def test_a_shared_counter_has_one_size() -> None:
    make(counter="shared")
    with pytest.raises(ConfigError, match="top_k=10"):
        make(counter="shared", top_k=3)


# ---------------------------------------------------------------------- pending


def test_without_a_verdict_there_is_no_penalty_and_the_term_stays_pending() -> None:
    env = make(toys.Down())
    env.reset(seed=0)
    _, first = say(env, "a")
    assert first["pending"] == ["grounding"]
    _, second = say(env, "a")
    assert second["pending"] == ["grounding", "repetition"]
    assert "repetition" not in second["reward_terms"]
    assert second["repetition"] == {"frequent": ["grounding"], "threshold": 0.7, "penalty": -0.1}


def test_deferred_descriptions_are_counted_when_they_are_said() -> None:
    env = make(deferred=True)
    env.reset(seed=0)
    assert [say(env, "a")[1]["pending"] for _ in range(2)] == [["grounding"], ["grounding", "repetition"]]


def test_one_known_wrong_description_decides_though_another_is_pending() -> None:
    env = make(LOW, "grounding_worldmodeling")
    env.reset(seed=0)
    say(env, "a", "b")
    env.env._judge = type("HalfDown", (toys.Constant,), {"one": half_down})(0.2)
    _, info = say(env, "a", "b")
    assert info["pending"] == ["worldmodeling"]
    assert info["reward_terms"]["repetition"] == -0.1


def half_down(self: toys.Constant, request: Any) -> Any:
    return toys.Down().one(request) if request.purpose == "worldmodeling" else toys.Constant.one(self, request)


# ---------------------------------------------------------------------- configuration and forks


def test_it_must_wrap_a_reasoning_reward() -> None:
    with pytest.raises(ConfigError, match="ReasoningReward inside"):
        RepetitionPenalty(Reasoning(gym.make("agentrl/Sokoban-Text-v0"), "grounding"))
    with pytest.raises(ConfigError, match="already"):
        RepetitionPenalty(make())


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 0},
        {"top_k": 2.5},
        {"capacity": 19},
        {"threshold": "low"},
        {"penalty": 0.1},
        {"penalty": None},
        {"training": "yes"},
        {"counter": ""},
        {"counter": 3},
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        make(**options)


def test_json_rebuilds_it() -> None:
    env = make(top_k=3, threshold=0.5, penalty=-0.2, training=True, capacity=64)
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env) and again.training and again.table.capacity == 64


def test_a_fork_goes_on_with_the_same_counts() -> None:
    env, other = make(), make()
    env.reset(seed=0)
    say(env, "a")
    blob = agentrl.snapshot(env)
    say(env, "b")
    other.reset(seed=1)
    agentrl.restore(other, blob)
    assert agentrl.snapshot(other) == blob
    assert say(other, "a")[1]["reward_terms"]["repetition"] == -0.1
    assert "repetition" not in say(other, "b")[1]["reward_terms"]


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x80", None, b"\x82\xa6counts\x81\xa1a\xff\xa7leaders\x80"])
def test_junk_is_refused_and_the_counts_stay(junk: Any) -> None:
    env = make()
    penalties(env, "a")
    before = env.snapshot()
    with pytest.raises(SnapshotError):
        env.restore(junk)
    assert env.snapshot() == before


def test_restoring_one_environment_takes_nothing_from_those_it_shares_with() -> None:
    env = make(counter="shared")
    env.reset(seed=0)
    blob = agentrl.snapshot(env)
    say(env, "a")
    agentrl.restore(env, blob)
    assert env.table.count("a") == 1
    full = agentrl.snapshot(env)
    forget_table("shared")  # as in a fresh process
    agentrl.restore(env, full)
    assert env.table.count("a") == 1


@pytest.mark.parametrize("counter", [None, "shared"])
def test_it_can_be_pickled_for_worker_processes(counter: str | None) -> None:
    env = make(counter=counter)
    env.reset(seed=0)
    say(env, "a")
    again = pickle.loads(pickle.dumps(env))
    assert say(again, "a")[1]["reward_terms"]["repetition"] == -0.1


# ---------------------------------------------------------------------- the table


def test_leaders_are_the_most_frequent_at_any_moment() -> None:
    table, counts, chooser = FrequencyTable(top_k=5, capacity=1000), Counter[str](), np.random.default_rng(0)
    for number in chooser.zipf(1.5, 3000) % 200:
        text = str(number)
        table.add(text)
        counts[text] += 1
        leading = [word for word in counts if table.is_frequent(word)]
        bar = sorted(counts.values(), reverse=True)[: table.top_k][-1]
        assert len(leading) == min(table.top_k, len(counts))
        assert all(counts[word] >= bar for word in leading)


def test_memory_is_bounded_and_the_frequent_survive() -> None:
    table = FrequencyTable(top_k=2, capacity=50)
    for number in range(10_000):
        table.add(f"new {number}")
        table.add("old friend")
        assert len(table) <= 50
    assert table.count("old friend") == 10_000 and table.is_frequent("old friend")
    assert table.count("new 9999") == 1 and table.count("new 1000") == 0


def test_a_table_survives_a_trip_through_json_and_refuses_what_is_none() -> None:
    table = FrequencyTable(2, 10)
    for word in "aab":
        table.add(word)
    again = FrequencyTable(2, 10)
    again.load(table.to_json())
    assert again.to_json() == table.to_json() and again.is_frequent("a")
    for bad in (
        {"counts": {"a": 0}, "leaders": {}},
        {"counts": {}, "leaders": {"a": 1}},
        {"counts": [], "leaders": {}},
    ):
        with pytest.raises(ValueError):
            again.load(bad)
    assert again.to_json() == table.to_json()
