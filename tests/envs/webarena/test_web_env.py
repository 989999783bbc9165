"""The environment: every template is solvable, results are judged once and never invented, episodes are isolated."""

from __future__ import annotations

import json
import pickle
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import agentrl
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.tasks.generated import (
    NOVELTIES,
    find_generated,
    find_task_or_joined,
    generated_ids,
    novelty,
    split_of,
    templates,
)
from agentrl.envs.webarena.tasks.intents import intent_id
from tests.longer import only

ID = "agentrl/WebArenaLite-Text-v0"


@pytest.fixture(scope="module")
def env() -> WebArenaLiteEnv:
    return WebArenaLiteEnv()


def task_of(name: str, split: str = "train") -> str:
    tasks = [task for task in generated_ids(split) if task.rpartition(".")[0] == name]
    return tasks[len(tasks) // 3]


def some_template(kind: str) -> str:
    """A trained template whose evaluator has this type and no other."""
    for name, template in templates().items():
        if not template.held_out and template.sites == ("shopping",):
            task = find_generated(task_of(name))
            if task is not None and task.official()["eval"]["eval_types"] == [kind]:
                return name
    raise AssertionError(f"no template with {kind}")


def play(env: Any, task: str) -> tuple[dict[str, Any], list[str]]:
    """Follow the oracle; the last info and what was done."""
    _, info = env.reset(options={"task": task})
    done = []
    over = False
    while not over:
        action = env.unwrapped.oracle()
        assert action is not None, f"{task}: the oracle gives up at {info['url']} after {done}"
        *_, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        done.append(action)
    return info, done


# ---------------------------------------------------------------------- tasks


def test_there_are_at_least_sixty_templates_over_all_sites_and_across() -> None:
    known = templates().values()
    assert len(known) >= 60
    for site in ("shopping", "shopping_admin", "reddit", "gitlab", "map"):
        assert sum(template.sites == (site,) for template in known) >= 12, site
    assert sum(len(template.sites) > 1 for template in known) >= 5
    assert {novelty(template) for template in known if template.held_out} == {"template", "skill"}


def test_there_are_thousands_of_tasks_and_no_thing_is_in_two_splits() -> None:
    ids = {split: generated_ids(split) for split in ("train", "dev", "test")}
    assert len(ids["train"]) >= 3_000 and len(ids["dev"]) >= 200 and len(ids["test"]) >= 1_000
    subjects: dict[tuple[str, str], str] = {}
    for split, tasks in ids.items():
        for task in tasks:
            found = find_generated(task)
            assert found is not None and split_of(found.template, found.parameters) == split
            if not found.template.held_out:
                subject = str(next(iter(found.parameters.values())))
                assert subjects.setdefault((found.template.name, subject), split) == split


def test_every_instruction_is_filled_in_and_every_evaluator_is_one_of_the_benchmarks_schema() -> None:
    from agentrl.envs.webarena.tasks.addresses import resolve
    from agentrl.envs.webarena.tasks.schema import task_from_json

    for split in ("train", "dev", "test"):
        for task in generated_ids(split)[::7]:
            found = find_generated(task)
            assert found is not None
            resolved = resolve(task_from_json(json.loads(json.dumps(found.official()))))
            assert resolved.eval is not None and "{" not in resolved.intent, task
            assert "__" not in resolved.start_url


# The tests of the templates play a solution of each one, too.
@pytest.mark.parametrize("name", only(sorted(templates())[1::4], sorted(templates())))
def test_the_oracle_solves_instances_of_every_template(env: WebArenaLiteEnv, name: str) -> None:
    template = templates()[name]
    for split in ("test",) if template.held_out else ("train", "test"):
        env.split = split
        task = task_of(name, split)
        info, done = play(env, task)
        assert info["success"] and len(done) <= 25, (task, info["state"]["missing"], done)
    env.split = "train"


def test_what_is_new_about_a_test_task_is_told(env: WebArenaLiteEnv) -> None:
    env.split = "test"
    seen = set()
    for name, template in templates().items():
        if template.held_out:
            _, info = env.reset(options={"task": task_of(name, "test")})
            assert info["template"] == name and info["skill"] == template.skill and info["novelty"] in NOVELTIES
            seen.add(info["novelty"])
    env.split = "train"
    assert seen == {"template", "skill"}


# ---------------------------------------------------------------------- results


def test_without_doing_anything_no_task_is_solved(env: WebArenaLiteEnv) -> None:
    for name, template in templates().items():
        env.split = "test" if template.held_out else "train"
        env.reset(options={"task": task_of(name, env.split)})
        _, reward, terminated, _, info = env.step('exit(message="done")')
        assert terminated and not info["success"] and reward == 0.0, name
    env.split = "train"


def test_a_wrong_answer_scores_nothing_and_the_right_one_everything(env: WebArenaLiteEnv) -> None:
    task = task_of(some_template("string_match"))
    env.reset(options={"task": task})
    assert env.step('exit(message="certainly not this")')[1] == 0.0
    info, _ = play(env, task)
    assert info["success"] and info["reward_terms"] == {"outcome": 1.0}


def test_at_the_limit_the_evaluator_runs_and_a_pass_terminates() -> None:
    name = some_template("program_html")
    env = WebArenaLiteEnv()
    _, done = play(env, task_of(name))
    short = WebArenaLiteEnv(max_turns=len(done) - 1)  # no turn is left to say that it is done
    short.reset(options={"task": task_of(name)})
    for action in done[:-1]:
        _, reward, terminated, truncated, info = short.step(action)
    assert terminated and not truncated and info["success"] and reward == 1.0 and info["limit"] is None


def test_at_the_limit_an_unsolved_task_truncates() -> None:
    env = WebArenaLiteEnv(max_turns=2)
    env.reset(seed=0)
    env.step("nothing that can be read")
    _, reward, terminated, truncated, info = env.step('do(action="Wait")')
    assert truncated and not terminated and info["limit"] == "task" and reward == 0.0
    assert info["reward_terms"]["outcome"] == 0.0 and info["pending"] == []


def test_a_hidden_outcome_stays_pending() -> None:
    env = WebArenaLiteEnv(hide_outcome=True)
    info, _ = play(env, task_of(some_template("string_match")))
    assert info["pending"] == ["outcome"] and "outcome" not in info["reward_terms"] and not info["success"]
    assert info["state"]["outcome"] is None and info["metrics"] == {}


def test_a_task_without_an_evaluator_stays_pending(env: WebArenaLiteEnv) -> None:
    task = intent_id("Find something nice.", ["shopping"], "__SHOPPING__")
    observation, info = env.reset(options={"task": task})
    assert "Find something nice." in observation["text"] and info["task"] == task
    assert env.oracle() is None
    *_, info = env.step('exit(message="this")')
    assert info["pending"] == ["outcome"] and info["state"]["answer"] == "this"


def test_a_judge_that_gives_no_verdict_leaves_the_outcome_pending(tmp_path: Path) -> None:
    def no_verdict(*question: Any) -> bool:
        raise JudgeFault("the judge is away")

    task = {"intent": "Say hello.", "sites": ["shopping"], "start_url": "__SHOPPING__"}
    task["eval"] = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["hello"]}}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task]))
    env = WebArenaLiteEnv(task_file=path, judge=no_verdict)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step('exit(message="hello")')
    assert terminated and reward == 0.0 and info["pending"] == ["outcome"] and "judge is away" in info["feedback"]
    assert "outcome" not in info["reward_terms"]


