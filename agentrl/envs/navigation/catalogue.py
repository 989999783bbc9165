"""All types of furniture and objects."""

from __future__ import annotations

from agentrl.envs.navigation import (
    catalogue_bathroom,
    catalogue_bedroom,
    catalogue_cooking,
    catalogue_kitchen,
    catalogue_living,
    catalogue_objects,
    catalogue_tableware,
)
from agentrl.envs.navigation.object_type import ObjectType

KINDS = ("kitchen", "living room", "bedroom", "bathroom")  # of rooms
_ROWS = (
    *catalogue_kitchen.TYPES,
    *catalogue_living.TYPES,
    *catalogue_bedroom.TYPES,
    *catalogue_bathroom.TYPES,
    *catalogue_objects.TYPES,
    *catalogue_cooking.TYPES,
    *catalogue_tableware.TYPES,
)

TYPES: dict[str, ObjectType] = {row.name: row for row in _ROWS}
OBJECTS: dict[str, tuple[str, ...]] = {kind: tuple(row.name for row in _ROWS if kind in row.rooms) for kind in KINDS}
