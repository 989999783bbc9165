"""A manifest names every file of a folder with its hash, so that a reader notices what is not as it was written.

It is written last, and carries its own hash (`sealed`), as does any JSON file that is rewritten on its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentrl.core.cache import cache_dir
from agentrl.core.files import read_regular, sha256_of

MANIFEST, SCHEMA = "manifest.json", 1
SEAL, SIGNATURE = "sha256", "signature"


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


# ---------------------------------------------------------------------- who wrote it


def signed(content: dict[str, Any]) -> dict[str, Any]:
    """The object with a signature that only this user on this machine can make; without one where there is no key."""
    key = _key()
    return content if key is None else {**content, SIGNATURE: _sign(content, key)}


def is_own(content: dict[str, Any]) -> bool:
    """Did this user on this machine sign the object? A hash says that it is whole, and anybody can compute that."""
    key, rest = _key(), {name: value for name, value in content.items() if name != SIGNATURE}
    return key is not None and hmac.compare_digest(str(content.get(SIGNATURE)).encode(), _sign(rest, key).encode())


def _sign(content: dict[str, Any], key: bytes) -> str:
    return hmac.new(key, _hash(content).encode(), "sha256").hexdigest()


def _key() -> bytes | None:
    """The user's own, made on first use and readable by nobody else; None where the cache cannot be written."""
    path = cache_dir() / "signing.key"
    with suppress(OSError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, secrets.token_bytes(32))
                with suppress(FileExistsError):  # another process was quicker
                    os.link(draft, path)
            finally:
                os.close(handle)
                draft.unlink()
        mode = path.stat()
        if mode.st_uid == os.getuid() and not mode.st_mode & 0o077 and len(key := read_regular(path)) == 32:
            return key
    return None
