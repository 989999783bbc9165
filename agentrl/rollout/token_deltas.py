"""Prompt tokens as what changed since the step before.

The prompt of a step repeats most of the one before it: in a conversation all of it and the answer, in step style the
rules at its head. Written out in full, the tokens of an episode grow with the square of its turns. In a file a prompt
is therefore `{"shared": n, "ids": [...]}`: the first n tokens of the previous step's prompt and response, then these.
A plain list stands for itself. In memory prompts are always whole.
"""

from __future__ import annotations

from typing import Any

from agentrl.core.errors import ConfigError

SHORTEST = 8  # tokens; for fewer the notation is longer than what it saves


def pack(data: dict[str, Any]) -> dict[str, Any]:
    """A trajectory's JSON with its prompts as deltas; `data` itself stays as it is."""
    steps, before = [], None
    for step in data["steps"]:
        steps.append({**step, "prompt_ids": _delta(step["prompt_ids"], before)})
        before = _written(step)
    return {**data, "steps": steps, "final_prompt_ids": _delta(data["final_prompt_ids"], before)}


def unpack(data: dict[str, Any]) -> dict[str, Any]:
    """Inverse of `pack`; `ConfigError` where a delta refers to tokens that are not there.

    Only what is needed to follow the deltas is checked; whole prompts pass through.
    """
    if not isinstance(data["steps"], list):
        return data
    steps, before = [], None
    for step in data["steps"]:
        if isinstance(step, dict):
            step = _whole(step, "prompt_ids", before)
            before = _written(step)
        steps.append(step)
    return _whole({**data, "steps": steps}, "final_prompt_ids", before)


def _written(step: dict[str, Any]) -> list[int] | None:
    """Everything the model had seen and said at the end of a step; None where that is not known."""
    prompt, response = step.get("prompt_ids"), step.get("response_ids")
    if not isinstance(prompt, list):
        return None
    return prompt + response if isinstance(response, list) else prompt


def _delta(ids: list[int] | None, before: list[int] | None) -> list[int] | dict[str, Any] | None:
    if ids is None or before is None:
        return ids
    shared = common_prefix(ids, before)
    return ids if shared < SHORTEST else {"shared": shared, "ids": ids[shared:]}


def _whole(data: dict[str, Any], name: str, before: list[int] | None) -> dict[str, Any]:
    delta = data.get(name)
    if not isinstance(delta, dict):
        return data
    shared, ids = delta.get("shared"), delta.get("ids")
    known = type(shared) is int and before is not None and 0 <= shared <= len(before)
    if not known or not isinstance(ids, list):
        raise ConfigError(f"the trajectory cannot be read: its {name} refer to tokens that are not there")
    return {**data, name: (before or [])[:shared] + ids}


def common_prefix(first: list[int], second: list[int]) -> int:
    """How many tokens two lists share at their head."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:  # the usual case, without a loop
        return length
    return next(place for place in range(length) if first[place] != second[place])
