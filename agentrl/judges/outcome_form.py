"""How a judge of outcomes is asked: the parts of a request, cleaned and cut, as messages for a chat model.

An endpoint (`OutcomeJudge`) and a model in this process (`ORMJudge`, `agentrl train orm`) are asked in the same words.
There are two forms. "full" explains the question and puts every part between marks with a number that no page can know.
"compact" is for models that are trained for this question alone, from scratch perhaps: each part is a message of its
own, in a fixed order, and only the chat template can begin or end a message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from agentrl.core.errors import ConfigError
from agentrl.core.judging import JudgeRequest
from agentrl.judges.prompting import Filled, Prompt, clean, fill, find_prompt, tail

FILE = "agentrl_orm.json"
MAX_BYTES = 64_000
LEAST = 16  # characters that are left of a part, however little room there is
SHRINK = 0.8
CUT_FIRST = ("page", "actions", "instruction", "text")
ACTION_CHARS = 500
Cap = Annotated[int, msgspec.Meta(ge=LEAST)]
Form = Literal["full", "compact"]
FORMS: tuple[Form, ...] = ("full", "compact")


class OutcomeForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form of the question and its limits in characters; a trained model keeps them beside its weights."""

    schema: Literal[1] = 1
    form: Form = "full"
    max_text: Cap = 4000  # of the instruction, and of the answer
    max_actions: Cap = 6000  # of the history; its end is kept
    max_page: Cap = 12_000
    environments: tuple[str, ...] = ()  # that the model was trained in

    def question(self, request: JudgeRequest, prompts: Path | None = None) -> tuple[Prompt, dict[str, str]]:
        """The prompt for a request's environment, and the values to fill in."""
        if request.purpose != "outcome":
            raise ConfigError(f'the purpose must be "outcome"; got {request.purpose!r}')
        return find_prompt(request.env_id, "outcome", "logprob", prompts), self.values(request)

    def values(self, request: JudgeRequest) -> dict[str, str]:
        """The four parts as harmless text within the limits."""
        instruction, actions, page = outcome_parts(request.state)
        history = "\n".join(f"{number}. {clean(each, ACTION_CHARS)}" for number, each in enumerate(actions, 1))
        return {
            "instruction": clean(instruction, self.max_text),
            "actions": tail(history, self.max_actions) or "(none)",
            "page": clean(page, self.max_page) or "(empty)",
            "text": clean(request.text, self.max_text) or "(none)",
        }

    def messages(self, request: JudgeRequest, prompts: Path | None = None) -> list[dict[str, str]]:
        """What the model is shown; equal for equal requests."""
        prompt, values = self.question(request, prompts)
        return self.filled(prompt, values, own_fence(values)).messages

    def filled(self, prompt: Prompt, values: dict[str, str], fence: str | None = None) -> Filled:
        """The messages of a question; `fence` is a new random number unless given."""
        whole = fill(prompt, values, fence)
        if self.form == "full":
            return whole
        parts = [{"role": "user", "content": values[name]} for name in ("actions", "page", "text")]
        messages = [{"role": "system", "content": values["instruction"]}, *parts]
        return Filled(messages, whole.code, json.dumps(["compact", messages]))

    def fitted(self, request: JudgeRequest, encode: Callable[[Any], Sequence[int]], room: int) -> list[int]:
        """The tokens of a request, at most `room`: the page is cut first, then the oldest actions.

        `encode` turns messages into tokens. `ConfigError` where even the frame does not fit.
        """
        prompt, values = self.question(request)
        while True:
            ids = list(encode(self.filled(prompt, values, own_fence(values)).messages))
            if len(ids) <= room:
                return ids
            part = next((name for name in CUT_FIRST if len(values[name]) > LEAST), None)
            if part is None:
                raise ConfigError(f"the question takes {len(ids)} tokens without its contents; the model reads {room}")
            values[part] = shorter(part, values[part])


def shorter(part: str, text: str) -> str:
    """A smaller part of a text: the end of a history, the beginning of anything else."""
    size = max(LEAST, int(len(text) * SHRINK))
    return tail(text, size) if part == "actions" else text[:size]


def own_fence(values: dict[str, str]) -> str:
    """A mark that follows from the contents: the same in every run, and no content can hold the hash of itself."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def outcome_parts(state: Any) -> tuple[str, Sequence[str], str]:
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


# ---------------------------------------------------------------------- beside the weights


def write_form(folder: Path, form: OutcomeForm) -> None:
    """Put it beside the weights."""
    (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(form), indent=1) + b"\n")


def read_form(folder: str | Path) -> OutcomeForm | None:
    """That of a model folder; None where the model was not trained as a judge of outcomes."""
    path = Path(folder).expanduser() / FILE
    if not path.is_file():
        return None
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        return msgspec.json.decode(content, type=OutcomeForm)
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise ConfigError(f"{path} is damaged ({error}); copy it from the run again") from error
