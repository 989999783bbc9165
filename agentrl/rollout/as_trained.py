"""Playing a policy as it was trained: its prompt style, the form of its replies and its limits."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentrl.models.prompt_settings import LIMITS, PROMPT_WRAPPERS, as_trained, settings_of
from agentrl.rollout.prompts import HISTORY

log = logging.getLogger(__name__)

Layers = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Prompting:
    """How to play a policy in an environment."""

    prompt_style: str
    history: int
    wrappers: Layers
    env_kwargs: dict[str, Any]


def prompting(
    policy: Any,
    env_id: str,
    *,
    prompt_style: str | None = None,
    history: int | None = None,
    wrappers: Layers | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Prompting:
    """What is given, and for the rest what a trained policy carries; a warning wherever the two differ."""
    kwargs = dict(env_kwargs or {})
    given = {"prompt_style": prompt_style, "history": history, **prompt_options(wrappers)}
    limits = {name: kwargs.get(name) for name in LIMITS}
    chosen, notes = as_trained(settings_of(policy), env_id, given | limits)
    for note in notes:
        log.warning(note)
    return Prompting(
        prompt_style=chosen["prompt_style"] or "conversation",
        history=HISTORY if chosen["history"] is None else chosen["history"],
        wrappers=layers(**{name: chosen[name] for name in prompt_options(None)}) if wrappers is None else wrappers,
        env_kwargs=kwargs | {name: chosen[name] for name in LIMITS if chosen[name] is not None},
    )


def layers(strategy: str | None, representation: str | None, wrap: Layers | None) -> list[Any]:
    """The wrappers that the settings of a policy ask for, inside first."""
    further = list(wrap or ())
    if not strategy:
        return further
    form = {"wrapper": "Reasoning", "strategy": strategy, "representation": representation or "natural"}
    # The form of replies goes around what takes replies apart, and inside what only adds to observations.
    inner = [layer for layer in further if _name(layer) == "ToolCalls"]
    return [*inner, form, *(layer for layer in further if layer not in inner)]


def with_judge(wrappers: Layers, reward: Mapping[str, Any]) -> list[Any]:
    """The same with a reward for what replies say around the wrapper that prescribes their form."""
    place = next(place for place, layer in enumerate(wrappers, 1) if _name(layer) == "Reasoning")
    return [*wrappers[:place], reward, *wrappers[place:]]


def prompt_options(wrappers: Layers | None) -> dict[str, Any]:
    """Strategy, representation and further wrappers of a stack, where they change prompts; None where none is given."""
    if wrappers is None:
        return {"strategy": None, "representation": None, "wrap": None}
    form = next((layer for layer in wrappers if _name(layer) == "Reasoning"), None)
    return {
        "strategy": "" if form is None else form.get("strategy", "free_think"),
        "representation": "natural" if form is None else form.get("representation", "natural"),
        "wrap": tuple(dict(layer) for layer in wrappers if _name(layer) in PROMPT_WRAPPERS),
    }


def _name(layer: Any) -> Any:
    """Of a wrapper; None for what a person typed that is no wrapper, which is refused where the stack is built."""
    return layer.get("wrapper") if isinstance(layer, Mapping) else None
