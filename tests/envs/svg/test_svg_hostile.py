"""Hostile SVG is refused or drawn harmlessly: no way out, nothing seen that is not in the file, bounded cost."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from typing import Any

import numpy as np
import psutil
import pytest

from agentrl.core.errors import WorkerFault
from agentrl.core.worker import Worker
from agentrl.envs.svg.sandbox.gate import SvgRefused, check
from agentrl.envs.svg.sandbox.renderer import TARGET, Renderer
from tests.envs.svg.canaries import HEX, Canaries, leaked
from tests.envs.svg.hostile_file import Hostile
from tests.envs.svg.hostile_files import hostile_files
from tests.envs.svg.ordinary_files import svg

SECOND_WALL = "PermissionError"


def outcome(renderer: Renderer, code: str) -> tuple[str, str, np.ndarray | None]:
    """What became of a file: a reason or "drawn", the detail, the picture."""
    try:
        return "drawn", "", renderer.draw(code)
    except SvgRefused as refused:
        return refused.reason, refused.detail, None


def test_hostile_files_do_no_harm(renderer: Renderer, canaries: Canaries, record_property: Any) -> None:
    files = hostile_files(canaries)
    assert len(files) >= 85
    assert len({hostile.name for hostile in files}) == len({hostile.code for hostile in files}) == len(files)
    canaries.forget()
    renderer.draw(svg(""))
    memory, counts, wrong, leaks, slowest = psutil.Process().memory_info().rss, Counter(), [], [], 0.0
    for hostile in files:
        start = time.perf_counter()
        found, detail, picture = outcome(renderer, hostile.code)
        slowest = max(slowest, time.perf_counter() - start)
        counts[found] += 1
        if found not in hostile.outcomes or SECOND_WALL in detail:
            wrong.append((hostile.name, found, detail))
        if picture is not None and leaked(picture):
            leaks.append(hostile.name)
    grown = (psutil.Process().memory_info().rss - memory) >> 20
    record_property(
        "figures",
        f"{len(files)} hostile files: {counts['drawn']} drawn harmlessly, {len(files) - counts['drawn']} refused, "
        f"{len(wrong)} escapes, {len(canaries.hits)} network hits, {len(canaries.files_read())} file reads, "
        f"{len(leaks)} leaked pixels; slowest {slowest:.1f} s, {renderer.restarts} restarts, {grown} MB more memory",
    )
    assert (wrong, leaks, canaries.hits, canaries.files_read()) == ([], [], [], [])
    assert slowest < 15  # the deadline, a fresh process, and a crowded machine
    assert grown < 100


def test_the_gate_itself_takes_little_time(canaries: Canaries) -> None:
    def seconds(hostile: Hostile) -> float:
        start = time.thread_time()
        with contextlib.suppress(SvgRefused):
            check(hostile.code)
        return time.thread_time() - start

    took = {hostile.name: seconds(hostile) for hostile in hostile_files(canaries)}
    assert {name: cost for name, cost in took.items() if cost > 1.0} == {}


def test_the_canaries_sing_when_nothing_is_in_the_way(canaries: Canaries) -> None:
    """The checks above could fail: without gate and walls, the same renderer does fetch, read and leak."""
    import cairosvg

    for address in (f"http://{canaries.host}/a.svg", f"{canaries.folder.as_uri()}/canary.svg"):
        canaries.forget()
        code = svg(f'<image width="24" height="24" href="{address}"/>')
        png = cairosvg.svg2png(bytestring=code.encode(), unsafe=True, output_width=32, output_height=32)
        assert leaked(decoded(png))
        assert canaries.hits == ["/a.svg"] if "http" in address else canaries.files_read() == ["canary.svg"]
    canaries.forget()
    styled = svg(f'<style>@import "{canaries.folder}/canary.css";</style><rect width="9" height="9"/>')
    assert leaked(decoded(cairosvg.svg2png(bytestring=styled.encode(), unsafe=True, output_width=32, output_height=32)))
    canaries.forget()
    assert not leaked(np.full((2, 2, 3), (254, 1, 220), np.uint8))  # one of the two may be a coincidence


def decoded(png: bytes | None) -> np.ndarray:
    """A PNG's pixels on white."""
    import io

    from PIL import Image

    assert png is not None
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


@pytest.fixture(scope="module")
def ungated() -> Any:
    """The drawing process as it is, without the gate in front."""
    with Worker(TARGET, deadline=20.0) as worker:
        yield worker


@pytest.mark.parametrize("element", ["image", "use"])
@pytest.mark.parametrize("address", ["http://{host}/a.svg#a", "{folder}/canary.svg#a", "file://{folder}/canary.png"])
def test_the_drawing_process_fetches_nothing_even_without_the_gate(
    ungated: Worker, canaries: Canaries, element: str, address: str
) -> None:
    canaries.forget()
    href = address.format(host=canaries.host, folder=canaries.folder)
    with pytest.raises(WorkerFault, match="nothing may be fetched") as caught:
        ungated.call("draw", svg(f'<{element} width="9" height="9" href="{href}"/>'), 16)
    assert caught.value.reason == "raised"
    assert (canaries.hits, canaries.files_read()) == ([], [])


def test_an_import_in_a_sheet_is_not_followed_even_without_the_gate(ungated: Worker, canaries: Canaries) -> None:
    canaries.forget()
    for address in (f"http://{canaries.host}/a.css", f"{canaries.folder}/canary.css"):
        with pytest.raises(WorkerFault, match="nothing may be fetched"):
            ungated.call("draw", svg(f'<style>@import "{address}";</style>'), 16)
    assert (canaries.hits, canaries.files_read()) == ([], [])


def test_the_drawing_process_opens_connects_starts_and_writes_nothing(canaries: Canaries, tmp_path: Any) -> None:
    canaries.forget()
    with Worker("tests.envs.svg.prying_drawer:PryingDrawer", deadline=20.0) as worker:
        assert len(worker.call("draw", svg(""), 16)) == 16 * 16 * 3
        for method, argument in (
            ("read", str(canaries.folder / "canary.txt")),
            ("read_by_descriptor", str(canaries.folder / "canary.txt")),
            ("write", str(tmp_path / "written")),
            ("write", str(tmp_path / "written.py")),
            ("connect", canaries.port),
            ("fetch", f"http://{canaries.host}/fetched"),
            ("start", "id"),
            ("fork", 0),
        ):
            with pytest.raises(WorkerFault, match="PermissionError"):
                worker.call(method, argument)
    assert (canaries.hits, canaries.files_read(), list(tmp_path.iterdir())) == ([], [], [])


def test_what_the_gate_writes_holds_nothing_of_what_it_left_out(canaries: Canaries) -> None:
    for hostile in hostile_files(canaries):
        try:
            safe = check(hostile.code)
        except SvgRefused:
            continue
        body = safe.replace('xmlns="http://www.w3.org/2000/svg"', "")
        for word in ("://", "DOCTYPE", "<?", "<!--", "import", "script", "onload", "data:", str(canaries.folder), HEX):
            assert word not in body, (hostile.name, word)
