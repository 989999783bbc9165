"""The virtual environment of LIBERO's own package: its older simulator cannot live beside agentrl's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError, WorkerFault
from agentrl.core.interpreter import Interpreter, InterpreterSpec, find_interpreter
from agentrl.core.worker import Worker
from agentrl.envs.libero.official.assets import build_assets, default_assets

PACKAGE = InterpreterSpec(
    package="libero",
    variable="AGENTRL_LIBERO_PYTHON",
    folder=".venv-libero",
    setup="agentrl setup libero-official",
    install="agentrl setup libero-official",
    distributions=("hf-libero",),
)
# Their own requirements name versions that no longer fit each other, so they come without, and these beside them.
BARE = ("hf-libero==0.1.4", "robosuite==1.4.0", "bddl==1.0.1")
BESIDE = (
    "numpy<2", "mujoco==3.3.7", "numba", "scipy", "opencv-python-headless<5", "easydict", "future", "pyyaml",
    "cloudpickle", "matplotlib", "termcolor", "gymnasium", "pillow", "huggingface_hub", "tqdm", "msgspec",
)  # fmt: skip
SECONDS = 1800.0  # for an installation
INSIDE = Path(__file__).parent / "inside"
TARGET = "agentrl_libero:Server"
STEP, START = 60.0, 120.0  # seconds that a call, or the start of the process, may take


def default_folder() -> Path:
    """Where `agentrl setup libero-official` puts it."""
    return cache_dir() / "libero" / "venv"


def find_libero(python: str | None = None) -> Interpreter:
    """The interpreter that has the package: `python`, else the variable's, else the one that was set up."""
    own = default_folder() / "bin" / "python"
    try:
        return find_interpreter(PACKAGE, python)
    except ImportError:
        if python is None and own.exists():
            return find_interpreter(PACKAGE, own)
        raise


def setup(
    say: Callable[[str], None], folder: str | Path | None = None, source: str | Path | None = None
) -> dict[str, Any]:
    """What `agentrl setup libero-official` does: make the virtual environment, unless it is there, and fetch the
    assets, or build them from `source`, a checkout of LIBERO's repository."""
    built = build_assets(say, source, default_assets()) if source else {}
    place = Path(folder).expanduser().absolute() if folder else default_folder()
    python = place / "bin" / "python"
    try:
        there = python.exists() and bool(find_interpreter(PACKAGE, python))
    except (ImportError, ConfigError):
        there = False
    if not there:
        say(f"making {place}")
        _run([sys.executable, "-m", "venv", str(place)])
        say(f"installing {', '.join(BARE)}")
        _run([str(python), "-m", "pip", "install", "--no-deps", *BARE])
        _run([str(python), "-m", "pip", "install", *BESIDE])
    found = find_interpreter(PACKAGE, python)
    facts = {"python": found.python, "package": f"{found.distribution} {found.version}", "use": usage(place)}
    return {**facts, **(built or {"assets": _fetch_assets(say, found.python)})}


def make_worker(python: str, assets_folder: str | None = None) -> Worker:
    """A supervised process of that interpreter around `inside/agentrl_libero.py`."""
    built = default_assets()
    assets = assets_folder or (str(built) if built.is_dir() else "")
    arguments = (str(cache_dir() / "libero" / "config"), assets)
    return Worker(TARGET, arguments, python=python, path=[INSIDE], deadline=STEP, start_deadline=START)


def _fetch_assets(say: Callable[[str], None], python: str) -> str:
    """Where the assets are, or why they are nowhere."""
    with make_worker(python) as worker:
        if folder := worker.call("assets"):
            return folder
        say("downloading the assets")
        try:
            return worker.call("download", deadline=SECONDS)
        except WorkerFault as fault:
            return f"not fetched: {str(fault).splitlines()[0]}"


def usage(place: Path) -> str:
    """How the environment is told about it."""
    return "found by itself" if place == default_folder() else f"{PACKAGE.variable}={place}/bin/python"


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{' '.join(command)} failed: {error}") from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConfigError(f"{' '.join(command)} failed: {said}")
