"""PrimitiveSkill: a robot arm that picks, places and pushes by coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import finite_number, one_of, whole_number
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn
from agentrl.core.seeding import named_noise
from agentrl.core.slow import notify_if_slow
from agentrl.core.spaces import AnyText
from agentrl.envs.common.perturb import read_perturbation
from agentrl.envs.primitiveskill.backend import GRAMMAR, PARAMETERS, SEPARATOR, Action, Start, pick, place, read_turn
from agentrl.envs.primitiveskill.perturb import perturbed_start
from agentrl.envs.primitiveskill.starts import CANDIDATES, StartNames, candidate, solved_attempt
from agentrl.envs.primitiveskill.state import SkillState, whole
from agentrl.envs.primitiveskill.table import Table
from agentrl.envs.primitiveskill.tasks import find_task
from agentrl.envs.primitiveskill.words import GUIDES, describe, facts, rules

KINDS = ("text", "visual")
STAGE_REWARDS = ("highest", "subgoal")
MOVING = ("distractors", "poses")  # factors of a perturbation that change what is simulated
# What random play does where nothing better is known: every action of it is possible.
SAMPLES = (
    *(f"{verb}({x},{y},20)" for verb in ("pick", "place") for x in (-80, 0, 80) for y in (-120, 0, 120)),
    "push(-60,0,20,60,0,20)",
    "push(60,-100,20,-60,-100,20)",
)
HIGHER = 40  # mm above a listed point that random play puts things down: on what is there
TOOLS = {
    "pick": "Grasp the object whose centre is at a point, and lift it.",
    "place": "Put the held object down with its centre at a point.",
    "push": "Move the closed gripper from one point straight to another.",
}


class PrimitiveSkillEnv(AgentEnv[Any, Any]):
    """Tell a robot arm by coordinates what to pick up, where to put it down and what to push.

    ## Description
    A Panda arm stands behind a table; the viewer looks at both from the other side. Four tasks, each with ids of its
    own: `Place` (the red cube on the left target, the green cube on the right one), `Stack` (red on green, yellow on
    red), `Drawer` (the apple into the drawer, and the drawer closed) and `Align` (two cubes on the line x = 0). The
    prompt lists where all objects are, but not which is which: that is for the picture, or the description, to tell.
    Tasks, actions, limits and rewards are those of VAGEN's PrimitiveSkill; the scenes and the simulation are our own.

    ![The four tasks: a start above, what the oracle makes of it below](../../_static/primitiveskill.png)

    ## Observations
    - `Visual`: `{"text", "image"}`, a picture of the whole workspace from the viewer's side; `<image>` marks its
      place in the text.
    - `Text`: `{"text"}`; instead of a picture, sentences say what it would show: roughly where each object is, what is
      on or in what, and the order of all objects from left to right and from near to far. That is enough to match
      names and positions.

    Both texts give the instruction, the limits of the workspace, the positions of all objects in whole millimetres,
    and in `Drawer` `drawer_open_value`, how far the drawer is open, in mm. The order of the positions is drawn at
    random for each task and stays the same for the whole episode.

    The frame: the viewer faces the negative x axis, negative y is to the left, z is up, the table top is z = 0, and a
    position is the centre of an object. Cubes have sides of 40 mm, the apple is 60 mm wide.

    ## Actions
    `pick(x,y,z)`, `place(x,y,z)` and `push(x1,y1,z1,x2,y2,z2)`; up to `max_actions_per_turn` a turn, separated by `|`,
    bare or between `<answer>` and `</answer>`; in whole millimetres.

    - `pick` opens the gripper, goes down to the point, closes and lifts. It fails if the gripper closes on nothing,
      hits something on its way, or holds something already.
    - `place` brings the held object over the point and lowers it until its centre is there or it rests on something;
      from a point too high it goes on down. It fails if nothing is held.
    - `push` moves the closed gripper in a straight line between the points. It fails if it is blocked, or if something
      is held.

    A failed action is valid, costs its step, and may have moved things; the feedback says what happened. A point
    outside the workspace, or text that is no action, is invalid: the arm does not move, and the turn ends there.

    ## Rewards
    Per action, the first that applies: `success` +10 if it completes the task; `stage` if it reaches a stage higher
    than any before in this episode; otherwise `step` -0.1. An invalid action costs `invalid` -0.1. Stages count from
    0. With `stage_reward="highest"` reaching a stage pays (stage + 1) x 2, with `"subgoal"` +1 (VAGEN's appendix and
    its main text). A stage that is skipped is not paid, and one that is undone and reached again is not paid twice.

    | task | stage 0 | stage 1 | stage 2 | success |
    |---|---|---|---|---|
    | `Place` | a cube is in the gripper | a cube is on its target | and the other is in the gripper | both are |
    | `Stack` | red is in the gripper | red is on green | and yellow is in the gripper | yellow is on red, on green |
    | `Drawer` | the apple is in the gripper | the apple is in the drawer | | and it is open by at most 10 mm |
    | `Align` | a cube is within 10 mm of x = 0 | | | both are |

    A cube is on a target or on another cube when it rests there with its centre within 20 mm of the other's in x and in
    y; on, in and within count once the gripper has let go.

    ## Episode end
    Terminates when the task is done. Truncates after `max_turns` turns (`info["limit"] == "task"`).

    ## Arguments
    - `task="place"`, which the id gives; or `"module:Class"`, a task of your own.
    - `backend="mujoco"`, or `"mani_skill"`, where ManiSkill and sapien are installed (x86-64 only).
    - `stage_reward="highest"` or `"subgoal"`, `success_reward=10.0`, `step_penalty=-0.1`, `invalid_penalty=-0.1`.
    - `max_turns=3`, `max_actions_per_turn=2`, `image_size=256`, `split="train"`, `render_mode=None`.
    - `perturb=None`, `perturb_seed=0`: see Robustness (`backend="mujoco"` alone; a task of your own needs `paraphrases`
      for `instructions`).
    - `full_info=True`; False: only `success`, `valid` and `effective`, for libraries that store `info` in arrays.
    - `whole_turn_penalty=False`: when True, an invalid turn costs at least what all its actions would (-0.2 here).

    `gym.make_vec(..., simulator="warp")` plays many worlds on a GPU (`docs/gpus.md`).

    A task id is `place:train:17`. The splits have 2,000, 200 and 200 of them, drawn from seeds that they do not share.
    Each is a start that the oracle has solved within the default limits: this is tried out when the id is first used
    (about as long as an episode takes), and kept in the cache for these sources, versions and this kind of processor.

    ## Robustness
    `perturb="light:2,camera:1"`, or a dict of the same, changes the world by factors with levels from 0 (not at all) to
    3. What is drawn depends on the task's id, the factor and `perturb_seed` alone: the same for every policy and
    process, and after a snapshot; a higher level goes further the same way.

    | factor | what changes, at levels 1, 2 and 3 |
    |---|---|
    | `light` | 75, 55, 38 % or 108, 116, 125 % of it; tinted by 5, 11, 18 %; from 25, 55, 100 degrees aside |
    | `camera` | the viewer goes round the table by 4, 8, 14 degrees, up or down by 2, 4, 7, and 2, 5, 9 % away |
    | `textures` | table and floor get other patterns and colours, mixed in by 25, 50, 100 % |
    | `distractors` | 1, 2, 3 cubes or a lime that no task is about, apart from everything |
    | `poses` | everything 10, 20, 30 mm aside together, each cube turned by 0.15, 0.35, 0.60 rad |
    | `instructions` | other verbs; another order of words; a wish in place of a command |

    Starts with distractors or other poses are drawn until the oracle solves one, like all starts. `agentrl eval ID
    --perturb all` prints success by factor and level beside the unchanged world.

    ![Each factor at levels 0 to 3](../../_static/primitiveskill_perturbed.png)

    ## A task of your own
    A subclass of `Task` says what is on the table, what is asked, how far it is done and how to do it; its judges,
    snapshots, pictures and oracle come with it. Saved as `my_tasks.py`:

    ```python
    from agentrl.envs.primitiveskill.backend import Start
    from agentrl.envs.primitiveskill.tasks import Task
    from agentrl.envs.primitiveskill.tasks.scene import RED, YELLOW, cube, scatter
    from agentrl.envs.primitiveskill.tasks.scene import Plan


    class Swap(Task):
        instruction = "Bring the yellow cube to the left of the red cube."
        stage_names = ("the yellow cube is in the gripper", "the yellow cube is left of the red cube")

        def draw(self, random):
            left, right = sorted(scatter(random, 2), key=lambda place: place[1])
            cubes = cube("red_cube", RED), cube("yellow_cube", YELLOW)
            return Start(cubes, {"red_cube": left, "yellow_cube": right}, {})

        def stages(self, scene):
            left = scene.positions["yellow_cube"][1] < scene.positions["red_cube"][1]
            return scene.held == "yellow_cube", left and scene.held is None

        def plan(self, scene):
            x, y, z = scene.positions["red_cube"]
            plan = Plan(scene)
            plan.carry("yellow_cube", (x, y - 80.0, 20.0))
            return plan.actions
    ```

    and played as `gymnasium.make("agentrl/PrimitiveSkill-Place-Visual-v0", task="my_tasks:Swap")`.

    ## Truth
    `state()` supports `natural` and `structured`: `red_cube_position` and so on as [x, y, z] in whole millimetres, and
    `drawer_open_value`. `oracle()` plans from wherever the episode is, mistakes included; None where nothing helps any
    more, such as when the drawer is closed and the apple outside.

    ## Honest note
    Arm, objects and physics are agentrl's own, simulated by MuJoCo; with `backend="mani_skill"` ManiSkill simulates the
    same tasks. Neither uses VAGEN's scenes: scores are comparable with each other, not with published figures.
    """

    state_type = SkillState
    representations = frozenset({"natural", "structured"})
    safe_arguments = (
        "kind", "task", "stage_reward", "success_reward", "step_penalty", "image_size", "perturb", "perturb_seed",
    )  # fmt: skip
    action_names = tuple(PARAMETERS)
    action_separator = SEPARATOR
    guides: ClassVar[dict[str, str]] = GUIDES

    def __init__(
        self,
        *,
        kind: str = "text",
        task: str = "place",
        backend: str = "mujoco",
        stage_reward: str = "highest",
        success_reward: float = 10.0,
        step_penalty: float = -0.1,
        image_size: int = 256,
        perturb: str | Mapping[str, int] | None = None,
        perturb_seed: int = 0,
        max_turns: int = 3,
        max_actions_per_turn: int = 2,
        **others: Any,
    ) -> None:
        kind, stage_reward = one_of("kind", kind, KINDS), one_of("stage_reward", stage_reward, STAGE_REWARDS)
        super().__init__(max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, **others)
        self.kind, self.backend, self.stage_reward = kind, backend, stage_reward
        self.success_reward = self.task_reward = finite_number("success_reward", success_reward)
        self.step_penalty = finite_number("step_penalty", step_penalty)
        self.image_size = whole_number("image_size", image_size, at_least=32, at_most=1024)
        self.task, self._names = find_task(task), StartNames(task, self.split)
        self.change = read_perturbation(perturb, perturb_seed)
        if self.change and backend != "mujoco":
            raise ConfigError(f'perturb must be None with backend="{backend}"; got "{self.change}"')
        if self.change.level("instructions") and not self.task.paraphrases:
            raise ConfigError(f"perturb must leave out instructions: the task {task} has no paraphrases")
        self._table = Table(backend)
        self._number, self._attempt, self._variant = 0, 0, 0  # which start is played
        self._best = -1  # the highest stage that was reached
        parts: dict[str, spaces.Space] = {"text": AnyText()}
        if kind == "visual":
            parts["image"] = spaces.Box(0, 255, (self.image_size, self.image_size, 3), np.uint8)
        self.observation_space = spaces.Dict(parts)
        self.action_space = AnyText(SAMPLES, max_words=self.max_actions_per_turn, separator=SEPARATOR)

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The ids of this split's starts, each of which the oracle solves."""
        return self._names

    def _find_task(self, task: Any) -> int:
        number = self._names.index_of(task) if isinstance(task, str) else None
        if number is None:
            raise self._unknown_task(task)
        return number

    def _task_at(self, index: int) -> int:
        return index

    def _begin(self, task: int) -> None:
        with notify_if_slow(f"checking that {self._names[task]} can be solved, once", seconds=5.0):
            attempt = solved_attempt(
                self.task, self._table, f"{self.split}-{task}", lambda one: candidate(self.task, self.split, task, one)
            )
            variant = 0
            if places := [f"{name[0]}{self.change.level(name)}" for name in MOVING if self.change.level(name)]:
                name = f"{self.split}-{task}-{''.join(places)}-{self.change.seed}"
                variant = solved_attempt(self.task, self._table, name, lambda one: self._candidate(task, attempt, one))
        self._number, self._attempt, self._variant = task, attempt, variant
        self._table.begin(self._candidate(task, attempt, variant))
        self._best = self.task.stage(self._table.scene)  # what holds from the beginning is not paid

    def _candidate(self, number: int, attempt: int, variant: int) -> Start:
        start = candidate(self.task, self.split, number, attempt)
        return perturbed_start(start, self.change, self._names[number], variant) if self.change else start

    def _task(self) -> str:
        return self._names[self._number]

    @property
    def instruction(self) -> str:
        """What the agent is told."""
        level = self.change.level("instructions")
        if not level:
            return self.task.instruction
        wordings = self.task.paraphrases[level - 1]
        return wordings[int(self.change.random("instructions", self._task()).integers(len(wordings)))]

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        return read_turn(action, self.max_actions_per_turn)

    def _act(self, primitive: Action) -> Outcome:
        before = self.state()
        feedback = self._table.run(primitive).feedback
        after = self.state()
        if after.stage == len(self.task.stage_names) - 1:
            return Outcome({"success": self.success_reward}, True, True, True, f"{feedback} The task is done.")
        if after.stage > self._best:
            self._best = after.stage
            pay = 2.0 * (after.stage + 1) if self.stage_reward == "highest" else 1.0
            return Outcome({"stage": pay}, feedback=feedback)
        return Outcome({"step": self.step_penalty}, effective=after != before, feedback=feedback)

    # ------------------------------------------------------------------ the truth

    def state(self) -> SkillState:
        """Named positions in whole millimetres."""
        scene = self._table.scene
        return SkillState(
            self.instruction,
            {name: whole(at) for name, at in scene.positions.items()},
            {name: round(value) for name, value in scene.values.items()},
            scene.held,
            self.task.stage(scene),
        )

    def oracle(self) -> str | None:
        """The first turn of a plan from here, whatever has happened; None if there is none."""
        plan = self._plan()
        return SEPARATOR.join(map(str, plan[: self.max_actions_per_turn])) if plan else None

    def actions_needed(self) -> int | None:
        """The length of that plan."""
        return len(plan) if (plan := self._plan()) else None

    def _plan(self) -> list[Action] | None:
        return None if self._over else self.task.plan(self._table.scene)

    def legal_actions(self) -> list[str]:
        """Grasp at each of the listed points, or put down there what is held."""
        points = self._listed()
        if self._table.scene.held is None:
            return [str(pick(point)) for point in points]
        return [str(place((x, y, z + HIGHER))) for x, y, z in points]

    @property
    def tools(self) -> list[dict[str, Any]]:
        """`pick`, `place` and `push`."""
        return GRAMMAR.tools(TOOLS)

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """The call as text."""
        return GRAMMAR.tool_action(name, arguments)

    def tool_calls(self, action: str) -> list[dict[str, Any]]:
        """The actions of a turn as calls."""
        return GRAMMAR.tool_calls(action)

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The frame, the actions and the limits."""
        view = "the picture" if self.kind == "visual" else "the description"
        return rules(view, self.max_actions_per_turn, self.max_turns)

    def _listed(self) -> list[tuple[int, int, int]]:
        """The positions in the order of this start: it is drawn with it, and stays for the whole episode."""
        positions = list(self.state().positions.values())
        order = named_noise(self._attempt, [self._task()], len(positions))[0].argsort()
        return [positions[place] for place in order]

    def _observe(self) -> dict[str, Any]:
        return {"text": self._text(), "image": self._draw()} if self.kind == "visual" else {"text": self._text()}

    def _text(self) -> str:
        state = self.state()
        view = ["<image>"] if self.kind == "visual" else describe(self._table.scene)
        told = facts(state.instruction, self._listed(), state.values)
        return "\n".join(part for part in (self._feedback, self._heading(), *view, *told) if part)

    def _draw(self) -> np.ndarray:
        return self._table.picture(self.image_size)

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        return {
            "number": self._number,
            "attempt": self._attempt,
            "variant": self._variant,
            "best": self._best,
            "place": self._index,
            "stride": self._stride,
            "table": self._table.save(),
        }

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, _Saved)
        if saved.number >= len(self._names):
            raise ValueError("this split has no such task")
        self._restore_walk(saved.place, saved.stride)
        self._table.load(self._candidate(saved.number, saved.attempt, saved.variant), saved.table)
        self._number, self._attempt, self._variant = saved.number, saved.attempt, saved.variant
        self._best = saved.best

    def close(self) -> None:
        """Free the simulator; a later `reset` makes another one."""
        super().close()
        self._table.close()


class _Saved(msgspec.Struct):
    number: Annotated[int, msgspec.Meta(ge=0)]
    attempt: Annotated[int, msgspec.Meta(ge=0, lt=CANDIDATES)]
    variant: Annotated[int, msgspec.Meta(ge=0, lt=CANDIDATES)]
    best: int
    place: int
    stride: int
    table: dict[str, Any]
