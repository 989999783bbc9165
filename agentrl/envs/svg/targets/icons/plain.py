"""Grade 1: one to three flat primitives."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import CANVAS, Hues, Recipe, Rng, around, circle, ellipse, line, polygon, rect, star


def disc(rng: Rng, hues: Hues) -> list[str]:
    """A ball somewhere."""
    r = rng.whole(12, 40)
    return [circle(rng.whole(r, CANVAS - r), rng.whole(r, CANVAS - r), r, hues.main)]


def block(rng: Rng, hues: Hues) -> list[str]:
    """A rectangle, sometimes with round corners."""
    width, height = rng.whole(18, 80), rng.whole(18, 80)
    corner = rng.pick((None, None, 4, 8, 12))
    x, y = rng.whole(5, 95 - width), rng.whole(5, 95 - height)
    return [rect(x, y, width, height, hues.second, rx=corner)]


def oval(rng: Rng, hues: Hues) -> list[str]:
    """An ellipse with a smaller one inside."""
    rx, ry = rng.whole(16, 42), rng.whole(12, 42)
    x, y = rng.whole(rx + 4, 96 - rx), rng.whole(ry + 4, 96 - ry)
    inner = rng.real(0.3, 0.7)
    return [ellipse(x, y, rx, ry, hues.accent), ellipse(x, y, rx * inner, ry * inner, hues.dark)]


def corners(rng: Rng, hues: Hues) -> list[str]:
    """A regular polygon of three to eight sides."""
    r, sides = rng.whole(16, 40), rng.whole(3, 8)
    x, y = rng.whole(r + 3, 97 - r), rng.whole(r + 3, 97 - r)
    return [polygon(around(x, y, r, sides, rng.whole(0, 119)), hues.main)]


def single_star(rng: Rng, hues: Hues) -> list[str]:
    """A star."""
    r, tips = rng.whole(20, 44), rng.whole(4, 9)
    x, y = rng.whole(r + 2, 98 - r), rng.whole(r + 2, 98 - r)
    return [polygon(star(x, y, r, r * rng.real(0.3, 0.6), tips, rng.whole(0, 60)), hues.second)]


def pair(rng: Rng, hues: Hues) -> list[str]:
    """A ball and a block that may overlap."""
    first = block(rng, hues)
    return first + disc(rng, hues) if rng.chance(0.5) else disc(rng, hues) + first


def stripe(rng: Rng, hues: Hues) -> list[str]:
    """A bar from side to side behind a ball."""
    width, y = rng.whole(6, 26), rng.whole(20, 80)
    return [line(rng.whole(0, 30), y, rng.whole(70, 100), rng.whole(20, 80), hues.accent, width), *disc(rng, hues)]


def stack(rng: Rng, hues: Hues) -> list[str]:
    """Three bars of different length."""
    height, left = rng.whole(9, 20), rng.whole(6, 26)
    tops = [14 + i * (height + rng.whole(4, 9)) for i in range(3)]
    colours = (hues.main, hues.second, hues.accent)
    return [rect(left, top, rng.whole(22, 66), height, c) for top, c in zip(tops, colours, strict=True)]


RECIPES: tuple[Recipe, ...] = (disc, block, oval, corners, single_star, pair, stripe, stack)
