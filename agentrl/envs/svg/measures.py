"""What a drawing earns: weighted similarities by scorers given as JSON, each under its own name."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import Scorer
from agentrl.core.specs import resolve
from agentrl.envs.svg.pictures import Recent

DEFAULT: tuple[Mapping[str, Any], ...] = ({"scorer": "default", "weight": 5.0},)
EXAMPLE = '[{"scorer": "classical", "weight": 5.0}]'
REMEMBERED_SCORES = 8192
_scores: Recent[float] = Recent(REMEMBERED_SCORES)


@dataclass(frozen=True)
class Measure:
    """One similarity, and how much it counts."""

    name: str
    scorer: Scorer
    weight: float
    key: str | None  # of equal scorers; None for a live object, about which nothing is known

    def score(self, target: np.ndarray, drawing: np.ndarray) -> float:
        """How alike two pictures are."""
        if self.key is None:
            return self._ask(target, drawing)
        return _scores.get((self.key, _content(target), _content(drawing)), lambda: self._ask(target, drawing))

    def _ask(self, target: np.ndarray, drawing: np.ndarray) -> float:
        [score] = self.scorer.score_pairs([(target, drawing)])
        if not math.isfinite(score):
            raise JudgeFault(f"scorer {self.name!r} answered {score!r}")
        return float(score)


def _content(picture: np.ndarray) -> tuple[Any, ...]:
    return picture.shape, hashlib.blake2b(picture.tobytes(), digest_size=16).digest()


def make_measures(specs: Any) -> tuple[Measure, ...]:
    """The measures that the argument `scorers` asks for, the main one first; `ConfigError` says what is wrong."""
    if specs is None:
        specs = DEFAULT
    if isinstance(specs, (str, Mapping)) or not isinstance(specs, Sequence) or not specs:
        raise ConfigError(f"scorers must be a list such as {EXAMPLE}; got {specs!r}")
    measures: list[Measure] = []
    for spec in specs:
        if not isinstance(spec, Mapping) or set(spec) != {"scorer", "weight"}:
            raise ConfigError(f'each of scorers must be {{"scorer": ..., "weight": ...}}; got {spec!r}')
        weight = finite_number("the weight of a scorer", spec["weight"])
        wanted, key = spec["scorer"], None
        if isinstance(wanted, (str, Mapping)):
            try:
                key = json.dumps(wanted, sort_keys=True)
            except TypeError as error:
                raise ConfigError(f"a scorer must be given as JSON; got {wanted!r}: {error}") from error
        scorer = resolve("scorer", wanted) if key is None else _shared_scorer(key)
        measures.append(Measure(str(getattr(scorer, "name", type(scorer).__name__)), scorer, weight, key))
    names = [measure.name for measure in measures]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"scorers has two of the same name ({', '.join(names)}); their scores could not be told apart"
        )
    return tuple(measures)


@lru_cache(maxsize=8)
def _shared_scorer(key: str) -> Scorer:
    """Equal specs share one: a network is loaded once for all environments."""
    return resolve("scorer", json.loads(key))
