"""The environment: turns as models write them, the oracle, rewards, hostile input, tool calls, snapshots."""

from __future__ import annotations

import json
import pickle
import time
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.common.calls import Call
from agentrl.envs.multihop.actions import MAX_ANSWER, MAX_QUERY, read_turn
from agentrl.envs.multihop.env import MultiHopQAEnv
from agentrl.envs.multihop.questions import exact_match, f1, normalised
from agentrl.wrappers import Reasoning, ToolCalls
from tests.envs.multihop.question_kit import SMALL, play, small_env

ID = "agentrl/MultiHopQA-Text-v0"


@pytest.fixture(scope="module")
def env() -> MultiHopQAEnv:
    return small_env()


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("given", "accepted", "exact", "score"),
    [
        ("The River Lune.", ["river lune"], True, 1.0),
        ("a River  Lune", ["Lune", "The River Lune"], True, 1.0),
        ("River Lune and River Tees", ["River Lune"], False, 2 * (2 / 5) / (2 / 5 + 1)),
        ("1,850", ["1850"], True, 1.0),
        ("yes it is", ["yes"], False, 0.0),
        ("the", ["the"], False, 0.0),
        ("", ["x"], False, 0.0),
    ],
)
def test_answers_are_compared_as_squad_does(given: str, accepted: list[str], exact: bool, score: float) -> None:
    assert exact_match(given, accepted) is exact
    assert f1(given, accepted) == pytest.approx(score)


# ---------------------------------------------------------------------- what models write


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ("search(blue river)", ["search(blue river)"]),
        ("<answer>search(blue river)</answer>", ["search(blue river)"]),
        ('Search("blue (river)")', ["search(blue (river))"]),
        ("search(query='blue river')", ["search(blue river)"]),
        ("search(a)\nsearch(b); search(c), answer(d)", ["search(a)", "search(b)", "search(c)", "answer(d)"]),
        ("<answer>Blue River</answer>", ["answer(Blue River)"]),
        ("I think so. <answer>\n 1850 </answer> Done.", ["answer(1850)"]),
        ("answer(\u201cBlue River\u201d)", ["answer(Blue River)"]),
        ("search(blue\x00\x07\nriver)", ["search(blue river)"]),
    ],
)
def test_calls_are_read_bare_and_in_tags(reply: str, calls: list[str]) -> None:
    turn = read_turn(reply, 4)
    assert [str(call) for call in turn.actions] == calls and turn.error is None and turn.surplus == 0


@pytest.mark.parametrize(
    ("reply", "ran", "why"),
    [
        ("Blue River", 0, "no search and no answer"),
        ("<answer>a</answer><answer>b</answer>", 0, "expected one <answer>"),
        ("<answer> </answer>", 0, "nothing was written"),
        ("search()", 0, "nothing is to be searched"),
        ("search(a)\nsearch(", 1, "is no call"),
        ("search(a) and then I wait", 0, "is no call"),
        (f"search({'x' * (MAX_QUERY + 1)})", 0, "501 characters"),
        (f"<answer>{'x' * (MAX_ANSWER + 1)}</answer>", 0, "201 characters"),
        (7, 0, "an action is text"),
    ],
)
def test_what_cannot_be_read_is_feedback(reply: object, ran: int, why: str) -> None:
    turn = read_turn(reply, 4)
    assert len(turn.actions) == ran and turn.error is not None and why in turn.error


def test_a_thousand_calls_run_up_to_the_limit_and_the_rest_is_counted(env: MultiHopQAEnv) -> None:
    env.reset(seed=1)
    _, _, _, _, info = env.step("\n".join(f"search(word {n})" for n in range(1_000)))
    assert len(info["actions"]) == 4 and info["valid"] and "996 dropped" in info["feedback"]
    calls = [{"name": "search", "arguments": {"query": f"word {n}"}} for n in range(1_000)]
    tools = ToolCalls(gym.make(ID, pages=SMALL, split="test"))
    tools.reset(seed=1)
    _, _, _, _, info = tools.step(json.dumps(calls))
    assert len(info["actions"]) == 4 and "996 dropped" in info["feedback"]


