"""`ControlEnv`: what environments of continuous control share. A family fills in a simulator, by these hooks:

```python
class ReachEnv(ControlEnv):
    pictures = ("image", "wrist_image")            # the cameras, by their names in the observation; default ("image",)

    def __init__(self, *, max_turns: int = 100, **others: Any) -> None:
        super().__init__(max_turns=max_turns, **others)
        self._set_spaces(actions=4, proprio=7, state=10)        # or actions=a Box of the simulator's own bounds

    instruction: str                               # what is asked in this episode: an attribute or a property
    def tasks(self) -> Sequence[str]: ...          # and `_find_task`, `_begin`, `_task`, as for every AgentEnv
    def _simulate(self, action: np.ndarray) -> bool: ...     # one control step with a valid action; is the task done?
    def _frame(self, picture: str) -> np.ndarray: ...        # draw now: uint8 [image_size, image_size, 3]
    def _proprio(self) -> np.ndarray: ...          # the robot's own state, `proprio` numbers
    def _object_state(self) -> np.ndarray: ...     # everything else that matters, `state` numbers
    def _save(self) -> dict[str, Any]: ...         # with `self._index` and `self._stride`, as for every AgentEnv
    def _load(self, data: dict[str, Any]) -> None: ...
```

Optional: `_reward_terms(success)` (default: `success` 1.0 when the task is done), `_named_state()` (positions by name
for `state()`), `_extra_vectors()` and `_vector(name)` (further vectors of the observation), `oracle()` (one action, a
member of the action space).

Nothing is drawn or measured twice in one state of the simulation: `_frame`, `_proprio` and `_object_state` are asked
once, and again only after `_begin`, `_simulate` or `_load`. A hook that changes the simulation otherwise calls
`self._changed()`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import whole_number
from agentrl.core.control import OUT_OF_RANGE, action_text, describe_box, read_control
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError, EnvFault, did_you_mean
from agentrl.core.parsing import Turn
from agentrl.core.spaces import AnyText
from agentrl.core.state import State

OBS_MODES = ("image", "state")
AS_DRAWN, REVERSED = slice(None), slice(None, None, -1)
# How a picture lies in the observation: its rows and columns, taken from one that is the right way up.
CONVENTIONS = {
    "upright": (AS_DRAWN, AS_DRAWN),
    "openvla": (AS_DRAWN, REVERSED),  # mirrored left-right: robosuite's buffer with both axes reversed
    "raw": (REVERSED, AS_DRAWN),  # upside down: OpenGL's buffer, as robosuite hands it out
}


@dataclass(frozen=True)
class ControlState(State):
    """What is asked, the robot's own state, and named vectors of everything else."""

    instruction: str
    proprio: tuple[float, ...]
    objects: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def structured(self) -> dict[str, Any]:
        """The numbers, by name."""
        return {"proprio": list(self.proprio), **{name: list(values) for name, values in self.objects.items()}}

    def anchor(self) -> str:
        """The numbers, exactly; written by the fastest means, since a control step takes less than a millisecond."""
        return msgspec.json.encode(self).decode()


