"""`OutcomeJudge`: did the agent do what it was told? A probability from the model's first token."""

from __future__ import annotations

import math
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
from agentrl.judges.outcome_form import FORMS, Form, OutcomeForm
from agentrl.judges.prompting import Filled, Prompt


class Chance(msgspec.Struct):
    """How likely YES is among YES and NO, and how likely the model was to say either."""

    yes: Annotated[float, msgspec.Meta(ge=0, le=1)]
    mass: Annotated[float, msgspec.Meta(ge=0, le=1)]


class OutcomeJudge(EndpointJudge):
    """The probability that a task was done: P(YES) / (P(YES) + P(NO)) of the first token of the answer.

    A request has the purpose "outcome" and a state with `instruction` (text), `actions` (a list of texts, oldest first)
    and `page` (the text of the last page); its own `text` is the agent's final answer, if it gave one. The endpoint
    must return log-probabilities, and the model must answer at once: switch off "thinking" where a model does it
    (`extra_body={"chat_template_kwargs": {"enable_thinking": False}}` for vLLM). `form="compact"` asks a small model
    that `agentrl train orm` has trained for it (see `agentrl.judges.outcome_form`).
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
        form: Form = "full",
        **limits: Any,
    ) -> None:
        super().__init__(model, base_url, **{"max_tokens": 1, **limits})
        self.top_logprobs = whole_number("top_logprobs", top_logprobs, at_least=2, at_most=20)
        if form not in FORMS:
            raise ConfigError(f"form must be one of {', '.join(FORMS)}; got {form!r}")
        self.asked = OutcomeForm(
            form=form,
            max_text=self.max_text,
            max_actions=whole_number("max_actions", max_actions, at_least=16),
            max_page=whole_number("max_page", max_page, at_least=16),
        )

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this judge again."""
        asked = {"max_page": self.asked.max_page, "max_actions": self.asked.max_actions, "form": self.asked.form}
        return {**super().to_json(), "top_logprobs": self.top_logprobs, **asked}

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse everything but outcomes."""
        for purpose in purposes:
            if purpose != "outcome":
                raise ConfigError(f"judge 'outcome' scores finished tasks, not {purpose!r}; {what_works(claims)}")

    def _body(self, request: JudgeRequest) -> dict[str, Any]:
        return {**super()._body(request), "logprobs": True, "top_logprobs": self.top_logprobs}

    def _compose(self, request: JudgeRequest) -> tuple[Prompt, Filled]:
        prompt, values = self.asked.question(request, self.prompts)
        return prompt, self.asked.filled(prompt, values)

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


def yes_chance(completion: Completion, least_mass: float = 0.01) -> tuple[float, float]:
    """(probability of YES among YES and NO, probability of either) of the first token of the answer.

    Spellings count together ("YES", " Yes", "yes"). A word that is not listed is given the most it could have: the
    chance of the least likely token listed, or what the list leaves over if that is less. A model that spells words in
    pieces answers with the first: "Y" counts for YES and "N" for NO. Neither word, or both together
    rarer than `least_mass`: the model was not answering the question.
    """
    logprobs = completion.choice.logprobs
    if logprobs is None or not logprobs.content:
        raise Malformed("no log-probabilities")
    first = logprobs.content[0]
    listed = {each.token: each.logprob for each in [first, *first.top_logprobs]}
    if any(not math.isfinite(value) or value > 1e-3 for value in listed.values()):
        raise Malformed("a log-probability above zero")
    chances = {token: math.exp(min(0.0, value)) for token, value in listed.items()}
    yes, no = (
        math.fsum(chance for token, chance in chances.items() if token.strip().casefold() in spellings)
        for spellings in (("yes", "y"), ("no", "n"))
    )
    mass = yes + no
    if mass < least_mass:
        raise Malformed("neither YES nor NO among the likely first tokens")
    unlisted = min(min(chances.values()), max(0.0, 1.0 - math.fsum(chances.values())))
    yes, no = yes or unlisted, no or unlisted
    return yes / (yes + no), min(1.0, mass)
