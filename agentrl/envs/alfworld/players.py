"""A player without the truth: it reads the text alone, searches likely places first, and then does the errand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import gymnasium as gym

from agentrl.core.policy import Conversation, Generation, as_generation
from agentrl.envs.alfworld.games import ABILITY, DONE_AT, INSTRUCTIONS, LOOK
from agentrl.envs.alfworld.homes import tables

SEEN = re.compile(r"(?:On the|The) (\w+ \d+)(?:, you see| is open\. In it, you see) ([^.]*)\.")
CLOSED = re.compile(r"The (\w+ \d+) is closed\.")
NAME = re.compile(r"a (\w+ \d+)")


@dataclass
class Notes:
    """What the texts so far have told."""

    thing: str = ""
    target: str = ""  # a receptacle, or the lamp
    family: str = ""  # of the task
    receptacles: list[str] = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=dict)  # receptacle -> what was seen there last
    closed: set[str] = field(default_factory=set)
    here: str = ""
    held: str = ""
    treated: bool = False
    placed: str = ""  # where things of the task were put

    def read(self, text: str, command: str) -> None:
        """Take in an answer to a command."""
        if not self.thing:
            self._read_task(text)
        words = command.split()
        if "Nothing happens." in text:
            return
        if words[:2] == ["go", "to"]:
            self.here = " ".join(words[2:])
        elif words[:1] == ["take"]:
            self.held, self.treated = " ".join(words[1:3]), False
            self.inside[self.here] = [one for one in self.inside.get(self.here, []) if one != self.held]
        elif words[:1] in (["move"], ["put"]):
            self.placed, self.held = " ".join(words[-2:]), ""
            self.inside.setdefault(self.placed, []).append(" ".join(words[1:3]))
        elif words[:1] and words[0] in ABILITY.values():
            self.treated = True
        for place, things in SEEN.findall(text):
            self.inside[place] = NAME.findall(things)
            self.closed.discard(place)
        self.closed.update(CLOSED.findall(text))

    def _read_task(self, text: str) -> None:
        self.receptacles = NAME.findall(text.partition("you see")[2].partition("Your task")[0])
        task = text.partition("Your task is to: ")[2].partition(".")[0]
        for family, forms in INSTRUCTIONS.items():
            for form in forms:
                pattern = form.format(thing=r"(\w+)", receptacle=r"(\w+)", lamp=r"(\w+)")
                if found := re.fullmatch(pattern, task):
                    self.family, (self.thing, self.target) = family, found.groups()

    def command(self) -> str:
        """What to do next."""
        if self.held.split(" ")[0] == self.thing:
            return self._with_the_thing()
        if self.held:  # something else: out of the hand
            return f"move {self.held} to {self.here}"
        left = [place for place in self.inside if place.split(" ")[0] != self.target and place != self.placed]
        return self._fetch(self.thing, "take {thing} from {place}", left)

    def _with_the_thing(self) -> str:
        if self.family in DONE_AT and not self.treated:
            return self._at(DONE_AT[self.family], f"{ABILITY[self.family]} {self.held} with {{}}")
        if self.family == LOOK:
            return self._fetch(self.target, "use {thing}", self.inside)
        second = self.placed.split(" ")[0] == self.target  # goes where the first is
        return self._at(self.placed if second else self.target, f"move {self.held} to {{}}", opens=True)

    def _at(self, what: str, command: str, *, opens: bool = False) -> str:
        """A command at the first receptacle of this kind (or name)."""
        place = next((one for one in self.receptacles if what in (one, one.split(" ")[0])), "")
        if not place:
            return "look"
        if self.here != place:
            return f"go to {place}"
        return f"open {place}" if opens and place in self.closed else command.format(place)

    def _fetch(self, kind: str, command: str, places: Iterable[str]) -> str:
        """A command with the first thing of this kind that was seen in these places; else a search for one."""
        for place in places:
            for thing in self.inside[place]:
                if thing.split(" ")[0] == kind:
                    return command.format(thing=thing, place=place) if place == self.here else f"go to {place}"
        return self._search(kind)

    def _search(self, kind: str) -> str:
        """Look where things of this kind usually are."""
        if self.here in self.closed:
            return f"open {self.here}"
        known = tables()["kinds"].get(kind)
        likely, possible = (known.usual, known.fits) if known else ((), ())
        left = [one for one in self.receptacles if one not in self.inside]
        left.sort(key=lambda one: (one.split(" ")[0] not in likely, one.split(" ")[0] not in possible))
        return f"go to {left[0]}" if left else "look"


class Searcher:
    """Searches usual places first (ALFWorld); it reads only what a language model would read."""

    name = "alfworld-search"
    needs_text = True

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed  # every policy takes one; this one has nothing random

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One command for each conversation."""
        return [as_generation(self.answer(conversation)) for conversation in conversations]

    def answer(self, conversation: Conversation) -> str:
        """Read the whole conversation again, then choose."""
        notes, command = Notes(), ""
        for message in conversation:
            if message["role"] == "assistant":
                command = message["content"].strip()
            elif message["role"] in ("user", "tool"):
                notes.read(message["content"], command)
        return notes.command()
