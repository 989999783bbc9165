"""Why an episode failed: one of five types, by rules that look at the record alone and fit every environment.

The words used in the rules:

* A turn *worked* if it was valid and changed something (`info["valid"]` and `info["effective"]`); else it *failed*.
* A turn *repeats* an earlier one if the same action was played at the same place: same `info["anchor"]` or, where an
  environment gives none, same observation. A turn that worked and repeats none is *new*.
* The *ending* is the last turn of an episode that ended by itself (`terminated`), unless it is the action of the turn
  before once more: an answer, a purchase, a step into a hole.
* *Progress* is the number of primitive actions in the new turns, less the one that was the end.

The first rule that fits decides:

1. `no_attempt`, no reasonable attempt: less progress than a quarter of the actions that the task takes before its last
   one (`about["steps"]` says how many it takes); where that is not known, no progress at all.
2. `stuck`, stuck midway: the episode ends in a loop. The last turns are the same one, two or three turns over and over
   (each `LOOPS` times, at the same places), or the same action `SAME_ACTIONS` times in a row, wherever that was.
3. `no_recovery`, failed to recover: a turn failed, and none after it was new. An episode that ran out of turns must
   have failed twice there: that its very last turn failed says nothing.
4. `wrong_end`, stopped at the wrong place: the episode ended by itself. An environment may have better words for that
   (`AgentEnv.ending`, such as "fell into a hole"), which stand in its place.
5. `out_of_turns`: it was still making progress when the turns were over. WebRL's paper, whose four types the others
   are, has no such type: its people sorted these by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from agentrl.core.parsing import extract_answer
from agentrl.rollout.trajectory import Step, Trajectory

ERROR_TYPES = {
    "no_attempt": "no reasonable attempt",
    "stuck": "stuck midway",
    "no_recovery": "failed to recover",
    "wrong_end": "stopped at the wrong place",
    "out_of_turns": "ran out of turns",
}
LOOPS = 3  # how often turns must come one after the other to be a loop
MAX_LOOP = 3  # turns
SAME_ACTIONS = 5
QUARTER = 0.25  # of the actions a task takes: less is no attempt

Turn = tuple[str, str]  # place and action


def error_type(trajectory: Trajectory, success: bool | None = None) -> str | None:
    """A key of `ERROR_TYPES`; None for a success, and where a fault or a judge's silence leaves the outcome unknown.

    `success` replaces the record's own where another evaluator decides.
    """
    if trajectory.fault is not None or not trajectory.steps or (success is None and trajectory.pending):
        return None
    if trajectory.success if success is None else success:
        return None
    steps, turns = trajectory.steps, list[Turn]()
    for step in steps:
        anchor, action = step.info.get("anchor"), step.action
        place = repr((step.observation, step.images)) if anchor is None else str(anchor)
        if isinstance(action, str):  # what was asked for, without the thoughts around it
            action = (extract_answer(action)[0] or action).strip()
        turns.append((place, repr(step.info.get("actions") or action)))
    ending = trajectory.terminated and (len(turns) < 2 or turns[-1][1] != turns[-2][1])
    played = len(turns) - ending  # turns in which progress could be made
    new = new_turns(steps[:played], turns[:played])
    progress = sum(_actions(steps[place]) for place in new) + (_actions(steps[-1]) - 1 if ending else 0)
    needed = steps_needed(trajectory.about)
    if progress < (1 if needed is None else QUARTER * (needed - 1)):
        return "no_attempt"
    if not ending and in_a_loop(turns):
        return "stuck"
    failed_since = [step for step in steps[new[-1] + 1 if new else 0 : played] if not worked(step)]
    if len(failed_since) >= (1 if trajectory.terminated else 2):
        return "no_recovery"
    return "wrong_end" if trajectory.terminated else "out_of_turns"


def count_errors(types: Iterable[str | None]) -> dict[str, int]:
    """How often each type occurs, in their order; those that do not occur are left out."""
    counts = Counter(types)
    return {name: counts[name] for name in ERROR_TYPES if counts[name]}


# ---------------------------------------------------------------------- what the rules speak of


def worked(step: Step) -> bool:
    """Was the turn valid, and did it change anything?"""
    return bool(step.info.get("valid", True)) and bool(step.info.get("effective", True))


def new_turns(steps: Sequence[Step], turns: Sequence[Turn]) -> list[int]:
    """The places of turns that worked and repeat none before them."""
    seen: set[Turn] = set()
    found = []
    for place, (step, turn) in enumerate(zip(steps, turns, strict=True)):
        if worked(step) and turn not in seen:
            found.append(place)
        seen.add(turn)
    return found


def in_a_loop(turns: Sequence[Turn]) -> bool:
    """Do the turns end by repeating themselves?"""
    for period in range(1, MAX_LOOP + 1):
        tail = turns[-period * LOOPS :]
        if len(tail) == period * LOOPS and all(turn == tail[place % period] for place, turn in enumerate(tail)):
            return True
    actions = {action for _, action in turns[-SAME_ACTIONS:]}
    return len(turns) >= SAME_ACTIONS and len(actions) == 1


def _actions(step: Step) -> int:
    done = step.info.get("actions")
    return len(done) if isinstance(done, list) and done else 1


def steps_needed(about: Mapping[str, Any]) -> int | None:
    """How many primitive actions right play takes, where it is known."""
    steps = about.get("steps")
    return steps if isinstance(steps, int) and not isinstance(steps, bool) and steps > 0 else None


# ---------------------------------------------------------------------- one episode in a line


@dataclass(frozen=True)
class EpisodeFacts:
    """`group`, `complexity` and `steps` are those of `AgentEnv.about_task`; `error` is a key of `ERROR_TYPES`,
    None for a success and where the outcome is not known. Plays of one task have the same `task`; `ending` is what the
    environment calls the end of a failed episode."""

    success: bool
    turns: int
    group: str | None = None
    complexity: int | None = None
    steps: int | None = None
    error: str | None = None
    task: str | None = None
    ending: str | None = None

    @property
    def failure(self) -> str | None:
        """The type of error in words, the environment's own where it has some."""
        return self.ending if self.ending and self.error == "wrong_end" else ERROR_TYPES.get(self.error or "")

    @classmethod
    def of(cls, episode: Trajectory, success: bool | None = None) -> EpisodeFacts:
        """Read them off a record; `success` replaces the record's own where another evaluator decides."""
        about = episode.about
        group, complexity = about.get("group"), about.get("complexity")
        return cls(
            success=episode.success if success is None else success,
            turns=len(episode.steps),
            group=None if group is None else str(group),
            complexity=complexity if isinstance(complexity, int) else None,
            steps=steps_needed(about),
            error=error_type(episode, success),
            task=episode.task_key,
            ending=named_ending(episode),
        )


