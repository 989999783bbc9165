"""agentrl as a user has it: a virtual environment of its own with the `agentrl` command, away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "#!{python}\nimport sys\nfrom agentrl.cli.main import main\nsys.exit(main())\n"  # as pip writes it


def make_environment(folder: Path) -> Path:
    """The folder of programs of a new environment in which this checkout is installed as by `pip install -e`."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "checkout.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    command = folder / "bin" / "agentrl"
    command.write_text(COMMAND.format(python=python))
    command.chmod(0o755)
    return folder / "bin"


def run_script(script: str, programs: Path, folder: Path, status: int = 0) -> str:
    """What a shell prints that runs a script in a folder, without PYTHONPATH; fails unless its status is the one."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"PATH": os.pathsep.join([str(programs), os.environ["PATH"]]), "PWD": str(folder), "COLUMNS": "100"}
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={"OMP_NUM_THREADS": "1", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr
