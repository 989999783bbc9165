"""Live objects among a wrapper's arguments: they work in this process, and say so when asked for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NoReturn

from gymnasium.envs.registration import EnvSpec

from agentrl.core.errors import ConfigError
from agentrl.core.judging import Judge, JudgeRequest
from agentrl.core.verdicts import Answer


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
