"""Which parts of a robot's world are changed, and how strongly: `perturb="light:2,camera:1"`.

A change is drawn from the task's id, the factor and `perturb_seed`, and from nothing else: the same task with the same
level looks the same in every process, after every snapshot and for every policy. A higher level changes the same way
further, so that levels can be compared task by task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, did_you_mean

FACTORS = ("light", "camera", "textures", "distractors", "poses", "instructions")
HIGHEST = 3


@dataclass(frozen=True)
class Perturbation:
    """The level of each factor that is changed. Nothing is: it is false."""

    levels: tuple[tuple[str, int], ...] = ()
    seed: int = 0

    def __bool__(self) -> bool:
        return bool(self.levels)

    def __str__(self) -> str:
        return ",".join(f"{factor}:{level}" for factor, level in self.levels)

    def level(self, factor: str) -> int:
        """How strongly a factor is changed, 0 for not at all."""
        return dict(self.levels).get(factor, 0)

    def random(self, factor: str, task: str, attempt: int = 0) -> np.random.Generator:
        """What decides how a factor is changed in a task."""
        name = f"{self.seed}/{factor}/{attempt}/{task}".encode()
        return np.random.default_rng(int.from_bytes(hashlib.blake2b(name, digest_size=16).digest(), "little"))


UNCHANGED = Perturbation()


def read_perturbation(perturb: Any, seed: Any = 0) -> Perturbation:
    """`"light:2,camera:1"` or `{"light": 2, "camera": 1}`; `ConfigError` of one sentence for anything else."""
    if perturb is None or isinstance(perturb, str):
        pairs = [part.partition(":")[::2] for part in (perturb or "").split(",") if part.strip()]
        given: dict[Any, Any] = {}
        for factor, level in ((name.strip(), level.strip()) for name, level in pairs):
            if factor in given:
                raise ConfigError(f"perturb must name each factor once; got {factor!r} twice")
            given[factor] = int(level) if level.isascii() and level.isdecimal() else level
    elif isinstance(perturb, Mapping):
        given = dict(perturb)
    else:
        raise ConfigError(f'perturb must be text such as "light:2,camera:1", a dict or None; got {perturb!r}')
    for factor, level in given.items():
        if factor not in FACTORS:
            hint = did_you_mean(str(factor), FACTORS)
            raise ConfigError(f"a factor of perturb must be one of {', '.join(FACTORS)}; got {factor!r}.{hint}")
        if type(level) is not int or not 0 <= level <= HIGHEST:
            raise ConfigError(f"the level of {factor} must be a whole number from 0 to {HIGHEST}; got {level!r}")
    levels = tuple((factor, given[factor]) for factor in FACTORS if given.get(factor))
    return Perturbation(levels, whole_number("perturb_seed", seed, at_least=0))
