"""The folder of LIBERO's assets, built from a miniature of its repository: what is copied, made, said and refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agentrl.cli.main import main
from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.objects import MODELS
from agentrl.envs.libero.official.assets import INSIDE_CHECKOUT, LISTED, build_assets, default_assets, read_triangles

pytestmark = pytest.mark.extra_robots
mujoco = load()
TWO_BOXES = """o first
v 0 0 0
v 1 0 0
v 1 2 0
v 0 2 0
f 1/1/1 2/1/1 3/1/1 4/1/1
o second
v 0 0 3
v 1 0 3
v 1 2 3
f 5 6 7
"""
THING = """<mujoco><asset><texture file="{texture}" name="t"/>
<mesh file="visual/{name}_vis.msh" name="m"/></asset></mujoco>"""
ROOM = """<mujoco><asset><texture file="../textures/wall.png" name="w"/>
<mesh file="lamp/visual/lamp_vis.msh" name="v"/><mesh file="lamp/collision/lamp_ch.stl" name="c"/></asset></mujoco>"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """All things without files, but a bowl and a room that lack their textures and visual meshes."""
    assets = tmp_path / "LIBERO" / INSIDE_CHECKOUT
    for kind in MODELS:
        write(assets / "things" / kind / f"{kind}.xml", "<mujoco/>")
    bowl = assets / "things" / "akita_black_bowl"
    write(bowl / "akita_black_bowl.xml", THING.format(texture="texture.png", name="akita_black_bowl"))
    write(bowl / "akita_black_bowl_col.obj", TWO_BOXES)
    plate = assets / "things" / "plate"
    write(plate / "plate.xml", THING.format(texture="plate.png", name="plate"))
    write(plate / "plate.png", "there")
    write(plate / "visual" / "plate_vis.msh", "there")
    write(assets / "scenes" / "libero_room_base_style.xml", ROOM)
    corners = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 5.0, 0.0]
    (assets / "scenes" / "lamp" / "collision").mkdir(parents=True)
    stl = bytes(80) + struct.pack("<I12fH", 1, *corners, 0)
    (assets / "scenes" / "lamp" / "collision" / "lamp_ch.stl").write_bytes(stl)
    return tmp_path / "LIBERO"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_is_missing_gets_a_stand_in_and_is_listed(checkout, tmp_path):
    said: list[str] = []
    target = tmp_path / "built"
    facts = build_assets(said.append, checkout, target)
    missing = [
        "scenes/lamp/visual/lamp_vis.msh",
        "textures/wall.png",
        "things/akita_black_bowl/texture.png",
        "things/akita_black_bowl/visual/akita_black_bowl_vis.msh",
    ]
    assert (target / LISTED).read_text().splitlines() == missing
    assert facts["stand-ins"] == 4 and facts["copied"] == sum(p.is_file() for p in checkout.rglob("*"))
    assert [line.split(": ")[1] for line in said[1:]] == missing
    assert (target / "things/plate/plate.png").read_text() == "there"  # what is there is left alone
    with Image.open(target / "things/akita_black_bowl/texture.png") as picture:
        assert np.asarray(picture).max() < 60  # a black bowl
    assert not list(tmp_path.glob("assets-*"))


def test_mesh_stand_ins_have_the_shape_that_collides(checkout, tmp_path):
    build_assets(lambda line: None, checkout, tmp_path / "built")
    for mesh, triangles, extent in (
        ("things/akita_black_bowl/visual/akita_black_bowl_vis.msh", 3, (1, 2, 3)),
        ("scenes/lamp/visual/lamp_vis.msh", 1, (4, 5, 0)),
    ):
        data = (tmp_path / "built" / mesh).read_bytes()
        counts = np.frombuffer(data, "<i4", 4)
        assert counts.tolist() == [3 * triangles, 0, 3 * triangles, triangles]
        corners = np.frombuffer(data, "<f4", 9 * triangles, offset=16).reshape(-1, 3)
        assert np.ptp(corners, axis=0).tolist() == list(extent)
    spec = mujoco.MjSpec()
    bowl = tmp_path / "built/things/akita_black_bowl/visual/akita_black_bowl_vis.msh"
    spec.add_mesh(name="bowl", file=str(bowl)).inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="bowl", contype=0, conaffinity=0)
    assert spec.compile().nmeshface == 3


def test_all_objects_of_an_obj_file_are_read_and_its_squares_split(checkout):
    found = read_triangles(checkout / INSIDE_CHECKOUT / "things/akita_black_bowl/akita_black_bowl_col.obj")
    assert found[:2].tolist() == [[[0, 0, 0], [1, 0, 0], [1, 2, 0]], [[0, 0, 0], [1, 2, 0], [0, 2, 0]]]
    assert found[2, :, 2].tolist() == [3, 3, 3]


def test_wrong_folders_and_lost_files_are_refused_in_a_sentence(checkout, tmp_path):
    assets, target = checkout / INSIDE_CHECKOUT, tmp_path / "built"

    def refused(where: Path, to: Path, what: str) -> None:
        with pytest.raises(ConfigError, match=what) as caught:
            build_assets(lambda line: None, where, to)
        assert "\n" not in str(caught.value)

    refused(tmp_path, target, "must be a checkout of Lifelong-Robot-Learning/LIBERO")
    refused(checkout, checkout, "must be new; got")
    outside = '<mujoco><asset><texture file="../../../../../../outside.png"/></asset></mujoco>'
    write(assets / "things/ketchup/ketchup.xml", outside)
    refused(checkout, target, r"nothing can stand in for \.\./\.\./\.\./\.\./outside.png")
    write(assets / "things/ketchup/ketchup.xml", "<mujoco/>")
    (assets / "scenes/lamp/collision/lamp_ch.stl").unlink()
    refused(checkout, target, "nothing can stand in for scenes/lamp/collision/lamp_ch.stl, scenes/lamp/visual")
    (assets / "things/ketchup/ketchup.xml").write_text("<mujoco>")
    refused(checkout, target, "ketchup.xml must be XML")
    (assets / "things/ketchup/ketchup.xml").unlink()
    refused(checkout, target, "there is none of ketchup")
    assert not target.exists()


def test_the_command_builds_before_it_installs_and_refuses_a_second_time(checkout, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    installed = []
    monkeypatch.setattr("agentrl.envs.libero.official.interpreter._run", installed.append)
    assert main(["setup", "libero-official", "--from", str(checkout), "--output", str(tmp_path / "venv")]) == 2
    assert default_assets().is_dir() and installed  # it was built; the interpreter is the one that is not there
    capsys.readouterr()
    assert main(["setup", "libero-official", "--from", str(checkout)]) == 2
    assert "must be new" in capsys.readouterr().err
    assert main(["setup", "libero", "--from", str(checkout)]) == 2
    assert "takes no --from" in capsys.readouterr().err
