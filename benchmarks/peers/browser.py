"""BrowserGym on two pages; a script for an interpreter of its own, because it pins an old Playwright.

python browser.py URL SECOND_URL EPISODES CHROMIUM     one JSON object on stdout
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from agentrl.core.measure import result, times_of

NAME = "browsergym-core"  # without the waits that it has by default
SHIPPED = "browsergym-core, as shipped"
REVISION = "chromium-1117"  # the folder in which this Playwright looks for its browser


NO_WAITS = {"slow_mo": 0, "pre_observation_delay": 0.0}


def measured(name: str, url: str, second: str, episodes: int, **options: Any) -> list[dict[str, Any]]:
    """Resets, and steps that open a page, in milliseconds."""
    from browsergym.core.env import BrowserEnv  # pyright: ignore[reportMissingImports]
    from browsergym.core.task import OpenEndedTask  # pyright: ignore[reportMissingImports]

    task = {"start_url": url, "goal": "Look around."}
    env = BrowserEnv(OpenEndedTask, task_kwargs=task, headless=True, **options)
    resets: list[float] = []
    steps: list[float] = []
    try:
        for _ in range(episodes):
            resets += times_of(env.reset, 1)
            steps += times_of(env.step, [f"goto({address!r})" for address in (second, url) * 3])
    finally:
        env.close()
    rows = {"reset": resets, "step that opens a page": steps}
    return [result(case, name, version(NAME), [1e3 * one for one in found], "ms") for case, found in rows.items()]


def main(url: str, second: str, episodes: int, chromium: str) -> dict[str, Any]:
    """The report of this peer."""
    with tempfile.TemporaryDirectory(prefix="agentrl-browser-") as folder:
        place = Path(folder, REVISION, "chrome-linux")
        place.mkdir(parents=True)
        (place / "chrome").symlink_to(chromium)
        os.environ["PLAYWRIGHT_BROWSERS_PATH"] = folder
        rows, problems = [], []
        for name, count, options in ((NAME, episodes, NO_WAITS), (SHIPPED, 1, {})):
            try:
                rows += measured(name, url, second, count, **options)
            except Exception as error:
                problems.append(f"{name}: {type(error).__name__}: {error}")
    known = version(NAME) if rows else None
    peer = {"installed": bool(rows), "version": known, "reason": "; ".join(problems) or None}
    return {"results": rows, "peers": {NAME: peer}}


if __name__ == "__main__":
    stdout = os.dup(1)
    os.dup2(2, 1)  # peers print greetings
    report = main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    os.write(stdout, json.dumps(report).encode())
