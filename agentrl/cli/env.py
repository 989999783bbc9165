"""`agentrl env`: what this machine has, to paste into a bug report."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from agentrl import __version__
from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json, print_table
from agentrl.core.cache import cache_dir
from agentrl.core.errors import DISTRIBUTION
from agentrl.core.measure import machine

CORE = ("gymnasium", "numpy", "torch", "transformers", "vllm", "mujoco", "openai", "playwright", "tyro")
DRIVER = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")


@dataclass(kw_only=True)
class Arguments(Common):
    """Versions, extras, GPUs and caches of this machine, for a bug report.

    Nothing secret is read: no variables but AGENTRL_CACHE, and the home folder is written as ~.
    """


def run(arguments: Arguments) -> int:
    """Look and print; nothing is imported for it."""
    facts = collect()
    if arguments.json:
        print_json(facts)
        return 0
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items())
    cache = facts["cache"]
    rows = [
        ("agentrl", facts["agentrl"]),
        ("Python", facts["machine"]["python"]),
        ("platform", facts["platform"]),
        ("processor", f"{facts['machine']['cpu']}, {facts['machine']['cores']} cores"),
        ("GPUs", "; ".join(facts["gpus"]) or "none"),
        ("packages", packages),
        ("extras", ", ".join(name for name, lacks in facts["extras"].items() if not lacks) or "none"),
        ("compiled", ", ".join(facts["compiled"]) or "nothing: no C compiler when it was installed"),
        ("cache", f"{cache['folder']}: {cache['files']} files, {cache['bytes'] / 1e6:.0f} MB"),
    ]
    print_table(("", "this machine"), rows)
    lacking = [(name, ", ".join(lacks)) for name, lacks in facts["extras"].items() if lacks]
    if lacking:
        print_table(("extra", "is not complete: missing"), lacking)
    return 0


def collect() -> dict[str, Any]:
    """Every fact, as JSON types."""
    folder = cache_dir()
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    home = str(Path.home()) if Path.home() != Path("/") else ""
    return {
        "schema": 1,
        "agentrl": __version__,
        "platform": platform.platform(),
        "machine": machine(),
        "packages": {name: found for name in CORE if (found := installed(name))},
        "extras": extras(),
        "gpus": gpus(),
        "compiled": sorted(path.name.partition(".")[0] for path in Path(__file__).parents[1].rglob("_*.so")),
        "cache": {
            "folder": str(folder).replace(home, "~", 1) if home else str(folder),
            "files": len(files),
            "bytes": sum(path.stat().st_size for path in files),
        },
    }


def installed(package: str) -> str:
    """Its version; empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def extras() -> dict[str, list[str]]:
    """The packages that each extra lacks; nothing where agentrl itself was not installed by pip."""
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return {}
    needs: dict[str, list[str]] = {}
    for line in lines:  # such as: openai>=2; extra == "openai"
        if extra := re.search(r"extra == ['\"]([\w-]+)", line):
            needs.setdefault(extra[1], []).append(line)
    lacks: dict[str, list[str]] = {}
    for extra in sorted(needs):
        names, seen = list(needs[extra]), set[str]()
        for line in names:  # grows: an extra may name others of agentrl's own
            package = re.match(r"[\w.-]+", line)
            inner = re.match(rf"{DISTRIBUTION}\[([\w,-]+)\]", line)
            if inner:
                names += [one for name in inner[1].split(",") for one in needs.get(name, [])]
            elif package and not installed(package[0]):
                seen.add(package[0])
        lacks[extra] = sorted(seen)
    return lacks


def gpus() -> list[str]:
    """The GPUs that NVIDIA's driver names, with memory and driver."""
    if shutil.which(DRIVER[0]) is None:
        return []
    try:
        done = subprocess.run(DRIVER, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []
