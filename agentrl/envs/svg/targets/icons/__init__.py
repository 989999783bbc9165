"""Icons by the number: `icon(split, grade, index)` is the same SVG code everywhere, and in one split only."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import count

from agentrl.envs.svg.targets.icons import abstract, curves, objects, plain, scenes, turned
from agentrl.envs.svg.targets.letters import set_type, write
from agentrl.envs.svg.targets.pen import CANVAS, PALETTES, Hues, Rng, rect, tag
from agentrl.envs.svg.truth.colours import hexadecimal, read_colour

GRADES = (1, 2, 3, 4, 5)
LETTERS = ("strokes", "font")
NAMESPACE = "http://www.w3.org/2000/svg"
MAX_SIZE = 2000  # bytes
SHADE = 16  # by how much a palette's colour may be off, of 255
ABSTRACT_SHARE = 0.25  # how many icons show nothing in particular
# How the space of contents is divided: of 10 parts by hash.
SHARES = {"train": range(0, 8), "dev": range(8, 9), "test": range(9, 10)}
_SCRIPTS = {"strokes": write, "font": set_type}
_RECIPES = {1: plain.RECIPES, 2: objects.RECIPES, 3: curves.RECIPES, 4: turned.RECIPES}


def owner(content: str) -> str:
    """The split that a content belongs to, whatever it is called or where it comes from."""
    part = int.from_bytes(hashlib.blake2b(content.encode(), digest_size=8).digest(), "little") % 10
    return next(split for split, parts in SHARES.items() if part in parts)


@lru_cache(maxsize=4096)
def icon(split: str, grade: int, index: int, letters: str = "strokes") -> str:
    """Icon number `index` of a grade in a split: tried out until the content is one that the split owns."""
    for attempt in count():
        code = draw(Rng(grade, split, index, attempt), grade, letters)
        if len(code.encode()) <= MAX_SIZE and owner(code) == split:
            return code
    raise AssertionError("count() never ends")


def draw(rng: Rng, grade: int, letters: str = "strokes") -> str:
    """One whole icon of a grade, of whichever split."""
    hues = _hues(rng, plain_names=grade == 1)
    if rng.chance(ABSTRACT_SHARE):
        parts = abstract.composition(grade)(rng, hues)
    elif grade == 5:
        parts = rng.pick(scenes.RECIPES)(rng, hues, _SCRIPTS[letters])
    else:
        parts = rng.pick(_RECIPES[grade])(rng, hues)
    return tag("svg", *_ground(rng, hues), *parts, xmlns=NAMESPACE, viewBox=f"0 0 {CANVAS} {CANVAS}")


def _hues(rng: Rng, plain_names: bool) -> Hues:
    """A palette, its three strong colours in any order; no two icons have quite the same ones, unless by name."""
    paper, *strong, dark = rng.pick(PALETTES)
    colours = [*rng.several(strong, 3), dark]
    main, second, accent, deep = colours if plain_names else [_near(rng, colour) for colour in colours]
    return Hues(paper, main, second, accent, deep)


def _near(rng: Rng, colour: str) -> str:
    red, green, blue = (min(255, max(0, part + rng.whole(-SHADE, SHADE))) for part in read_colour(colour) or (0, 0, 0))
    return hexadecimal((red, green, blue))


def _ground(rng: Rng, hues: Hues) -> list[str]:
    kind = rng.whole(0, 3)
    if kind == 0:
        return [rect(0, 0, CANVAS, CANVAS, hues.paper)]
    return [rect(0, 0, CANVAS, CANVAS, hues.paper, rx=rng.whole(8, 24))] if kind == 1 else []
