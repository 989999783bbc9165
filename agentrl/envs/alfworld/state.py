"""The truth about a home: where the agent is, what is open, where everything lies and what has become of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from agentrl.core.claims import Claims, Value
from agentrl.core.state import State
from agentrl.envs.alfworld.engine import World

CLAIMS = Claims(
    values=(
        Value("facing", many=True),
        Value("holding"),
        Value("visible", many=True),
        Value("open", many=True, weight=0.5),
        Value("changed", many=True, weight=0.5),
    )
)
STATES = ("clean", "hot", "cool", "sliced", "on")


@dataclass(frozen=True)
class HomeState(State):
    """All but `contents` can be seen, or was; names are those of the text."""

    scored = CLAIMS

    instruction: str
    family: str
    facing: tuple[str, ...]  # receptacles within reach; none in the middle of the room
    holding: str  # empty for an empty hand
    visible: tuple[str, ...]  # things in what is faced and not closed
    open: tuple[str, ...]  # receptacles
    changed: dict[str, tuple[str, ...]]  # thing -> clean, hot, cool, sliced, on
    contents: dict[str, tuple[str, ...]]  # receptacle -> things, wherever there are any
    done: bool

    def natural(self) -> list[str]:
        """What is faced, held, seen, open and changed, as sentences."""
        facing = f"facing {_listed(self.facing)}" if self.facing else "in the middle of the room"
        facts = [
            f"The agent is {facing}.",
            f"The agent holds {self.holding}." if self.holding else "The agent holds nothing.",
        ]
        if self.facing:
            facts.append(
                f"The agent sees {_listed(self.visible)}." if self.visible else "The agent sees no thing there."
            )
        facts.append(f"Open: {_listed(self.open)}." if self.open else "No receptacle is open.")
        facts += [f"{thing.capitalize()} is {_listed(states)}." for thing, states in self.changed.items()]
        facts.append("The task is done." if self.done else "The task is not done.")
        return facts

    def structured(self) -> dict[str, Any]:
        """The same as named values."""
        shown = self.to_json()
        return {each.key: shown[each.key] for each in CLAIMS.values}

    def anchor(self) -> str:
        """Everything but the sentence of the task."""
        return repr([getattr(self, each.name) for each in fields(self)[1:]])


def home_state(world: World) -> HomeState:
    """The state of a world."""
    names, objs = world.recs, world.objs
    near = world.near.get(world.here, ())
    return HomeState(
        instruction=world.game.instruction,
        family=world.game.goal.family,
        facing=tuple([names[number] for number in near]),
        holding=objs[world.held] if world.held >= 0 else "",
        visible=tuple([objs[thing] for thing in world.visible() if thing != world.held]),
        open=tuple([name for name, is_open in zip(names, world.opened, strict=True) if is_open]),
        changed={
            objs[thing]: tuple([word for word in STATES if word in states])
            for thing, states in enumerate(world.states)
            if states
        },
        contents={
            name: tuple([objs[thing] for thing in inside])
            for name, inside in zip(names, world.inside, strict=True)
            if inside
        },
        done=world.won(),
    )


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
