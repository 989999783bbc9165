"""`OutcomeReward`: a judge of outcomes says at the end of an episode whether the task was done, and that is paid."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from agentrl.core.arguments import finite_number
from agentrl.core.env import SIDE_TERMS
from agentrl.core.errors import ConfigError, JudgeFault, MissingExtra
from agentrl.core.judging import ChecksEnv, Judge, JudgeRequest, Verdict
from agentrl.core.settling import outcome_term
from agentrl.core.specs import class_of, resolve
from agentrl.core.state import State
from agentrl.core.verdicts import ask, fault_json, verdict_json
from agentrl.wrappers.base import AgentWrapper, StepResult, add_term, find_layer, require_text
from agentrl.wrappers.live import LiveJudge, refuse_json
from agentrl.wrappers.outcome_record import outcome_state

OUTCOME = "outcome"
# What other wrappers pay for, which `replace` leaves alone, as it does what turns cost.
FORM_TERMS = ("format", "grounding", "worldmodeling", "repetition")


class OutcomeReward(AgentWrapper):
    """Adds the term `outcome` when an episode ends: `weight` times the probability that the task was done.

    `judge` scores the purpose "outcome": an outcome reward model in this process (`{"kind": "orm", "model": FOLDER}`),
    one at an endpoint (`{"kind": "outcome", ...}`), or an object. It is told the instruction, the actions, the last
    page and the answer, and nothing of the environment's own judgement (`agentrl.wrappers.outcome_record`).

    - `threshold=0.5` pays the whole weight above it and nothing below, as WebRL does; None pays the probability.
    - `replace=True` takes the environment's own reward for success out, so that training sees the judge's alone. What
      turns cost (`step`, `invalid`) and what other wrappers pay stays; `info["success"]` stays, too, for evaluations.
    - `deferred=True` asks nobody: the term is pending with its request in `info["judge_requests"]`, and
      `agentrl.rollout.judging.settle` has it judged later in bulk.

    A judge that does not answer leaves the term pending (`info["judge_faults"]` says why): it is never counted as zero.
    In the recommended order of wrappers this one comes after `ReasoningReward` and `RepetitionPenalty`.
    """

    memory = ("_seed", "_episode", "_first", "_turns", "_over")

    def __init__(
        self,
        env: gym.Env,
        judge: Any,
        weight: float = 1.0,
        threshold: float | None = 0.5,
        replace: bool = False,
        deferred: bool = False,
    ) -> None:
        alive = not isinstance(judge, (str, Mapping))
        named = {"judge": type(judge).__name__ if alive else judge, "replace": replace, "deferred": deferred}
        super().__init__(env, weight=weight, threshold=threshold, **named)
        require_text(env, "OutcomeReward")
        if find_layer(env, OutcomeReward):
            raise ConfigError("there is an OutcomeReward in this stack already; use it once")
        self._judge: Judge | None = None
        if alive:
            live: Judge = resolve("judge", judge)
            self._judge, self._saved_kwargs["judge"] = live, LiveJudge.around(live)
        self.judge_spec, self.weight = judge, finite_number("weight", weight)
        self.threshold = None if threshold is None else _fraction(threshold)
        for name, value in (("replace", replace), ("deferred", deferred)):
            if not isinstance(value, bool):
                raise ConfigError(f"{name} must be True or False; got {value!r}")
        self.replace, self.deferred = replace, deferred
        self._check_judge()
        self._seed, self._episode, self._first, self._over = "", -1, "", False
        self._turns: list[list[Any]] = []  # [action, what of info an outcome is judged by]

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's spec; where the judge is a live object, its `to_json()` says so."""
        found = super().spec
        return found if isinstance(self.judge_spec, (str, Mapping)) else refuse_json(found)

    # ------------------------------------------------------------------ turns

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode. A judge that cannot be made raises here, before the first turn."""
        if not self.deferred:
            self._ready_judge()
        obs, info = self.env.reset(seed=seed, options=options)
        self._seed, self._episode = (self._seed, self._episode + 1) if seed is None else (str(seed), 0)
        self._first, self._turns, self._over = obs["text"], [], False
        return obs, info

    def step(self, action: Any) -> StepResult:
        """Play the turn; if it is the last, ask whether the task was done."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.replace:
            reward, info = _without_success(float(reward), info)
        if not self._over:
            self._turns.append([action if isinstance(action, str) else type(action).__name__, _kept(info)])
        if self._over or not (terminated or truncated):
            return obs, reward, terminated, truncated, info
        self._over = True
        if OUTCOME in info.get("reward_terms", {}):
            raise ConfigError(
                f"the environment pays a term {OUTCOME!r} itself; use OutcomeReward with replace=True to pay the "
                "judge's in its place"
            )
        reward, info = self._judged(float(reward), info, self._request(obs["text"], info))
        return obs, reward, terminated, truncated, info

    def _judged(self, reward: float, info: dict[str, Any], request: JudgeRequest) -> tuple[float, dict[str, Any]]:
        """(reward, info) with the term, or with what is owed."""
        asked = {**vars(request), "term": OUTCOME, "weight": self.weight, "threshold": self.threshold}
        owed = [name for name in info.get("pending", []) if name != OUTCOME]
        verdicts, faults = dict(info.get("verdicts", {})), dict(info.get("judge_faults", {}))
        answer = None if self.deferred else ask(self._ready_judge(), [request])[0]
        info = {**info, "judge_requests": [*info.get("judge_requests", []), asked], "pending": owed}
        if isinstance(answer, Verdict):
            info |= {"verdicts": {**verdicts, OUTCOME: verdict_json(answer)}, "judge_faults": faults}
            return add_term(reward, info, OUTCOME, outcome_term(self.weight, answer.score, self.threshold))
        if isinstance(answer, JudgeFault):
            faults[OUTCOME] = fault_json(answer)
        return reward, {**info, "pending": [*owed, OUTCOME], "verdicts": verdicts, "judge_faults": faults}

    def _request(self, last: str, info: dict[str, Any]) -> JudgeRequest:
        base = self.unwrapped
        env_id = base.spec.id if base.spec else type(base).__name__
        rules = str(self.env.get_wrapper_attr("system_prompt")) if self.env.has_wrapper_attr("system_prompt") else ""
        turns = [
            (action, {**kept, **(info if number == len(self._turns) else {})})
            for number, (action, kept) in enumerate(self._turns, 1)
        ]
        state, answer = outcome_state(rules, self._first, turns, last)
        place = f"{self._seed}.{self._episode}.{OUTCOME}"
        content = json.dumps([env_id, info.get("task"), place, state, answer], sort_keys=True, default=str)
        digest = hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return JudgeRequest(f"{place}.{digest}", env_id, OUTCOME, answer, state)

    # ------------------------------------------------------------------ the judge

    def _ready_judge(self) -> Judge:
        judge = self._judge
        if judge is None:
            judge = self._judge = resolve("judge", self.judge_spec)
        return judge

    def _check_judge(self) -> None:
        """Refuse a judge that does not score outcomes: the term would stay pending for ever."""
        if not issubclass(class_of("judge", self.judge_spec) or object, ChecksEnv):
            return  # it cannot be found here (reset says why), or accepts every environment
        try:
            judge: Any = self._judge or resolve("judge", self.judge_spec)
        except MissingExtra:
            return  # reset says so, unless it is judged elsewhere
        state_type = getattr(self.unwrapped, "state_type", State)
        env_id = self.unwrapped.spec.id if self.unwrapped.spec else type(self.unwrapped).__name__
        judge.check_env(env_id, state_type.claims(), "natural", (OUTCOME,))
        if self._judge is None and callable(close := getattr(judge, "close", None)):
            close()

    def __getstate__(self) -> dict[str, Any]:
        # A judge made from a spec holds what belongs to this process; the other side makes its own.
        specified = isinstance(self.judge_spec, (str, Mapping))
        return {**self.__dict__, "_judge": None} if specified else dict(self.__dict__)


def _kept(info: Mapping[str, Any]) -> dict[str, Any]:
    """What the line of a turn is written from; the rest of `info` is large and not needed again."""
    found = {"actions": [str(each) for each in info.get("actions", [])], "valid": bool(info.get("valid", True))}
    told = info.get("told_actions")
    return found | ({"told_actions": [str(each) for each in told]} if isinstance(told, (list, tuple)) else {})


def _without_success(reward: float, info: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """(reward, info) less the environment's own terms for success, paid or owed."""
    before = info.get("reward_terms", {})
    kept = {name: value for name, value in before.items() if name in (*SIDE_TERMS, *FORM_TERMS)}
    taken = math.fsum(value for name, value in before.items() if name not in kept)
    exact = reward == math.fsum(before.values())
    owed = [name for name in info.get("pending", []) if name in FORM_TERMS]
    left = {"reward_terms": kept, "pending": owed} | ({"graded": []} if "graded" in info else {})
    return math.fsum(kept.values()) if exact else reward - taken, {**info, **left}


def _fraction(value: Any) -> float:
    if not 0 <= finite_number("threshold", value) < 1:
        raise ConfigError(f"threshold must be at least 0 and below 1, or None; got {value!r}")
    return float(value)
