"""Grade 1: one to three flat primitives."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import CANVAS, Dice, Hues, Recipe, around, circle, ellipse, line, polygon, rect, star


def disc(dice: Dice, hues: Hues) -> list[str]:
    """A ball somewhere."""
    r = dice.whole(12, 40)
    return [circle(dice.whole(r, CANVAS - r), dice.whole(r, CANVAS - r), r, hues.main)]


def block(dice: Dice, hues: Hues) -> list[str]:
    """A rectangle, sometimes with round corners."""
    width, height = dice.whole(18, 80), dice.whole(18, 80)
    corner = dice.pick((None, None, 4, 8, 12))
    x, y = dice.whole(5, 95 - width), dice.whole(5, 95 - height)
    return [rect(x, y, width, height, hues.second, rx=corner)]


def oval(dice: Dice, hues: Hues) -> list[str]:
    """An ellipse with a smaller one inside."""
    rx, ry = dice.whole(16, 42), dice.whole(12, 42)
    x, y = dice.whole(rx + 4, 96 - rx), dice.whole(ry + 4, 96 - ry)
    inner = dice.real(0.3, 0.7)
    return [ellipse(x, y, rx, ry, hues.accent), ellipse(x, y, rx * inner, ry * inner, hues.dark)]


def corners(dice: Dice, hues: Hues) -> list[str]:
    """A regular polygon of three to eight sides."""
    r, sides = dice.whole(16, 40), dice.whole(3, 8)
    x, y = dice.whole(r + 3, 97 - r), dice.whole(r + 3, 97 - r)
    return [polygon(around(x, y, r, sides, dice.whole(0, 119)), hues.main)]


def single_star(dice: Dice, hues: Hues) -> list[str]:
    """A star."""
    r, tips = dice.whole(20, 44), dice.whole(4, 9)
    x, y = dice.whole(r + 2, 98 - r), dice.whole(r + 2, 98 - r)
    return [polygon(star(x, y, r, r * dice.real(0.3, 0.6), tips, dice.whole(0, 60)), hues.second)]


def pair(dice: Dice, hues: Hues) -> list[str]:
    """A ball and a block that may overlap."""
    first = block(dice, hues)
    return first + disc(dice, hues) if dice.chance(0.5) else disc(dice, hues) + first


def stripe(dice: Dice, hues: Hues) -> list[str]:
    """A bar from side to side behind a ball."""
    width, y = dice.whole(6, 26), dice.whole(20, 80)
    return [line(dice.whole(0, 30), y, dice.whole(70, 100), dice.whole(20, 80), hues.accent, width), *disc(dice, hues)]


def stack(dice: Dice, hues: Hues) -> list[str]:
    """Three bars of different length."""
    height, left = dice.whole(9, 20), dice.whole(6, 26)
    tops = [14 + i * (height + dice.whole(4, 9)) for i in range(3)]
    colours = (hues.main, hues.second, hues.accent)
    return [rect(left, top, dice.whole(22, 66), height, c) for top, c in zip(tops, colours, strict=True)]


RECIPES: tuple[Recipe, ...] = (disc, block, oval, corners, single_star, pair, stripe, stack)
