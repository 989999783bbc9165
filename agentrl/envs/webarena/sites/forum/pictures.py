"""Pictures of submissions: small landscapes, drawn as SVG. The name says what is seen: "sunset-3f2a91.svg"."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

WIDTH, HEIGHT = 480, 320
# Scene -> colours of sky, sun or moon, far hills, near hills, ground.
SCENES: dict[str, tuple[str, str, str, str, str]] = {
    "sunset": ("#f4a261", "#ffe8a3", "#9c5c6d", "#6d3f5b", "#3d2645"),
    "lake": ("#bfe3f2", "#fff6d5", "#7a9e9f", "#4f7c6a", "#3a7ca5"),
    "mountain": ("#cfe3f5", "#fffbe8", "#8d99ae", "#5c677d", "#4a5a40"),
    "forest": ("#d8ead3", "#fff9db", "#6a994e", "#386641", "#2b4a2f"),
    "beach": ("#a8dadc", "#fff3b0", "#5fa8d3", "#3d8bba", "#e9d8a6"),
    "night": ("#14213d", "#f1f1e6", "#26375c", "#1b2845", "#0b132b"),
    "snow": ("#dfe7ee", "#ffffff", "#b8c4d0", "#93a3b5", "#f5f8fa"),
    "desert": ("#f9d9a8", "#fff1c9", "#d99a5b", "#b9743c", "#e0b173"),
    "city": ("#c9d6df", "#fff7e0", "#7d8597", "#5c6378", "#4a4e69"),
}
NAME = re.compile(rf"({'|'.join(SCENES)})-([0-9a-f]{{6}})\.svg")


@lru_cache(256)  # names come from visitors
def picture(name: str) -> str | None:
    """The drawing of this name; None where there is none."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    scene, key = found.groups()
    rng, (sky, light, far, near, ground) = Random(int(key, 16)), SCENES[scene]
    hills = _blocks if scene == "city" else _hills
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{sky}"/>',
        f'<circle cx="{rng.randint(60, 420)}" cy="{rng.randint(50, 120)}" r="{rng.randint(18, 34)}" fill="{light}"/>',
        hills(rng, 190, 70, far),
        hills(rng, 240, 50, near),
        f'<rect y="{rng.randint(258, 275)}" width="{WIDTH}" height="{HEIGHT}" fill="{ground}"/>',
    ]
    if scene in ("forest", "mountain", "snow"):
        for _ in range(rng.randint(5, 12)):
            x, y, size = rng.randint(0, WIDTH), rng.randint(250, 300), rng.randint(14, 30)
            parts.append(
                f'<polygon points="{x - size // 2},{y} {x},{y - 2 * size} {x + size // 2},{y}" fill="{near}"/>'
            )
    if scene == "night":
        parts += [
            f'<circle cx="{rng.randint(0, 480)}" cy="{rng.randint(0, 170)}" r="1" fill="{light}"/>' for _ in range(60)
        ]
    span = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {span}>{"".join(parts)}</svg>'


def _hills(rng: Random, base: int, rise: int, colour: str) -> str:
    points = [(x, base - rng.randint(0, rise)) for x in range(0, WIDTH + 1, 60)]
    outline = " ".join(f"{x},{y}" for x, y in [(0, HEIGHT), *points, (WIDTH, HEIGHT)])
    return f'<polygon points="{outline}" fill="{colour}"/>'


def _blocks(rng: Random, base: int, rise: int, colour: str) -> str:
    return "".join(
        f'<rect x="{x}" y="{base - rng.randint(10, rise + 60)}" width="34" height="{HEIGHT}" fill="{colour}"/>'
        for x in range(rng.randint(-10, 10), WIDTH, 40)
    )
