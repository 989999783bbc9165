"""Compositions that show nothing in particular, for every grade: no list of known things covers them."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import (
    Hues,
    Recipe,
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
    tag,
)

GRADES = 5


def composition(grade: int) -> Recipe:
    """The recipe of one grade: more elements of more kinds as the grade rises."""

    def compose(rng: Rng, hues: Hues) -> list[str]:
        """Elements spread over the canvas."""
        makers = _MAKERS[: 3 + 2 * grade]
        count = rng.whole(grade, grade + 3)
        parts = [rng.pick(makers)(rng, rng.pick(hues[1:])) for _ in range(count)]
        if grade >= 3:
            parts.insert(0, gradient("a", hues.paper, hues.accent, radial=rng.chance(0.3), upright=rng.chance(0.5)))
            parts.insert(1, rect(0, 0, 100, 100, "url(#a)"))
        if grade >= 4:
            parts = [*parts[:2], _moved(rng, parts[2:])]
        return parts

    return compose


def _moved(rng: Rng, parts: list[str]) -> str:
    scale = number(rng.real(0.7, 1))
    return tag("g", *parts, transform=f"translate({rng.whole(0, 14)} {rng.whole(0, 14)}) scale({scale})")


def _dot(rng: Rng, colour: str) -> str:
    return circle(rng.whole(10, 90), rng.whole(10, 90), rng.whole(5, 24), colour)


def _slab(rng: Rng, colour: str) -> str:
    return rect(rng.whole(4, 60), rng.whole(4, 60), rng.whole(10, 38), rng.whole(10, 38), colour)


def _lens(rng: Rng, colour: str) -> str:
    return ellipse(rng.whole(20, 80), rng.whole(20, 80), rng.whole(8, 30), rng.whole(6, 20), colour)


def _triangle(rng: Rng, colour: str) -> str:
    return polygon(around(rng.whole(20, 80), rng.whole(20, 80), rng.whole(10, 28), 3, rng.whole(0, 119)), colour)


def _stroke(rng: Rng, colour: str) -> str:
    ends = [rng.whole(5, 95) for _ in range(4)]
    return line(ends[0], ends[1], ends[2], ends[3], colour, rng.whole(2, 8), stroke_linecap=rng.pick(("round", None)))


def _ring(rng: Rng, colour: str) -> str:
    place = rng.whole(20, 80), rng.whole(20, 80)
    return circle(*place, rng.whole(8, 20), "none", stroke=colour, stroke_width=rng.whole(2, 8))


def _zigzag(rng: Rng, colour: str) -> str:
    left, y, step = rng.whole(4, 40), rng.whole(16, 84), rng.whole(6, 14)
    points = [(left + i * step, y + (i % 2) * rng.whole(8, 20)) for i in range(rng.whole(4, 6))]
    return polyline(points, colour, rng.whole(2, 5), stroke_linejoin="round")


def _wave(rng: Rng, colour: str) -> str:
    x, y, w = rng.whole(2, 40), rng.whole(20, 80), rng.whole(10, 20)
    d = f"M{x} {y}q{w / 2:g} -{rng.whole(8, 26)} {w} 0t{w} 0t{w} 0"
    return path(d, "none", stroke=colour, stroke_width=rng.whole(2, 6))


def _blob(rng: Rng, colour: str) -> str:
    x, y, r = rng.whole(30, 70), rng.whole(30, 70), rng.whole(12, 26)
    d = f"M{x} {y - r}C{x + r + rng.whole(0, 14)} {y - r} {x + r} {y + r} {x} {y + r}"
    d += f"S{x - r - rng.whole(0, 14)} {y - r} {x} {y - r}Z"
    return path(d, colour, opacity=rng.pick((None, 0.6, 0.8)))


def _pie(rng: Rng, colour: str) -> str:
    x, y, r = rng.whole(30, 70), rng.whole(30, 70), rng.whole(14, 30)
    (start,), (end,) = around(x, y, r, 1, rng.whole(0, 359)), around(x, y, r, 1, rng.whole(0, 359))
    far = f"{number(start[0])} {number(start[1])}A{r} {r} 0 {rng.whole(0, 1)} 1 {number(end[0])} {number(end[1])}"
    return path(f"M{x} {y}L{far}Z", colour)


def _tilted(rng: Rng, colour: str) -> str:
    x, y = rng.whole(20, 80), rng.whole(20, 80)
    inside = rect(
        -rng.whole(8, 20), -rng.whole(5, 14), rng.whole(20, 40), rng.whole(10, 26), colour, rx=rng.pick((None, 4))
    )
    return tag("g", inside, transform=f"translate({x} {y}) rotate({rng.whole(0, 179)})")


def _dashes(rng: Rng, colour: str) -> str:
    place, dash = (rng.whole(25, 75), rng.whole(25, 75)), f"{rng.whole(3, 9)} {rng.whole(2, 6)}"
    return circle(*place, rng.whole(10, 24), "none", stroke=colour, stroke_width=rng.whole(2, 5), stroke_dasharray=dash)


def _swarm(rng: Rng, colour: str) -> str:
    x, y, r = rng.whole(25, 75), rng.whole(25, 75), rng.whole(10, 22)
    return tag(
        "g",
        *(circle(px, py, 3, colour) for px, py in around(x, y, r, rng.whole(4, 8))),
        transform=f"rotate({rng.whole(0, 40)} {x} {y})",
    )


_MAKERS = (_dot, _slab, _triangle, _lens, _stroke, _ring, _zigzag, _wave, _blob, _pie, _tilted, _dashes, _swarm)