@pytest.mark.parametrize(
    "reply",
    [
        f"search({'river ' * 170_000})",
        "search(" * 150_000,
        "search(a)" + " " * 1_000_000 + "x",
        ")" * 1_000_000,
        "<answer>" + "a" * 1_000_000 + "</answer>",
        "search(a)\n" * 100_000,
        "".join(map(chr, range(32))) * 30_000,
    ],
)
def test_a_megabyte_is_feedback_within_a_second_and_nothing_is_lost(env: MultiHopQAEnv, reply: str) -> None:
    env.reset(seed=2)
    env.step("search(river)")
    queries = env.state().queries
    start = time.process_time()
    obs, reward, terminated, _, info = env.step(reply)
    assert time.process_time() - start < 1.0
    assert not terminated and reward == 0 and len(obs["text"]) < 20_000
    assert env.state().queries[: len(queries)] == queries and info["feedback"]


@given(st.text(max_size=60), st.sampled_from(("{}", "search({})", "<answer>{}</answer>", "search(a) {}")))
def test_any_text_is_read(text: str, frame: str) -> None:
    for call in read_turn(frame.replace("{}", text), 4).actions:
        assert (
            isinstance(call, Call) and call.argument == " ".join(call.argument.split()) and call.argument.isprintable()
        )


# ---------------------------------------------------------------------- play


def test_the_oracle_solves_every_task_of_every_split_within_the_horizon() -> None:
    for split in ("train", "dev", "test"):
        env = small_env(split=split)
        for task in env.tasks():
            turns, info = play(env, task)
            assert info["success"] and info["metrics"]["support_recall"] == 1.0 and len(turns) <= 5, task


@pytest.mark.long
def test_the_oracle_solves_every_task_of_the_large_world() -> None:
    for split in ("train", "dev", "test"):
        env = small_env(split=split, pages=20_000)
        assert all(play(env, task)[1]["metrics"]["support_recall"] == 1.0 for task in env.tasks())


@pytest.mark.parametrize("limits", [{"max_turns": 2}, {"max_turns": 1}, {"max_actions_per_turn": 1}, {"hits": 1}])
def test_the_oracle_answers_rightly_under_other_limits(limits: dict[str, int]) -> None:
    env = small_env(**limits)
    assert all(play(env, task)[1]["success"] for task in env.tasks()[:10])


def test_rewards_and_metrics(env: MultiHopQAEnv) -> None:
    env.reset(options={"task": env.tasks()[0]})
    question = env.question
    _, reward, terminated, truncated, info = env.step(f"answer({question.answer} or so)")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert 0 < info["metrics"]["f1"] < 1 and info["metrics"]["exact_match"] == 0 and info["ending"]
    env.reset(options={"task": env.tasks()[0]})
    for accepted in question.accepted:
        env.reset(options={"task": env.tasks()[0]})
        _, reward, _, _, info = env.step(f"<answer>the {accepted}!</answer>")
        assert reward == 1.0 and info["success"] and info["metrics"]["f1"] == 1.0
    env.reset()
    for _ in range(5):
        _, reward, terminated, truncated, info = env.step("hm")
    assert (terminated, truncated, info["limit"]) == (False, True, "task") and not info["valid"]
    assert info["metrics"] == {"exact_match": 0.0, "f1": 0.0, "support_recall": 0.0, "searches": 0.0}


def test_a_search_shows_pages_and_says_what_is_repeated(env: MultiHopQAEnv) -> None:
    env.reset(options={"task": env.tasks()[0]})
    title = env.collection.pages([env.question.support[0]])[0].title
    obs, _, _, _, info = env.step(f"search({title})")
    assert f"[{title}]" in obs["text"] and info["effective"] and title in info["state"]["found"]
    count = len(env.state().pages)
    obs, _, _, _, info = env.step(f"search({title})\nsearch({title})")
    assert info["valid"] and not info["effective"] and f"({count} more shown above)" in obs["text"]
    assert title not in env.step("search(zzz)")[0]["text"].partition("Pages for")[2]
    kept = small_env(keep_passages=True)
    kept.reset(options={"task": env.tasks()[0]})
    kept.step(f"search({title})")
    assert f"[{title}]" in kept.step("search(zzz)")[0]["text"]


