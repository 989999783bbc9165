"""Web tasks made from web tasks: of training data alone, with exact evaluators, the same in every process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import KINDS, Task
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.evaluators.evaluate import missing
from agentrl.envs.webarena.oracle import about
from agentrl.envs.webarena.tasks.addresses import resolve
from agentrl.envs.webarena.tasks.generated import Joined, find_generated, find_task_or_joined, generated_ids, split_of
from agentrl.envs.webarena.tasks.mutations import WebTaskMutations
from agentrl.envs.webarena.tasks.schema import task_from_json

HOSTILE = [
    Task("shop-product-field"),
    Task("shop-product-field.-1"),
    Task("shop-product-field.00"),
    Task("shop-product-field.2~99"),
    Task("shop-product-field.2+"),
    Task("+" * 500),
    Task("~" * 500),
    Task("shop-product-field.2", {"sites": ["map"]}),
    Task(2),  # pyright: ignore[reportArgumentType]
    Task("intent:e30"),
]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def some_seeds(count: int = 30) -> list[Task]:
    ids = generated_ids("train")
    return [Task(ids[int(place)]) for place in rng(7).choice(len(ids), count, replace=False)]


def joined_train(first: str, second: str) -> str:
    """The id of two training tasks of these templates in one."""
    ids = [next(task for task in generated_ids("train") if task.startswith(name + ".")) for name in (first, second)]
    return "+".join(ids)


def play(env: WebArenaLiteEnv, task: str) -> dict[str, Any]:
    """The info at the end of the oracle's play."""
    env.reset(seed=0, options={"task": task})
    over, info = False, {}
    while not over:
        _, _, terminated, truncated, info = env.step(env.oracle())
        over = terminated or truncated
    return info


def test_proposals_are_distinct_tasks_about_training_data() -> None:
    generator, seeds = WebTaskMutations(), some_seeds()
    found = generator.propose(seeds, 150, rng())
    assert len(found) == len(set(found)) == 150 and not set(found) & set(seeds)
    assert {task.kind for task in found} == set(KINDS)
    assert any("+" in task.id for task in found) and any("~" in task.id for task in found)
    assert any(task.id not in generated_ids("train") for task in found if task.kind == "nearby")  # beyond the list
    env = WebArenaLiteEnv()
    for task in found:
        made = find_task_or_joined(task.id)
        assert made is not None and generator.feasible(task)
        assert all(split_of(part.template, part.parameters) == "train" for part in made.parts)
        assert env._find_task(task.id).task.intent == task.instruction != ""
    with pytest.raises(ConfigError):
        WebArenaLiteEnv(split="test")._find_task(found[0].id)
    env.close()


def test_the_kind_says_how_a_task_differs_from_its_seed() -> None:
    generator, draws = WebTaskMutations(), rng(3)
    for seed in some_seeds(20):
        before = find_generated(seed.id)
        assert before is not None
        for kind in KINDS:
            task = generator.mutate(kind, seed, [seed], draws)
            after = None if task is None else find_task_or_joined(task.id)
            if after is None:
                continue
            assert kind != "nearby" or after.template is before.template
            assert kind != "easier" or after.steps < before.steps
            assert kind != "harder" or after.steps > before.steps
            assert kind != "recombined" or (after.parameters, after.wording) != (before.parameters, before.wording)  # pyright: ignore[reportAttributeAccessIssue]


def test_sites_and_turns_bound_what_is_proposed() -> None:
    env = WebArenaLiteEnv(sites=["map", "reddit"], max_turns=12)
    found = env.task_generator().propose([Task(env.tasks()[0]), Task(env.tasks()[-1])], 40, rng())
    made = [find_task_or_joined(task.id) for task in found]
    assert all(one is not None and set(one.template.sites) <= {"map", "reddit"} for one in made)
    assert all(one is not None and one.steps <= 12 for one in made)
    few = WebArenaLiteEnv(templates=["map-phone", "map-open-page"])
    found = few.task_generator().propose([Task(few.tasks()[0]), Task(few.tasks()[-1])], 30, rng())
    assert {task.id.rpartition(".")[0] for task in found} == {"map-phone", "map-open-page"}
    env.close()
    few.close()


