"""Pictures of simulations: from any thread and after a fork, never stale, and a clear sentence without a driver."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from agentrl.core.cache import forget_caches
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.pictures import KEPT, MAX_SIZE, draw, prepare

mujoco = load()


def ball_in_view(x: float = 0.0, colour: tuple[float, float, float] = (1, 0, 0)) -> tuple[Any, Any]:
    """A ball on a slide, before a camera."""
    spec = mujoco.MjSpec()
    prepare(spec)
    spec.worldbody.add_camera(name="front", pos=[0, -2, 0], xyaxes=[1, 0, 0, 0, 0, 1], fovy=60)
    spec.worldbody.add_light(pos=[0, -2, 2], dir=[0, 1, -1])
    wall = mujoco.mjtGeom.mjGEOM_BOX
    spec.worldbody.add_geom(type=wall, pos=[0, 1, 0], size=[5, 0.1, 5], rgba=[0.2, 0.3, 0.8, 1], group=1)
    body = spec.worldbody.add_body()
    body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.3, 0, 0], rgba=[*colour, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    move(model, data, x)
    return model, data


def move(model: Any, data: Any, x: float) -> None:
    data.qpos[0] = x
    mujoco.mj_forward(model, data)


def front(scene: tuple[Any, Any]) -> np.ndarray:
    return draw(scene[0], scene[1], "front", 48)


def column_of_ball(model: Any, data: Any, size: int = 64) -> float:
    """Where the ball is, as a share of the width."""
    return float(np.nonzero(draw(model, data, "front", size, segmentation=True) == 1)[1].mean() / size)


def test_each_picture_shows_the_state_of_its_own_moment() -> None:
    model, data = ball_in_view()
    frames = []
    for step in range(12):
        move(model, data, -0.6 + 0.1 * step)
        frames.append(draw(model, data, "front", 64))
        assert column_of_ball(model, data) == pytest.approx(0.5 + data.qpos[0] / (2 * 2 * np.tan(np.pi / 6)), abs=0.03)
    assert len({frame.tobytes() for frame in frames}) == len(frames)
    move(model, data, -0.6)
    assert (draw(model, data, "front", 64) == frames[0]).all()
    assert not any(np.shares_memory(frames[0], frame) for frame in frames[1:])


def test_the_ball_is_red_above_and_the_picture_upright() -> None:
    model, data = ball_in_view()
    middle = draw(model, data, "front", 65)[32, 32]
    assert middle[0] > 60 and middle[0] > 3 * max(middle[1], middle[2])
    data.cam_xpos[0, 2] = -0.5  # a lower camera sees the ball higher
    rows = np.nonzero(draw(model, data, "front", 64, segmentation=True) == 1)[0]
    assert rows.mean() < 24


def test_a_model_that_is_forgotten_leaves_nothing_with_the_driver_and_can_be_drawn_again() -> None:
    model, data = ball_in_view()
    first = [draw(model, data, "front", size) for size in (32, 48)]
    kept = pictures._by_process[os.getpid()]._kept
    assert {(id(model), 32), (id(model), 48)} <= set(kept)
    pictures.forget(model)
    assert id(model) not in {number for number, _ in kept}
    assert np.array_equal(draw(model, data, "front", 32), first[0])
    forget_caches()
    assert not kept
    assert np.array_equal(draw(model, data, "front", 48), first[1])


def test_more_models_than_are_kept_and_several_sizes() -> None:
    scenes = [ball_in_view(-0.5 + 0.1 * number) for number in range(KEPT + 3)]
    expected = [column_of_ball(*scene) for scene in scenes]
    assert expected == sorted(set(expected))
    for size in (32, 33, 256, 700):
        assert [round(column_of_ball(*scene, size), 1) for scene in scenes[:2]] == [round(x, 1) for x in expected[:2]]
        assert draw(*scenes[0], "front", size).shape == (size, size, 3)
    assert [column_of_ball(*scene) for scene in scenes] == expected


def test_what_is_out_of_sight_is_not_drawn_and_the_model_stays_as_it_was() -> None:
    model, data = ball_in_view()
    before = model.geom_group.copy(), model.vis.global_.offwidth
    for x, seen in ((0.0, True), (1.3, True), (3.0, False), (-9.0, False)):
        move(model, data, x)
        assert (draw(model, data, "front", 64, segmentation=True) == 1).any() == seen, x
    assert (draw(model, data, "front", 64, segmentation=True, hidden=(1,)) == -1).all()
    assert (model.geom_group == before[0]).all() and model.vis.global_.offwidth == before[1]


def test_things_beside_the_picture_still_cast_their_shadows_into_it() -> None:
    spec = mujoco.MjSpec()
    prepare(spec, shadows=512)
    spec.worldbody.add_camera(name="down", pos=[0, 0, 2], fovy=40)
    spec.worldbody.add_light(pos=[3, 0, 3], dir=[-1, 0, -1], castshadow=True)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[3, 3, 0.1], pos=[0, 0, -0.1])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.3, 0.3, 0.3], pos=[1.5, 0, 1.5], group=1)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    seen, without = draw(model, data, "down", 64), draw(model, data, "down", 64, hidden=(1,))
    assert not (draw(model, data, "down", 64, segmentation=True) == 1).any()
    assert (seen != without).any()


def test_threads_get_the_pictures_of_their_own_simulations() -> None:
    scenes = [ball_in_view(-0.6 + 0.2 * number) for number in range(6)]
    expected = [front(scene) for scene in scenes]
    with ThreadPoolExecutor(6) as threads:
        for _ in range(5):
            drawn = list(threads.map(front, scenes))
            assert all((a == b).all() for a, b in zip(drawn, expected, strict=True))


def _child(queue: Any) -> None:
    model, data = ball_in_view(0.3)
    queue.put(draw(model, data, "front", 48))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_draws_with_a_context_of_its_own() -> None:
    here = draw(*ball_in_view(0.3), "front", 48)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    there = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0 and (here == there).all()
    assert (draw(*ball_in_view(0.3), "front", 48) == here).all()


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("disable", "pictures need an OpenGL driver, and none was found"),
        ("osmesa", "the OpenGL driver osmesa cannot be loaded"),
    ],
)
def test_without_a_driver_one_sentence_says_what_to_do(driver: str, said: str) -> None:
    code = (
        "from agentrl.envs.common.mujoco import pictures\n"
        "import mujoco\n"
        "model = mujoco.MjSpec.from_string('<mujoco><worldbody><camera name=\"a\"/></worldbody></mujoco>').compile()\n"
        "pictures.draw(model, mujoco.MjData(model), 'a', 32)\n"
    )
    environ = {**os.environ, "MUJOCO_GL": driver}
    if driver == "osmesa":
        environ["PYOPENGL_PLATFORM"] = "egl"  # so that it cannot be loaded, even where it is installed
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=120)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode and last.startswith("agentrl.core.errors.ConfigError") and said in last, done.stderr
    assert "MUJOCO_GL" in last and "text only" in last


def test_other_code_may_have_imported_mujoco_before() -> None:
    code = (
        "import mujoco\n"
        "from agentrl.envs.common.mujoco import pictures\n"
        "model = mujoco.MjSpec.from_string('<mujoco><worldbody><camera name=\"a\"/></worldbody></mujoco>').compile()\n"
        "data = mujoco.MjData(model); mujoco.mj_forward(model, data)\n"
        "assert pictures.draw(model, data, 'a', 32).shape == (32, 32, 3)\n"
    )
    environ = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environ, check=True, timeout=120)


@pytest.mark.parametrize("vendors", [None, "/nowhere"])
def test_egl_is_chosen_where_it_has_a_device_and_not_otherwise(vendors: str | None) -> None:
    code = "import os; from agentrl.envs.common.mujoco.loading import load; load(); print(os.environ['MUJOCO_GL'])"
    environ = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    if vendors is not None:
        environ["__EGL_VENDOR_LIBRARY_FILENAMES"] = vendors
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip() == "egl") == (vendors is None), done.stderr


@pytest.mark.parametrize("size", [0, -1, MAX_SIZE + 1])
def test_sizes_that_cannot_be_drawn(size: int) -> None:
    with pytest.raises(ValueError, match="must be 1 to"):
        draw(*ball_in_view(), "front", size)


@pytest.mark.parametrize("camera", ["back", "", 1, -1])
def test_cameras_that_do_not_exist(camera: str | int) -> None:
    with pytest.raises(ValueError, match="no camera"):
        draw(*ball_in_view(), camera, 32)


def test_one_thread_a_process_draws() -> None:
    draw(*ball_in_view(), "front", 32)
    assert list(pictures._by_process) == [os.getpid()]