def test_reports_can_group_by_kind_and_hops(env: MultiHopQAEnv) -> None:
    env.reset(seed=3)
    about = env.about_task()
    assert about["group"] in ("bridge", "comparison", "composition") and about["hops"] == about["complexity"]
    assert about["steps"] == about["hops"] + 1


def test_questions_of_so_many_pages_can_be_chosen(env: MultiHopQAEnv) -> None:
    short = small_env(hops=[2], max_actions_per_turn=1, max_turns=3)
    turns = [play(short, task) for task in short.tasks()]
    assert all(info["success"] and len(done) == 3 for done, info in turns)
    assert 0 < len(short.tasks()) < len(env.tasks())
    long = next(task for task in env.tasks() if task not in short.tasks())
    with pytest.raises(ConfigError, match=f"one of the {len(turns)} of split test"):
        short.reset(options={"task": long})
    env.reset(options={"task": long})
    with pytest.raises(ValueError, match="there is no such question"):
        short._load(env._save())


# ---------------------------------------------------------------------- wrappers, forks


def test_tools_are_called_in_json_and_answers_stand_in_tags_too() -> None:
    env = ToolCalls(gym.make(ID, pages=SMALL, split="test"))
    for last in ("oracle", "tags"):
        env.reset(seed=5)
        over = False
        while not over:
            turn = env.oracle()
            assert turn is not None
            if last == "tags" and '"answer"' in turn:
                base: Any = env.unwrapped
                turn = f"<think>so</think><answer>{base.question.answer}</answer>"
            _, _, terminated, truncated, info = env.step(turn)
            over = terminated or truncated
        assert info["success"]
    env.reset(seed=5)
    for broken in ('<answer>[{"name": "search"}</answer>', "search(river", '{"name": "find", "arguments": {}}'):
        assert not env.step(broken)[4]["valid"]
    call = {"name": "search", "arguments": {"query": "a) answer(1850"}}
    assert env.step(json.dumps(call))[4]["actions"] == ["search(a answer 1850)"]


def test_thoughts_stand_before_the_tags() -> None:
    env = Reasoning(gym.make(ID, pages=SMALL, split="test"), "free_think")
    env.reset(seed=6)
    _, _, _, _, info = env.step("<think>First the river.</think><answer>search(river)</answer>")
    assert info["actions"] == ["search(river)"] and info["format"] is True


def test_a_fork_goes_on_as_the_original_and_a_bad_one_is_refused(env: MultiHopQAEnv) -> None:
    env.reset(seed=7)
    env.step("search(river)\nsearch(novel)")
    blob = agentrl.snapshot(env)
    other = small_env()
    agentrl.restore(other, blob)
    assert other.state() == env.state() and other.oracle() == env.oracle()
    assert other.step("search(city)")[0] == env.step("search(city)")[0]
    wrong = [{"place": 10**6}, {"given": "x" * 1000}, {"made": [{"query": "a", "pages": [10**6], "turn": 0}]}]
    before = env.state()
    for change in wrong:
        with pytest.raises(ValueError, match="there is"):
            env._load({**env._save(), **change})
    assert env.state() == before
    copied = pickle.loads(pickle.dumps(env))
    assert copied.state() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"pages": 10}, "pages must be"),
        ({"ranking": "best"}, "ranking must be one of"),
        ({"hits": 0}, "hits must be"),
        ({"corpus": "x.json"}, "it needs questions"),
        ({"questions": {"training": "x"}}, "questions must be"),
        ({"questions": "nowhere.json"}, "nowhere.json cannot be read"),
        ({"cuts": "half"}, "cuts must be one of"),
        ({"hops": [7]}, "hops must be a list of numbers of pages, of which test has 2, 3, 4"),
        ({"hops": 2}, "hops must be a list"),
        ({"ranking": "hybrid", "embedder": "nowhere"}, "is missing"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        small_env(**arguments)
    with pytest.raises(ConfigError, match="id of a question of split test"):
        small_env().reset(options={"task": "train-0"})


def test_normalisation_is_squads() -> None:
    assert normalised("The  Sea, a   River; an\tOak.") == "sea river oak"
