"""The benchmark's files, converted once into a read-only SQLite file in the cache and checked whenever it is read."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import secrets
import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from agentrl.core.errors import EnvFault
from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.goals import Split, split_sizes
from agentrl.envs.webshop.official_files import (
    JsonStream,
    RawGoal,
    Skipped,
    clean_all,
    human_goals,
    read_product,
    synthetic_goals,
)

GoalKind = Literal["human", "synthetic"]
SHUFFLE_SEED = 233  # the benchmark's, so that goal number i is for the same product as there
SAMPLED = 64  # places of a large file that are hashed when it is opened
PIECE = 1 << 18
_IN_ORDER: tuple[Split, ...] = ("test", "dev", "train")
_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192;
CREATE TABLE product (number INTEGER PRIMARY KEY, asin TEXT UNIQUE NOT NULL, crc INTEGER NOT NULL,
                      record BLOB NOT NULL);
CREATE TABLE goal (number INTEGER PRIMARY KEY, product INTEGER NOT NULL, weight REAL NOT NULL, crc INTEGER NOT NULL,
                   record BLOB NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TEMP TABLE annotation (asin TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE human (asin TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
"""


class Sources(msgspec.Struct, frozen=True):
    """What a store is made from."""

    products: str
    annotations: str
    human: str | None
    seed: int
    goals: GoalKind
    limit: int | None


class Facts(msgspec.Struct, frozen=True):
    """What a finished store says about itself."""

    products: int
    goals: int
    skipped: dict[str, int]
    digests: dict[str, str]


def convert(sources: Sources, path: Path) -> None:
    """Build the store at `path`: all of it or nothing, with the checksum that `is_whole` compares beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with closing(sqlite3.connect(temporary, isolation_level=None)) as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN")
            _fill(database, sources)
            database.execute("COMMIT")
        checksum = temporary.with_name(f"{temporary.name}.check")
        checksum.write_text(sampled_digest(temporary))
        os.replace(checksum, _checksum_of(path))
        os.replace(temporary, path)
    finally:
        for left in (temporary, temporary.with_name(f"{temporary.name}.check")):
            left.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """True where a store is there and has not changed since it was built, as far as some samples of it can tell."""
    try:
        return _checksum_of(path).read_text() == sampled_digest(path)
    except OSError:
        return False


def sampled_digest(path: Path) -> str:
    """The size of a file and a hash of pieces spread over it: all of a small file, 16 MB of a large one."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        for place in range(SAMPLED):
            file.seek(max(0, size - PIECE) * place // (SAMPLED - 1) if size > SAMPLED * PIECE else place * PIECE)
            digest.update(file.read(PIECE))
    return digest.hexdigest()


class Store:
    """Reads a finished store; every record is checked against its checksum."""

    def __init__(self, path: Path) -> None:
        self._path, self._process = path, os.getpid()
        self._database = self._connect()
        self.facts = msgspec.msgpack.decode(self._meta("facts"), type=Facts)

    def product(self, number: int) -> Product:
        """Product number `number`."""
        return self._decoded("SELECT crc, record FROM product WHERE number = ?", number, Product)

    def docid(self, number: int) -> str:
        """The id of product number `number`."""
        return self._row("SELECT asin FROM product WHERE number = ?", number)[0]

    def number(self, asin: str) -> int | None:
        """The number of the product with this id, or None."""
        try:
            row = self._query("SELECT number FROM product WHERE asin IN (?, ?)", asin, asin.upper())
        except UnicodeEncodeError:  # half a surrogate pair cannot be an id
            return None
        return row[0] if row else None

    def goal(self, number: int) -> tuple[int, float, RawGoal]:
        """Product, weight and record of goal number `number` in the order of the file."""
        product, weight = self._row("SELECT product, weight FROM goal WHERE number = ?", number)
        return product, weight, self._decoded("SELECT crc, record FROM goal WHERE number = ?", number, RawGoal)

    def weights(self) -> np.ndarray:
        """The weight of every goal, in the order of the file."""
        rows = self._all("SELECT weight FROM goal ORDER BY number")
        return np.array([weight for (weight,) in rows], dtype=np.float64)

    def order(self, split: Split) -> Sequence[int]:
        """The numbers of a split's goals."""
        blob = self._meta(split)
        return memoryview(blob).cast("I")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )

    def _query(self, statement: str, *values: Any) -> Any:
        return next(iter(self._all(statement, *values)), None)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        if self._process != os.getpid():  # a connection must not be used on the other side of a fork
            self._process, self._database = os.getpid(), self._connect()
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise EnvFault(f"{self._path} is damaged ({error}); delete it and it is built again") from error

    def _row(self, statement: str, *values: Any) -> Any:
        if (row := self._query(statement, *values)) is None:
            raise EnvFault(f"{self._path} is damaged (a row is missing); delete it and it is built again")
        return row

    def _decoded(self, statement: str, number: int, kind: Any) -> Any:
        crc, record = self._row(statement, number)
        if zlib.crc32(record) != crc:
            raise EnvFault(f"{self._path} is damaged (record {number}); delete it and it is built again")
        return msgspec.msgpack.decode(record, type=kind)

    def _meta(self, key: str) -> bytes:
        return self._row("SELECT value FROM meta WHERE key = ?", key)[0]


