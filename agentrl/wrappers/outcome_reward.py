"""`OutcomeReward`: a judge of outcomes says at the end of an episode whether the task was done, and that is paid."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.arguments import finite_number
from agentrl.core.env import SIDE_TERMS
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.parsing import quote
from agentrl.core.settling import outcome_term
from agentrl.core.verdicts import ask, fault_json, verdict_json
from agentrl.wrappers.base import StepResult, add_term, clean_text, find_layer, require_text
from agentrl.wrappers.history import what_was_done
from agentrl.wrappers.judged import JudgedWrapper

OUTCOME = "outcome"
# What other wrappers pay for, which `replace` leaves alone, as it does what turns cost.
FORM_TERMS = ("format", "grounding", "worldmodeling", "repetition")
MAX_CHARS = 100_000  # of one part; judges cut further
OWN_WORDS = ("instruction", "answer")  # of a state: what the agent was told, and what it said

Turns = Sequence[tuple[Any, Mapping[str, Any]]]  # the action of each turn, and `info` after it


class OutcomeReward(JudgedWrapper):
    """Adds the term `outcome` when an episode ends: `weight` times the probability that the task was done.

    `judge` scores the purpose "outcome": an outcome reward model in this process (`{"kind": "orm", "model": FOLDER}`),
    one at an endpoint (`{"kind": "outcome", ...}`), or an object. It is told the instruction, the actions, the last
    page and the answer, and nothing of the environment's own judgement (`outcome_state`).

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
        super().__init__(env, weight=weight, threshold=threshold, judge=judge, replace=replace, deferred=deferred)
        require_text(env, "OutcomeReward")
        if find_layer(env, OutcomeReward):
            raise ConfigError("there is an OutcomeReward in this stack already; use it once")
        self.weight = finite_number("weight", weight)
        if threshold is not None and not 0 <= finite_number("threshold", threshold) < 1:
            raise ConfigError(f"threshold must be at least 0 and below 1, or None; got {threshold!r}")
        self.threshold = None if threshold is None else float(threshold)
        if not isinstance(replace, bool):
            raise ConfigError(f"replace must be True or False; got {replace!r}")
        self.replace = replace
        self._check_judge("natural", (OUTCOME,))
        self._first, self._over = "", False
        self._turns: list[list[Any]] = []  # [action, what of info an outcome is judged by]

    # ------------------------------------------------------------------ turns

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode, nothing of which is known yet."""
        obs, info = super().reset(seed=seed, options=options)
        self._first, self._turns, self._over = obs["text"], [], False
        return obs, info

    def step(self, action: Any) -> StepResult:
        """Play the turn; if it is the last, ask whether the task was done."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.replace:
            reward, info = _without_success(float(reward), info)
        if not self._over:
            # What the line of a turn is written from; the rest of `info` is large and not needed again.
            kept = {"actions": [str(each) for each in info.get("actions", [])], "valid": bool(info.get("valid", True))}
            if isinstance(told := info.get("told_actions"), (list, tuple)):
                kept["told_actions"] = [str(each) for each in told]
            self._turns.append([action if isinstance(action, str) else type(action).__name__, kept])
        if self._over or not (terminated or truncated):
            return obs, reward, terminated, truncated, info
        self._over = True
        if OUTCOME in info.get("reward_terms", {}):
            raise ConfigError(
                f"the environment pays a term {OUTCOME!r} itself; use OutcomeReward with replace=True to pay the "
                "judge's in its place"
            )
        reward, info = self._judged(float(reward), info, obs["text"])
        return obs, reward, terminated, truncated, info

    def _judged(self, reward: float, info: dict[str, Any], last: str) -> tuple[float, dict[str, Any]]:
        """(reward, info) with the term, or with what is owed; `last` is the text of the last observation."""
        request = self._request(last, info)
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
        env_id = self._env_id()
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


def _without_success(reward: float, info: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """(reward, info) less the environment's own terms for success, paid or owed."""
    before = info.get("reward_terms", {})
    kept = {name: value for name, value in before.items() if name in (*SIDE_TERMS, *FORM_TERMS)}
    taken = math.fsum(value for name, value in before.items() if name not in kept)
    exact = reward == math.fsum(before.values())
    owed = [name for name in info.get("pending", []) if name in FORM_TERMS]
    left = {"reward_terms": kept, "pending": owed} | ({"graded": []} if "graded" in info else {})
    return math.fsum(kept.values()) if exact else reward - taken, {**info, **left}


# ---------------------------------------------------------------------- an episode as a judge of its outcome sees it
#
# What was asked, what was done, where it ended, what was answered. Whoever decides an outcome must not be told it. So
# nothing here reads `success`, rewards or the state, but for the two things in a state that the agent has read or
# written itself, and what the environment says about the last turn is taken out of the last page.


def outcome_state(rules: str, first: str, turns: Turns, last: str) -> tuple[dict[str, Any], str]:
    """The state of a judge's request for the purpose "outcome", and its text.

    `rules` are the system prompt, `first` and `last` the texts of the first and the last observation. The instruction
    is `info["instruction"]` or the one in the state; where an environment has none, the rules and the first
    observation are what the agent was told. `info["outcome_page"]` (`AgentEnv.outcome_page`) replaces a last
    observation that tells the result.
    """
    info = turns[-1][1] if turns else {}
    told = own_words(info, "instruction")
    instruction = told or "\n".join(part for part in (rules, first) if part)
    page = info.get("outcome_page")
    page = page if isinstance(page, str) else without_instruction(without_feedback(last, info), told)
    state = {
        "instruction": clean_text(instruction, MAX_CHARS),
        "actions": [action_line(action, info) for action, info in turns],
        "page": clean_text(page, MAX_CHARS),
    }
    return state, clean_text(own_words(info, "answer"), MAX_CHARS)


def own_words(info: Mapping[str, Any], name: str) -> str:
    """The instruction or the answer of an episode; empty where there is none."""
    state = info.get("state")
    for place in (info, state if isinstance(state, Mapping) and name in OWN_WORDS else {}):
        if isinstance(place.get(name), str):
            return place[name]
    return ""


def without_feedback(text: str, info: Mapping[str, Any]) -> str:
    """The last observation without the environment's remark on the last turn, which tells how the episode ended."""
    feedback = info.get("feedback")
    if not isinstance(feedback, str) or not feedback.strip():
        return text
    # The last occurrence: earlier ones may be history, or the page's own.
    before, found, after = text.rpartition(feedback)
    return before.rstrip(" ") + after.lstrip() if found else text


def without_instruction(text: str, instruction: str) -> str:
    """The last observation without the line that repeats the instruction, which a judge is told anyway."""
    line = f"Instruction: {instruction.replace('<', '(')}\n"
    return text.replace(line, "", 1) if instruction else text


def action_line(action: Any, info: Mapping[str, Any]) -> str:
    """A turn on one line: in the environment's words (`info["told_actions"]`) where it has some."""
    told = info.get("told_actions")
    if isinstance(told, (list, tuple)) and told and all(isinstance(each, str) for each in told):
        return quote_line(", ".join(told) + ("" if info.get("valid", True) else " (invalid)"))
    return quote_line(what_was_done(action, dict(info)))


def quote_line(text: str) -> str:
    """On one line, so that no action can pass for two."""
    return " ".join(clean_text(text, 2000).split()) or quote("")