# ---------------------------------------------------------------------- turns


def test_early_stops_are_an_option() -> None:
    env = WebArenaLiteEnv(early_stop=True)
    env.reset(seed=0)
    ends = [env.step("gibberish")[2] for _ in range(3)]
    assert ends == [False, False, True]
    env.reset(seed=0)
    ends = [env.step('do(action="Scroll Down")')[2] for _ in range(5)]
    assert ends == [False] * 4 + [True]


def test_elements_that_vanished_are_feedback(env: WebArenaLiteEnv) -> None:
    env.reset(seed=0)
    before = env.state().to_json()
    _, _, _, _, info = env.step('do(action="Click", element="99999")')
    assert not info["valid"] and "99999" in info["feedback"]
    after = env.state().to_json()
    assert {**before, "actions": None} == {**after, "actions": None}


def test_a_page_that_does_not_exist_is_feedback_and_the_episode_goes_on(env: WebArenaLiteEnv) -> None:
    env.reset(options={"task": task_of(some_template("string_match"))})
    for address in ("http://shopping.localhost/no/such/page", "http://elsewhere.example/", "file:///etc/passwd"):
        *_, terminated, truncated, info = env.step(f'do(action="Go To", argument="{address}")')
        assert not (terminated or truncated) and info["feedback"], address
    info, _ = None, env.step('do(action="Go To", argument="http://shopping.localhost/")')
    assert env.state().site == "shopping"


