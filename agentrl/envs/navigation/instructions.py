"""What the agent is asked to do: sets of instructions, each a way to speak of the target."""

from __future__ import annotations

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import splitmix64_int

SETS = ("base", "common")
NAMED = (
    "Please go to the {noun}.",
    "Walk over to the {noun} and stop there.",
    "Find the {noun} and stand close to it.",
    "I want you next to the {noun}.",
    "Make your way to the {noun}.",
    "Can you get to the {noun}?",
    "Move up to the {noun}.",
    "Your destination is the {noun}.",
)
DESCRIBED = (
    "{use} Go to the right object for it.",
    "{use} Find what I need and stop beside it.",
    "{use} Please walk to the thing that helps me.",
    "{use} Stand next to what serves for that.",
)


def instruction(chosen: str, noun: str, uses: tuple[str, ...], number: int) -> str:
    """The instruction for a target; `number` chooses among the wordings, always in the same way."""
    if chosen == "base":
        return NAMED[splitmix64_int(number) % len(NAMED)].format(noun=noun)
    if chosen == "common":
        use = uses[splitmix64_int(number) % len(uses)]
        return DESCRIBED[splitmix64_int(number + 1) % len(DESCRIBED)].format(use=use)
    raise ConfigError(f"instructions must be one of {', '.join(SETS)}; got {chosen!r}")
