"""lerobot, in its own virtual environment, as the referee of tests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from agentrl.core.interpreter import CHECKOUT, InterpreterSpec, find_interpreter

LEROBOT = InterpreterSpec(
    package="lerobot",
    variable="AGENTRL_LEROBOT_PYTHON",
    folder=".venv-lerobot",
    setup="scripts/setup.sh lerobot",
)
DRIVER = Path(__file__).with_name("lerobot_driver.py")


def ask(*words: str | Path, driver: str | Path = DRIVER) -> dict[str, Any]:
    """What a driver prints."""
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT), "HF_HUB_OFFLINE": "1"}
    command = [find_interpreter(LEROBOT).python, CHECKOUT / driver, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=1100)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
