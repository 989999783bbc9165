"""`LLMJudge`: a language model at any OpenAI-compatible endpoint compares a text with the truth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeVar

import msgspec

from agentrl.core.claims import Claims
from agentrl.core.completion import Completion, Malformed
from agentrl.core.env_class import claims_of
from agentrl.core.errors import ConfigError
from agentrl.core.judging import JudgeRequest, Purpose
from agentrl.core.state import State
from agentrl.judges.base import EndpointJudge, Question
from agentrl.judges.extraction import check_scorable, closed, extraction_of, reply_type, score_reply
from agentrl.judges.fitting import is_readable
from agentrl.judges.prompting import Filled, Prompt, clean, fill, find_prompt

Fitted = TypeVar("Fitted")
PROTOCOLS = ("verdict", "extract")
VERDICTS = {"type": "string", "enum": ["YES", "NO"]}
VERDICT_SCHEMA = closed({"code": {"type": "string"}, "reasoning": {"type": "string"}, "verdict": VERDICTS})
FORMATS = ("json_schema", "json_object", "none")
MAX_FACTS = 16_000  # characters of truth in a prompt


class VerdictReply(msgspec.Struct, forbid_unknown_fields=True):
    """The whole message under the protocol "verdict"."""

    code: str
    reasoning: str
    verdict: Literal["YES", "NO"]


class LLMJudge(EndpointJudge):
    """Asks a model about each text and reads its answer strictly.

    - `protocol="verdict"`: the model sees the truth and answers YES (1) or NO (0).
    - `protocol="extract"`: the model never sees the truth; it lists what the text claims (relations, directions or
      points), and code scores that as the rule judge does. For states that declare one of these.

    `response_format` asks the server to hold the model to the schema ("json_schema"), to JSON ("json_object"), or not
    at all ("none", for servers that know neither); replies are checked here either way. Replies are cached by prompt,
    model name and parameters: give two different models two different names. See `EndpointJudge` for the limits.
    """

    kind: ClassVar[str] = "llm"

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        protocol: str = "verdict",
        response_format: str = "json_schema",
        **limits: Any,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise ConfigError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}")
        if response_format not in FORMATS:
            raise ConfigError(f"response_format must be one of {', '.join(FORMATS)}; got {response_format!r}")
        super().__init__(model, base_url, **limits)
        self.protocol, self.response_format = protocol, response_format

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this judge again."""
        return {**super().to_json(), "protocol": self.protocol, "response_format": self.response_format}

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse what there is no prompt for, and extraction where nothing is declared to score it by."""
        if self.protocol == "extract" and (claims is None or not is_readable(claims)):
            raise ConfigError(
                f"judge 'llm' with protocol 'extract' needs declared relations, a bearing or points, which {env_id} "
                "lacks; use protocol='verdict'"
            )
        for purpose in purposes:
            find_prompt(env_id, purpose, self.protocol, self.prompts)

    def _body(self, request: JudgeRequest) -> dict[str, Any]:
        body = super()._body(request)
        if self.response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif self.response_format == "json_schema":
            asked = VERDICT_SCHEMA if self.protocol == "verdict" else extraction_of(claims_of(request)).schema
            schema = {"name": self.protocol, "strict": True, "schema": asked}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _compose(self, request: JudgeRequest) -> tuple[Prompt, Filled]:
        if not isinstance(request.text, str):
            raise ConfigError(f"the text to judge must be a string; got {type(request.text).__name__}")
        values = {"text": clean(request.text, self.max_text)}
        prompt = find_prompt(request.env_id, request.purpose, self.protocol, self.prompts)
        if self.protocol == "verdict":
            values["facts"] = clean(describe(request.state, request.representation), MAX_FACTS)
        else:
            check_scorable(request)  # otherwise no answer could be scored
        return prompt, fill(prompt, values)

    def _read(self, completion: Completion, question: Question) -> Any:
        verdict = self.protocol == "verdict"
        shape = VerdictReply if verdict else extraction_of(claims_of(question.request)).reply
        answer = msgspec.to_builtins(read_object(completion.text, shape, question.filled.code))
        del answer["code"]  # checked; what is cached must not depend on the call
        if verdict:
            answer["reasoning"] = clean(answer["reasoning"], 1000)
        return answer

    def _admit(self, value: Any) -> Any:
        try:
            shape = VerdictReply if self.protocol == "verdict" else reply_type(value)
            return msgspec.convert({**value, "code": ""}, shape)
        except (msgspec.ValidationError, TypeError) as error:
            raise Malformed(f"the stored answer does not fit: {error}") from None

    def _decide(self, request: JudgeRequest, answer: Any) -> tuple[float, str, dict[str, Any]]:
        if isinstance(answer, VerdictReply):
            return float(answer.verdict == "YES"), "llm:verdict", {"verdict": answer.verdict, "why": answer.reasoning}
        score, evidence = score_reply(request, answer)
        return score, "llm:extract", evidence


def describe(state: State | dict[str, Any], representation: str) -> str:
    """The truth as text: a state in the representation asked for, a dictionary as JSON."""
    told: Any = state.represent(representation) if isinstance(state, State) else state
    if isinstance(told, list):
        return "\n".join(f"- {each}" for each in told)
    return told if isinstance(told, str) else json.dumps(told, sort_keys=True, ensure_ascii=False)


def read_object(text: str, shape: type[Fitted], code: str) -> Fitted:
    """The message as exactly one JSON object of that shape that repeats the secret code of this call.

    The code is what makes a verdict the model's own: text of the policy cannot contain it, so a model that is talked
    into copying a ready-made reply copies one that does not count. Two objects, text around the object and repeated
    keys are refused: there is no "last verdict" to win. One leading block of thoughts and one code fence around
    everything else are left out.
    """
    text = text.strip()
    if text.startswith("<think>"):
        text = text.partition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    try:
        found = msgspec.convert(json.loads(text, object_pairs_hook=_distinct_keys), shape)
    except (ValueError, RecursionError) as error:  # JSON and schema errors are ValueErrors
        raise Malformed(f"not the object asked for: {error}") from None
    if found.code != code:  # type: ignore[attr-defined]
        raise Malformed("the code of this call is missing or wrong")
    return found


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("duplicate key in a JSON object")
    return found
