"""A taskset of verifiers 0.4 as a Gymnasium environment: `gym.make("agentrl/Verifiers-v0", taskset="gsm8k-v1")`.

verifiers pins other versions than agentrl's extras, so the taskset lives in a worker process of another interpreter,
one for all environments of this process that play it.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, EnvFault
from agentrl.core.interpreter import InterpreterSpec, find_interpreter
from agentrl.core.spaces import AnyText
from agentrl.core.worker import Worker

VERIFIERS = InterpreterSpec(
    package="verifiers",
    variable="AGENTRL_VERIFIERS_PYTHON",
    folder=".venv-verifiers",
    setup="scripts/setup.sh library:verifiers",
    install="python3 -m venv .venv-verifiers && .venv-verifiers/bin/pip install verifiers==0.4.0 agentrl-suite",
)
START_SECONDS = 300.0  # importing verifiers and loading a data set takes long
_workers: dict[str, Worker] = {}


class VerifiersEnv(gym.Env):
    """One task of a taskset an episode, text only; its rewards come with the last turn, in `info["reward_terms"]`.

    `taskset` is the id of an installed taskset, `config` what its config takes. Its first `tasks` tasks are played: of
    ten, eight belong to the split train, one to dev, one to test; `reset(options={"task": index})` picks one exactly.
    `success` is a reward of at least `success_reward`. `python` names an interpreter that has verifiers, agentrl and
    the taskset, `path` folders with further modules. `timeout` is seconds for each call.
    """

    def __init__(
        self,
        taskset: str = "",
        *,
        config: dict[str, Any] | None = None,
        split: str = "train",
        tasks: int = 1000,
        max_turns: int = 32,
        success_reward: float = 1.0,
        timeout: float = 120.0,
        python: str | None = None,
        path: tuple[str, ...] = (),
    ) -> None:
        if not taskset or not isinstance(taskset, str):
            raise ConfigError(f"taskset must be the id of an installed taskset of verifiers; got {taskset!r}")
        place = {"dev": (8,), "test": (9,), "train": range(8)}.get(split)
        if place is None:
            raise ConfigError(f"split must be one of train, dev, test; got {split!r}")
        self.split, self._timeout, self._success_reward = split, positive_number("timeout", timeout), success_reward
        limits = [whole_number("tasks", tasks, at_least=1), whole_number("max_turns", max_turns, at_least=1)]
        where = {"python": find_interpreter(VERIFIERS, python).python, "path": list(path)}
        arguments = [taskset, config or {}, *limits]
        key, target = json.dumps([arguments, where], sort_keys=True), "agentrl.adapters.verifiers_host:TasksetHost"
        if key not in _workers:
            _workers[key] = Worker(target, arguments, **where, start_deadline=START_SECONDS)  # pyright: ignore
        self._worker, self._name, self.system_prompt = _workers[key], uuid.uuid4().hex, ""
        if problem := self._call("problem"):
            raise ConfigError(f"taskset {taskset!r} cannot be played: {problem}")
        self._indices = [index for index in range(self._call("count")) if index % 10 in place]
        if not self._indices:
            raise ConfigError(f"taskset {taskset!r} has too few tasks for the split {split!r}, which has one in ten")
        self.observation_space, self.action_space = spaces.Dict({"text": AnyText()}), AnyText()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode: of a task that the seed draws, or of that one."""
        super().reset(seed=seed)
        drawn = self._indices[self.np_random.integers(len(self._indices))]
        told = self._call("reset", self._name, int((options or {}).get("task", drawn)))
        observation, _, over, _, info = self._read(told)
        if over:
            raise EnvFault(f"the episode was over before the agent said anything: {told}")
        self.system_prompt = told["rules"]
        return observation, {**info, "task": str(drawn if not options else options.get("task", drawn))}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Answer."""
        return self._read(self._call("step", self._name, action))

    def close(self) -> None:
        """Leave the episode; the worker stays for the others."""
        if self._worker.alive:
            self._call("close", self._name)

    def _read(self, told: dict[str, Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not told["over"]:
            return {"text": told["text"]}, 0.0, False, False, {"success": False}
        if told["error"]:
            raise EnvFault(f"verifiers: {told['error']}")
        reward = sum(told["terms"].values())
        info = {"success": reward >= self._success_reward, "reward_terms": told["terms"], "metrics": told["metrics"]}
        return {"text": ""}, reward, not told["truncated"], told["truncated"], info

    def _call(self, method: str, *args: Any) -> Any:
        return self._worker.call(method, *args, deadline=self._timeout)
