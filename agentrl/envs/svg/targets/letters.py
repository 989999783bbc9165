"""Letters and digits as strokes of our own: drawn alike on every machine, whatever fonts it has."""

from __future__ import annotations

from agentrl.envs.svg.targets.pen import number, tag

WIDTH, HEIGHT, GAP = 4, 6, 2  # of the box that a glyph is drawn in, and the space after it
# One path a glyph: capital letters are absolute commands, corners in a box of 4 x 6 with y downwards.
GLYPHS = {
    "A": "M0 6L2 0L4 6M0.7 4H3.3",
    "B": "M0 0V6H2.4A1.6 1.6 0 0 0 2.4 2.8H0H2.2A1.4 1.4 0 0 0 2.2 0Z",
    "C": "M4 1.2A2.1 2.1 0 0 0 0 2V4A2.1 2.1 0 0 0 4 4.8",
    "D": "M0 0V6H1.5A2.5 2.5 0 0 0 4 3.5V2.5A2.5 2.5 0 0 0 1.5 0Z",
    "E": "M4 0H0V6H4M0 3H3.2",
    "F": "M4 0H0V6M0 3H3.2",
    "G": "M4 1.2A2.1 2.1 0 0 0 0 2V4A2 2 0 0 0 4 4V3.2H2.4",
    "H": "M0 0V6M4 0V6M0 3H4",
    "I": "M2 0V6M1 0H3M1 6H3",
    "J": "M4 0V4A2 2 0 0 1 0 4",
    "K": "M0 0V6M4 0L0 3.4M1.4 2.4L4 6",
    "L": "M0 0V6H4",
    "M": "M0 6V0L2 3.4L4 0V6",
    "N": "M0 6V0L4 6V0",
    "O": "M0 2A2 2 0 0 1 4 2V4A2 2 0 0 1 0 4Z",
    "P": "M0 6V0H2.4A1.6 1.6 0 0 1 2.4 3.2H0",
    "Q": "M0 2A2 2 0 0 1 4 2V4A2 2 0 0 1 0 4ZM2.6 4.4L4.2 6.2",
    "R": "M0 6V0H2.4A1.6 1.6 0 0 1 2.4 3.2H0M2 3.2L4 6",
    "S": "M3.8 1.2A2 1.6 0 0 0 0.2 1.5C0.2 3.6 3.8 2.4 3.8 4.5A2 1.6 0 0 1 0.2 4.8",
    "T": "M0 0H4M2 0V6",
    "U": "M0 0V4A2 2 0 0 0 4 4V0",
    "V": "M0 0L2 6L4 0",
    "W": "M0 0L1 6L2 2.4L3 6L4 0",
    "X": "M0 0L4 6M4 0L0 6",
    "Y": "M0 0L2 3L4 0M2 3V6",
    "Z": "M0 0H4L0 6H4",
    "0": "M0 2A2 2 0 0 1 4 2V4A2 2 0 0 1 0 4ZM1 4.6L3 1.4",
    "1": "M0.6 1.4L2 0V6M0.6 6H3.4",
    "2": "M0.2 1.6A1.9 1.9 0 0 1 3.4 2.9L0.2 6H4",
    "3": "M0.2 0H3.8L1.8 2.4A1.8 1.8 0 1 1 0.2 5",
    "4": "M3 6V0L0 4.2H4",
    "5": "M3.8 0H0.6L0.4 2.6H2.2A1.7 1.7 0 0 1 2.2 6H0.2",
    "6": "M3.4 0.2C0.6 0.8 0 2.6 0 4A2 2 0 0 0 4 4A1.9 1.9 0 0 0 0.2 3.4",
    "7": "M0 0H4L1.4 6",
    "8": "M2 3A1.5 1.5 0 0 1 2 0A1.5 1.5 0 0 1 2 3A1.5 1.5 0 0 0 2 6A1.5 1.5 0 0 0 2 3",
    "9": "M0.6 5.8C3.4 5.2 4 3.4 4 2A2 2 0 0 0 0 2A1.9 1.9 0 0 0 3.8 2.6",
}
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def word_width(word: str, height: float) -> float:
    """How wide a word of this height is."""
    return (len(word) * (WIDTH + GAP) - GAP) * height / HEIGHT


def write(word: str, x: float, y: float, height: float, colour: str, weight: float = 1) -> str:
    """A word centred on a point: one group, scaled from the glyphs' box; `weight` is the stroke in that box."""
    scale = height / HEIGHT
    left, top = x - word_width(word, height) / 2, y - height / 2
    glyphs = []
    for place, character in enumerate(word):
        shift = None if place == 0 else f"translate({place * (WIDTH + GAP)})"
        glyphs.append(tag("path", d=GLYPHS[character], transform=shift))
    where = f"translate({number(left)} {number(top)}) scale({number(scale)})"
    style = {"stroke_width": weight, "stroke_linecap": "round", "stroke_linejoin": "round"}
    return tag("g", *glyphs, transform=where, fill="none", stroke=colour, **style)


def set_type(word: str, x: float, y: float, height: float, colour: str) -> str:
    """The same as a `<text>` element, in whatever sans-serif font the machine has."""
    return tag(
        "text", word, x=x, y=y + 0.36 * height, font_family="sans-serif", font_size=1.3 * height, text_anchor="middle",
        font_weight="bold", fill=colour,
    )  # fmt: skip