# ---------------------------------------------------------------------------------------------------- conversion


def _fill(database: sqlite3.Connection, sources: Sources) -> None:
    skipped: Counter[str] = Counter()
    digests = {"annotations": _index(database, "annotation", sources.annotations)}
    if sources.human is not None:
        digests["human"] = _index(database, "human", sources.human)
    stream = JsonStream(Path(sources.products))
    asked: Counter[str] = Counter()
    number = goals = 0
    for row in itertools.islice(stream.elements(), sources.limit):  # rows, not products: as the benchmark counts
        try:
            asin = row.get("asin") if isinstance(row, dict) else None
            annotation = _looked_up(database, "annotation", asin)
            product = read_product(row, annotation, sources.seed)
            _insert(database, "INSERT INTO product VALUES (?, ?, ?, ?)", (number, product.asin), product)
        except (Skipped, sqlite3.IntegrityError) as reason:
            skipped[str(reason) if isinstance(reason, Skipped) else "duplicate asin"] += 1
            continue
        if sources.goals == "human":
            wishes = human_goals(product, _looked_up(database, "human", product.asin), sources.seed)
        else:
            wishes = synthetic_goals(product, _looked_up(database, "annotation", product.asin), sources.seed)
        for goal in wishes:
            if isinstance(goal, Skipped):
                skipped[str(goal)] += 1
                continue
            asked.update(goal.attributes)
            _insert(database, "INSERT INTO goal VALUES (?, ?, 1, ?, ?)", (goals, number), goal)
            goals += 1
        number += 1
    digests["products"] = stream.digest
    if sources.goals == "synthetic":
        _weigh(database, asked)
    for split, order in _splits(database, goals, sources.goals).items():
        database.execute("INSERT INTO meta VALUES (?, ?)", (split, struct.pack(f"={len(order)}I", *order)))
    facts = Facts(number, goals, dict(sorted(skipped.items())), digests)
    database.execute("INSERT INTO meta VALUES ('facts', ?)", (msgspec.msgpack.encode(facts),))


def _index(database: sqlite3.Connection, table: str, path: str) -> str:
    """Put an object's members into a temporary table, where products find theirs; the digest of the file."""
    stream = JsonStream(Path(path))
    rows = ((clean_all(key), msgspec.json.encode(clean_all(value))) for key, value in stream.members())
    database.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", rows)
    return stream.digest


def _looked_up(database: sqlite3.Connection, table: str, asin: Any) -> Any:
    if not isinstance(asin, str) or not asin.isascii():
        return None
    row = database.execute(f"SELECT record FROM {table} WHERE asin = ?", (asin,)).fetchone()
    return None if row is None else msgspec.json.decode(row[0])


def _insert(database: sqlite3.Connection, statement: str, values: tuple[Any, ...], record: Any) -> None:
    blob = msgspec.msgpack.encode(record)
    database.execute(statement, (*values, zlib.crc32(blob), blob))


def _weigh(database: sqlite3.Connection, asked: Counter[str]) -> None:
    """A synthetic goal weighs the mean of 1 / (how often its attributes are asked for)."""
    rows = database.execute("SELECT number, record FROM goal").fetchall()
    for number, record in rows:
        attributes = msgspec.msgpack.decode(record, type=RawGoal).attributes
        weight = sum(1 / asked[attribute] for attribute in attributes) / len(attributes)
        database.execute("UPDATE goal SET weight = ? WHERE number = ?", (weight, number))


def _splits(database: sqlite3.Connection, goals: int, kind: GoalKind) -> dict[Split, list[int]]:
    """The goals of each split in the benchmark's order, no product in two splits."""
    order = list(range(goals))
    random.Random(SHUFFLE_SEED).shuffle(order)
    product_of = dict(database.execute("SELECT number, product FROM goal"))
    room = split_sizes(len(order))
    splits: dict[Split, list[int]] = {split: [] for split in _IN_ORDER}
    if kind == "human":
        # The benchmark's cuts. Few products have several human wishes: those that would put one into a second split
        # are left out of the later one, so that the test split, exactly the benchmark's, is never seen in training.
        start, seen = 0, set()
        for split in _IN_ORDER:
            part = order[start : start + room[split]]
            start += room[split]
            splits[split] = [number for number in part if product_of[number] not in seen]
            seen.update(product_of[number] for number in part)
        return splits
    # Whole products are dealt to the splits: with all their synthetic wishes, cuts would tear nearly all apart.
    wishes = Counter(product_of.values())
    home: dict[int, Split] = {}
    for number in order:
        product = product_of[number]
        if product not in home:
            split: Split = "test" if room["test"] > 0 else "dev" if room["dev"] > 0 else "train"
            home[product] = split
            room[split] -= wishes[product]
        splits[home[product]].append(number)
    return splits


def _checksum_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.check")