def named_ending(episode: Trajectory) -> str | None:
    """What the environment calls the end of a failed episode (`AgentEnv.ending`), if anything."""
    told = episode.steps[-1].info.get("ending") if episode.steps else None
    return told if isinstance(told, str) and told and not episode.success else None


NAMES = tuple(field.name for field in fields(EpisodeFacts))
TEXTS = ("group", "error", "task", "ending")


def to_columns(episodes: Sequence[EpisodeFacts | None]) -> dict[str, list[Any]]:
    """For a line of metrics: each field as a list, with None in the place of an episode that a fault ended. Fields
    that nothing is known of are left out."""
    rows = [asdict(one) if one is not None else {} for one in episodes]
    columns = {name: [row.get(name) for row in rows] for name in NAMES}
    return {name: column for name, column in columns.items() if any(value is not None for value in column)}


def from_columns(columns: Any) -> list[EpisodeFacts | None]:
    """Inverse of `to_columns`; an empty list for anything else: a file may hold whatever it likes."""
    if not isinstance(columns, Mapping) or not all(isinstance(columns.get(name, []), list) for name in NAMES):
        return []
    known = {name: columns[name] for name in NAMES if name in columns}
    episodes: list[EpisodeFacts | None] = []
    for place in range(max(map(len, known.values()), default=0)):
        row = {name: column[place] for name, column in known.items() if place < len(column)}
        if not isinstance(row.get("success"), bool) or not _whole(row.get("turns")):
            episodes.append(None)
            continue
        numbers = {name: row.get(name) if _whole(row.get(name)) else None for name in ("complexity", "steps")}
        texts = {name: row.get(name) if isinstance(row.get(name), str) else None for name in TEXTS}
        episodes.append(EpisodeFacts(row["success"], row["turns"], **numbers, **texts))
    return episodes


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