# ---------------------------------------------------------------------- isolation


def test_two_episodes_at_once_do_not_see_each_other() -> None:
    first, second = WebArenaLiteEnv(), WebArenaLiteEnv()
    task = task_of(some_template("program_html"))
    second.reset(options={"task": task})
    before = second.state().to_json()
    info, _ = play(first, task)
    assert info["success"] and info["state"]["records"]
    assert second.state().to_json() == before
    info, _ = play(second, task)
    assert info["success"]


def test_a_reset_forgets_what_was_changed(env: WebArenaLiteEnv) -> None:
    task = task_of(some_template("program_html"))
    _, fresh = env.reset(options={"task": task})
    play(env, task)
    _, again = env.reset(options={"task": task})
    assert again["state"] == fresh["state"] and again["state"]["records"] == {}


@pytest.mark.parametrize("name", ["string_match", "program_html"])
def test_a_fork_in_the_middle_continues_in_the_same_way(name: str) -> None:
    env, other = gym.make(ID), gym.make(ID)
    task = task_of(some_template(name))
    _, done = play(env, task)
    for cut in range(len(done)):
        env.reset(options={"task": task})
        for action in done[:cut]:
            env.step(action)
        other.reset(seed=5)
        agentrl.restore(other, agentrl.snapshot(env))
        assert other.unwrapped.state() == env.unwrapped.state()  # pyright: ignore[reportAttributeAccessIssue]
        for action in done[cut:]:
            expected, found = env.step(action), other.step(action)
            assert found == expected


def test_a_pickled_environment_goes_on_where_it_was() -> None:
    env = WebArenaLiteEnv()
    task = task_of(some_template("program_html"))
    _, done = play(env, task)
    env.reset(options={"task": task})
    for action in done[:-2]:
        env.step(action)
    copy = pickle.loads(pickle.dumps(env))
    for action in done[-2:]:
        assert copy.step(action) == env.step(action)


