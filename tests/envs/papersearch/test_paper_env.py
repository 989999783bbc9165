"""Searching for papers: what calls bring and cost, what counts as found, and that no reply loses anything."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.papersearch.env import PaperSearchEnv
from agentrl.wrappers import ToolCalls

SMALL: dict[str, Any] = {"papers": 10_000}
ID = "agentrl/PaperSearch-Text-v0"


@pytest.fixture
def env() -> Iterator[PaperSearchEnv]:
    made = PaperSearchEnv(**SMALL, split="test")
    made.reset(seed=0)
    yield made
    made.close()


def question_of(env: PaperSearchEnv) -> str:
    return env.state().question.strip("?.")


def grades_of(env: PaperSearchEnv) -> list[float]:
    return list(env._pool.values())


def test_a_search_pays_the_three_best_of_what_is_new(env: PaperSearchEnv) -> None:
    _, reward, _, _, info = env.step(f"search({question_of(env)})")
    found = grades_of(env)
    assert len(found) > 3 and min(found) > 0
    assert info["reward_terms"] == {"relevance": sum(sorted(found)[-3:]), "cost": -0.4}
    assert reward == pytest.approx(sum(sorted(found)[-3:]) - 0.4)
    before = dict(env._pool)
    _, _, _, _, info = env.step(f"expand({env.listed()[0].id})")
    fresh = [grade for number, grade in env._pool.items() if number not in before]
    assert info["reward_terms"]["relevance"] == pytest.approx(sum(sorted(fresh)[-3:])) and fresh


def test_each_call_is_paid_or_each_turn_is() -> None:
    terms = {}
    for paid in ("call", "step"):
        env = PaperSearchEnv(**SMALL, paid=paid)
        env.reset(seed=1)
        words = question_of(env).split()
        calls = [f"search({' '.join(words[start : start + 5])})" for start in range(3)]
        _, _, _, _, info = env.step("\n".join(calls))
        terms[paid] = info["reward_terms"]
        best = sum(sorted(grades_of(env))[-3:])
        assert terms[paid]["cost"] == pytest.approx(-1.2)
    assert terms["step"]["relevance"] == pytest.approx(best) and terms["call"]["relevance"] > best


def test_repeated_calls_cost_and_the_rest_of_the_turn_runs(env: PaperSearchEnv) -> None:
    words = question_of(env)
    _, _, _, _, info = env.step(f"search({words})\nsearch( {words.upper()} )\nsearch(rivers and lakes)")
    assert info["reward_terms"]["repeated"] == -0.5 and info["valid"] and len(env.state().searches) == 2
    first = env.listed()[0].id
    _, _, _, _, info = env.step(f"expand({first}); expand({first.lower()}), search(glaciers)")
    assert info["reward_terms"]["repeated"] == -0.5 and env.state().expanded == (first,)
    assert info["actions"][-1] == "search(glaciers)"


def test_invalid_calls_cost_and_end_the_turn(env: PaperSearchEnv) -> None:
    env.step(f"search({question_of(env)})")
    missing = next(f"P{number:06}" for number in range(100) if number not in env._pool)
    for bad in (f"expand({missing})", "expand(P999999)", "expand(no paper)", "search()", "find(lakes)", "finish(now)"):
        env.reset(seed=0)
        env.step(f"search({question_of(env)})")
        before = dict(env._pool)
        _, reward, _, _, info = env.step(f"{bad}\nsearch(never run)")
        assert reward == -0.5 and info["reward_terms"] == {"invalid": -0.5} and not info["valid"], bad
        assert env._pool == before and info["feedback"].startswith("Invalid: ")


@pytest.mark.parametrize(
    "reply",
    [
        f"search({'lake ' * 200_000})",
        "search(" + ")" * 1_000_000,
        "\n" * 1_000_000,
        "search(a)" + " " * 1_000_000 + "x",
        "search(a),\n" * 300_000,
        "".join(map(chr, range(32))) * 1_000,
        "search(\ud800)",
    ],
    ids=range(7),
)
def test_endless_and_strange_replies_get_feedback_and_lose_nothing(env: PaperSearchEnv, reply: str) -> None:
    env.step(f"search({question_of(env)})")
    before = dict(env._pool)
    observation, _, _, _, info = env.step(reply)
    assert info["feedback"] and len(info["feedback"]) < 2_000
    assert list(env._pool)[: len(before)] == list(before)
    assert len(observation["text"].encode()) < 60_000


def test_of_a_thousand_parallel_calls_the_first_five_run(env: PaperSearchEnv) -> None:
    _, _, _, _, info = env.step("\n".join(f"search(topic number {number})" for number in range(1_000)))
    assert len(info["actions"]) == 5 and "995 dropped" in info["feedback"] and info["valid"]


def test_queries_are_shown_without_what_nobody_can_read(env: PaperSearchEnv) -> None:
    observation, *_ = env.step("search(<image> na\u00efve\x00\u202e Bayes\ud800)")
    assert "[Search] image na\u00efve Bayes" in observation["text"] and "<image>" not in observation["text"]


def test_success_needs_four_fifths_of_the_answers_at_the_end(env: PaperSearchEnv) -> None:
    _, _, terminated, _, info = env.step("finish()")
    assert terminated and not info["success"] and info["ending"] == "finished too early"
    env.reset(seed=0)
    for number in env._asked.relevant[: math.ceil(0.8 * len(env._wanted))].tolist():
        env._pool[number] = 1.0
    _, reward, terminated, _, info = env.step("finish()")
    assert terminated and info["success"] and reward == 0 and "ending" not in info


def test_metrics_are_those_of_the_pool_and_of_the_calls(env: PaperSearchEnv) -> None:
    words = question_of(env)
    env.step(f"search({words})\nsearch({words})\nsearch(lakes)")
    env.step(f"expand({env.listed()[0].id})\nexpand(P999999)")
    _, _, _, _, info = env.step("finish()")
    metrics, given = info["metrics"], sum(grade >= 0.2 for grade in grades_of(env))
    right = len(env._wanted & env._pool.keys())
    recall, precision = right / len(env._wanted), right / given
    assert metrics["recall@all"] == recall and metrics["precision@all"] == precision
    assert metrics["f1@all"] == pytest.approx(2 * recall * precision / (recall + precision))
    counts = {"search_calls": 2, "expand_calls": 1, "repeated_calls": 1, "invalid_calls": 1}
    assert {name: metrics[name] for name in counts} == counts
    assert metrics["calls_per_turn"] == pytest.approx(4 / 3) and metrics["papers"] == len(env._pool)


def test_the_list_shows_the_best_and_half_of_it_is_expanded_papers(env: PaperSearchEnv) -> None:
    env.step(f"search({question_of(env)})")
    for _ in range(3):
        fresh = [each.id for each in env.listed() if not each.expanded][:5]
        env.step("\n".join(f"expand({name})" for name in fresh))
    listed = env.listed()
    assert [each.expanded for each in listed].count(True) == 10 and len(listed) == 20
    for expanded in (True, False):
        scores = [each.score or 0 for each in listed if each.expanded is expanded]
        assert scores == sorted(scores, reverse=True)
    hidden = [env._pool[number] for number in env._pool.keys() - {each.number for each in listed} - env._expanded]
    assert max(hidden) <= min(each.score or 0 for each in listed if not each.expanded)


def test_without_scores_the_last_found_come_first_and_details_can_be_shown() -> None:
    env = PaperSearchEnv(**SMALL, show_scores=False, show_details=True)
    env.reset(seed=2)
    observation, *_ = env.step(f"search({question_of(env)})")
    listed = env.listed()
    assert [each.number for each in listed] == list(env._pool)[::-1] and {each.score for each in listed} == {None}
    paper = env.library.paper(listed[0].number)
    assert f"[{paper.id}] [NEW] {paper.title}" in observation["text"]
    assert f"{', '.join(paper.authors)}. {paper.venue}, {paper.year}." in observation["text"]


def test_tools_in_json_do_the_same_as_text() -> None:
    plain, wrapped = gym.make(ID, **SMALL), ToolCalls(gym.make(ID, **SMALL))
    for each in (plain, wrapped):
        each.reset(seed=4)
    words = question_of(plain.unwrapped).replace(";", " ")  # pyright: ignore[reportArgumentType]
    calls = [
        {"name": "search", "arguments": {"query": f"{words};\nbirds)"}},
        {"name": "search", "arguments": {"query": "x"}},
    ]
    by_json = wrapped.step(json.dumps(calls))
    by_text = plain.step(f"search({words} birds))\nsearch(x)")
    assert by_json[0]["text"] == by_text[0]["text"] and by_json[1] == by_text[1]
    name = plain.unwrapped.listed()[0].id  # pyright: ignore[reportAttributeAccessIssue]
    by_json = wrapped.step({"name": "expand", "arguments": {"paper_id": name}})
    assert by_json[1] == plain.step(f"expand({name})")[1]
    assert wrapped.step({"name": "finish"})[2] and plain.step("finish()")[2]


def test_a_fork_goes_on_in_the_same_way(env: PaperSearchEnv) -> None:
    env.step(f"search({question_of(env)})\nsearch({question_of(env)})")
    env.step(f"expand({env.listed()[0].id})")
    fork = PaperSearchEnv(**SMALL, split="test")
    fork.reset(seed=9)
    fork.restore(env.snapshot())
    assert list(fork._pool.items()) == list(env._pool.items()) and fork.state() == env.state()
    turn = str(env.oracle())
    assert fork.oracle() == turn and fork.step(turn)[4] == env.step(turn)[4]
    assert fork.step("finish()")[4].get("metrics") == env.step("finish()")[4].get("metrics")


def test_what_cannot_have_happened_is_no_snapshot(env: PaperSearchEnv) -> None:
    env.step(f"search({question_of(env)})")
    good = env._save()
    for bad in ([["expand", "P000001"]], [["find", "x"]], [["search", "x"], ["search", "X"]], [["search", "x"]] * 26):
        with pytest.raises(ValueError, match="it has"):
            env._load({**good, "done": bad})
    env._load(good)
    assert env._save() == good


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paid": "never"}, "paid must be one of call, step"),
        ({"shown": 1}, "shown must be a whole number"),
        ({"search_cost": -1}, "search_cost must be at least zero"),
        ({"show_scores": 1}, "show_scores must be True or False"),
        ({"data_dir": "/nowhere"}, "/nowhere holds no papers"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PaperSearchEnv(**SMALL | arguments)


def test_a_stack_with_a_history_can_be_saved() -> None:
    first, second = (ToolCalls(gym.make(ID, **SMALL)) for _ in range(2))
    first.reset(seed=1)
    second.reset(seed=2)
    first.step({"name": "search", "arguments": {"query": "language models"}})
    agentrl.restore(second, agentrl.snapshot(first))
    call = {"name": "search", "arguments": {"query": "language models"}}
    assert first.step(call)[1] == second.step(call)[1] == -0.5
