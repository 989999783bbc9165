"""Two-player Sokoban: PettingZoo's own tests, the rules of who moves first, and levels that can always be solved."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.envs.grid.sokoban import SokobanEnv
from agentrl.envs.grid.sokoban_duo import AGENTS, MOVES, DuoState, env, parallel_env

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's kit imports what PettingZoo has deprecated
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

KINDS = ("text", "visual", "grid")
P, Q = AGENTS


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# ---------------------------------------------------------------------- PettingZoo


@pytest.mark.parametrize("kind", KINDS)
def test_it_passes_pettingzoos_parallel_tests(kind: str) -> None:
    parallel_api_test(parallel_env(kind), num_cycles=100)
    parallel_seed_test(lambda: parallel_env(kind))


def test_the_converted_environment_passes_pettingzoos_turn_by_turn_tests() -> None:
    api_test(env(), num_cycles=300)
    seed_test(env)


def test_the_converted_environment_also_takes_text() -> None:
    game = env(kind="text")
    game.reset(seed=3)
    for agent in game.agent_iter(max_iter=20):
        *_, terminated, truncated, info = game.last()
        game.step(None if terminated or truncated else "Stay, Up")
        assert agent in AGENTS and "state" in info


# ---------------------------------------------------------------------- the game, told independently

WAYS = {"Left": (0, -1), "Down": (1, 0), "Right": (0, 1), "Up": (-1, 0)}
Spot = tuple[int, int]
World = tuple[Spot, Spot, frozenset[Spot]]  # P, Q, boxes


class Referee:
    """The rules with sets of places, and a search over everything two players can do."""

    def __init__(self, task: str) -> None:
        spots = {(r, c): symbol for r, row in enumerate(task.split("/")) for c, symbol in enumerate(row)}

        def where(symbols: str) -> set[Spot]:
            return {spot for spot, symbol in spots.items() if symbol in symbols}

        self.floor, self.targets = spots.keys() - where("#"), frozenset(where("O*ST"))
        self.start: World = (where("PS").pop(), where("QT").pop(), frozenset(where("X*")))

    def move(self, world: World, who: int, name: str) -> World:
        if name == "Stay" or world[2] == self.targets:
            return world
        (down, right), me, partner, boxes = (WAYS[name], world[who], world[1 - who], world[2])
        ahead = (me[0] + down, me[1] + right)
        if ahead in boxes:
            behind = (ahead[0] + down, ahead[1] + right)
            if behind not in self.floor or behind in boxes or behind == partner:
                return world
            boxes = boxes - {ahead} | {behind}
        elif ahead not in self.floor or ahead == partner:
            return world
        return (ahead, partner, boxes) if who == 0 else (partner, ahead, boxes)

    def turn(self, world: World, number: int, moves: list[list[str]]) -> World:
        for k in range(max(map(len, moves))):
            for who in (0, 1) if number % 2 == 0 else (1, 0):
                if k < len(moves[who]):
                    world = self.move(world, who, moves[who][k])
        return world

    def fewest_rounds(self, most: int, per_turn: int) -> int | None:
        """The length of a shortest plan of both, or None if it takes more than `most` rounds."""
        ring, seen = {self.start}, {self.start}
        for number in range(most + 1):
            if any(world[2] == self.targets for world in ring):
                return number
            first = (number // per_turn) % 2
            half = {self.move(world, first, name) for world in ring for name in MOVES}
            ring = {self.move(world, 1 - first, name) for world in half for name in MOVES} - seen
            seen |= ring
        return None

    def draw(self, world: World, size: int) -> list[str]:
        def symbol(spot: Spot) -> str:
            if spot not in self.floor:
                return "#"
            kind = 0 if spot in world[2] else 1 if spot == world[0] else 2 if spot == world[1] else 3
            return ("X*", "PS", "QT", "_O")[kind][spot in self.targets]

        return ["".join(symbol((r, c)) for c in range(size)) for r in range(size)]


def words(text: str) -> list[str]:
    return text.split(", ")


@pytest.mark.parametrize("settings", [{}, {"size": 7, "boxes": 2, "levels": 300}, {"size": 5}])
def test_every_turn_is_the_referees(settings: dict[str, Any]) -> None:
    game, dice = (parallel_env("text", max_turns=6, **settings, max_solution=9), random.Random(0))
    for number in range(150):
        _, infos = game.reset(seed=1 if number == 0 else None)
        referee = Referee(infos[P]["task"])
        world, turn = referee.start, 0
        while game.agents:
            best = game.oracle() if dice.random() < 0.3 else None
            said = best or {agent: ", ".join(dice.choices(MOVES, k=dice.randint(1, 3))) for agent in AGENTS}
            world = referee.turn(world, turn, [words(said[P]), words(said[Q])])
            _, _, terminations, _, infos = game.step(said)
            turn += 1
            assert infos[P]["state"]["rows"] == infos[Q]["state"]["rows"] == referee.draw(world, game.size)
            assert terminations[P] == terminations[Q] == infos[P]["success"] == (world[2] == referee.targets)


# ---------------------------------------------------------------------- levels


@pytest.mark.parametrize(
    ("split", "settings", "count"),
    [("train", {}, 120), ("dev", {}, 50), ("test", {}, 50), ("train", {"size": 5}, 60),
     ("train", {"max_turns": 9, "max_actions_per_turn": 1}, 40), ("test", {"size": 7, "boxes": 2, "levels": 50}, 4)],
)  # fmt: skip
def test_every_level_can_be_solved_by_the_two_within_the_limits(split: str, settings: dict, count: int) -> None:
    game = parallel_env("text", split=split, **settings)
    tasks = game.tasks()
    for index in random.Random(3).sample(range(len(tasks)), count):
        assert Referee(tasks[index]).fewest_rounds(9, game.max_actions_per_turn) is not None, tasks[index]


def alone(task: str, who: int) -> bool:
    """Can one player solve it in nine moves while the other stands still?"""
    referee = Referee(task)
    ring = {referee.start}
    for _ in range(9):
        ring |= {referee.move(world, who, name) for world in ring for name in WAYS}
    return any(world[2] == referee.targets for world in ring)


def test_rooms_too_narrow_to_stand_aside_are_solved_together() -> None:
    """Among many levels there are some that P cannot solve while Q stands still; the two of them can."""
    game = parallel_env("text", size=5, min_solution=3)
    tasks = game.tasks()
    narrow = [
        task for task in (tasks[i] for i in range(0, len(tasks), max(1, len(tasks) // 400))) if not alone(task, 0)
    ]
    assert narrow
    for task in narrow:
        assert Referee(task).fewest_rounds(9, 3) is not None
        assert play_oracle(game, task)


def play_oracle(game: Any, task: str | None = None, seed: int | None = None) -> bool:
    _, infos = game.reset(seed=seed, options={"task": task} if task else None)
    while game.agents:
        *_, infos = game.step(game.oracle())
    return infos[P]["success"]


@pytest.mark.parametrize("kind", ["text", "grid"])
def test_the_oracle_solves_every_level_within_the_limits(kind: str) -> None:
    game = parallel_env(kind)
    assert all(play_oracle(game, seed=seed) for seed in range(250))
    boxes = parallel_env(kind, size=7, boxes=2, levels=300)
    assert all(play_oracle(boxes, seed=seed) for seed in range(60))


def test_the_oracle_uses_both_players_where_one_is_not_enough() -> None:
    game = parallel_env("text", size=5, min_solution=3)
    # Q fills the only way round; P cannot get behind the box, so Q must push or make room.
    task = "#####/#OXQ#/###_#/###P#/#####"
    game.reset(options={"task": task})
    assert game.oracle() == {P: "Stay", Q: "Left"}
    both = "#####/#_XO#/#QP_#/#___#/#####"
    assert play_oracle(game, both)


def test_there_is_no_oracle_for_a_lost_level_or_a_finished_one() -> None:
    game = parallel_env("text")
    assert game.oracle() is None  # not even started
    game.reset(options={"task": "######/#X_P_#/#__OQ#/#____#/#____#/######"})
    assert game.oracle() is None
    assert play_oracle(game, seed=1) and game.oracle() is None


def test_a_seed_gives_the_room_of_the_one_player_game() -> None:
    game, solo = parallel_env("text"), SokobanEnv()
    same = 0
    for seed in range(50):
        task = game.reset(seed=seed)[1][P]["task"]
        same += task.replace("Q", "_").replace("T", "O") == solo.reset(seed=seed)[1]["task"]
    assert same >= 48  # the rest had no place for a second player


def test_episodes_walk_on_through_different_levels_and_come_round() -> None:
    game = parallel_env("text", levels=20)
    tasks = [game.reset(seed=4 if i == 0 else None)[1][P]["task"] for i in range(40)]
    assert len(set(tasks[:20])) == 20 and tasks[:20] == tasks[20:]


def test_splits_are_those_of_the_one_player_game() -> None:
    for split in ("train", "dev", "test"):
        theirs = set(SokobanEnv(split=split).tasks()[:500])
        tasks = parallel_env("text", split=split).tasks()
        assert sum(tasks[i].replace("Q", "_").replace("T", "O") in theirs for i in range(100)) >= 95


# ---------------------------------------------------------------------- who moves first

ROOM = "######/#____#/#{}#/#_XO_#/#____#/######"


def after(line: str, said: dict[str, Any], turn: int = 0) -> str:
    """The second line of a room after one turn (behind `turn` turns of waiting)."""
    game = parallel_env("text")
    game.reset(options={"task": ROOM.format(line)})
    for _ in range(turn):
        game.step(dict.fromkeys(AGENTS, "Stay"))
    return game.step(said)[4][P]["state"]["rows"][2]


def test_the_player_who_moves_first_wins_the_cell_and_that_changes_every_turn() -> None:
    meet = {P: "Right", Q: "Left"}
    assert after("P_Q_", meet, turn=0) == "#_PQ_#"
    assert after("P_Q_", meet, turn=1) == "#PQ__#"
    assert after("P_Q_", meet, turn=2) == "#_PQ_#"


def test_one_can_follow_into_the_cell_the_other_has_just_left() -> None:
    assert after("QP__", {P: "Right", Q: "Right"}, turn=0) == "#_QP_#"
    # In the second turn Q moves first and is stopped by P, who then walks on.
    assert after("QP__", {P: "Right", Q: "Right"}, turn=1) == "#Q_P_#"


def test_players_cannot_swap_places() -> None:
    for turn in (0, 1):
        assert after("PQ__", {P: "Right", Q: "Left"}, turn) == "#PQ__#"


def test_rounds_interleave_the_moves_of_a_turn() -> None:
    assert after("P_Q_", {P: "Right, Right", Q: "Right, Right"}) == "#__PQ#"


def test_a_box_is_not_pushed_into_the_partner() -> None:
    game = parallel_env("text")
    start = "######/#____#/#PXQ_#/#__O_#/#____#/######"
    game.reset(options={"task": start})
    *_, infos = game.step({P: "Right", Q: "Stay"})
    assert infos[P]["state"]["rows"][2] == "#PXQ_#"
    assert not infos[P]["effective"] and infos[P]["valid"]
    *_, infos = game.step({P: "Right", Q: "Right"})  # now Q goes first and makes room
    assert infos[P]["state"]["rows"][2] == "#_PXQ#"


def test_both_push_and_both_stand_on_targets() -> None:
    game = parallel_env("text", size=7, boxes=2, levels=1)
    game.reset(options={"task": "#######/#_____#/#PO___#/#_X_OQ#/#_X___#/#_____#/#######"})
    *_, infos = game.step({P: "Right", Q: "Left"})
    assert infos[P]["state"]["rows"][2:4] == ["#_S___#", "#_X_T_#"]
    positions = infos[P]["state"]["player_positions"]
    assert positions == {P: [2, 2], Q: [3, 4]}
    assert infos[P]["state"]["target_positions"] == [[2, 2], [3, 4]]


# ---------------------------------------------------------------------- rewards and limits

EASY = "######/#__Q_#/#PX_O#/#____#/#____#/######"


def test_the_reward_is_the_teams_and_is_the_sum_of_its_terms() -> None:
    game = parallel_env("text")
    game.reset(options={"task": EASY})
    _, rewards, _, _, infos = game.step({P: "Right", Q: "Stay, Left"})
    assert rewards == {P: pytest.approx(-0.3), Q: pytest.approx(-0.3)}
    assert infos[P]["reward_terms"] == infos[Q]["reward_terms"] == {"step": pytest.approx(-0.3)}
    assert infos[P]["effective"] and infos[Q]["effective"]
    _, rewards, terminations, truncations, infos = game.step({P: "Right, Right", Q: "Up, Up"})
    # Q moved first this turn: its first move counts, then P finishes the level and nothing else runs.
    assert rewards[P] == rewards[Q] == pytest.approx(9.9)
    assert terminations == {P: True, Q: True} and truncations == {P: False, Q: False}
    assert infos[Q]["actions"] == ["Up"] and infos[P]["actions"] == ["Right"]
    assert infos[P]["success"] and infos[P]["limit"] is None and game.agents == []


def test_a_box_on_a_target_earns_one() -> None:
    game = parallel_env("text", size=7, boxes=2, levels=1)
    game.reset(options={"task": "#######/#___Q_#/#PXO__#/#_____#/#_X_O_#/#_____#/#######"})
    _, rewards, _, _, infos = game.step({P: "Right", Q: "Stay"})
    assert infos[P]["reward_terms"] == {"box": 1.0, "step": -0.1}
    assert rewards[Q] == pytest.approx(0.9)


def test_an_invalid_action_costs_the_team_and_is_charged_to_the_one() -> None:
    game = parallel_env("text")
    game.reset(options={"task": EASY})
    _, rewards, _, _, infos = game.step({P: "Up, dance, Up", Q: "Left"})
    assert rewards[Q] == pytest.approx(-0.3)
    assert infos[P]["fault"] == "invalid_action" and not infos[P]["valid"] and infos[P]["actions"] == ["Up"]
    assert infos[Q]["fault"] is None and infos[Q]["valid"]
    *_, infos = game.step({P: "Up"})  # Q said nothing at all
    assert infos[Q]["fault"] == "unparsed" and infos[P]["valid"]
    assert "dance" not in infos[Q]["feedback"]


def test_what_stands_behind_the_end_is_not_charged() -> None:
    game = parallel_env("text")
    game.reset(options={"task": EASY})
    _, rewards, terminations, _, infos = game.step({P: "Right, Right, dance", Q: "Stay, dance"})
    assert terminations[P] and infos[P]["valid"] and infos[Q]["valid"]
    assert rewards[P] == pytest.approx(10 - 0.2)


def test_the_last_turn_truncates_both_as_a_task_limit() -> None:
    for kind, turns, action in (("text", 3, "Stay"), ("grid", 9, 4)):
        game = parallel_env(kind)
        game.reset(options={"task": EASY})
        ends = [game.step(dict.fromkeys(AGENTS, action)) for _ in range(turns)]
        assert [truncations[Q] for *_, truncations, _ in ends] == [False] * (turns - 1) + [True]
        assert ends[-1][4][P]["limit"] == "task" and not ends[-1][4][P]["success"]
        assert game.step({}) == ({}, {}, {}, {}, {})


# ---------------------------------------------------------------------- what the players see


def test_each_player_is_told_who_it_is_and_who_moves_first() -> None:
    game = parallel_env("text")
    observations, infos = game.reset(options={"task": EASY})
    texts = {agent: observations[agent]["text"] for agent in AGENTS}
    assert texts[P].splitlines()[0] == "You are P." and texts[Q].splitlines()[0] == "You are Q."
    assert "You move first." in texts[P] and "Your partner moves first." in texts[Q]
    assert infos[P]["moves_first"] and not infos[Q]["moves_first"]
    assert texts[P].endswith(EASY.replace("/", "\n"))
    observations, *_ = game.step({P: "Up", Q: "Left, Left, Left, Left"})
    assert "Your partner played Left, Left, Left." in observations[P]["text"]
    assert "1 dropped" in observations[Q]["text"] and "Your partner moves first." in observations[P]["text"]
    prompts = [game.system_prompt(agent) for agent in AGENTS]
    assert "You are P, your partner is Q." in prompts[0] and "You are Q, your partner is P." in prompts[1]
    assert "Stay" in prompts[0] and "3 turns" in prompts[0]


def test_in_the_grid_kind_each_player_sees_itself_as_p() -> None:
    game = parallel_env("grid")
    observations, _ = game.reset(options={"task": "######/#___Q#/#SX__#/#____#/#____#/######"})
    assert observations[P][2, 1] == 6 and observations[P][1, 4] == 7  # S, Q
    assert observations[Q][2, 1] == 8 and observations[Q][1, 4] == 4  # T, P
    for agent in AGENTS:
        assert game.observation_space(agent).contains(observations[agent])
    assert game.system_prompt(P) == ""


def test_the_players_wear_different_colours_in_pictures() -> None:
    game = parallel_env("visual", image_size=192, render_mode="rgb_array")
    observations, _ = game.reset(options={"task": EASY})
    image = observations[P]["image"].astype(int)
    assert np.array_equal(observations[P]["image"], observations[Q]["image"])
    assert np.array_equal(observations[P]["image"], game.render())
    red, green, blue = np.moveaxis(image, 2, 0)

    def cells(mask: np.ndarray) -> list[list[int]]:
        return np.argwhere(mask.reshape(6, 32, 6, 32).mean(axis=(1, 3)) > 0.05).tolist()

    assert cells((blue > red + 70) & (blue > green + 40)) == [[2, 1]]
    assert cells((red > green + 45) & (blue > green + 65)) == [[1, 3]]
    assert "blue" in game.system_prompt(P) and "violet" in observations[Q]["text"]


def test_render_draws_characters_and_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    game = parallel_env("grid", render_mode="ansi")
    with pytest.raises(ResetNeeded):
        game.render()
    game.reset(options={"task": EASY})
    assert game.render() == EASY.replace("/", "\n")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pygame's own
        window = parallel_env("text", render_mode="human")
        window.reset(seed=0)
        assert window.render() is None
        window.close()
        window.close()


# ---------------------------------------------------------------------- truth and fork


def test_the_state_speaks_in_all_three_ways_and_is_an_array_too() -> None:
    game = parallel_env("text")
    game.reset(options={"task": EASY})
    state = game.state()
    assert isinstance(state, DuoState) and state.symbolic() == EASY.replace("/", "\n")
    assert "player Q is above and on the right side of player P" in state.natural()
    assert "box0 is at the same row and to the right of player P" in state.natural()
    assert state.structured()["player_positions"] == {P: [2, 1], Q: [1, 3]}
    assert game.state_space.contains(np.asarray(state))


@pytest.mark.parametrize("kind", ["text", "grid"])
def test_a_snapshot_continues_exactly_where_it_was_taken(kind: str) -> None:
    game, other = parallel_env(kind, levels=50), parallel_env(kind, levels=50)
    for seed in range(20):
        game.reset(seed=seed)
        dice = random.Random(seed)

        def act(dice: random.Random = dice) -> dict[str, Any]:
            names = [dice.choice(MOVES) for _ in AGENTS]
            return {a: MOVES.index(n) if kind == "grid" else n for a, n in zip(AGENTS, names, strict=True)}

        for _ in range(dice.randrange(3)):
            game.step(act())
        other.restore(game.snapshot())
        assert other.snapshot() == game.snapshot() and other.agents == game.agents
        while game.agents:
            said = act()
            mine, theirs = game.step(said), other.step(said)
            assert repr(mine) == repr(theirs)
        assert game.reset()[1][P]["task"] == other.reset()[1][P]["task"]


def test_bad_snapshots_are_refused_and_change_nothing() -> None:
    game = parallel_env("text")
    with pytest.raises(SnapshotError, match="before the first reset"):
        game.snapshot()
    game.reset(seed=1)
    blob = game.snapshot()
    elsewhere = parallel_env("text", size=7, levels=10)
    elsewhere.reset(seed=1)
    damaged = bytearray(blob)
    damaged[-3] ^= 1
    for bad in (b"", b"junk", bytes(damaged), blob[:-1], elsewhere.snapshot(), 5, None):
        with pytest.raises(SnapshotError):
            game.restore(bad)  # type: ignore[arg-type]
        assert game.snapshot() == blob


def test_copies_are_independent() -> None:
    game = parallel_env("text")
    game.reset(seed=2)
    twin, revived = copy.deepcopy(game), pickle.loads(pickle.dumps(game))
    before = game.snapshot()
    twin.step({P: "Up", Q: "Down"})
    revived.step({P: "Left", Q: "Right"})
    assert game.snapshot() == before


# ---------------------------------------------------------------------- bad input

HOSTILE = [
    "", " ", ",", ",,,", "Up,,Up", "<answer>", "</answer>", "<answer></answer>",
    "<answer>Up</answer><answer>Up</answer>",
    "</answer>Up<answer>", "\x00", "\ud800", "U\u0301p", "x" * 100_000, "Up," * 50_000, "{}", "Up; Down", "🦆", None, 7,
    b"Up", ["Up"], {"Up": 1}, float("nan"), object(), np.zeros((2, 2)), True, -1, 5, 10**30, np.array([], int),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_action_raises(kind: str) -> None:
    game, dice = parallel_env(kind, image_size=48), random.Random(0)
    game.reset(seed=0)
    for action in HOSTILE * 3:
        said = {P: action, Q: dice.choice(HOSTILE)}
        observations, rewards, _, _, infos = game.step(said)
        assert game.observation_space(P).contains(observations[P])
        assert rewards[P] == pytest.approx(sum(infos[P]["reward_terms"].values()))
        if not game.agents:
            game.reset()


def test_tags_and_cases_are_read_as_everywhere() -> None:
    game = parallel_env("text")
    game.reset(options={"task": EASY})
    *_, infos = game.step({P: "<think>go</think><answer>RIGHT , up</answer>", Q: "stay"})
    assert infos[P]["actions"] == ["Right", "Up"] and infos[P]["valid"]


BAD_TASKS = [
    "", 7, EASY.replace("Q", "_"), EASY.replace("Q", "T").replace("O", "T"), EASY.replace("Q", "QQ"), EASY + "/",
    EASY.replace("P", "_"), EASY.replace("X", "_"), EASY.replace("#", "_", 1), EASY.replace("_", "Z", 1), "Q" * 41,
]  # fmt: skip


@pytest.mark.parametrize("task", BAD_TASKS)
def test_a_bad_task_is_refused_and_the_episode_goes_on(task: Any) -> None:
    game = parallel_env("text")
    game.reset(seed=0)
    before = game.snapshot()
    with pytest.raises(ConfigError):
        game.reset(options={"task": task})
    assert game.snapshot() == before


def test_a_task_can_be_given_by_name() -> None:
    game = parallel_env("text")
    task = game.tasks()[-1]
    assert game.reset(options={"task": task})[1][Q]["task"] == task
    assert game.tasks()[:2] == [game.tasks()[0], game.tasks()[1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"kind": "audio"}, "kind"), ({"size": 4}, "size"), ({"boxs": 1}, "boxes"), ({"split": "x"}, "split"),
     ({"render_mode": "x"}, "render_mode"), ({"image_size": 1}, "image_size"), ({"max_solution": 99}, "do not fit")],
)  # fmt: skip
def test_impossible_arguments_say_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parallel_env(**arguments)


def test_misuse_by_the_program_is_an_error() -> None:
    game = parallel_env("text")
    with pytest.raises(ResetNeeded):
        game.step({P: "Up", Q: "Up"})
    game.reset(seed=0)
    for wrong in (None, "Up", ["Up", "Up"], {"player_2": "Up"}):
        with pytest.raises(ConfigError, match="player_0 and player_1"):
            game.step(wrong)  # type: ignore[arg-type]


def test_without_pettingzoo_the_error_names_the_extra() -> None:
    program = """
import sys
sys.modules["pettingzoo"] = None
from agentrl.core.errors import MissingExtra
try:
    from agentrl.envs.grid.sokoban_duo import parallel_env
except MissingExtra as error:
    print(error, error.package, error.extra)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'agentrl-suite[pettingzoo]'" in done.stdout
