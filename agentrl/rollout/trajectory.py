"""The record of an episode: what was seen, answered, earned and still owed, step by step.

Records are plain data. `to_json()` and `from_json()` are exact inverses (pictures aside, which live in files of their
own, named by content), so that whatever was written can be judged, shown or trained on later.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from agentrl.core.errors import ConfigError

SCHEMA = 2  # of the files: since 2 prompt tokens may be stored as what changed since the step before
READABLE = (1, 2)
SHORTEST = 8  # tokens a prompt must share with the one before to be written as a delta


@dataclass(kw_only=True)
class Step:
    """One turn. Token fields are None where the policy knows no tokens."""

    observation: str = ""  # its text; `images` stand at the <image> marks, in order
    images: list[str] = field(default_factory=list)  # content hashes, in the order of the observation
    proprio: list[float] | None = None  # the robot's own state, where the observation has it
    state: list[float] | None = None  # the vector of that name, likewise (`info["state"]` is the truth by names)
    gold: dict[str, Any] | None = None  # what was right here, where the wrapper `GoldInfo` tells it
    action: Any = None  # what env.step got; arrays as lists, a chunk as a list of lists
    response: str | None = None  # what the policy said, where that is something else
    prompt_ids: list[int] | None = None
    response_ids: list[int] | None = None
    logprobs: list[float] | None = None
    sampling: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    finish_reason: str = "stop"
    reward: float = 0.0  # over the known terms
    reward_terms: dict[str, float] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)  # terms a judge still owes
    info: dict[str, Any] = field(default_factory=dict)  # the rest of what the environment said

    def set_terms(self, terms: Mapping[str, float]) -> None:
        """Replace the terms; the reward follows, and stays their exact sum where it was."""
        before, after = math.fsum(self.reward_terms.values()), math.fsum(terms.values())
        self.reward = after if self.reward == before else self.reward + (after - before)
        self.reward_terms = dict(terms)


@dataclass(kw_only=True)
class Trajectory:
    """An episode. `reward` is None while a term is pending, and for ever if a fault cut the episode short."""

    schema: int = SCHEMA
    id: str = ""
    group_id: str | None = None  # trajectories that are compared with each other
    steps: list[Step] = field(default_factory=list)
    env_id: str = ""
    split: str | None = None
    seed: int | None = None
    task: str | None = None
    about: dict[str, Any] = field(default_factory=dict)  # the task's group, complexity, steps (`AgentEnv.about_task`)
    spec: dict[str, Any] | None = None  # of the whole stack; None where it holds live objects
    policy: str = ""
    system_prompt: str = ""
    prompt_style: str = "conversation"  # or "step": how a step's prompt was made from what had happened
    tokenizer: str | None = None
    terminated: bool = False
    truncated: bool = False
    limit: str | None = None  # "task" or "external" where truncated
    final_observation: str = ""
    final_images: list[str] = field(default_factory=list)
    final_proprio: list[float] | None = None
    final_state: list[float] | None = None
    final_gold: dict[str, Any] | None = None
    final_prompt_ids: list[int] | None = None
    stop_reason: str = ""  # "terminated", "truncated", "fault"
    fault: dict[str, str] | None = None
    reward: float | None = None
    # Pictures by hash, as long as they are in memory only; a writer puts them into files.
    pictures: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pending(self) -> bool:
        """Does a judge still owe a term?"""
        return any(step.pending for step in self.steps)

    @property
    def success(self) -> bool:
        """Was the task done?"""
        return bool(self.steps and self.steps[-1].info.get("success"))

    @property
    def task_key(self) -> str | None:
        """What all plays of one task have in common, in short; None where nothing tells the task."""
        told = self.seed if self.task is None else self.task
        return None if told is None else hashlib.blake2b(f"{self.env_id} {told}".encode(), digest_size=4).hexdigest()

    def add_up(self) -> float | None:
        """Set `reward` to the sum of the steps, or None while that is not known."""
        unknown = self.pending or self.fault is not None
        self.reward = None if unknown else math.fsum(step.reward for step in self.steps)
        return self.reward

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, without the pictures themselves."""
        data = {name: value for name, value in vars(self).items() if name != "pictures"}
        return {**data, "steps": [dict(vars(step)) for step in self.steps]}

    @classmethod
    def from_json(cls, data: Any) -> Trajectory:
        """Inverse of `to_json`, and of `pack` after it; `ConfigError` on anything else.

        A record of an older schema comes back in the current form.
        """
        if not isinstance(data, dict) or "schema" not in data or "steps" not in data:
            raise ConfigError("not a trajectory")
        if type(data["schema"]) is not int or data["schema"] not in READABLE:
            raise ConfigError(f"the trajectory has schema {data['schema']!r}; this version reads {SCHEMA}")
        fields = {name: value for name, value in unpack(data).items() if name != "pictures"}
        try:
            return msgspec.convert({**fields, "schema": SCHEMA}, cls)
        except msgspec.ValidationError as error:
            raise ConfigError(f"the trajectory cannot be read: {error}") from error


def picture_hash(picture: np.ndarray) -> str:
    """The name of a picture: equal pixels, equal name."""
    head = f"{picture.dtype.str}{picture.shape}".encode()
    return hashlib.blake2b(head + np.ascontiguousarray(picture).tobytes(), digest_size=16).hexdigest()


PLAIN = {str, int, bool, type(None)}  # nearly everything is one of them


def plain(value: Any) -> Any:
    """Whatever an environment put into `info`, as JSON types: arrays as lists, what JSON cannot say by its type."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {str(key): item if type(item) in PLAIN else plain(item) for key, item in value.items()}
    if kind is list or isinstance(value, (list, tuple, set, frozenset)):
        # Asking for all types at once is twice as quick, and states are mostly short lists of numbers.
        kinds = set(map(type, value))
        if kinds <= PLAIN or (kinds == {float} and math.isfinite(sum(value))):
            return list(value)
        return [plain(item) for item in value]
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray) and value.dtype.char in "fd" and np.isfinite(value).all():
        return value.tolist()  # a robot's chunk of controls, in one pass
    if isinstance(value, (np.ndarray, np.generic)) and type(inner := value.tolist()) is not type(value):
        return plain(inner)
    return f"<{type(value).__name__}>"


# ---------------------------------------------------------------------- prompt tokens as what changed
#
# The prompt of a step repeats most of the one before it: in a conversation all of it and the answer, in step style the
# rules at its head. Written out in full, the tokens of an episode grow with the square of its turns. In a file a prompt
# is therefore `{"shared": n, "ids": [...]}`: the first n tokens of the previous step's prompt and response, then these.
# A plain list stands for itself. In memory prompts are always whole.


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
