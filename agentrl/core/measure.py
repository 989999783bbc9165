"""How a rate is measured, on what machine, and beside which peers.

Only the standard library here: the peers' scripts, which run in another virtual environment, use this file too.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]  # of the package's source, where it was not installed
IN_CHECKOUT = all((CHECKOUT / name).is_file() for name in ("benchmarks/__init__.py", "pyproject.toml"))
PEERS = ".venv-peers"
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
    """Seconds of each call: one for each input, or N times without input."""
    calls = [()] * inputs if isinstance(inputs, int) else [(value,) for value in inputs]
    found = []
    for arguments in calls:
        start = time.perf_counter()
        work(*arguments)
        found.append(time.perf_counter() - start)
    return found


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Processor time of a call, all threads together: other programs on the machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def result(case: str, impl: str, version: str, found: list[float], unit: str, **shape: Any) -> dict[str, Any]:
    """One row of the report: the median of the repeats, and all of them."""
    row: dict[str, Any] = {"case": case, "impl": impl, "version": version, "num_envs": 1, "obs": None, "px": None}
    row |= shape
    return row | {"unit": unit, "value": statistics.median(found), "repeats": len(found), "values": found}


def compare(rows: Sequence[dict[str, Any]], case: str, peer: str, required: float) -> dict[str, Any]:
    """Our rate over a peer's in the same case."""
    rates = {row["impl"]: row["value"] for row in rows if row["case"] == case}
    ours, theirs = rates["agentrl"], rates[peer]
    ratio = ours / theirs
    return {"case": case, "ours": ours, "peer": theirs, "ratio": ratio, "required": required, "pass": ratio >= required}


def merged(name: str, reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several reports of one machine as one."""
    lists = {key: [row for report in reports for row in report[key]] for key in ("results", "ratios")}
    peers = {peer: facts for report in reports for peer, facts in report["peers"].items()}
    passed = all(report["pass"] for report in reports)
    return {**reports[0], "name": name, **lists, "peers": peers, "pass": passed}


def machine() -> dict[str, Any]:
    """The processor and the interpreter."""
    try:
        with open("/proc/cpuinfo") as file:
            named = [line.split(":", 1)[1].strip() for line in file if line.startswith(("model name", "Hardware"))]
    except OSError:
        named = []
    cpu = named[0] if named else platform.processor() or platform.machine()
    return {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version()}


def usable_cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---------------------------------------------------------------------- peers


def peers_python(folder: str = PEERS) -> Path | None:
    """The peers' interpreter: of `$AGENTRL_PEERS`, or of a virtual environment here or in the checkout."""
    chosen = os.environ.get("AGENTRL_PEERS") if folder == PEERS else None
    places = [Path(chosen)] if chosen else [root / folder for root in (Path.cwd(), CHECKOUT)]
    candidates = [place if place.is_file() else place / "bin" / "python" for place in places]
    return next((path for path in candidates if path.exists()), None)


def measure_peers(
    script: str, arguments: Sequence[str], names: Sequence[str], timeout: float, folder: str = PEERS
) -> dict[str, Any]:
    """What `benchmarks/peers/SCRIPT` measured; if it cannot run, every peer as missing, and why."""
    path, python = CHECKOUT / "benchmarks" / "peers" / script, peers_python(folder)
    if not path.is_file():
        return _no_peers(names, "peers are measured in a checkout of agentrl, not in an installed package")
    if python is None:
        return _no_peers(names, "no virtual environment of the peers; run: make bench-peers")
    command = [str(python), str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, timeout=timeout)
    if done.returncode:
        return _no_peers(names, f"{python} failed: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout)


def _no_peers(names: Sequence[str], reason: str) -> dict[str, Any]:
    missing = {"installed": False, "version": None, "reason": reason}
    return {"results": [], "peers": {name: dict(missing) for name in names}}
