"""Model folders in the cache: written whole or not at all, checked by hash, safe to delete."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError

log = logging.getLogger(__name__)

MANIFEST = "agentrl.json"  # file name -> SHA-256; written last


def cached_folder(name: str, build: Callable[[Path], None]) -> Path:
    """The folder stored under `name`; `build(empty folder)` fills it when it is missing or damaged."""
    target = cache_dir() / "models" / name
    if is_whole(target):
        return target
    draft = target.with_name(f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        draft.mkdir(parents=True)
        build(draft)
        (draft / MANIFEST).write_text(json.dumps(hashes(draft), indent=1))
        _put_in_place(draft, target)
    except OSError as error:
        raise ConfigError(
            f"cannot write the model {name}: {error}; point AGENTRL_CACHE to a folder with room"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def is_whole(folder: Path) -> bool:
    """Is everything there that was written, as it was written?"""
    try:
        wanted = json.loads((folder / MANIFEST).read_text())
        if wanted and wanted == hashes(folder):
            return True
    except FileNotFoundError:
        if not folder.exists():
            return False
    except (OSError, ValueError):
        pass
    log.warning("%s is damaged; building it again", folder)
    return False


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file but the manifest."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != MANIFEST:
            with open(path, "rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _put_in_place(draft: Path, target: Path) -> None:
    """A folder cannot be replaced in one go: a damaged one steps aside first."""
    for _ in range(3):
        try:
            os.rename(draft, target)
            return
        except OSError:
            if not target.exists():
                raise
        if is_whole(target):  # another process was quicker
            return
        aside = draft.with_name(draft.name + ".old")
        os.rename(target, aside)
        shutil.rmtree(aside, ignore_errors=True)
    raise ConfigError(f"{target} is being changed by another process; delete it and try again")
