"""Wishes made from goals: for training products, exactly rewarded, kept in snapshots, the same in every process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from shop_kit import SMALL, small_shop

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import KINDS, Task
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.envs.webshop.goals import Wish
from agentrl.envs.webshop.wishes import WishMutations

HOSTILE = [
    "train-0:", "train-0:a:o:p1", "train-0:a0:o:p", "train-0:a00:o:p9", "train-0:a9:o:p0", "train-0:a0.0:o:p0",
    "train-0:a1.0:o:p0", "train-0:a0:o99:p0", "train-0:a0:o0.0.0.0:p0", "train-0:a0:o:p999", "train-0:a0:o:p0:a0",
    "train-99999:a0:o:p0", "test-0:a0:o:p0", ":a0:o:p0", "train-0:" + "9" * 5000, "train-0:a\u0661:o:p0",
]  # fmt: skip


@pytest.fixture(scope="module")
def env() -> Iterator[WebShopEnv]:
    with closing(small_shop(split="train")) as made:
        yield made


@pytest.fixture(scope="module")
def generator(env: WebShopEnv) -> WishMutations:
    made = env.task_generator()
    assert isinstance(made, WishMutations)
    return made


def seeds_of(env: WebShopEnv) -> list[Task]:
    return [Task(task) for task in env.tasks()[:12]]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def play(env: WebShopEnv, task: str) -> dict[str, Any]:
    """The info at the end of the oracle's play."""
    env.reset(seed=0, options={"task": task})
    over, info = False, {}
    while not over:
        _, _, terminated, truncated, info = env.step(env.oracle())
        over = terminated or truncated
    return info


def test_wishes_are_bought_with_full_reward_and_asked_for_in_words(env: WebShopEnv, generator: WishMutations) -> None:
    found = generator.propose(seeds_of(env), 30, rng())
    assert len(found) == len(set(found)) == 30 and {task.kind for task in found} == set(KINDS)
    assert any(":" in task.id for task in found)
    for task in found:
        info = play(env, task.id)
        assert info["success"] and info["task"] == task.id
        goal = env.goal
        assert goal.id == task.id and goal.instruction == task.instruction == env.instruction_of(task.id)
        assert all(attribute in task.instruction for attribute in goal.attributes)
        assert all(option in task.instruction for option in goal.options if isinstance(option, str))


def test_the_kind_says_how_a_wish_differs_from_its_seed(env: WebShopEnv, generator: WishMutations) -> None:
    draws, seen = rng(1), set()
    for seed in seeds_of(env):
        before = generator._read(seed)
        assert before is not None
        for kind in KINDS:
            task = generator.mutate(kind, seed, seeds_of(env), draws)
            after = None if task is None else generator._read(task)
            if after is None:
                continue
            seen.add(kind)
            old, new = before.wish, after.wish
            asked = len(new.attributes) + len(new.options) - len(old.attributes) - len(old.options)
            looser = bool(old.limit) and (not new.limit or new.limit > old.limit)
            tighter = bool(new.limit) and (not old.limit or new.limit < old.limit)
            assert kind == "recombined" or after.number == before.number
            assert kind != "nearby" or asked == 0
            assert kind != "easier" or asked < 0 or looser
            assert kind != "harder" or asked > 0 or tighter
    assert seen == set(KINDS)


def test_what_the_product_lacks_cannot_be_wished_for(env: WebShopEnv, generator: WishMutations) -> None:
    for task in [*HOSTILE, f"train-0{generator._goals.wish(0)}"]:  # a goal's own wish has a shorter id
        with pytest.raises(ConfigError, match="task must be one of"):
            env.reset(options={"task": task})
        assert not generator.knows(Task(task)) and not generator.feasible(Task(task))
    strange: Any = [Task(5), Task("train-0", {"catalogue_size": 1000})]  # pyright: ignore[reportArgumentType]
    assert not any(generator.knows(task) for task in strange)
    assert {task.kind for task in generator.propose([*map(Task, HOSTILE), *strange], 3, rng())} == {"new"}


def test_wishes_are_spelled_in_one_way() -> None:
    wish = Wish((0, 2), (3,), 40)
    assert str(wish) == ":a0.2:o3:p40" and Wish.parse(str(wish)) == wish
    assert all(Wish.parse(text) is None for text in ("", ":a0.2:o3:p040", ":a0..2:o3:p40", ":a.0:o:p1", ":a0:o:p-1"))


def test_a_dearer_purchase_than_wished_for_is_no_success(env: WebShopEnv, generator: WishMutations) -> None:
    task = next(task for task in generator.propose(seeds_of(env), 60, rng(2)) if ":" in task.id and "p0" not in task.id)
    env.reset(options={"task": task.id})
    goal = env.goal
    cheapest = env.shop.score("train", env._wished, goal.asin, ())
    assert cheapest.price and goal.price_upper > env.shop.known(goal.asin).price
    assert str(int(goal.price_upper)) in task.instruction


def test_snapshots_and_other_processes_keep_the_wish(env: WebShopEnv, generator: WishMutations) -> None:
    found = [task for task in generator.propose(seeds_of(env), 12, rng(3)) if ":" in task.id]
    env.reset(seed=1, options={"task": found[0].id})
    env.step(env.oracle() or "")
    blob = env.snapshot()
    with closing(small_shop(split="train")) as other:
        other.restore(blob)
        assert other._task() == found[0].id and other.goal == env.goal
        assert other.step(other.oracle())[0] == env.step(env.oracle())[0]
    script = """
import json, sys
import numpy as np
from agentrl.core.task_generator import Task
from agentrl.envs.webshop.env import WebShopEnv

size, wanted = json.loads(sys.argv[1])
env = WebShopEnv(catalogue_size=size)
generator = env.task_generator()
found = generator.propose([Task(task) for task in env.tasks()[:12]], 12, np.random.default_rng(3))
assert [task.to_json() for task in found if ":" in task.id] == wanted
"""
    words = json.dumps([SMALL, [task.to_json() for task in found]])
    subprocess.run([sys.executable, "-c", script, words], check=True)
