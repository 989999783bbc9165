"""Types: furniture and machines of kitchens."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import ObjectType, Surface
from agentrl.envs.navigation.shapes import kitchen as shapes

TOP = (Surface(1.0),)
CABINETS = (
    (0xF0EEE6, 0x8D8A84, 0xB9B6AE),
    (0x5F7F8C, 0xE8DCC3, 0xD9C9A8),
    (0xB98A5A, 0x55504A, 0x4A4643),
    (0x7E9A76, 0xEDE6D6, 0xB8935F),
)
KITCHEN = ("kitchen",)
SINK_EDGES = (Surface(0.834, (-0.48, -0.42, -0.3, 0.42)), Surface(0.834, (0.3, -0.42, 0.48, 0.42)))
WHITE = 0xF2F1EC
BLACK = 0x202226
STEEL = 0xC4C8CC
EATING = ("kitchen", "living room")
COUNTER = ("CounterTop",)
DARK = 0x3A3D42

TYPES = (
    ObjectType(
        "CounterTop",
        "counter top",
        KITCHEN,
        ((1.0, 0.62, 0.9), (1.2, 0.62, 0.9), (0.8, 0.62, 0.9)),
        CABINETS,
        shapes.counter_top,
        ("I need a long flat place to chop the vegetables.", "Where can I roll out some dough at standing height?"),
        "plan",
        surfaces=TOP,
    ),
    ObjectType(
        "Sink",
        "sink",
        ("kitchen", "bathroom"),
        ((0.8, 0.62, 1.08),),
        CABINETS,
        shapes.sink,
        ("My hands are sticky and I would like to rinse them.", "I want some running water to wash a few things."),
        "plan",
        surfaces=SINK_EDGES,
    ),
    ObjectType(
        "Stove",
        "stove",
        KITCHEN,
        ((0.6, 0.62, 1.0),),
        ((WHITE, BLACK), (STEEL, BLACK), (0x2C2F33, 0x17181A)),
        shapes.stove,
        ("I would like to fry an egg now.", "Where do I heat a soup over a ring?"),
        "plan",
        surfaces=(Surface(0.91, (-0.46, -0.4, 0.46, 0.38)),),
    ),
    ObjectType(
        "Fridge",
        "fridge",
        KITCHEN,
        ((0.7, 0.68, 1.8), (0.65, 0.65, 1.7)),
        ((0xBFC3C8, 0xD4D7DA), (0xE8E6DF, 0xF6F5F0), (0xA83A34, 0xC24B43), (0x7FA9A3, 0x93BDB6)),
        shapes.fridge,
        ("The milk must be kept cold or it turns sour.", "I am looking for where leftovers stay chilled."),
        "plan",
    ),
    ObjectType(
        "Cabinet",
        "cabinet",
        KITCHEN,
        ((0.8, 0.36, 0.65), (1.0, 0.36, 0.65)),
        CABINETS,
        shapes.cabinet,
        ("I want to put the clean dishes away behind a door.", "Where up on the wall are the spices stored?"),
        "plan",
        hangs=1.78,
    ),
    ObjectType(
        "DiningTable",
        "dining table",
        EATING,
        ((1.1, 0.75, 0.75), (1.3, 0.8, 0.75), (0.9, 0.9, 0.75)),
        ((0xB98552, 0x8A5E36), (0xE9E3D6, 0xC9BFAE), (0x6E4A33, 0x573827)),
        shapes.dining_table,
        ("The family gathers there for dinner.", "Where should I serve the meal for everybody?"),
        "plan",
        surfaces=TOP,
    ),
    ObjectType(
        "Chair",
        "chair",
        ("kitchen", "living room", "bedroom"),
        ((0.42, 0.44, 0.92),),
        ((0x8A5E36, 0xC97B4A), (0xC9BFAE, 0x6E93A8), (0x573827, 0xA33F3A), (0x2F3237, 0x8C9298)),
        shapes.chair,
        ("My legs are tired and one seat at the table would do.", "I want to sit upright while I eat."),
        "plan",
    ),
    ObjectType(
        "Stool",
        "stool",
        EATING,
        ((0.36, 0.36, 0.62),),
        ((0x3A3D42, 0xB98552), (0xB98552, 0xD05B4A), (0x8B8F94, 0x3F6B75)),
        shapes.stool,
        ("I need a little seat without a back.", "Something round to perch on would be fine."),
        "floor",
    ),
    ObjectType(
        "GarbageCan",
        "garbage can",
        ("kitchen", "bathroom", "bedroom"),
        ((0.34, 0.34, 0.55), (0.3, 0.3, 0.45)),
        ((0x4F5B66, 0x2F363D), (0x5C8C5A, 0x3D6340), (0xBFC3C8, 0x30343A)),
        shapes.garbage_can,
        ("I have a banana peel to throw away.", "This wrapper is no good any more and should go."),
        "floor",
    ),
    ObjectType(
        "WashingMachine",
        "washing machine",
        ("bathroom", "kitchen"),
        ((0.6, 0.6, 0.86),),
        ((0xF4F4F2, 0xDADDE0), (0xA9AEB4, 0x8B9096)),
        shapes.washing_machine,
        ("My shirts are dirty and need a spin with some powder.", "I have a load of laundry to clean."),
        "wall",
        surfaces=TOP,
    ),
    ObjectType(
        "Microwave",
        "microwave",
        KITCHEN,
        ((0.5, 0.36, 0.3),),
        ((0xD8DADC, BLACK), (BLACK, 0x2C3036), (0xB9473E, 0x2A2A2C)),
        shapes.microwave,
        ("I want to warm up yesterday's pasta in two minutes.", "The popcorn bag has to turn and hum until it pops."),
        on=COUNTER,
    ),
    ObjectType(
        "Toaster",
        "toaster",
        KITCHEN,
        ((0.3, 0.2, 0.21),),
        ((0xC9CDD1, 0x8F9499), (0xC3382F, 0xD8D8D8), (0x7CC0B5, 0xE8E8E0)),
        shapes.toaster,
        (
            "I would like my slice of bread crisp and brown.",
            "I want something hot to spread butter on for breakfast, browned on both sides.",
        ),
        on=COUNTER,
    ),
    ObjectType(
        "CoffeeMachine",
        "coffee machine",
        KITCHEN,
        ((0.24, 0.3, 0.36),),
        ((0x2A2C30, 0xC4C8CC), (0xA8322C, 0x2A2C30), (0xE4E0D6, 0x6E5A4A)),
        shapes.coffee_machine,
        ("I want to brew a hot cup of something to wake me up.", "I slept badly and need fresh caffeine."),
        on=COUNTER,
    ),
    ObjectType(
        "Kettle",
        "kettle",
        KITCHEN,
        ((0.28, 0.2, 0.26),),
        ((0xC9CDD1, DARK), (0xD9583B, DARK), (0xF1EEE4, 0x6A5B4C)),
        shapes.kettle,
        ("I want boiling water for my tea.", "It whistles when the water is ready."),
        on=("CounterTop", "Stove"),
    ),
)
