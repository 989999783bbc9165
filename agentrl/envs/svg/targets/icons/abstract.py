"""Compositions that show nothing in particular, for every grade: no list of known things covers them."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import (
    Dice,
    Hues,
    Recipe,
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
    tag,
)

GRADES = 5


def composition(grade: int) -> Recipe:
    """The recipe of one grade: more elements of more kinds as the grade rises."""

    def compose(dice: Dice, hues: Hues) -> list[str]:
        """Elements spread over the canvas."""
        makers = _MAKERS[: 3 + 2 * grade]
        count = dice.whole(grade, grade + 3)
        parts = [dice.pick(makers)(dice, dice.pick(hues[1:])) for _ in range(count)]
        if grade >= 3:
            parts.insert(0, gradient("a", hues.paper, hues.accent, radial=dice.chance(0.3), upright=dice.chance(0.5)))
            parts.insert(1, rect(0, 0, 100, 100, "url(#a)"))
        if grade >= 4:
            parts = [*parts[:2], _moved(dice, parts[2:])]
        return parts

    return compose


def _moved(dice: Dice, parts: list[str]) -> str:
    scale = number(dice.real(0.7, 1))
    return tag("g", *parts, transform=f"translate({dice.whole(0, 14)} {dice.whole(0, 14)}) scale({scale})")


def _dot(dice: Dice, colour: str) -> str:
    return circle(dice.whole(10, 90), dice.whole(10, 90), dice.whole(5, 24), colour)


def _slab(dice: Dice, colour: str) -> str:
    return rect(dice.whole(4, 60), dice.whole(4, 60), dice.whole(10, 38), dice.whole(10, 38), colour)


def _lens(dice: Dice, colour: str) -> str:
    return ellipse(dice.whole(20, 80), dice.whole(20, 80), dice.whole(8, 30), dice.whole(6, 20), colour)


def _triangle(dice: Dice, colour: str) -> str:
    return polygon(around(dice.whole(20, 80), dice.whole(20, 80), dice.whole(10, 28), 3, dice.whole(0, 119)), colour)


def _stroke(dice: Dice, colour: str) -> str:
    ends = [dice.whole(5, 95) for _ in range(4)]
    return line(ends[0], ends[1], ends[2], ends[3], colour, dice.whole(2, 8), stroke_linecap=dice.pick(("round", None)))


def _ring(dice: Dice, colour: str) -> str:
    place = dice.whole(20, 80), dice.whole(20, 80)
    return circle(*place, dice.whole(8, 20), "none", stroke=colour, stroke_width=dice.whole(2, 8))


def _zigzag(dice: Dice, colour: str) -> str:
    left, y, step = dice.whole(4, 40), dice.whole(16, 84), dice.whole(6, 14)
    points = [(left + i * step, y + (i % 2) * dice.whole(8, 20)) for i in range(dice.whole(4, 6))]
    return polyline(points, colour, dice.whole(2, 5), stroke_linejoin="round")


def _wave(dice: Dice, colour: str) -> str:
    x, y, w = dice.whole(2, 40), dice.whole(20, 80), dice.whole(10, 20)
    d = f"M{x} {y}q{w / 2:g} -{dice.whole(8, 26)} {w} 0t{w} 0t{w} 0"
    return path(d, "none", stroke=colour, stroke_width=dice.whole(2, 6))


def _blob(dice: Dice, colour: str) -> str:
    x, y, r = dice.whole(30, 70), dice.whole(30, 70), dice.whole(12, 26)
    d = f"M{x} {y - r}C{x + r + dice.whole(0, 14)} {y - r} {x + r} {y + r} {x} {y + r}"
    d += f"S{x - r - dice.whole(0, 14)} {y - r} {x} {y - r}Z"
    return path(d, colour, opacity=dice.pick((None, 0.6, 0.8)))


def _pie(dice: Dice, colour: str) -> str:
    x, y, r = dice.whole(30, 70), dice.whole(30, 70), dice.whole(14, 30)
    (start,), (end,) = around(x, y, r, 1, dice.whole(0, 359)), around(x, y, r, 1, dice.whole(0, 359))
    far = f"{number(start[0])} {number(start[1])}A{r} {r} 0 {dice.whole(0, 1)} 1 {number(end[0])} {number(end[1])}"
    return path(f"M{x} {y}L{far}Z", colour)


def _tilted(dice: Dice, colour: str) -> str:
    x, y = dice.whole(20, 80), dice.whole(20, 80)
    inside = rect(
        -dice.whole(8, 20), -dice.whole(5, 14), dice.whole(20, 40), dice.whole(10, 26), colour, rx=dice.pick((None, 4))
    )
    return tag("g", inside, transform=f"translate({x} {y}) rotate({dice.whole(0, 179)})")


def _dashes(dice: Dice, colour: str) -> str:
    place, dash = (dice.whole(25, 75), dice.whole(25, 75)), f"{dice.whole(3, 9)} {dice.whole(2, 6)}"
    return circle(
        *place, dice.whole(10, 24), "none", stroke=colour, stroke_width=dice.whole(2, 5), stroke_dasharray=dash
    )


def _swarm(dice: Dice, colour: str) -> str:
    x, y, r = dice.whole(25, 75), dice.whole(25, 75), dice.whole(10, 22)
    return tag(
        "g",
        *(circle(px, py, 3, colour) for px, py in around(x, y, r, dice.whole(4, 8))),
        transform=f"rotate({dice.whole(0, 40)} {x} {y})",
    )


_MAKERS = (_dot, _slab, _triangle, _lens, _stroke, _ring, _zigzag, _wave, _blob, _pie, _tilted, _dashes, _swarm)
