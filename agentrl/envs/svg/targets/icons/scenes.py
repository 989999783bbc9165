"""Grade 5: whole scenes and signs, with letters."""

from __future__ import annotations

from collections.abc import Callable

from agentrl.envs.svg.targets.icons import turned
from agentrl.envs.svg.targets.icons.objects import CURVES, OBJECTS
from agentrl.envs.svg.targets.pen import (
    ALPHABET,
    DIGITS,
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
    star,
    tag,
)

Script = Callable[[str, float, float, float, str], str]  # word, centre, height, colour
Scene = Callable[[Rng, Hues, Script], list[str]]
WORDS = (
    "STOP", "GO", "OPEN", "SALE", "NEW", "HELLO", "EXIT", "TAXI", "CAFE", "ZOO", "BUS", "OK", "YES", "NO", "PLAY",
    "TOP", "ART", "SUN", "MAP", "BOX", "TEA", "FIX", "JAZZ", "QUIZ", "WIN", "VIP", "GYM", "KEY", "LAB", "DUO",
)  # fmt: skip


def letters(rng: Rng, low: int, high: int) -> str:
    """Random capital letters."""
    return "".join(rng.pick(ALPHABET) for _ in range(rng.whole(low, high)))


def digits(rng: Rng, low: int, high: int) -> str:
    """A random number that does not start with a zero."""
    return "".join(rng.pick(DIGITS[1:] if i == 0 else DIGITS) for i in range(rng.whole(low, high)))


