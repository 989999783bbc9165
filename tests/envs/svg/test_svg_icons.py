"""Ordinary icons of two public packages pass the gate and look exactly as cairosvg draws them by itself."""

from __future__ import annotations

import io
from typing import Any

import cairosvg
import numpy as np
import pytest
from PIL import Image

from agentrl.envs.svg.sandbox.gate import SvgRefused
from agentrl.envs.svg.sandbox.renderer import Renderer
from tests.envs.svg.icon_packages import PACKAGES, icon_files
from tests.longer import only

MAX_COUNT = 225  # of each quarter
SIZE = 40  # small enough to be quick, large enough to show every shape


def ungated(code: str) -> np.ndarray:
    """What cairosvg draws by itself, on white."""
    png = cairosvg.svg2png(bytestring=code.encode(), output_width=SIZE, output_height=SIZE, background_color="white")
    assert png is not None
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


@pytest.mark.parametrize("quarter", only((0,), range(4)))
@pytest.mark.parametrize("package", PACKAGES)
def test_ordinary_icons_are_drawn_exactly_as_without_the_gate(package: str, quarter: int, record_property: Any) -> None:
    files, refused, different = icon_files(package)[quarter::4][:MAX_COUNT], [], []
    with Renderer(SIZE, deadline=20.0) as renderer:
        for file in files:
            code = file.read_text(encoding="utf-8")
            try:
                picture = renderer.draw(code)
            except SvgRefused as refusal:
                refused.append(f"{file.name}: {refusal}")
                continue
            if not np.array_equal(picture, ungated(code)):
                different.append(file.name)
    equal = len(files) - len(refused) - len(different)
    record_property("figures", f"{len(files)} icons up to 64 KB: {equal} ({equal / len(files):.1%}) pixel-equal")
    assert different == []
    assert len(refused) <= 0.05 * len(files), refused
    assert (picture != 255).any()


def test_there_are_at_least_a_thousand_icons() -> None:
    assert sum(min(4 * MAX_COUNT, len(icon_files(package))) for package in PACKAGES) >= 1000
