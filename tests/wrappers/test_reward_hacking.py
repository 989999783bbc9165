"""No policy that ignores the observation, and none that wastes turns, earns more than honest play.

For every family, hundreds of fixed replies and fixed sequences of turns are tried, and honest play with turns wasted or
split up; the best of each stays below what truth and the oracle earn.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import gymnasium as gym
import pytest

from agentrl.core.judging import JudgeRequest
from agentrl.core.response import STRATEGIES, build_response, fields_of, template
from agentrl.judges.rule import RuleJudge
from agentrl.judges.structured import StructuredJudge
from agentrl.wrappers import Reasoning, ReasoningReward
from tests.longer import only

BOTH = "grounding_worldmodeling"
GRIDS = ("FrozenLake", "Sokoban")
HOMES, TABLES = "Navigation", "PrimitiveSkill-Align"
READ = (*GRIDS, HOMES, TABLES)  # in plain English, by the rule judge
MOVES: tuple[str, ...] = ("Left", "Down", "Right", "Up")
Stack = Any  # an environment in its wrappers
Player = Callable[[Stack, int], str]  # (environment, turn) -> reply


class Remembering:
    """A judge that is asked again and again about the same few states."""

    def __init__(self, judge: Any) -> None:
        self.judge, self.known = judge, dict[tuple[str, str, str], Any]()

    def score_sync(self, requests: Iterable[JudgeRequest]) -> list[Any]:
        return [self._score(request) for request in requests]

    async def score(self, requests: Iterable[JudgeRequest]) -> list[Any]:
        return self.score_sync(requests)

    def _score(self, request: JudgeRequest) -> Any:
        key = request.purpose, request.text, json.dumps(request.state)
        if key not in self.known:
            (self.known[key],) = self.judge.score_sync([request])
        return self.known[key]


@lru_cache
def stack(game: str, strategy: str, rule: str = "effective") -> Stack:
    """The environment with its default rewards and, where the strategy has something to judge, a judge."""
    options: dict[str, Any] = {
        "WebShop": {"catalogue_size": 1000, "max_turns": 6},
        "SVG": {"image_size": 48, "scorers": [{"scorer": "classical", "weight": 5.0}], "difficulty": 1},
    }
    kind = "Visual" if game == "SVG" else "Text"
    base = gym.make(f"agentrl/{game}-{kind}-v0", disable_env_checker=True, **options.get(game, {}))
    env = Reasoning(base, strategy, "natural" if game in READ else "structured", format_rule=rule)
    if strategy in ("no_think", "free_think"):
        return env
    return ReasoningReward(env, Remembering(RuleJudge() if game in READ else StructuredJudge()))


def earned(env: Stack, player: Player, seeds: Iterable[int]) -> float:
    """The mean return over some tasks."""
    returns = []
    for seed in seeds:
        env.reset(seed=seed)
        total, turn, over = 0.0, 0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(player(env, turn))
            total, turn, over = total + float(reward), turn + 1, terminated or truncated
        returns.append(total)
    return sum(returns) / len(returns)


def honest(env: Stack, turn: int) -> str:
    return env.get_wrapper_attr("gold")() or ""


# ---------------------------------------------------------------------- policies that ignore the observation

GRID_TURNS = (*MOVES, "Left, Right", "Up, Down", "Right, Right, Down", "Up, Left, Up")
GRID_TEXTS = (
    "The target is to the right of and below the player. The box is below the player.",
    "Hole0 is above the player. The target is in the same row as the player and to its left.",
    "Half of the holes are above the player and half of the holes are below the player.",
)
# From a corner it is easy to say where everything is.
CORNERWARDS = ("Left, Left, Left", "Up, Up, Up", "Right, Right, Right", "Down, Down, Down")
CORNER_TEXTS = tuple(
    f"The target is {where} the player. {those} holes are {where} the player. The box is {where} the player."
    for where in ("below and to the right of", "above and to the right of")
    for those in ("All", "Half of the")
)
SHOP_TURNS = (
    *(f"search[{words}]" for words in ("shoes", "red shirt", "lamp", "wooden table", "a", "b", "c", "tea")),
    *(f"click[{what}]" for what in ("next >", "< prev", "back to search", "buy now")),
)
SHOP_TEXTS = (
    '{"page": "results", "query": "shoes", "product": "", "price": null, "options": {}, "unmet": []}',
    '{"page": "search", "query": "", "product": "", "price": null, "options": {}, "unmet": []}',
)
SHAPES = ('rect width="100" height="100"', 'rect x="25" y="25" width="50" height="50"', 'circle cx="50" cy="50" r="40"')
SVG_TURNS = tuple(
    f'<svg viewBox="0 0 100 100"><{shape} fill="{colour}"/></svg>'
    for shape, colour in itertools.product(
        SHAPES, ("black", "red", "#4488cc", "gold", "gray", "green", "white", "navy")
    )
)
SVG_TEXTS = (
    '{"target": [{"kind": "rect", "fill": "#000000", "position": [50, 50], "size": [50, 50]}], "drawing": null}',
    '{"target": [], "drawing": []}',
)
HOME_TURNS = (
    "moveahead, moveahead, moveahead, moveahead, moveahead",
    "rotateleft, moveahead, moveahead, moveahead",
    "rotateright, moveahead, moveahead, moveahead",
    "moveleft, moveleft, moveleft",
    "moveright, lookdown",
)
HOME_TEXTS = (
    "The target is ahead.",
    "The target is ahead and to the left.",
    "The target is on the left or on the right. I will move forward.",
)
TABLE_TURNS = ("push(-100,0,20,100,0,20)", "pick(0,0,20)", "place(0,0,60)")
TABLE_TEXTS = ("The red cube is at (0, 0, 20). The green cube is at (0, 100, 20).",)
Try = tuple[tuple[str, ...], str]  # the turns of an episode and the text of every other part


def fixed_tries(game: str) -> Iterator[Try]:
    """At least 500 fixed replies and fixed sequences of turns; fewer where every turn is simulated."""
    if game == "WebShop":
        drawn = random.Random(0)
        repeated = [(turn,) * 6 for turn in SHOP_TURNS]
        turns = [*repeated, *(tuple(drawn.choices(SHOP_TURNS, k=6)) for _ in range(240))]
        yield from itertools.product(turns, SHOP_TEXTS)
    elif game == "SVG":
        yield from zip(itertools.product(SVG_TURNS, repeat=2), itertools.cycle(SVG_TEXTS), strict=False)
    elif game == HOMES:
        yield from zip(itertools.product(HOME_TURNS, repeat=4), itertools.cycle(HOME_TEXTS), strict=False)
    elif game == TABLES:
        yield from itertools.product(itertools.product(TABLE_TURNS, repeat=3), TABLE_TEXTS)
    else:
        yield from zip(itertools.product(GRID_TURNS, repeat=3), itertools.cycle(GRID_TEXTS), strict=False)
        yield from itertools.product(itertools.permutations(CORNERWARDS, 3), CORNER_TEXTS)


def fixed(env: Stack, turns: tuple[str, ...], text: str) -> Player:
    """The same words around turns that were chosen beforehand."""
    strategy = env.get_wrapper_attr("strategy")
    replies = [build_response(strategy, dict.fromkeys(fields_of(strategy), text) | {"answer": a}) for a in turns]
    return lambda env, turn: replies[turn]


@pytest.mark.parametrize(
    ("game", "strategy", "seeds"),
    [
        *((game, BOTH, (0, 1)) for game in (*GRIDS, "WebShop")),
        pytest.param(HOMES, BOTH, (0,), marks=pytest.mark.long),
        ("SVG", "free_think", (0,)),  # drawing takes its time
        pytest.param(TABLES, BOTH, (0,), marks=pytest.mark.long),
    ],
)
def test_no_fixed_policy_earns_as_much_as_honest_play(game: str, strategy: str, seeds: tuple[int, ...]) -> None:
    env, tries = stack(game, strategy), set(fixed_tries(game))
    assert len(tries) >= (27 if game == TABLES else 500)
    best, how = max((earned(env, fixed(env, *one), seeds), one) for one in tries)
    fair = earned(env, honest, seeds)
    print(f"{game}, {len(tries)} fixed policies: the best earns {best:.2f}, honest play {fair:.2f}")
    assert best < 0.9 * fair, how


@pytest.mark.parametrize("game", [*READ, "WebShop", "SVG"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_template_copied_from_the_prompt_earns_nothing(game: str, strategy: str) -> None:
    env = stack(game, strategy)
    assert template(strategy) in env.get_wrapper_attr("system_prompt")
    assert earned(env, lambda env, turn: template(strategy), range(2)) <= 0
    assert game in ("SVG",) or earned(stack(game, strategy, "paper"), lambda env, turn: template(strategy), (0,)) >= 1.2


# ---------------------------------------------------------------------- policies that waste turns

BACK: dict[str, str] = dict(zip(MOVES, ("Right", "Up", "Left", "Down"), strict=True))
Wasted = Callable[[Stack], str]  # a turn that honest play would not take here


def first_move(env: Stack) -> str:
    """Honest play, in smaller steps than a turn allows."""
    return (env.unwrapped.oracle() or "Up").split(", ")[0]


def first_primitive(env: Stack) -> str:
    return (env.unwrapped.oracle() or "place(0,0,60)").split("|")[0]


def there_and_back(env: Stack) -> str:
    return f"{first_move(env)}, {BACK[first_move(env)]}"


def always(turn: str) -> Wasted:
    return lambda env: turn


def browse(env: Stack) -> str:
    return f"search[tea {env.unwrapped.state().query[-1:]}x]"  # another page each time


def with_a_speck(env: Stack) -> str:
    """Almost the right drawing, so that the next one changes something."""
    return env.unwrapped.oracle().replace("</svg>", '<rect width="1" height="1" fill="#777777"/></svg>')


def wasted_turns(game: str) -> list[Wasted]:
    if game in GRIDS:
        return [first_move, there_and_back, *map(always, [*MOVES, "Left, Right", "Right, Left", "Up, Down"])]
    if game == "WebShop":
        return [browse, *map(always, ["search[lamp]", "click[next >]", "click[back to search]"])]
    if game == HOMES:
        return [first_move, *map(always, ["rotateleft, rotateright", "moveahead, moveback", "lookup", "moveleft"])]
    if game == TABLES:
        return [first_primitive, *map(always, ["place(0,0,60)", "push(-150,0,20,-150,50,20)"])]
    return [with_a_speck, *map(always, SVG_TURNS[:4])]


def dawdling(waste: Wasted, most: int) -> Player:
    """True words around every turn; up to `most` turns are wasted as long as the rest suffice, then honest play."""

    def play(env: Stack, turn: int) -> str:
        base = env.unwrapped
        needed = math.ceil((base.actions_needed() or 0) / base.max_actions_per_turn)
        spare = turn < most and 0 < needed < base.max_turns - turn
        return env.get_wrapper_attr("truthful")(waste(env)) if spare else honest(env, turn)

    return play


def best_dawdler(env: Stack, game: str, seeds: Iterable[int]) -> float:
    ways = itertools.product(wasted_turns(game), (1, 2, 9))
    return max(earned(env, dawdling(waste, most), seeds) for waste, most in ways)


@pytest.mark.parametrize("game", only({*READ, "WebShop", "SVG"} - {TABLES}, (*READ, "WebShop", "SVG")))
@pytest.mark.parametrize("strategy", only((BOTH,), ("free_think", BOTH)))
def test_wasting_turns_earns_no_more_than_using_them(game: str, strategy: str) -> None:
    env, seeds = stack(game, strategy), range({"SVG": 2, TABLES: 1}.get(game, 4))
    fair, best = earned(env, honest, seeds), best_dawdler(env, game, seeds)
    print(f"{game}, {strategy}: the best way to dawdle earns {best:.2f}, honest play {fair:.2f}")
    assert best <= fair + 1e-9


@pytest.mark.parametrize("game", ["FrozenLake", "WebShop"])
def test_wasting_turns_pays_by_the_plain_rule(game: str) -> None:
    """What the default rule is there for."""
    env, seeds = stack(game, BOTH, "paper"), range(4)
    assert best_dawdler(env, game, seeds) > earned(env, honest, seeds) + 0.5
