"""The truth about a moment: where the target is, seen from the agent, and what is in view."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agentrl.core.state import State
from agentrl.envs.navigation.claims import HOME

DIRECTIONS = ("ahead", "left", "right", "back")
PHRASES = {"ahead": "ahead of you", "left": "to your left", "right": "to your right", "back": "behind you"}


def direction_of(bearing: float, ahead: float = 45.0) -> str:
    """The word for an angle from straight ahead, in degrees with right positive. "ahead" reaches this far to both
    sides, "back" as far to both sides of the opposite; left and right lie between them."""
    if abs(bearing) <= ahead:
        return "ahead"
    if abs(bearing) > 180 - ahead:
        return "back"
    return "right" if bearing > 0 else "left"


def spoken(type: str) -> str:
    """A type's name in plain words: "CoffeeMachine" is a "coffee machine"."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", type)
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)


def with_article(noun: str) -> str:
    """ "an armchair", "a sofa"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


@dataclass(frozen=True)
class Sighting:
    """Something in view."""

    type: str
    direction_to_player: str
    distance_to_player: float  # metres on the floor plan, to two decimals

    def sentence(self) -> str:
        """The same in English."""
        noun = with_article(spoken(self.type))
        return (
            f"{noun[0].upper()}{noun[1:]} is {PHRASES[self.direction_to_player]}, {self.distance_to_player:.2f} m away."
        )


@dataclass(frozen=True)
class NavigationState(State):
    """The target and what is in view, seen from the agent; and where the agent stands, to repeat it all."""

    scored = HOME

    target_obj_type: str
    target_distance_to_player: float
    target_direction_to_player: str
    visible_objects: tuple[Sighting, ...]  # the nearest first
    instruction: str
    scene: str
    x: float
    y: float
    heading: str
    tilt: int

    def natural(self) -> list[str]:
        """The target first, then what is in view."""
        where = PHRASES[self.target_direction_to_player]
        target = f"The target, {with_article(spoken(self.target_obj_type))}, is {where}, "
        return [
            f"{target}{self.target_distance_to_player:.2f} m away.",
            *(sighting.sentence() for sighting in self.visible_objects),
        ]

    def structured(self) -> dict[str, Any]:
        """The target's type, distance and direction, and the same of each object in view."""
        return {
            "target_obj_type": self.target_obj_type,
            "target_distance_to_player": self.target_distance_to_player,
            "target_direction_to_player": self.target_direction_to_player,
            "visible_objects": [
                {
                    "type": each.type,
                    "direction_to_player": each.direction_to_player,
                    "distance_to_player": each.distance_to_player,
                }
                for each in self.visible_objects
            ],
        }

    def to_json(self) -> dict[str, Any]:
        """The structured form, the instruction, and the scene and pose that all of it follows from."""
        pose = {"x": self.x, "y": self.y, "heading": self.heading, "tilt": self.tilt}
        return {**self.structured(), "instruction": self.instruction, "scene": self.scene, "pose": pose}
