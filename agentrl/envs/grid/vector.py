"""`GridVectorEnv`: thousands of grid worlds in one array, for `gym.make_vec`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.seeding import reset_key
from agentrl.envs.grid import kernel
from agentrl.envs.grid.levels import spelled
from agentrl.envs.grid.world import ACTIONS, GridWorld

_MODES = {
    AutoresetMode.DISABLED: kernel.DISABLED,
    AutoresetMode.NEXT_STEP: kernel.NEXT_STEP,
    AutoresetMode.SAME_STEP: kernel.SAME_STEP,
}


class GridVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`num_envs` copies of one grid game. Environment i of `reset(seed=s)` is the single one of `reset(seed=s + i)`.

    - `observation="grid"` gives uint8 [n, size, size], `"image"` uint8 [n, image_size, image_size, 3].
    - `autoreset_mode`: "NextStep" (Gymnasium's default), "SameStep" or "Disabled".
    - `full_info=True` adds to `success`, `valid` and `effective` what the single environment tells: `state`, `task`,
      `reward_terms`, `actions`, `limit` and `turn`.

    All other arguments are the single environment's.
    """

    game: ClassVar[type[GridWorld]]
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        observation: str = "grid",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        full_info: bool = False,
        kind: str = "grid",
        **parameters: Any,
    ) -> None:
        if observation not in ("grid", "image"):
            raise ConfigError(f'observation must be "grid" or "image"; got {observation!r}')
        if kind != "grid":
            raise ConfigError(f'kind must be "grid"; got {kind!r}. For other kinds use vectorization_mode="sync"')
        self.num_envs = whole_number("num_envs", num_envs, at_least=1)
        self.metadata = {**self.metadata, "autoreset_mode": _autoreset_mode(autoreset_mode)}
        self._single = one = self.game(kind="grid", **parameters)
        self.render_mode = one.render_mode
        self.observation, self.full_info = observation, full_info
        self.single_action_space = one.action_space
        self.single_observation_space = one.observation_space
        if observation == "image":
            self.single_observation_space = spaces.Box(0, 255, (one.image_size, one.image_size, 3), np.uint8)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._batch = kernel.Batch(
            self.num_envs,
            one._pool,
            [one.symbols.index(symbol) for symbol in one.player_symbols],
            game=kernel.SOKOBAN if one.art == "sokoban" else kernel.FROZENLAKE,
            size=one.size,
            limit=one.max_turns,
            slippery=bool(getattr(one, "slippery", False)),
            autoreset=_MODES[self.metadata["autoreset_mode"]],
        )
        self._rewards = np.zeros(5)
        for code, name in kernel.TERM_NAMES.items():
            self._rewards[code] = one.invalid_cost() if name == "invalid" else getattr(one, _REWARD_ARGUMENT[name], 0.0)
        self._started = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start every environment, or with `options={"reset_mask": bool[n]}` some of them."""
        options = dict(options or {})
        rows = np.asarray(options.pop("reset_mask", np.ones(self.num_envs, bool)))
        if options:
            raise ConfigError(f'reset takes the option "reset_mask" only; got {next(iter(options))!r}')
        if rows.shape != (self.num_envs,) or rows.dtype != bool or not (self._started or rows.all()):
            raise ConfigError(f"reset_mask must be bool [{self.num_envs}], and all True at the first reset")
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        elif len(seed) == self.num_envs:
            seeds = list(seed)
        else:
            raise ConfigError(f"expected {self.num_envs} seeds, got {len(seed)}")
        fresh = np.array([s is not None for s in seeds])
        if not self._started:
            entropy = np.random.SeedSequence().generate_state(self.num_envs, np.uint64).tolist()
            seeds = [drawn if s is None else s for drawn, s in zip(entropy, seeds, strict=True)]
            fresh[:] = True
        for i in np.flatnonzero(fresh & rows).tolist():
            # The very draw that GridWorld makes, so that row i equals the single environment of the same seed.
            self._batch.key[i] = key = reset_key(seeds[i])
            self._batch.level[i], self._batch.stride[i] = self._single._pool.walk(key)
        self._batch.advance(rows & ~fresh)
        self._batch.restart(rows)
        self._batch.term[rows] = kernel.NOTHING
        self._batch.effective[rows] = False
        self._started = True
        return self._observe(), self._info()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One action for each environment; numbers outside 0..3 are invalid actions, not errors."""
        if not self._started:
            raise ConfigError("call reset() before step()")
        chosen = np.ascontiguousarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise ConfigError(f"actions must be whole numbers of shape ({self.num_envs},), one for each environment")
        chosen = chosen.astype(np.int64, copy=False)
        batch = self._batch
        batch.step(chosen)
        info = self._info(chosen)
        return self._observe(), self._rewards[batch.term], batch.terminated.copy(), batch.truncated.copy(), info

    def _observe(self) -> np.ndarray:
        return self._picture(self._batch.codes) if self.observation == "image" else self._batch.codes.copy()

    def _picture(self, codes: np.ndarray) -> np.ndarray:
        from agentrl.envs.grid.pictures import draw

        return draw(self._single.art, codes, self._single.image_size)

    def _info(self, actions: np.ndarray | None = None) -> dict[str, Any]:
        batch = self._batch
        info: dict[str, Any] = {
            "success": batch.term == kernel.SUCCESS,
            "valid": batch.term != kernel.INVALID,
            "effective": batch.effective.copy(),
        }
        if actions is not None and batch.autoreset == kernel.SAME_STEP:
            ended = batch.terminated | batch.truncated
            if ended.any():
                final = self._picture(batch.final) if self.observation == "image" else batch.final.copy()
                info |= {"final_obs": final, "_final_obs": ended}
        if not self.full_info:
            return info
        # What the single environment tells beyond the three arrays, as columns.
        one = self._single
        rows = [tuple(spelled(grid, one.symbols)) for grid in batch.codes]
        names = one.tasks()
        acted = np.zeros(self.num_envs, bool) if actions is None else np.isin(batch.term, (1, 2, 3))
        moves = np.zeros(self.num_envs, np.int64) if actions is None else actions
        return info | {
            "state": np.array([one.state_type(lines).to_json() for lines in rows], object),
            "task": np.array([names[level] for level in batch.level.tolist()], object),
            "reward_terms": {
                name: np.where(batch.term == code, self._rewards[code], 0.0) for code, name in kernel.TERM_NAMES.items()
            },
            "actions": np.array([ACTIONS[a] if ok else None for a, ok in zip(moves, acted, strict=True)], object),
            "limit": np.array(["task" if cut else None for cut in batch.truncated], object),
            "turn": batch.steps.copy(),
        }

    def render(self) -> tuple[np.ndarray, ...] | None:
        """One picture for each environment."""
        return tuple(self._picture(self._batch.codes)) if self.render_mode == "rgb_array" else None


_REWARD_ARGUMENT = {"step": "step_penalty", "box": "box_reward", "success": "success_reward"}


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    for known in AutoresetMode:
        if mode in (known, known.value, known.name):
            return known
    raise ConfigError(f"autoreset_mode must be one of {[known.value for known in AutoresetMode]}; got {mode!r}")
