"""Recorded model calls as trajectories: one step a call, with the tokens that the engine reported."""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory, picture_hash

if TYPE_CHECKING:
    from agentrl.rollout.call_pool import Call

UNKNOWN = "reward"  # the pending term of a session whose reward has not come yet


@dataclass
class Reading:
    """A session as it was read: its calls, the rewards of the whole and of each call, its marks."""

    name: str
    calls: list[Call]
    whole: dict[str, float]
    parts: list[dict[str, float]]
    marks: dict[str, Any]


def trajectory_of(session: Reading, branch: int | None = None) -> Trajectory:
    """All calls in order, or those of the branch that ends with a call.

    The prompts of a branch extend each other and share token sequences; a call that opens a branch begins a new one.
    """
    calls = session.calls
    chosen = range(len(calls)) if branch is None else [call.number for call in _line(calls, branch)]
    prompts = _whole_prompts(calls)
    marks, first = session.marks, calls[chosen[0]]
    found = Trajectory(id=session.name, policy=first.model, prompt_style="step", about={"marks": marks})
    found.group_id = None if marks.get("group") is None else str(marks["group"])
    found.task = None if marks.get("task") is None else str(marks["task"])
    found.system_prompt = "\n".join(text_of(m) for m in first.messages if m.get("role") in ("system", "developer"))
    seen: list[int] | None = None  # the tokens of the step before and its answer
    for number in chosen:
        call, prompt = calls[number], prompts[number]
        step = Step(prompt_ids=prompt, response_ids=call.response_ids, logprobs=call.logprobs, action=call.text)
        step.sampling, step.version, step.finish_reason = call.sampling, call.version, call.finish_reason
        step.observation = "\n".join(text_of(message) for message in call.messages)
        step.info = {"call": number, "parent": call.parent, "missing": call.missing}
        continues = seen is not None and prompt is not None and prompt[: len(seen)] == seen
        for picture in _pictures([call] if continues else _line(calls, number)):
            name = picture_hash(picture)
            found.pictures[name] = picture
            step.images.append(name)
        seen = None if prompt is None or call.response_ids is None else prompt + call.response_ids
        step.reward_terms = dict(session.parts[number])
        found.steps.append(step)
    last = found.steps[-1]
    for name, value in session.whole.items():
        last.reward_terms[name] = last.reward_terms.get(name, 0.0) + value
    last.pending = [] if session.whole else [UNKNOWN]
    for step in found.steps:
        step.reward = math.fsum(step.reward_terms.values())
    found.terminated = bool(session.whole)
    found.stop_reason = "terminated" if session.whole else ""
    found.add_up()
    return found


def text_of(message: dict[str, Any]) -> str:
    """The text of a message in OpenAI's form; `<image>` stands where a picture is."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        return "".join("<image>" if "image_url" in part else str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else ""


def _whole_prompts(calls: list[Call]) -> list[list[int] | None]:
    found: list[list[int] | None] = []
    for call in calls:
        whole = call.prompt_ids
        if call.shared and whole is not None and call.parent is not None:
            before, response = found[call.parent], calls[call.parent].response_ids
            if before is None or response is None or len(before) + len(response) < call.shared:
                raise ConfigError(f"call {call.number} of session {call.session!r} refers to tokens that are not there")
            whole = (before + response)[: call.shared] + whole
        found.append(whole)
    return found


def _line(calls: list[Call], number: int) -> list[Call]:
    """A call and those that it continues, the oldest first."""
    found = [calls[number]]
    while (parent := found[0].parent) is not None:
        found.insert(0, calls[parent])
    return found


def _pictures(calls: list[Call]) -> list[np.ndarray]:
    from PIL import Image

    found = []
    for message in (message for call in calls for message in call.messages):
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            url = (part.get("image_url") or {}).get("url", "") if isinstance(part, dict) else ""
            if url.startswith("data:image/"):
                try:
                    with Image.open(
                        io.BytesIO(base64.b64decode(url.partition(",")[2])), formats=("PNG", "JPEG")
                    ) as file:
                        found.append(np.asarray(file.convert("RGB")))
                except Exception as error:  # damaged pictures fail in as many ways as there are decoders
                    raise ConfigError(f"a picture of call {calls[-1].number} cannot be read: {error}") from error
    return found
