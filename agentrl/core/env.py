"""`AgentEnv`: the contract of every environment in the suite.

One call of `step` is one turn: a string (or an array, for continuous control) that holds up to
`max_actions_per_turn` primitive actions. This class runs the turn and keeps the promises that must not differ
between environments: limits, validity, rewards as named terms, the `info` keys, snapshots. An environment fills
in the hooks at the bottom.
"""

from __future__ import annotations

import inspect
import json
import math
import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import gymnasium as gym
import msgspec
import numpy as np
from gymnasium.error import ResetNeeded

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError, SnapshotError, did_you_mean
from agentrl.core.parsing import Turn
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.core.state import State

SPLITS = ("train", "dev", "test")
ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")


class Outcome(NamedTuple):
    """What one primitive action did."""

    terms: dict[str, float]  # reward terms it earned
    effective: bool = True  # did the state change?
    terminated: bool = False
    success: bool = False
    feedback: str = ""
    valid: bool = True  # False when the action turned out to be impossible to even try


class AgentEnv(gym.Env[ObsType, ActType], Generic[ObsType, ActType]):
    """A multi-turn task for an agent that reads and writes text, with the truth available."""

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 4}
    representations: frozenset[str] = frozenset()
    system_prompt: str = ""
    action_names: tuple[str, ...] = ()  # the primitive actions, where there is a finite list of them
    action_separator: str = ", "  # joins primitive actions into one turn
    guides: ClassVar[Mapping[str, str]] = {}  # representation -> how to write it, for the agent
    snapshot_version: ClassVar[int] = 1
    _arguments: dict[str, Any]  # as given to the constructor

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        env = super().__new__(cls)
        env._arguments = kwargs
        return env

    def __init__(
        self,
        *,
        split: str = "train",
        render_mode: str | None = None,
        max_turns: int = 1,
        max_actions_per_turn: int = 1,
        invalid_penalty: float = -0.1,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            known = keyword_arguments(type(self))
            raise ConfigError(
                f"{type(self).__name__} has no argument {name!r}.{did_you_mean(name, known)} "
                f"It takes: {', '.join(sorted(known))}."
            )
        if split not in SPLITS:
            raise ConfigError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ConfigError(
                f"render_mode must be one of {self.metadata['render_modes']} or None, not {render_mode!r}"
            )
        self.split, self.render_mode = split, render_mode
        self.max_turns = whole_number("max_turns", max_turns, at_least=1)
        self.max_actions_per_turn = whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1)
        self.invalid_penalty = finite_number("invalid_penalty", invalid_penalty)
        self._turn: int | None = None  # None until the first reset
        self._terminated = self._truncated = self._success = False
        self._feedback = ""
        self._window: Any = None

    # ------------------------------------------------------------------ the Gymnasium side

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Start a task: the next one of this split, or exactly `options["task"]`."""
        options = {} if options is None else options
        if not isinstance(options, Mapping):
            raise ConfigError(f'options is a dict such as {{"task": ...}}, not {type(options).__name__}')
        for name in options.keys() - {"task"}:
            raise ConfigError(f'reset knows the option "task" only, not {name!r}')
        task = self._find_task(options["task"]) if options.get("task") is not None else None
        super().reset(seed=seed)
        self._begin(task, seeded=seed is not None)
        self._turn, self._feedback = 0, ""
        self._terminated = self._truncated = self._success = False
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info([], {}, valid=True, effective=False, fault=None)

    def step(self, action: ActType) -> tuple[ObsType, float, bool, bool, dict[str, Any]]:
        """Run one turn. No action, however malformed, raises."""
        if self._turn is None:
            raise ResetNeeded("call reset() before step()")
        if self._terminated or self._truncated:
            self._feedback = "The episode is over; call reset()."
            info = self._info([], {}, valid=False, effective=False, fault="episode_over")
            return self._observe(), 0.0, self._terminated, self._truncated, info
        done, terms, effective, fault = self._run(self._read(action))
        self._turn += 1
        self._truncated = not self._terminated and self._turn >= self.max_turns
        if self.render_mode == "human":
            self.render()
        info = self._info(done, terms, valid=fault is None, effective=effective, fault=fault)
        return self._observe(), math.fsum(terms.values()), self._terminated, self._truncated, info

    def _run(self, turn: Turn) -> tuple[list[str], dict[str, float], bool, str | None]:
        """Run a turn's actions in order: (what ran, reward terms, did anything change, the policy's fault)."""
        done: list[str] = []
        terms: dict[str, float] = {}
        remarks: list[str] = []
        effective, error = False, turn.error
        for primitive in turn.actions:
            outcome = self._act(primitive)
            if not outcome.valid:
                error = outcome.feedback or f"{self.action_name(primitive)} is not possible here"
                break
            done.append(self.action_name(primitive))
            for name, value in outcome.terms.items():
                terms[name] = terms.get(name, 0.0) + value
            effective = effective or outcome.effective
            self._terminated, self._success = outcome.terminated, outcome.success
            if outcome.feedback:
                remarks.append(outcome.feedback)
            if outcome.terminated:
                error = None  # what stands behind the end was never going to run
                break
        if error is not None:
            terms["invalid"] = terms.get("invalid", 0.0) + self.invalid_penalty
            remarks.append(f"Invalid: {error}.")
        elif turn.surplus and not self._terminated:
            remarks.append(f"Only the first {self.max_actions_per_turn} actions of a turn run; {turn.surplus} dropped.")
        self._feedback = " ".join(remarks)
        fault = None if error is None else "invalid_action" if turn.actions or done else "unparsed"
        return done, terms, effective, fault

    def _info(
        self, actions: list[str], terms: dict[str, float], *, valid: bool, effective: bool, fault: str | None
    ) -> dict[str, Any]:
        return {
            "state": self.state().to_json(),
            "success": self._success,
            "valid": valid,
            "effective": effective,
            "actions": actions,
            "feedback": self._feedback,
            "reward_terms": terms,
            "pending": [],
            "format": None,
            "fault": fault,
            "limit": "task" if self._truncated else None,
            "turn": self._turn,
            "task": self._task(),
        }

    def render(self) -> np.ndarray | str | None:
        """A picture, a drawing in characters, or a frame in a window, as `render_mode` says."""
        if self.render_mode is None:
            gym.logger.warn("render() needs a render_mode: gym.make(id, render_mode='rgb_array')")
            return None
        if self._turn is None:
            raise ResetNeeded("call reset() before render()")
        if self.render_mode == "ansi":
            return self._draw_text()
        picture = self._draw()
        if self.render_mode == "rgb_array":
            return picture
        if self._window is None:
            from agentrl.core.window import Window

            self._window = Window(self.spec.id if self.spec else type(self).__name__)
        self._window.show(picture, self.metadata["render_fps"])
        return None

    def close(self) -> None:
        """Free what the environment holds; may be called twice."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # ------------------------------------------------------------------ fork

    @property
    def parameters(self) -> dict[str, Any]:
        """Every keyword argument in force; what a snapshot must agree on (how it is shown does not matter)."""
        chosen = {**keyword_arguments(type(self)), **self._arguments}
        return {name: chosen[name] for name in sorted(chosen) if name != "render_mode"}

    def snapshot(self) -> bytes:
        """This environment's own part of `agentrl.snapshot`: everything the future depends on."""
        if self._turn is None:
            raise SnapshotError("nothing to save before the first reset()")
        return seal_blob(self._identity(), self._save_all())

    def restore(self, blob: bytes) -> None:
        """Continue from `snapshot()`. A bad blob raises `SnapshotError` and changes nothing."""
        data = open_blob(blob, self._identity())
        before = self._save_all()
        try:
            self._load_all(data)
            if self._turn is None or data["world"] is None:
                raise ValueError("it holds no episode")
        except Exception as error:
            self._load_all(before)
            raise SnapshotError(f"the snapshot does not fit {type(self).__name__}: {error}") from error

    def _identity(self) -> dict[str, Any]:
        parameters = json.loads(json.dumps(self.parameters, default=_stable_name))
        return {"env": type(self).__name__, "version": self.snapshot_version, "parameters": parameters}

    def _save_all(self) -> dict[str, Any]:
        # The generator's state holds 128-bit integers and a seed may be larger still: msgpack ends at 64 bits.
        random = None if self._np_random is None else json.dumps(_plain(self._np_random.bit_generator.state))
        return {
            "turn": self._turn,
            "terminated": self._terminated,
            "truncated": self._truncated,
            "success": self._success,
            "feedback": self._feedback,
            "random": random,
            "seed": None if self._np_random_seed is None else str(self._np_random_seed),
            "world": None if self._turn is None else self._save(),
        }

    def _load_all(self, data: dict[str, Any]) -> None:
        kept = msgspec.convert(data, _Kept)
        if kept.world is not None:
            self._load(kept.world)
        self._np_random = None if kept.random is None else _generator(json.loads(kept.random))
        self._np_random_seed = None if kept.seed is None else int(kept.seed)
        self._turn, self._feedback = kept.turn, kept.feedback
        self._terminated, self._truncated, self._success = kept.terminated, kept.truncated, kept.success

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a window belongs to its process

    # ------------------------------------------------------------------ what an environment fills in

    @abstractmethod
    def state(self) -> State:
        """The truth of this moment."""

    def oracle(self) -> ActType | None:
        """One whole correct turn from here; None if there is none (or nobody can compute it)."""
        return None

    def legal_actions(self) -> Sequence[ActType]:
        """Whole turns that make sense at this moment, where they differ from moment to moment; empty where the action
        space says it all. Random play chooses among them."""
        return ()

    def hasty_action(self) -> ActType | None:
        """What somebody in a hurry would do here instead of the right thing; None where a turn has no such shortcut.
        Demonstrations with hasty mistakes play it."""
        return None

    def guide(self, representation: str) -> str:
        """What an agent must know to write a state in this representation; empty where that goes without saying."""
        return self.guides.get(representation, "")

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The actions as OpenAI-style tool schemas (`agentrl.core.tools.function_schema`); empty if there are none."""
        return []

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """One tool call, its arguments already fitted to the schema, as a primitive action in text; None if it cannot
        be said. Free text inside the arguments must be quoted here, so that one call stays one action."""
        return None

    def tool_calls(self, action: str) -> list[dict[str, Any]] | None:
        """The reverse for a whole turn of the oracle: `{"name", "arguments"}` objects; None if nobody knows."""
        return None

    @abstractmethod
    def tasks(self) -> Sequence[str]:
        """Ids for `reset(options={"task": id})`; may be lazy and huge."""

    @abstractmethod
    def _find_task(self, task: Any) -> Any:
        """Look a task id up without changing anything; `ConfigError` if it is no task."""

    @abstractmethod
    def _begin(self, task: Any, seeded: bool) -> None:
        """Set the world up: `task` as found by `_find_task`, or None for the next one of the split."""

    @abstractmethod
    def _task(self) -> str:
        """The id of the present task."""

    @abstractmethod
    def _read(self, action: Any) -> Turn:
        """Split an action into primitive ones; total, whatever the action is."""

    @abstractmethod
    def _act(self, primitive: Any) -> Outcome:
        """Run one primitive action."""

    def action_name(self, primitive: Any) -> str:
        """What a primitive action is called in `info["actions"]`."""
        return str(primitive)

    @abstractmethod
    def _observe(self) -> ObsType:
        """A fresh observation."""

    @abstractmethod
    def _draw(self) -> np.ndarray:
        """The picture of this moment, uint8 [height, width, 3]."""

    def _draw_text(self) -> str:
        """The moment in characters."""
        return self.state().symbolic()

    @abstractmethod
    def _save(self) -> dict[str, Any]:
        """The world as msgpack-able values."""

    @abstractmethod
    def _load(self, data: dict[str, Any]) -> None:
        """Inverse of `_save`; may raise on data that does not fit."""


class _Kept(msgspec.Struct):
    """The part of a snapshot that every environment has; reading it checks the types."""

    turn: Annotated[int, msgspec.Meta(ge=0)] | None
    terminated: bool
    truncated: bool
    success: bool
    feedback: str
    random: str | None
    seed: str | None
    world: Any


def keyword_arguments(cls: type) -> dict[str, Any]:
    """Names and defaults of every keyword argument that the constructors of `cls` take together."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if "__init__" in vars(base) and issubclass(base, AgentEnv):
            for parameter in inspect.signature(base.__init__).parameters.values():
                if parameter.kind is parameter.KEYWORD_ONLY:
                    found[parameter.name] = parameter.default
    return found


def episode_limit(truncated: bool, info: dict[str, Any]) -> str | None:
    """ "task", "external" (a wrapper such as Gymnasium's TimeLimit cut the episode) or None."""
    return (info.get("limit") or "external") if truncated else None


def _generator(state: dict[str, Any]) -> np.random.Generator:
    """A generator in the given state; only names of bit generators count (`np.random.seed` is a name as well)."""
    kind = getattr(np.random, state["bit_generator"])
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise ValueError(f"{state['bit_generator']} is no bit generator")
    bits = kind()
    bits.state = state
    return np.random.Generator(bits)


def _stable_name(value: Any) -> Any:
    """What stands for an argument that JSON lacks: equal in every process, so never a memory address."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return str(value) if isinstance(value, os.PathLike) else type(value).__name__


def _plain(value: Any) -> Any:
    """Numpy scalars and arrays inside a generator's state, as JSON types."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
