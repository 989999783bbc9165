"""What judges can score about the grid games: the words for their things, their symbols and the weights."""

from __future__ import annotations

from dataclasses import replace

from agentrl.core.claims import Claims, Relations, Thing, Value

PLAYER = Thing(
    "player",
    nouns="player agent character worker elf person man woman robot hero avatar human guy figure boy girl warehouseman "
    "keeper pusher adventurer",
    plurals="players agents",
    key="player_position",
    solid=True,
)
BOX = Thing(
    "box", nouns="box crate package parcel cube", plurals="boxes crates packages parcels cubes", solid=True, weight=0.5
)
TARGET = Thing(
    "target",
    nouns="storage target goal destination gift present spot marker mark prize exit objective treasure endpoint flag "
    "dot circle star gift_box present_box goal_box",
    plurals="targets goals destinations gifts presents spots markers marks objectives prizes",
)
HOLE = Thing(
    "hole",
    nouns="hole pit gap water trap hazard pitfall crack puddle danger",
    plurals="holes pits gaps waters traps hazards pitfalls cracks puddles dangers",
    weight=0.3,
    many=True,
)

# What the games share. A thing of the other game is known by its nouns and not scored.
_GRID = Relations(
    origin=PLAYER,
    things=(),
    key_words=(
        ("player", ("player", "agent", "worker", "you")),
        ("box", ("box", "crate")),
        ("target", ("target", "goal", "gift", "destination")),
        ("hole", ("hole", "pit")),
    ),
    scenery="wall floor ice door edge border boundary obstacle ground",
    scenery_plurals="walls floors doors edges borders obstacles",
    areas="lake warehouse",
)
SIZE = Value("grid_size", weight=0.1)

# Both axes of a relation must be right, as in the VAGEN paper.
SOKOBAN = Claims(
    replace(
        _GRID,
        things=(replace(TARGET, key="target_positions", weight=0.5), replace(BOX, key="box_positions"), HOLE),
        symbols={
            **{symbol: () for symbol in "#_.-"},
            "O": ("target",),
            "X": ("box",),
            "P": ("player",),
            "*": ("box", "target"),
            "S": ("player", "target"),
        },
    ),
    (Value("player_position"), Value("target_positions", many=True), Value("box_positions", many=True), SIZE),
)

# Each axis earns a half, and the target weighs more than the holes, as in the VAGEN paper.
FROZENLAKE = Claims(
    replace(
        _GRID,
        things=(
            replace(TARGET, key="target_position", weight=0.7, unique=True),
            replace(HOLE, key="hole_positions"),
            BOX,
        ),
        half_credit=True,
        symbols={
            **{symbol: () for symbol in "_.-"},
            "O": ("hole",),
            "G": ("target",),
            "P": ("player",),
            "X": ("player", "hole"),
            "*": ("player", "target"),
        },
    ),
    (Value("player_position"), Value("target_position"), Value("hole_positions", many=True), SIZE),
)
