"""A world made from a seed: people, places, organisations, works and events, and what is true of them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agentrl.core.env import SPLITS
from agentrl.envs.multihop.world.names import Namer
from agentrl.envs.multihop.world.relations import work_words

VERSION = 1  # raise it with every change of pages or questions
SMALLEST, LARGEST = 1_000, 30_000
SHARES = {"country": 0.003, "region": 0.022, "river": 0.018, "city": 0.12, "org": 0.15, "work": 0.2, "event": 0.047}
SPLIT_SHARES = (0.7, 0.15, 0.15)  # of the pages that questions of a split are about
FIRST_FILMS, FIRST_RAILWAYS = 1865, 1780  # when those were born who made them
AT_HOME = 0.6  # how often a fact is looked for among the pages of the same split
OFTEN = 0.8  # how often a page states a fact that it need not state
# When the founders of organisations were born; universities are old, so that people can have studied there.
FOUNDERS = {"university": (0, 1690), "film studio": (FIRST_FILMS, 3000), "railway company": (FIRST_RAILWAYS, 3000)}


@dataclass(eq=False)
class Entity:
    """What one page is about."""

    number: int
    title: str
    kind: str
    noun: str  # what kind of person, organisation, work or event; else the kind again
    split: str  # whose questions it may support
    style: int  # of names in its country
    country: int
    short: str = ""
    woman: bool = False
    aliases: tuple[str, ...] = ()
    facts: dict[str, int] = field(default_factory=dict)  # relation -> page
    values: dict[str, int] = field(default_factory=dict)  # relation -> number


class World:
    """`size` entities, all decided by `seed`."""

    def __init__(self, seed: int = 0, size: int = 20_000) -> None:
        self.seed, self.size = seed, size
        self.entities: list[Entity] = []
        self._rng = Random(f"world {self.seed}")
        self._namer = Namer(self._rng)
        self._make_places()
        people = self._make_people(self.size - len(self.entities) - sum(map(self._share, ("org", "work", "event"))))
        orgs = self._make_organisations(people)
        works = self._make_works(people, orgs)
        self._make_events(people, orgs, works)
        self._tell_lives(people, orgs)
        self._tell_places(people, works)
        self.holders: dict[tuple[str, int], list[Entity]] = defaultdict(list)  # of which this is stated of that page
        for entity in self.entities:
            for fact in entity.facts.items():
                self.holders[fact].append(entity)

    def of_kind(self, kind: str) -> list[Entity]:
        """All entities of a kind."""
        return [entity for entity in self.entities if entity.kind == kind]

    def _share(self, kind: str) -> int:
        return max(4, round(SHARES[kind] * self.size))

    # ------------------------------------------------------------------ who and what there is

    def _add(self, title: str, kind: str, near: Entity | None, **more: Any) -> Entity:
        split = self._rng.choices(SPLITS, SPLIT_SHARES)[0]
        number = len(self.entities)
        style = self._rng.randrange(len(self._namer.styles)) if near is None else near.style
        country = number if near is None else near.country
        entity = Entity(number, title, kind, split=split, style=style, country=country, **{"noun": kind, **more})
        entity.short = entity.short or f"the {entity.noun}"
        self.entities.append(entity)
        return entity

    def _make_places(self) -> None:
        rng, namer = self._rng, self._namer
        for _ in range(self._share("country")):
            country = self._add("", "country", None)
            country.title = namer.place(country.style, ending=False)
        countries = list(self.entities)
        for _ in range(self._share("region")):
            country = rng.choice(countries)
            self._add(namer.region(country.style), "region", country)
        regions = self.of_kind("region")
        for _ in range(self._share("river")):
            country = rng.choice(countries)
            name = namer.place(country.style, ending=False)
            river = self._add(f"River {name}", "river", country, aliases=(name,))
            river.values["length"] = rng.randrange(40, 2400)
        for _ in range(self._share("city")):
            region = rng.choice(regions)
            city = self._add(namer.place(region.style), "city", region)
            city.facts["region"] = region.number
            city.values["population"] = round(1000 * 10 ** rng.uniform(0.3, 3.3)) + rng.randrange(1000)

    def _make_people(self, count: int) -> list[Entity]:
        rng, namer = self._rng, self._namer
        cities = self.of_kind("city")
        for year in sorted(rng.randrange(1640, 1985) for _ in range(count)):
            home, woman = rng.choice(cities), rng.random() < 0.5
            name, surname, alias = namer.person(home.style, woman)
            noun = namer.kind_of("person")
            noun = "playwright" if noun == "film director" and year < FIRST_FILMS else noun
            person = self._add(name, "person", home, noun=noun, short=surname, woman=woman, aliases=(alias,))
            person.values["year"] = year
            person.facts["birthplace"] = self._pick(cities, person, country=home.country).number
        return self.of_kind("person")

    def _make_organisations(self, people: Sequence[Entity]) -> list[Entity]:
        rng, namer, cities = self._rng, self._namer, self.of_kind("city")
        for _ in range(self._share("org")):
            noun, seat, other = namer.kind_of("org"), rng.choice(cities), rng.choice(cities)
            title = namer.made(noun, seat.style, seat.title, other.title)
            org = self._add(title, "org", seat, noun=noun)
            if title.startswith("University of "):
                org.aliases = (f"{seat.title} University",)
            elif "&" in title:
                org.aliases = (title.replace("&", "and"),)
            founder = self._pick(_born(people, *FOUNDERS.get(noun, (0, 3000))), org)
            org.facts["founder"], org.values["year"] = founder.number, founder.values["year"] + rng.randrange(24, 60)
            org.facts["seat"] = self._pick(cities, org, country=seat.country).number
            self._sometimes(org, "director", _born(people, org.values["year"] - 30, org.values["year"] + 60))
        orgs = sorted(self.of_kind("org"), key=_year)
        for place, org in enumerate(orgs):
            self._sometimes(org, "successor", orgs[place + 1 :])
        return orgs

    def _make_works(self, people: Sequence[Entity], orgs: Sequence[Entity]) -> list[Entity]:
        rng, namer, cities = self._rng, self._namer, self.of_kind("city")
        makers, issuers = _by_noun(people), _by_noun(orgs)
        known = work_words()
        able = {noun: [one for each in known[noun]["makers"] for one in makers.get(each, ())] for noun in known}
        for _ in range(self._share("work")):
            noun, place = namer.kind_of("work"), rng.choice(cities)
            work = self._add(namer.made("work", place.style, place.title, place.title), "work", place, noun=noun)
            maker = self._pick(able[noun] or people, work)
            year = work.values["year"] = maker.values["year"] + rng.randrange(22, 55)
            work.facts["creator"] = maker.number
            self._sometimes(work, "publisher", _born(issuers.get(known[noun]["issuer"], []), 0, year))
            self._sometimes(work, "place", cities)
            self._sometimes(work, "dedicatee", _born(people, year - 80, year - 15))
        return sorted(self.of_kind("work"), key=_year)

    def _make_events(self, people: Sequence[Entity], orgs: Sequence[Entity], works: Sequence[Entity]) -> None:
        rng, namer, cities = self._rng, self._namer, self.of_kind("city")
        for _ in range(self._share("event")):
            noun, host, other = namer.kind_of("event"), rng.choice(cities), rng.choice(cities)
            title = namer.made(noun, host.style, host.title, other.title)
            event = self._add(title, "event", host, noun=noun)
            leader = self._pick(people, event)
            year = event.values["year"] = leader.values["year"] + rng.randrange(28, 62)
            event.facts["leader"] = leader.number
            event.facts["host"] = self._pick(cities, event, country=host.country).number
            self._sometimes(event, "organiser", _born(orgs, 0, year))
            self._sometimes(event, "honours", _born(works, 0, year))

    # ------------------------------------------------------------------ what is true of them

    def _tell_lives(self, people: Sequence[Entity], orgs: Sequence[Entity]) -> None:
        rng, cities = self._rng, self.of_kind("city")
        schools = _by_noun(orgs)["university"]
        for person in people:
            year = person.values["year"]
            person.values["end"] = year + rng.randrange(34, 92)
            self._sometimes(person, "deathplace", cities)
            self._sometimes(person, "school", _born(schools, 0, year + 17))
            self._sometimes(person, "employer", _born(orgs, 0, year + 50))
            self._sometimes(person, "teacher", _born(people, year - 50, year - 14))
            if "spouse" not in person.facts and rng.random() < OFTEN:
                others = [other for other in _born(people, year - 12, year + 12) if "spouse" not in other.facts]
                if others and (other := self._pick(others, person)) is not person:
                    person.facts["spouse"], other.facts["spouse"] = other.number, person.number

    def _tell_places(self, people: Sequence[Entity], works: Sequence[Entity]) -> None:
        cities, regions, rivers = map(self.of_kind, ("city", "region", "river"))
        for city in cities:
            city.facts["river"] = self._pick(rivers, city, country=city.country).number
            self._sometimes(city, "patron", people)
            self._sometimes(city, "twin", cities)
        for region in regions:
            inside = [city for city in cities if city.facts["region"] == region.number]
            region.facts["capital"] = self._pick(inside or cities, region).number
            self._sometimes(region, "governor", people)
            self._sometimes(region, "landmark", works)
        for river in rivers:
            river.facts["mouth"] = self._pick(cities, river, country=river.country).number
            river.facts["source"] = self._pick(regions, river, country=river.country).number
            self._sometimes(river, "surveyor", people)

    def _sometimes(self, entity: Entity, relation: str, pool: Sequence[Entity]) -> None:
        if pool and self._rng.random() < OFTEN and (found := self._pick(pool, entity)) is not entity:
            entity.facts[relation] = found.number

    def _pick(self, pool: Sequence[Entity], entity: Entity, country: int | None = None) -> Entity:
        """One of them: often of the same split, and of this country where one is named and found soon."""
        rng = self._rng
        at_home = rng.random() < AT_HOME
        found = pool[rng.randrange(len(pool))]
        for _ in range(24):
            near = country is None or found.country == country
            if near and (not at_home or found.split == entity.split) and found is not entity:
                break
            found = pool[rng.randrange(len(pool))]
        return found


def _year(entity: Entity) -> int:
    return entity.values["year"]


def _born(pool: Sequence[Entity], first: int, last: int) -> Sequence[Entity]:
    """Those of a pool, sorted by year, that began in these years."""
    return pool[bisect_left(pool, first, key=_year) : bisect_left(pool, last + 1, key=_year)]


def _by_noun(pool: Sequence[Entity]) -> dict[str, list[Entity]]:
    found = defaultdict(list)
    for entity in pool:
        found[entity.noun].append(entity)
    return found
