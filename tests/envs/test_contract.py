"""A registered environment is a tested environment: the public kit runs over the table.

The whole kit runs on one id of each family, with a tenth of the hostile replies and a quarter of the episodes of its
row; with all of them in `make test-all`. Further ids are made, reset, stepped and rendered once, or only played if they
differ from one of these by their task alone; `agentrl check --all` puts every id through the whole kit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentrl.registry import FAMILIES, Entry, Family
from agentrl.testing import CHECKS, KitBudget, check_env

RICHEST_FIRST = ("Visual", "", "Text", "Grid")
# What is cheap and may differ between ids: one episode, played and drawn.
ONCE = ["spaces", "info", "rewards", "rendering", "spec", "prompt", "representations"]
# The same for an id whose class and kind have been played and drawn already: only its task is another one.
LEAST = ["info", "prompt", "representations"]
# The contract is the environment's: a similarity network, which has tests of its own, would take minutes over it, and a
# small shop keeps the same promises as a large one.
QUICK: dict[str, dict[str, Any]] = {
    "svg": {"scorers": [{"scorer": "classical", "weight": 5.0}]},
    "webshop": {"catalogue_size": 1_000},
    "multihop": {"pages": 1_000},
    "papersearch": {"papers": 10_000},
    "libero": {"task": 2},  # a pick and a place in every suite: the others take more of the same, and longer
    "metaworld": {"max_turns": 45, "obs_mode": "state"},  # its pictures have tests of their own
}
# What takes long is smaller or shorter than in `make test-all`.
QUICKER: dict[str, dict[str, Any]] = {
    "libero": {"obs_mode": "state"},
    "navigation": {"image_size": 48},
    "primitiveskill": {"image_size": 32},
    "webarena": {"max_turns": 12},
}
# A pick and a place by control steps takes long: nine of them in `make test-all`, four in tests/envs/libero.
LEFT_OUT: dict[str, set[str]] = {"libero": {"oracle"}}
LONG = ("LIBERO-90-Text", "LIBERO-Object-Text", "LIBERO-10-Text", "LIBERO-Goal-Text")  # up to a minute by words
# Where ids differ by their task alone and are many: the quickest one has the whole kit, and the family's own tests go
# through the others (tests/envs/<family>).
QUICKEST = {"metaworld": "agentrl/MetaWorld-handle-press-v0"}


def richest(family: Family) -> Entry:
    """The entry that shows most of a family: pictures and text, if it has both."""
    if family.name in QUICKEST:
        return next(entry for entry in family.envs if entry.id == QUICKEST[family.name])
    return min(reversed(family.envs), key=lambda entry: RICHEST_FIRST.index(entry.kind))


def cases(entries: list[tuple[Family, Entry]]) -> list[Any]:
    """Test parameters with the marker of the extra that each entry needs, and twice the time of its slowest check."""
    return [
        pytest.param(
            family,
            entry,
            id=entry.id,
            marks=[
                pytest.mark.timeout(max(300, 2 * family.kit.seconds)),
                *([getattr(pytest.mark, f"extra_{entry.extra}")] if entry.extra else []),
                *([pytest.mark.long] if any(name in entry.id for name in LONG) else []),
            ],
        )
        for family, entry in entries
    ]


FURTHER = [
    (family, entry)
    for family in FAMILIES
    for entry in family.envs
    if family.name not in QUICKEST and entry is not richest(family)
]


@pytest.mark.parametrize(("family", "entry"), cases([(family, richest(family)) for family in FAMILIES]))
def test_one_environment_of_each_family_keeps_the_contract(family: Family, entry: Entry) -> None:
    kit = family.kit
    budget = replace(kit, episodes=-(-kit.episodes // 4), hostile_replies=kit.hostile_replies // 10)
    options = QUICK.get(family.name, {}) | QUICKER.get(family.name, {})
    checks = [name for name in CHECKS if name not in LEFT_OUT.get(family.name, ())]
    report = check_env(entry.id, checks=checks, budget=budget, **options)
    report.raise_for_failure()
    assert [check.name for check in report.checks] == checks


@pytest.mark.long
@pytest.mark.parametrize(("family", "entry"), cases([(family, richest(family)) for family in FAMILIES]))
def test_one_environment_of_each_family_keeps_the_contract_over_its_whole_budget(family: Family, entry: Entry) -> None:
    check_env(entry.id, **QUICK.get(family.name, {})).raise_for_failure()


@pytest.mark.parametrize(("family", "entry"), cases(FURTHER))
def test_every_further_environment_can_be_played_and_drawn(family: Family, entry: Entry) -> None:
    budget = KitBudget(episodes=1, image_size=family.kit.image_size, seconds=family.kit.seconds)
    same = [other for other in family.envs if (other.entry_point, other.kind) == (entry.entry_point, entry.kind)]
    checks = ONCE if entry is same[0] and richest(family) not in same else LEAST
    check_env(entry.id, checks=checks, budget=budget, **QUICK.get(family.name, {})).raise_for_failure()
