"""Answers that take no work: words, lists, the commonest answers of training, the instruction, pasted pages."""

from __future__ import annotations

import json
import math
from collections import Counter

import gymnasium as gym
import pytest

import agentrl  # noqa: F401 (registers the environments)
from agentrl.envs.webarena.evaluators.answers import unmet
from agentrl.envs.webarena.evaluators.nothing_else import SAYING, TOKEN
from agentrl.envs.webarena.evaluators.rule_judge import plain
from agentrl.envs.webarena.guessers import BLIND, STRATEGIES, guess
from agentrl.envs.webarena.tasks.generated import COMMONEST, find_generated, generated_ids, templates
from agentrl.envs.webarena.tasks.schema import Requirements, task_from_json
from agentrl.envs.webarena.tasks.template import Answer
from agentrl.policies import load_policy
from benchmarks.webarena.guessing import Rates, measure, string_tasks

# Of all tasks that ask for an answer; below 0.02 for all others.
MOST = {"na": 0.05, "yes": 0.05, "no": 0.05, "prior": 0.10}
MOST_OF_A_TEMPLATE = 0.60  # of the three words


def check_rates(rates: Rates, strategies: tuple[str, ...]) -> None:
    for strategy in strategies:
        share = rates.share(strategy)
        print(f"{strategy}: {share:.4f} of {rates.tasks.total()} tasks, at best {rates.best(strategy)}")
        assert share <= MOST[strategy] if strategy in MOST else share < 0.02, strategy
        if strategy in ("na", "yes", "no"):
            assert rates.best(strategy)[0] < MOST_OF_A_TEMPLATE


def wanted_of(task_id: str) -> tuple[Requirements, str]:
    found = find_generated(task_id)
    assert found is not None
    task = task_from_json(found.official())
    assert task.eval is not None and task.eval.reference_answers is not None
    return task.eval.reference_answers, task.intent


def test_guesses_without_browsing_are_rarely_right_in_any_test_task():
    """By the rule about the answer alone: the two templates that also look at pages are here as if these were right."""
    rates, instruction = Rates(), ("instruction", "most of the instruction")
    for task_id in string_tasks("test"):
        wanted, intent = wanted_of(task_id)
        template = templates()[task_id.rpartition(".")[0]]
        rates.tasks[template.name] += 1
        guesses = {strategy: guess(strategy, template, [""]) for strategy in BLIND}
        guesses |= {"instruction": intent, "most of the instruction": intent.partition(" ")[2]}
        for strategy, text in guesses.items():
            passed = not any(unmet(wanted, text, "lite", is_answer=True, instruction=intent))
            rates.add(strategy, template.name, passed)
    assert len(rates.tasks) >= 75 and rates.tasks.total() > 1_500
    check_rates(rates, (*BLIND, *instruction))


def test_what_the_solution_says_passes_alone_and_in_a_sentence_in_every_test_task():
    for task_id in string_tasks("test"):
        found, (wanted, intent) = find_generated(task_id), wanted_of(task_id)
        assert found is not None
        acts = [act for step in found.template.solution(found.parameters) for act in step.acts]
        answer = next(act.text for act in reversed(acts) if isinstance(act, Answer))
        for text in (answer, f"The answer is {answer}.", f'It is **"{answer}"**\n'):
            assert not any(unmet(wanted, text, "lite", is_answer=True, instruction=intent)), (task_id, text)


def test_no_answer_is_made_of_words_that_any_sentence_may_have():
    for task_id in (*string_tasks("train"), *string_tasks("test")):
        wanted, _ = wanted_of(task_id)
        assert wanted.nothing_else and wanted.must_include, task_id
        for part in wanted.must_include:
            assert not {plain(word) for word in TOKEN.findall(part.lower())} <= SAYING, (task_id, part)


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_no_answer_is_that_of_many_tasks(split):
    counts: dict[str, Counter[str]] = {}
    for task_id in string_tasks(split):
        found = find_generated(task_id)
        assert found is not None
        answers = json.dumps(found.template.check(found.parameters)["reference_answers"])
        counts.setdefault(found.template.name, Counter())[answers] += 1
    for name, answers in counts.items():
        share = max(COMMONEST, 1 / len(answers))
        assert max(answers.values()) <= max(1, math.ceil(share * answers.total())), name
        assert len(answers) > 1 or split == "dev", name


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_guesser_is_a_policy_that_ends_its_tasks_without_a_reward(name):
    env = gym.make("agentrl/WebArenaLite-Text-v0", split="test", templates=["code-role-of-member", "code-open-page"])
    policy = load_policy(f"webarena-{name}")
    for template, is_asked in (("code-role-of-member", True), ("code-open-page", False)):
        _, info = env.reset(options={"task": generated_ids("test", (), (template,))[0]})
        turns, over, total = 0, False, 0.0
        while not over:
            _, reward, terminated, truncated, info = env.step(policy.act([[]], [env])[0].text)
            turns, over, total = turns + 1, terminated or truncated, total + float(reward)
            assert info["valid"]
        assert terminated and total == 0.0
        assert (turns == 1) == (name in BLIND or not is_asked)
    env.close()


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_no_guesser_is_often_right_in_all_test_tasks():
    rates = measure("test")
    check_rates(rates, STRATEGIES)
    assert rates.share("oracle") == 1.0
