"""Scripts in the virtual environments of other libraries (`scripts/setup.sh library:NAME`)."""

from __future__ import annotations

import os
import subprocess

from agentrl.core.interpreter import CHECKOUT


def run_in(library: str, script: str, *words: str, given: str | None = None, timeout: float = 800) -> str:
    """What a script of the checkout prints there; an `AssertionError` with the end of its errors where it fails."""
    bin = CHECKOUT / f".venv-{library}" / "bin"
    path = f"{bin}{os.pathsep}{os.environ.get('PATH', '')}"
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(CHECKOUT), "HF_HUB_OFFLINE": "1"}
    command = [bin / "python", CHECKOUT / script, *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=variables, timeout=timeout)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout
