"""`Reasoning`: the agent replies in one of five forms, and is paid for keeping to it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.core.response import STRATEGIES as STRATEGIES
from agentrl.core.response import Response as Response
from agentrl.core.response import build_response as build_response
from agentrl.core.response import check_strategy, fields_of, template
from agentrl.core.response import parse_response as parse_response
from agentrl.core.state import REPRESENTATIONS, State
from agentrl.wrappers.base import (
    AgentWrapper,
    StepResult,
    add_term,
    replace_feedback,
    require_free_reply,
    require_no_second,
    require_text,
)

FORMAT_RULES = ("effective", "paper")
_MEANINGS = {
    "think": "think: your reasoning, in your own way",
    "observation": "observation: what is the case now",
    "reasoning": "reasoning: what you conclude and why",
    "prediction": "prediction: what will be the case after your actions",
    "answer": "answer: your actions and nothing else",
}
_MANNERS = {
    "natural": "in plain sentences",
    "symbolic": "as a drawing in characters",
    "structured": "as a dictionary of positions and quantities",
}


class Reasoning(AgentWrapper):
    """Asks for a reply in the form of a strategy, checks it strictly and rewards it.

    The whole reply must match: the strategy's tags once each and in order, no other tags of this family, only white
    space outside, no blank field. Then `info["format"]` is True, `info["observation"]` and `info["prediction"]` hold
    what was written there, and the term `format` adds `format_reward` if the turn deserves it by `format_rule`:

    - `"effective"`: no reply that ignores the task may live on its form. A turn is paid only if its actions were valid
      (else `info["unpaid"]` is "invalid"), every part says something (the dots of the template do not: "template"), the
      true state changed ("unchanged") and no more turns were paid than right play of this task takes ("enough"; no
      limit where `actions_needed()` of the environment is None). Where the environment says what a solved task pays
      (`task_reward`), words pay less if need be: over all paid turns each weight of 0.5 comes to at most a quarter of
      that, so that three of them stay below it. `ReasoningReward` follows the same rule.
    - `"paper"`: every strict reply is paid, as in the VAGEN paper.

    A broken reply has `info["format"]` False, "format" as `info["fault"]` and `info["unpaid"]`, and still runs whatever
    the environment can read in it by the common rule: the content of exactly one closed answer pair, or all of it when
    there is no answer tag. So form and action are judged separately (`format` and `valid`), and an agent that acts well
    but writes untidily is told so instead of being stopped.

    `format`, `observation`, `prediction` and `unpaid` are None after a reset.
    """

    def __init__(
        self,
        env: gym.Env,
        strategy: str = "free_think",
        representation: str = "natural",
        format_reward: float = 0.5,
        format_rule: str = "effective",
    ) -> None:
        form = {"strategy": strategy, "representation": representation}
        super().__init__(env, **form, format_reward=format_reward, format_rule=format_rule)
        require_text(env, "Reasoning", asks_for_form=True)
        require_free_reply(env, "Reasoning")
        require_no_second(env, Reasoning)
        self.strategy = check_strategy(strategy)
        able = getattr(self.unwrapped, "representations", frozenset())
        if representation not in REPRESENTATIONS or representation not in able:
            name = type(self.unwrapped).__name__
            known = ", ".join(word for word in REPRESENTATIONS if word in able) or "none"
            raise ConfigError(f"representation {representation!r} is not one that {name} supports ({known})")
        self.representation = representation
        self.format_reward = finite_number("format_reward", format_reward)
        if format_rule not in FORMAT_RULES:
            raise ConfigError(f"format_rule must be one of {', '.join(FORMAT_RULES)}; got {format_rule!r}")
        self.format_rule = format_rule
        self._left: int | None = None  # turns that may still be paid in this episode; None: all
        self.scale = 1.0  # of all that is paid for words in this episode
        self.memory = () if format_rule == "paper" else ("_left", "scale")

    # ------------------------------------------------------------------ turns

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Nothing has been written yet: format, observation, prediction and unpaid are None."""
        obs, info = self.env.reset(seed=seed, options=options)
        # In how many turns right play does this task; None where the environment cannot say.
        actions = None if self.format_rule == "paper" else self.unwrapped.actions_needed()
        per_turn = self.env.get_wrapper_attr("max_actions_per_turn") if actions is not None else 1
        self._left = None if actions is None else math.ceil(actions / per_turn)
        solved = None if self.format_rule == "paper" else getattr(self.unwrapped, "task_reward", None)
        if solved is not None:
            self.scale = min(1.0, max(0.0, solved) / (2 * (self._left or self.unwrapped.max_turns)))
        return obs, {**info, "format": None, "observation": None, "prediction": None, "unpaid": None}

    def step(self, action: Any) -> StepResult:
        """Run what the environment reads in the reply; judge the form of the whole."""
        reply = parse_response(action, self.strategy)
        before = self._anchor()
        obs, reward, terminated, truncated, info = self.env.step(action)
        info = {**info, "format": reply.strict, "observation": reply.observation, "prediction": reply.prediction}
        info["unpaid"] = unpaid = self._unpaid(reply, before, info)
        if unpaid == "episode_over":  # no turn took place: nothing to earn, nothing to blame on the form
            return obs, reward, terminated, truncated, info
        if unpaid == "format":
            info["fault"] = "format"
            said = info.get("feedback", "")
            obs, info = replace_feedback(obs, info, f"{said} Format: {reply.problem}.".lstrip())
        elif unpaid is None:
            reward, info = add_term(reward, info, "format", self.scale * self.format_reward)
            self._left = None if self._left is None else self._left - 1
        return obs, reward, terminated, truncated, info

    def _unpaid(self, reply: Response, before: str, info: dict[str, Any]) -> str | None:
        """Why this turn earns nothing for what was written; None if it does."""
        if info.get("fault") == "episode_over":
            return "episode_over"
        if not reply.strict:
            return "format"
        if self.format_rule == "paper":
            return None
        if not info.get("valid"):
            return "invalid"
        parts = [part for part in (reply.observation, reply.reasoning, reply.prediction) if part is not None]
        if not all(any(character.isalnum() for character in part) for part in parts):  # like the template's dots
            return "template"
        if before == self._anchor():
            return "unchanged"
        return "enough" if self._left == 0 else None

    def _anchor(self) -> str:
        """The true state of this moment, to be compared with that after the turn."""
        return "" if self.format_rule == "paper" else self.unwrapped.state().anchor()

    def _rules(self) -> str:
        fields = fields_of(self.strategy)
        lines = [
            "Reply in exactly this form, each tag once and nothing outside the tags; it replaces any other way of "
            "replying described so far:",
            template(self.strategy),
            "; ".join(_MEANINGS[field] for field in fields) + ".",
        ]
        described = [field for field in fields if field in ("observation", "prediction")]
        if described:
            guide = self.unwrapped.guide(self.representation) if hasattr(self.unwrapped, "guide") else ""
            lines.append(f"Write the {' and the '.join(described)} {_MANNERS[self.representation]}. {guide}".rstrip())
        return "\n".join(lines)

    # ------------------------------------------------------------------ the truth

    def gold(self) -> str | None:
        """A whole truthful reply: what is, why, what will be, and the oracle's turn; None where the oracle has none."""
        turn = self.env.get_wrapper_attr("oracle")()
        return None if turn is None else self.truthful(turn)

    def truthful(self, turn: str, detour: Sequence[str] = ()) -> str:
        """A reply that says the truth around any turn, a foolish one too.

        With a `detour`, turns that are not really taken, it tells the truth about where those would have led: a reply
        in the right form that is wrong about the place the agent is in.
        """
        fields = fields_of(self.strategy)
        texts = {"answer": turn, "reasoning": f"From here a right turn is: {turn}."}
        texts["think"] = texts["reasoning"]
        if "observation" in fields:
            texts["observation"] = describe(self._state_after(*detour), self.representation)
        if "prediction" in fields:
            texts["prediction"] = describe(self._state_after(*detour, turn), self.representation)
        return build_response(self.strategy, texts)

    def _state_after(self, *turns: Any) -> State:
        """The state that turns would lead to. Only the environment itself is forked and stepped, so that wrappers with
        effects outside (recorders, statistics) never hear of it."""
        base = self.unwrapped
        if not turns:
            return base.state()
        blob, render_mode = base.snapshot(), base.render_mode
        rng, drawn = base.np_random, base.np_random.bit_generator.state
        try:
            base.render_mode = None  # a window must not show what has not happened
            for turn in turns:
                layer: gym.Env = self.env
                while isinstance(layer, gym.Wrapper):  # to the action that the environment itself takes
                    # Asked of the class: a wrapper may well keep its last action under this name.
                    if callable(getattr(type(layer), "action", None)):
                        turn = layer.action(turn)  # pyright: ignore[reportAttributeAccessIssue]
                    layer = layer.env
                base.step(turn)
            return base.state()
        finally:
            base.render_mode = render_mode
            base.restore(blob)
            rng.bit_generator.state = drawn
            base._np_random = rng  # a new generator would mean a new episode to those who play


def describe(state: State, representation: str) -> str:
    """A state as a reply would say it: sentences, a drawing or JSON."""
    said = state.represent(representation)
    if representation == "natural":
        return " ".join(f"{sentence.rstrip('.')}." for sentence in said)
    return said if isinstance(said, str) else json.dumps(said)
