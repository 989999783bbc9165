"""WebArenaLite-Visual in Chromium: the picture is the page that the text names, with the same numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.picturing.page_picture import colour_of_mark

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def env() -> Iterator[WebArenaLiteEnv]:
    env = WebArenaLiteEnv(kind="visual", backend="browser")
    yield env
    env.close()


def begin(env: WebArenaLiteEnv) -> dict[str, Any]:
    return env.reset(options={"task": next(task for task in env.tasks() if task.startswith("shop-"))})[0]


def numbers(observation: dict[str, Any]) -> list[int]:
    """The ids in the text."""
    return [int(found) for found in re.findall(r"^\[(\d+)\] ", observation["text"], re.MULTILINE)]


def marked(observation: dict[str, Any], env: WebArenaLiteEnv) -> list[int]:
    """The ids whose marks are in the picture: a frame of their colour to the right of the element, or under it."""
    view, found = env.backend.view(), []
    for number, element in enumerate(view.labels):
        box = view.boxes[element]
        right = observation["image"][max(0, box.top) : box.top + box.height, min(box.left + box.width, 1279)]
        below = observation["image"][min(box.top + box.height, 719), max(0, box.left) : box.left + box.width]
        if any((edge == colour_of_mark(number)).all(axis=1).any() for edge in (right, below)):
            found.append(number)
    return found


def test_the_marks_have_the_numbers_of_the_text(env: WebArenaLiteEnv) -> None:
    observation = begin(env)
    for action in ("", 'do(action="Scroll Down")', 'do(action="Scroll Down")'):
        if action:
            observation = env.step(action)[0]
        assert numbers(observation) == list(range(len(env.backend.view().labels)))
        assert marked(observation, env) == numbers(observation)


def test_the_picture_follows_the_steps_and_is_the_same_for_the_same_page(env: WebArenaLiteEnv) -> None:
    first = begin(env)["image"]
    typed = env.step('do(action="Type", argument="lamp", element="4")')[0]["image"]
    away = env.step('do(action="Press Enter")')[0]["image"]
    assert first.shape == typed.shape == (720, 1280, 3)
    assert (first != typed).any(axis=2).sum() > 50  # the word
    assert (typed != away).any(axis=2).mean() > 0.05  # another page
    assert np.array_equal(begin(env)["image"], first)


def test_photos_are_there_when_the_picture_is_taken(env: WebArenaLiteEnv) -> None:
    """A step waits for them: the picture of a page that is opened for the first time is whole."""
    env.reset(options={"task": next(task for task in env.tasks() if task.startswith("shop-"))})
    away = 'do(action="Go To", argument="http://shopping.localhost/electronics.html")'
    first = env.step(away)[0]["image"]
    env.step('do(action="Scroll Down")')
    env.step('do(action="Scroll Up")')
    again = env.step(away)[0]["image"]
    assert np.array_equal(first, again)
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 200


def test_the_whole_page_is_marked_where_it_is_in_view(env: WebArenaLiteEnv) -> None:
    whole = WebArenaLiteEnv(kind="visual", backend="browser", picture="full")
    image = begin(whole)["image"]
    assert image.shape[0] > 720 and image.shape[1] == 1280
    assert (image[:720] != begin(env)["image"]).any(axis=2).mean() < 0.01
    whole.close()
