"""Stable-Baselines3 on the grid worlds: the fast vectorised core as SB3's `VecEnv`, and eyes for its symbols.

    from stable_baselines3 import PPO
    from agentrl.adapters.sb3 import GridVecEnv, solved_share

    env = GridVecEnv("agentrl/FrozenLake-Grid-v0", num_envs=256, levels=32)
    model = PPO("MlpPolicy", env, policy_kwargs=env.policy_kwargs).learn(100_000)
    print(solved_share(model, "agentrl/FrozenLake-Grid-v0", levels=32))

`examples/sb3_frozenlake.py` is the same with settings that learn the task in seconds.
SB3's own vectors step Python environments one by one; here one call steps all of them, so that nearly all of the time
goes into learning.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, cast

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import whole_number
from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError, MissingExtra

try:
    import torch
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise MissingExtra("stable-baselines3", "sb3") from error


class GridVecEnv(VecEnv):
    """`num_envs` copies of a Grid environment behind SB3's interface.

    It behaves as SB3's own vectors do: an environment whose episode is over is reset within the same step, and its info
    holds `terminal_observation`, `TimeLimit.truncated`, `is_success` and the `episode` figures that SB3 logs.

    SB3 bootstraps from the last state of a truncated episode. The grid worlds' limits are part of the task, nobody ever
    acts behind them; `bootstrap_truncated=False` tells SB3 to take them as plain ends.

    All other arguments are the environment's.
    """

    def __init__(self, env_id: str, num_envs: int = 1, *, bootstrap_truncated: bool = True, **arguments: Any) -> None:
        whole_number("num_envs", num_envs, at_least=1)
        entry = gym.spec(env_id)
        if not str(entry.vector_entry_point).startswith("agentrl.envs."):
            raise ConfigError(f"{env_id} has no vectorised grid core; give a Grid kind, or use SB3's make_vec_env")
        self.env: Any = gym.make_vec(
            env_id, num_envs, vectorization_mode="vector_entry_point", autoreset_mode="SameStep", **arguments
        )
        self.bootstrap_truncated = bootstrap_truncated
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._actions = np.zeros(num_envs, np.int64)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        self._started = time.time()

    @property
    def policy_kwargs(self) -> dict[str, Any]:
        """What to give an SB3 algorithm as `policy_kwargs` so that it sees grids through a `PlayerView`."""
        game = self.env.game
        codes = [game.symbols.index(symbol) for symbol in game.player_symbols]
        return {"features_extractor_class": PlayerView, "features_extractor_kwargs": {"player_codes": codes}}

    def reset(self) -> np.ndarray:
        """Start every environment, with the seeds given by `seed()` if there are new ones."""
        if any(self._options):
            raise ConfigError("the vectorised core takes no reset options; reset a single environment to a task")
        observations, _ = self.env.reset(seed=self._seeds)
        self._reset_seeds()
        self._returns[:], self._lengths[:] = 0.0, 0
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Remember the actions; `step_wait` runs them."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Run the actions: observations, rewards, ends of episodes, infos."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        for row in np.flatnonzero(ended):
            infos[row] = {
                "TimeLimit.truncated": bool(truncated[row]) and self.bootstrap_truncated,
                "terminal_observation": info["final_obs"][row],
                "is_success": bool(info["success"][row]),
                "episode": {
                    "r": round(float(self._returns[row]), 6),
                    "l": int(self._lengths[row]),
                    "t": round(time.time() - self._started, 6),
                },
            }
        self._returns[ended], self._lengths[ended] = 0.0, 0
        return observations, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """Close the vectorised core."""
        self.env.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """One picture for each environment (needs `render_mode="rgb_array"`)."""
        return self.env.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the core, once for each environment asked for: the copies differ in their state only."""
        return [getattr(self.env, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the environments share one core."""
        raise ConfigError(f"the environments share one core; give {attr_name} to the constructor")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Refused: there is no environment object to call a method on."""
        raise ConfigError(f"the environments share one core; call {method_name} on a single environment")

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * len(self._rows(indices))

    def _rows(self, indices: Any) -> list[int]:
        return list(self._get_indices(indices))


class PlayerView(BaseFeaturesExtractor):
    """Reads a grid of symbol codes as zeros and ones, seen from the player: what lies where *relative to the player*.

    What is learnt in one corner of one level then holds in every corner of every level: a flat view has to learn for
    each cell anew that a hole on the left is a reason not to go left. Cells beyond the edge are a symbol of their own.

    `player_codes` are the codes that show the player; `GridVecEnv.policy_kwargs` fills them in.
    """

    def __init__(self, observation_space: spaces.Box, player_codes: Sequence[int]) -> None:
        shape = observation_space.shape
        if observation_space.dtype != np.uint8 or len(shape) != 2:
            raise ConfigError(f"PlayerView reads grids of symbol codes, uint8 [height, width], not {observation_space}")
        self._outside = int(observation_space.high.max()) + 1
        self._reach = (2 * shape[0] - 1, 2 * shape[1] - 1)
        super().__init__(observation_space, self._reach[0] * self._reach[1] * (self._outside + 1))
        self._players: torch.Tensor
        self.register_buffer("_players", torch.tensor(list(player_codes)))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Codes [n, height, width] to features [n, (2 * height - 1) * (2 * width - 1) * (kinds + 1)]."""
        codes = observations.long()
        count, height, width = codes.shape
        player = torch.isin(codes, self._players).flatten(1).int().argmax(1)
        padding = (width - 1, width - 1, height - 1, height - 1)
        around = torch.nn.functional.pad(codes, padding, value=self._outside)
        rows = (player // width)[:, None] + torch.arange(self._reach[0], device=codes.device)
        columns = (player % width)[:, None] + torch.arange(self._reach[1], device=codes.device)
        every = torch.arange(count, device=codes.device)[:, None, None]
        view = around[every, rows[:, :, None], columns[:, None, :]]
        return torch.nn.functional.one_hot(view, self._outside + 1).flatten(1).float()


def solved_share(model: Any, env_id: str, tasks: Iterable[str] | None = None, **arguments: Any) -> float:
    """The share of tasks (all of the environment's, unless some are named) that a model solves, acting greedily.

    `arguments` are the environment's, `split="test"` and `levels=500` among them. Every task is played exactly once, in
    the single environment; the episodes run side by side so that the model is asked about all of them at once.
    """
    first = gym.make(env_id, **arguments)
    names = list(cast(AgentEnv, first.unwrapped).tasks() if tasks is None else tasks)
    envs = [gym.make(env_id, **arguments) for _ in names]
    observations = [env.reset(options={"task": name})[0] for env, name in zip(envs, names, strict=True)]
    playing, solved = list(range(len(envs))), 0
    while playing:
        actions, _ = model.predict(np.stack([observations[i] for i in playing]), deterministic=True)
        still = []
        for i, action in zip(playing, actions, strict=True):
            observations[i], _, terminated, truncated, info = envs[i].step(action)
            solved += info["success"]
            if not (terminated or truncated):
                still.append(i)
        playing = still
    return solved / len(names)
