"""Types: what belongs into bathrooms."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import ObjectType, Surface
from agentrl.envs.navigation.shapes import bathroom as shapes

WHITE = 0xF4F4F0
BATHROOM = ("bathroom",)
STEEL = 0xC4C8CC
WET = ("Sink", "WashingMachine", "Toilet")

TYPES = (
    ObjectType(
        "Toilet",
        "toilet",
        BATHROOM,
        ((0.4, 0.68, 0.8),),
        ((WHITE, 0xFFFFFF), (0xE6E0D2, 0xF1ECE0), (0xF0F0EE, 0xA9825A)),
        shapes.toilet,
        ("I drank too much water and need to go, urgently.", "Nature calls; where do I go?"),
        "wall",
        surfaces=(Surface(1.0, (-0.4, 0.28, 0.4, 0.46)),),
    ),
    ObjectType(
        "Bathtub",
        "bathtub",
        BATHROOM,
        ((1.6, 0.74, 0.72), (1.45, 0.7, 0.7)),
        ((WHITE, 0x9AD0E0), (0xE9E2D3, 0xA8D4CC), (0x5E7E8C, 0xBFE4EE)),
        shapes.bathtub,
        ("I want to soak in warm foam for half an hour.", "My back aches and I would love to lie in hot water."),
        "wall",
    ),
    ObjectType(
        "ShowerStall",
        "shower stall",
        BATHROOM,
        ((0.85, 0.85, 2.0),),
        ((WHITE, STEEL), (0x5B6168, 0x2F3237)),
        shapes.shower,
        (
            "I came back from a run and want to stand under warm drops.",
            "I want to wash my hair standing up, behind glass.",
        ),
        "corner",
    ),
    ObjectType(
        "Towel",
        "towel",
        BATHROOM,
        ((0.55, 0.09, 0.6),),
        ((0xD8605A, 0xF2E6DA), (0x4C86A8, 0xE8F0F2), (0xE6C35C, 0xFFFFFF), (0x6FA287, 0xEAF2EC)),
        shapes.towel,
        ("I am dripping wet and want to rub myself dry.", "My wet hands need a soft cloth."),
        "hung",
        hangs=1.15,
    ),
    ObjectType(
        "ToiletPaper",
        "toilet paper",
        BATHROOM,
        ((0.12, 0.13, 0.13),),
        ((0xFBFAF6, 0), (0xE8D8DC, 0)),
        shapes.toilet_paper,
        (
            "I sit in the smallest room and the white roll is what I miss.",
            "Some soft sheets, two layers, torn off one by one, please.",
        ),
        "hung",
        hangs=0.72,
    ),
    ObjectType(
        "SoapBottle",
        "soap bottle",
        ("bathroom", "kitchen"),
        ((0.09, 0.09, 0.22),),
        ((0x6FC0B0, 0xFFFFFF), (0xE8A0B8, 0x54585E), (0xF0C850, 0xFFFFFF)),
        shapes.soap_bottle,
        (
            "I want to press out a little foam before I rinse my hands.",
            "My fingers are greasy; water alone does not help.",
        ),
        on=("CounterTop", *WET),
    ),
    ObjectType(
        "SprayBottle",
        "spray bottle",
        ("bathroom", "kitchen"),
        ((0.1, 0.14, 0.28),),
        ((0x4F9FE8, 0xD8432F), (0x8FCF5A, 0xFFFFFF), (0xB08FD8, 0x3A3D42)),
        shapes.spray_bottle,
        ("I want to mist some cleaner on the glass.", "Something with a trigger, to wipe these stains off."),
        on=("CounterTop", *WET),
    ),
    ObjectType(
        "SoapBar",
        "soap bar",
        BATHROOM,
        ((0.13, 0.09, 0.06),),
        ((0xF0B8C8, 0xFBE4EA), (0xA8D8B8, 0xE4F4EA), (0xF4E8A8, 0xFFFFFF)),
        shapes.soap_bar,
        (
            "I want to wash with something solid that slips from the hand.",
            "It lies in a dish, smells nice and gets smaller every day.",
        ),
        on=WET,
    ),
    ObjectType(
        "Plunger",
        "plunger",
        BATHROOM,
        ((0.16, 0.16, 0.55),),
        ((0xB5493F, 0xC39A6B), (0x2F3237, 0xE8D8B0)),
        shapes.plunger,
        ("The drain is clogged and I need some suction.", "The bowl overflows; quick, something with a rubber cup."),
        "floor",
    ),
    ObjectType(
        "ScrubBrush",
        "scrub brush",
        BATHROOM,
        ((0.13, 0.13, 0.45),),
        ((0xE8E8E4, 0x8FA8B8), (0x3A3D42, 0xBFC3C8)),
        shapes.scrub_brush,
        ("I have to clean the bowl with bristles.", "It waits in a holder beside the throne."),
        "floor",
    ),
)
