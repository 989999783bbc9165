"""Which sites there are, under which addresses, with which accounts and base data. Names are those of the benchmark."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from agentrl.core.cache import builder_lock, cache_dir
from agentrl.core.errors import ConfigError
from agentrl.core.slow import notify_if_slow
from agentrl.envs.webarena.sites.site import SESSION_TABLE, Site, session_token

SITE_MODULES = "agentrl.envs.webarena.sites"
ROOM = "point AGENTRL_CACHE to a folder with room that can be written"


@dataclass(frozen=True)
class Account:
    """Who the agent is on a site."""

    name: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Place:
    """One site: its address (the benchmark's placeholder stands for it), module, data and the agent's account."""

    placeholder: str
    url: str
    module: str  # below SITE_MODULES; has `site`
    data: str  # name of the base data; two sites may share it
    account: Account | None = None

    @property
    def site(self) -> Site:
        """The site itself; imported when it is first needed."""
        return _site(self.module)

    @cached_property
    def origin(self) -> str:
        """Scheme and host."""
        return "/".join(self.url.split("/", 3)[:3])


@cache
def _site(module: str) -> Site:
    return import_module(f"{SITE_MODULES}.{module}").site


PLACES: dict[str, Place] = {
    "shopping": Place(
        "__SHOPPING__", "http://shopping.localhost", "shop.site", "store",
        Account("emma.lopez@gmail.com", "Password.123"),
    ),
    "shopping_admin": Place(
        "__SHOPPING_ADMIN__", "http://admin.localhost/admin", "admin.site", "store", Account("admin", "admin1234")
    ),
    "reddit": Place(
        "__REDDIT__", "http://forum.localhost", "forum.site", "forum", Account("MarvelsGrantMan136", "test1234")
    ),
    "gitlab": Place("__GITLAB__", "http://code.localhost", "code.site", "code", Account("byteblaze", "hello1234")),
    "map": Place("__MAP__", "http://map.localhost", "map.site", "map"),
    "homepage": Place("__HOMEPAGE__", "http://homepage.localhost", "home.site", "home"),
}  # fmt: skip
# Base data: the module below SITE_MODULES with `VERSION` and `build(connection)`.
DATA: dict[str, str] = {name: f"{name}.data" for name in ("store", "forum", "code", "map")} | {"home": "home.site"}


def cookies(names: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The cookies of a browser whose user is logged in on these sites: origin -> name -> value."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        place = PLACES.get(name)
        if place is not None and place.account is not None:
            token = session_token(place.site.name, place.account.name)
            found.setdefault(place.origin, {})[place.site.cookie] = token
    return found


@cache
def base_file(data: str) -> Path:
    """The file with the base data of that name, built on first use and kept in the cache."""
    module: Any = import_module(f"{SITE_MODULES}.{DATA[data]}")
    # The name changes with what makes the data: the schema, words and code of the site, and what all sites share.
    digest = hashlib.blake2b(digest_size=6)
    folder, shared = Path(module.__file__).parent, Path(__file__).parent.glob("*.[pt]*")
    for source in sorted([*shared, *folder.rglob("*.py"), *folder.rglob("*.sql"), *folder.rglob("*.toml")]):
        digest.update(source.read_bytes())
    path = cache_dir() / "webarena" / f"{data}-{module.VERSION}-{digest.hexdigest()}.sqlite"
    if not _is_whole(path):
        with (
            builder_lock(path),
            notify_if_slow(f"agentrl: building the data of the web sites ({data}); kept in the cache afterwards"),
        ):
            try:
                if not _is_whole(path):  # another process may have been quicker
                    _build(path, module)
            except (OSError, sqlite3.OperationalError) as error:  # SQLite's own word for a disk that is full
                raise ConfigError(f"cannot write {path}: {error}; {ROOM}") from error
    if not os.access(path, os.W_OK):
        raise ConfigError(f"{path} is read-only, and SQLite opens it for writing; {ROOM}")
    return path


def _build(path: Path, module: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA journal_mode=MEMORY")  # a process that is killed leaves one file, not two
            connection.execute("BEGIN")
            connection.executescript(SESSION_TABLE)
            module.build(connection)
            connection.execute("COMMIT") if connection.in_transaction else None
            connection.execute("PRAGMA user_version = 1")  # written last: a file without it is not whole
            connection.execute("VACUUM")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _is_whole(path: Path) -> bool:
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute("PRAGMA user_version").fetchone()[0] == 1
        finally:
            connection.close()
    except sqlite3.Error:
        return False
