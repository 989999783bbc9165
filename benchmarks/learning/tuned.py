"""What sweeps on the dev split chose for each method: `tuned.json`, written from their results.

python -m benchmarks.learning.tuned [RESULTS]     (default: benchmarks/results)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentrl.core.cache import write_atomically
from benchmarks.learning.compare import Results, pools

PATH = Path(__file__).with_name("tuned.json")


def tuned(method: str) -> dict[str, Any]:
    """Options of a method, by its name in the sweep."""
    return json.loads(PATH.read_text())[method]


def best(cells: Iterable[Results], options: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Any]]:
    """The options of the condition with the highest sampled success, of all that begin with a method's name.

    `options` says which options of a method are swept; the rest is the same for all of its conditions.
    """
    cells = list(cells)
    found = {}
    for method, names in options.items():
        own = {label: pool for label, pool in pools(cells, "sampled").items() if label.startswith(f"{method}, ")}
        if own:
            highest = max(own, key=lambda label: own[label].rate)
            chosen = next(cell["stages"][-1]["options"] for cell in cells if cell["label"] == highest)
            found[method] = {name: chosen[name] for name in names}
    return found


def main(folder: Path) -> None:
    """Write what the results of the sweeps in a folder say; what was not swept there stays."""
    from benchmarks.learning.results import read_results
    from benchmarks.learning.table import EXPERIMENTS, SWEEPS

    chosen = json.loads(PATH.read_text())
    for name, options in SWEEPS.items():
        if (results := read_results(folder, EXPERIMENTS[name])) is not None:
            chosen |= best(results["cells"], options)
    write_atomically(PATH, f"{json.dumps(chosen, indent=1)}\n".encode())
    print(json.dumps(chosen, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/results"))
