"""Search: names, addresses, kinds of places ("cafes near the station"), coordinates.

Results are ranked by how well the name fits, then by how near they are to what is shown on the map.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from agentrl.envs.webarena.sites.map import geo
from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature
from agentrl.envs.webarena.sites.map.geo import Point
from agentrl.envs.webarena.sites.map.words import CATEGORIES, WORDS

MAX_LENGTH = 300  # characters of a query that are looked at
_NEAR = re.compile(r"^(.+?)\s+(nearest to|closest to|close to|next to|near|around|by|in|at)\s+(.+)$", re.I)
_NEAREST = re.compile(r"^(?:the\s+)?(?:nearest|closest)\s+(.+?)\s+(to)\s+(.+)$", re.I)
_ASKING = re.compile(r"^(?:the\s+)?(?:nearest|closest|find|all)\s+", re.I)


class Hit(NamedTuple):
    """A search result; `metres` from the place that results were to be near, if there was one."""

    feature: Feature
    metres: float | None = None


class Wanted(NamedTuple):
    """A kind of place that a query asks for."""

    category: str
    cuisine: str = ""


def words(text: str) -> tuple[str, ...]:
    """Lower-case words without accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text[:MAX_LENGTH]).encode("ascii", "ignore").decode().lower()
    return tuple(re.findall(r"[a-z0-9]+", plain.replace("'", "")))


class Index:
    """The words of all features, and what their order depends on."""

    def __init__(self, atlas: Atlas) -> None:
        self.names = [words(feature.name) for feature in atlas.features]
        self._everywhere: dict[str, set[int]] = {}
        self._in_names: dict[str, set[int]] = {}
        self._whole: dict[tuple[str, ...], list[int]] = {}  # a name or an address
        for number, feature in enumerate(atlas.features):
            for word in words(f"{feature.name} {feature.display_name} {feature.label}"):
                self._everywhere.setdefault(word, set()).add(number)
            for word in self.names[number]:
                self._in_names.setdefault(word, set()).add(number)
            whole = {self.names[number]}
            if feature.number:
                whole |= {words(f"{feature.number} {feature.street}"), words(f"{feature.street} {feature.number}")}
            for text in whole:
                self._whole.setdefault(text, []).append(number)
        # Towns before places before streets before bus stops and houses.
        sizes = {"settlement": 0, "place": 1, "street": 2}
        small = ("bus_stop", "house", "atm")
        self._sizes = np.array([3 if each.category in small else sizes[each.kind] for each in atlas.features])
        self._spots = np.array([geo.to_metres(feature.lat, feature.lon) for feature in atlas.features])

    def with_all(self, wanted: Iterable[str]) -> set[int]:
        """The features that have every one of these words somewhere in name, address or kind."""
        return _common(self._everywhere, wanted)

    def named(self, wanted: Iterable[str]) -> set[int]:
        """The features that have every one of these words in their name."""
        return _common(self._in_names, wanted)

    def with_most(self, wanted: tuple[str, ...]) -> set[int]:
        """The features with the greatest number of these words, where that is more than half."""
        counts: dict[int, int] = {}
        for word in dict.fromkeys(wanted):
            for number in self._everywhere.get(word, ()):
                counts[number] = counts.get(number, 0) + 1
        most = max(counts.values(), default=0)
        return {number for number, count in counts.items() if count == most} if 2 * most > len(wanted) else set()

    def ranked(self, numbers: set[int], text: str, around: Point, *, exact: bool) -> list[int]:
        """Features in the order of results; with `exact`, none unless one has this very name or address.

        Names and addresses that are just what was typed come first (`fits` 0; what stands before a comma is enough),
        then names that begin with it, names that contain it, and the rest.
        """
        wanted, first = words(text), words(text.split(",")[0])
        fits = np.full(len(self.names), 3)
        for number in self.named(wanted):
            fits[number] = 1 if self.names[number][: len(wanted)] == wanted else 2
        fits[self._whole.get(wanted, [])] = 0
        fits[self._whole.get(first, [])] = 0
        found = np.fromiter(sorted(numbers), dtype=int, count=len(numbers))
        gaps = ((self._spots[found] - np.array(geo.to_metres(*around))) ** 2).sum(1)
        found = found[np.lexsort((gaps, self._sizes[found], fits[found]))]
        return [] if exact and (not len(found) or fits[found[0]]) else found.tolist()


def _common(lists: dict[str, set[int]], wanted: Iterable[str]) -> set[int]:
    found = sorted((lists.get(word, set()) for word in wanted), key=len)
    return set.intersection(*found) if found else set()


@lru_cache(2)
def index(atlas: Atlas) -> Index:
    """The index of an atlas, built when it is first needed."""
    return Index(atlas)


def search(atlas: Atlas, query: str, around: Point) -> tuple[Hit, ...]:
    """All results, best first; `around` is the middle of what the map shows."""
    text = " ".join(query[:MAX_LENGTH].split())
    return _search(atlas, text, around) if text else ()


