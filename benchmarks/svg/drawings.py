"""Drawings for `agentrl bench svg`: made from a seed, in the two styles that icon sets come in."""

from __future__ import annotations

import random


def stroke_icon(rng: random.Random) -> str:
    """A few thin lines on a small canvas, about half a kilobyte."""
    shapes = "".join(_line(rng) for _ in range(rng.randint(2, 5)))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24" fill="none" '
        f'stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">{shapes}</svg>'
    )


def coloured_picture(rng: random.Random) -> str:
    """Filled curves, gradients, a clip, groups and uses, about four kilobytes."""
    stops = "".join(f'<stop offset="{n / 3:.2f}" stop-color="{_colour(rng)}"/>' for n in range(4))
    curves = "".join(f'<path fill="{_colour(rng)}" d="{_curve(rng)}"/>' for _ in range(rng.randint(6, 10)))
    copies = "".join(
        f'<use href="#part" transform="translate({rng.uniform(0, 400):.1f} {rng.uniform(0, 300):.1f}) '
        f'rotate({rng.uniform(0, 360):.1f}) scale({rng.uniform(0.1, 0.6):.2f})"/>'
        for _ in range(rng.randint(3, 6))
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 480"><defs>'
        f'<linearGradient id="paint" x2="0" y2="1">{stops}</linearGradient>'
        '<clipPath id="frame"><rect width="640" height="480" rx="40"/></clipPath>'
        f'<g id="part"><path fill="{_colour(rng)}" d="{_curve(rng)}"/><circle r="30" fill="{_colour(rng)}"/></g></defs>'
        f'<g clip-path="url(#frame)"><rect width="640" height="480" fill="url(#paint)"/>{curves}{copies}</g></svg>'
    )


def _line(rng: random.Random) -> str:
    x, y = rng.randint(2, 22), rng.randint(2, 22)
    if rng.random() < 0.25:
        return f'<circle cx="{x}" cy="{y}" r="{rng.randint(1, 6)}"/>'
    steps = "".join(f"{rng.choice('lhv')}{rng.uniform(-6, 6):.2f} {rng.uniform(-6, 6):.2f}" for _ in range(2))
    return f'<path d="M{x} {y}l3 1{steps}a{rng.randint(1, 4)} 2 0 0 1 {rng.randint(1, 4)} 2"/>'


def _curve(rng: random.Random) -> str:
    points = " ".join(f"{rng.uniform(-90, 90):.2f}" for _ in range(6 * rng.randint(4, 9)))
    return f"M{rng.uniform(50, 590):.1f} {rng.uniform(50, 430):.1f}c{points}z"


def _colour(rng: random.Random) -> str:
    return f"#{rng.randrange(1 << 24):06x}"


STYLES = {"stroke icons": stroke_icon, "coloured pictures": coloured_picture}
