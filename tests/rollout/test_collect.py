"""The collector: the same records as one episode at a time, whatever the order; groups, state, judging beside play."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.core.judging import Verdict
from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector, EnvSpec, Start, grouped
from agentrl.rollout.episode import make, record_episode
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.build import wrap
from agentrl.wrappers.repetition_penalty import forget_table
from tests import toy_judges as toys
from tests.rollout.troubled_envs import TROUBLED, Playing, TroubledEnv

LAKE, ROOM = "agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Visual-v0"
REASONING = ({"wrapper": "Reasoning", "strategy": "grounding_worldmodeling"},)
OWING = (*REASONING, {"wrapper": "ReasoningReward", "judge": "tests.toy_judges:Exact", "deferred": True})
REMEMBERING = ({"wrapper": "tests.rollout.troubled_envs:Remembering"},)


def collect(*specs: EnvSpec, policy: Any = None, starts: Any = range(3), **options: Any) -> list[Trajectory]:
    collector = Collector(specs, policy or load_policy("oracle"), **options)
    try:
        return collector.collect([s if isinstance(s, Start) else Start(s) for s in starts]).trajectories
    finally:
        collector.close()


# ---------------------------------------------------------------------- the same as one at a time


@pytest.mark.parametrize("num_envs", [1, 3, 64])
@pytest.mark.parametrize("name", ["random", "oracle"])
def test_records_equal_those_of_one_episode_at_a_time(name: str, num_envs: int) -> None:
    specs = [EnvSpec(LAKE, {"size": 5}, OWING), EnvSpec(ROOM)]
    starts = [Start(seed, env=seed % 2) for seed in range(7)]
    found = collect(*specs, policy=load_policy(name, seed=3), starts=starts, num_envs=num_envs, split="dev")
    for start, trajectory in zip(starts, found, strict=True):
        spec = specs[start.env]
        env = wrap(make(spec.id, split="dev", **spec.kwargs), spec.wrappers)
        assert trajectory == record_episode(env, load_policy(name, seed=3), start.seed)
        assert set(trajectory.pictures) == {n for s in trajectory.steps for n in s.images} | set(
            trajectory.final_images
        )


def test_rows_stand_in_the_order_of_slots_and_a_free_slot_takes_the_next_start() -> None:
    policy = Playing()
    found = collect(EnvSpec(TROUBLED), policy=policy, starts=range(5), num_envs=2)
    assert [t.seed for t in found] == [0, 1, 2, 3, 4]
    assert [[line.removeprefix("episode ") for line in batch] for batch in policy.batches] == [
        ["0 turn 0", "1 turn 0"],
        ["0 turn 1", "1 turn 1"],
        ["2 turn 0", "3 turn 0"],
        ["2 turn 1", "3 turn 1"],
        ["4 turn 0"],
        ["4 turn 1"],
    ]


def test_environments_are_used_again_and_all_closed() -> None:
    census = TroubledEnv.count_anew()
    collector = Collector([EnvSpec(TROUBLED)], Playing(), num_envs=3)
    for _ in range(2):
        collector.collect([Start(seed) for seed in range(8)])
    assert (census.made, census.closed) == (3, 0)
    collector.close()
    collector.close()
    assert census.closed == 3
    assert len(collector.collect([Start(1)]).trajectories) == 1  # and may be used again
    collector.close()


def test_tasks_ids_and_the_callback_arrive() -> None:
    task = make(LAKE).unwrapped.tasks()[4]
    seen: list[Trajectory] = []
    collector = Collector([EnvSpec(LAKE)], load_policy("oracle"))
    result = collector.collect([Start(0, task=task, id="mine", group_id="g"), Start(1)], seen.append)
    assert (result.trajectories[0].task, result.trajectories[0].id, result.trajectories[0].group_id) == (
        task,
        "mine",
        "g",
    )
    assert sorted(t.id for t in seen) == sorted(t.id for t in result.trajectories)
    assert (result.faults, result.retries) == (0, 0)
    assert result.seconds["environment"] > 0 and result.seconds["generate"] > 0 and result.seconds["judge"] == 0


def test_nothing_to_play_gives_nothing() -> None:
    assert collect(EnvSpec(LAKE), starts=[]) == []


def test_a_policy_that_works_on_tokens_leaves_the_prompt_behind_the_last_observation() -> None:
    class Encoding(Playing):
        def encode(self, conversation):
            return type("Prompt", (), {"ids": [len(conversation)]})

    assert [t.final_prompt_ids for t in collect(EnvSpec(TROUBLED), policy=Encoding())] == [[6]] * 3
    assert collect(EnvSpec(TROUBLED), policy=Playing())[0].final_prompt_ids is None


# ---------------------------------------------------------------------- groups


def test_a_group_shares_its_start_and_its_name_and_nothing_else() -> None:
    starts = grouped([Start(5), Start(6, env=1), Start(6, group_id="mine")], 3)
    assert [start.seed for start in starts] == [5, 5, 5, 6, 6, 6, 6, 6, 6]
    assert len({start.id for start in starts}) == 9
    assert [len({start.group_id for start in starts[i : i + 3]}) for i in (0, 3, 6)] == [1, 1, 1]
    assert len({start.group_id for start in starts}) == 3 and starts[-1].group_id == "mine"
    found = collect(EnvSpec(LAKE), EnvSpec(ROOM), policy=load_policy("random"), starts=starts)
    assert len({t.steps[0].observation for t in found[:3]}) == 1
    assert [t.group_id for t in found] == [start.group_id for start in starts]


@pytest.mark.parametrize("make_starts", [lambda: grouped([Start(1)], 0), lambda: grouped([Start(1, id="a")] * 2, 2)])
def test_groups_that_cannot_be_told_apart_are_refused(make_starts: Any) -> None:
    with pytest.raises(ConfigError):
        make_starts()


# ---------------------------------------------------------------------- what survives from episode to episode


def repeating(counter: str | None) -> EnvSpec:
    judge = {"kind": "tests.toy_judges:Constant", "value": 0.1}
    wrong = {"wrapper": "ReasoningReward", "judge": judge}
    return EnvSpec(
        "agentrl/Sokoban-Text-v0", {}, (*REASONING, wrong, {"wrapper": "RepetitionPenalty", "counter": counter})
    )


def penalties(collector: Collector, seeds: range) -> list[float]:
    found = collector.collect([Start(seed) for seed in seeds]).trajectories
    return [step.reward_terms.get("repetition", 0.0) for t in found for step in t.steps]


@pytest.mark.parametrize("counter", [None, "shared"])
def test_a_restored_collector_goes_on_exactly(counter: str | None) -> None:
    def fresh() -> Collector:
        forget_table("shared")
        return Collector([repeating(counter)], load_policy("oracle"), num_envs=2)

    whole = fresh()
    expected = penalties(whole, range(4)), penalties(whole, range(2, 7))
    first = fresh()
    before = penalties(first, range(4))
    state = json.loads(json.dumps(first.state_dict()))
    second = fresh()
    cold = penalties(second, range(2, 7))
    second.close()
    second = fresh()
    second.load_state_dict(state)
    assert second.state_dict() == state
    assert (before, penalties(second, range(2, 7))) == expected
    assert cold != expected[1]  # so it was the state that did it
    for collector in (whole, first, second):
        collector.close()
    forget_table("shared")


def test_equal_memories_are_stored_once() -> None:
    collector = Collector([repeating("shared")], load_policy("oracle"), num_envs=6)
    penalties(collector, range(6))
    state = collector.state_dict()
    tables = {layers[0] for _, _, layers in state["environments"]}
    assert len(state["environments"]) == 6 and len(tables) == 1
    collector.close()
    forget_table("shared")


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"memories": ["?"], "environments": []},
        {"memories": [], "environments": [[0, 0, [0]]]},
        {"memories": ["AAAA"], "environments": [[0, 0, [0]]]},
        {"memories": [], "environments": [[0, 0, []]]},
        {"memories": ["AAAA"], "environments": [[0, 0, 0]]},
        {"memories": ["AAAA"], "environments": [[7, 0, [0]]]},
        {"memories": ["AAAA"], "environments": [[0, -1, [0]]]},
    ],
)
def test_a_state_of_something_else_is_refused_and_changes_nothing(state: Any) -> None:
    collector = Collector([EnvSpec(TROUBLED, {}, REMEMBERING)], Playing(), num_envs=1)
    collector.collect([Start(0), Start(1)])
    with pytest.raises(ConfigError, match="state"):
        collector.load_state_dict(state)
    (found,) = collector.collect([Start(2)]).trajectories
    assert found.steps[0].info["episodes"] == 3
    collector.close()


def test_the_state_of_another_mix_is_refused() -> None:
    one = Collector([EnvSpec(TROUBLED, {}, REMEMBERING)], Playing())
    one.collect([Start(0)])
    other = Collector([EnvSpec(LAKE)], load_policy("oracle"))
    with pytest.raises(ConfigError, match="other environments"):
        other.load_state_dict(one.state_dict())
    one.close()


# ---------------------------------------------------------------------- judging beside play


class Slow(toys.Exact):
    """Takes its time, and notes how many episodes were still to come when it was asked."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.threads = seconds, set()

    def score_sync(self, requests: Any) -> list[Verdict]:
        self.threads.add(threading.current_thread().name)
        time.sleep(self.seconds)
        return super().score_sync(requests)


