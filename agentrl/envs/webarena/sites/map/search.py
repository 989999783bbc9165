"""Search: names, addresses, kinds of places ("cafes near the station"), coordinates.

Results are ranked by how well the name fits, then by how near they are to what is shown on the map.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from agentrl.envs.webarena.sites.map import geo
from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature
from agentrl.envs.webarena.sites.map.categories import CATEGORIES, CUISINES
from agentrl.envs.webarena.sites.map.geo import Point

LONGEST = 300  # characters of a query that are looked at
_NEAR = re.compile(r"^(.+?)\s+(nearest to|closest to|close to|next to|near|around|by|in|at)\s+(.+)$", re.I)
_NEAREST = re.compile(r"^(?:the\s+)?(?:nearest|closest)\s+(.+?)\s+(to)\s+(.+)$", re.I)
_ASKING = re.compile(r"^(?:the\s+)?(?:nearest|closest|find|all)\s+", re.I)


@dataclass(frozen=True)
class Hit:
    """A search result; `metres` from the place that results were to be near, if there was one."""

    feature: Feature
    metres: float | None = None


@dataclass(frozen=True)
class Wanted:
    """A kind of place that a query asks for."""

    category: str
    cuisine: str = ""


def words(text: str) -> tuple[str, ...]:
    """Lower-case words without accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text[:LONGEST]).encode("ascii", "ignore").decode().lower()
    return tuple(re.findall(r"[a-z0-9]+", plain.replace("'", "")))


class Index:
    """The words of all features."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self.names: list[tuple[str, ...]] = []
        self._everywhere: dict[str, set[int]] = {}
        for number, feature in enumerate(atlas.features):
            self.names.append(words(feature.name))
            for word in words(f"{feature.name} {feature.display_name} {feature.label}"):
                self._everywhere.setdefault(word, set()).add(number)

    def with_all(self, wanted: Iterable[str]) -> set[int]:
        """The features that have every one of these words somewhere in name, address or kind."""
        lists = sorted((self._everywhere.get(word, set()) for word in wanted), key=len)
        return set.intersection(*lists) if lists else set()

    def with_most(self, wanted: tuple[str, ...]) -> set[int]:
        """The features with the greatest number of these words, where that is more than half."""
        counts: dict[int, int] = {}
        for word in dict.fromkeys(wanted):
            for number in self._everywhere.get(word, ()):
                counts[number] = counts.get(number, 0) + 1
        most = max(counts.values(), default=0)
        return {number for number, count in counts.items() if count == most} if 2 * most > len(wanted) else set()


@lru_cache(2)
def index(atlas: Atlas) -> Index:
    """The index of an atlas, built when it is first needed."""
    return Index(atlas)


@lru_cache(512)
def search(atlas: Atlas, query: str, around: Point) -> tuple[Hit, ...]:
    """All results, best first; `around` is the middle of what the map shows."""
    text = " ".join(query[:LONGEST].split())
    if not text:
        return ()
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
    first = words(text.split(",")[0])
    ranked = sorted(
        (_fit(known.names[number], wanted, first, atlas.features[number]), _size(atlas.features[number]),
         atlas.features[number].metres_to(*around), number)
        for number in numbers
    )  # fmt: skip
    if exact and (not ranked or ranked[0][0] > 0):  # nothing has this very name or address
        return ()
    return tuple(Hit(atlas.features[number]) for *_, number in ranked)


def _fit(name: tuple[str, ...], wanted: tuple[str, ...], first: tuple[str, ...], feature: Feature) -> int:
    """How well a feature fits: 0 is its very name or address, then names that begin so, contain it, the rest."""
    if name in (wanted, first):
        return 0
    address = words(f"{feature.number} {feature.street}") if feature.number else ()
    if address and (address in (wanted, first) or (*address[1:], address[0]) in (wanted, first)):
        return 0
    if name[: len(wanted)] == wanted:
        return 1
    return 2 if set(wanted) <= set(name) else 3


def _size(feature: Feature) -> int:
    """Towns before places before streets before bus stops and houses."""
    if feature.kind == "settlement":
        return 0
    if feature.category in ("bus_stop", "house", "atm"):
        return 3
    return 2 if feature.kind == "street" else 1


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
    for cuisine in CUISINES:
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
    known, names = index(atlas), words(_ASKING.sub("", what))
    named = (number for number in known.with_all(names) if set(names) <= set(known.names[number]))
    return [atlas.features[number] for number in named if atlas.features[number].kind == "place"]


def _of_kind(atlas: Atlas, wanted: Wanted) -> list[Feature]:
    places = atlas.by_category.get(wanted.category, [])
    return [place for place in places if wanted.cuisine in ("", place.tags.get("cuisine"))]


def _sorted(features: list[Feature], centre: Point, *, near: bool) -> tuple[Hit, ...]:
    measured = sorted((feature.metres_to(*centre), feature.id, feature) for feature in features)
    return tuple(Hit(feature, metres if near else None) for metres, _, feature in measured)
