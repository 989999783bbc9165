"""What wrappers that ask a judge have in common.

A judge is a JSON spec or a live object. Live ones work in this process, and say so when asked for JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.judging import ChecksEnv, Judge, JudgeRequest, Purpose
from agentrl.core.specs import class_of, resolve
from agentrl.core.state import State
from agentrl.core.verdicts import Answer
from agentrl.wrappers.base import AgentWrapper


class LiveJudge:
    """A judge as a spec holds it: Gymnasium copies specs again and again, and a judge's connections must not be."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    @classmethod
    def around(cls, judge: Judge) -> LiveJudge:
        """The judge in its holder, once."""
        return judge if isinstance(judge, cls) else cls(judge)

    def __deepcopy__(self, memo: Any) -> LiveJudge:
        return self

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        """What the judge says."""
        return await self.judge.score(requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        """What the judge says."""
        return self.judge.score_sync(requests)


class _LiveSpec(EnvSpec):
    """A spec that can make the stack again in this process, and nowhere else."""

    def to_json(self) -> NoReturn:
        """Always a `ConfigError`."""
        raise ConfigError(
            "this stack holds a live object as its judge, which cannot be written as JSON; give a spec instead, "
            'for example judge="rule"'
        )


def refuse_json(spec: EnvSpec | None) -> EnvSpec | None:
    """The same spec with a `to_json()` that explains itself; wrappers further out copy it as it is."""
    if spec is None or isinstance(spec, _LiveSpec):
        return spec
    return _LiveSpec(**{one.name: getattr(spec, one.name) for one in fields(spec) if one.init})


class JudgedWrapper(AgentWrapper):
    """A wrapper with the arguments `judge` and `deferred`; a judge from a spec is made when it is first needed.

    Ids of requests follow from the last seed and the number of the episode since then.
    """

    memory = ("_seed", "_episode")

    def __init__(self, env: gym.Env, **arguments: Any) -> None:
        self.judge_spec: Any = arguments["judge"]
        named = self.judge_spec if self._specified else type(self.judge_spec).__name__
        super().__init__(env, **{**arguments, "judge": named})
        self._judge: Judge | None = None
        if not self._specified:
            live: Judge = resolve("judge", self.judge_spec)
            self._judge, self._saved_kwargs["judge"] = live, LiveJudge.around(live)
        self.deferred = arguments["deferred"]
        if not isinstance(self.deferred, bool):
            raise ConfigError(f"deferred must be True or False; got {self.deferred!r}")
        self._seed, self._episode = "", -1

    @property
    def _specified(self) -> bool:
        return isinstance(self.judge_spec, (str, Mapping))

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's spec; where the judge is a live object, its `to_json()` says so."""
        found = super().spec
        return found if self._specified else refuse_json(found)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode. A judge that cannot be made raises here, before the first turn."""
        if not self.deferred:
            self._ready_judge()
        obs, info = self.env.reset(seed=seed, options=options)
        self._seed, self._episode = (self._seed, self._episode + 1) if seed is None else (str(seed), 0)
        return obs, info

    def _ready_judge(self) -> Judge:
        judge = self._judge
        if judge is None:
            judge = self._judge = resolve("judge", self.judge_spec)
        return judge

    def _check_judge(self, representation: str, purposes: tuple[Purpose, ...]) -> None:
        """Refuse a judge that could never score this environment: its terms would stay pending for ever."""
        if not issubclass(class_of("judge", self.judge_spec) or object, ChecksEnv):
            return  # it cannot be found here (reset says why), or accepts every environment
        try:
            judge: Any = self._judge or resolve("judge", self.judge_spec)
        except MissingExtra:
            return  # reset says so, unless it is judged elsewhere
        state_type = getattr(self.unwrapped, "state_type", State)
        judge.check_env(self._env_id(), state_type.claims(), representation, purposes)
        if self._judge is None and callable(close := getattr(judge, "close", None)):
            close()

    def _env_id(self) -> str:
        base = self.unwrapped
        return base.spec.id if base.spec else type(base).__name__

    def __getstate__(self) -> dict[str, Any]:
        # A judge made from a spec holds connections of this process; the other side makes its own.
        return {**self.__dict__, "_judge": None} if self._specified else dict(self.__dict__)
