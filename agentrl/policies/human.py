"""The policy that asks a person in the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.control import read_control
from agentrl.core.errors import ConfigError, EngineFault, did_you_mean
from agentrl.core.policy import Conversation, Generation

PROMPT = "your action> "


class HumanPolicy:
    """Shows the last message and reads one line; the end of the input is an `EngineFault`."""

    name = "human"

    def __init__(
        self,
        *,
        seed: int = 0,  # every policy takes one; a person ignores it
        read: Callable[[str], str] = input,
        show: Callable[[str], Any] | None = None,
    ) -> None:
        self._read, self._show = read, show or (lambda text: print(text, file=sys.stderr))

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One line from the person for each conversation."""
        chosen: Sequence[gym.Env | None] = envs if envs is not None else [None] * len(conversations)
        return [self._ask(conversation, env) for conversation, env in zip(conversations, chosen, strict=True)]

    def _ask(self, conversation: Conversation, env: gym.Env | None) -> Generation:
        if len(conversation) <= 2 and conversation and conversation[0]["role"] == "system":
            self._show(printable(conversation[0]["content"]) + "\n")
        if conversation:
            self._show(printable(conversation[-1]["content"] or str(conversation[-1].get("observation", ""))))
        while True:
            try:
                text = self._read(PROMPT)
            except EOFError as error:
                raise EngineFault("the person left: the input ended") from error
            try:
                return Generation(text=text, action=text if env is None else read_action(text, env))
            except ConfigError as error:
                self._show(str(error))


def read_action(text: str, env: gym.Env) -> Any:
    """What a person typed, as an action of this environment: text as it is; for numbered actions a name or a number;
    for continuous control the numbers one after the other, the rows of a chunk separated by semicolons."""
    space = env.action_space
    if isinstance(space, spaces.Box) and len(space.shape) in (1, 2):
        return read_numbers(text, space)
    if not isinstance(space, spaces.Discrete):
        if isinstance(space, spaces.Text):
            return text
        raise ConfigError(f"actions of the kind {space} cannot be typed")
    names = action_names(env)
    word = text.strip().casefold()
    if word in names:
        return names[word]
    if re.fullmatch(r"[+-]?[0-9]{1,9}", word) and space.contains(int(word)):
        return int(word)
    raise ConfigError(
        f"{text.strip()[:40]!a} is not an action.{did_you_mean(word[:40], names)} Type "
        + ", ".join(f"{name} ({number})" for name, number in names.items())
        + "."
    )


def read_numbers(text: str, space: spaces.Box) -> np.ndarray:
    """Numbers such as `0.5 0 -1` or `[0.5, 0, -1]`, as an array of the space."""
    rows = [row.replace(",", " ").split() for row in re.sub(r"[\[\]]", " ", text).split(";")]
    try:
        numbers = [[float(word) for word in row] for row in rows]
    except ValueError:
        numbers = []
    wanted = f"type {space.shape[-1]} numbers, such as: {' '.join(['0'] * space.shape[-1])}"
    if not numbers or any(len(row) != space.shape[-1] for row in numbers) or len(numbers) > (1, *space.shape)[-2]:
        raise ConfigError(f"{text.strip()[:40]!a} is not an action: {wanted}")
    values = np.array(numbers if len(space.shape) == 2 else numbers[0], dtype=np.float64)
    row = spaces.Box(space.low[0], space.high[0], dtype=space.dtype.type) if len(space.shape) == 2 else space
    problems = [found for one in np.atleast_2d(values) if isinstance(found := read_control(one, row), str)]
    if problems:
        raise ConfigError(problems[0])
    return values.astype(space.dtype)


def action_names(env: gym.Env) -> dict[str, int]:
    """Name -> number of the actions of a `Discrete` space, names folded to lower case."""
    space = env.action_space
    assert isinstance(space, spaces.Discrete)
    numbers = range(int(space.start), int(space.start + space.n))
    naming = getattr(env.unwrapped, "action_name", str)
    return {naming(number).casefold(): number for number in numbers}


def printable(text: str) -> str:
    """Text without the control characters that could drive a terminal; it comes from web pages and models."""
    return "".join(char if char in "\n\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
