"""The comparisons that an experiment was planned for: few, decided beforehand, and tested together.

Seeds of training are the units: p is that of exact sign flips of the seeds' differences, corrected by Holm's method.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import stdev

from agentrl.rollout.statistics import normal_quantile
from benchmarks.learning.compare import Pool, Results, pools
from benchmarks.learning.experiment import Experiment, Plan
from benchmarks.learning.paired import LEVEL, by_seed, paired

POWER = 0.8
HEAD = ("comparison", "sampled success", "difference", "95 % interval", "seeds", "p", "by Holm", "verdict")
SAID = {"holds": "**holds**", "reversed": "**reversed**", "open": "open"}


def primary(experiment: Experiment, cells: Sequence[Results]) -> list[Results]:
    """Of each planned comparison whose two sides have seeds in common."""
    held, found = pools(cells, "sampled"), []
    for claim in experiment.plan.comparisons if experiment.plan else ():
        if claim.higher in held and claim.lower in held:
            one = seed_by_seed(held[claim.higher], held[claim.lower])
            found += [{"higher": claim.higher, "lower": claim.lower, **one}] if one else []
    for one, p in zip(found, holm([one["p"] for one in found]), strict=True):
        low, high = one["interval"]
        beyond = p < LEVEL and not low <= 0 <= high
        one |= {"holm": p, "verdict": ("holds" if low > 0 else "reversed") if beyond else "open"}
    return found


def seed_by_seed(high: Pool, low: Pool) -> Results | None:
    """Levels and seeds drawn anew for the interval, seeds alone for p; None where no seed has both."""
    outcomes = by_seed(high.outcomes), by_seed(low.outcomes)
    pairs = paired(*outcomes)
    if pairs is None:
        return None
    rates = [{seed: said.count("1") / len(said.replace("-", "")) for seed, said in one.items()} for one in outcomes]
    differences = [rates[0][seed] - rates[1][seed] for seed in rates[0] if seed in rates[1]]
    return {
        "success": [high.rate, low.rate],
        "difference": pairs["difference"],
        "interval": pairs["interval"],
        "seeds": len(differences),
        "p": sign_flip_p(differences),
        "spread": stdev(differences) if len(differences) > 1 else None,
    }


def sign_flip_p(differences: Sequence[float]) -> float:
    """Two-sided and exact: how often the sum is at least as far from 0 when each difference has either sign."""
    whole = abs(sum(differences))
    sums = [
        sum(sign * value for sign, value in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(abs(one) >= whole - 1e-12 for one in sums) / len(sums)


def holm(values: Sequence[float]) -> list[float]:
    """Holm's corrected p of each of several tests."""
    corrected, largest = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = largest
    return corrected


def detectable(spread: float, seeds: int, tests: int, power: float = POWER) -> float:
    """The difference that so many seeds find with this power, by the normal approximation: `spread` is the deviation of
    the seeds' differences, and the first of the tests has the smallest level."""
    return (normal_quantile(1 - LEVEL / tests / 2) + normal_quantile(power)) * spread / math.sqrt(seeds)


def rows(found: Sequence[Results]) -> list[tuple[str, ...]]:
    """For a reader."""
    return [
        (
            f"{one['higher']} above {one['lower']}",
            " against ".join(f"{rate:.3f}" for rate in one["success"]),
            f"{one['difference']:+.3f}",
            " to ".join(f"{end:+.3f}" for end in one["interval"]),
            str(one["seeds"]),
            f"{one['p']:.3f}",
            f"{one['holm']:.3f}",
            SAID[one["verdict"]],
        )
        for one in found
    ]


def sentences(plan: Plan, found: Sequence[Results]) -> list[str]:
    """What the plan could see, and which differences are surely small."""
    seeds = min(one["seeds"] for one in found)
    spreads = [one["spread"] for one in found if one["spread"] is not None]
    reached = max((detectable(spread, seeds, len(found)) for spread in spreads), default=math.nan)
    said = [
        f"The plan had a power of {POWER:g} for a difference of {plan.detects:g}, by the variances of earlier results; "
        f"by the spread of these seeds it was {reached:.3f}."
    ]
    for one in found:
        if (high := one["interval"][1]) < plan.matters:
            said.append(
                f"**{one['higher']} is less than {plan.matters:g} above {one['lower']}**: the upper end of the "
                f"interval is {high:+.3f}. That is a result, too."
            )
    return said