def test_one_episode_may_be_stepped_from_different_threads() -> None:
    env = WebArenaLiteEnv()
    task = task_of(some_template("program_html"))
    _, done = play(env, task)
    env.reset(options={"task": task})
    results: list[Any] = []
    for action in done:
        thread = threading.Thread(target=lambda action=action: results.append(env.step(action)))
        thread.start()
        thread.join()
    assert results[-1][-1]["success"]


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize("mode", ["simplified", "accessibility", "compact", "html"])
@pytest.mark.parametrize("grammar", ["webrl", "webarena", "browsergym"])
def test_every_mode_and_grammar_can_be_played(mode: str, grammar: str) -> None:
    env = WebArenaLiteEnv(observation_mode=mode, action_format=grammar)
    info, done = play(env, task_of(some_template("string_match")))
    assert info["success"] and list(info["state"]["actions"]) == done


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"observation_mode": "simplifed"}, 'observation_mode must be one of .*Did you mean "simplified"'),
        ({"action_format": 3}, "action_format must be one of"),
        ({"sites": "shopping"}, "sites must be a list"),
        ({"sites": ["shoping"]}, 'Did you mean "shopping"'),
        ({"templates": "map-phone"}, "templates must be a list"),
        ({"templates": ["map-fone"]}, 'Did you mean "map-phone"'),
        ({"templates": ["map-bike-time"], "split": "train"}, "no tasks of templates map-bike-time in the split train"),
        ({"templates": ["map-phone"], "sites": ["reddit"]}, "no tasks of templates map-phone"),
        ({"templates": ["map-phone"], "task_file": "webarena-lite"}, "templates and joined choose among the generated"),
        ({"joined": 5, "task_file": "webarena-lite"}, "templates and joined choose among the generated tasks"),
        ({"joined": -1}, "joined must be a whole number of at least 0"),
        ({"joined": 1.5}, "joined must be a whole number"),
        ({"joined": 1, "sites": ["map"]}, "joined must be at most 0, .*; got 1"),
        ({"dialect": "full"}, "dialect must be one of"),
        ({"backend": "firefox"}, "backend must be one of"),
        ({"task_file": "no/such/file.json"}, "no/such/file.json"),
        ({"strict_upstream": True, "action_format": "webarena"}, "strict_upstream"),
        ({"max_actions_per_turn": 2}, "max_actions_per_turn"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        WebArenaLiteEnv(**arguments)


def test_joined_lists_tasks_in_two_parts_of_the_split_and_the_templates() -> None:
    names = ["code-follow-user", "code-set-status", "map-phone", "map-postcode"]
    listed = {split: WebArenaLiteEnv(templates=names, joined=40, split=split).tasks() for split in ("train", "test")}
    parts = {split: {part for task in tasks for part in task.split("+")} for split, tasks in listed.items()}
    for split, tasks in listed.items():
        assert len(set(tasks)) == len(tasks) == 40
        assert parts[split] <= set(WebArenaLiteEnv(templates=names, split=split).tasks())
        pairs = Counter(tuple(part.rpartition(".")[0] for part in task.split("+")) for task in tasks)
        assert pairs == {(first, second): 10 for first in names[:2] for second in names[2:]}
    assert WebArenaLiteEnv(templates=names, joined=7).tasks() == listed["train"][:7]
    env = WebArenaLiteEnv(templates=names, joined=7)
    assert play(env, listed["train"][0])[0]["success"]
    assert env.instruction_of(listed["train"][0].partition("+")[2])  # a curriculum may ask for a part
    with pytest.raises(ConfigError, match="task must be one of"):
        env.reset(options={"task": listed["test"][0]})


def test_every_task_in_two_parts_is_listed_once() -> None:
    names = ["forum-comment-on-post", "code-finish-todo"]  # of the comments some cannot come first
    most = 10_000
    with pytest.raises(ConfigError, match="joined must be at most") as refused:
        WebArenaLiteEnv(templates=names, joined=most)
    most = int(str(refused.value).partition("at most ")[2].partition(",")[0])
    tasks = WebArenaLiteEnv(templates=names, joined=most).tasks()
    single = {name: WebArenaLiteEnv(templates=[name]).tasks() for name in names}
    pairs = [(one, two) for one in names for two in names if one != two]
    every = {f"{one}+{two}" for first, second in pairs for one in single[first] for two in single[second]}
    assert len(tasks) == most and set(tasks) == {task for task in every if find_task_or_joined(task) is not None}


def test_tasks_can_be_restricted_to_sites() -> None:
    env = WebArenaLiteEnv(sites=["map"])
    assert env.tasks() and all(task.startswith("map-") for task in env.tasks())


def test_tasks_can_be_restricted_to_templates() -> None:
    env = WebArenaLiteEnv(templates=["map-phone", "map-postcode"])
    assert {task.rpartition(".")[0] for task in env.tasks()} == {"map-phone", "map-postcode"}
    assert set(env.tasks()) < set(WebArenaLiteEnv(sites=["map"]).tasks())
