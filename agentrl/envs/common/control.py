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
for `state()`), `oracle()` (one action, a member of the action space).

Nothing is drawn or measured twice in one state of the simulation: `_frame`, `_proprio` and `_object_state` are asked
once, and again only after `_begin`, `_simulate` or `_load`. A hook that changes the simulation otherwise calls
`self._changed()`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import whole_number
from agentrl.core.control import action_text, describe_box, read_control
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError, EnvFault
from agentrl.core.parsing import Turn
from agentrl.core.spaces import AnyText
from agentrl.core.state import State

OBS_MODES = ("image", "state")


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
      each of `pictures`, `proprio`. With `obs_mode="state"`: `text`, `proprio` and `state`; nothing is drawn.
    - An action of the wrong shape or type, with a NaN or out of range is answered with feedback: the simulation does
      not move, the turn counts, `info["valid"]` is False.
    - The reward is 1 when the task is done, which ends the episode, else 0. After `max_turns` it is truncated.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 20}
    state_type = ControlState
    representations = frozenset({"structured"})
    safe_arguments = ("obs_mode", "image_size")
    pictures: ClassVar[tuple[str, ...]] = ("image",)
    instruction: str = ""
    action_space: spaces.Box  # type: ignore[reportIncompatibleVariableOverride]  # gym.Env declares any space

    def __init__(
        self,
        *,
        obs_mode: str = "image",
        image_size: int = 256,
        max_turns: int = 100,
        invalid_penalty: float = 0.0,
        **others: Any,
    ) -> None:
        if obs_mode not in OBS_MODES:
            raise ConfigError(f"obs_mode must be one of {', '.join(OBS_MODES)}; got {obs_mode!r}")
        if others.get("max_actions_per_turn", 1) != 1:
            raise ConfigError("one action is one turn here; agentrl.wrappers.ActionChunks runs several")
        super().__init__(max_turns=max_turns, invalid_penalty=invalid_penalty, **others)
        self.obs_mode = obs_mode
        self.image_size = whole_number("image_size", image_size, at_least=16, at_most=1024)
        self._seen: dict[str, np.ndarray] = {}  # what was drawn and measured since the simulation last changed
        self._drawing = True

    def _set_spaces(self, *, actions: int | spaces.Box, proprio: int, state: int) -> None:
        """Declare the spaces: how many numbers an action from -1 to 1 has (or its Box), and those of both vectors."""
        box = actions if isinstance(actions, spaces.Box) else spaces.Box(-1.0, 1.0, (actions,), np.float32)
        if len(box.shape) != 1 or not box.is_bounded():
            raise ConfigError(f"the action space must be a bounded Box of one dimension; got {box}")
        self.action_space = box
        parts: dict[str, spaces.Space] = {"text": AnyText(), "proprio": _numbers(proprio)}
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
        read = read_control(action, self.action_space)
        return Turn([], read) if isinstance(read, str) else Turn([read])

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
        """The picture of this moment from a camera of `pictures`, drawn unless it has been already."""
        if name not in self._seen:
            self._seen[name] = self._frame(name)
        return self._seen[name].copy()

    def _changed(self) -> None:
        """Forget what was drawn and measured: the simulation is in another state."""
        self._seen.clear()

    def _measure(self, name: str) -> np.ndarray:
        """`proprio` or `state` of this moment, as float64."""
        if name not in self._seen:
            values = np.array(self._proprio() if name == "proprio" else self._object_state(), dtype=np.float64)
            if not math.isfinite(float(values.sum())):
                raise EnvFault(f"the simulation of {self._task()} diverged: its {name} is not finite")
            self._seen[name] = values
        return self._seen[name]

    def _observe(self) -> dict[str, Any]:
        text = "\n".join(part for part in (self.instruction, self._feedback) if part)
        seen: dict[str, Any] = {"text": text, "proprio": self._measure("proprio").astype(np.float32)}
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
        return self.picture(self.pictures[0])

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


def _numbers(count: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, (count,), np.float32)
