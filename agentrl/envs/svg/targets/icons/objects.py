"""Grades 1 to 3: one to three flat primitives; things made of primitives and strokes; curved paths and gradients."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import (
    CANVAS,
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
)


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


PLAIN: tuple[Recipe, ...] = (disc, block, oval, corners, single_star, pair, stripe, stack)


# ---------------------------------------------------------------------- things made of primitives and strokes


def house(rng: Rng, hues: Hues) -> list[str]:
    """A house with a door, windows and perhaps a chimney."""
    left, top, width = rng.whole(14, 24), rng.whole(38, 50), rng.whole(50, 62)
    door, peak = rng.whole(10, 15), rng.whole(10, 22)
    roof = [(left - 6, top), (left + width / 2, peak), (left + width + 6, top)]
    parts = [rect(left + width * 0.7, peak, 8, 24, hues.dark)] if rng.chance(0.5) else []
    parts += [rect(left, top, width, 90 - top, hues.second), polygon(roof, hues.main)]
    parts.append(rect(left + rng.whole(6, 12), 90 - door * 1.8, door, door * 1.8, hues.dark))
    window = {"stroke": hues.dark, "stroke_width": 2}
    return [*parts, rect(left + width - 24, top + 8, rng.whole(10, 16), rng.whole(10, 14), hues.paper, **window)]


def sun(rng: Rng, hues: Hues) -> list[str]:
    """A disc with rays."""
    x, y, r, rays = rng.whole(42, 58), rng.whole(42, 58), rng.whole(12, 20), rng.whole(6, 14)
    near, far, width = r + rng.whole(4, 7), r + rng.whole(12, 20), rng.whole(2, 5)
    ends = zip(around(x, y, near, rays), around(x, y, far, rays), strict=True)
    colour = rng.pick(("gold", "orange", hues.accent))
    rays_drawn = [line(*start, *end, colour, width, stroke_linecap="round") for start, end in ends]
    return [*rays_drawn, circle(x, y, r, colour)]


def flag(rng: Rng, hues: Hues) -> list[str]:
    """A flag on its pole: bars, a cross or a disc."""
    width, height, top = rng.whole(48, 66), rng.whole(33, 45), rng.whole(8, 18)
    pole = line(18, top - 3, 18, 94, hues.dark, rng.whole(3, 5), stroke_linecap="round")
    colours, design = rng.several((hues.main, hues.second, hues.accent, "white"), 3), rng.whole(0, 3)
    field = rect(20, top, width, height, colours[0])
    if design == 0:
        third = height / 3
        return [pole, *(rect(20, top + i * third, width, third, colours[i]) for i in range(3))]
    if design == 1:
        third = width / 3
        return [pole, *(rect(20 + i * third, top, third, height, colours[i]) for i in range(3))]
    if design == 2:
        arm, x = rng.whole(6, 11), 20 + rng.whole(14, 22)
        cross = [rect(x, top, arm, height, colours[1]), rect(20, top + (height - arm) / 2, width, arm, colours[1])]
        return [pole, field, *cross]
    return [pole, field, circle(20 + width / 2, top + height / 2, rng.whole(8, 14), colours[1])]


def face(rng: Rng, hues: Hues) -> list[str]:
    """A face with eyes and a straight or open mouth."""
    r, gap, eye = rng.whole(32, 42), rng.whole(10, 16), rng.real(3, 6)
    head = circle(50, 50, r, rng.pick(("gold", hues.second, hues.accent)), stroke=hues.dark, stroke_width=3)
    height = rng.whole(38, 46)
    eyes = [circle(50 + side * gap, height, eye, hues.dark) for side in (-1, 1)]
    if rng.chance(0.5):
        return [head, *eyes, ellipse(50, rng.whole(62, 68), rng.whole(6, 14), rng.whole(3, 9), hues.dark)]
    slope = rng.whole(-4, 4)
    return [head, *eyes, line(36, 66 - slope, 64, 66 + slope, hues.dark, 4, stroke_linecap="round")]


def bars(rng: Rng, hues: Hues) -> list[str]:
    """A bar chart on its axes."""
    count, colours = rng.whole(3, 6), (hues.main, hues.second, hues.accent)
    step = 72 / count
    heights = [rng.whole(10, 66) for _ in range(count)]
    drawn = [rect(19 + i * step, 86 - h, step * 0.7, h, colours[i % 3]) for i, h in enumerate(heights)]
    return [*drawn, polyline([(14, 10), (14, 86), (94, 86)], hues.dark, rng.whole(2, 4))]


def trend(rng: Rng, hues: Hues) -> list[str]:
    """A line chart with marks at its points."""
    points = [(16 + i * 14, rng.whole(16, 80)) for i in range(6)]
    axes = polyline([(10, 8), (10, 90), (94, 90)], hues.dark, 2)
    curve = polyline(points, hues.main, rng.whole(2, 5), stroke_linejoin="round")
    return [axes, curve, *(circle(x, y, rng.real(2.5, 4.5), hues.accent) for x, y in points)]


def rings(rng: Rng, hues: Hues) -> list[str]:
    """A shooting target with an arrow's hole."""
    x, y, outer, count = rng.whole(44, 56), rng.whole(44, 56), rng.whole(34, 42), rng.whole(3, 5)
    drawn = [circle(x, y, outer * (count - i) / count, (hues.main, "white")[i % 2]) for i in range(count)]
    return [*drawn, circle(rng.whole(36, 64), rng.whole(36, 64), 3, hues.dark)]