@lru_cache(64)
def _search(atlas: Atlas, text: str, around: Point) -> tuple[Hit, ...]:
    if (point := geo.parse(text)) is not None:
        return whereabouts(atlas, point)
    if found := _by_name(atlas, text, around, exact=True):
        return found
    if (wanted := kind_of_place(text)) is not None:
        return _sorted(_of_kind(atlas, wanted), around, near=False)
    if found := _near(atlas, text, around):
        return found
    return _by_name(atlas, text, around) or _by_name(atlas, text, around, loose=True)


def find(atlas: Atlas, text: str, around: Point) -> Feature | None:
    """The best result, for a field of the directions form."""
    hits = search(atlas, text, around)
    return hits[0].feature if hits else None


def whereabouts(atlas: Atlas, point: Point) -> tuple[Hit, ...]:
    """What there is at a point: the nearest place, street and town."""
    lat, lon = point
    nearest = atlas.at.get(f"{lat:.5f},{lon:.5f}") or atlas.nearest(lat, lon, 1)[0][1]
    hits = [Hit(nearest, nearest.metres_to(lat, lon))]
    snap = atlas.graph.snap(lat, lon, "foot")
    street = atlas.by_id.get(atlas.graph.roads[snap.road].way.id) if snap else None
    if street is not None and snap is not None and street is not nearest:
        hits.append(Hit(street, geo.distance(lat, lon, *atlas.graph.place(snap))))
    for kinds in (("District",), ("City", "Town")):
        inside = [place for place in atlas.settlements if place.label in kinds and place is not nearest]
        town = min(inside, key=lambda place: place.metres_to(lat, lon))
        if town.metres_to(lat, lon) < 8_000:
            hits.append(Hit(town, town.metres_to(lat, lon)))
    return tuple(hits) if hits[0].metres is not None and hits[0].metres < 200_000 else ()


# ---------------------------------------------------------------------- names and addresses


def _by_name(atlas: Atlas, text: str, around: Point, *, exact: bool = False, loose: bool = False) -> tuple[Hit, ...]:
    known, wanted = index(atlas), words(text)
    numbers = known.with_most(wanted) if loose else known.with_all(wanted)
    return tuple(Hit(atlas.features[number]) for number in known.ranked(numbers, text, around, exact=exact))


# ---------------------------------------------------------------------- kinds of places


@lru_cache(1)
def _kinds() -> dict[tuple[str, ...], str]:
    found = {}
    for category in CATEGORIES.values():
        for text in (category.label, category.plural, category.value.replace("_", " "), *category.synonyms):
            found.setdefault(words(text), category.value)
    return found


def kind_of_place(text: str) -> Wanted | None:
    """ "cafes", "nearest Italian restaurant", "24/7 pharmacies" is none; None where the text is no kind of place."""
    wanted = words(_ASKING.sub("", text))
    if wanted in _kinds():
        return Wanted(_kinds()[wanted])
    for cuisine in WORDS["cuisines"]:
        kitchen = words(cuisine.replace("_", " "))
        rest = wanted[len(kitchen) :]
        if wanted[: len(kitchen)] == kitchen and _kinds().get(rest or ("restaurant",)) in ("restaurant", "fast_food"):
            return Wanted(_kinds()[rest or ("restaurant",)], cuisine)
    return None


def _near(atlas: Atlas, text: str, around: Point) -> tuple[Hit, ...]:
    """ "cafes near the station", "hotels in Ashgrove", "Harvest Lane near Old Town"."""
    found = _NEAREST.match(text) or _NEAR.match(text)
    parts = found.groups() if found else re.split(r"(,)(?=[^,]*$)", text, maxsplit=1)
    if len(parts) != 3:
        return ()
    what, how, where = parts
    centre, place = geo.parse(where), None
    if centre is None:
        place = find(atlas, where, around)
        if place is None:
            return ()
        centre = (place.lat, place.lon)
    spots = [spot for spot in _candidates(atlas, what) if spot is not place]
    if place is not None and place.kind == "settlement" and how.lower() in ("in", ","):
        spots = [spot for spot in spots if place.name in (spot.settlement, spot.district)]
    return _sorted(spots, centre, near=True)


def _candidates(atlas: Atlas, what: str) -> list[Feature]:
    """Places of a kind, or with a name."""
    wanted = kind_of_place(what)
    if wanted is not None:
        return _of_kind(atlas, wanted)
    named = index(atlas).named(words(_ASKING.sub("", what)))
    return [atlas.features[number] for number in named if atlas.features[number].kind == "place"]


def _of_kind(atlas: Atlas, wanted: Wanted) -> list[Feature]:
    places = atlas.by_category.get(wanted.category, [])
    return [place for place in places if wanted.cuisine in ("", place.tags.get("cuisine"))]


def _sorted(features: list[Feature], centre: Point, *, near: bool) -> tuple[Hit, ...]:
    measured = sorted((feature.metres_to(*centre), feature.id, feature) for feature in features)
    return tuple(Hit(feature, metres if near else None) for metres, _, feature in measured)
