"""How a rate is measured, and on what.

Only the standard library here: the peers' script, which runs in another virtual environment, uses this file too.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
}


def rates(work: Callable[[], int], seconds: float, repeats: int) -> list[float]:
    """Things done a second, once for each repeat; `work` does some and says how many."""
    work()  # warm caches and pools
    found = []
    for _ in range(repeats):
        done, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds:
            done += work()
        found.append(done / spent)
    return found


def times_of(work: Callable[..., Any], inputs: Iterable[Any] | int) -> list[float]:
    """Seconds of each call: one for each input, or so many without any."""
    calls = [()] * inputs if isinstance(inputs, int) else [(value,) for value in inputs]
    found = []
    for arguments in calls:
        start = time.perf_counter()
        work(*arguments)
        found.append(time.perf_counter() - start)
    return found


def result(case: str, impl: str, version: str, found: list[float], unit: str, **shape: Any) -> dict[str, Any]:
    """One row of the report: the median of the repeats, and all of them."""
    row: dict[str, Any] = {"case": case, "impl": impl, "version": version, "num_envs": 1, "obs": None, "px": None}
    row |= shape
    return row | {"unit": unit, "value": statistics.median(found), "repeats": len(found), "values": found}


def machine() -> dict[str, Any]:
    """The processor and the interpreter."""
    return {"cpu": _cpu_name(), "cores": os.cpu_count(), "python": platform.python_version()}


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            named = [line.split(":", 1)[1].strip() for line in file if line.startswith(("model name", "Hardware"))]
    except OSError:
        named = []
    return named[0] if named else platform.processor() or platform.machine()
