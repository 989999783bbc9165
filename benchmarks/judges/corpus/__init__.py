"""Labelled statements about grids, for measuring judges.

Each line of the files is a statement: `shape` (which sentence pattern it belongs to), `env`, `purpose`, `text` and
`relations`, the list of [object, vertical, horizontal] that it claims; nothing is claimed where an axis is null. The
two files share no shape. The grammar was written with the training file at hand; the held-out file was written
before the grammar was last changed and was never used to change it. The files are data of the repository and not part
of an installed package.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from agentrl.core.env_class import state_type_of
from agentrl.core.errors import ConfigError
from agentrl.core.judging import Purpose
from agentrl.judges.grammar.vocabulary import Vocabulary, vocabulary_of
from agentrl.judges.relations import Relation
from agentrl.judges.rule import read

FOLDER = Path(__file__).parent
SPLITS = ("train", "heldout")


class Statement(NamedTuple):
    """A text and what it says."""

    shape: str
    env: str
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
    path = FOLDER / f"{split}.jsonl"
    if not path.is_file():
        raise ConfigError(
            f"the labelled statements ({path.name}) are missing: they come with a checkout of agentrl, not with an "
            "installed package"
        )
    return [_statement(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _statement(row: dict) -> Statement:
    relations = tuple(Relation(*relation) for relation in row["relations"])
    return Statement(row["shape"], row["env"], row["purpose"], row["text"], relations)


def vocabulary(env_id: str) -> Vocabulary:
    """The words for what can be scored in an environment."""
    claims = state_type_of(env_id).claims()
    if claims is None or claims.relations is None:
        raise ConfigError(f"the states of {env_id} must declare relations")
    return vocabulary_of(claims.relations)


def measure(statements: Iterable[Statement]) -> Figures:
    """Precision and recall of the rule judge's reading."""
    statements = list(statements)
    right = claimed = labelled = exact = 0
    for statement in statements:
        said = Counter(read(statement.text, vocabulary(statement.env), statement.purpose == "worldmodeling").claims)
        meant = Counter(statement.relations)
        right += (said & meant).total()
        claimed += said.total()
        labelled += meant.total()
        exact += said == meant
    shapes = len({statement.shape for statement in statements})
    count = len(statements)
    return Figures(count, shapes, labelled, right / max(1, claimed), right / max(1, labelled), exact / max(1, count))
