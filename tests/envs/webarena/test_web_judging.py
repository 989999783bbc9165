"""Judges read the state of a page: truth earns full marks, wrong claims do not, outcomes can be asked for."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

import agentrl
from agentrl.core.judging import JudgeRequest
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.judges.outcome import OutcomeJudge
from agentrl.judges.structured import StructuredJudge
from agentrl.wrappers import Reasoning, ReasoningReward

ID = "agentrl/WebArenaLite-Text-v0"


def tasks_of_every_site() -> list[str]:
    env = WebArenaLiteEnv()
    prefixes = sorted({task.partition("-")[0] for task in env.tasks()})
    return [next(task for task in env.tasks() if task.startswith(f"{prefix}-")) for prefix in prefixes]


@pytest.mark.parametrize("task", tasks_of_every_site())
def test_truthful_observations_and_predictions_earn_full_marks(task: str) -> None:
    env = Reasoning(gym.make(ID), "grounding_worldmodeling", representation="structured")
    env = ReasoningReward(env, judge="structured")
    env.reset(options={"task": task})
    over, info = False, {}
    while not over:
        *_, terminated, truncated, info = env.step(env.get_wrapper_attr("gold")())
        over = terminated or truncated
        scores = {name: value for name, value in info["reward_terms"].items() if name in ("grounding", "worldmodeling")}
        full = 0.5 * env.get_wrapper_attr("scale")
        assert all(value == pytest.approx(full) for value in scores.values()), info["reward_terms"]
    assert info["success"]


def test_wrong_claims_earn_less() -> None:
    env = WebArenaLiteEnv(sites=["shopping"])
    env.reset(seed=0)
    state, judge = env.state(), StructuredJudge()

    def score(**changes: object) -> float:
        text = json.dumps({**state.structured(), **changes})
        (verdict,) = judge.score_sync([JudgeRequest("1", ID, "grounding", text, state, "structured")])
        return verdict.score  # type: ignore[union-attr]

    assert score() == 1.0
    for wrong in ({"kind": "checkout"}, {"title": "Another page"}, {"site": "map"}, {"cart": ["9 x Nothing"]}):
        assert score(**wrong) < 1.0, wrong


def test_the_state_tells_what_is_in_the_cart() -> None:
    env = gym.make(ID, sites=["shopping"], max_turns=30)
    base = env.unwrapped
    assert isinstance(base, WebArenaLiteEnv)
    env.reset(seed=0, options={"task": next(task for task in base.tasks() if task.startswith("shop-add-to-cart"))})
    assert base.state().cart == ()
    while not base.state().cart:
        action = base.oracle()
        assert action is not None
        env.step(action)
    state = base.state()
    (line,) = state.cart
    count, _, name = line.partition(" x ")
    assert count.isdigit() and name
    assert any(fact.startswith(f"The cart holds {count} x ") for fact in state.natural())
    assert state.structured()["cart"] == [line] and json.loads(json.dumps(state.to_json()))["cart"] == [line]
    text = json.dumps(state.structured())
    (verdict,) = StructuredJudge().score_sync([JudgeRequest("1", ID, "grounding", text, state, "structured")])
    assert verdict.score == 1.0  # type: ignore[union-attr]
    fork = gym.make(ID, sites=["shopping"], max_turns=30)
    agentrl.restore(fork, agentrl.snapshot(env))
    assert fork.unwrapped.state() == state  # type: ignore[attr-defined]


def test_the_state_holds_what_an_outcome_judge_reads() -> None:
    env = WebArenaLiteEnv(hide_outcome=True)
    env.reset(seed=3)
    while (action := env.oracle()) is not None:
        *_, info = env.step(action)
    state = info["state"]
    assert state["instruction"] and state["actions"] and state["page"] and info["pending"] == ["outcome"]
    judge = OutcomeJudge("model", "http://127.0.0.1:9")
    _, filled = judge._compose(JudgeRequest("1", ID, "outcome", state["answer"], state, "natural"))
    assert " ".join(state["instruction"].split()[:3]) in str(filled)
