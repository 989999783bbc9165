"""`AgentEnv`: the base class of every environment.

One call of `step` is one turn: a string (or an array, for continuous control) that holds up to
`max_actions_per_turn` primitive actions. This class chooses the task, runs the turn and keeps the promises that must
not differ between environments: limits, validity, rewards as named terms, the `info` keys, the end of an episode,
snapshots. An environment fills in the hooks at the bottom.
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

from agentrl.core.arguments import finite_number, one_of, true_or_false, whole_number
from agentrl.core.errors import ConfigError, SnapshotError, did_you_mean
from agentrl.core.parsing import Turn, quote
from agentrl.core.seeding import coprime, generator_from_json, generator_to_json
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.core.state import State
from agentrl.core.task_generator import OtherTasks, TaskGenerator

SPLITS = ("train", "dev", "test")
BRIEF_INFO = ("success", "valid", "effective")  # what `full_info=False` leaves; vectorised cores give these, too
NOT_IN_SNAPSHOTS = ("render_mode", "full_info")  # arguments that say how an environment is watched, not what happens
SIDE_TERMS = ("step", "invalid")  # what a turn costs, however well the task is done
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
    """A multi-turn task for an agent that reads and writes text, with its true state available."""

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 4}
    state_type: ClassVar[type[State]] = State  # what state() returns; judges ask it for its claims
    representations: frozenset[str] = frozenset()
    system_prompt: str = ""
    action_names: tuple[str, ...] = ()  # the primitive actions, where there is a finite list of them
    action_separator: str = ", "  # joins primitive actions into one turn
    free_answers: bool = False  # may the tags of a reply hold an answer in plain words, in the place of actions?
    reply_format: str = ""  # the tags of a reply, where the environment asks for others than the suite's own
    guides: ClassVar[Mapping[str, str]] = {}  # representation -> how to write it, for the agent
    step_penalty: float = 0.0  # what every action costs
    task_reward: float | None = None  # all that a solved task pays, where wrappers that pay for words must know it
    graded: ClassVar[bool] = False  # is the task reward a degree of success? `info["graded"]` names its terms then
    oracle_may_fail: ClassVar[bool] = False  # True: a script that drives a simulator, which solves most tasks, not all
    snapshot_version: ClassVar[int] = 1
    # The arguments of this class that a record or a run folder of unknown origin may give, beside those of its bases:
    # none that names a program, a file, an address or a key. See `agentrl.core.untrusted`.
    safe_arguments: ClassVar[tuple[str, ...]] = (
        "split", "render_mode", "max_turns", "max_actions_per_turn", "invalid_penalty", "full_info",
        "whole_turn_penalty",
    )  # fmt: skip
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
        full_info: bool = True,
        whole_turn_penalty: bool = False,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            known = keyword_arguments(type(self))
            raise ConfigError(
                f"{type(self).__name__} has no argument {name!r}.{did_you_mean(name, known)} "
                f"It takes: {', '.join(sorted(known))}."
            )
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ConfigError(
                f"render_mode must be one of {self.metadata['render_modes']} or None; got {render_mode!r}"
            )
        self.split, self.render_mode = one_of("split", split, SPLITS), render_mode
        self.max_turns = whole_number("max_turns", max_turns, at_least=1)
        self.max_actions_per_turn = whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1)
        self.invalid_penalty = finite_number("invalid_penalty", invalid_penalty)
        self.full_info = bool(full_info)  # False: only `BRIEF_INFO`, for libraries that store every info in arrays
        self.whole_turn_penalty = true_or_false("whole_turn_penalty", whole_turn_penalty)
        self._index, self._stride = 0, 1  # place in `tasks()`, and how far the next task is from it
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
            raise ConfigError(f'options must be a dict such as {{"task": ...}}; got {type(options).__name__}')
        for name in options.keys() - {"task"}:
            raise ConfigError(f'reset takes the option "task" only; got {name!r}')
        task = self._find_task(options["task"]) if options.get("task") is not None else None
        super().reset(seed=seed)
        self._walk(start=seed is not None or self._turn is None, move=task is None)
        self._begin(self._task_at(self._index) if task is None else task)
        self._turn, self._feedback = 0, ""
        self._terminated = self._truncated = self._success = False
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._build_info([], {}, valid=True, effective=False, fault=None)

    def step(self, action: ActType) -> tuple[ObsType, float, bool, bool, dict[str, Any]]:
        """Run one turn. No action, however malformed, raises."""
        if self._turn is None:
            raise ResetNeeded("call reset() before step()")
        if self._over:
            self._feedback = "The episode is over; call reset()."
            info = self._build_info([], {}, valid=False, effective=False, fault="episode_over")
            return self._observe(), 0.0, self._terminated, self._truncated, info
        done, terms, effective, fault = self._run(self._read(action))
        self._turn += 1
        if not self._terminated and self._turn >= self.max_turns:
            # Truncate, unless the environment finds the task solved after all.
            outcome = self._at_limit()
            for name, value in outcome.terms.items():
                terms[name] = terms.get(name, 0.0) + value
            self._terminated, self._success = outcome.terminated, outcome.success
            self._truncated = not self._terminated
            self._feedback = " ".join(filter(None, (self._feedback, outcome.feedback)))
        if self.render_mode == "human":
            self.render()
        info = self._build_info(done, terms, valid=fault is None, effective=effective, fault=fault)
        return self._observe(), math.fsum(terms.values()), self._terminated, self._truncated, info

    def _walk(self, *, start: bool, move: bool) -> None:
        """Choose where in `tasks()` to be: a fresh place after a seeded (or the first) reset, else one stride on. A
        task that was asked for by name does not move the walk."""
        count = len(self.tasks())
        if not count:
            raise ConfigError(f"{type(self).__name__} has no tasks in split {self.split!r}")
        if start:
            self._index, self._stride = self._start_walk(count)
        elif move:
            self._index = (self._index + self._stride) % count

    def _restore_walk(self, index: int, stride: int) -> None:
        """Go back to a place that `_save` kept; ValueError if this split has no such task."""
        if not 0 <= index < len(self.tasks()):
            raise ValueError("the index of the task is out of range")
        self._index, self._stride = index, stride

    @property
    def _over(self) -> bool:
        """Has the episode ended?"""
        return self._terminated or self._truncated

    def _heading(self) -> str:
        """The line of an observation that says which turn it is."""
        return "The episode is over." if self._over else f"Turn {(self._turn or 0) + 1} of {self.max_turns}."

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
            done.append(self.action_name(primitive) if self.full_info else "")  # nobody is told otherwise
            for name, value in outcome.terms.items():
                terms[name] = terms.get(name, 0.0) + value
            effective = effective or outcome.effective
            self._terminated, self._success = outcome.terminated, outcome.success
            if outcome.feedback:
                remarks.append(outcome.feedback)
            if outcome.terminated:
                error = None  # what follows the end was never going to run
                break
        if error is not None:
            terms["invalid"] = terms.get("invalid", 0.0) + self.invalid_cost(len(done))
            remarks.append(f"Invalid: {error}.")
        elif turn.surplus and not self._terminated:
            remarks.append(f"Only the first {self.max_actions_per_turn} actions of a turn run; {turn.surplus} dropped.")
        self._feedback = " ".join(remarks)
        fault = None if error is None else "invalid_action" if turn.actions or done else "unparsed"
        return done, terms, effective, fault

    def _build_info(
        self, actions: list[str], terms: dict[str, float], *, valid: bool, effective: bool, fault: str | None
    ) -> dict[str, Any]:
        """`info`: everything, or three flags that have the same type and shape at every moment."""
        if self.full_info:
            return self._info(actions, terms, valid=valid, effective=effective, fault=fault)
        return dict(zip(BRIEF_INFO, (self._success, valid, effective), strict=True))

    def invalid_cost(self, ran: int = 0) -> float:
        """What an invalid turn costs after `ran` of its actions. With `whole_turn_penalty` it is no cheaper than a turn
        full of actions, so that garbage never costs less than trying."""
        if not self.whole_turn_penalty:
            return self.invalid_penalty
        return min(self.invalid_penalty, (self.max_actions_per_turn - ran) * self.step_penalty)

    def _info(
        self, actions: list[str], terms: dict[str, float], *, valid: bool, effective: bool, fault: str | None
    ) -> dict[str, Any]:
        state = self.state()
        extra: dict[str, Any] = {}
        if self.graded:
            extra["graded"] = [*(name for name in terms if name not in SIDE_TERMS), *self._pending_terms()]
        if self._over and (page := self.outcome_page()) is not None:
            extra["outcome_page"] = page
        if self._over and not self._success and (words := self.ending()) is not None:
            extra["ending"] = words
        return {
            "state": state.to_json(),
            "anchor": state.anchor(),
            **extra,
            "success": self._success,
            "valid": valid,
            "effective": effective,
            "actions": actions,
            "feedback": self._feedback,
            "reward_terms": terms,
            "pending": self._pending_terms(),
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
        """Every keyword argument in force that a snapshot must agree on."""
        chosen = {**keyword_arguments(type(self)), **self._arguments}
        return {name: chosen[name] for name in sorted(chosen) if name not in NOT_IN_SNAPSHOTS}

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
        return {
            "turn": self._turn,
            "terminated": self._terminated,
            "truncated": self._truncated,
            "success": self._success,
            "feedback": self._feedback,
            "random": None if self._np_random is None else generator_to_json(self._np_random),
            # As text: a seed may be too large for msgpack, which ends at 64 bits.
            "seed": None if self._np_random_seed is None else str(self._np_random_seed),
            "world": None if self._turn is None else self._save(),
        }

    def _load_all(self, data: dict[str, Any]) -> None:
        kept = msgspec.convert(data, _Kept)
        if kept.turn is not None and kept.turn > self.max_turns:
            raise ValueError(f"turn must be at most {self.max_turns}; got {kept.turn}")
        if kept.world is not None:
            self._load(kept.world)
        self._np_random = None if kept.random is None else generator_from_json(kept.random)
        self._np_random_seed = None if kept.seed is None else int(kept.seed)
        self._turn, self._feedback = kept.turn, kept.feedback
        self._terminated, self._truncated, self._success = kept.terminated, kept.truncated, kept.success

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a window belongs to its process

    # ------------------------------------------------------------------ what an environment fills in

    @abstractmethod
    def state(self) -> State:
        """The true state of this moment."""

    def oracle(self) -> ActType | None:
        """One whole correct turn from here; None if there is none, or none is known."""
        return None

    def actions_needed(self) -> int | None:
        """How many primitive actions right play takes from here; None where it is not known. No more turns of an
        episode are paid for their form than that takes, so that dawdling never pays."""
        return None

    def about_task(self) -> dict[str, Any]:
        """What an analysis groups tasks by, asked right after `reset` and kept in the record of the episode: `group` (a
        name, such as the web site), `complexity` (how many requirements the task states), `steps` (how many primitive
        actions right play takes). What is not known is left out; a family may add entries of its own."""
        return {}

    def legal_actions(self) -> Sequence[ActType]:
        """Whole turns that make sense at this moment, where that changes during an episode; empty where the action
        space says it all. Random play chooses among them."""
        return ()

    def hasty_action(self) -> ActType | None:
        """A typical mistake of haste at this moment; None if there is none. Demonstrations with mistakes play it."""
        return None

    def outcome_page(self) -> str | None:
        """The end of the episode as a judge of outcomes may see it, in `info["outcome_page"]`; None where the last
        observation does not tell the result, apart from its feedback."""
        return None

    def ending(self) -> str | None:
        """What an episode that failed came to, in a few words for pages about it, in `info["ending"]`: "fell into a
        hole". None where that it ended, or ran out of turns, says it all."""
        return None

    def guide(self, representation: str) -> str:
        """What an agent must know to write a state in this representation; may be empty."""
        return self.guides.get(representation, "")

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The actions as OpenAI-style tool schemas (`agentrl.core.tools.function_schema`); empty if there are none."""
        return []

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """One tool call, its arguments checked against the schema, as a primitive action in text; None if there is no
        such action. Free text inside the arguments must be quoted here: one call is one action."""
        return None

    def tool_calls(self, action: str) -> list[dict[str, Any]] | None:
        """The reverse for a whole turn of the oracle: `{"name", "arguments"}` objects; None if there are none."""
        return None

    @abstractmethod
    def tasks(self) -> Sequence[str]:
        """Ids of this split for `reset(options={"task": id})`; may be lazy and huge."""

    @abstractmethod
    def _find_task(self, task: Any) -> Any:
        """Look a task id up without changing anything: what `_begin` needs; `ConfigError` if the id is unknown."""

    def task_generator(self) -> TaskGenerator:
        """What makes new training tasks out of those that a policy failed at; `ConfigError` outside the training
        split, whose data alone it may use. It looks at the arguments of this environment, never at its episode."""
        if self.split != "train":
            raise ConfigError(f'tasks are made for training only: split must be "train"; got {self.split!r}')
        return self._task_generator()

    def instruction_of(self, task: str) -> str:
        """What the agent is told in a task of this split, where tasks differ in it; else empty. `ConfigError` for what
        is no task."""
        self._find_task(task)
        return ""

    def task_for(self, instruction: str, like: str) -> str | None:
        """The id of a task in words, in the place where another task is played; None where only tasks of the
        environment's own can be. Nobody knows its true reward: the outcome stays pending."""
        return None

    def _task_generator(self) -> TaskGenerator:
        """The generator itself; unless overridden, one that chooses among `tasks()`."""
        return OtherTasks(self)

    def _unknown_task(self, task: Any) -> ConfigError:
        """What `_find_task` raises where ids are many: how many there are, and one as an example."""
        shown = quote(task) if isinstance(task, str) else type(task).__name__
        ids = self.tasks()
        return ConfigError(
            f"a task must be one of the {len(ids)} of split {self.split}, such as {ids[0]!r}; got {shown}"
        )

    def _start_walk(self, count: int) -> tuple[int, int]:
        """The first place of a walk through `count` tasks and its stride, drawn from `np_random`. A stride without a
        common divisor visits every task before any comes again."""
        first = int(self.np_random.integers(count))
        return first, coprime(int(self.np_random.integers(2**31)), count)

    def _task_at(self, index: int) -> Any:
        """The task at a place of `tasks()`, as `_find_task` returns it."""
        return self._find_task(self.tasks()[index])

    @abstractmethod
    def _begin(self, task: Any) -> None:
        """Set the world up for a task, as returned by `_find_task`."""

    @abstractmethod
    def _task(self) -> str:
        """The id of the current task."""

    @abstractmethod
    def _read(self, action: Any) -> Turn:
        """Split an action into primitive ones; total, whatever the action is."""

    @abstractmethod
    def _act(self, primitive: Any) -> Outcome:
        """Run one primitive action."""

    def _at_limit(self) -> Outcome:
        """What the end of the last turn brings; an environment that looks at the result only at the end does it here.
        An outcome that terminates replaces the truncation."""
        return Outcome({})

    def _pending_terms(self) -> list[str]:
        """Names of reward terms that are not known yet."""
        return []

    def action_name(self, primitive: Any) -> str:
        """The name of a primitive action in `info["actions"]`."""
        return str(primitive)

    @abstractmethod
    def _observe(self) -> ObsType:
        """A fresh observation."""

    def _draw(self) -> np.ndarray:
        """The picture of this moment, uint8 [height, width, 3]; unless overridden, the characters of `_draw_text`."""
        from agentrl.core.text_picture import text_picture

        return text_picture(self._draw_text())

    def _draw_text(self) -> str:
        """The same in characters: the symbolic state, or else the text of the observation."""
        observation = None if "symbolic" in self.representations else self._observe()
        text = observation.get("text") if isinstance(observation, Mapping) else None
        return text if isinstance(text, str) else self.state().symbolic()

    @abstractmethod
    def _save(self) -> dict[str, Any]:
        """The world (and `_index` and `_stride`) as values that msgpack can write."""

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


def _stable_name(value: Any) -> Any:
    """An argument that JSON cannot write, as something equal in every process (no memory address)."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return str(value) if isinstance(value, os.PathLike) else type(value).__name__
