"""The inner loops of the grid worlds: compiled C where it was built, numpy everywhere else.

`AGENTRL_KERNEL=numpy` chooses the fallback by hand. Both do exactly the same, to the bit.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

import numpy as np

from agentrl.core.seeding import GOLDEN, splitmix64
from agentrl.envs.grid.levels import LevelPool

FROZENLAKE, SOKOBAN = 0, 1
DISABLED, NEXT_STEP, SAME_STEP = 0, 1, 2
NOTHING, STEP, BOX_STORED, SUCCESS, INVALID = range(5)  # what an action earned: names of reward terms
TERM_NAMES = {STEP: "step", BOX_STORED: "box", SUCCESS: "success", INVALID: "invalid"}


@cache
def compiled() -> ctypes.CDLL | None:
    """The C library, or None where there is none."""
    if os.environ.get("AGENTRL_KERNEL") == "numpy":
        return None
    for path in sorted(Path(__file__).parent.glob("_kernel*")):
        if path.suffix in (".so", ".pyd", ".dylib"):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:  # built for another kind of machine: a folder carried along, a shared disk
                continue
            library.step.restype = library.draw.restype = None
            return library
    return None


def kernel_name() -> str:
    """ "c" or "numpy"."""
    return "c" if compiled() else "numpy"


class Batch:
    """The state of many environments, one row each, and what their last step did."""

    def __init__(
        self,
        n: int,
        pool: LevelPool,
        player_codes: list[int],
        *,
        game: int,
        size: int,
        limit: int,
        slippery: bool,
        autoreset: int,
    ) -> None:
        self.game, self.size, self.limit, self.slippery, self.autoreset = game, size, limit, slippery, autoreset
        self.pool = pool
        standing = np.isin(pool.grids.reshape(len(pool), -1), player_codes)
        self.pool_player = standing.argmax(axis=1).astype(np.int32)  # where the player of each level starts
        self.codes = np.zeros((n, size, size), np.uint8)
        self.player = np.zeros(n, np.int32)  # index into the flattened grid
        self.steps = np.zeros(n, np.int32)
        self.key = np.zeros(n, np.uint64)  # the random stream of each environment
        self.level = np.zeros(n, np.int64)  # where each environment's walk through the pool stands
        self.stride = np.zeros(n, np.int64)
        self.over = np.zeros(n, bool)  # did the last step end the episode?
        self.final = np.zeros((n, size, size), np.uint8)  # the last grids of episodes, with SAME_STEP
        self.term = np.zeros(n, np.uint8)
        self.effective = np.zeros(n, bool)
        self.terminated = np.zeros(n, bool)
        self.truncated = np.zeros(n, bool)
        library = compiled()
        self._step = _CompiledStep(self, library) if library else self._step_numpy

    def __len__(self) -> int:
        return len(self.codes)

    def restart(self, rows: np.ndarray) -> None:
        """Put these environments at the start of the level their walk stands at."""
        self.codes[rows] = self.pool.grids[self.level[rows]]
        self.player[rows] = self.pool_player[self.level[rows]]
        self.steps[rows] = 0
        self.over[rows] = False

    def advance(self, rows: np.ndarray) -> None:
        """Go on to the next level of each walk."""
        self.level[rows] = (self.level[rows] + self.stride[rows]) % len(self.pool)

    def step(self, actions: np.ndarray) -> None:
        """One action each; environments whose episode is over are reset instead, as `autoreset` says."""
        self._step(actions)

    def _step_numpy(self, actions: np.ndarray) -> None:
        for array in (self.effective, self.terminated, self.truncated):
            array[:] = False
        self.term[:] = NOTHING
        ended = self.over.copy()
        known = (actions >= 0) & (actions <= 3)
        self.term[~ended & ~known] = INVALID
        rows = np.flatnonzero(~ended & known)
        moves = actions[rows]
        if self.slippery:
            with np.errstate(over="ignore"):
                self.key[rows] += GOLDEN
            moves = (moves + (splitmix64(self.key[rows]) % np.uint64(3)).astype(np.int64) + 3) % 4
        (_push if self.game == SOKOBAN else _slide)(self, rows, moves)
        self.steps[~ended] += 1
        self.truncated[:] = ~ended & (self.steps >= self.limit) & ~self.terminated
        self.over[~ended] = (self.terminated | self.truncated)[~ended]
        if self.autoreset == DISABLED:
            return
        resets = ended
        if self.autoreset == SAME_STEP:
            self.final[self.over] = self.codes[self.over]
            resets = self.over.copy()
        self.advance(resets)
        self.restart(resets)


class _CompiledStep:
    """The C function with every argument but the actions converted once: conversion costs more than a small step."""

    def __init__(self, batch: Batch, library: ctypes.CDLL) -> None:
        b, n = batch, len(batch)
        i32, i64 = ctypes.c_int32, ctypes.c_int64
        self._shape = b.codes.shape[:1]
        grids = np.ascontiguousarray(b.pool.grids)
        kept = (b.codes, b.player, b.steps, b.key, b.level, b.stride, b.over, grids, b.pool_player)
        outputs = (b.term, b.effective, b.terminated, b.truncated)
        self._alive = (kept, outputs, b.final)  # pointers do not keep their arrays alive
        head = (i32(b.game), i64(n), i32(b.size), i32(b.limit), i32(b.slippery), i32(b.autoreset))
        self._before = (*head, *map(_pointer, kept), i64(len(b.pool)), _pointer(b.final))
        self._after = tuple(map(_pointer, outputs))
        self._function = library.step

    def __call__(self, actions: np.ndarray) -> None:
        self._function(*self._before, ctypes.c_void_p(actions.ctypes.data), *self._after)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def _slide(batch: Batch, rows: np.ndarray, moves: np.ndarray) -> None:
    """FrozenLake's rule for one action of each row."""
    frozen, _, goal, walker, fell, arrived = range(6)
    last = batch.size - 1
    at = batch.player[rows]
    row, column = np.divmod(at, batch.size)
    row = np.clip(row + (moves == 1) - (moves == 3), 0, last)
    column = np.clip(column + (moves == 2) - (moves == 0), 0, last)
    cell = (row * batch.size + column).astype(np.int32)
    moved = cell != at
    batch.term[rows] = STEP
    rows, at, cell = rows[moved], at[moved], cell[moved]
    flat = batch.codes.reshape(len(batch), -1)
    tile = flat[rows, cell]
    flat[rows, at] = frozen
    flat[rows, cell] = np.array([walker, fell, arrived], np.uint8)[tile]
    batch.player[rows] = cell
    batch.effective[rows] = True
    batch.terminated[rows] = tile != frozen
    batch.term[rows[tile == goal]] = SUCCESS