def badge(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A round seal with a scalloped edge and initials."""
    tips, r = rng.whole(10, 18), rng.whole(38, 44)
    edge = polygon(star(50, 50, r, r * 0.88, tips), "url(#a)", stroke=hues.dark, stroke_width=1)
    ring = circle(50, 50, r * 0.72, "none", stroke="white", stroke_width=rng.real(1.5, 3))
    fill = gradient("a", hues.main, hues.dark, radial=rng.chance(0.5))
    return [fill, edge, ring, write(letters(rng, 1, 2), 50, 50, rng.whole(20, 26), "white")]


def road_sign(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A speed limit or a stop sign on a pole."""
    pole = rect(47, 70, rng.whole(5, 8), 30, hues.second)
    if rng.chance(0.5):
        plate = circle(
            50, 40, rng.whole(30, 36), "white", stroke=rng.pick(("crimson", hues.main)), stroke_width=rng.whole(6, 9)
        )
        return [pole, plate, write(digits(rng, 2, 3), 50, 40, rng.whole(16, 22), hues.dark)]
    plate = polygon(
        around(50, 42, rng.whole(34, 40), 8, 22.5), rng.pick(("crimson", hues.main)), stroke="white", stroke_width=3
    )
    return [pole, plate, write(rng.pick(WORDS), 50, 42, rng.whole(12, 15), "white")]


def calendar(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A sheet of a calendar."""
    top, bar = rng.whole(14, 20), rng.whole(14, 20)
    sheet = rect(14, top, 72, 90 - top, "white", rx=rng.whole(3, 8), stroke=hues.dark, stroke_width=2.5)
    head = path(f"M14 {top + bar}V{top + 4}q0 -4 4 -4H82q4 0 4 4V{top + bar}Z", hues.main)
    rings = [line(x, top - 7, x, top + 6, hues.dark, 4, stroke_linecap="round") for x in (32, 68)]
    day = write(str(rng.whole(1, 31)), 50, (top + bar + 90) / 2, rng.whole(24, 32), hues.dark)
    return [sheet, head, *rings, write(letters(rng, 3, 3), 50, top + bar / 2, bar * 0.5, "white"), day]


def button(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A glossy button with a word on it, and its shadow."""
    height, y, corner = rng.whole(26, 40), rng.whole(40, 58), rng.whole(4, 18)
    top = y - height / 2
    shade = rect(9, top + 5, 84, height, hues.dark, rx=corner, opacity=rng.real(0.2, 0.5))
    body = rect(7, top, 84, height, "url(#a)", rx=corner)
    shine = rect(12, top + 3, 74, height * 0.35, "white", rx=corner * 0.6, opacity=0.35)
    word = rng.pick(WORDS)
    return [
        gradient("a", hues.second, hues.main),
        shade,
        body,
        shine,
        write(word, 49, y, 84 / (len(word) + 3), "white"),
    ]


def chart(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """Labelled bars and a trend over a faint grid."""
    count = rng.whole(3, 5)
    step, colours = 76 / count, (hues.main, hues.second, hues.accent)
    heights = [rng.whole(12, 60) for _ in range(count)]
    middles = [18 + (i + 0.5) * step for i in range(count)]
    grid = tag("g", *(line(18, y, 94, y, "lightgray", 1) for y in (24, 40, 56)), stroke_dasharray="3 2")
    drawn = [
        rect(x - step * 0.3, 80 - h, step * 0.6, h, colours[i % 3])
        for i, (x, h) in enumerate(zip(middles, heights, strict=True))
    ]
    names = [write(rng.pick(ALPHABET), x, 88, 7, hues.dark) for x in middles]
    tops = [(x, 80 - h - rng.whole(2, 8)) for x, h in zip(middles, heights, strict=True)]
    return [grid, *drawn, polyline(tops, hues.dark, 2), polyline([(18, 8), (18, 80), (96, 80)], hues.dark, 2), *names]


def village(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """Houses on a hill under the sun."""
    sky = [gradient("a", rng.pick(("skyblue", "lightpink", "lightblue")), "white"), rect(0, 0, 100, 100, "url(#a)")]
    x, hill = rng.whole(14, 84), rng.whole(60, 72)
    ground = path(
        f"M0 {hill}Q{rng.whole(20, 50)} {hill - 14} 60 {hill}T100 {hill - 4}V100H0Z",
        rng.pick(("yellowgreen", "mediumseagreen")),
    )
    walls = rect(-9, -12, 18, 14, rng.pick((hues.second, "ivory")))
    home = tag("g", walls, polygon([(-12, -12), (0, -24), (12, -12)], hues.main), rect(-3, -6, 6, 8, hues.dark), id="s")
    places = [
        f"translate({24 + i * 26 + rng.whole(-6, 6)} {hill + rng.whole(4, 20)}) scale({rng.real(0.8, 1.3)})"
        for i in range(rng.whole(1, 3))
    ]
    sun = circle(x, rng.whole(14, 24), rng.whole(7, 11), "gold", stroke="orange", stroke_width=2)
    sign = write(rng.pick(WORDS), 50, 95, 6, hues.dark) if rng.chance(0.4) else ""
    return [*sky, sun, ground, *turned.reuse(home, places), sign]


def ship(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A sailing ship with a letter on its sail."""
    sea, lean = rng.whole(72, 80), rng.whole(-6, 6)
    hull = path(f"M16 {sea - 12}H84Q76 {sea + 8} 64 {sea + 8}H34Q22 {sea + 8} 16 {sea - 12}Z", hues.dark)
    mast = line(48, 10, 48, sea - 12, "saddlebrown", 3)
    sails = [path(f"M51 12Q{82 + lean} 40 80 {sea - 18}H51Z", "white", stroke=hues.main, stroke_width=2),
             path(f"M45 20Q{28 - lean} 40 22 {sea - 18}H45Z", hues.main)]  # fmt: skip
    wave = f"M0 {sea}" + "".join(f"q{w} -{rng.whole(3, 6)} {2 * w} 0" for w in (10, 10, 10, 10, 10)) + "V100H0Z"
    name = write(rng.pick(ALPHABET), 62, sea - 30, rng.whole(12, 16), hues.main)
    pennant = polygon([(48, 8), (48, 15), (62, 11.5)], hues.accent)
    return [
        tag("g", mast, hull, *sails, name, pennant, transform=f"rotate({lean} 50 80)"),
        path(wave, "steelblue", opacity=0.85),
    ]


def medal(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A medal on ribbons with a number."""
    ribbon = polygon([(36, 6), (50, 44), (64, 6), (74, 6), (56, 52), (44, 52), (26, 6)], hues.main)
    r = rng.whole(22, 28)
    colour = rng.pick((("gold", "darkgoldenrod"), ("silver", "gray"), ("peru", "saddlebrown")))
    disc = circle(50, 66, r, "url(#a)", stroke=colour[1], stroke_width=rng.whole(2, 4))
    inner = circle(50, 66, r * 0.75, "none", stroke="white", stroke_width=1.5, stroke_dasharray=f"{rng.whole(2, 5)} 2")
    return [gradient("a", colour[0], colour[1], radial=True), ribbon, disc, inner,
            write(digits(rng, 1, 2), 50, 66, r * 0.7, "white")]  # fmt: skip


def poster(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A smaller icon in a frame above its title."""
    frame = rect(8, 4, 84, 92, "white", stroke=hues.dark, stroke_width=rng.whole(2, 5))
    recipe = rng.pick((*OBJECTS, *CURVES[:2], *turned.RECIPES[:4]))
    picture = tag("g", *recipe(rng, hues), transform=f"translate(20 8) scale({number(rng.real(0.5, 0.6))})")
    return [
        frame,
        picture,
        write(rng.pick(WORDS) if rng.chance(0.6) else letters(rng, 3, 5), 50, 82, rng.whole(9, 12), hues.main),
    ]


def board(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """Four small icons in a square of tiles."""
    recipes: list[Recipe] = rng.several((*OBJECTS, *turned.RECIPES[:2]), 4)
    shades = rng.several((hues.paper, hues.accent, "white", "whitesmoke"), 4)
    parts = []
    for place, (recipe, shade) in enumerate(zip(recipes, shades, strict=True)):
        x, y = 4 + place % 2 * 47, 4 + place // 2 * 47
        inside = recipe(rng, hues)
        parts.append(tag("g", rect(0, 0, 100, 100, shade, rx=10), *inside, transform=f"translate({x} {y}) scale(0.45)"))
    return parts


def robot(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """A robot with a name on its chest."""
    width, corner, eye = rng.whole(40, 52), rng.whole(3, 12), rng.whole(4, 7)
    left = 50 - width / 2
    head = rect(left, 18, width, 30, hues.main, rx=corner)
    eyes = tag("g", *(circle(50 + side * width * 0.24, 31, eye, c) for side in (-1, 1) for c in ("white",)))
    pupils = tag("g", *(circle(50 + side * width * 0.24 + rng.real(-2, 2), 31, 2, "black") for side in (-1, 1)))
    mouth = polyline([(42, 42), (46, 40), (50, 42), (54, 40), (58, 42)], "white", 1.5)
    aerial = [line(50, 8, 50, 18, hues.dark, 3), circle(50, 8, rng.whole(3, 5), hues.accent)]
    body = rect(left - 4, 51, width + 8, 36, hues.second, rx=corner, stroke=hues.dark, stroke_width=2)
    arms = tag("g", *(line(50 + s * (width / 2 + 5), 58, 50 + s * (width / 2 + 12), 76, hues.dark, 5) for s in (-1, 1)))
    name = write(letters(rng, 1, 1) + digits(rng, 1, 2), 50, 68, rng.whole(11, 14), "white")
    feet = tag("g", *(ellipse(50 + s * 12, 92, 8, 4, hues.dark) for s in (-1, 1)))
    return [*aerial, head, eyes, pupils, mouth, arms, body, feet, name]


def plate(rng: Rng, hues: Hues, write: Script) -> list[str]:
    """The number plate of a car, and the car above it."""
    body = f"M10 48q0 -8 10 -10l8 -{rng.whole(12, 18)}q2 -4 8 -4h26q6 0 9 4l9 {rng.whole(12, 16)}q11 2 11 12v6H10Z"
    glass = [path("M32 38l5 -11h11v11Z", "lightblue"), path("M52 38v-11h9l7 11Z", "lightblue")]
    wheels = [circle(x, 55, rng.whole(7, 9), hues.dark, stroke="lightgray", stroke_width=3) for x in (28, 73)]
    sign = rect(12, 70, 76, 22, "white", rx=4, stroke=hues.dark, stroke_width=2.5)
    text = letters(rng, 2, 2) + digits(rng, 2, 3)
    return [path(body, hues.main), *glass, *wheels, sign, write(text, 50, 81, 10, hues.dark)]


RECIPES: tuple[Scene, ...] = (
    badge, road_sign, calendar, button, chart, village, ship, medal, poster, board, robot, plate,
)  # fmt: skip
