"""The table in MuJoCo: primitives that do what they say, fail honestly, and continue after a snapshot."""

from __future__ import annotations

import subprocess
import sys
from math import inf, nan
from pathlib import Path

import msgspec
import numpy as np
import pytest

from agentrl.core.errors import EnvFault
from agentrl.envs.primitiveskill.backend import Start, Thing
from agentrl.envs.primitiveskill.mujoco.backend import MujocoBackend

RED, GREEN = Thing("red", "cube", 20.0, (0.8, 0.1, 0.1)), Thing("green", "cube", 20.0, (0.1, 0.6, 0.2))
MARK = Thing("mark", "disc", 35.0, (0.2, 0.3, 0.8))
APPLE, DRAWER = Thing("apple", "sphere", 30.0, (0.8, 0.1, 0.1)), Thing("drawer", "drawer", 65.0, (0.6, 0.4, 0.2))
CUBES = Start((RED, GREEN, MARK), {"red": (0.0, -100.0, 0.5), "green": (60.0, 80.0, 0.0), "mark": (50.0, 0.0, 0.0)}, {})
KITCHEN = Start(
    (APPLE, DRAWER), {"apple": (40.0, 100.0, 0.0), "drawer": (-130.0, -180.0, 0.0)}, {"drawer_open_value": 95.0}
)


def table(start: Start = CUBES) -> MujocoBackend:
    backend = MujocoBackend()
    backend.begin(start)
    return backend


@pytest.fixture(scope="module")
def holding() -> tuple[MujocoBackend, dict]:
    backend = table()
    assert backend.pick((0, -100, 20)).done
    return backend, backend.save()


def near(found: tuple[float, ...], wanted: tuple[float, ...], within: float = 5.0) -> bool:
    return bool(np.abs(np.subtract(found, wanted)).max() <= within)


# -------------------------------------------------------------------- what works


def test_things_stand_where_they_were_put() -> None:
    positions = table().positions()
    assert near(positions["red"], (0, -100, 20), 0.5) and near(positions["mark"], (50, 0, 0), 0.5)
    assert table().values() == {} and table().held() is None


@pytest.mark.parametrize("seed", range(4))
def test_turned_cubes_are_placed_within_five_millimetres(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y, to_x, to_y = (float(round(value)) for value in random.uniform((-120, -220, -120, 20), (120, -20, 120, 220)))
    backend = table(Start((RED,), {"red": (x, y, random.uniform(-3, 3))}, {}))
    assert backend.pick((x, y, 20)).done and backend.held() == "red"
    assert backend.place((to_x, to_y, 20)).done and backend.held() is None
    assert near(backend.positions()["red"], (to_x, to_y, 20))


def test_placing_far_too_high_lowers_gently_onto_another_cube(holding: tuple[MujocoBackend, dict]) -> None:
    backend, saved = holding
    backend.load(saved)
    assert backend.place((60, 80, 250)).done
    assert near(backend.positions()["red"], (60, 80, 60)) and near(backend.positions()["green"], (60, 80, 20))
    assert backend.pick((60, 80, 60)).done and backend.held() == "red", "off the stack again"


def test_cubes_side_by_side_are_taken_from_the_free_sides() -> None:
    places = {"red": (20.0, 0.0, 0.0), "green": (20.0, 48.0, 0.0)}
    backend = table(Start((RED, GREEN), places, {}))
    assert backend.pick((20, 0, 20)).done and backend.held() == "red"
    assert near(backend.positions()["green"], (20, 48, 20), 2.0)
    assert backend.place((20, 0, 20)).done
    assert near(backend.positions()["green"], (20, 48, 20), 2.0) and near(backend.positions()["red"], (20, 0, 20))


def test_the_apple_stays_in_the_drawer_while_it_is_pushed_closed() -> None:
    backend = table(KITCHEN)
    assert backend.values() == {"drawer_open_value": pytest.approx(95, abs=0.5)}
    assert backend.pick((40, 100, 30)).done and backend.held() == "apple"
    x, y, z = backend.positions()["drawer"]
    assert near((x, y, z), (-35, -180, 28.6), 1.0)
    assert backend.place((x, y, 90)).done
    assert backend.push((x + 90, y, z), (x - 15, y, z)).done
    assert backend.values()["drawer_open_value"] < 5
    assert near(backend.positions()["apple"], backend.positions()["drawer"], 30)


def test_a_push_moves_a_cube_along() -> None:
    backend = table(Start((RED,), {"red": (0.0, 0.0, 0.0)}, {}))
    assert backend.push((0, -60, 15), (0, 60, 15)).done
    x, y, _ = backend.positions()["red"]
    assert abs(x) < 10 and 70 < y < 115


# -------------------------------------------------------------------- what fails, and says so


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ((nan, 0, 20), "finite"),
        ((inf, 0, 20), "finite"),
        ((0, 0), "finite"),
        (("0", 0, 20), "finite"),
        ((10**400, 0, 20), "finite"),
        ((0, 301, 20), "y must be between -300 and 300; got 301."),
        ((0, 0, -1), "z must be between 0 and 300"),
        ((-1e300, 0, 20), "x must be between"),
        ((200, 300, 20), "cannot reach"),
    ],
)
def test_points_that_make_no_sense_move_nothing(point: tuple, words: str, holding: tuple[MujocoBackend, dict]) -> None:
    backend = table()
    before = backend.save()
    for result in (backend.pick(point), backend.push(point, (0, 0, 20)), backend.push((0, 0, 20), point)):
        assert not result.done and words in result.feedback
    assert backend.save() == before
    holder, saved = holding
    holder.load(saved)
    result = holder.place(point)
    assert not result.done and words in result.feedback and holder.save() == saved


