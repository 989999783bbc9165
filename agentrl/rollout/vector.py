"""Many environments in a few processes as one vector environment, for `gym.make_vec`.

    envs = gym.make_vec(ID, 64, vectorization_mode="vector_entry_point", hosts=16)

Ids whose environments are slow have this as their `vector_entry_point`, under the name "agentrl.rollout.vector:ID".
That is text, as a spec must be; Gymnasium looks the part behind the colon up as an attribute of this module.

    envs = gym.make_vec(ID, 1024, vectorization_mode="vector_entry_point", simulator="warp")

is the same on a GPU, for ids that have it: one process, and torch tensors that never leave the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from agentrl.core.arguments import whole_number
from agentrl.core.errors import AgentRLError, ConfigError, Fault, WorkerFault
from agentrl.core.family import load
from agentrl.core.measure import usable_cores
from agentrl.core.seeding import mixed_seed
from agentrl.registry import check_id, known
from agentrl.rollout.hosts import Host
from agentrl.rollout.isolated import IsolatedEnv, ask_all, spaces_of
from agentrl.rollout.starts import Stack

Turn = tuple[float, bool, bool, dict[str, Any]]  # reward, terminated, truncated, info
BEGIN = ("reset", None, None)


def __getattr__(name: str) -> Callable[..., VectorEnv]:
    """The vector environment of an id."""
    if "/" not in name:
        raise AttributeError(name)
    return partial(make_vector, name)


def make_vector(env_id: str, num_envs: int = 1, *, simulator: str = "mujoco", **kwargs: Any) -> VectorEnv:
    """The vector environment of an id: in hosts, where `info` is brief unless `full_info=True` asks for all of it, or
    with `simulator="warp"` on a GPU."""
    if simulator == "mujoco":
        return HostVectorEnv(env_id, num_envs, **{"full_info": False, **kwargs})
    on_gpu = {entry.id: entry.warp_entry_point for entry in known() if entry.warp_entry_point}
    if simulator != "warp" or env_id not in on_gpu:
        choices = '"mujoco" or "warp"' if env_id in on_gpu else f'"mujoco" ("warp" is for {", ".join(sorted(on_gpu))})'
        raise ConfigError(f"simulator of {env_id} must be {choices}; got {simulator!r}")
    return load(str(on_gpu[env_id]))(num_envs, **kwargs)


class HostVectorEnv(VectorEnv[Any, Any, np.ndarray]):
    """`num_envs` copies of an environment in `hosts` processes, as many as there are processor cores by default.

    Environment i of `reset(seed=s)` is the single one of `reset(seed=s + i)`, to the bit. Every step is one message for
    each process, whatever the number of environments; arrays of observations travel through shared memory.

    - `hosts`: how many processes, or for each one the variables of its surroundings:
      `hosts=[{"MUJOCO_EGL_DEVICE_ID": "0"}, {"MUJOCO_EGL_DEVICE_ID": "1"}]` draws on two GPUs.
    - `autoreset_mode`: "NextStep" (Gymnasium's default), "SameStep" or "Disabled".
    - `timeout`: seconds that a reset or step of one environment may take, None: ten minutes.
    - `wrap`: wrappers of every environment, from the inside out, each as `{"wrapper": "ActionChunks", ...arguments}`.

    All other arguments are the single environment's. `reset(options={"task": ...})` takes one task for all, or a list
    with one for each.

    A `Fault` costs the episodes that it happens in, never a reward, and the others go on: such an episode is truncated
    where it was (the observation is the last one again, the reward 0), `info["fault"]` has the fault's class,
    `info["feedback"]` its text, and `info["limit"]` is "external". What one environment raises is its own fault; a
    process that dies or hangs costs all environments in it one each. The next reset makes a fresh environment, which
    begins with a seed that follows from the last one given. Where no process can be started, and where `reset` itself
    meets a fault twice, it is raised.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        *,
        hosts: int | Sequence[Mapping[str, str]] | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        timeout: float | None = None,
        wrap: Sequence[Mapping[str, Any]] = (),
        **kwargs: Any,
    ) -> None:
        check_id(env_id)
        self.num_envs = whole_number("num_envs", num_envs, at_least=1)
        self._stack = Stack(env_id, kwargs, tuple(map(dict, wrap)))
        # One environment is made here and closed, for its spaces: a wrong argument is refused before a process starts.
        found = deepcopy(spaces_of(self._stack))
        self._hosts = [Host(timeout, variables) for variables in _surroundings(hosts, self.num_envs)]
        self._begin(found, autoreset_mode)

    def _begin(self, found: tuple[gym.Space, gym.Space], autoreset_mode: AutoresetMode | str) -> None:
        """Open the environments, whose spaces were found, in the hosts that are there."""
        modes = {mode.value: mode for mode in AutoresetMode}
        if autoreset_mode not in (*modes, *AutoresetMode):
            raise ConfigError(f"autoreset_mode must be one of {list(modes)}; got {autoreset_mode!r}")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.single_action_space, self.single_observation_space = found
        self._arrays = isinstance(self.single_action_space, spaces.Box)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._over = np.zeros(self.num_envs, bool)
        self._seeds: list[int | None] = [None] * self.num_envs  # the last one that each was given
        self._remade = [0] * self.num_envs  # how often it was made again since then
        self._faults: dict[int, Fault] = {}  # of environments that must be made again
        self._rows: list[Any] = []  # the last observation of each; arrays are shared with the host until its next call
        self._seen: Any = None  # all of them, as they were given out
        try:
            with ThreadPoolExecutor(len(self._hosts)) as threads:
                opened = list(threads.map(self._fill, range(len(self._hosts))))
            self._envs = [opened[place % len(opened)][place // len(opened)] for place in range(self.num_envs)]
        except BaseException:
            self.close()
            raise
        self.render_mode = self._envs[0].render_mode
        self.metadata = {**self._envs[0].metadata, "autoreset_mode": self.autoreset_mode}

    def _fill(self, number: int) -> list[IsolatedEnv]:
        """Open the environments of a host: every `hosts`-th place."""
        places = range(number, self.num_envs, len(self._hosts))
        return [self._open(self._hosts[number]) for _ in places]

    def _open(self, host: Host) -> IsolatedEnv:
        return IsolatedEnv(self._stack, host)

    # ------------------------------------------------------------------ episodes

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start every environment, or with `options={"reset_mask": bool[n]}` some of them."""
        options, n = dict(options or {}), self.num_envs
        mask = np.asarray(options.pop("reset_mask", np.ones(n, bool)))
        if mask.shape != (n,) or mask.dtype != bool or not mask.any() or not (self._rows or mask.all()):
            raise ConfigError(f"reset_mask must be bool [{n}] with a True in it, and all True at the first reset")
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(n)]
        seeds = [None] * n if seed is None else [None if one is None else int(one) for one in seed]
        tasks = options.pop("task", None)
        tasks = list(tasks) if isinstance(tasks, (list, tuple)) else [tasks] * n
        if len(seeds) != n or len(tasks) != n:
            raise ConfigError(f"seed and task must be one for all or a list of {n}; got {len(seeds)} and {len(tasks)}")
        own = [{**options, **({} if task is None else {"task": task})} or None for task in tasks]
        self._rows = self._rows or [None] * n
        places, told = np.flatnonzero(mask).tolist(), dict[int, Turn]()
        for place in places:
            if seeds[place] is not None:
                self._seeds[place], self._remade[place] = seeds[place], 0
        for _ in range(2):  # a fault at the first try may be that of another environment in the same process
            told |= self._play({i: ("reset", seeds[i], own[i]) for i in places})
            places = [place for place in places if place in self._faults]
        if places:
            raise self._faults[places[0]]
        self._over[mask] = False
        return self._observe(), self._told({place: turn[-1] for place, turn in told.items()})

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """A turn in every environment; with "NextStep" those whose episode is over begin the next one instead."""
        if not self._rows:
            raise ResetNeeded("call reset() before step()")
        rows = list(iterate(self.action_space, np.asarray(actions) if self._arrays else actions))
        if len(rows) != self.num_envs:
            raise ConfigError(f"actions must be {self.num_envs}, one for each environment; got {len(rows)}")
        next_step, same_step = (
            self.autoreset_mode == mode for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)
        )
        turns = self._play({i: BEGIN if next_step and self._over[i] else ("step", row) for i, row in enumerate(rows)})
        rewards, terminated, truncated = (
            np.array([turns[i][column] for i in range(self.num_envs)], kind)
            for column, kind in enumerate((np.float64, bool, bool))
        )
        self._over = terminated | truncated
        infos = {i: turns[i][-1] for i in range(self.num_envs)}
        ends: dict[int, dict[str, Any]] = {}
        if same_step and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            ends = {i: {"final_obs": deepcopy(self._rows[i]), "final_info": infos[i]} for i in over}
            infos |= {i: turn[-1] for i, turn in self._play(dict.fromkeys(over, BEGIN)).items()}
        return self._observe(), rewards, terminated, truncated, self._told(infos, self._told(ends))

    def _play(self, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Turn]:
        """Make each place's call, `("reset", seed, options)` or `("step", action)`, with one message for each host:
        reward, terminated, truncated and info. Observations are in `_rows`; a fault truncates and is in `_faults`."""
        if self.closed:
            raise ClosedEnvironmentError("the vector environment is closed")
        sent = {}
        for place, (method, *args) in calls.items():
            if method == "reset" and place in self._faults:
                args = [self._make_again(place, args[0]), *args[1:]]
            if place not in self._faults:
                sent[place] = self._envs[place], self._envs[place].asked(method, *args)
        answers = {**self._faults, **dict(zip(sent, ask_all(list(sent.values())), strict=True))}
        found: dict[int, Turn] = {}
        for place, (method, *_) in calls.items():
            env, answer = self._envs[place], answers[place]
            if isinstance(answer, AgentRLError):
                found[place] = self._lose(place, answer)
            elif method == "reset":
                self._rows[place], info = env.read_reset(answer)
                found[place] = 0.0, False, False, info
            else:
                self._rows[place], reward, terminated, truncated, info = env.read_step(answer, copy=False)
                found[place] = reward, terminated, truncated, info
        return found

    def _lose(self, place: int, error: AgentRLError) -> Turn:
        """The end of an episode by a fault; other errors, and a process that cannot start, are the caller's."""
        if not isinstance(error, Fault) or (isinstance(error, WorkerFault) and error.reason == "start"):
            raise error
        self._faults[place] = error
        if self._seen is not None:  # what the host wrote last may be half of an observation
            self._rows[place] = list(iterate(self.observation_space, self._seen))[place]
        info = {"success": False, "valid": True, "effective": False, "limit": "external"}
        return 0.0, False, True, {**info, "fault": type(error).__name__, "feedback": str(error)}

    def _make_again(self, place: int, seed: int | None) -> int | None:
        """A fresh environment in the place of one that broke, and the seed for its first reset."""
        self._envs[place].close()
        try:
            self._envs[place] = self._open(self._envs[place].host)
        except Fault as fault:
            self._lose(place, fault)
            return None
        del self._faults[place]
        self._remade[place] += 1
        begun = self._seeds[place]
        return mixed_seed(begun, self._remade[place]) if seed is None and begun is not None else seed

    def _observe(self) -> Any:
        """All observations in arrays of their own."""
        blank = create_empty_array(self.single_observation_space, self.num_envs, np.empty)
        self._seen = concatenate(self.single_observation_space, self._rows, blank)
        return self._seen

    def _told(self, infos: Mapping[int, dict[str, Any]], told: dict[str, Any] | None = None) -> dict[str, Any]:
        """Infos in Gymnasium's form: for each key an array, and a mask of who has it."""
        told, whole = {} if told is None else told, {}
        rows = [infos[place] for place in sorted(infos)]
        if len(rows) == self.num_envs:  # numbers that all of them have, at once: a brief info has nothing else
            for name, first in rows[0].items():
                values = [row.get(name) for row in rows]
                if type(first) in (bool, int, float) and all(type(value) is type(first) for value in values):
                    whole |= {name: np.array(values), f"_{name}": np.ones(len(rows), bool)}
        for place, row in zip(sorted(infos), rows, strict=True):
            told = self._add_info(told, {name: row[name] for name in row if name not in whole}, place)
        return told | whole

    # ------------------------------------------------------------------ everything else

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The result of a public method of each environment, or a public attribute; as a host can send it."""
        return self._ask_each("ask", *([(name, args, kwargs)] * self.num_envs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """A public attribute of each environment."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each environment: to the same value, or to one of a list."""
        values = values if isinstance(values, (list, tuple)) else [values] * self.num_envs
        self._ask_each("set", *((name, value) for value in values))

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each environment."""
        return None if self.render_mode is None else self.call("render")

    def snapshot(self) -> tuple[bytes, ...]:
        """Of each environment what `agentrl.snapshot` gives for the single one."""
        return self._ask_each("snapshot", *([()] * self.num_envs))

    def restore(self, blobs: Sequence[bytes]) -> None:
        """Continue each environment from a snapshot; the next step shows where it is."""
        if not self._rows:
            raise ResetNeeded("call reset() before restore()")
        self._ask_each("restore", *((blob,) for blob in blobs))
        self._over[:] = False

    def close_extras(self, **kwargs: Any) -> None:
        """Close all environments and end the processes."""
        for host in self._hosts:
            host.close()

    def _ask_each(self, method: str, *arguments: Sequence[Any]) -> tuple[Any, ...]:
        if self.closed:
            raise ClosedEnvironmentError("the vector environment is closed")
        if len(arguments) != self.num_envs:
            raise ConfigError(f"there must be {self.num_envs} values, one for each environment; got {len(arguments)}")
        calls = [(env, env.asked(method, *given)) for env, given in zip(self._envs, arguments, strict=True)]
        answers = ask_all(calls)
        for answer in answers:
            if isinstance(answer, AgentRLError):
                raise answer
        return tuple(answers)


def _surroundings(hosts: int | Sequence[Mapping[str, str]] | None, num_envs: int) -> list[Mapping[str, str]]:
    """The variables of each host."""
    if hosts is not None and not isinstance(hosts, (int, str)):
        found = list(hosts)
        if not found or not all(isinstance(one, Mapping) for one in found):
            raise ConfigError(f"hosts must be a number or a list of variables by name; got {hosts!r}")
        return found
    count = usable_cores() if hosts is None else whole_number("hosts", hosts, at_least=1)
    return [{}] * min(count, num_envs)