def test_pending_terms_are_settled_and_equal_those_judged_at_once() -> None:
    at_once = (*REASONING, {"wrapper": "ReasoningReward", "judge": "tests.toy_judges:Exact"})
    later = collect(EnvSpec(LAKE, {}, OWING), judge="tests.toy_judges:Exact", starts=range(6), num_envs=2)
    now = collect(EnvSpec(LAKE, {}, at_once), starts=range(6), num_envs=2)
    assert [t.reward for t in later] == [t.reward for t in now] and not any(t.pending for t in later)
    assert [s.reward_terms for t in later for s in t.steps] == [s.reward_terms for t in now for s in t.steps]


def test_judging_overlaps_with_play() -> None:
    class Thoughtful:
        name = "thoughtful"

        def __init__(self) -> None:
            self.gold = load_policy("oracle")

        def act(self, conversations: Any, envs: Any = None) -> Any:
            time.sleep(0.3)
            return self.gold.act(conversations, envs)

    judge, seen = Slow(0.3), []
    collector = Collector([EnvSpec(LAKE, {}, OWING)], Thoughtful(), judge=judge, num_envs=1)
    result = collector.collect([Start(seed) for seed in range(5)], lambda t: seen.append(t.reward))
    assert judge.threads == {"judge"}
    assert len(seen) == 5 and None not in seen  # handed over when judged
    assert result.seconds["judge"] < 1.1  # five of them one after the other would be 1.5 s


