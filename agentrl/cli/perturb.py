"""`agentrl eval --perturb`: which changed worlds are played, and success by factor and level."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.cli.output import interval, number, print_table
from agentrl.core.errors import ConfigError
from agentrl.envs.common.perturb import FACTORS, HIGHEST, read_perturbation
from agentrl.rollout.evaluate import Evaluation

ALL = "all"


def read_perturbations(words: Sequence[str]) -> list[str]:
    """What is played: `light:2 camera:1` both at once, `light camera` or `all` each level of each of them alone, after
    the unchanged world; that one only for no words. An empty text changes nothing."""
    if not any(":" not in word for word in words):
        return [str(read_perturbation(",".join(words)))]
    if any(":" in word for word in words):
        raise ConfigError(f"--perturb must be factors with levels or factors without; got {' '.join(words)}")
    factors = FACTORS if ALL in words else words
    for factor in factors:
        read_perturbation({factor: 0})  # complains about one that there is not
    return ["", *(f"{factor}:{level}" for factor in dict.fromkeys(factors) for level in range(1, HIGHEST + 1))]


def show_perturbations(results: Sequence[Evaluation]) -> None:
    """A table for each policy in each environment: a line a factor, a column a level."""
    for env_id, policy in dict.fromkeys((result.id, result.policy) for result in results):
        mine = {result.perturb: result for result in results if (result.id, result.policy) == (env_id, policy)}
        factors = dict.fromkeys(name.partition(":")[0] for name in mine if name)
        columns = ("factor", "unchanged", *(f"level {level}" for level in range(1, HIGHEST + 1)))
        rows = [(f, *(_success(mine[n]) for n in ("", *(f"{f}:{k}" for k in range(1, HIGHEST + 1))))) for f in factors]
        print_table(columns, rows, title=f"{env_id}: {policy}, success in changed worlds, 95 % (Wilson)")


def _success(result: Evaluation) -> str:
    return f"{number(result.success)} {interval(result.success_ci)}"
