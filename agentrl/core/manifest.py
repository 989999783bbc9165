"""A manifest names every file of a folder with its hash, so that a reader notices what is not as it was written.

It is written last, and carries its own hash (`sealed`), as does any JSON file that is rewritten on its own.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from agentrl.core.files import read_regular, sha256_of

MANIFEST, SCHEMA = "manifest.json", 1
SEAL = "sha256"


class Damaged(ValueError):
    """Something is not as it was written; the message says what."""


def write_manifest(folder: Path, step: int) -> None:
    """Put everything in `folder` on the disk and its hashes into its manifest."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}
    content = {"schema": SCHEMA, "step": step, "files": hashes}
    (folder / MANIFEST).write_text(json.dumps(sealed(content), indent=1))
    for path in (*files, folder / MANIFEST, *(path for path in folder.rglob("*") if path.is_dir()), folder):
        flush(path)


def flush(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def check_manifest(folder: Path, step: int | None = None, under: str = "") -> None:
    """Compare the files of `folder` (those whose names begin with `under`) with its manifest; `Damaged` or `OSError`.

    Files that the manifest does not name are not looked at.
    """
    content = unsealed(read_object(folder / MANIFEST), MANIFEST)
    files = content.get("files")
    if content.get("schema") != SCHEMA or not isinstance(files, dict) or not files:
        raise Damaged(f"{MANIFEST} is not a manifest of schema {SCHEMA}")
    if step is not None and content.get("step") != step:
        raise Damaged(f"{MANIFEST} is of step {content.get('step')!r}, not {step}")
    for name, expected in files.items():
        if name.startswith(under):
            if not (folder / name).resolve().is_relative_to(folder.resolve()):
                raise Damaged(f"{MANIFEST} names {name!r}, which is outside of the folder")
            if sha256_of(folder / name) != expected:
                raise Damaged(f"{name} is not what was written")


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object from a file; `Damaged` where it holds anything else."""
    try:
        content = json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{path.name} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise Damaged(f"{path.name} must hold a JSON object")
    return content


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """The object with its own hash as its last member."""
    return {**content, SEAL: _hash(content)}


def unsealed(content: dict[str, Any], name: str) -> dict[str, Any]:
    """Inverse of `sealed`; `Damaged` where the object and its hash do not fit."""
    rest = {key: value for key, value in content.items() if key != SEAL}
    if content.get(SEAL) != _hash(rest):
        raise Damaged(f"{name} is not what was written")
    return rest


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
