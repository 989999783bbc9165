"""Icons by the number: `icon(split, grade, index)` is the same SVG code everywhere, and in one split only."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import count

from agentrl.envs.svg.targets.icons import scenes, turned
from agentrl.envs.svg.targets.icons.objects import CURVES, OBJECTS, PLAIN
from agentrl.envs.svg.targets.pen import (
    CANVAS,
    PALETTES,
    Hues,
    Rng,
    around,
    circle,
    ellipse,
    gradient,
    line,
    number,
    path,
    polygon,
    polyline,
    rect,
    set_type,
    tag,
    write,
)
from agentrl.envs.svg.truth.shapes import hexadecimal, read_colour

GRADES = (1, 2, 3, 4, 5)
LETTERS = ("strokes", "font")
NAMESPACE = "http://www.w3.org/2000/svg"
MAX_SIZE = 2000  # bytes
SHADE = 16  # by how much a palette's colour may be off, of 255
ABSTRACT_SHARE = 0.25  # how many icons show nothing in particular
# How the space of contents is divided: of 10 parts by hash.
SHARES = {"train": range(0, 8), "dev": range(8, 9), "test": range(9, 10)}
_SCRIPTS = {"strokes": write, "font": set_type}
# The elements of abstract icons, in the order in which grades may use them.
KINDS = (
    *("dot", "slab", "triangle", "lens", "stroke", "ring", "zigzag", "wave", "blob", "pie", "tilted", "dashes"),
    "swarm",
)
_RECIPES = {1: PLAIN, 2: OBJECTS, 3: CURVES, 4: turned.RECIPES}


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
    # A palette, its three strong colours in any order; no two icons have quite the same ones, unless by name.
    paper, *strong, dark = rng.pick(PALETTES)
    colours = [*rng.several(strong, 3), dark]
    hues = Hues(paper, *(colours if grade == 1 else [_near(rng, colour) for colour in colours]))
    if rng.chance(ABSTRACT_SHARE):
        parts = composition(rng, hues, grade)
    elif grade == 5:
        parts = rng.pick(scenes.RECIPES)(rng, hues, _SCRIPTS[letters])
    else:
        parts = rng.pick(_RECIPES[grade])(rng, hues)
    ground, kind = [], rng.whole(0, 3)
    if kind < 2:
        ground = [rect(0, 0, CANVAS, CANVAS, hues.paper, rx=rng.whole(8, 24) if kind else None)]
    return tag("svg", *ground, *parts, xmlns=NAMESPACE, viewBox=f"0 0 {CANVAS} {CANVAS}")


def _near(rng: Rng, colour: str) -> str:
    red, green, blue = (min(255, max(0, part + rng.whole(-SHADE, SHADE))) for part in read_colour(colour) or (0, 0, 0))
    return hexadecimal((red, green, blue))


# ---------------------------------------------------------------------- icons that show nothing in particular


def composition(rng: Rng, hues: Hues, grade: int) -> list[str]:
    """Elements spread over the canvas, more of more kinds as the grade rises: no list of known things covers them."""
    kinds = KINDS[: 3 + 2 * grade]
    parts = [element(rng, rng.pick(kinds), rng.pick(hues[1:])) for _ in range(rng.whole(grade, grade + 3))]
    if grade >= 3:
        parts.insert(0, gradient("a", hues.paper, hues.accent, radial=rng.chance(0.3), upright=rng.chance(0.5)))
        parts.insert(1, rect(0, 0, 100, 100, "url(#a)"))
    if grade >= 4:
        scale = number(rng.real(0.7, 1))
        moved = f"translate({rng.whole(0, 14)} {rng.whole(0, 14)}) scale({scale})"
        parts = [*parts[:2], tag("g", *parts[2:], transform=moved)]
    return parts


def element(rng: Rng, kind: str, colour: str) -> str:
    """One element of a kind, anywhere."""
    match kind:
        case "dot":
            return circle(rng.whole(10, 90), rng.whole(10, 90), rng.whole(5, 24), colour)
        case "slab":
            return rect(rng.whole(4, 60), rng.whole(4, 60), rng.whole(10, 38), rng.whole(10, 38), colour)
        case "triangle":
            x, y, r = rng.whole(20, 80), rng.whole(20, 80), rng.whole(10, 28)
            return polygon(around(x, y, r, 3, rng.whole(0, 119)), colour)
        case "lens":
            return ellipse(rng.whole(20, 80), rng.whole(20, 80), rng.whole(8, 30), rng.whole(6, 20), colour)
        case "stroke":
            x1, y1, x2, y2 = (rng.whole(5, 95) for _ in range(4))
            return line(x1, y1, x2, y2, colour, rng.whole(2, 8), stroke_linecap=rng.pick(("round", None)))
        case "ring":
            x, y, r = rng.whole(20, 80), rng.whole(20, 80), rng.whole(8, 20)
            return circle(x, y, r, "none", stroke=colour, stroke_width=rng.whole(2, 8))
        case "zigzag":
            left, y, step = rng.whole(4, 40), rng.whole(16, 84), rng.whole(6, 14)
            points = [(left + i * step, y + (i % 2) * rng.whole(8, 20)) for i in range(rng.whole(4, 6))]
            return polyline(points, colour, rng.whole(2, 5), stroke_linejoin="round")
        case "wave":
            x, y, w = rng.whole(2, 40), rng.whole(20, 80), rng.whole(10, 20)
            d = f"M{x} {y}q{w / 2:g} -{rng.whole(8, 26)} {w} 0t{w} 0t{w} 0"
            return path(d, "none", stroke=colour, stroke_width=rng.whole(2, 6))
        case "blob":
            x, y, r = rng.whole(30, 70), rng.whole(30, 70), rng.whole(12, 26)
            d = f"M{x} {y - r}C{x + r + rng.whole(0, 14)} {y - r} {x + r} {y + r} {x} {y + r}"
            d += f"S{x - r - rng.whole(0, 14)} {y - r} {x} {y - r}Z"
            return path(d, colour, opacity=rng.pick((None, 0.6, 0.8)))
        case "pie":
            x, y, r = rng.whole(30, 70), rng.whole(30, 70), rng.whole(14, 30)
            (start,), (end,) = around(x, y, r, 1, rng.whole(0, 359)), around(x, y, r, 1, rng.whole(0, 359))
            far = f"{number(start[0])} {number(start[1])}A{r} {r} 0 {rng.whole(0, 1)} 1"
            return path(f"M{x} {y}L{far} {number(end[0])} {number(end[1])}Z", colour)
        case "tilted":
            x, y, left, top = rng.whole(20, 80), rng.whole(20, 80), -rng.whole(8, 20), -rng.whole(5, 14)
            inside = rect(left, top, rng.whole(20, 40), rng.whole(10, 26), colour, rx=rng.pick((None, 4)))
            return tag("g", inside, transform=f"translate({x} {y}) rotate({rng.whole(0, 179)})")
        case "dashes":
            x, y, dash = rng.whole(25, 75), rng.whole(25, 75), f"{rng.whole(3, 9)} {rng.whole(2, 6)}"
            r, width = rng.whole(10, 24), rng.whole(2, 5)
            return circle(x, y, r, "none", stroke=colour, stroke_width=width, stroke_dasharray=dash)
        case _:  # a swarm
            x, y, r = rng.whole(25, 75), rng.whole(25, 75), rng.whole(10, 22)
            dots = [circle(px, py, 3, colour) for px, py in around(x, y, r, rng.whole(4, 8))]
            return tag("g", *dots, transform=f"rotate({rng.whole(0, 40)} {x} {y})")
