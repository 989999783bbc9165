"""The renderer keeps its promises: size, blame, replacement of lost processes, sharing, forks, and where it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from agentrl.core.errors import ConfigError, MissingExtra, WorkerFault
from agentrl.envs.svg.sandbox import renderer
from agentrl.envs.svg.sandbox.gate import Limits, SvgRefused
from agentrl.envs.svg.sandbox.renderer import Renderer, shared_renderer
from tests.envs.svg.ordinary_files import svg

ROOT = Path(__file__).resolve().parents[3]
RED = svg('<rect width="24" height="24" fill="red"/>')
# At 512 pixels long enough to be interrupted on any machine: arcs this large are cut into very many pieces.
SLOW = svg(f'<path d="M0 0{"a999999 999998 0 1 0 99999 1" * 2000}" stroke="red"/>')
HUGE = svg(
    '<pattern id="p" width="999999" height="999999" patternUnits="userSpaceOnUse"><circle r="9"/></pattern>'
    '<rect width="9" height="9" fill="url(#p)"/>'
)


def pids(found: Renderer) -> list[int]:
    """The processes of a renderer that run now."""
    return [worker.pid for worker in found._pool._all if worker.pid is not None]


def test_a_picture_is_what_was_asked_for() -> None:
    with Renderer(33) as small:
        picture = small.draw(RED)
        assert (picture.shape, picture.dtype) == ((33, 33, 3), np.uint8)
        assert (picture == (255, 0, 0)).all()
        picture[0, 0] = 0  # the caller's own
        assert (small.draw(svg("")) == 255).all()  # on white
        wide = small.draw(
            svg('<rect width="20" height="10" fill="red"/>', 'width="2000" height="1000" viewBox="0 0 20 10"')
        )
        assert (wide[2] == 255).all() and (
            wide[16] == (255, 0, 0)
        ).all()  # the size is ours, the shape is the drawing's


def test_many_codes_give_a_picture_or_a_refusal_each_in_order() -> None:
    codes = [RED, "<svg", svg(""), SLOW.replace("<path", "<script/><path"), RED] * 4
    for workers in (1, 2):
        with Renderer(16, workers=workers) as several:
            found = several.draw_many(codes)
        assert [result.reason if isinstance(result, SvgRefused) else "drawn" for result in found] == [
            *("drawn", "not_xml", "drawn", "element", "drawn")
        ] * 4
        assert isinstance(found[0], np.ndarray) and (found[0] == (255, 0, 0)).all()


def test_a_slow_drawing_is_stopped_and_the_next_one_works() -> None:
    with Renderer(512, deadline=1.0) as quick:
        quick._pool._all[0].start()  # a start has a deadline of its own
        before, start = pids(quick), time.monotonic()
        with pytest.raises(SvgRefused) as caught:
            quick.draw(SLOW)
        assert caught.value.reason == "timeout" and 1 <= time.monotonic() - start < 30
        assert not psutil.pid_exists(before[0])
        assert (quick.draw(RED) == (255, 0, 0)).all() and quick.restarts == 1


def test_a_drawing_without_enough_memory_is_refused_and_the_next_one_works() -> None:
    with Renderer(16) as one:
        with pytest.raises(SvgRefused) as caught:
            one.draw(HUGE)
        assert caught.value.reason == "memory"
        assert (one.draw(RED) == (255, 0, 0)).all()
        assert one.restarts == 1


def test_a_process_that_dies_is_a_crash_of_this_drawing_only() -> None:
    with Renderer(512, deadline=60) as one:
        one.draw(RED)
        (victim,) = pids(one)
        killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
        killer.start()
        with pytest.raises(SvgRefused) as caught:
            one.draw(SLOW)
        killer.join()
        assert caught.value.reason == "crash"
        assert (one.draw(RED) == (255, 0, 0)).all() and pids(one) != [victim]


def test_nonsense_that_passes_the_gate_is_refused_without_a_restart() -> None:
    with Renderer(16) as one:
        for code in (
            svg('<g opacity="1e"><rect/></g>'),
            svg('<path d="M0 0 A1 1 0"/>'),
            svg('<path stroke-miterlimit="a"/>'),
        ):
            with pytest.raises(SvgRefused) as caught:
                one.draw(code)
            assert caught.value.reason == "undrawable" and "\n" not in caught.value.detail
        assert one.restarts == 0


def test_a_process_that_cannot_start_is_not_the_codes_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "TARGET", "agentrl.envs.svg.sandbox.drawer:Missing")
    with Renderer(16) as broken:
        for _ in range(2):
            with pytest.raises(WorkerFault) as caught:
                broken.draw(RED)
            assert caught.value.reason == "start"
        with pytest.raises(SvgRefused):  # the gate still says what is wrong with the code
            broken.draw("<svg")
        with pytest.raises(WorkerFault):
            broken.draw_many([RED, RED])


def test_a_missing_renderer_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"agentrl-suite\[svg\]"):
        Renderer(16)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("size", value) for value in (0, 7, 4096, 2.5, "256", True)),
        *(("workers", value) for value in (0, 1000, 1.5)),
        *(("deadline", value) for value in (0, -1, float("nan"), "3")),
        *(("memory_limit", value) for value in (0, 1 << 20, 1e9)),
    ],
)
def test_bad_arguments_are_named(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        Renderer(**{name: value})  # pyright: ignore[reportArgumentType]


def test_one_text_is_not_a_list_of_texts() -> None:
    with Renderer(16) as one, pytest.raises(ConfigError, match="codes"):
        one.draw_many(RED)


def test_its_own_limits_are_used() -> None:
    with Renderer(16, limits=Limits(nodes=1)) as strict, pytest.raises(SvgRefused, match="too_many_nodes"):
        strict.draw(RED)


def test_a_closed_renderer_blames_nobody() -> None:
    one = Renderer(16)
    one.draw(RED)
    (process,) = pids(one)
    one.close()
    one.close()
    assert not psutil.pid_exists(process)
    with pytest.raises(WorkerFault):
        one.draw(RED)


def test_processes_are_renewed_after_many_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "MAX_CALLS", 3)
    with Renderer(16) as one:
        seen = []
        for _ in range(5):
            one.draw(RED)
            seen += [process for process in pids(one) if process not in seen]
        assert len(seen) == 2 and not psutil.pid_exists(seen[0])
        assert one.restarts == 0  # nothing was lost


def test_threads_share_a_few_processes() -> None:
    shared, wrong = shared_renderer(16), []

    def work(number: int) -> None:
        colour = (number * 20, 0, 255 - number * 20)
        code = svg(f'<rect width="24" height="24" fill="rgb{colour}"/>')
        wrong.extend(colour for _ in range(10) if not (shared.draw(code) == colour).all())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(pids(shared)) <= renderer.SHARED_WORKERS
    other = shared_renderer(24)
    assert other.draw(RED).shape == (24, 24, 3) and set(pids(other)) == set(pids(shared))
    other.close()
    assert shared.draw(RED).shape == (16, 16, 3)  # closing one leaves the others their processes


def test_text_looks_the_same_whatever_was_drawn_before() -> None:
    texts = [svg(f'<text x="1" y="20" font-size="{size}">Aga</text>') for size in (1, 2, 6, 18)]
    with Renderer(48) as upwards, Renderer(48) as downwards:
        first = [upwards.draw(text) for text in texts]
        second = [downwards.draw(text) for text in reversed(texts)]
    assert all(np.array_equal(a, b) for a, b in zip(first, reversed(second), strict=True))
    assert all((picture != 255).any() for picture in first)


PROGRAM = """
import os, sys
import numpy as np
from agentrl.envs.svg.sandbox.renderer import shared_renderer

