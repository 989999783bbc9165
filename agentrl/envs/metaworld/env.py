"""Meta-World: a robot arm moved step by step, in fifty tasks and four suites of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from agentrl.core.errors import ConfigError, EnvFault, did_you_mean
from agentrl.envs.common.control import AS_DRAWN, REVERSED, ControlEnv, one_of
from agentrl.envs.metaworld import package
from agentrl.envs.metaworld.starts import Start, StartNames
from agentrl.envs.metaworld.tasks import INSTRUCTIONS, WORDS, things
from agentrl.envs.metaworld.world import CAMERAS, HAND, HIGHEST_REWARD, OBJECTS, PLACE, SIZE, World

REWARDS = ("sparse", "dense")
PROTOCOLS: dict[str, dict[str, Any]] = {
    "lerobot": {"instructions": "lerobot", "image_size": 480, "camera": "corner4", "max_turns": 500},
}
USUAL: dict[str, Any] = {"instructions": "agentrl", "image_size": 256, "camera": "corner4", "max_turns": 100}
KEPT = 10  # simulations of a suite that stay in memory


class MetaWorldEnv(ControlEnv):
    """Move a robot arm step by step until a drawer is open, a peg in its hole, a nail in the wood.

    ## Description
    The fifty tasks of Meta-World 3.1.1 with its Sawyer arm on a table, simulated by its own package. Each has an id:
    `agentrl/MetaWorld-reach-v0` is Meta-World's `reach-v3`. Its suites have ids as well:

    | id | train and dev | test |
    |---|---|---|
    | `agentrl/MetaWorld-ML10-v0` | 10 tasks | 5 others |
    | `agentrl/MetaWorld-ML45-v0` | 45 tasks | 5 others |
    | `agentrl/MetaWorld-MT10-v0` | 10 tasks | the same tasks |
    | `agentrl/MetaWorld-MT50-v0` | all 50 tasks | the same tasks |

    ![The fifty tasks, each at a start of the test split](../../_static/metaworld.png)

    Starts differ between all splits. A task's start is where its objects and its goal are; Meta-World draws it at
    random, and here its id (`reach:test:3`) says which draw: the same in every process and on every machine.

    ## Observations
    - `text`: the instruction, then feedback on an action that was refused. Meta-World has no instructions: they are in
      our own words, or with `instructions="lerobot"` in those that lerobot's policies were trained with. Without
      `obs_text` it is in `info["instruction"]` and in the attribute `instruction` alone.
    - `image` (with `obs_mode="image"`): the table as `camera` sees it, the right way up. The corner cameras of the
      package are mounted upside down; here they are turned. `picture_convention="raw"` leaves them as they are.
      Without shadows and mirrors: a picture takes 40 ms of a processor instead of 300.
    - `proprio`: where the hand is (x, y, z in metres) and how far the gripper is open (0 to 1).
    - `state` (with `obs_mode="state"`, which draws nothing): the 39 numbers of Meta-World's own observation.

    | numbers of `state` | what |
    |---|---|
    | 0-2, 3 | hand, opening of the gripper: `proprio` |
    | 4-6, 7-10 | position and quaternion of the first object |
    | 11-13, 14-17 | the same of a second object (hammer: the nail; stick-push and stick-pull: the container), else 0 |
    | 18-35 | numbers 0-17 of the step before |
    | 36-38 | the goal, or 0 where `show_goal` is False |

    The goal is where the object, or the hand, must get to. It is shown by default in the tasks and MT suites, in the
    numbers and as a marker in pictures. In the ML suites it is hidden from both, as Meta-World defines them: it must be
    found out by trying, or from the instruction and the picture.

    ## Actions
    `Box(-1, 1, (4,), float32)`: the first three move the hand's target along x, y and z by up to 1 cm, the fourth is
    the force that closes (positive) or opens (negative) the gripper. One action is one turn; `ActionChunks` runs
    several. The hand is pulled after its target by a weld, as in Meta-World; each turn simulates 12.5 ms.
    Numbers out of range are clipped, as Meta-World does, and counted in `info["clipped"]`; with `out_of_range="refuse"`
    they are refused. An array of the wrong shape or type, or with a NaN, is answered with feedback: nothing moves and
    the turn counts.

    ## Rewards
    - `reward="sparse"`: `success` 1.0 when Meta-World calls the task done, else nothing.
    - `reward="dense"`: Meta-World's own reward of every step, from 0 to 10, as `dense`. Success ends the episode here,
      so it also pays `finish`, 10 for every turn that is left: otherwise waiting beside the goal would pay more.

    ## Episode end
    Terminates when the task is done. Truncates after `max_turns` turns (`info["limit"] == "task"`). 100 is the limit of
    the RL-VLA3 paper; Meta-World's own is 500, and it goes on after success.

    ## Arguments
    - `task="reach"`, which the id gives: one of the fifty, or a suite.
    - `protocol=None`, or whose evaluation to repeat. It sets the four options of this table; one that is given beside
      it wins.

      | `protocol` | `instructions` | `image_size` | `camera` | `max_turns` |
      |---|---|---|---|---|
      | None | agentrl | 256 | corner4 | 100 |
      | `"lerobot"` | lerobot | 480 | corner4 (lerobot moves `corner2` there, and turns its pictures upright) | 500 |

    - `instructions=None`: `"agentrl"` or `"lerobot"`, whose words. `max_turns=None`, `image_size=None`. `camera=None`:
      `corner`, `corner2`, `corner3`, `corner4`, `topview`, `behindGripper`, `gripperPOV`. Figures in papers are mostly
      of `corner2` moved to where `corner4` is.
    - `obs_mode="image"` or `"state"`; `obs_text=True`: `text` is part of the observation.
      `picture_convention="upright"` or `"raw"`; `out_of_range="clip"` or `"refuse"`.
    - `reward="sparse"` or `"dense"`; `invalid_penalty=0.0`, `whole_turn_penalty=False`.
    - `show_goal=None`: True for tasks and MT suites, False for ML suites.
    - `split="train"`, `render_mode=None`, `full_info=True`. `max_actions_per_turn=1` is all there is (`ActionChunks`
      runs several).

    A split has 2,000 (train), 200 (dev) or 200 (test) starts of each task; those of a suite's tasks take turns.

    ## Truth
    `state()` supports `structured`: `hand_position`, `gripper_opening`, the positions of the objects by name, and
    `goal_position`, in metres. `oracle()` is Meta-World's scripted expert. Snapshots continue bit for bit, in other
    processes too.

    ## Honest note
    Physics, rewards, success and experts are those of Meta-World, by its package: `sparse` success rates at 500 turns
    compare with published ones of its version 3, up to the starts. At the default 100 turns some experts are too slow:
    [what they solve of each task](../../results/robots.md). Meta-World's benchmarks draw 50 goals a task; the splits
    here are larger. Pictures are not its default ones.
    """

    safe_arguments = ("task", "reward", "show_goal", "camera", "instructions", "protocol")
    conventions: ClassVar = {"upright": (AS_DRAWN, AS_DRAWN), "raw": (REVERSED, REVERSED)}
    control_frequency: ClassVar = 80.0
    oracle_may_fail = True

    def __init__(
        self,
        *,
        task: str = "reach",
        reward: str = "sparse",
        show_goal: bool | None = None,
        protocol: str | None = None,
        instructions: str | None = None,
        camera: str | None = None,
        image_size: int | None = None,
        max_turns: int | None = None,
        **others: Any,
    ) -> None:
        if task not in INSTRUCTIONS and task not in package.SUITES:
            known = [*INSTRUCTIONS, *package.SUITES]
            raise ConfigError(
                f"task must be a task or suite of Meta-World; got {task!r}.{did_you_mean(str(task), known)}"
            )
        given = {"instructions": instructions, "camera": camera, "image_size": image_size, "max_turns": max_turns}
        usual = USUAL if protocol is None else PROTOCOLS[one_of("protocol", protocol, PROTOCOLS)]
        chosen = {name: usual[name] if value is None else value for name, value in given.items()}
        reward, camera = one_of("reward", reward, REWARDS), one_of("camera", chosen["camera"], CAMERAS)
        if show_goal is not None and not isinstance(show_goal, bool):
            raise ConfigError(f"show_goal must be True, False or None; got {show_goal!r}")
        super().__init__(max_turns=chosen["max_turns"], image_size=chosen["image_size"], **others)
        if not camera.startswith("corner"):
            self._lies = self.conventions["upright"]  # the package mounts the others the right way up
        package.load()
        self.task, self.reward, self.camera, self.protocol = task, reward, camera, protocol
        self.instructions = one_of("instructions", chosen["instructions"], WORDS)
        self.show_goal = not task.startswith("ML") if show_goal is None else show_goal
        tasks = package.suite_tasks(task, self.split) if task in package.SUITES else (task,)
        self._names = StartNames(tasks, self.split)
        self._worlds: OrderedDict[str, World] = OrderedDict()
        self._start: Start | None = None
        self._set_spaces(actions=4, proprio=4, state=SIZE)

    # ------------------------------------------------------------------ tasks

    @property
    def instruction(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What this episode asks for."""
        return WORDS[self.instructions][self._start.task] if self._start else ""

    def tasks(self) -> Sequence[str]:
        """The ids of this split's starts, those of a suite's tasks in turn."""
        return self._names

    def _find_task(self, task: Any) -> Start:
        start = self._names.find(task) if isinstance(task, str) else None
        if start is None:
            raise self._unknown_task(task)
        return start

    def _task_at(self, index: int) -> Start:
        return self._names.at(index)

    def _begin(self, task: Start) -> None:
        self._world_of(task.task).begin(task)
        self._start = task

    def _task(self) -> str:
        return self._start.name if self._start else ""

    def about_task(self) -> dict[str, Any]:
        """Which of the tasks it is."""
        return {"group": self._start.task} if self._start else {}

    def _world_of(self, task: str) -> World:
        """The simulation of a task, made when it is first needed; the ones used last are kept."""
        if task not in self._worlds:
            while len(self._worlds) >= KEPT:
                self._worlds.popitem(last=False)[1].close()
            self._worlds[task] = World(task, self.show_goal)
        self._worlds.move_to_end(task)
        return self._worlds[task]

    @property
    def _world(self) -> World:
        if self._start is None or self._start.task not in self._worlds:
            raise EnvFault("the environment is closed; call reset()")
        return self._worlds[self._start.task]

    # ------------------------------------------------------------------ turns

    def _simulate(self, action: np.ndarray) -> bool:
        self._world.step(action)
        return self._world.success

    def _reward_terms(self, success: bool) -> dict[str, float]:
        if self.reward == "sparse":
            return super()._reward_terms(success)
        left = self.max_turns - (self._turn or 0) - 1
        return {"dense": self._world.reward, **({"finish": HIGHEST_REWARD * left} if success and left else {})}

    def oracle(self) -> np.ndarray | None:
        """What Meta-World's scripted expert does now."""
        return None if self._over or self._start is None else self._world.expert_action()

    # ------------------------------------------------------------------ what is seen

    def _proprio(self) -> np.ndarray:
        return self._world.observation[HAND]

    def _object_state(self) -> np.ndarray:
        shown = self._world.observation.copy()
        if not self.show_goal:
            shown[PLACE] = 0.0
        return shown

    def _frame(self, picture: str) -> np.ndarray:
        return self._world.picture(self.camera, self.image_size)

    def _named_state(self) -> dict[str, Sequence[float]]:
        seen = self._world.observation.tolist()
        named = {
            f"{name}_position": seen[where] for name, where in zip(things(self._world.task), OBJECTS, strict=False)
        }
        return {"hand_position": seen[0:3], "gripper_opening": seen[3:4], **named, "goal_position": seen[PLACE]}

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        return {"task": self._task(), "place": self._index, "stride": self._stride, "world": self._world.save()}

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, _Saved)
        start = self._names.find(saved.task)
        if start is None:
            raise ValueError("this split has no such task")
        self._restore_walk(saved.place, saved.stride)
        self._world_of(start.task).load(start, saved.world)
        self._start = start

    def close(self) -> None:
        """Free the simulations; a later `reset` makes others."""
        super().close()
        while self._worlds:
            self._worlds.popitem()[1].close()


class _Saved(msgspec.Struct):
    task: str
    place: Annotated[int, msgspec.Meta(ge=0)]
    stride: int
    world: dict[str, Any]