def test_empty_hands_and_full_hands_are_told_so(holding: tuple[MujocoBackend, dict]) -> None:
    empty = table()
    before = empty.save()
    assert empty.place((0, 0, 20)) == (False, "The gripper holds nothing to place.")
    assert empty.save() == before
    backend, saved = holding
    backend.load(saved)
    assert "already holds" in backend.pick((60, 80, 20)).feedback
    assert "place it before" in backend.push((0, 0, 20), (0, 50, 20)).feedback
    assert backend.save() == saved


def test_closing_on_nothing_fails() -> None:
    backend = table()
    assert backend.pick((-100, 150, 20)) == (False, "The gripper closed on nothing at (-100, 150, 20).")
    assert backend.held() is None
    assert not backend.pick((0, -100, 90)).done, "above the cube"


def test_the_palm_hits_what_stands_on_the_cube(holding: tuple[MujocoBackend, dict]) -> None:
    backend, saved = holding
    backend.load(saved)
    assert backend.place((60, 80, 60)).done
    result = backend.pick((60, 80, 20))
    assert not result.done and "hit something on its way down" in result.feedback
    assert backend.held() is None and near(backend.positions()["green"], (60, 80, 20))


def test_what_falls_off_is_reported(holding: tuple[MujocoBackend, dict]) -> None:
    backend, saved = holding
    backend.load(saved)
    result = backend.place((60, 108, 90))
    assert not result.done and "did not stay there" in result.feedback


def test_pushing_against_the_cabinet_is_blocked() -> None:
    backend = table(KITCHEN)
    result = backend.push((-130, 60, 30), (-130, -180, 30))
    assert not result.done and "blocked" in result.feedback


def test_a_diverged_simulation_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log behind
    backend = table()
    backend.data.qvel[:] = 1e12
    with pytest.raises(EnvFault, match="diverged"):
        backend.pick((0, -100, 20))


def test_what_falls_off_the_table_stays_on_the_floor_out_of_reach() -> None:
    backend = table(Start((RED,), {"red": (0.0, 540.0, 0.0)}, {}))
    for _ in range(3):
        assert not backend.pick((0, 300, 20)).done
    assert near(backend.positions()["red"][2:], (-730,), 1.0)


def test_a_drawer_cannot_start_further_open_than_it_goes() -> None:
    with pytest.raises(ValueError, match="drawer_open_value must be between 0 and 117"):
        table(Start(KITCHEN.things, KITCHEN.places, {"drawer_open_value": 400.0}))


# -------------------------------------------------------------------- snapshots and pictures

CONTINUE = """
import sys, msgspec
from tests.envs.primitiveskill.test_skill_mujoco import table
backend = table()
backend.load(msgspec.msgpack.decode(sys.stdin.buffer.read()))
assert backend.held() == "red"
print(backend.place((60, 80, 100)), backend.data.qpos.tobytes().hex(), sep="|")
"""


def test_another_process_continues_bit_for_bit(holding: tuple[MujocoBackend, dict]) -> None:
    backend, saved = holding
    blob = msgspec.msgpack.encode(saved)
    backend.load(saved)
    result = backend.place((60, 80, 100))
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", CONTINUE], input=blob, capture_output=True, cwd=root, timeout=120)
    assert done.stdout.decode().strip() == f"{result}|{backend.data.qpos.tobytes().hex()}", done.stderr.decode()[-2000:]


def test_blobs_that_do_not_fit_are_refused(holding: tuple[MujocoBackend, dict]) -> None:
    _, saved = holding
    backend = table(KITCHEN)
    for data in (saved, {}, {"physics": "text"}, {"physics": b"\0" * 8}, {"physics": saved["physics"][:-3]}):
        with pytest.raises(ValueError):
            backend.load(data)


def test_pictures_change_with_the_state_and_show_minus_y_on_the_left() -> None:
    backend = table()
    before = backend.picture(96).astype(int)
    assert before.shape == (96, 96, 3)
    assert np.array_equal(before, backend.picture(96))
    red, green = before[..., 0] - before[..., 1:].max(-1), before[..., 1] - before[..., ::2].max(-1)
    assert np.nonzero(red > 60)[1].mean() < 48 < np.nonzero(green > 30)[1].mean()
    backend.pick((0, -100, 20))
    assert not np.array_equal(before, backend.picture(96))