def _push(batch: Batch, rows: np.ndarray, moves: np.ndarray) -> None:
    """Sokoban's rule for one action of each row."""
    wall, floor, target, box, player, stored, standing = range(7)
    step = np.array([-1, batch.size, 1, -batch.size])[moves]
    flat = batch.codes.reshape(len(batch), -1)
    at = batch.player[rows]
    ahead = at + step
    tile = flat[rows, ahead]
    boxed = (tile == box) | (tile == stored)
    beyond_cell = np.where(boxed, ahead + step, ahead)
    beyond = flat[rows, beyond_cell]
    free = np.where(boxed, (beyond == floor) | (beyond == target), tile != wall)
    batch.term[rows] = STEP
    rows, at, ahead, tile, boxed = rows[free], at[free], ahead[free], tile[free], boxed[free]
    beyond_cell, beyond = beyond_cell[free], beyond[free]
    lands = boxed & (beyond == target)
    flat[rows[boxed], beyond_cell[boxed]] = np.where(lands[boxed], stored, box)
    flat[rows, ahead] = np.where((tile == target) | (tile == stored), standing, player)
    flat[rows, at] = np.where(flat[rows, at] == standing, target, floor)
    batch.player[rows] = ahead
    batch.effective[rows] = True
    landed = rows[lands]
    done = ~(flat[landed] == box).any(axis=1)
    batch.terminated[landed] = done
    batch.term[landed] = np.where(done, SUCCESS, BOX_STORED)


def draw_tiles(codes: np.ndarray, tiles: np.ndarray, pixels: int, background: np.ndarray) -> np.ndarray:
    """Pictures uint8 [n, pixels, pixels, 3] of grids [n, size, size] made of tiles [kinds, tile, tile, 3]."""
    n, size, _ = codes.shape
    tile = tiles.shape[1]
    side, margin = tile * size, (pixels - tile * size) // 2
    out = np.empty((n, pixels, pixels, 3), np.uint8)
    if library := compiled():
        blank = np.tile(background, (pixels, 1))
        arrays = (np.ascontiguousarray(codes), tiles, blank, out)
        shape = (ctypes.c_int64(n), *map(ctypes.c_int32, (size, tile, pixels)))
        library.draw(*shape, *map(_pointer, arrays))
        return out
    if side != pixels:
        out[:] = background
    laid = tiles[codes].swapaxes(2, 3).reshape(n, side, side, 3)
    out[:, margin : margin + side, margin : margin + side] = laid
    return out
