"""The folder of LIBERO's assets, built from a checkout of its public repository.

Copies of that repository often lack files over 4 MB. Those that a task needs are textures and visual meshes, which
neither collide nor weigh anything: a plain picture, or a mesh made from another shape of the same thing, stands in for
each of them. Nothing but pictures differs then.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError
from agentrl.envs.libero.objects import MODELS

REPOSITORY = "Lifelong-Robot-Learning/LIBERO"
INSIDE_CHECKOUT = Path("libero/libero/assets")
LISTED = "stand-ins.txt"  # in the built folder
PLAIN = "#b8b0a4"
COLOURS = {
    "akita_black_bowl": "#26221f", "white_bowl": "#f1efe9", "plate": "#f4f2ec", "porcelain_mug": "#f7f6f2",
    "red_coffee_mug": "#c22a26", "white_yellow_mug": "#f0d98a", "basket": "#c9a77a", "wooden_tray": "#a97e52",
    "desk_caddy": "#8a5a34", "coffee_table_seats": "#6e4630", "short_coffee_table": "#e6e2dc",
}  # fmt: skip


def default_assets() -> Path:
    """Where `agentrl setup libero-official --from CHECKOUT` puts them."""
    return cache_dir() / "libero" / "assets"


def build_assets(say: Callable[[str], None], checkout: str | Path, target: Path) -> dict[str, Any]:
    """Copy the assets of a checkout to `target`, and make what stands in for missing ones; returns facts about them."""
    given = Path(checkout).expanduser()
    source = given / INSIDE_CHECKOUT
    if not (source / "scenes").is_dir():
        raise ConfigError(f"--from must be a checkout of {REPOSITORY}, with {INSIDE_CHECKOUT}/scenes; got {given}")
    if target.exists():
        raise ConfigError(f"the folder of the assets must be new; got {target}, which exists: remove it to build it")
    missing = [path for path in needed_files(source) if not path.is_file()]
    inside = [path for path in missing if path.is_relative_to(source)]
    makers = {path: make for path in inside if (make := _maker(path)) is not None}
    if lost := [os.path.relpath(path, source) for path in missing if path not in makers]:
        raise ConfigError(f"nothing can stand in for {', '.join(lost)}: it must be in {source}")
    say(f"copying {source}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="assets-") as folder:
        part = Path(folder) / "assets"
        shutil.copytree(source, part)
        copied = sum(path.is_file() for path in part.rglob("*"))
        names = sorted(str(path.relative_to(source)) for path in missing)
        for path, make in makers.items():
            made = part / path.relative_to(source)
            made.parent.mkdir(parents=True, exist_ok=True)
            make(made)
        (part / LISTED).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        os.rename(part, target)
    for name in names:
        say(f"missing, with a stand-in: {name}")
    return {"assets": str(target), "copied": copied, "stand-ins": len(names), "listed in": str(target / LISTED)}


def needed_files(assets: Path) -> list[Path]:
    """All textures and meshes that the models of things and the rooms of LIBERO's tasks name."""
    found: dict[str, list[Path]] = {}
    for path in sorted(assets.rglob("*.xml")):
        found.setdefault(path.stem, []).append(path)
    if unknown := [kind for kind in MODELS if kind not in found]:
        raise ConfigError(f"{assets} must have a model of every thing; there is none of {', '.join(unknown)}")
    rooms = sorted((assets / "scenes").glob("*_base_style.xml"))
    models = [*rooms, *(path for kind in MODELS for path in found[kind])]
    named = [path.parent / part.attrib["file"] for path in models for part in _parts(path) if "file" in part.attrib]
    return sorted({Path(os.path.normpath(path)) for path in named})


def _parts(path: Path) -> Iterator[ElementTree.Element]:
    try:
        return ElementTree.parse(path).iter()
    except ElementTree.ParseError as error:
        raise ConfigError(f"{path} must be XML; got {error}") from error


# ---------------------------------------------------------------------- what stands in


def _maker(path: Path) -> Callable[[Path], object] | None:
    """What writes a stand-in for this file; None where nothing can."""
    if path.suffix == ".png":
        colour = COLOURS.get(path.parent.name, PLAIN)
        return Image.new("RGB", (64, 64), colour).save
    if path.name.endswith("_vis.msh"):
        thing, name = path.parent.parent, path.name.removesuffix("_vis.msh")
        shapes = (thing / f"{name}.obj", *sorted(thing.glob("*_col.obj")), thing / "collision" / f"{name}_ch.stl")
        if shape := next((shape for shape in shapes if shape.is_file()), None):
            return lambda made: made.write_bytes(as_msh(read_triangles(shape)))
    return None


def read_triangles(path: Path) -> np.ndarray:
    """The triangles of an OBJ (all of its objects) or a binary STL file: [number, corner, xyz]."""
    if path.suffix == ".stl":
        kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        return np.frombuffer(path.read_bytes(), kind, offset=84)["corners"]
    corners: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match line.split():
            case ["v", *numbers]:
                corners.append([float(number) for number in numbers[:3]])
            case ["f", *names]:
                face = [int(name.partition("/")[0]) - 1 for name in names]
                triangles += [(face[0], *pair) for pair in itertools.pairwise(face[1:])]
    return np.array(corners, dtype=np.float32)[np.array(triangles)]


def as_msh(triangles: np.ndarray) -> bytes:
    """Triangles in MuJoCo's binary format: four counts, corners, (no normals,) texture coordinates, faces. The texture
    lies over the two longest sides, so that its colours are seen."""
    corners = np.ascontiguousarray(triangles.reshape(-1, 3), dtype="<f4")
    low, extent = corners.min(axis=0), np.ptp(corners, axis=0)
    long = np.argsort(extent)[1:]
    texture = ((corners - low) / np.maximum(extent, 1e-9))[:, long].astype("<f4")
    counts = np.array([len(corners), 0, len(corners), len(triangles)], dtype="<i4")
    faces = np.arange(len(corners), dtype="<i4")
    return b"".join(part.tobytes() for part in (counts, corners, texture, faces))
