"""`agentrl env`: what this machine has, to paste into a bug report."""

from __future__ import annotations

import os
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

PACKAGES = ("gymnasium", "numpy", "torch", "transformers", "vllm", "mujoco", "openai", "playwright", "tyro")
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
    about, cache = facts["machine"], facts["cache"]
    rows = [
        ("agentrl", facts["agentrl"]),
        ("Python", f"{about['python']} on {facts['platform']}"),
        ("processor", f"{about['cpu']}, {about['cores']} cores"),
        ("GPUs", "; ".join(facts["gpus"]) or "none"),
        ("packages", ", ".join(f"{name} {number}" for name, number in facts["packages"].items())),
        ("extras", ", ".join(name for name, lacks in facts["extras"].items() if not lacks) or "none"),
        *((f"extra {name}", f"lacks {', '.join(lacks)}") for name, lacks in facts["extras"].items() if lacks),
        ("compiled", ", ".join(facts["compiled"]) or "nothing: there was no C compiler"),
        ("cache", f"{cache['folder']}: {cache['files']} files, {cache['bytes'] / 1e6:.0f} MB"),
    ]
    print_table(("", "this machine"), rows)
    return 0


def collect() -> dict[str, Any]:
    """Every fact, as JSON types."""
    folder, home = cache_dir(), os.path.expanduser("~")
    files = [path for path in folder.rglob("*") if path.is_file()]
    shown = str(folder).replace(home, "~", 1) if len(home) > 1 else str(folder)
    return {
        "schema": 1,
        "agentrl": __version__,
        "platform": platform.platform(),
        "machine": machine(),
        "packages": {name: found for name in PACKAGES if (found := installed(name))},
        "extras": extras(),
        "gpus": gpus(),
        "compiled": sorted(path.name.partition(".")[0] for path in Path(__file__).parents[1].rglob("_*.so")),
        "cache": {"folder": shown, "files": len(files), "bytes": sum(path.stat().st_size for path in files)},
    }


def installed(package: str) -> str:
    """Its version; empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def extras() -> dict[str, list[str]]:
    """The packages that each extra lacks; nothing is known where agentrl itself was not installed by pip."""
    needs: dict[str, list[str]] = {}
    for line in (requires(DISTRIBUTION) or []) if installed(DISTRIBUTION) else []:  # openai>=2; extra == "openai"
        if extra := re.search(r"extra == ['\"]([\w-]+)", line):
            needs.setdefault(extra[1], []).append(line)
    lacks: dict[str, list[str]] = {}
    for extra in sorted(needs):
        lines = list(needs[extra])
        for line in lines:  # grows: an extra may name others of agentrl's own
            if inner := re.match(rf"{DISTRIBUTION}\[([\w,-]+)\]", line):
                lines += [one for name in inner[1].split(",") for one in needs.get(name, [])]
        names = {re.split(r"[^\w.-]", line)[0] for line in lines} - {DISTRIBUTION}
        lacks[extra] = sorted(name for name in names if not installed(name))
    return lacks


def gpus() -> list[str]:
    """The GPUs that NVIDIA's driver names, with memory and driver."""
    if shutil.which(DRIVER[0]) is None:
        return []
    done = subprocess.run(["timeout", "20", *DRIVER], capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []
