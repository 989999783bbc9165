"""`OutcomeJudge`: did the agent do what it was told? A probability from the model's first token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec

from agentrl.core.arguments import whole_number
from agentrl.core.claims import Claims
from agentrl.core.completion import Completion, Malformed
from agentrl.core.errors import ConfigError
from agentrl.core.judging import JudgeRequest, Purpose
from agentrl.judges.base import EndpointJudge, Question
from agentrl.judges.fitting import what_works
from agentrl.judges.prompting import Filled, Prompt, clean, fill, find_prompt, tail
from agentrl.judges.reply import yes_chance


class Chance(msgspec.Struct):
    """How likely YES is among YES and NO, and how likely the model was to say either."""

    yes: Annotated[float, msgspec.Meta(ge=0, le=1)]
    mass: Annotated[float, msgspec.Meta(ge=0, le=1)]


class OutcomeJudge(EndpointJudge):
    """The probability that a web task was done: P(YES) / (P(YES) + P(NO)) of the first token of the answer.

    A request has the purpose "outcome" and a state with `instruction` (text), `actions` (a list of texts, oldest first)
    and `page` (the text of the last page); its own `text` is the agent's final answer, if it gave one. The endpoint
    must return log-probabilities, and the model must answer at once: switch off "thinking" where a model does it
    (`extra_body={"chat_template_kwargs": {"enable_thinking": False}}` for vLLM).
    """

    kind: ClassVar[str] = "outcome"

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        top_logprobs: int = 20,
        max_page: int = 12_000,
        max_actions: int = 6_000,
        **limits: Any,
    ) -> None:
        super().__init__(model, base_url, **{"max_tokens": 1, **limits})
        self.top_logprobs = whole_number("top_logprobs", top_logprobs, at_least=2, at_most=20)
        self.max_page = whole_number("max_page", max_page, at_least=16)
        self.max_actions = whole_number("max_actions", max_actions, at_least=16)

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this judge again."""
        own = {"top_logprobs": self.top_logprobs, "max_page": self.max_page, "max_actions": self.max_actions}
        return {**super().to_json(), **own}

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse everything but outcomes."""
        for purpose in purposes:
            if purpose != "outcome":
                raise ConfigError(f"judge 'outcome' scores finished tasks, not {purpose!r}; {what_works(claims)}")

    def _body(self, request: JudgeRequest) -> dict[str, Any]:
        return {**super()._body(request), "logprobs": True, "top_logprobs": self.top_logprobs}

    def _compose(self, request: JudgeRequest) -> tuple[Prompt, Filled]:
        if request.purpose != "outcome":
            raise ConfigError(f'the purpose must be "outcome"; got {request.purpose!r}')
        instruction, actions, page = _parts(request.state)
        history = "\n".join(f"{number}. {clean(each, 500)}" for number, each in enumerate(actions, 1))
        values = {
            "instruction": clean(instruction, self.max_text),
            "actions": tail(history, self.max_actions) or "(none)",
            "page": clean(page, self.max_page) or "(empty)",
            "text": clean(request.text, self.max_text) or "(none)",
        }
        prompt = find_prompt("web", "outcome", "logprob", self.prompts)
        return prompt, fill(prompt, values)

    def _read(self, completion: Completion, question: Question) -> Any:
        chance, mass = yes_chance(completion)
        return {"yes": chance, "mass": mass}

    def _admit(self, value: Any) -> Any:
        try:
            return msgspec.convert(value, Chance)
        except msgspec.ValidationError as error:
            raise Malformed(f"the stored answer must be a probability: {error}") from None

    def _decide(self, request: JudgeRequest, answer: Chance) -> tuple[float, str, dict[str, Any]]:
        return answer.yes, "outcome:logprob", {"yes": answer.yes, "mass": answer.mass}


def _parts(state: Any) -> tuple[str, Sequence[str], str]:
    """Instruction, actions and page of a state, each of the right type."""
    if not isinstance(state, dict):
        state = state.to_json()
    missing = [name for name in ("instruction", "actions", "page") if name not in state]
    if missing:
        raise ConfigError(f"the state has no {', '.join(missing)}")
    instruction, actions, page = state["instruction"], state["actions"], state["page"]
    if not isinstance(instruction, str) or not isinstance(page, str):
        raise ConfigError("instruction and page must be text")
    if not isinstance(actions, (list, tuple)) or not all(isinstance(each, str) for each in actions):
        raise ConfigError("actions must be a list of texts")
    return instruction, actions, page