def test_an_outage_of_the_judge_leaves_rewards_open_and_loses_nothing() -> None:
    seen: list[Trajectory] = []
    collector = Collector([EnvSpec(LAKE, {}, OWING)], load_policy("oracle"), judge=toys.Down())
    result = collector.collect([Start(seed) for seed in range(4)], seen.append)
    assert len(seen) == len(result.trajectories) == 4 and result.faults == 0
    assert all(t.reward is None and t.pending and t.success for t in result.trajectories)


def test_a_judge_that_is_set_up_wrong_is_the_users_to_change() -> None:
    with pytest.raises(ConfigError, match="judge"):
        Collector([EnvSpec(LAKE)], load_policy("oracle"), judge="rul")
    wrong = toys.Raising(ConfigError("no key"))
    with pytest.raises(ConfigError, match="no key"):
        collect(EnvSpec(LAKE, {}, OWING), judge=wrong)


# ---------------------------------------------------------------------- evaluations in batches


def test_an_evaluation_is_the_same_however_many_are_played_side_by_side() -> None:
    def figures(num_envs: int | None) -> dict[str, Any]:
        found = evaluate(LAKE, "random", 20, seed=4, num_envs=num_envs).to_json()
        return {name: value for name, value in found.items() if name != "seconds"}

    assert figures(None) == figures(7) == figures(64)


def test_policies_that_answer_in_batches_are_asked_in_batches() -> None:
    policy = Playing()
    evaluate(TROUBLED, policy, 5)
    assert {len(batch) for batch in policy.batches} == {1}
    policy = Playing()
    policy.batched = True
    evaluate(TROUBLED, policy, 5)
    assert [len(batch) for batch in policy.batches] == [5, 5]


# ---------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_envs": 0}, "num_envs must be"),
        ({"retries": -1}, "retries must be"),
        ({"history": -1}, "history must be"),
        ({"prompt_style": "stepp"}, 'Did you mean "step"'),
        ({"prompt_style": None}, "prompt_style must be"),
        ({"timeout": 0}, "timeout must be"),
        ({"timeout": "1"}, "timeout must be"),
        ({"envs": []}, "EnvSpec"),
        ({"envs": [LAKE]}, "EnvSpec"),
        ({"envs": LAKE}, "EnvSpec"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Collector(**{"envs": [EnvSpec(LAKE)], "policy": Playing(), **options})


@pytest.mark.parametrize(
    ("make_it", "says"),
    [
        (lambda: EnvSpec(7), "id"),
        (lambda: EnvSpec(LAKE, {"split": "dev"}), "split="),
        (lambda: EnvSpec(LAKE, ["size"]), "kwargs"),
        (lambda: EnvSpec(LAKE, {}, "Reasoning"), "wrappers"),
        (lambda: EnvSpec(LAKE, weight=-1), "weight"),
        (lambda: EnvSpec(LAKE, weight=float("nan")), "weight"),
        (lambda: Start(-1), "seed"),
        (lambda: Start(0, env=-1), "env"),
        (lambda: collect(EnvSpec(LAKE), starts=[Start(0, env=1)]), "env of a start must be below 1"),
        (lambda: collect(EnvSpec(LAKE), starts=[Start(0, id="a"), Start(1, id="a")]), "same id"),
        (lambda: collect(EnvSpec(LAKE), starts=["x"]), "seed"),
        (lambda: collect(EnvSpec("agentrl/FrozenLak-Text-v0")), "Did you mean"),
        (lambda: collect(EnvSpec(LAKE, {"siz": 3})), "size"),
        (lambda: collect(EnvSpec(LAKE, {"siz": 3}), hosts=1), "size"),
        (lambda: collect(EnvSpec(LAKE), starts=[Start(0, task="?")]), "level"),
        (lambda: collect(EnvSpec(LAKE), starts=[Start(0, task="?")], timeout=30.0), "level"),
        (lambda: collect(EnvSpec(LAKE), split="validation"), "split"),
    ],
)
def test_starts_and_specs_that_cannot_work_are_refused(make_it: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_it()
