"""Grade 4: groups, transforms and elements used again."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import (
    Hues,
    Recipe,
    Rng,
    circle,
    ellipse,
    line,
    number,
    path,
    polygon,
    rect,
    star,
    tag,
)


def spin(shape: str, count: int, x: float = 50, y: float = 50, first: float = 0) -> list[str]:
    """Copies of a shape turned round a point."""
    turns = (first + 360 * i / count for i in range(count))
    return [tag("g", shape, transform=f"rotate({number(turn)} {number(x)} {number(y)})") for turn in turns]


def reuse(shape: str, transforms: list[str]) -> list[str]:
    """A shape defined once (it must have the id "s") and drawn at several places."""
    return [tag("defs", shape), *(tag("use", href="#s", transform=each) for each in transforms)]


def flower(rng: Rng, hues: Hues) -> list[str]:
    """Petals round a heart, with a stem."""
    count, reach, wide = rng.whole(5, 9), rng.whole(14, 20), rng.whole(6, 10)
    petal = ellipse(50, 40 - reach, wide, reach * 0.8, hues.main)
    stem = path(f"M50 40Q{rng.whole(40, 60)} 70 50 98", "none", stroke="seagreen", stroke_width=rng.whole(3, 5))
    leaves = tag(
        "g", ellipse(62, 76, 12, rng.whole(4, 6), "seagreen"), transform=f"rotate({rng.whole(-40, -10)} 50 80)"
    )
    return [stem, leaves, *spin(petal, count, 50, 40, rng.whole(0, 40)), circle(50, 40, rng.whole(7, 11), "gold")]


def gear(rng: Rng, hues: Hues) -> list[str]:
    """A cog wheel."""
    teeth, r, tooth = rng.whole(6, 12), rng.whole(24, 30), rng.whole(7, 10)
    bar = rect(50 - tooth / 2, 50 - r - 9, tooth, 14, hues.dark, rx=rng.pick((None, 2)))
    hole = circle(50, 50, r * rng.real(0.3, 0.6), hues.paper)
    return [*spin(bar, teeth, first=rng.whole(0, 29)), circle(50, 50, r, hues.dark), hole]


def clock(rng: Rng, hues: Hues) -> list[str]:
    """A clock that tells a time."""
    r, hour, minute = rng.whole(36, 44), rng.whole(0, 11), rng.whole(0, 59)
    mark = line(50, 50 - r + 4, 50, 50 - r + rng.whole(8, 12), hues.dark, 3)
    hands = [
        line(50, 50, 50, 50 - reach * r, colour, width, stroke_linecap="round", transform=f"rotate({turn} 50 50)")
        for reach, width, colour, turn in (
            (0.5, 5, hues.dark, number(hour * 30 + minute / 2)), (0.75, 3, hues.main, minute * 6),
        )
    ]  # fmt: skip
    rim = circle(50, 50, r, "white", stroke=hues.second, stroke_width=rng.whole(3, 7))
    return [rim, *spin(mark, rng.pick((4, 12))), *hands, circle(50, 50, 3, hues.dark)]


def windmill(rng: Rng, hues: Hues) -> list[str]:
    """A mill with sails."""
    foot, sails, width = rng.whole(14, 20), rng.pick((3, 4)), rng.whole(7, 11)
    tower = polygon([(50 - foot, 96), (44, 38), (56, 38), (50 + foot, 96)], hues.second)
    sail = rect(50, 10, width, rng.whole(24, 29), hues.main, stroke=hues.dark, stroke_width=1.5)
    door = rect(46, 82, 8, 14, hues.dark)
    return [tower, door, *spin(sail, sails, 50, 40, rng.whole(0, 89)), circle(50, 40, 4, hues.dark)]


def snowflake(rng: Rng, hues: Hues) -> list[str]:
    """Six branching arms, defined once."""
    reach, twig, at = rng.whole(34, 42), rng.whole(7, 12), rng.whole(14, 24)
    d = f"M0 0V-{reach}M-{twig} -{at + twig}L0 -{at}L{twig} -{at + twig}"
    arm = path(d, "none", id="s", stroke=rng.pick(("deepskyblue", hues.main)), stroke_width=rng.real(2, 4.5))
    first = rng.whole(0, 59)
    return reuse(arm, [f"translate(50 50) rotate({first + i * 60})" for i in range(6)])


def butterfly(rng: Rng, hues: Hues) -> list[str]:
    """Wings drawn once and mirrored."""
    upper = path(f"M0 0C{rng.whole(14, 26)} -{rng.whole(34, 44)} 46 -34 40 -8Q34 2 0 4Z", hues.main)
    lower = path(f"M0 4Q{rng.whole(24, 34)} 6 28 24Q16 {rng.whole(34, 44)} 0 8Z", hues.second)
    wing = tag("g", upper, lower, circle(26, -16, rng.whole(3, 6), hues.accent), id="s")
    y = rng.whole(46, 54)
    feelers = path(f"M50 {y - 22}q-8 -12 -14 -12M50 {y - 22}q8 -12 14 -12", "none", stroke=hues.dark, stroke_width=2)
    body = ellipse(50, y, 3.5, rng.whole(20, 26), hues.dark)
    return [*reuse(wing, [f"translate(50 {y})", f"translate(50 {y}) scale(-1 1)"]), feelers, body]


def forest(rng: Rng, hues: Hues) -> list[str]:
    """One tree at several places and sizes."""
    crown = polygon([(-12, 0), (0, -rng.whole(26, 34)), (12, 0)], rng.pick(("seagreen", "darkgreen", hues.main)))
    tree = tag("g", rect(-2.5, 0, 5, 10, "saddlebrown"), crown, id="s")
    places = sorted((rng.whole(52, 86), rng.whole(12, 88)) for _ in range(rng.whole(3, 6)))
    moves = [f"translate({x} {y}) scale({number(0.4 + y / 90)})" for y, x in places]
    ground = rect(0, 64, 100, 36, rng.pick(("yellowgreen", "burlywood", hues.accent)))
    return [rect(0, 0, 100, 66, "lightblue"), ground, *reuse(tree, moves)]


def atom(rng: Rng, hues: Hues) -> list[str]:
    """Orbits, turned, with an electron on each."""
    flat, orbits = rng.whole(12, 18), rng.whole(2, 4)
    track = ellipse(50, 50, 42, flat, "none", stroke=hues.main, stroke_width=rng.real(2, 4))
    electron = circle(92 if rng.chance(0.5) else 8, 50, rng.real(3, 5), hues.accent)
    first = rng.whole(0, 60)
    turns = [first + i * 180 / orbits for i in range(orbits)]
    drawn = [tag("g", track, electron, transform=f"rotate({number(turn)} 50 50)") for turn in turns]
    return [*drawn, circle(50, 50, rng.whole(6, 9), hues.second)]


def pinwheel(rng: Rng, hues: Hues) -> list[str]:
    """A toy windmill: curved vanes of changing colours."""
    vanes, reach = rng.pick((4, 6, 8)), rng.whole(30, 38)
    colours = rng.several((hues.main, hues.second, hues.accent), 2)
    d = f"M50 44V{44 - reach}Q{50 + reach * 0.7:.0f} {44 - reach} 50 44Z"
    drawn = [
        tag("path", d=d, fill=colours[i % 2], transform=f"rotate({number(i * 360 / vanes)} 50 44)")
        for i in range(vanes)
    ]
    return [line(50, 44, 50, 98, "saddlebrown", 4), *drawn, circle(50, 44, rng.whole(4, 6), hues.dark)]


def pencil(rng: Rng, hues: Hues) -> list[str]:
    """A pencil laid at an angle."""
    half, length, turn = rng.whole(7, 10), rng.whole(46, 54), rng.whole(0, 35) * 10
    parts = [
        rect(-length / 2, -half, length, 2 * half, hues.second),
        rect(-length / 2 - 8, -half, 9, 2 * half, hues.main, rx=3),
        polygon([(length / 2, -half), (length / 2 + 16, 0), (length / 2, half)], "burlywood"),
        polygon([(length / 2 + 10, -half * 0.38), (length / 2 + 16, 0), (length / 2 + 10, half * 0.38)], hues.dark),
    ]
    stripe = line(-length / 2, 0, length / 2, 0, hues.dark, 1.5)
    return [tag("g", *parts, stripe, transform=f"translate(50 50) rotate({turn})")]


def tiles(rng: Rng, hues: Hues) -> list[str]:
    """One motif repeated on a square grid, turned at random."""
    side = rng.pick((2, 3))
    step = 90 / side
    motif = rng.pick(
        (
            path(f"M0 0H{number(step)}A{number(step)} {number(step)} 0 0 1 0 {number(step)}Z", hues.main, id="s"),
            polygon([(0, 0), (step, 0), (0, step)], hues.second, id="s"),
            tag("g", rect(0, 0, step, step / 2, hues.main), circle(step / 2, step / 2, step / 4, hues.accent), id="s"),
        )
    )
    middle = f"{number(step / 2)} {number(step / 2)}"
    turns = [
        f"translate({number(5 + c * step)} {number(5 + r * step)}) rotate({rng.whole(0, 3) * 90} {middle})"
        for r in range(side)
        for c in range(side)
    ]
    return [rect(5, 5, 90, 90, hues.accent if "accent" not in motif else hues.paper), *reuse(motif, turns)]


def compass(rng: Rng, hues: Hues) -> list[str]:
    """A compass needle in its case."""
    r, thin = rng.whole(36, 43), rng.whole(6, 10)
    north = polygon([(50 - thin, 50), (50, 50 - r * 0.75), (50 + thin, 50)], "crimson")
    south = polygon([(50 - thin, 50), (50, 50 + r * 0.75), (50 + thin, 50)], hues.dark)
    needle = tag("g", north, south, transform=f"rotate({rng.whole(0, 359)} 50 50)")
    case = circle(50, 50, r, "white", stroke=hues.main, stroke_width=rng.whole(4, 8))
    return [
        case,
        *spin(line(50, 54 - r, 50, 59 - r, hues.dark, 2), rng.pick((4, 8))),
        needle,
        circle(50, 50, 3, "white"),
    ]


def burst(rng: Rng, hues: Hues) -> list[str]:
    """Stars within stars, each turned against the one outside it."""
    tips, outer = rng.whole(5, 9), rng.whole(38, 46)
    parts = []
    for share, colour in zip((1, 0.7, 0.42), (hues.main, hues.accent, hues.paper), strict=True):
        points = star(0, 0, outer * share, outer * share * 0.62, tips)
        parts.append(polygon(points, colour, transform=f"translate(50 50) rotate({rng.whole(0, 44)})"))
    return parts


RECIPES: tuple[Recipe, ...] = (
    flower, gear, clock, windmill, snowflake, butterfly, forest, atom, pinwheel, pencil, tiles, compass, burst,
)  # fmt: skip
