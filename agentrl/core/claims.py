"""What can be scored about a state, declared as data by `State.claims()`; judges know no environment, only these.

Judges compute tables from a declaration and keep them, by the identity of the object: make it a constant of the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Thing:
    """A class of things with positions, and the English nouns for it (separated by spaces; "_" joins a phrase)."""

    name: str
    nouns: str
    plurals: str = ""
    key: str = ""  # where the structured form has its [row, column] or list of them; empty: known, but not scored
    weight: float = 1.0
    unique: bool = False  # there is exactly one, whatever article a text uses
    many: bool = False  # there are usually several: a noun without an article means another one
    solid: bool = False  # "on top of" it means above it, not at the same place


@dataclass(frozen=True, eq=False)
class Relations:
    """Where things are, seen from one of them: above, below, left, right, or on the same row or column.

    A relation counts when both axes are right, and the score is the weighted mean over all classes. With `half_credit`
    each right axis earns a half, and the mean is over the classes that are there or were claimed.
    """

    origin: Thing  # all is seen from there; in a text it is also "I", "me" and "you"
    things: tuple[Thing, ...]  # in the order of the evidence
    half_credit: bool = False
    symbols: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of a drawing -> names of what is there
    key_words: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name -> words in keys that mean it; the first that fits
    scenery: str = ""  # nouns without a position of their own, such as wall
    scenery_plurals: str = ""
    areas: str = ""  # nouns for the whole, such as room


@dataclass(frozen=True, eq=False)
class Value:
    """A key of the structured form, and how what is written there is compared with the truth.

    A text must be equal up to case and spaces, a number equal up to `tolerance`, a colour such as "#0080ff" equal up to
    `tolerance` in red, green and blue (0 to 255), a list equal item by item. With `many` the entries of a list (in any
    order) or of a dictionary count one by one. With `fields` a dictionary, or each entry of a list, is a record of
    which these keys count.
    """

    key: str
    weight: float = 1.0
    tolerance: float = 0.0
    many: bool = False
    fields: tuple[Value, ...] = ()


@dataclass(frozen=True, eq=False)
class Bearing:
    """In which direction one target lies, seen from the agent: "ahead", "left", "right" or "behind" (also "back").

    A description counts when what it says of the target includes the true direction ("ahead and to the left" is right
    for both). A prediction must say exactly that direction, of the target or of the agent's own way ("I will move
    left"); "slightly left" and "slightly right" mean ahead there. Distances are reported in the evidence, not scored.
    """

    direction_key: str
    name_key: str  # where the state has the target's name, such as "GarbageCan"
    distance_key: str = ""
    synonyms: Mapping[str, str] = field(default_factory=dict)  # name of a thing -> more nouns for it, "_" in a phrase
    words: str = "target goal destination object objective"  # nouns that mean the target, whatever it is
    observer: str = "agent robot camera viewer player"  # nouns for who sees, beside "I" and "you"


@dataclass(frozen=True, eq=False)
class Points:
    """Named places: every key with this ending holds the coordinates of what its beginning names.

    A thing is right when all that is said about its place is within `tolerance` on each axis, and the score is the
    share of the things that are right. The structured form is scored by F1 over the same keys.
    """

    ending: str = "_position"
    tolerance: float = 0.0
    synonyms: Mapping[str, str] = field(default_factory=dict)  # word of a name -> other words for it


@dataclass(frozen=True, eq=False)
class Claims:
    """What judges can score: relations between things, the bearing of a target or named points (at most one of these
    three) in free text, and values of the structured form.

    The keys must be in `State.structured()` and in `State.to_json()`: trajectories are judged again from the latter.
    """

    relations: Relations | None = None
    values: tuple[Value, ...] = ()
    bearing: Bearing | None = None
    points: Points | None = None
