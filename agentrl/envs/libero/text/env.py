"""LIBERO for language models: the tasks with primitives and coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gymnasium import spaces

from agentrl.core.claims import Claims, Points
from agentrl.core.env import Outcome
from agentrl.core.parsing import Turn
from agentrl.core.spaces import AnyText
from agentrl.core.state import State
from agentrl.envs.common.primitives import SEPARATOR, Action
from agentrl.envs.libero.playing import LiberoTasks
from agentrl.envs.libero.simulation import ProceduralSimulation, settle
from agentrl.envs.libero.text.primitives import Primitives, plan
from agentrl.envs.libero.text.words import GRAMMAR, TOOLS, VERBS, held, listing, rules

SAMPLES = (
    "pick(0,0,30)",
    "place(0,0,60)",
    "push(-50,0,20,50,0,20)",
    "pull(0,-200,100,0,-50,100)",
    "turn(-200,200,50,60)",
)
CLAIMS = Claims(points=Points(ending="_position", tolerance=10.0, synonyms={}))


@dataclass(frozen=True)
class LiberoTextState(State):
    """Where everything is, in whole millimetres over the table."""

    scored = CLAIMS

    instruction: str
    positions: dict[str, tuple[int, int, int]]
    joints: dict[str, float]
    held: str | None
    conditions: dict[str, bool]

    def natural(self) -> list[str]:
        """One sentence for each thing, and one for the gripper."""
        facts = [f"The {name.replace('_', ' ')} is at ({x}, {y}, {z})." for name, (x, y, z) in self.positions.items()]
        holding = f"The gripper holds the {self.held.replace('_', ' ')}." if self.held else "The gripper is empty."
        return [*facts, holding]

    def structured(self) -> dict[str, Any]:
        """`<name>_position` as [x, y, z], and the joints by name."""
        return {**{f"{name}_position": list(at) for name, at in self.positions.items()}, **self.joints}

    def to_json(self) -> dict[str, Any]:
        """The structured form, where judges find the positions, with what is asked, held and done."""
        told = {"instruction": self.instruction, "held": self.held, "conditions": dict(self.conditions)}
        return {**self.structured(), **told}


class LiberoTextEnv(LiberoTasks):
    """Tell a robot arm by coordinates how to carry out LIBERO's instructions.

    ## Description
    The tasks and scenes of `agentrl/LIBERO-Spatial-v0` and its sisters for language models: an action is not a motion
    of 0.05 s but a primitive such as `pick(40,-110,20)`, which a closed-loop controller carries out. What the things
    are and where they are is listed in every observation; which of two bowls is meant, and where "next to the plate"
    is, is for the model to find out.

    ## Observations
    `{"text"}`: feedback, the turn, the instruction, and where everything is in whole millimetres over the table:
    objects by kind, in an order drawn for each start; furniture with its places (the inside of a drawer, the plate of a
    stove) and the handles of drawers, doors and knobs, how far they are open and in which direction they open.

    ## Actions
    Up to `max_actions_per_turn` primitives a turn, separated by `|`, bare or between `<answer>` and `</answer>`, in
    whole millimetres: `pick(x,y,z)`, `place(x,y,z)` and `push(x1,y1,z1,x2,y2,z2)` as in PrimitiveSkill, and

    - `pull(x1,y1,z1,x2,y2,z2)`: take the handle at the first point and lead it to the second; opens and closes drawers
      and doors;
    - `turn(x,y,z,angle)`: take the knob at a point and turn it by whole degrees.

    A point means the object or handle within 50 mm of it. A failed primitive is valid, and may have moved things; the
    feedback says what happened. A point outside the workspace, or text that is no action, is invalid: the arm does not
    move, and the turn ends there.

    ## Rewards
    `success` 1 when the goal is reached; an invalid action costs `invalid` -0.1. `reward="staged"` pays part of the 1
    on the way, as in `agentrl/LIBERO-Spatial-v0`.

    ## Episode end
    Terminates when the goal is reached. Truncates after `max_turns` turns (`info["limit"] == "task"`).

    ## Arguments
    - `suite="libero_spatial"`, which the id gives; `task=None`: all of its tasks in turn, or one's number or name.
    - `max_turns=8`, `max_actions_per_turn=2`, `invalid_penalty=-0.1`, `split="train"`, `render_mode=None`.
    - `reward="success"` or `"staged"`; `perturb=None`, `perturb_seed=0`: other things, starts and words, as in
      `agentrl/LIBERO-Spatial-v0`; light, camera and textures change no text.
    - `full_info=True`; False: only `success`, `valid` and `effective`. `whole_turn_penalty=False`.

    Task ids and splits are those of the continuous kinds: `libero_spatial/3:test:17`.

    ## Truth
    `state()` supports `natural` and `structured`: `akita_black_bowl_1_position` and so on as [x, y, z], the joints by
    name; `to_json()` adds what is held and which conditions of the goal hold. `oracle()` plans from wherever the
    episode is; None where it knows no way (the microwave, the inside of shelves).

    ## Honest note
    Task files and starts are LIBERO's; objects, rooms, arm, physics and primitives are agentrl's own. Scores are not
    comparable with published LIBERO scores, which are about continuous control from pictures.
    """

    state_type = LiberoTextState
    oracle_may_fail = True
    task_reward = 1.0
    representations = frozenset({"natural", "structured"})
    action_names = tuple(VERBS)
    action_separator = SEPARATOR
    guides: ClassVar[dict[str, str]] = {
        "natural": "One sentence for each object: its name and where its centre is, such as: The plate 1 is at "
        "(40, -110, 9). Then what the gripper holds.",
        "structured": "A JSON object with the position of each object as [x, y, z] in millimetres under the key "
        '"<name>_position", such as "plate_1_position".',
    }

    def __init__(
        self,
        *,
        suite: str = "libero_spatial",
        task: str | int | None = None,
        max_turns: int = 8,
        max_actions_per_turn: int = 2,
        **others: Any,
    ) -> None:
        super().__init__(max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, **others)
        self._choose_tasks(suite, task)
        self._simulation: ProceduralSimulation = ProceduralSimulation(change=self.change)
        self.observation_space = spaces.Dict({"text": AnyText()})
        self.action_space = AnyText(SAMPLES, max_words=self.max_actions_per_turn, separator=SEPARATOR)

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        return GRAMMAR.read_turn(action, self.max_actions_per_turn)

    def _act(self, primitive: Action) -> Outcome:
        before = self.state()
        feedback = self._arm().run(primitive).feedback
        success = self._simulation.world.goal_holds()
        terms = self._reward_terms(success)
        if success:
            return Outcome(terms, True, True, True, f"{feedback} The task is done.")
        return Outcome(terms, effective=self.state() != before, feedback=feedback)

    def _arm(self) -> Primitives:
        return Primitives(self._simulation.world, self._simulation.controller, settle)

    # ------------------------------------------------------------------ the truth

    def state(self) -> LiberoTextState:
        """Named positions in whole millimetres."""
        world, told = self._simulation.world, self._arm().told
        positions = {name: told(world.position(name)) for name in world.objects}
        joints = {name: round(world.joint(name), 3) for name in world.joints}
        return LiberoTextState(self.instruction, positions, joints, world.held(), world.conditions())

    def oracle(self) -> str | None:
        """The next turn of a plan from here; None if there is none."""
        actions = None if self._over else plan(self._simulation.world, self._arm().told)
        return SEPARATOR.join(map(str, actions[: self.max_actions_per_turn])) if actions else None

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The primitives."""
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
        return rules(self.max_actions_per_turn, self.max_turns)

    def _observe(self) -> dict[str, Any]:
        world = self._simulation.world
        told = [f"Instruction: {self.instruction}", *listing(world, self._arm().told, self._task()), held(world)]
        return {"text": "\n".join(part for part in (self._feedback, self._heading(), *told) if part)}
