"""Grade 2: things made of primitives and strokes."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import Hues, Recipe, Rng, around, circle, ellipse, line, polygon, polyline, rect


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


RECIPES: tuple[Recipe, ...] = (
    house, sun, flag, face, bars, trend, rings, lights, die, envelope, battery, snowman, arrow, sliders, barrier,
)  # fmt: skip
