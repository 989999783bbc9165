"""Packages that live in another virtual environment: which interpreter has them, and what to run where none does.

vLLM and some simulators need other versions of libraries than agentrl, so they are installed into an environment of
their own and run in a process of its interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError, MissingExtra

CHECKOUT = Path(__file__).resolve().parents[2]  # where the package lies, when it is not installed
PROBE = """
import importlib.metadata as metadata, importlib.util, json, sys
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
package, *distributions = sys.argv[1:]
spec = importlib.util.find_spec(package)
found = spec is not None and spec.origin is not None
versions = [(name, version(name)) for name in distributions]
name, number = next(((name, number) for name, number in versions if number), ("", ""))
print(json.dumps({"found": found, "distribution": name, "version": number}))
"""


@dataclass(frozen=True)
class InterpreterSpec:
    """A package that may live in another virtual environment, and where to look for it."""

    package: str  # what must be importable there
    variable: str  # the environment variable that names the interpreter
    folder: str  # the virtual environment, in a checkout or the current folder
    setup: str  # the command that makes it in a checkout
    distributions: tuple[str, ...] = ()  # what the package may be installed as, in order; default: its own name
    install: str = ""  # the command that makes it elsewhere; default: venv and pip
    note: str = ""  # when another command is better; "{install}" becomes the pip command


@dataclass(frozen=True)
class Interpreter:
    """A Python that can import the package."""

    python: str
    distribution: str
    version: str


class MissingInterpreter(MissingExtra):
    """No interpreter with the package was found; the message says which command installs it."""

    def __init__(self, spec: InterpreterSpec, where: str = "") -> None:
        place = f"{where} has no {spec.package}" if where else f"{spec.package} is not installed"
        install = (
            spec.install or f"python3 -m venv {spec.folder} && {spec.folder}/bin/python -m pip install {spec.package}"
        )
        command = spec.setup if (CHECKOUT / spec.setup.split()[0]).is_file() else install
        note = f" ({spec.note.format(install=install)})" if spec.note else ""
        super(MissingExtra, self).__init__(
            f"{place}; run: {command}{note}, "
            f"or name an interpreter that has it: python=... or the environment variable {spec.variable}"
        )
        self.package = self.extra = spec.package
        self.spec, self.where = spec, where

    def __reduce__(self) -> tuple:
        return type(self), (self.spec, self.where)


def set_up_interpreter(
    spec: InterpreterSpec, packages: Sequence[str], say: Callable[[str], None], folder: str | Path | None = None
) -> dict[str, Any]:
    """Make the virtual environment of a spec, unless it is there, and install packages into it: what `agentrl setup`
    does for a family whose packages do not fit beside others. Gives the facts that it prints."""
    place = Path(folder).expanduser().absolute() if folder else default_folder(spec)
    python = str(place / "bin" / "python")
    try:
        found = _checked(spec, python)
    except (ImportError, ConfigError):
        say(f"making {place}; this may take minutes")
        for command in ([sys.executable, "-m", "venv", str(place)], [python, "-m", "pip", "install", *packages]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise ConfigError(f"{' '.join(command)} failed: {said}") from None
        found = _checked(spec, python)
    use = "found by itself" if place == default_folder(spec) else f"{spec.variable}={python}"
    return {"python": found.python, "package": f"{found.distribution} {found.version}", "use": use}


def default_folder(spec: InterpreterSpec) -> Path:
    """Where `agentrl setup` puts a virtual environment."""
    return cache_dir() / "environments" / spec.folder.removeprefix(".venv-")


def find_interpreter(spec: InterpreterSpec, python: str | Path | None = None) -> Interpreter:
    """`python`, else the environment variable's, else this one, else that of the folder; else `MissingInterpreter`."""
    chosen = python or os.environ.get(spec.variable)
    if chosen:
        return _checked(spec, str(Path(chosen).expanduser()))
    # A folder of that name in the current directory is found too, without an origin.
    if (found := find_spec(spec.package)) is not None and found.origin is not None:
        return _checked(spec, sys.executable)
    for place in (CHECKOUT / spec.folder, Path.cwd() / spec.folder, default_folder(spec)):
        own = place / "bin" / "python"
        if own.exists():
            return _checked(spec, str(own))
    raise MissingInterpreter(spec)


def _checked(spec: InterpreterSpec, python: str) -> Interpreter:
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    command = [python, "-c", PROBE, spec.package, *(spec.distributions or (spec.package,))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=variables)
        facts = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise ConfigError(f"python must be a Python interpreter; got {python} ({error})") from error
    if not facts["found"]:
        raise MissingInterpreter(spec, python)
    return Interpreter(python, facts["distribution"], facts["version"])
