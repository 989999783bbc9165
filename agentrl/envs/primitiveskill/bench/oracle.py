"""How many starts the oracle solves on a backend, and what that costs.

    python -m agentrl.envs.primitiveskill.bench.oracle --backend mani_skill --starts 50 --out runs/oracle

Starts are the first candidates of the training split, before any are sorted out. Writes `oracle.json` and one picture:
for each task its first start above, and what the oracle makes of it below.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image

from agentrl.envs.primitiveskill.starts import candidate, solves
from agentrl.envs.primitiveskill.table import Table
from agentrl.envs.primitiveskill.tasks import TASKS, Task

SIZE = 384  # pixels of each picture
TICKS = 250  # of the controller, to time


def measure(task: Task, table: Table, starts: int) -> tuple[dict[str, Any], np.ndarray]:
    """The figures of one task, and its picture."""
    table.begin(candidate(task, "train", 0, 0))
    before = table.picture(SIZE)
    solves(task, table, candidate(task, "train", 0, 0))
    after = table.picture(SIZE)
    began = perf_counter()
    failed = [number for number in range(starts) if not solves(task, table, candidate(task, "train", number, 0))]
    seconds = (perf_counter() - began) / starts
    figures = {"starts": starts, "solved": starts - len(failed), "failed": failed, "episode_s": round(seconds, 2)}
    return figures, np.vstack([before, after])


def speed(table: Table) -> dict[str, float]:
    """Ticks of the controller a second, and milliseconds of a picture of 256 pixels that is drawn anew."""
    backend: Any = table._backend
    backend.picture(256)
    backend._drawn.clear()
    return {
        "ticks_per_s": TICKS / _seconds(lambda: backend._motion.wait(TICKS)),
        "frame_ms": 1000 * _seconds(lambda: backend.picture(256)),
    }


def _seconds(function: Any) -> float:
    began = perf_counter()
    function()
    return perf_counter() - began


def main() -> None:
    """Measure all tasks and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="mujoco")
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("runs/oracle"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    table, report, pictures = Table(args.backend), {}, []
    for name, task in TASKS.items():
        report[name], picture = measure(task(), table, args.starts)
        pictures.append(picture)
        print(name, report[name], flush=True)
    report["speed"] = speed(table)
    print(report["speed"], flush=True)
    (args.out / "oracle.json").write_text(json.dumps(report, indent=2) + "\n")
    Image.fromarray(np.hstack(pictures)).save(args.out / f"primitiveskill-{args.backend}.png")


if __name__ == "__main__":
    main()
