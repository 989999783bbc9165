"""Names that nothing else in the world has: of people and places in the sounds of a country, of works, of events."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from agentrl.envs.common.data_files import data_file
from agentrl.envs.multihop.questions import normalised
from agentrl.envs.multihop.world.relations import PACKAGE

TRIES = 200


class Namer:
    """Makes names, each of them once."""

    def __init__(self, rng: Random) -> None:
        found = data_file(PACKAGE, "names.toml")
        self.styles: list[dict[str, list[str]]] = found["styles"]
        self.shares: dict[str, dict[str, int]] = found["shares"]
        self._words: dict[str, list[str]] = found["words"]
        self._patterns: dict[str, list[str]] = found["patterns"]
        self._rng = rng
        self._taken: set[str] = set()

    def kind_of(self, kind: str) -> str:
        """What kind of person, organisation, work or event, at random."""
        shares = self.shares[kind]
        return self._rng.choices(list(shares), list(shares.values()))[0]

    def person(self, style: int, woman: bool) -> tuple[str, str, str]:
        """Full name, surname, and the name with an initial in the middle, under which the person is also known."""
        name = self._new(lambda: f"{self._given(style, woman)} {self._surname(style)}", "for people")
        given, surname = name.split(" ")
        return name, surname, f"{given} {self._given(style, woman)[0]}. {surname}"

    def _given(self, style: int, woman: bool) -> str:
        ending = self._rng.choice(self.styles[style]["women" if woman else "men"])
        return (self._syllables(style, self._rng.choice((1, 1, 2)), closed=False) + ending).capitalize()

    def _surname(self, style: int) -> str:
        name = self._syllables(style, self._rng.choice((1, 2, 2))) + self._rng.choice(self.styles[style]["surnames"])
        return name.capitalize()

    def place(self, style: int, ending: bool = True) -> str:
        """A city, or without its ending something that is none."""
        rng, cities = self._rng, self.styles[style]["cities"]

        def make() -> str:
            name = self._syllables(style, rng.choice((1, 2, 2, 3) if ending else (2, 3)))
            return (name + (rng.choice(cities) if ending else "a")).capitalize()

        return self._new(make, "for places")

    def region(self, style: int) -> str:
        """A part of a country."""
        return self._rng.choice(self._patterns["region"]).format(name=self.place(style, ending=False))

    def made(self, kind: str, style: int, city: str, city2: str) -> str:
        """A name of a work, or of this kind of organisation or event."""
        rng, words, patterns = self._rng, self._words, self._patterns[kind]

        def make() -> str:
            fields = {"city": city, "city2": city2, "ordinal": rng.choice(self._patterns["ordinals"])}
            fields |= {name: self._surname(style) for name in ("surname", "surname2")}
            fields |= {"field": rng.choice(words["fields"]), "given": self._given(style, rng.random() < 0.5)}
            fields |= {name: rng.choice(words["adjectives"]) for name in ("adjective", "adjective2")}
            fields |= {name: rng.choice(words["nouns"]) for name in ("noun", "noun2")}
            return rng.choice(patterns).format(**fields)

        return self._new(make, f"of the kind {kind!r}")

    def _syllables(self, style: int, count: int, closed: bool = True) -> str:
        sounds, choice = self.styles[style], self._rng.choice
        parts = [choice(sounds["onsets"]) + choice(sounds["vowels"]) for _ in range(count)]
        return "".join(parts) + (choice(sounds["codas"]) if closed else choice(sounds["codas"][-3:]))

    def _new(self, make: Callable[[], str], what: str) -> str:
        """A name that was not taken before."""
        for _ in range(TRIES):
            name = make()
            if (key := normalised(name)) not in self._taken:
                self._taken.add(key)
                return name
        raise RuntimeError(f"there are no more names {what}")
