"""Scripted players of the web: what they share, and the baseline, which searches once for what the instruction names,
follows links whose words it has, then guesses."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, as_generation, require_envs
from agentrl.envs.webarena.acting.actions import Action
from agentrl.envs.webarena.acting.grammars import write
from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.observing.compact import compact_text
from agentrl.envs.webarena.observing.texts import Names, meant
from agentrl.envs.webarena.state import quoted_words

MAX_LINKS = 6  # that are followed before the guess
_SEARCH = re.compile(r"search|query|\bq\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"\$?\d[\d,.]*\d|\d")
_COUNTED = re.compile(r"\b(?:how (?:many|much)|count|number of|price|total|cost)\b", re.IGNORECASE)
# Words that every instruction and every page has.
_COMMON = frozenset({
    "a", "all", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "give", "has", "have",
    "how", "i", "in", "is", "it", "its", "many", "me", "much", "my", "of", "on", "or", "show", "tell", "that", "the",
    "their", "them", "there", "this", "to", "was", "what", "when", "where", "which", "who", "with", "you", "your",
})  # fmt: skip


@dataclass
class Memory:
    """What was done in an episode."""

    turns: int = 0
    searched: bool = False
    followed: set[tuple[str, str]] = field(default_factory=set)
    pages: list[str] = field(default_factory=list)  # their texts


class ScriptedBrowser(ABC):
    """A player that remembers its episodes."""

    name: str

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed  # every policy takes one; these have nothing random
        self._memories: WeakKeyDictionary[Any, Memory] = WeakKeyDictionary()

    @abstractmethod
    def choose(self, env: Any, memory: Memory) -> Action:
        """The next action in this environment."""

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One action for each environment."""
        turns = []
        for env in require_envs(self.name, conversations, envs):
            base: Any = env.unwrapped
            if not hasattr(base, "backend") or not hasattr(base, "action_format"):
                got = type(base).__name__
                raise ConfigError(f"the {self.name} policy needs a WebArena-Lite environment; got {got}")
            truth = base.state()
            memory = self._memories.get(base)
            if memory is None or len(truth.actions) < memory.turns or not truth.actions:  # another episode has begun
                memory = self._memories[base] = Memory()
            action = write(self.choose(base, memory), base.action_format)
            memory.turns = len(truth.actions)
            # A wrapper that asks for a format tells the truth around any turn.
            truthful = env.has_wrapper_attr("truthful")
            turns.append(as_generation(env.get_wrapper_attr("truthful")(action) if truthful else action))
        return turns


class NaiveBrowser(ScriptedBrowser):
    """Compares words and nothing else; reads no page to its end and fills in no form."""

    name = "webarena-naive"

    def choose(self, env: Any, memory: Memory) -> Action:
        """What `naive_action` says of this page."""
        return naive_action(env.backend.view(), env.state().instruction, memory)


def naive_action(view: View, instruction: str, memory: Memory) -> Action:
    """The next action of the baseline."""
    names = Names(view)
    box = None if memory.searched else search_box(view, names)
    if box is not None:
        memory.searched = True
        return Action("search", element=box, text=quoted_words(instruction)[0])
    link = best_link(view, names, instruction, memory)
    return Action("exit", text=best_guess(view, instruction)) if link is None else Action("click", element=link)


def search_box(view: View, names: Names) -> int | None:
    """The id of the first field that is for searching."""
    for number, element in enumerate(view.labels):
        role = names.role(element)
        told = f"{element.get('type')} {element.get('name')} {names.name(element, role)}"
        if role in ("textbox", "searchbox") and _SEARCH.search(told):
            return number
    return None


def best_link(view: View, names: Names, instruction: str, memory: Memory) -> int | None:
    """The id of the link with the most words of the instruction, of several the first; None if there is none that was
    not followed already."""
    wanted, best, most = words_of(instruction), None, 0.0
    if len(memory.followed) >= MAX_LINKS:
        return None
    labels = [meant(label) for label in view.labels]
    for number, element in enumerate(labels):
        role = names.role(element)
        if role not in ("link", "button"):
            continue
        name = names.name(element, role)
        key = (element.get("href") or "", name)
        words = words_of(name)
        shared = len(words & wanted)
        # Of two links with as many of its words, the shorter one says more surely what was meant.
        score = shared + shared / (len(words) + 1)
        if shared and score > most and key not in memory.followed:
            best, most = number, score
    if best is not None:
        element = labels[best]
        memory.followed.add((element.get("href") or "", names.name(element, names.role(element))))
    return best


def best_guess(view: View, instruction: str) -> str:
    """The line of the page with the most words of the instruction; of that the number where one was asked for."""
    wanted = words_of(instruction)
    lines = [line.lstrip("# ") for line in compact_text(view, most_tokens=5_000).splitlines() if line[:1] not in "[("]
    counted = _COUNTED.search(instruction) is not None
    fitting = [line for line in lines if not counted or _NUMBER.search(line)]
    line = max(fitting, key=lambda line: len(words_of(line) & wanted), default="")
    number = _NUMBER.search(line) if counted else None
    return number[0] if number else line[:200]


def words_of(text: str) -> set[str]:
    """The words that tell something."""
    return {word for word in _WORD.findall(text.lower()) if word not in _COMMON}
