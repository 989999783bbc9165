"""A state is frozen, says what it supports and refuses the rest by name."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import pytest

from agentrl.core.errors import UnsupportedRepresentation
from agentrl.core.state import REPRESENTATIONS, State


@dataclass(frozen=True)
class Lamp(State):
    """Lit or not; cannot be drawn."""

    lit: bool
    where: tuple[int, int] = (0, 1)

    def natural(self) -> list[str]:
        return ["The lamp is lit." if self.lit else "The lamp is dark."]

    def structured(self) -> dict:
        return {"lit": self.lit}


def test_supported_representations_are_reached_by_name():
    lamp = Lamp(lit=True)
    assert lamp.represent("natural") == lamp.natural() == ["The lamp is lit."]
    assert lamp.represent("structured") == {"lit": True}


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_plain_state_supports_nothing_and_says_so(representation):
    with pytest.raises(UnsupportedRepresentation, match=f"State has no {representation}"):
        State().represent(representation)


def test_an_unsupported_representation_names_the_class():
    with pytest.raises(UnsupportedRepresentation, match="Lamp has no symbolic"):
        Lamp(lit=False).symbolic()


@pytest.mark.parametrize("name", ["to_json", "__class__", "Natural", "", "picture"])
def test_a_name_that_is_no_representation_is_refused_though_it_may_be_an_attribute(name):
    with pytest.raises(UnsupportedRepresentation, match="natural, symbolic, structured"):
        Lamp(lit=True).represent(name)


def test_states_are_frozen_and_compare_by_content():
    lamp = Lamp(lit=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        lamp.lit = False
    assert lamp == Lamp(lit=True) != Lamp(lit=False) and hash(lamp) == hash(Lamp(lit=True))


def test_json_holds_every_field_in_plain_types():
    assert json.loads(json.dumps(Lamp(lit=True).to_json())) == {"lit": True, "where": [0, 1]}


@dataclass(frozen=True)
class Counted(State):
    """A state that counts turns."""

    place: str
    turn: int
    feedback: str


def test_an_anchor_tells_states_apart_but_not_by_turn_or_feedback():
    assert Counted("here", 1, "").anchor() == Counted("here", 2, "Nothing happens.").anchor()
    assert Counted("here", 1, "").anchor() != Counted("there", 1, "").anchor()
