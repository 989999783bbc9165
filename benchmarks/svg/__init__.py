"""`agentrl bench svg`: pictures a second from SVG code, gate and supervised process included, beside plain cairosvg.

Seconds are those of the processor, in this process and in the drawing process together: pictures per second per core,
whatever else the machine does. The peer does what most programs do, `cairosvg.svg2png`; its pixels without the PNG, in
this process and with nothing checked, are shown as well: what is left to gain.
"""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Callable
from typing import Any

import agentrl
from agentrl.core.errors import MissingExtra
from agentrl.core.measure import machine, result
from agentrl.envs.svg.sandbox.renderer import Renderer
from benchmarks.svg.drawings import STYLES

PIXELS = 256
DRAWINGS = 40
REQUIRED = 0.75  # the gate and the process cost a quarter at most
PEER = "cairosvg svg2png"
BARE = "cairosvg, pixels without PNG"


def run(quick: bool = False) -> dict[str, Any]:
    """Draw the same pictures ours and the plain way, and compare."""
    if importlib.util.find_spec("cairosvg") is None:
        raise MissingExtra("cairosvg", "svg")
    seconds, repeats = (0.1, 1) if quick else (1.0, 5)
    drawn = drawing_cases(seconds, repeats)
    ratios = [compare(drawn, style) for style in STYLES]
    return {
        "schema": 1,
        "name": "svg",
        "machine": machine(),
        "threads": 1,
        "results": drawn,
        "peers": {"cairosvg": {"installed": True, "version": _version(), "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def drawing_cases(seconds: float, repeats: int) -> list[dict[str, Any]]:
    """Rows for each style of drawing: ours and plain, repeat by repeat in turn, so that both meet the same machine."""
    rows = []
    with Renderer(PIXELS, deadline=60.0) as renderer:
        renderer.draw("<svg/>")
        ways: dict[str, tuple[str, Callable[[str], Any]]] = {
            "agentrl": (agentrl.__version__, renderer.draw),
            PEER: (_version(), _plain()),
            BARE: (_version(), _bare()),
        }
        for style, make in STYLES.items():
            codes = [make(random.Random(seed)) for seed in range(DRAWINGS)]
            found: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(repeats):
                for name, (_, draw) in ways.items():
                    found[name].append(rate(draw, codes, seconds, renderer))
            rows += [
                result(style, name, version, found[name], "pictures/s", obs="image", px=PIXELS)
                for name, (version, _) in ways.items()
            ]
    return rows


def rate(draw: Callable[[str], Any], codes: list[str], seconds: float, renderer: Renderer) -> float:
    """Pictures in a second of processor time; whole rounds only, so that every way draws the same mixture."""
    done, start, child = 0, time.process_time(), renderer.processor_seconds()
    while done == 0 or time.process_time() - start + renderer.processor_seconds() - child < seconds:
        for code in codes:
            draw(code)
        done += len(codes)
    return done / (time.process_time() - start + renderer.processor_seconds() - child)


def _plain() -> Callable[[str], Any]:
    import cairosvg

    size = {"output_width": PIXELS, "output_height": PIXELS, "background_color": "white"}
    return lambda code: cairosvg.svg2png(bytestring=code.encode(), **size)


def _bare() -> Callable[[str], Any]:
    from cairosvg.parser import Tree
    from cairosvg.surface import PNGSurface
    from PIL import Image

    def draw(code: str) -> bytes:
        size = {"output_width": PIXELS, "output_height": PIXELS, "background_color": "white"}
        pixels: Any = PNGSurface(Tree(bytestring=code.encode()), None, 96, **size).cairo
        layout = pixels.get_data(), "raw", "BGRX", pixels.get_stride(), 1
        return Image.frombuffer("RGB", (PIXELS, PIXELS), *layout).tobytes()

    return draw


def _version() -> str:
    from importlib.metadata import version

    return version("cairosvg")


def compare(results: list[dict[str, Any]], style: str) -> dict[str, Any]:
    """Our rate over that of `svg2png` for one style of drawing."""
    rates = {row["impl"]: row["value"] for row in results if row["case"] == style}
    ratio = rates["agentrl"] / rates[PEER]
    return {
        "case": f"{style} of {PIXELS} px",
        "ours": rates["agentrl"],
        "peer": rates[PEER],
        "ratio": ratio,
        "required": REQUIRED,
        "pass": ratio >= REQUIRED,
    }
