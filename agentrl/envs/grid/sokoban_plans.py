"""Two players in one room: where the second one can stand, and plans for both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agentrl.core.seeding import splitmix64_int
from agentrl.envs.grid.sokoban import BOX, FLOOR, PLAYER, STANDING, STORED, TARGET, WALL, masks, offsets, solve
from agentrl.envs.grid.world import ACTIONS

PARTNER, PARTNER_STANDING = 7, 8
ON_FLOOR, ON_TARGET = (PLAYER, PARTNER), (STANDING, PARTNER_STANDING)
STAY = len(ACTIONS)
MAX_SEARCHED = 100_000  # joint states; only rooms with several boxes and no room to stand aside come near
Pair = tuple[int, int]  # one move of each player


def moving_order(turn: int) -> tuple[int, int]:
    """Who moves first in a turn, and who second."""
    return (1, 0) if turn % 2 else (0, 1)


def find_players(codes: np.ndarray) -> list[int]:
    """The cells of P and Q."""
    flat = codes.ravel()
    found = [np.flatnonzero((flat == ON_FLOOR[i]) | (flat == ON_TARGET[i])) for i in (0, 1)]
    if any(len(cells) != 1 for cells in found):
        raise ValueError("a room has one P (or S) and one Q (or T)")
    return [int(cells[0]) for cells in found]


def second_place(codes: np.ndarray, rounds: int, per_turn: int) -> int | None:
    """Where to put the second player of a one-player level, so that both can solve it in that number of rounds."""
    flat, content = (codes.ravel(), int.from_bytes(codes.tobytes(), "little") % (2**61 - 1))
    free = [int(cell) for cell in np.flatnonzero((flat == FLOOR) | (flat == TARGET))]
    free.sort(key=lambda cell: splitmix64_int(splitmix64_int(content) ^ cell))
    touched = _cells_of_a_solution(codes)
    aside = [cell for cell in free if cell not in touched]
    if aside:
        return aside[0]  # a player who stands there can stay there
    for cell in free:
        room = codes.copy()
        room.ravel()[cell] = ON_TARGET[1] if flat[cell] == TARGET else ON_FLOOR[1]
        plan = joint_plan(room, 0, rounds, per_turn)
        if plan is not None and len(plan) <= rounds:
            return cell
    return None


def _cells_of_a_solution(codes: np.ndarray) -> set[int]:
    """Every cell that the player or a box enters in a shortest solution of the one-player level."""
    floor, boxes, targets = masks(codes)
    (player,) = np.flatnonzero(np.isin(codes.ravel(), (PLAYER, STANDING))).tolist()
    moves = solve(floor, boxes, 1 << player, targets, len(codes))
    touched = {player}
    for move in moves or ():
        step = offsets(len(codes))[move]
        player += step
        touched.add(player)
        if boxes >> player & 1:
            boxes ^= (1 << player) | (1 << player + step)
            touched.add(player + step)
    return touched


def joint_plan(codes: np.ndarray, turn: int, rounds: int, per_turn: int) -> list[Pair] | None:
    """Moves of both players to success: one walks while the other stays where that is in time, else a search over
    both; else one alone, too late for this episode but right; None if there is no way."""
    alone = [plan for plan in (_solo_plan(codes, i) for i in (0, 1)) if plan is not None]
    best = min(alone, key=len, default=None)
    if best is not None and len(best) <= rounds:
        return best
    return _search_jointly(codes, turn, rounds, per_turn) or best


def _solo_plan(codes: np.ndarray, i: int) -> list[Pair] | None:
    """A shortest solution by player `i`, with the other one standing like a wall."""
    # On a target it would have to leave some time: no plan for one.
    if (codes == ON_TARGET[1 - i]).any():
        return None
    here = find_players(codes)
    floor, boxes, targets = _masks(codes)
    moves = solve(floor & ~(1 << here[1 - i]), boxes, 1 << here[i], targets, len(codes))
    return None if moves is None else [(move, STAY) if i == 0 else (STAY, move) for move in moves]


def _masks(codes: np.ndarray) -> tuple[int, int, int]:
    """Floor, boxes and targets of a room with two players, as sets of cells."""
    single = np.array([WALL, FLOOR, TARGET, BOX, FLOOR, STORED, TARGET, FLOOR, TARGET], np.uint8)
    return masks(single[codes])


Joint = tuple[int, int, int]  # cell of P, cell of Q, boxes


def _search_jointly(codes: np.ndarray, turn: int, rounds: int, per_turn: int) -> list[Pair] | None:
    """A shortest plan of both by breadth-first search. An early state is never worse than the same one later: both
    can stay."""
    floor, boxes, targets = _masks(codes)
    first: Joint = (*find_players(codes), boxes)  # type: ignore[assignment]
    came: dict[Joint, tuple[Joint, Pair] | None] = {first: None}
    layer = [first]
    for number in range(rounds):
        order, grown = moving_order(turn + number // per_turn), []
        for state in layer:
            for after, pair in _joint_moves(state, order, floor, targets, len(codes)):
                if after in came:
                    continue
                came[after] = (state, pair)
                if after[2] == targets:
                    plan, back = [], after
                    while (before := came[back]) is not None:
                        back, pair = before
                        plan.append(pair)
                    return plan[::-1]
                grown.append(after)
        layer = grown
        if not layer or len(came) > MAX_SEARCHED:
            return None
    return None


def _joint_moves(state: Joint, order: Pair, floor: int, targets: int, size: int) -> Iterator[tuple[Joint, Pair]]:
    """Every state one round away, with a pair of moves that leads there; a finished level is left alone."""
    a, b = order
    for one, between in enumerate(_ways(state, a, floor, size)):
        if between[2] == targets:
            yield between, (one, STAY) if a == 0 else (STAY, one)
            continue
        for two, after in enumerate(_ways(between, b, floor, size)):
            yield after, (one, two) if a == 0 else (two, one)


def _ways(state: Joint, i: int, floor: int, size: int) -> list[Joint]:
    """Where each move of player `i` leads; `state` itself where it is stopped, and for staying."""
    found = []
    for step in offsets(size):
        ahead, boxes = state[i] + step, state[2]
        open_floor = floor & ~boxes & ~(1 << state[1 - i])
        if boxes >> ahead & 1 and open_floor >> ahead + step & 1:
            boxes ^= (1 << ahead) | (1 << ahead + step)
        elif not open_floor >> ahead & 1:
            ahead = state[i]
        found.append((ahead, state[1], boxes) if i == 0 else (state[0], ahead, boxes))
    return [*found, state]
