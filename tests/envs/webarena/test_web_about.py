"""Tasks tell their site, how much they ask for and how long they are; failed episodes get their type of error."""

from __future__ import annotations

from collections import Counter

import gymnasium as gym
import pytest

from agentrl.core.policy import as_generation
from agentrl.envs.webarena.oracle import about, requirements
from agentrl.envs.webarena.tasks.generated import find_generated
from agentrl.policies import load_policy
from agentrl.rollout.episode import play_episode
from agentrl.rollout.error_types import ERROR_TYPES, error_type

ENV = "agentrl/WebArenaLite-Text-v0"
MISSING, OTHER = (f'do(action="Click", element="{number}")' for number in (9999, 9998))


@pytest.fixture(scope="module")
def env():
    made = gym.make(ENV, observation_mode="compact", split="test", max_turns=12)
    yield made
    made.close()


def test_requirements_are_the_parameters_that_the_shortest_wording_states():
    assert requirements(("Cancel order {number}.",), {"number": "17"}) == 1
    assert requirements(("Price of {name} ({sku})?", "Price of {sku}?"), {"name": "Cup", "sku": "B0"}) == 1
    assert requirements(("Show {list}{span}.",), {"list": "new posts", "span": ""}) == 1
    wish = {"product": "Cup", "wish": " (size S, colour red)", "options": [["size", "S"], ["colour", "red"]]}
    assert requirements(("Buy {product}{wish}.",), wish) == 3
    assert requirements(("Log out.",), {}) == 1


def test_the_length_is_that_of_the_solution(env):
    base = env.unwrapped
    ids = [task for task in base.tasks() if task.startswith(("map-drive", "shop-place-order"))]
    for task in (ids[0], ids[-1]):
        env.reset(options={"task": task})
        found, instance = base.about_task(), find_generated(task)
        assert instance is not None and found["group"] == " + ".join(instance.template.sites)
        assert found["steps"] == base.actions_needed()
        assert found["complexity"] >= 2


def test_an_instruction_of_ones_own_has_a_site_and_no_more(env):
    from agentrl.envs.webarena.tasks.intents import intent_id

    found = env.unwrapped._find_task(intent_id("Do something.", ["shopping", "reddit"]))
    assert about(found) == {"group": "shopping + reddit"}


class Mistaken:
    """Plays as the oracle does until a certain turn, then something else for ever."""

    name = "mistaken"

    def __init__(self, right: int, then: list[str]) -> None:
        self.right, self.then, self.turn = right, then, 0

    def act(self, conversations, envs):
        self.turn += 1
        late = self.turn - self.right - 1
        return [as_generation(envs[0].unwrapped.oracle() if late < 0 else self.then[late % len(self.then)])]


@pytest.mark.parametrize(
    ("right", "then", "expected"),
    [
        (4, ['exit(message="no idea")'], "wrong_end"),
        (0, ['exit(message="no idea")'], "no_attempt"),
        (0, ["nonsense"], "no_attempt"),
        (4, ["nonsense"], "stuck"),
        (4, [MISSING, "exit()"], "no_recovery"),
        (4, [OTHER, MISSING, "exit()"], "no_recovery"),
        (3, ["do(action=\"Go Backward\")", "do(action=\"Go Forward\")"], "stuck"),
    ],
)  # fmt: skip
def test_mistakes_after_right_play_have_their_names(env, right, then, expected):
    tasks = [task for task in env.unwrapped.tasks() if task.startswith("shop-place-order")]
    record = _played(env, Mistaken(right, then), tasks[0])
    assert not record.success and error_type(record) == expected


def _played(env, policy, task):
    class Named(gym.Wrapper):
        def reset(self, *, seed=None, options=None):
            return self.env.reset(seed=seed, options={"task": task})

    return play_episode(Named(env), policy, 0)


@pytest.mark.parametrize("player", ["random", "webarena-naive"])
def test_every_failure_of_a_scripted_player_has_one_type(env, player):
    policy, found = load_policy(player, seed=0), Counter()
    for seed in range(10):
        record = play_episode(env, policy, seed)
        kind = error_type(record)
        assert (kind is None) == record.success and (kind is None or kind in ERROR_TYPES)
        assert record.about["group"] and record.about["steps"] >= 1 and record.about["complexity"] >= 1
        found[kind] += 1
    assert found.keys() - {None}
