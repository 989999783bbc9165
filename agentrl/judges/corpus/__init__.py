"""Labelled statements about grids, for measuring judges.

Each line of the files is a statement: `shape` (which sentence pattern it belongs to), `game`, `purpose`, `text` and
`relations`, the list of [object, vertical, horizontal] that it claims; nothing is claimed where an axis is null. The
two files share no shape. The grammar was written with the training file at hand; the held-out file was written
before the grammar was last changed and was never used to change it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from agentrl.core.judging import Purpose
from agentrl.judges.relations import Game, Relation
from agentrl.judges.rule import read

SPLITS = ("train", "heldout")


class Statement(NamedTuple):
    """A text and what it says."""

    shape: str
    game: Game
    purpose: Purpose
    text: str
    relations: tuple[Relation, ...]


class Figures(NamedTuple):
    """How well relations are read: shares of the claims that are right, and of the labels that are found."""

    statements: int
    shapes: int
    relations: int
    precision: float
    recall: float
    exact: float  # share of statements read without any mistake


def load(split: str) -> list[Statement]:
    """The statements of "train" or "heldout"."""
    lines = files("agentrl.judges.corpus").joinpath(f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_statement(json.loads(line)) for line in lines]


def _statement(row: dict) -> Statement:
    relations = tuple(Relation(*relation) for relation in row["relations"])
    return Statement(row["shape"], row["game"], row["purpose"], row["text"], relations)


def measure(statements: Iterable[Statement]) -> Figures:
    """Precision and recall of the rule judge's reading."""
    statements = list(statements)
    right = claimed = labelled = exact = 0
    for statement in statements:
        said = Counter(read(statement.text, statement.game, statement.purpose == "worldmodeling").claims)
        meant = Counter(statement.relations)
        right += (said & meant).total()
        claimed += said.total()
        labelled += meant.total()
        exact += said == meant
    shapes = len({statement.shape for statement in statements})
    count = len(statements)
    return Figures(count, shapes, labelled, right / max(1, claimed), right / max(1, labelled), exact / max(1, count))
