"""SVG reconstruction: look at a picture and write SVG code that draws it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, extract_answer, quote
from agentrl.core.spaces import AnyText
from agentrl.core.tools import function_schema
from agentrl.envs.svg.measures import make_measures
from agentrl.envs.svg.pictures import draw, in_characters, panel_shape, side_by_side
from agentrl.envs.svg.sandbox.gate import SvgRefused, check
from agentrl.envs.svg.sandbox.renderer import shared_renderer
from agentrl.envs.svg.targets import make_targets
from agentrl.envs.svg.truth.shapes import Shape, read_shapes
from agentrl.envs.svg.truth.state import SvgState, structure_score

# What random play draws: whole answers, so that it is measured against something.
SAMPLES = (
    '<svg viewBox="0 0 100 100"><circle cx="50" cy="50" r="30" fill="red"/></svg>',
    '<svg viewBox="0 0 100 100"><rect x="20" y="20" width="60" height="60" fill="blue"/></svg>',
    '<svg viewBox="0 0 100 100"><path d="M50 10L90 90H10Z" fill="green"/></svg>',
    '<svg viewBox="0 0 100 100"><rect width="100" height="100" fill="gold"/><circle cx="30" cy="30" r="9"/></svg>',
    '<svg viewBox="0 0 100 100"><line x1="10" y1="90" x2="90" y2="10" stroke="black" stroke-width="6"/></svg>',
)
_shapes = lru_cache(maxsize=512)(read_shapes)
MAX_REMARK = 160
_CLOSED = re.compile(r"</(?:\w+:)?svg\s*>", re.IGNORECASE)


class Answer(NamedTuple):
    """Checked code, or what is wrong and why it was refused."""

    code: str | None
    problem: str | None = None
    reason: str | None = None  # the gate's word for it, or our own: see `read_answer`


def read_answer(action: Any) -> Answer:
    """The code of an action; total, whatever the action is.

    Besides the gate's reasons there are "not_text", "answer_tags", "markdown", "html" and "prose".
    """
    if not isinstance(action, str):
        return Answer(None, f"an action is text, not {type(action).__name__}", "not_text")
    text, problem = extract_answer(action)
    if text is None:
        return Answer(None, problem, "answer_tags")
    reason, problem = _wrapping(text.strip())
    if reason is not None:
        return Answer(None, problem, reason)
    try:
        return Answer(check(text))
    except SvgRefused as refused:
        return Answer(None, f"{refused.reason.replace('_', ' ')}: {remark(refused.detail)}", refused.reason)


def _wrapping(text: str) -> tuple[str | None, str]:
    """(reason, problem) where something other than SVG code stands around the code or in its place."""
    head = text[:200].lstrip("\ufeff").lstrip().lower()
    if not head:
        return "empty", "no SVG code given"
    if head.startswith(("```", "~~~")) or text.endswith(("```", "~~~")):
        return "markdown", "the code stands in a Markdown fence; write the SVG alone"
    if head.startswith(("<!doctype html", "<html", "<body", "<div", "<p>")):
        return "html", "this is HTML; write one svg element alone"
    if not head.startswith("<"):
        return "prose", "words stand before the code; write the SVG alone"
    ends = [match.end() for match in _CLOSED.finditer(text)]
    if ends and text[ends[-1] :].strip() and not text[ends[-1] :].lstrip().startswith("<"):
        return "prose", "words stand behind the code; write the SVG alone"
    return None, ""


def remark(detail: str) -> str:
    """A detail that may quote hostile code, fit for an observation: one line, and no mark of a picture in it."""
    plain = "".join(char if char.isprintable() else " " for char in detail.replace("<", "").replace(">", ""))
    short = " ".join(plain.encode("utf-8", "backslashreplace").decode().split())
    return short if len(short) <= MAX_REMARK else short[:MAX_REMARK] + "..."


# ---------------------------------------------------------------------- the environment


class SVGEnv(AgentEnv[Any, Any]):
    """Look at a picture, write SVG code that draws it, see your drawing beside it, and improve.

    ## Description
    The target is an icon. The agent answers with a whole SVG document; it is checked, drawn in a process of its own,
    and compared with the target. Next turn the agent sees target and drawing side by side. The task and its figures
    are those of VAGEN's SVG reconstruction; the icons are our own. Icons have five grades of difficulty: flat
    primitives; things made of primitives and strokes; curved paths and gradients; groups, transforms and elements
    used again; scenes and signs with letters. A quarter of each grade shows nothing in particular.

    ![Generated icons, one row a grade](../../_static/icons.png)

    ## Observations
    `{"text", "image"}`. One picture: the target on the left, the last drawing on the right (gray while there is
    none), with their names above. Each half is `image_size` pixels wide and high.

    ## Actions
    One SVG document a turn, bare or between `<answer>` and `</answer>`, and nothing around it. A plain doctype and a
    missing `xmlns` are accepted. Markdown fences, words before or after the code, half-closed code, another
    namespace, HTML, an empty answer and code that the gate refuses (scripts, pictures, references out of the
    document, bombs) are invalid: `info["refused"]` and the feedback say why, the turn earns nothing, the last drawing
    stays, the episode continues.

    ## Rewards
    Every turn that draws earns weight x similarity for each of `scorers`, under the scorer's own name; by default 5.0
    times the similarity by `default`: ST-LPIPS where it is installed, otherwise classical measures, both measured so
    that a blank drawing scores 0 and the target itself 1. VAGEN's reward, with the models in local folders:

    ```python
    scorers = [
        {"scorer": {"kind": "dreamsim", "folder": "models/dreamsim"}, "weight": 5.0},
        {"scorer": {"kind": "dino", "folder": "models/dinov2-small"}, "weight": 0.0001},
    ]
    ```

    `structure_weight` adds the term `structure`: element-level F1 of kind, colour, position and size between the shapes
    of drawing and target. An invalid turn costs `invalid_penalty`, nothing by default.

    ## Episode end
    After `max_turns` turns: terminated with success if the last drawing's similarity by the first scorer reaches
    `success_threshold`, truncated otherwise (`info["limit"] == "task"`). It never ends earlier, since every turn is
    paid: an early end would punish the best drawings. Then `info["metrics"]` holds the last drawing's similarity by
    each scorer, `structure_f1`, and `drawn` (was anything drawn at all); without a drawing they are 0. `agentrl eval`
    averages them.

    ## Arguments
    - `targets=None`: generated icons; or a folder, a parquet or a JSON-lines file of SVGs such as svg-icons-simple (a
      column `Svg`, `svg` or the like). Rows that cannot be used are counted in
      `env.unwrapped.targets.collection.skipped`.
    - `difficulty=None`: a grade from 1 to 5, a list of grades, or None for all in turn.
    - `icons=None`: use only the first N targets of the split; None is 100,000 generated ones, or all of a file.
    - `letters="strokes"`: letters of grade 5 are paths of our own, equal on every machine; `"font"` writes text
      elements, which look as the machine's fonts make them.
    - `scorers=None`: similarities and weights, as above; the first is the main one.
    - `structure_weight=0.0`: weight of element-level F1.
    - `success_threshold=0.9`: of the main similarity.
    - `image_size=224`: pixels of each half, 48 to 1024.
    - `max_turns=2`, `max_actions_per_turn=1`, `invalid_penalty=0.0`, `split="train"`, `render_mode=None`.
    - `whole_turn_penalty=False`: of no effect here, where actions cost nothing.
    - `full_info=True`; False: only `success`, `valid` and `effective`, for libraries that store `info` in arrays.

    A task is `icon:SPLIT:GRADE:INDEX`, the content hash of a file's SVG, or SVG code of your own.

    ## Truth
    `state()` supports `natural` and `structured`: kind, colours, position and size of every visible shape of target
    and drawing, transforms and styles resolved, in hundredths of the canvas. `oracle()` gives the target's own code.

    ## Baselines
    Policies that know part of the truth: `svg-blank` draws nothing, `svg-colours` stripes of the right colours,
    `svg-boxes` a gray bounding box for each shape. Last drawing, 100 episodes of the test split, seed 0, two turns:

    | policy | `stlpips` | `classical` | `structure_f1` | reward by `stlpips` | success |
    |---|---|---|---|---|---|
    | `svg-blank` | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 |
    | `svg-colours` | 0.08 | 0.09 | 0.03 | 0.82 | 0.00 |
    | `svg-boxes` | 0.13 | 0.30 | 0.30 | 1.33 | 0.00 |
    | `oracle` | 1.00 | 1.00 | 1.00 | 10.00 | 1.00 |

    ## Honest note
    Generated icons are not svg-icons-simple, and the embedded similarity (ST-LPIPS, or classical measures without
    torch) is neither DreamSim nor DINO: scores are comparable with each other under one backend, never with published
    figures. Fonts differ between machines, so code with text elements is drawn differently elsewhere.
    """

    graded = True
    state_type = SvgState
    safe_arguments = ("difficulty", "icons", "letters", "structure_weight", "success_threshold", "image_size", "kind")
    representations = frozenset({"natural", "structured"})
    guides: ClassVar[dict[str, str]] = {
        "natural": "One sentence for each shape of the target, then of the drawing, in drawing order: kind, colour, "
        "where it is, how wide and high, its centre; 0, 0 is the upper left corner of the canvas and 100, 100 the "
        "lower right one.",
        "structured": 'A JSON object with the keys "target" and "drawing", each a list of shapes in drawing order '
        '("drawing" is null until you have drawn); a shape has "kind", "fill", "stroke" (as "#rrggbb" or null), '
        '"position" [x, y] of its middle and "size" [width, height], in hundredths of the canvas.',
    }

    def __init__(
        self,
        *,
        targets: str | None = None,
        difficulty: int | Sequence[int] | None = None,
        icons: int | None = None,
        letters: str = "strokes",
        scorers: Sequence[Any] | None = None,
        structure_weight: float = 0.0,
        success_threshold: float = 0.9,
        image_size: int = 224,
        max_turns: int = 2,
        max_actions_per_turn: int = 1,
        invalid_penalty: float = 0.0,
        **others: Any,
    ) -> None:
        whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1, at_most=1)
        super().__init__(max_turns=max_turns, max_actions_per_turn=1, invalid_penalty=invalid_penalty, **others)
        self.image_size = whole_number("image_size", image_size, at_least=48, at_most=1024)
        self.structure_weight = finite_number("structure_weight", structure_weight)
        self.success_threshold = finite_number("success_threshold", success_threshold)
        shared_renderer(self.image_size)  # complains now where there is nothing to draw with
        self._wanted, self._scorers = (targets, difficulty, letters, icons), scorers
        self._gather()
        parts = {"text": AnyText(), "image": spaces.Box(0, 255, panel_shape(self.image_size), np.uint8)}
        self.observation_space = spaces.Dict(parts)
        self.action_space = AnyText(SAMPLES)
        self._name, self._target = "", ""
        self._drawing: str | None = None  # as the gate wrote it
        self._refused: str | None = None

    def _gather(self) -> None:
        """What is the same for every environment with these arguments."""
        path, difficulty, letters, icons = self._wanted
        self.targets = make_targets(path, self.split, difficulty, letters, icons)
        self._measures = make_measures(self._scorers)

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The names of this split's targets."""
        return self.targets.names()

    def _find_task(self, task: Any) -> tuple[str, str]:
        if not isinstance(task, str):
            raise ConfigError(
                f"a task must be SVG code or a name, such as {self.tasks()[0]!r}; got {type(task).__name__}"
            )
        code = task if task.lstrip().startswith("<") else self.targets.code(task)
        if code is None:
            raise ConfigError(f"unknown target {quote(task)} in split {self.split}; one of them is {self.tasks()[0]!r}")
        try:
            safe = check(code)
        except SvgRefused as refused:
            raise ConfigError(f"this SVG cannot be a target: {refused}") from refused
        if not _shapes(safe):
            raise ConfigError("this SVG cannot be a target: it shows nothing")
        return task, safe

    def _begin(self, task: tuple[str, str]) -> None:
        self._name, self._target = task
        self._drawing = self._refused = None

    def _task(self) -> str:
        return self._name

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        answer = read_answer(action)
        self._refused = answer.reason
        return Turn([], answer.problem) if answer.code is None else Turn([answer.code])

    def _act(self, primitive: str) -> Outcome:
        try:
            picture = self._picture(primitive)
        except SvgRefused as refused:
            self._refused = refused.reason
            return Outcome({}, valid=False, feedback=f"{refused.reason.replace('_', ' ')}: {remark(refused.detail)}")
        goal = self._picture(self._target)
        terms = {each.name: each.weight * each.score(goal, picture) for each in self._measures}
        if self.structure_weight:
            terms["structure"] = self.structure_weight * self._structure(primitive)
        changed, self._drawing = primitive != self._drawing, primitive
        return Outcome(terms, effective=changed)

    def _run(self, turn: Turn) -> tuple[list[str], dict[str, float], bool, str | None]:
        assert self._turn is not None  # step() has seen to it
        result = super()._run(turn)
        if self._turn + 1 >= self.max_turns:  # judged by the drawing that stands, whatever the last answer was
            similar = -math.inf
            if self._drawing is not None:
                similar = self._similarities(self._drawing)[self._measures[0].name]
            self._success = self._terminated = similar >= self.success_threshold
        return result

    def _similarities(self, drawing: str) -> dict[str, float]:
        goal, picture = self._picture(self._target), self._picture(drawing)
        return {each.name: each.score(goal, picture) for each in self._measures}

    def _structure(self, drawing: str) -> float:
        return structure_score(_shapes(self._target), _shapes(drawing)).f1

    def _picture(self, safe: str) -> np.ndarray:
        return draw(safe, self.image_size)

    def action_name(self, primitive: str) -> str:
        """How long the code was; all of it would drown everything else."""
        return f"svg of {len(primitive.encode())} bytes"

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        if facts["fault"] == "episode_over" or self._turn == 0:
            self._refused = None
        info = super()._info(actions, terms, **facts)
        metrics: dict[str, float] = {}
        if self._over and self._drawing is None:
            metrics = {**{each.name: 0.0 for each in self._measures}, "structure_f1": 0.0, "drawn": 0.0}
        elif self._over and self._drawing is not None:
            metrics = self._similarities(self._drawing)
            metrics |= {"structure_f1": self._structure(self._drawing), "drawn": 1.0}
        return {**info, "refused": self._refused, "metrics": metrics}

    # ------------------------------------------------------------------ the truth

    def state(self) -> SvgState:
        """The shapes of target and drawing."""
        drawing: tuple[Shape, ...] | None = None if self._drawing is None else _shapes(self._drawing)
        return SvgState(_shapes(self._target), drawing)

    def oracle(self) -> str | None:
        """The target's own code, as the gate writes it."""
        return None if self._over else self._target

    def actions_needed(self) -> int:
        """One: the target can be drawn at once, and drawing it again with a speck is no progress."""
        return 1

    @property
    def tools(self) -> list[dict[str, Any]]:
        """One tool, `draw_svg`."""
        code = {"type": "string", "description": "A whole SVG document."}
        return [function_schema("draw_svg", "Draw SVG code and see it beside the target.", {"code": code})]

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """`draw_svg(code)` is the code."""
        return arguments["code"] if name == "draw_svg" else None

    def tool_calls(self, action: str) -> list[dict[str, Any]]:
        """One `draw_svg`."""
        return [{"name": "draw_svg", "arguments": {"code": action}}]

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The task, the form of an answer and the limits."""
        return (
            "You are shown a target picture. Write SVG code that draws the same picture: the same shapes, colours, "
            "places and sizes. The canvas is square; choose your own view box, for example 0 0 100 100.\n"
            f"You have {self.max_turns} turns. After each, your drawing is shown to the right of the target; improve "
            "it with another whole document. Every drawing is paid by how much it looks like the target, so draw "
            "something each turn.\n"
            "Reply with one svg element and nothing around it, or put it between <answer> and </answer>. No Markdown, "
            "no scripts, no embedded pictures, no references to other files."
        )

    def _observe(self) -> dict[str, Any]:
        shown = "The target is on the left" + (", your last drawing on the right." if self._drawing else ".")
        text = "\n".join(part for part in (self._feedback, self._heading(), shown, "<image>") if part)
        return {"text": text, "image": self._draw()}

    def _draw(self) -> np.ndarray:
        drawing = None if self._drawing is None else self._picture(self._drawing)
        return side_by_side(self._picture(self._target), drawing)

    def _draw_text(self) -> str:
        left = in_characters(self._picture(self._target))
        blank = [" " * len(row) for row in left]
        right = blank if self._drawing is None else in_characters(self._picture(self._drawing))
        head = f"{'target':<{len(left[0])}} | drawing"
        return "\n".join([head, *(f"{a} | {b}" for a, b in zip(left, right, strict=True))])

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        return {
            "name": self._name,
            "target": self._target,
            "drawing": self._drawing,
            "place": self._index,
            "stride": self._stride,
            "refused": self._refused,
        }

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, _Saved)
        # A blob may have been forged: nothing is drawn that the gate has not seen.
        target, drawing = check(saved.target), None if saved.drawing is None else check(saved.drawing)
        for code in (target, drawing):
            if code is not None:
                self._picture(code)
        self._restore_walk(saved.place, saved.stride)
        self._name, self._target, self._drawing, self._refused = saved.name, target, drawing, saved.refused

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["targets"], state["_measures"]  # files and networks that every process has or can load
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._gather()


class _Saved(msgspec.Struct):
    name: str
    target: str
    drawing: str | None
    place: int
    stride: int
    refused: str | None
