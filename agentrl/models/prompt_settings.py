"""How a policy was prompted while it was trained: kept beside its weights, so that it is prompted the same way later.

A model that learned from the current observation alone is at a loss in front of a whole conversation, and the other way
round. So a checkpoint carries its prompt style, the form of its replies and its limits, and whatever plays or trains it
further takes them from there unless it is told otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from agentrl.core.errors import ConfigError
from agentrl.core.response import STRATEGIES

log = logging.getLogger(__name__)

FILE = "agentrl_prompting.json"
MAX_BYTES = 64_000
LIMITS = ("max_turns", "max_actions_per_turn")  # arguments of an environment that its prompt states
# Besides the form of replies, which has a field of its own. A file cannot name other wrappers: a folder that comes from
# somewhere else must not choose code to run.
PROMPT_WRAPPERS = ("ToolCalls", "History")
AtLeast0 = Annotated[int, msgspec.Meta(ge=0)]
AtLeast1 = Annotated[int, msgspec.Meta(ge=1)]


class PromptSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy was shown and asked for while it was trained."""

    schema: Literal[1] = 1
    environments: tuple[str, ...] = ()
    prompt_style: Literal["conversation", "step", "webrl"] = "conversation"
    history: AtLeast0 = 3
    # None: it differed between the environments of a mix.
    strategy: str | None = ""  # of the Reasoning wrapper; empty: none
    representation: str | None = "natural"
    wrap: tuple[dict[str, Any], ...] | None = ()  # further wrappers that change prompts, inside first
    max_new_tokens: AtLeast1 = 128
    limits: dict[str, AtLeast1] = {}  # where they are not the environment's own

    def __post_init__(self) -> None:
        if self.strategy not in (None, "", *STRATEGIES):
            raise ValueError(f"unknown strategy {self.strategy!a}")
        if any(layer.get("wrapper") not in PROMPT_WRAPPERS for layer in self.wrap or ()):
            raise ValueError(f"wrap may hold {', '.join(PROMPT_WRAPPERS)} only")
        if not set(self.limits) <= set(LIMITS):
            raise ValueError(f"limits may hold {', '.join(LIMITS)} only")

    def values(self, env_id: str) -> dict[str, Any]:
        """By name, for one environment; limits hold in those it was trained in."""
        shared = ("prompt_style", "history", "strategy", "representation", "wrap")
        known = {name: value for name in shared if (value := getattr(self, name)) is not None}
        return known | (self.limits if env_id in self.environments else {})


def write_settings(folder: Path, settings: PromptSettings) -> None:
    """Put them beside the weights."""
    content = msgspec.json.format(msgspec.json.encode(settings), indent=1)
    (folder / FILE).write_bytes(content + b"\n")


def read_settings(folder: str | Path) -> PromptSettings | None:
    """Those of a model folder; None where it has none, as models from elsewhere."""
    path = Path(folder).expanduser() / FILE
    try:
        if "\0" in str(path) or not path.is_file():
            return None
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        return msgspec.json.decode(content, type=PromptSettings)
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise ConfigError(f"{path} is damaged ({error}); remove it to prompt the model in a way of your own") from error


def settings_of(policy: Any) -> PromptSettings | None:
    """Those of a policy, or of the model that its name points to; None where it was not trained here."""
    if not isinstance(policy, str):
        return getattr(policy, "prompt_settings", None)
    kind, _, model = policy.partition(":")
    return read_settings(model) if kind in ("hf", "vllm", "vla") and model else None


def longest_reply(settings: PromptSettings | None, given: int | None, usual: int = 128) -> int:
    """`max_new_tokens` of a policy: as given, else as it was trained; a warning where the two differ."""
    if given is not None and settings is not None and given != settings.max_new_tokens:
        log.warning(*differences({"max_new_tokens": settings.max_new_tokens}, {"max_new_tokens": given}))
    return given if given is not None else usual if settings is None else settings.max_new_tokens


def as_trained(
    settings: PromptSettings | None, env_id: str, given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """What to use: what was given, else what the policy was trained with; and where the two differ, in words.

    None means that nothing was given; it stays None where there are no settings.
    """
    known = {} if settings is None else settings.values(env_id)
    chosen = {name: known.get(name) if value is None else value for name, value in given.items()}
    return chosen, differences(known, chosen)


def differences(known: Mapping[str, Any], chosen: Mapping[str, Any]) -> list[str]:
    """One sentence for each setting that differs and matters."""
    unused = {"history"} if chosen.get("prompt_style") != "step" else set()
    unused |= set() if chosen.get("strategy") else {"representation"}
    return [
        f"the model was trained with {name}={_shown(known[name])}; it is used with {name}={_shown(value)}"
        for name, value in chosen.items()
        if name in known and name not in unused and _plain(value) != _plain(known[name])
    ]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if value is None:
        return "the environment's own"
    return msgspec.json.encode(value).decode() if isinstance(value, (list, tuple)) else str(value) or "none"
