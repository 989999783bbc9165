"""Players that do no work earn next to nothing, in every family."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentrl.core.env_class import env_class
from agentrl.judges.fitting import is_readable
from agentrl.policies import load_policy
from agentrl.registry import FAMILIES, Entry
from agentrl.rollout.evaluate import evaluate
from benchmarks.cheap_players import CASES, FILE, LIMIT, WORKING, too_good
from benchmarks.learning.results import KEPT

BLIND = ("constant", "random-constant", "copy", "prior")
KEPT_ENVS = json.loads((KEPT / FILE).read_text())["envs"]
SHOP = {"catalogue_size": 1_000}
BOTH = {"wrapper": "Reasoning", "strategy": "grounding_worldmodeling"}


def marks(env_id: str) -> list[Any]:
    """The marker of the extra that an environment needs."""
    entry = next(entry for family in FAMILIES for entry in family.envs if entry.id == env_id)
    return [getattr(pytest.mark, f"extra_{entry.extra}")] if entry.extra else []


def case(env_id: str, *arguments: Any, long: bool = False) -> Any:
    short = env_id.removeprefix("agentrl/")
    return pytest.param(env_id, *arguments, id=short, marks=[*marks(env_id), *([pytest.mark.long] if long else [])])


# ---------------------------------------------------------------------- the table of the pages


def test_every_family_is_in_the_table_of_cheap_players() -> None:
    for family in FAMILIES:
        ids = {entry.id for entry in family.envs}
        assert ids & KEPT_ENVS.keys(), f"measure one of {family.name}: python -m benchmarks.cheap_players ID"
    assert KEPT_ENVS.keys() == CASES.keys()
    for env_id, kept in KEPT_ENVS.items():
        expected = {"oracle", "random", *BLIND} - set(CASES[env_id].without)
        assert kept["players"].keys() >= expected and kept["ours"] == CASES[env_id].ours


def test_no_measured_player_without_work_reaches_a_twentieth_of_the_oracle_where_tasks_are_ours() -> None:
    assert too_good(KEPT_ENVS) == []
    for env_id, kept in KEPT_ENVS.items():
        cheap = {name: one["success"] for name, one in kept["players"].items() if name not in WORKING}
        best = max(cheap, key=lambda name: cheap[name])
        print(f"{env_id}: oracle {kept['players']['oracle']['success']:.3f}, best {best} {cheap[best]:.3f}")


def test_a_player_that_reaches_more_is_named() -> None:
    players = {"oracle": {"success": 0.9}, "copy": {"success": 0.046}, "random": {"success": 0.5}}
    drawn = {"random-constant": {"success": 0.01, "best": 0.2}}
    kept = {"ours": True, "players": players | drawn}
    assert too_good({"x": kept}) == ["x: copy 0.046 (at most 0.045)", "x: random-constant 0.200 (at most 0.045)"]
    assert too_good({"x": {**kept, "ours": False}}) == []


# ---------------------------------------------------------------------- played here


@pytest.mark.parametrize(
    ("env_id", "episodes", "kwargs"),
    [
        case("agentrl/FrozenLake-Text-v0", 100, {}),
        case("agentrl/Sokoban-Text-v0", 100, {}),
        case("agentrl/Navigation-Text-v0", 60, {"homes": 10}, long=True),
        case("agentrl/WebShop-Text-v0", 20, SHOP),
        *(case(f"agentrl/PrimitiveSkill-{name}-Text-v0", 20, {}, long=True) for name in ("Place", "Stack", "Align")),
        case("agentrl/PrimitiveSkill-Drawer-Text-v0", 20, {}, long=True),
    ],
)
def test_players_without_work_stay_below_a_twentieth_of_the_oracle(
    env_id: str, episodes: int, kwargs: dict[str, Any]
) -> None:
    ceiling = evaluate(env_id, "oracle", max(1, episodes // 10), env_kwargs=kwargs).success
    assert ceiling is not None and ceiling >= 0.95
    for name in BLIND:
        policy = load_policy(name, seed=1, **({"tasks": 20} if name == "prior" else {}))
        assert (evaluate(env_id, policy, episodes, env_kwargs=kwargs).success or 0.0) <= LIMIT * ceiling, name


# ---------------------------------------------------------------------- copying, with a judge that pays for words


def judged() -> list[Entry]:
    """The first id with text of every class whose states a judge can score."""
    found: dict[str, Entry] = {}
    for entry in (entry for family in FAMILIES for entry in family.envs if entry.kind in ("Text", "Visual")):
        found.setdefault(entry.entry_point, entry)
    return list(found.values())


QUICK: dict[str, Any] = {
    "agentrl/SVG-Visual-v0": {"scorers": [{"scorer": "classical", "weight": 5.0}], "image_size": 64},
    "agentrl/WebShop-Text-v0": SHOP,
}
EPISODES = {"agentrl/LIBERO-90-Text-v0": 2, "agentrl/SVG-Visual-v0": 4}
SLOW = ("agentrl/LIBERO-90-Text-v0", "agentrl/PrimitiveSkill-Place-Text-v0", "agentrl/WebArenaLite-Text-v0")


@pytest.mark.parametrize("env_id", [case(entry.id, long=entry.id in SLOW) for entry in judged()])
def test_copying_never_earns_more_than_honest_play_without_reasoning(env_id: str) -> None:
    cls: Any = env_class(env_id)
    assert cls.state_type.claims() is not None
    episodes, kwargs = EPISODES.get(env_id, 5), QUICK.get(env_id, {})
    honest = evaluate(env_id, "oracle", episodes, env_kwargs=kwargs).reward_mean
    assert honest is not None
    by_rule = is_readable(cls.state_type.claims())  # else there is nothing that it could read: JSON alone is scored
    for representation in sorted(cls.representations) if by_rule else ["structured"]:
        judge = {"wrapper": "ReasoningReward", "judge": "rule" if by_rule else "structured"}
        wrappers = [{**BOTH, "representation": representation}, judge]
        copied = evaluate(env_id, "copy", episodes, env_kwargs=kwargs, wrappers=wrappers)
        assert copied.format_rate == 1.0 and copied.reward_mean is not None
        print(f"{env_id} {representation}: copying earns {copied.reward_mean:.2f}, honest play {honest:.2f}")
        assert copied.reward_mean <= honest, (representation, copied.reward_terms)
