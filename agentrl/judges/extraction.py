"""What a model is asked to write down about a text that it must not grade: one kind for each way to declare claims.

The model never sees the truth. Code scores what it wrote down, by the rules of the rule judge.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from agentrl.core.claims import Claims
from agentrl.core.env_class import claims_of
from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest
from agentrl.judges.bearing import DIRECTIONS, Said, score_bearing, target_nouns, together, true_bearing
from agentrl.judges.fitting import is_readable
from agentrl.judges.points import point_nouns, score_points, true_points
from agentrl.judges.relations import Relation, facts_of, relations_of, score_relations

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
Coordinate = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
CHOICE = "unclear"  # several directions to choose from
_TEXT = {"type": "string"}


class ClaimedRelation(msgspec.Struct, forbid_unknown_fields=True):
    """One relation found in a text, seen from the origin."""

    object: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    vertical: Literal["above", "below", "same", "none"]
    horizontal: Literal["left", "right", "same", "none"]


class RelationsReply(msgspec.Struct, forbid_unknown_fields=True):
    """The whole message under the protocol "extract"."""

    code: str
    relations: Annotated[list[ClaimedRelation], msgspec.Meta(max_length=64)]


class ClaimedDirection(msgspec.Struct, forbid_unknown_fields=True):
    """Where one thing is seen by the agent, or where the agent goes (object "agent")."""

    object: Name
    direction: Literal["ahead", "left", "right", "behind", "unclear"]
    slightly: bool


class DirectionsReply(msgspec.Struct, forbid_unknown_fields=True):
    """The whole message for states that declare a bearing."""

    code: str
    directions: Annotated[list[ClaimedDirection], msgspec.Meta(max_length=64)]


class ClaimedPoint(msgspec.Struct, forbid_unknown_fields=True):
    """Where one thing is, in the units of the text."""

    object: Name
    x: Coordinate
    y: Coordinate
    z: Coordinate


class PointsReply(msgspec.Struct, forbid_unknown_fields=True):
    """The whole message for states that declare points."""

    code: str
    points: Annotated[list[ClaimedPoint], msgspec.Meta(max_length=64)]


class Extraction(NamedTuple):
    """The reply and its JSON schema."""

    reply: type[msgspec.Struct]
    schema: dict[str, Any]


def extraction_of(claims: Claims) -> Extraction:
    """What to ask for; `JudgeFault` where nothing is declared that could be scored."""
    if not is_readable(claims):
        raise JudgeFault("the states declare no relations, bearing or points")
    return DIRECTIONS_ASKED if claims.bearing else POINTS_ASKED if claims.points else RELATIONS_ASKED


def check_scorable(request: JudgeRequest) -> None:
    """`JudgeFault` for a state whose truth cannot be compared with anything."""
    asked = extraction_of(claims_of(request))
    nothing = {field: [] for field in asked.schema["required"]} | {"code": ""}
    score_reply(request, msgspec.convert(nothing, asked.reply))


def reply_type(value: Any) -> type[msgspec.Struct]:
    """The reply that a stored answer is, by its one field."""
    kinds = {"directions": DirectionsReply, "points": PointsReply}
    return next((kind for field, kind in kinds.items() if field in value), RelationsReply)


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object in the small dialect of JSON schema that every server understands: nothing optional, no references."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _listed(field: str, entry: dict[str, Any]) -> dict[str, Any]:
    return closed({"code": _TEXT, field: {"type": "array", "items": closed({"object": _TEXT, **entry})}})


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


# ---------------------------------------------------------------------- scoring


def score_reply(request: JudgeRequest, answer: Any) -> tuple[float, dict[str, Any]]:
    """What a model wrote down, scored by the rules of the rule judge, and how it came about."""
    claims = claims_of(request)
    if claims.bearing:
        facts, prediction = facts_of(request), request.purpose == "worldmodeling"
        name, _ = true_bearing(claims.bearing, facts)
        nouns = target_nouns(claims.bearing, name)
        about = [each for each in answer.directions if _plain(each.object) in nouns]
        if not about and prediction:
            about = [each for each in answer.directions if _plain(each.object) in claims.bearing.observer.split()]
        said = []
        for claim in about:
            side = frozenset([claim.direction])
            if claim.direction == CHOICE:
                said.append(Said(voided=True))
            elif claim.slightly and claim.direction in ("left", "right"):
                said.append(Said(slightly=side))
            else:
                said.append(Said(side))
        return score_bearing(claims.bearing, together(said), facts, prediction)
    if claims.points:
        true = true_points(claims.points, facts_of(request))
        names = {noun: name for name, nouns in point_nouns(claims.points, tuple(true)).items() for noun in nouns}
        points = [(names.get(_plain(each.object), ""), (each.x, each.y, each.z)) for each in answer.points]
        return score_points(claims.points, points, true)
    declared, relations = relations_of(request)
    claimed = []
    for each in answer.relations:
        vertical = None if each.vertical == "none" else each.vertical
        horizontal = None if each.horizontal == "none" else each.horizontal
        if vertical or horizontal:
            claimed.append(Relation(each.object.strip().lower().rstrip("0123456789 _#"), vertical, horizontal))  # box1
    score, evidence = score_relations(declared, claimed, relations)
    return score, {**evidence, "claimed": [claim.to_json() for claim in claimed]}


def _plain(name: str) -> str:
    """ "The red cube" and "red_cube_position" -> "red_cube"."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    words = words[words[:1] == ["the"] :]
    return "_".join(words[:-1] if words[-1:] == ["position"] else words)


RELATIONS_ASKED = Extraction(
    RelationsReply,
    _listed(
        "relations",
        {"vertical": _one_of("above", "below", "same", "none"), "horizontal": _one_of("left", "right", "same", "none")},
    ),
)
DIRECTIONS_ASKED = Extraction(
    DirectionsReply, _listed("directions", {"direction": _one_of(*DIRECTIONS, CHOICE), "slightly": {"type": "boolean"}})
)
POINTS_ASKED = Extraction(PointsReply, _listed("points", {axis: {"type": "number"} for axis in ("x", "y", "z")}))