def test_two_tasks_in_one_are_solved_only_by_both() -> None:
    env = WebArenaLiteEnv()
    task = joined_train("forum-comment-on-post", "map-postcode")
    assert play(env, task)["success"]
    assert env._current.about()["template"] == "forum-comment-on-post+map-postcode"
    alone = [about(env._find_task(part)) for part in task.split("+")]
    both = env.about_task()
    assert all(both[name] == sum(part[name] for part in alone) for name in ("complexity", "steps"))
    first, second = env._current.instance.parts  # pyright: ignore[reportOptionalMemberAccess]
    env.reset(options={"task": task})
    env.step(f'exit(message="{second.parameters["answer"]}")')
    assert env._over and not env._success and env.state().outcome == 0.0  # the answer alone
    env.reset(options={"task": task})
    comment = resolve(task_from_json(first.official()))
    while missing(comment, env.backend, env.dialect):
        env.step(env.oracle())
    blob = env.snapshot()
    env.step('exit(message="I do not know")')
    assert env._over and env.state().outcome == 0.0  # the comment alone
    other = WebArenaLiteEnv()
    other.restore(blob)
    while not other._over:
        other.step(other.oracle())
    assert other._success and other._task() == task
    env.close()
    other.close()


@pytest.mark.parametrize(
    "names",
    [
        ("shop-add-to-cart", "admin-order-total"),  # one database
        ("shop-product-field", "map-postcode"),  # the answer of the first would be lost
        ("forum-post-question", "map-postcode"),  # the address of the first would be
        ("code-star-project", "across-post-product-link"),  # three sites
    ],
)
def test_tasks_that_cannot_be_evaluated_together_are_not_joined(names: tuple[str, str]) -> None:
    assert find_task_or_joined(joined_train(*names)) is None


def test_the_solver_does_proposals_of_every_kind() -> None:
    env, generator = WebArenaLiteEnv(), WebTaskMutations()
    found = generator.propose(some_seeds(), 60, rng(1))
    for kind in KINDS:
        for task in [task for task in found if task.kind == kind][:4]:
            assert play(env, task.id)["success"], task
    env.close()


def test_few_turns_leave_the_tasks_that_can_be_done_in_them() -> None:
    names = ["map-postcode", "map-open-page"]
    seeds = [Task(task) for task in generated_ids("train", only=tuple(names))[::10]]
    for turns, wanted in ((5, 20), (2, 0)):  # three actions each, and no page needs scrolling
        env = WebArenaLiteEnv(templates=names, observation_mode="compact", max_turns=turns)
        found = env.task_generator().propose(seeds, 20, rng(2))
        assert len(found) == wanted
        assert all(play(env, task.id)["success"] for task in found)
        env.close()


def test_parts_of_other_splits_and_hostile_ids_are_refused() -> None:
    generator, test = WebTaskMutations(), generated_ids("test")
    held_out = [Task(task) for task in test[:: len(test) // 50]]
    held_out += [Task(f"{generated_ids('train')[-1]}+{task.id}") for task in held_out]
    for task in [*held_out, *HOSTILE]:
        assert not generator.knows(task) and not generator.feasible(task)
    assert {task.kind for task in generator.propose([*held_out, *HOSTILE], 5, rng())} == {"new"}
    assert len(generator.propose([*HOSTILE, *some_seeds(1)], 5, rng())) == 5


def test_a_wording_of_its_own_has_one_id_only() -> None:
    task = generated_ids("train")[0]
    plain = find_generated(task)
    assert plain is not None and find_generated(f"{task}~{plain.wording}") is None
    others = [find_generated(f"{task}~{number}") for number in range(len(plain.template.intents))]
    intents = {one.official()["intent"] for one in others if one is not None}
    assert len(intents) == len(plain.template.intents) - 1 and plain.official()["intent"] not in intents


def test_proposals_are_the_same_in_another_process() -> None:
    seeds = some_seeds(5)
    found = WebTaskMutations().propose(seeds, 20, rng(9))
    script = """
import json, sys
import numpy as np
from agentrl.core.task_generator import Task
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.tasks.mutations import WebTaskMutations
from agentrl.envs.webarena.tasks.schema import task_from_json

seeds, wanted = json.loads(sys.argv[1])
found = WebTaskMutations().propose([Task(seed) for seed in seeds], 20, np.random.default_rng(9))
assert [task.to_json() for task in found] == wanted
env = WebArenaLiteEnv()
for task in found[:3]:
    _, info = env.reset(options={"task": task.id})
    assert info["task"] == task.id and task.instruction in env.state().instruction
"""
    words = json.dumps([[seed.id for seed in seeds], [task.to_json() for task in found]])
    subprocess.run([sys.executable, "-c", script, words], check=True)
    assert isinstance(find_task_or_joined(joined_train("forum-comment-on-post", "map-postcode")), Joined)