code = '<svg viewBox="0 0 9 9"><rect width="9" height="9" fill="red"/></svg>'
mine = shared_renderer(16)
assert (mine.draw(code) == (255, 0, 0)).all()
child = os.fork()
assert (mine.draw(code) == (255, 0, 0)).all()
assert (shared_renderer(20).draw(code) == (255, 0, 0)).all()
loaded = [name for name in sys.modules if name.split(".")[0] in ("cairosvg", "cairocffi", "tinycss2")]
assert not loaded, loaded
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert (mine.draw(code) == (255, 0, 0)).all()
    print("processes", *[worker.pid for worker in mine._pool._all if worker.pid])
"""


def test_a_fork_draws_with_processes_of_its_own_and_all_end_with_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    processes = [int(word) for word in done.stdout.split()[1:]]
    assert processes and not any(psutil.pid_exists(process) for process in processes)


def test_memory_stays_flat_over_a_thousand_pictures() -> None:
    code = svg('<text y="9" font-size="9">a</text><g opacity=".5"><circle r="9"/><rect width="4" height="4"/></g>')
    with Renderer(32) as one:
        for _ in range(200):
            one.draw(code)
        processes = [psutil.Process(), psutil.Process(pids(one)[0])]
        before = [process.memory_info().rss for process in processes]
        for _ in range(1000):
            one.draw(code)
        grown = [process.memory_info().rss - size for process, size in zip(processes, before, strict=True)]
    assert max(grown) < 8 << 20, grown
