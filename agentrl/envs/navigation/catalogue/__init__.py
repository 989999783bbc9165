"""All types of furniture and objects."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue import bathroom, bedroom, cooking, kitchen, living, objects, tableware
from agentrl.envs.navigation.catalogue.object_type import ObjectType

KINDS = ("kitchen", "living room", "bedroom", "bathroom")  # of rooms
_ROWS = (
    *kitchen.TYPES,
    *living.TYPES,
    *bedroom.TYPES,
    *bathroom.TYPES,
    *objects.TYPES,
    *cooking.TYPES,
    *tableware.TYPES,
)

TYPES: dict[str, ObjectType] = {row.name: row for row in _ROWS}
OBJECTS: dict[str, tuple[str, ...]] = {kind: tuple(row.name for row in _ROWS if kind in row.rooms) for kind in KINDS}