def lights(rng: Rng, hues: Hues) -> list[str]:
    """Traffic lights, one of them lit."""
    lit, width = rng.whole(0, 2), rng.whole(28, 36)
    case = rect(50 - width / 2, 10, width, 72, hues.dark, rx=rng.whole(4, 12))
    colours = [c if i == lit else "dimgray" for i, c in enumerate(("red", "orange", "limegreen"))]
    lamps = [circle(50, 23 + i * 23, rng.real(8, 10), colour) for i, colour in enumerate(colours)]
    return [rect(46, 80, 8, 16, "gray"), case, *lamps]


def die(rng: Rng, hues: Hues) -> list[str]:
    """A die's face."""
    left, side = rng.whole(14, 22), rng.whole(56, 62)
    spots = {1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "abcghi"}[rng.whole(1, 6)]
    places = {name: (i % 3, i // 3) for i, name in enumerate("abcdefghi")}
    step, r = side / 4, rng.real(4, 6.5)
    body = rect(left, left, side, side, hues.main, rx=rng.whole(4, 14), stroke=hues.dark, stroke_width=2)
    columns = [places[name] for name in spots]
    return [body, *(circle(left + step * (c + 1), left + step * (row + 1), r, "white") for c, row in columns)]


def envelope(rng: Rng, hues: Hues) -> list[str]:
    """A letter with its flap."""
    top, height, width = rng.whole(22, 32), rng.whole(40, 50), rng.whole(2, 4)
    body = rect(12, top, 76, height, hues.accent, stroke=hues.dark, stroke_width=width, rx=rng.whole(0, 6))
    return [body, polyline([(12, top), (50, top + rng.whole(18, 34)), (88, top)], hues.dark, width)]


def battery(rng: Rng, hues: Hues) -> list[str]:
    """A battery with some cells filled."""
    top, height, cells = rng.whole(28, 36), rng.whole(28, 38), rng.whole(1, 4)
    case = rect(10, top, 74, height, "none", stroke=hues.dark, stroke_width=4, rx=rng.whole(3, 8))
    knob = rect(86, top + height * 0.3, 6, height * 0.4, hues.dark)
    colour = "red" if cells == 1 else rng.pick(("limegreen", hues.main))
    return [case, knob, *(rect(15 + i * 16.5, top + 5, 13, height - 10, colour) for i in range(cells))]


def snowman(rng: Rng, hues: Hues) -> list[str]:
    """Two balls, a hat and buttons."""
    low, high, brim = rng.whole(20, 26), rng.whole(13, 17), rng.whole(10, 16)
    neck = 92 - 2 * low
    rim = {"stroke": hues.dark, "stroke_width": 2}
    body = [circle(50, 92 - low, low, "white", **rim), circle(50, neck - high + 4, high, "white", **rim)]
    top = neck - 2 * high + 6
    hat = [rect(50 - brim, top, 2 * brim, 4, hues.dark), rect(50 - brim * 0.6, top - 12, brim * 1.2, 13, hues.dark)]
    eyes = [circle(50 + side * 5, neck - high + 1, 2, hues.dark) for side in (-1, 1)]
    buttons = [circle(50, 92 - low + i * 8 - 8, 2, hues.main) for i in range(rng.whole(1, 3))]
    nose = polygon([(50, neck - high + 4), (50, neck - high + 8), (62, neck - high + 7)], "darkorange")
    return [*body, *hat, *eyes, nose, *buttons]


def arrow(rng: Rng, hues: Hues) -> list[str]:
    """An arrow along one of the eight directions of the compass."""
    turn, width, length = rng.whole(0, 7) * 45, rng.whole(6, 12), rng.whole(28, 38)
    (tip,), (end,) = around(50, 50, length, 1, turn), around(50, 50, length, 1, turn + 180)
    wings = [around(*tip, rng.whole(18, 26), 1, turn + 180 + side)[0] for side in (-38, 38)]
    style: dict[str, str | float | None] = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    disc = [circle(50, 50, 46, hues.second)] if rng.chance(0.5) else []
    colour = "white" if disc else hues.main
    return [
        *disc,
        line(*end, *tip, colour, width, **style),
        polyline([wings[0], tip, wings[1]], colour, width, **style),
    ]


def sliders(rng: Rng, hues: Hues) -> list[str]:
    """Three controls with knobs."""
    ys = (26, 50, 74)
    tracks = [line(14, y, 86, y, hues.dark, 4, stroke_linecap="round") for y in ys]
    knobs = [
        circle(rng.whole(22, 78), y, rng.whole(7, 10), colour, stroke=hues.paper, stroke_width=3)
        for y, colour in zip(ys, (hues.main, hues.second, hues.accent), strict=True)
    ]
    return [*tracks, *knobs]


def barrier(rng: Rng, hues: Hues) -> list[str]:
    """A round road sign with a bar or a cross."""
    r, width = rng.whole(34, 42), rng.whole(8, 13)
    plate = circle(50, 50, r, rng.pick(("crimson", "royalblue", hues.main)), stroke=hues.dark, stroke_width=2)
    reach = r * rng.real(0.5, 0.7)
    if rng.chance(0.5):
        return [plate, rect(50 - reach, 50 - width / 2, 2 * reach, width, "white", rx=rng.whole(0, 4))]
    d = reach * 0.7
    strokes = [line(50 - d, 50 - d * s, 50 + d, 50 + d * s, "white", width) for s in (-1, 1)]
    return [plate, *strokes]


OBJECTS: tuple[Recipe, ...] = (
    house, sun, flag, face, bars, trend, rings, lights, die, envelope, battery, snowman, arrow, sliders, barrier,
)  # fmt: skip


# ---------------------------------------------------------------------- curved paths and gradients


def heart(rng: Rng, hues: Hues) -> list[str]:
    """A heart, with a shine on it or filled by a gradient."""
    wide, low, dip = rng.whole(26, 44), rng.whole(72, 94), rng.whole(24, 40)
    top = dip - rng.whole(14, 24)
    d = f"M50 {low}C{50 - wide - 10} {dip + 22} {50 - wide} {top} 50 {dip}"
    d += f"C{50 + wide} {top} {50 + wide + 10} {dip + 22} 50 {low}Z"
    if rng.chance(0.5):
        return [gradient("a", hues.main, hues.second), path(d, "url(#a)")]
    shine = path(f"M{50 - wide * 0.5:.0f} {dip + 14}q2 -10 10 -12", "none", stroke="white", stroke_width=4)
    return [path(d, hues.main, stroke=hues.dark, stroke_width=rng.whole(0, 3)), shine]


def drop(rng: Rng, hues: Hues) -> list[str]:
    """A drop of water."""
    r, top = rng.whole(16, 32), rng.whole(5, 24)
    low = 92 - r
    d = f"M50 {top}C{50 + r * 0.4:.0f} {top + 22} {50 + r} {low - r * 0.6:.0f} {50 + r} {low}"
    d += f"A{r} {r} 0 0 1 {50 - r} {low}"
    d += f"C{50 - r} {low - r * 0.6:.0f} {50 - r * 0.4:.0f} {top + 22} 50 {top}Z"
    fill = gradient("a", "white", rng.pick(("dodgerblue", hues.main)), radial=rng.chance(0.4))
    glint = ellipse(50 - r * 0.4, low + rng.whole(-4, 4), 4, rng.whole(5, 9), "white")
    return [fill, path(d, "url(#a)", stroke=hues.dark, stroke_width=2), glint]


def moon(rng: Rng, hues: Hues) -> list[str]:
    """A crescent and stars in a dark sky."""
    x, r, bite = rng.whole(30, 50), rng.whole(24, 36), rng.real(0.2, 0.7)
    d = f"M{x} {50 - r}A{r} {r} 0 1 1 {x} {50 + r}A{number(r * bite)} {r} 0 0 0 {x} {50 - r}Z"
    stars = [circle(rng.whole(8, 92), rng.whole(8, 92), rng.real(1, 2.5), "white") for _ in range(rng.whole(3, 8))]
    return [gradient("a", "midnightblue", hues.dark), rect(0, 0, 100, 100, "url(#a)"), *stars, path(d, "gold")]


def cloud(rng: Rng, hues: Hues) -> list[str]:
    """A cloud, and perhaps rain."""
    left, base, bump = rng.whole(16, 24), rng.whole(54, 64), rng.whole(12, 18)
    width = rng.whole(52, 62)
    d = f"M{left} {base}a{bump} {bump} 0 0 1 {bump * 0.6:.0f} -{bump}a{bump + 4} {bump + 4} 0 0 1 {width * 0.5:.0f} -4"
    d += f"A{bump} {bump} 0 0 1 {left + width} {base}a6 6 0 0 1 -4 8H{left + 6}a7 7 0 0 1 -6 -8Z"
    slant, drops = rng.whole(-8, 8), rng.whole(0, 5)
    rain = [
        line(left + 8 + i * 11, base + 14, left + 8 + i * 11 + slant, base + rng.whole(22, 30), "dodgerblue", 3)
        for i in range(drops)
    ]
    return [gradient("a", "white", rng.pick(("lightsteelblue", hues.accent))), *rain,
            path(d, "url(#a)", stroke=hues.dark, stroke_width=2)]  # fmt: skip


def leaf(rng: Rng, hues: Hues) -> list[str]:
    """A leaf with its veins."""
    bulge, top, low, lean = rng.whole(22, 42), rng.whole(6, 18), rng.whole(72, 86), rng.whole(-12, 12)
    colour = rng.pick(("seagreen", "olivedrab", "chocolate", hues.main))
    d = f"M{50 + lean} {top}C{50 + bulge} {top + 16} {50 + bulge} {low - 18} 50 {low}"
    d += f"C{50 - bulge} {low - 18} {50 - bulge} {top + 16} {50 + lean} {top}Z"
    stem = path(f"M{50 + lean} {top + 10}Q50 {low - 26} 50 94", "none", stroke=hues.dark, stroke_width=rng.real(2.5, 5))
    veins = [
        path(
            f"M50 {y}q{side * bulge * 0.3:.0f} -2 {side * bulge * 0.42:.0f} -12",
            "none",
            stroke="white",
            stroke_width=1.5,
        )
        for y in range(low - 40, low - 8, rng.whole(10, 16))
        for side in (-1, 1)
    ]
    return [path(d, colour), *veins, stem]


def cup(rng: Rng, hues: Hues) -> list[str]:
    """A cup with a handle and steam."""
    left, top, taper, width = rng.whole(18, 24), rng.whole(38, 46), rng.whole(2, 9), rng.whole(42, 48)
    right = left + width
    body = f"M{left} {top}H{right}L{right - taper} 80Q{right - taper} 86 {right - taper - 7} 86H{left + taper + 7}"
    body += f"Q{left + taper} 86 {left + taper} 80Z"
    ear = path(f"M{right - 2} {top + 8}c{rng.whole(16, 24)} -4 {rng.whole(14, 20)} 26 -4 22", "none",
               stroke=hues.main, stroke_width=rng.whole(4, 7))  # fmt: skip
    steam = [
        path(
            f"M{left + 12 + i * 12} {top - 6}q-6 -7 0 -13t0 -{rng.whole(8, 13)}",
            "none",
            stroke="darkgray",
            stroke_width=3,
        )
        for i in range(rng.whole(0, 3))
    ]
    return [ear, path(body, hues.main), *steam, rect(left - 6, 89, width + 12, 4, hues.dark, rx=2)]


def key(rng: Rng, hues: Hues) -> list[str]:
    """A key with teeth."""
    r, width, teeth = rng.whole(13, 18), rng.whole(6, 9), rng.whole(2, 4)
    y, colour = rng.whole(42, 58), rng.pick(("goldenrod", hues.main, "slategray"))
    bow = path(
        f"M{26 - r} {y}a{r} {r} 0 1 1 {2 * r} 0a{r} {r} 0 1 1 -{2 * r} 0Z", "none", stroke=colour, stroke_width=width
    )
    shaft = path(f"M{26 + r} {y}H92" + "".join(f"M{90 - i * 11} {y}v{rng.whole(8, 18)}" for i in range(teeth)), "none",
                 stroke=colour, stroke_width=width)  # fmt: skip
    return [bow, shaft]


def bell(rng: Rng, hues: Hues) -> list[str]:
    """A bell."""
    flare, top, shoulder = rng.whole(26, 40), rng.whole(10, 24), rng.whole(14, 24)
    d = f"M{50 - flare} 76Q{50 - shoulder} 68 {50 - shoulder} {top + 30}"
    d += f"A{shoulder} {shoulder + 4} 0 0 1 {50 + shoulder} {top + 30}"
    d += f"Q{50 + shoulder} 68 {50 + flare} 76Z"
    fill = gradient("a", "gold", rng.pick(("darkorange", hues.main)), upright=rng.chance(0.5))
    return [fill, circle(50, 80, rng.whole(6, 9), hues.dark), path(d, "url(#a)"), circle(50, top + 2, 5, hues.dark)]


def bubble(rng: Rng, hues: Hues) -> list[str]:
    """A speech bubble with dots or lines of writing."""
    r, low, tail = rng.whole(8, 16), rng.whole(62, 70), rng.whole(26, 54)
    d = f"M{12 + r} 16H{88 - r}q{r} 0 {r} {r}V{low - r}q0 {r} -{r} {r}"
    d += f"H{tail + 16}L{tail - 6} 88L{tail} {low}H{12 + r}q-{r} 0 -{r} -{r}"
    d += f"V{16 + r}q0 -{r} {r} -{r}Z"
    if rng.chance(0.5):
        size = rng.real(4, 6)
        inside = [circle(32 + i * 18, 16 + (low - 16) / 2, size, "white") for i in range(3)]
    else:
        inside = [line(26, 30 + i * 12, rng.whole(50, 76), 30 + i * 12, "white", 5) for i in range(rng.whole(2, 3))]
    return [path(d, hues.main), *inside]


def fish(rng: Rng, hues: Hues) -> list[str]:
    """A fish with an eye and bubbles."""
    height, y = rng.whole(16, 26), rng.whole(42, 58)
    body = f"M12 {y}Q40 {y - height * 1.6:.0f} 70 {y}Q40 {y + height * 1.6:.0f} 12 {y}Z"
    tail = f"M66 {y}L90 {y - rng.whole(12, 20)}Q82 {y} 90 {y + rng.whole(12, 20)}Z"
    bubbles = [circle(rng.whole(4, 14), y - 14 - i * 12, rng.real(2, 4), "none", stroke=hues.dark, stroke_width=1.5)
               for i in range(rng.whole(0, 3))]  # fmt: skip
    gill = path(f"M38 {y - 9}q6 9 0 18", "none", stroke=hues.dark, stroke_width=2)
    fill = gradient("a", hues.accent, hues.main, upright=rng.chance(0.6))
    return [fill, path(tail, hues.second), path(body, "url(#a)"), gill, circle(26, y - 4, 3, hues.dark), *bubbles]


def shield(rng: Rng, hues: Hues) -> list[str]:
    """A shield with a tick."""
    wide, top, waist = rng.whole(28, 36), rng.whole(10, 18), rng.whole(46, 58)
    d = f"M50 {top - 4}Q{50 + wide * 0.6:.0f} {top + 6} {50 + wide} {top + 6}"
    d += f"V{waist}Q{50 + wide} 80 50 94Q{50 - wide} 80 {50 - wide} {waist}"
    d += f"V{top + 6}Q{50 - wide * 0.6:.0f} {top + 6} 50 {top - 4}Z"
    tick = f"M{50 - wide * 0.45:.0f} {waist}l{wide * 0.35:.0f} {rng.whole(10, 14)}"
    tick += f"L{50 + wide * 0.5:.0f} {waist - rng.whole(10, 20)}"
    return [
        path(d, hues.main, stroke=hues.dark, stroke_width=rng.whole(2, 5)),
        path(tick, "none", stroke="white", stroke_width=rng.whole(5, 8), stroke_linecap="round"),
    ]


def peaks(rng: Rng, hues: Hues) -> list[str]:
    """Mountains under a sky that fades."""
    snow, high = rng.whole(8, 14), rng.whole(24, 40)
    x = rng.whole(30, 46)
    far = f"M{x + 10} 100L{x + 40} {high + rng.whole(8, 18)}L110 100Z"
    near = f"M-10 100L{x} {high}L{x + 48} 100Z"
    cap = f"M{x - snow} {high + snow * 1.5:.0f}L{x} {high}"
    cap += f"L{x + snow} {high + snow * 1.7:.0f}l-{snow * 0.7:.0f} 4l-{snow * 0.6:.0f} -5Z"
    sky = [gradient("a", rng.pick(("skyblue", "lightsalmon", hues.accent)), "white"), rect(0, 0, 100, 100, "url(#a)")]
    disc = circle(rng.whole(62, 88), rng.whole(12, 24), rng.whole(6, 11), rng.pick(("gold", "orange")))
    return [*sky, disc, path(far, hues.second), path(near, hues.dark), path(cap, "white")]


def umbrella(rng: Rng, hues: Hues) -> list[str]:
    """An umbrella."""
    r, y, scallops = rng.real(30, 42), rng.whole(44, 56), rng.whole(2, 5)
    width = 2 * r / scallops
    arches = "".join(f"a{number(width / 2)} {rng.whole(4, 7)} 0 0 0 -{number(width)} 0" for _ in range(scallops))
    canopy = f"M{number(50 - r)} {y}A{number(r)} {number(r)} 0 0 1 {number(50 + r)} {y}{arches}Z"
    handle = path(
        f"M50 {y - 4}V{rng.whole(76, 86)}a7 7 0 0 1 -14 0", "none", stroke=hues.dark, stroke_width=rng.whole(3, 5)
    )
    return [handle, path(canopy, hues.main), line(50, y - r - 5, 50, y - r + 2, hues.dark, 3)]


def flame(rng: Rng, hues: Hues) -> list[str]:
    """A flame with a lighter heart."""
    lean, wide, heart = rng.whole(-12, 12), rng.whole(18, 32), rng.whole(44, 60)
    outer = f"M{50 + lean} 8C{50 + wide} 34 {50 + wide + 6} 52 {50 + wide - 2} 70"
    outer += f"A{wide} {wide - 4} 0 0 1 {50 - wide + 2} 70"
    outer += f"C{50 - wide - 4} 50 {50 - 8 + lean} 44 {50 + lean} 8Z"
    inner = f"M{50 - lean} {heart}Q{50 + wide * 0.6:.0f} 70 50 88Q{50 - wide * 0.6:.0f} 72 {50 - lean} {heart}Z"
    return [
        gradient("a", "gold", rng.pick(("orangered", "crimson", hues.main))),
        path(outer, "url(#a)"),
        path(inner, "lemonchiffon"),
    ]


CURVES: tuple[Recipe, ...] = (
    heart, drop, moon, cloud, leaf, cup, key, bell, bubble, fish, shield, peaks, umbrella, flame,
)  # fmt: skip
