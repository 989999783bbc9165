"""Navigation: walk through a home to the object that an instruction asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import finite_number, one_of, positive_number, whole_number
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, parse_turn
from agentrl.core.spaces import AnyText
from agentrl.core.tools import function_schema
from agentrl.envs.navigation.sight import bearing
from agentrl.envs.navigation.tasks import SETS
from agentrl.envs.navigation.truth import NavigationState, Sighting, direction_of
from agentrl.envs.navigation.walking import HEADINGS
from agentrl.envs.navigation.world import ACTIONS, SIDES, Rules, Thing, World

KINDS = ("text", "visual")
BACKENDS = ("embedded", "ai2thor")
GRAMMAR = {name: name for name in ACTIONS}


class NavigationEnv(AgentEnv[Any, Any]):
    """Walk through a home to the object that an instruction asks for.

    ## Description
    A home of several furnished rooms, seen through the eyes of a robot. The instruction names an object ("Please go to
    the toaster.") or says what it is for ("I would like some toast."). The agent walks on a lattice of 0.25 m, cannot
    pass walls and furniture (it is a disc of 0.2 m radius), and has found the object as soon as it stands within 1.0 m
    of it. The task and its figures are those of VAGEN's Navigation (after EmbodiedBench and AI2-THOR); the homes are
    our own: thousands, drawn from seeds, with objects of more than sixty types.

    ![Four tasks: what the agent sees above, the map with the target below](../../_static/navigation-tasks.png)

    ## Observations
    - `Text`: `{"text"}`, the feedback, the turn, the instruction, and a sentence for each object in view: type,
      direction, distance.
    - `Visual`: `{"text", "image"}`; instead of the sentences a picture of `image_size` pixels with a field of view of
      `fov` degrees; `<image>` marks its place in the text. With `multiview=True` also `image_back`, `image_left` and
      `image_right`, each a quarter turn further.

    ## Actions
    `moveahead`, `moveback`, `moveleft`, `moveright` (a step of `step_length`, seen from where the agent looks),
    `rotateleft`, `rotateright` (90 degrees), `lookup`, `lookdown` (30 degrees, from 30 up to 60 down); up to
    `max_actions_per_turn` a turn, separated by commas, bare or between `<answer>` and `</answer>`. A step that is
    blocked is allowed and changes nothing; the feedback says so.

    ## Rewards
    Per action: `success` +10 if it brings the agent to the object, otherwise `step` -0.1. An invalid action costs
    `invalid` -0.1.

    ## Episode end
    Terminates as soon as the agent stands within `success_distance` of the target: the distance on the floor plan to
    the middle of the object, as in VAGEN. It need not be in view. Truncates after `max_turns` turns (`info["limit"] ==
    "task"`). Then `info["metrics"]` holds `spl` (success weighted by the shortest plan's share of the actions taken)
    and `distance` (what is left, in metres). `agentrl eval` averages them.

    ## Arguments
    - `instructions="base"`: names the object; `"common"`: says what it is for. The tasks are the same.
    - `backend="embedded"`: the homes of this package; `"ai2thor"`: those of AI2-THOR, for who has it (see below).
    - `homes=None`: use only the first N homes of the split.
    - `in_view=None`: about three quarters of the tasks begin with the target in view; True or False: all or none.
    - `min_solution=5`, `max_solution=None`: range of the shortest plan in actions; None is what the limits allow.
      Tasks that begin with the target out of view leave three more actions to look around.
    - `step_length=0.25`, `success_distance=1.0`: metres.
    - `image_size=255`, `fov=100.0` (degrees), `multiview=False`.
    - `max_objects=20`: how many of the objects in view are listed, nearest first.
    - `ahead_angle=45.0`: "ahead" is up to this many degrees to either side; "back" the same, behind.
    - `max_turns=4`, `max_actions_per_turn=5`, `split="train"`, `render_mode=None`.
    - `success_reward=10.0`, `step_penalty=-0.1`, `invalid_penalty=-0.1`.
    - `whole_turn_penalty=False`: when True, an invalid turn costs at least what all its actions would (-0.5 here).
    - `full_info=True`; False: only `success`, `valid` and `effective`, for libraries that store `info` in arrays.

    A task is `home-SEED:SET:NUMBER`. The splits share no home: seeds 0 to 999 are `test`, 1,000 to 1,999 `dev`, 2,000
    to 9,999 `train`; eight tasks each. A target is the only object of its type in the home. Starts are chosen so that
    no fixed reply finds it: walking straight on, or in any two directions in turn by a fixed ratio, does not lead past
    it, wherever a home has such a start.

    ## Truth
    `state()` supports `natural` and `structured`: type, distance and direction of the target, and the same of the
    nearest objects in view. Directions are `ahead`, `left`, `right` and `back`. What is in view is computed from lines
    of sight, without drawing. `oracle()` gives the first turn of a shortest plan: sideways first, so that the target
    stays in view.

    ## AI2-THOR
    `backend="ai2thor"` plays the same actions, rewards and truth in AI2-THOR's rooms (`pip install ai2thor`, which
    downloads its Unity build at the first start; Linux without a display needs a GPU with Vulkan). A task is then
    `FloorPlan1:base:0`; visible is what AI2-THOR calls visible. It cannot be saved: snapshots raise
    `SnapshotUnsupported`.

    ## Honest note
    The homes are generated by agentrl. They are not AI2-THOR's rooms: scores are comparable with each other, not with
    figures of papers that used those.
    """

    state_type = NavigationState
    representations = frozenset({"natural", "structured"})
    safe_arguments = (
        "kind", "instructions", "homes", "in_view", "min_solution", "max_solution", "step_length",
        "success_distance", "image_size", "fov", "multiview", "max_objects", "ahead_angle", "success_reward",
        "step_penalty",
    )  # fmt: skip
    action_names = ACTIONS
    guides: ClassVar[dict[str, str]] = {
        "natural": "First where the target is, seen from you: ahead of you, to your left, to your right or behind you, "
        "and how many metres away; then the same for each object that you see, the nearest first.",
        "structured": 'A JSON object with the keys "target_obj_type", "target_distance_to_player", '
        '"target_direction_to_player" and "visible_objects"; the latter is a list, the nearest first, of objects '
        'with the keys "type", "direction_to_player" and "distance_to_player". Types are written like CoffeeMachine, '
        "directions are ahead, left, right or back, distances are metres.",
    }

    def __init__(
        self,
        *,
        kind: str = "text",
        instructions: str = "base",
        backend: str = "embedded",
        homes: int | None = None,
        in_view: bool | None = None,
        min_solution: int = 5,
        max_solution: int | None = None,
        step_length: float = 0.25,
        success_distance: float = 1.0,
        image_size: int = 255,
        fov: float = 100.0,
        multiview: bool = False,
        max_objects: int = 20,
        ahead_angle: float = 45.0,
        success_reward: float = 10.0,
        step_penalty: float = -0.1,
        max_turns: int = 4,
        max_actions_per_turn: int = 5,
        **others: Any,
    ) -> None:
        super().__init__(max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, **others)
        self.kind, self.instructions = one_of("kind", kind, KINDS), one_of("instructions", instructions, SETS)
        self.backend = one_of("backend", backend, BACKENDS)
        self.multiview = bool(one_of("multiview", multiview, (False, True)))
        self.max_objects = whole_number("max_objects", max_objects, at_least=1)
        self.ahead_angle = in_range("ahead_angle", ahead_angle, 1.0, 89.0)
        self.success_reward = self.task_reward = finite_number("success_reward", success_reward)
        self.step_penalty = finite_number("step_penalty", step_penalty)
        self.image_size = whole_number("image_size", image_size, at_least=16, at_most=2048)
        shortest, longest = self._solution_range(min_solution, max_solution)
        self.rules = Rules(
            step_length=in_range("step_length", step_length, 0.05, 1.0),
            success_distance=positive_number("success_distance", success_distance),
            fov=in_range("fov", fov, 20.0, 150.0),
            image_size=self.image_size,
            min_solution=shortest,
            max_solution=longest,
            in_view=one_of("in_view", in_view, (None, True, False)),
            homes=None if homes is None else whole_number("homes", homes, at_least=1),
        )
        self._world = self._make_world()
        self._set_spaces()
        self._name = ""
        self._shortest = self._taken = 0  # actions: of the shortest plan from the start, and those that ran
        self._drawn: tuple[Any, dict[str, np.ndarray]] | None = None  # the last pose that was drawn, and its pictures

    def _solution_range(self, shortest: int, longest: int | None) -> tuple[int, int]:
        budget = self.max_turns * self.max_actions_per_turn
        low = whole_number("min_solution", shortest, at_least=1)
        high = budget if longest is None else whole_number("max_solution", longest, at_least=1)
        if high > budget:
            raise ConfigError(
                f"max_solution={high} actions do not fit into {budget} (max_turns x max_actions_per_turn)"
            )
        if low > high:
            raise ConfigError(f"min_solution={low} is above max_solution={high}")
        return low, high

    def _make_world(self) -> World:
        if self.backend == "ai2thor":
            from agentrl.envs.navigation.thor import ThorWorld

            return ThorWorld(self.rules, self.split, self.instructions)
        from agentrl.envs.navigation.embedded import EmbeddedWorld

        return EmbeddedWorld(self.rules, self.split, self.instructions)

    def _set_spaces(self) -> None:
        parts: dict[str, spaces.Space] = {"text": AnyText()}
        for name in self._views() if self.kind == "visual" else ():
            parts[name] = spaces.Box(0, 255, (self.image_size, self.image_size, 3), np.uint8)
        self.observation_space = spaces.Dict(parts)
        self.action_space = AnyText(ACTIONS, max_words=self.max_actions_per_turn)

    def _views(self) -> dict[str, str]:
        """Names of the pictures -> which side each shows."""
        sides = SIDES if self.multiview else ("ahead",)
        return {"image" if side == "ahead" else f"image_{side}": side for side in sides}

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The names of this split's tasks."""
        return self._world.tasks()

    def _find_task(self, task: Any) -> tuple[str, Any]:
        return task, self._world.find(task)

    def _begin(self, task: tuple[str, Any]) -> None:
        self._name, found = task
        self._world.begin(found)
        self._shortest, self._taken = len(self._world.plan() or ()), 0

    def _task(self) -> str:
        return self._name

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        return parse_turn(action, GRAMMAR, self.max_actions_per_turn)

    def _act(self, primitive: str) -> Outcome:
        problem = self._world.act(primitive)
        self._taken += 1
        if problem is not None:
            return Outcome({"step": self.step_penalty}, effective=False, feedback=f"{primitive}: {problem}.")
        if self._distance() <= self.rules.success_distance + 1e-9:
            return Outcome({"success": self.success_reward}, True, True, True, "You have arrived.")
        return Outcome({"step": self.step_penalty})

    def _distance(self) -> float:
        """Metres from the agent to the target, on the floor plan."""
        eye, target = self._world.eye, self._world.target
        return math.hypot(target.x - eye.x, target.y - eye.y)

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        info = super()._info(actions, terms, **facts)
        if not self._over:
            return {**info, "metrics": {}}
        share = self._shortest / max(self._shortest, self._taken, 1)
        metrics = {"spl": share if self._success else 0.0, "distance": round(self._distance(), 2)}
        return {**info, "metrics": metrics}

    # ------------------------------------------------------------------ the truth

    def state(self) -> NavigationState:
        """Where the target is and what is in view."""
        world, eye = self._world, self._world.eye
        target = self._sighting(world.target)
        found = sorted((self._sighting(thing) for thing in world.things_in_view()), key=_nearest)
        return NavigationState(
            target_obj_type=target.type,
            target_distance_to_player=target.distance_to_player,
            target_direction_to_player=target.direction_to_player,
            visible_objects=tuple(found[: self.max_objects]),
            instruction=world.instruction,
            scene=world.scene,
            x=round(eye.x, 4),
            y=round(eye.y, 4),
            heading=HEADINGS[eye.heading],
            tilt=eye.tilt,
        )

    def _sighting(self, thing: Thing) -> Sighting:
        eye = self._world.eye
        direction = direction_of(bearing(eye, thing.x, thing.y), self.ahead_angle)
        return Sighting(thing.type, direction, round(math.hypot(thing.x - eye.x, thing.y - eye.y), 2))

    def oracle(self) -> str | None:
        """The first turn of a shortest plan."""
        plan = None if self._over else self._world.plan()
        return self.action_separator.join(plan[: self.max_actions_per_turn]) if plan else None

    def actions_needed(self) -> int | None:
        """The length of a shortest plan."""
        plan = None if self._over else self._world.plan()
        return len(plan) if plan else None

    def about_task(self) -> dict[str, Any]:
        """What is to be found, and the actions of a shortest plan."""
        return {"group": self._world.target.type, "steps": self._shortest}

    @property
    def tools(self) -> list[dict[str, Any]]:
        """One tool, `act`."""
        action = {"type": "string", "enum": list(ACTIONS), "description": "What to do."}
        return [function_schema("act", "Move, turn or tilt the camera once.", {"action": action})]

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """`act(action)` is the action's name."""
        return arguments["action"] if name == "act" else None

    def tool_calls(self, action: str) -> list[dict[str, Any]]:
        """An `act` for each name."""
        return [{"name": "act", "arguments": {"action": part}} for part in action.split(self.action_separator)]

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The task, the actions and the limits."""
        rules = self.rules
        return (
            "You are a robot in a home. You are told which object somebody wants you to go to. You have arrived as "
            f"soon as you stand within {rules.success_distance:g} m of it; then the episode ends.\n"
            f"Actions: moveahead, moveback, moveleft, moveright (one step of {rules.step_length:g} m, without "
            "turning), rotateleft, rotateright (turn by 90 degrees), lookup, lookdown (tilt the camera by 30 degrees). "
            f"Walls and furniture block you. {SHOWN[self.kind]}\n"
            f"Write up to {self.max_actions_per_turn} actions a turn, separated by commas; they run in order. You have "
            f"{self.max_turns} turns.\n"
            "Reply with the actions alone, or put them between <answer> and </answer>."
        )

    def _observe(self) -> dict[str, Any]:
        lines = [self._feedback, self._heading(), f"Instruction: {self._world.instruction}"]
        if self.kind == "text":
            seen = [each.sentence() for each in self.state().visible_objects]
            lines += ["You see:", *seen] if seen else ["You see no object from here."]
            return {"text": "\n".join(filter(None, lines))}
        views = self._views()
        lines += ["<image>"] if len(views) == 1 else [f"{side.capitalize()}: <image>" for side in views.values()]
        return {"text": "\n".join(filter(None, lines)), **self._pictures()}

    def _pictures(self) -> dict[str, np.ndarray]:
        """Fresh copies of what is seen from here; drawn only if the agent has moved, turned or tilted."""
        pose = self._world.scene, self._world.eye
        if self._drawn is None or self._drawn[0] != pose:
            self._drawn = pose, {name: self._world.picture(SIDES[side]) for name, side in self._views().items()}
        return {name: picture.copy() for name, picture in self._drawn[1].items()}

    def _draw(self) -> np.ndarray:
        """The view ahead beside a map."""
        view = self._pictures()["image"]
        return np.concatenate([view, self._world.map_picture(self.image_size)], axis=1)

    def _draw_text(self) -> str:
        return f"{self._world.instruction}\n{self._world.map_text()}"

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        return {
            "task": self._name,
            "pose": self._world.save(),
            "shortest": self._shortest,
            "taken": self._taken,
            "place": self._index,
            "stride": self._stride,
        }

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, _Saved)
        found = self._world.find(saved.task)
        self._restore_walk(saved.place, saved.stride)
        self._world.load(found, saved.pose)
        self._name, self._shortest, self._taken = saved.task, saved.shortest, saved.taken

    def close(self) -> None:
        """Also stops what the backend runs."""
        self._world.close()
        super().close()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_drawn": None}


SHOWN = {
    "text": "You are told which objects are in view, in which direction and how far away.",
    "visual": "You see a picture of what is in front of you.",
}
Count = Annotated[int, msgspec.Meta(ge=0)]


class _Saved(msgspec.Struct):
    task: str
    pose: dict[str, Any]
    shortest: Count
    taken: Count
    place: int
    stride: int


def _nearest(sighting: Sighting) -> tuple[float, str, str]:
    return sighting.distance_to_player, sighting.type, sighting.direction_to_player


def in_range(name: str, value: Any, low: float, high: float) -> float:
    """`value` as a float between two limits, or a `ConfigError`."""
    number = finite_number(name, value)
    if not low <= number <= high:
        raise ConfigError(f"{name} must be from {low:g} to {high:g}; got {value!r}")
    return number
