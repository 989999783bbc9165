"""Grade 3: curved paths and gradients."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import Hues, Recipe, Rng, circle, ellipse, gradient, line, number, path, rect


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


RECIPES: tuple[Recipe, ...] = (
    heart, drop, moon, cloud, leaf, cup, key, bell, bubble, fish, shield, peaks, umbrella, flame,
)  # fmt: skip
