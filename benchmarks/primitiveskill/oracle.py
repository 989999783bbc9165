"""How many starts the oracle solves on a backend, and what that costs.

    python -m benchmarks.primitiveskill.oracle --backend mani_skill --starts 50 --output runs/oracle

Starts are the first candidates of the training split, before any are sorted out. Writes `oracle.json` and one picture:
for each task its first start above, and what the oracle makes of it below.
"""

from __future__ import annotations

import argparse
import json
import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image

from agentrl.envs.primitiveskill.starts import candidate, solves
from agentrl.envs.primitiveskill.table import Table, make_backend
from agentrl.envs.primitiveskill.tasks import TASKS

SIZE = 384  # pixels of each picture
TICKS = 250  # of the controller, to time


def measure(name: str, backend: str, starts: int) -> tuple[dict[str, Any], np.ndarray]:
    """The figures of one task, and its picture."""
    task, table = TASKS[name](), Table(backend)
    first = candidate(task, "train", 0, 0)
    table.begin(first)
    before = table.picture(SIZE)
    solves(task, table, first)
    after = table.picture(SIZE)
    began = perf_counter()
    failed = [number for number in range(starts) if not solves(task, table, candidate(task, "train", number, 0))]
    seconds = (perf_counter() - began) / starts
    figures = {"starts": starts, "solved": starts - len(failed), "failed": failed, "episode_s": round(seconds, 2)}
    return figures, np.vstack([before, after])


def speed(backend: str) -> dict[str, float]:
    """Ticks of the controller a second, and milliseconds of a picture of 256 pixels that is drawn anew."""
    table: Any = make_backend(backend)
    first, begin = _seconds(lambda: table.begin(candidate(TASKS["stack"](), "train", 0, 0))), []
    for number in range(5):
        begin.append(_seconds(lambda at=number: table.begin(candidate(TASKS["stack"](), "train", at, 0))))
    frames = [_seconds(lambda: _drawn_anew(table)) for _ in range(11)]
    return {
        "first_begin_s": round(first, 2),
        "begin_s": round(min(begin), 3),
        "ticks_per_s": round(TICKS / _seconds(lambda: table._motion.wait(TICKS))),
        "first_frame_s": round(frames[0], 2),
        "frame_ms": round(1000 * sorted(frames[1:])[5], 1),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _drawn_anew(table: Any) -> np.ndarray:
    table._drawn.clear()
    return table.picture(256)


def _seconds(function: Any) -> float:
    began = perf_counter()
    function()
    return perf_counter() - began


def main() -> None:
    """Measure all tasks and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="mujoco")
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("runs/oracle"))
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"speed": speed(args.backend)}  # alone, before others use the processor
    print(report["speed"], flush=True)
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(measure, TASKS, [args.backend] * len(TASKS), [args.starts] * len(TASKS)))
    for name, (figures, _) in zip(TASKS, found, strict=True):
        report[name] = figures
        print(name, figures, flush=True)
    (args.output / "oracle.json").write_text(json.dumps(report, indent=2) + "\n")
    Image.fromarray(np.hstack([picture for _, picture in found])).save(
        args.output / f"primitiveskill-{args.backend}.png"
    )


if __name__ == "__main__":
    main()
