"""`ReasoningReward`: rewards true descriptions of the state before and after the turn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.core.response import fields_of
from agentrl.core.verdicts import ask, fault_json, verdict_json
from agentrl.wrappers.base import StepResult, add_term, clean_text, find_layer
from agentrl.wrappers.judged import JudgedWrapper
from agentrl.wrappers.reasoning import Reasoning

MAX_CHARS = 20_000  # of one description; nothing true takes more
FIELDS: dict[Purpose, str] = {"grounding": "observation", "worldmodeling": "prediction"}


@dataclass(frozen=True)
class _Open:
    """One request, and the term its verdict pays."""

    request: JudgeRequest
    term: Purpose
    weight: float

    def to_json(self) -> dict[str, Any]:
        """All that is needed to judge this later."""
        return {**vars(self.request), "term": self.term, "weight": self.weight}


class ReasoningReward(JudgedWrapper):
    """Has a judge compare what the agent wrote with the true state, and rewards what is right.

    The observation is judged against the state before the turn (term `grounding`), the prediction against the state
    after all of its actions (term `worldmodeling`); each term is its weight times the score (times the scale of
    `Reasoning`, where a solved task pays little). Nothing is judged and
    nothing earned unless the form was strict (`info["format"]`) and the actions valid (`info["valid"]`). A turn that
    `Reasoning` does not pay for by its `format_rule` (`info["unpaid"]` says why) is judged with weight 0. A strategy
    with only one of the two parts earns only that one. A weight of 0 measures without paying; None leaves a part out.

    `judge` is a JSON spec (`"rule"`, `{"kind": "llm", ...}`), which `env.spec.to_json()` carries along, or an object.
    One that says (`check_env`) that it cannot score this environment is refused here, also when judging is deferred.
    Every step says in `info`:

    - `judge_requests`: what was asked, as JSON: id, env_id, purpose, text, state, representation, term, weight;
    - `verdicts`: term -> score, method, evidence, cost;
    - `judge_faults`: term -> why there is no verdict;
    - `pending`: the terms that are still owed. They are missing from the reward, never counted as zero.

    With `deferred=True` the judge is not asked: every term stays pending with its request, and
    `agentrl.rollout.judging.settle` has them judged later in bulk, so that a rollout never waits for a judge.

    Request ids follow from the last seed, the episode since then, the turn and the content: the same play gives the
    same ids, and two requests share an id only if they ask exactly the same.
    """

    needs = "Reasoning"

    def __init__(
        self,
        env: gym.Env,
        judge: Any = "rule",
        grounding: float | None = 0.5,
        worldmodeling: float | None = 0.5,
        deferred: bool = False,
    ) -> None:
        super().__init__(env, grounding=grounding, worldmodeling=worldmodeling, judge=judge, deferred=deferred)
        if find_layer(env, ReasoningReward):
            raise ConfigError("there is a ReasoningReward in this stack already; give it both weights")
        reasoning = find_layer(env, Reasoning)
        if reasoning is None:
            raise ConfigError(
                'ReasoningReward judges what Reasoning asks for: ReasoningReward(Reasoning(env, "grounding"))'
            )
        self.reasoning = reasoning
        self.weights = _weights(reasoning.strategy, {"grounding": grounding, "worldmodeling": worldmodeling})
        self._check_judge(reasoning.representation, tuple(self.weights))

    # ------------------------------------------------------------------ turns

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode: nothing has been judged yet."""
        obs, info = super().reset(seed=seed, options=options)
        return obs, {**info, "judge_requests": [], "verdicts": {}, "judge_faults": {}}

    def step(self, action: Any) -> StepResult:
        """Play the turn, then have its descriptions judged (or note down what is to be judged)."""
        before = self._state() if "grounding" in self.weights else {}
        obs, reward, terminated, truncated, info = self.env.step(action)
        opened: list[_Open] = []
        if info.get("format") is True and info.get("valid") is True:
            opened = self._open(before, info)
        # Another wrapper may have asked about this turn already.
        asked = [*info.get("judge_requests", []), *(one.to_json() for one in opened)]
        known = {name: dict(info.get(name, {})) for name in ("verdicts", "judge_faults")}
        info = {**info, "judge_requests": asked, **known}
        answers = [None] * len(opened) if self.deferred else ask(self._ready_judge(), [one.request for one in opened])
        for one, answer in zip(opened, answers, strict=True):
            if isinstance(answer, Verdict):
                info["verdicts"] = {**info["verdicts"], one.term: verdict_json(answer)}
                reward, info = add_term(reward, info, one.term, one.weight * answer.score)
                continue
            if isinstance(answer, JudgeFault):
                info["judge_faults"] = {**info["judge_faults"], one.term: fault_json(answer)}
            info = {**info, "pending": [*info.get("pending", []), one.term]}  # without a verdict the term is owed
        return obs, reward, terminated, truncated, info

    def _open(self, before: dict[str, Any], info: dict[str, Any]) -> list[_Open]:
        states = {"grounding": before}
        if "worldmodeling" in self.weights:
            states["worldmodeling"] = self._state()
        paid = info.get("unpaid") is None  # by the format rule; what is not paid is measured all the same
        return [
            _Open(self._request(term, states[term], info), term, self.reasoning.scale * weight if paid else 0.0)
            for term, weight in self.weights.items()
            if info.get(FIELDS[term])
        ]

    def _request(self, term: Purpose, state: dict[str, Any], info: dict[str, Any]) -> JudgeRequest:
        env_id = self._env_id()
        text, representation = clean_text(info[FIELDS[term]], MAX_CHARS), self.reasoning.representation
        place = f"{self._seed}.{self._episode}.{info.get('turn')}.{term}"
        content = json.dumps([env_id, info.get("task"), place, text, state, representation], default=str)
        digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
        return JudgeRequest(f"{place}.{digest}", env_id, term, text, state, representation)

    def _state(self) -> dict[str, Any]:
        # As JSON also when it is judged at once: a verdict must not depend on when it was given.
        return self.unwrapped.state().to_json()


def _weights(strategy: str, chosen: Mapping[Purpose, Any]) -> dict[Purpose, float]:
    """The weight of each part that the strategy asks for."""
    written: list[Purpose] = [term for term, field in FIELDS.items() if field in fields_of(strategy)]
    if not written:
        usable = "grounding, worldmodeling, grounding_worldmodeling"
        raise ConfigError(
            f"strategy {strategy!r} has neither observation nor prediction to judge; use one of: {usable}"
        )
    weights: dict[Purpose, float] = {
        term: finite_number(term, chosen[term]) for term in written if chosen[term] is not None
    }
    if not weights:
        raise ConfigError(f"nothing is left to judge: give a weight to {' or '.join(written)}")
    return weights