class ControlEnv(AgentEnv[dict[str, Any], np.ndarray]):
    """A robot moved by arrays of numbers, one control step a turn.

    - Observation, with `obs_mode="image"`: `text` (the instruction, then feedback where there is some), one picture for
      each of `pictures`, `proprio`. With `obs_mode="state"`: `text`, `proprio` and `state`; nothing is drawn. Without
      `text` (`obs_text=False`) it is arrays alone, for libraries that know no strings; the instruction is in
      `info["instruction"]` and in the attribute `instruction`.
    - Actions are arrays, lists of numbers or torch tensors, alone or as a batch of one. Finite numbers out of range are
      clipped; `info["clipped"]` counts them. With `out_of_range="refuse"` they are refused like an action of the wrong
      shape or type, or one with a NaN or an infinity: feedback, the simulation does not move, the turn counts,
      `info["valid"]` is False.
    - `picture_convention` says how pictures lie in the observation (`CONVENTIONS`); `render()` is always upright.
    - The reward is 1 when the task is done, which ends the episode, else 0. After `max_turns` it is truncated.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 20}
    state_type = ControlState
    representations = frozenset({"structured"})
    safe_arguments = ("obs_mode", "obs_text", "image_size", "picture_convention", "out_of_range")
    pictures: ClassVar[tuple[str, ...]] = ("image",)
    conventions: ClassVar[Mapping[str, tuple[slice, slice]]] = CONVENTIONS
    control_frequency: ClassVar[float] = 20.0  # actions a second of the simulated time
    instruction: str = ""
    action_space: spaces.Box  # type: ignore[reportIncompatibleVariableOverride]  # gym.Env declares any space

    def __init__(
        self,
        *,
        obs_mode: str = "image",
        obs_text: bool = True,
        image_size: int = 256,
        picture_convention: str = "upright",
        out_of_range: str = "clip",
        max_turns: int = 100,
        invalid_penalty: float = 0.0,
        **others: Any,
    ) -> None:
        obs_mode = one_of("obs_mode", obs_mode, OBS_MODES)
        if not isinstance(obs_text, bool):
            raise ConfigError(f"obs_text must be True or False; got {obs_text!r}")
        if others.get("max_actions_per_turn", 1) != 1:
            raise ConfigError("one action is one turn here; agentrl.wrappers.ActionChunks runs several")
        super().__init__(max_turns=max_turns, invalid_penalty=invalid_penalty, **others)
        self.obs_mode, self.obs_text = obs_mode, obs_text
        self.picture_convention = one_of("picture_convention", picture_convention, self.conventions)
        self._lies = self.conventions[self.picture_convention]  # rows and columns of a picture in the observation
        self.out_of_range = one_of("out_of_range", out_of_range, OUT_OF_RANGE)
        self.image_size = whole_number("image_size", image_size, at_least=16, at_most=1024)
        self._seen: dict[str, np.ndarray] = {}  # what was drawn and measured since the simulation last changed
        self._drawing = True
        self._clipped = 0  # numbers of the last action

    def _set_spaces(self, *, actions: int | spaces.Box, proprio: int, state: int) -> None:
        """Declare the spaces: how many numbers an action from -1 to 1 has (or its Box), and those of both vectors."""
        box = actions if isinstance(actions, spaces.Box) else spaces.Box(-1.0, 1.0, (actions,), np.float32)
        if len(box.shape) != 1 or not box.is_bounded():
            raise ConfigError(f"the action space must be a bounded Box of one dimension; got {box}")
        self.action_space = box
        parts: dict[str, spaces.Space] = {"text": AnyText()} if self.obs_text else {}
        parts["proprio"] = _numbers(proprio)
        parts.update({name: _numbers(count) for name, count in self._extra_vectors().items()})
        if self.obs_mode == "state":
            parts["state"] = _numbers(state)
        else:
            shape = (self.image_size, self.image_size, 3)
            parts.update({name: spaces.Box(0, 255, shape, np.uint8) for name in self.pictures})
        self.observation_space = spaces.Dict(parts)

    # ------------------------------------------------------------------ turns

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a task: the next one of this split, or exactly `options["task"]`."""
        self._changed()
        return super().reset(seed=seed, options=options)

    def _read(self, action: Any) -> Turn:
        read = read_control(action, self.action_space, self.out_of_range)
        if isinstance(read, str):
            return Turn([], read)
        self._clipped = read.clipped
        return Turn([read.values])

    def _act(self, primitive: np.ndarray) -> Outcome:
        before = self._measure("proprio"), self._measure("state")
        success = bool(self._simulate(primitive))
        self._changed()
        after = self._measure("proprio"), self._measure("state")
        moved = any(old.tobytes() != new.tobytes() for old, new in zip(before, after, strict=True))
        return Outcome(self._reward_terms(success), moved, success, success, "The task is done." if success else "")

    def _reward_terms(self, success: bool) -> dict[str, float]:
        """What one control step earned."""
        return {"success": 1.0} if success else {}

    def action_name(self, primitive: Any) -> str:
        """The numbers, rounded."""
        return action_text(primitive)

    def _info(self, actions: list[str], terms: dict[str, float], **flags: Any) -> dict[str, Any]:
        clipped, self._clipped = self._clipped, 0
        return {**super()._info(actions, terms, **flags), "instruction": self.instruction, "clipped": clipped}

    # ------------------------------------------------------------------ what is seen

    @property
    def system_prompt(self) -> str:
        """How the robot is moved, and for how long."""
        return (
            f"You move a robot to carry out an instruction. Each action is {describe_box(self.action_space)}. "
            f"An episode has at most {self.max_turns} actions."
        )

    @contextmanager
    def without_pictures(self) -> Iterator[None]:
        """Observations have black pictures inside, except the last one of an episode: for callers that will not look.
        `render()` draws as always."""
        before, self._drawing = self._drawing, False
        try:
            yield
        finally:
            self._drawing = before

    def picture(self, name: str = "image") -> np.ndarray:
        """The picture of this moment from a camera of `pictures`, as it lies in observations."""
        return self._upright(name)[self._lies].copy()

    def _upright(self, name: str) -> np.ndarray:
        """The picture of this moment the right way up, drawn unless it has been already."""
        if name not in self._seen:
            self._seen[name] = self._frame(name)
        return self._seen[name]

    def _changed(self) -> None:
        """Forget what was drawn and measured: the simulation is in another state."""
        self._seen.clear()

    def _measure(self, name: str) -> np.ndarray:
        """`proprio`, `state` or a further vector of this moment, as float64."""
        if name not in self._seen:
            hooks = {"proprio": self._proprio, "state": self._object_state}
            values = np.array(hooks[name]() if name in hooks else self._vector(name), dtype=np.float64)
            if not math.isfinite(float(values.sum())):
                raise EnvFault(f"the simulation of {self._task()} diverged: its {name} is not finite")
            self._seen[name] = values
        return self._seen[name]

    def _observe(self) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        if self.obs_text:
            seen["text"] = "\n".join(part for part in (self.instruction, self._feedback) if part)
        for name in ("proprio", *self._extra_vectors()):
            seen[name] = self._measure(name).astype(np.float32)
        if self.obs_mode == "state":
            return {**seen, "state": self._measure("state").astype(np.float32)}
        shown = self._drawing or self._over
        blank = (self.image_size, self.image_size, 3)
        return {**seen, **{name: self.picture(name) if shown else np.zeros(blank, np.uint8) for name in self.pictures}}

    def state(self) -> ControlState:
        """The instruction, the robot and the objects of this moment."""
        objects = {name: tuple(map(float, values)) for name, values in self._named_state().items()}
        return ControlState(self.instruction, tuple(self._measure("proprio").tolist()), objects)

    def _named_state(self) -> dict[str, Sequence[float]]:
        """Positions and joint values by name; unless overridden, the vector of objects as a whole."""
        return {"object_state": self._measure("state").tolist()}

    def _draw(self) -> np.ndarray:
        return self._upright(self.pictures[0]).copy()

    def _draw_text(self) -> str:
        facts = [f"{name}: {action_text(np.asarray(values))}" for name, values in self.state().structured().items()]
        return "\n".join(part for part in (self.instruction, self._feedback, self._heading(), *facts) if part)

    # ------------------------------------------------------------------ fork

    def _load_all(self, data: dict[str, Any]) -> None:
        try:
            super()._load_all(data)
        finally:
            self._changed()

    # ------------------------------------------------------------------ what a family fills in

    def _extra_vectors(self) -> Mapping[str, int]:
        """Vectors of the observation beside `proprio`, and how many numbers each has."""
        return {}

    def _vector(self, name: str) -> np.ndarray:
        """One of them, as it is now."""
        raise ConfigError(f"{type(self).__name__} must override _vector, since its _extra_vectors() names {name!r}")

    @abstractmethod
    def _simulate(self, action: np.ndarray) -> bool:
        """Run one control step; is the task done?"""

    @abstractmethod
    def _frame(self, picture: str) -> np.ndarray:
        """Draw this moment from a camera of `pictures`: a new uint8 array [image_size, image_size, 3]."""

    @abstractmethod
    def _proprio(self) -> np.ndarray:
        """The robot's own state: joints, hand, gripper."""

    @abstractmethod
    def _object_state(self) -> np.ndarray:
        """Everything else that decides what to do: objects, goals, articulations."""


def one_of(name: str, value: Any, allowed: Iterable[str]) -> str:
    """`value`, if it is allowed."""
    known = tuple(allowed)
    if not isinstance(value, str) or value not in known:
        raise ConfigError(f"{name} must be one of {', '.join(known)}; got {value!r}.{did_you_mean(str(value), known)}")
    return value


def _numbers(count: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, (count,), np.float32)
