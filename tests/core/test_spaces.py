"""The space of all strings, alone and inside Gymnasium's vector environments."""

from __future__ import annotations

import copy
import pickle
import re

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError
from agentrl.core.spaces import AnyText

WORDS = ("Left", "Right", "turn round")


class Parrot(gym.Env):
    """Says back, in full, what it heard."""

    observation_space = spaces.Dict({"text": AnyText(), "length": spaces.Box(0, np.inf, (1,), np.float32)})
    action_space = AnyText(WORDS, max_words=3)

    def __init__(self, name: str = "parrot") -> None:
        self.name = name

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._say(f"{self.name} \u2603"), {}

    def step(self, action):
        return self._say(f"{self.name}: {action}"), 0.0, False, False, {}

    def _say(self, text: str) -> dict:
        return {"text": text, "length": np.array([len(text)], np.float32)}


@given(st.text(st.characters(codec=None)))
@settings(deadline=None)
def test_every_string_is_a_member(text):
    assert text in AnyText(WORDS)


@pytest.mark.parametrize("value", [None, 3, b"text", ["text"], np.array("text"), {"text": "x"}])
def test_nothing_else_is_a_member(value):
    assert value not in AnyText(WORDS)


def test_a_string_of_any_length_is_a_member():
    assert "x" * 5_000_000 in AnyText() and "" in AnyText()


def test_samples_are_turns_of_the_words():
    space = AnyText(WORDS, max_words=3, separator=" | ", seed=0)
    samples = [space.sample().split(" | ") for _ in range(300)]
    assert {len(sample) for sample in samples} == {1, 2, 3}
    assert {word for sample in samples for word in sample} == set(WORDS)


def test_a_seed_decides_the_samples():
    first, second, other = (AnyText(WORDS, max_words=3, seed=seed) for seed in (5, 5, 6))
    samples = [first.sample() for _ in range(20)]
    assert samples == [second.sample() for _ in range(20)] != [other.sample() for _ in range(20)]
    first.seed(5)
    assert samples == [first.sample() for _ in range(20)]


def test_sampling_leaves_the_global_random_state_alone():
    before = np.random.get_state()[1].copy()
    AnyText(WORDS).sample()
    assert np.array_equal(before, np.random.get_state()[1])


@pytest.mark.parametrize("argument", ["mask", "probability"])
def test_masks_are_refused(argument):
    with pytest.raises(ValueError, match="no mask or probability"):
        AnyText(WORDS).sample(**{argument: (None, None)})


@pytest.mark.parametrize(
    "arguments",
    [{"words": ()}, {"words": "word"}, {"words": [1]}, {"max_words": 0}, {"max_words": 1.5}, {"max_words": True}],
)
def test_spaces_that_could_not_be_sampled_are_refused(arguments):
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        AnyText(**arguments)


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda space: pickle.loads(pickle.dumps(space))])
def test_copies_are_equal_and_continue_the_same_samples(twin_of):
    space = AnyText(WORDS, max_words=3, seed=1)
    space.sample()
    twin = twin_of(space)
    assert twin == space and hash(twin) == hash(space)
    assert [twin.sample() for _ in range(10)] == [space.sample() for _ in range(10)]


def test_equality_looks_at_words_count_and_separator_only():
    space = AnyText(WORDS, max_words=2, seed=1)
    assert space == AnyText(list(WORDS), max_words=2, seed=2)
    different = [AnyText(WORDS), AnyText(WORDS[:2], max_words=2), AnyText(WORDS, max_words=2, separator=" ")]
    assert all(space != other for other in [*different, spaces.Text(5), "AnyText"])


def test_the_description_stays_short():
    assert repr(AnyText([str(n) for n in range(1000)])) == "AnyText(0, 1, 2, 3, ...)"


def test_it_works_inside_dict_and_tuple_spaces_and_their_json():
    space = spaces.Dict({"text": AnyText(WORDS), "pair": spaces.Tuple([AnyText(), spaces.Discrete(3)])}, seed=3)
    sample = space.sample()
    assert sample in space and {"text": 3, "pair": sample["pair"]} not in space
    batch = [{"text": "\u2603", "pair": ("\n", 1)}, sample]
    assert space.from_jsonable(space.to_jsonable(batch)) == batch
    assert copy.deepcopy(space) == space


def actions(count: int) -> tuple[str, ...]:
    return tuple(f"caf\u00e9 {'x' * (10**index)} {index}" for index in range(count))


def check_texts(vector: gym.vector.VectorEnv, names: list[str]) -> None:
    try:
        observation, _ = vector.reset(seed=0)
        assert list(observation["text"]) == [f"{name} \u2603" for name in names]
        sent = actions(len(names))
        observation, *_ = vector.step(sent)
        assert list(observation["text"]) == [f"{name}: {action}" for name, action in zip(names, sent, strict=True)]
        assert observation["length"][:, 0].tolist() == [len(text) for text in observation["text"]]
        assert vector.action_space.sample() in vector.action_space
    finally:
        vector.close()


def test_a_sync_vector_environment_gives_every_environment_its_own_text():
    names = ["ada", "bob", "eve"]
    check_texts(SyncVectorEnv([lambda name=name: Parrot(name) for name in names]), names)


def test_an_async_vector_environment_does_so_without_shared_memory():
    names = ["ada", "bob"]
    check_texts(AsyncVectorEnv([lambda name=name: Parrot(name) for name in names], shared_memory=False), names)


def test_shared_memory_is_refused_with_what_to_do_instead():
    with pytest.raises(ValueError, match="shared_memory=False") as caught:
        AsyncVectorEnv([Parrot], shared_memory=True)
    assert isinstance(caught.value.__cause__, CustomSpaceError) and "any length" in str(caught.value.__cause__)


@pytest.mark.parametrize("space", [AnyText(), spaces.Dict({"text": AnyText()}), spaces.Tuple([AnyText()])])
def test_flattening_is_refused_and_fills_no_memory(space):
    for flatten in (spaces.utils.flatten_space, spaces.utils.flatdim):
        with pytest.raises((CustomSpaceError, ValueError), match="flatten"):
            flatten(space)
    with pytest.raises(CustomSpaceError, match=re.escape("FilterObservation")):
        spaces.utils.flatten(AnyText(), "text")
