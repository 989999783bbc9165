"""Dishes and food: how they look, and their types."""

from __future__ import annotations

from agentrl.envs.navigation.catalogue.object_type import Look, ObjectType
from agentrl.envs.navigation.shapes import Part, ball, blob, box, disc, rail, rod, slab, tilted

BOARDS = ("CounterTop", "DiningTable")
WHITE = 0xF7F5EE
EATING = ("kitchen", "living room")
KITCHEN = ("kitchen",)


def plate(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A plate."""
    return [
        rod(0, 0, (0, h * 0.5), w * 0.32, look[0]),
        rod(0, 0, (h * 0.5, h * 0.9), w / 2, look[0]),
        rod(0, 0, (h * 0.9, h * 0.95), w * 0.43, look[1]),
        rod(0, 0, (h * 0.95, h), w * 0.38, look[0]),
    ]


def bowl(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A bowl."""
    return [
        rod(0, 0, (0, h * 0.2), w * 0.25, look[0]),
        rod(0, 0, (h * 0.2, h * 0.5), w * 0.38, look[0]),
        rod(0, 0, (h * 0.5, h * 0.8), w * 0.46, look[0]),
        rod(0, 0, (h * 0.8, h), w / 2, look[0]),
        rod(0, 0, (h, h + 0.002), w * 0.42, look[1]),
    ]


def mug(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A mug."""
    r = d / 2
    x = -w / 2 + r
    grip = [box((x + r * 0.9, w / 2), (-0.009, 0.009), (z, z + 0.016), look[0]) for z in (h * 0.2, h * 0.74)]
    return [
        rod(x, 0, (0, h), r, look[0]),
        rod(x, 0, (h, h + 0.001), r * 0.82, look[1]),
        *grip,
        box((w / 2 - 0.015, w / 2), (-0.009, 0.009), (h * 0.2, h * 0.74 + 0.016), look[0]),
    ]


def cup(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A cup."""
    return [
        rod(0, 0, (0, h * 0.35), w * 0.36, look[0]),
        rod(0, 0, (h * 0.35, h * 0.7), w * 0.43, look[0]),
        rod(0, 0, (h * 0.7, h), w / 2, look[0]),
        rod(0, 0, (h, h + 0.001), w * 0.42, look[1]),
        rod(0, 0, (h * 0.4, h * 0.55), w * 0.445, look[1]),
    ]


def wine_bottle(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A wine bottle."""
    glass, label = look
    return [
        rod(0, 0, (0, h * 0.6), w / 2, glass),
        blob((0, 0, h * 0.6), (w / 2, w / 2, h * 0.12), glass),
        rod(0, 0, (h * 0.6, h * 0.94), w * 0.18, glass),
        rod(0, 0, (h * 0.88, h), w * 0.22, 0x8E2F3A),
        rod(0, 0, (h * 0.18, h * 0.45), w * 0.51, label),
    ]


def bread(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A loaf of bread."""
    crust, cut = look
    scores = [
        tilted(box((x - 0.012, x + 0.012), (-d * 0.3, d * 0.3), (h * 0.86, h * 0.97), cut), z=20)
        for x in (-w * 0.25, 0, w * 0.25)
    ]
    return [
        slab(w * 0.94, d * 0.9, (0, h * 0.5), crust),
        Part("cylinder", (0, 0, h * 0.5), (d * 0.47, h * 0.5, w * 0.47), crust, None, (0, 90, 0))
        if d <= h
        else blob((0, 0, h * 0.5), (w / 2, d / 2, h / 2), crust),
        *scores,
    ]


def apple(w: float, d: float, h: float, look: Look) -> list[Part]:
    """An apple."""
    return [
        blob((0, 0, h * 0.44), (w / 2, d / 2, h * 0.44), look[0]),
        rod(0, 0, (h * 0.84, h), 0.005, 0x5A3A20),
        tilted(blob((0.02, 0, h * 0.93), (0.024, 0.012, 0.004), 0x4C8A3A), y=-20),
    ]


def tomato(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A tomato."""
    leaves = [
        tilted(
            blob((x * 0.02, y * 0.02, h * 0.95), (0.022 if x else 0.008, 0.022 if y else 0.008, 0.004), 0x3F7A35),
            y=15 * x,
            x=-15 * y,
        )
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))
    ]
    return [
        blob((0, 0, h * 0.48), (w / 2, d / 2, h * 0.48), look[0]),
        *leaves,
        rod(0, 0, (h * 0.94, h), 0.005, 0x3F7A35),
    ]


def lettuce(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A head of lettuce."""
    outer, inner = look
    leaves = [
        tilted(blob((x * w * 0.24, y * d * 0.24, h * 0.45), (w * 0.26, d * 0.26, h * 0.42), outer), y=22 * x, x=-22 * y)
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))
    ]
    return [
        *leaves,
        ball(0, 0, h * 0.58, w * 0.3, inner),
        blob((0, -d * 0.1, h * 0.8), (w * 0.16, d * 0.14, h * 0.18), inner),
    ]


def banana(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A banana."""
    arc = ((-0.42, 0.3, -35), (-0.22, -0.05, -18), (0.0, -0.18, 0), (0.22, -0.05, 18), (0.42, 0.3, 35))
    flesh = [
        tilted(blob((x * w, y * d, h / 2), (w * 0.17, h * 0.42, h * 0.45), look[0]), z=angle) for x, y, angle in arc
    ]
    return [*flesh, ball(-w * 0.5, d * 0.45, h / 2, 0.01, 0x4A3A1A), ball(w * 0.5, d * 0.45, h / 2, 0.012, look[1])]


def potato(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A potato."""
    spots = [
        ball(x * w, y * d, h * z, 0.006, look[1])
        for x, y, z in ((0.2, -0.3, 0.75), (-0.25, -0.25, 0.7), (0.0, 0.2, 0.95), (-0.1, -0.42, 0.5))
    ]
    return [
        blob((-w * 0.08, 0, h / 2), (w * 0.42, d / 2, h / 2), look[0]),
        blob((w * 0.2, 0, h * 0.46), (w * 0.3, d * 0.42, h * 0.44), look[0]),
        *spots,
    ]


def eggs(w: float, d: float, h: float, look: Look) -> list[Part]:
    """Eggs."""
    shells = [
        blob((x * w * 0.32, y * d * 0.23, h * 0.62), (0.024, 0.024, h * 0.38), look[1])
        for x in (-1, 0, 1)
        for y in (-1, 1)
    ]
    return [slab(w, d, (0, h * 0.5), look[0]), *shells]


def shaker(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A shaker."""
    return [
        rod(0, 0, (0, h * 0.7), w / 2, look[0]),
        rod(0, 0, (h * 0.7, h * 0.9), w * 0.52, look[1]),
        blob((0, 0, h * 0.9), (w * 0.5, w * 0.5, h * 0.1), look[1]),
        rod(0, 0, (h * 0.2, h * 0.5), w * 0.51, look[2]),
    ]


def fruit_bowl(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A fruit bowl."""
    fruits = [
        ball(x * w * 0.24, y * d * 0.24, h * 0.68, w * 0.15, c)
        for x, y, c in ((-1, -0.5, 0xC8342A), (1, -0.5, 0xF08A24), (0, 1, 0x8FBF3A), (0, -1, 0xF0C030))
    ]
    return [
        rod(0, 0, (0, h * 0.15), w * 0.2, look[0]),
        rod(0, 0, (h * 0.15, h * 0.35), w * 0.38, look[0]),
        rod(0, 0, (h * 0.35, h * 0.55), w / 2, look[0]),
        *fruits,
        ball(0, 0, h * 0.85, w * 0.15, 0xC8342A),
    ]


def cereal_box(w: float, d: float, h: float, look: Look) -> list[Part]:
    """A cereal box."""
    return [
        slab(w, d, (0, h), look[0]),
        box((-w * 0.4, w * 0.4), (-d / 2 - 0.002, -d / 2), (h * 0.68, h * 0.9), WHITE),
        disc(0, (-d / 2 - 0.003, -d / 2), h * 0.34, w * 0.32, look[1]),
        disc(0, (-d / 2 - 0.005, -d / 2), h * 0.34, w * 0.2, 0xF0D890),
        rail((-w * 0.2, w * 0.2), -d / 2 - 0.001, h * 0.79, 0.008, look[0]),
    ]


TYPES = (
    ObjectType("Plate", "plate", EATING, ((0.26, 0.26, 0.03),),
        ((WHITE, 0x4C86A8), (0xF0D8A0, 0xC8452F), (0xCFE0D8, 0x3F7A5E)), plate,
        ("I need something flat and round to serve my cake on.", "The potatoes should not lie on the bare table."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("Bowl", "bowl", EATING, ((0.2, 0.2, 0.1),),
        ((0x4C86A8, 0xE8F0F2), (0xE8A63A, 0xFBF0D8), (0xB8605A, 0xF4E4DC)), bowl,
        ("I want to eat some soup and it must not run away.", "I pour milk over my flakes in it every morning."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("Mug", "mug", ("kitchen", "living room", "bedroom"), ((0.14, 0.1, 0.12),),
        ((0xC8342A, 0x4A2F20), (0x3F6FA8, 0x4A2F20), (0xF2E8D0, 0x6A4A30), (0x5E9B55, 0x4A2F20)), mug,
        ("I need something with a handle for my hot cocoa.",
         "My tea has to go into something that does not burn my fingers."),
        on=(*BOARDS, "CoffeeTable", "Desk", "SideTable")),
    ObjectType("Cup", "cup", EATING, ((0.1, 0.1, 0.13),),
        ((0xF0C030, 0xFFFFFF), (0x8FCFE0, 0xFFFFFF), (0xE87A9A, 0xFFFFFF)), cup,
        ("I want to drink some juice.", "I am thirsty and would like to fill something with water."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("WineBottle", "wine bottle", EATING, ((0.09, 0.09, 0.34),),
        ((0x2F5A3A, 0xF0E4C8), (0x4A2030, 0xFFFFFF), (0xC8B860, 0xE8E0C8)), wine_bottle,
        ("We have something to celebrate and I have the corkscrew.", "A red drop with the cheese would be nice."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("Bread", "bread", KITCHEN, ((0.3, 0.14, 0.13),), ((0xB9773A, 0xE8C890), (0x8A5A2E, 0xD8B070)), bread,
        ("I want to cut a few slices for sandwiches.", "It comes fresh from the bakery and has a crust."), on=BOARDS),
    ObjectType("Apple", "apple", EATING, ((0.1, 0.1, 0.11),), ((0xC8242A, 0), (0x8FBF3A, 0), (0xE8B83A, 0)), apple,
        ("I would like a crunchy fruit that keeps the doctor away.",
         "I want to bake a pie with cinnamon and need its main part."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("Tomato", "tomato", KITCHEN, ((0.1, 0.1, 0.09),), ((0xD8321E, 0), (0xE8602A, 0)), tomato,
        ("The pizza needs a red, juicy topping.", "I want to make ketchup myself."), on=BOARDS),
    ObjectType("Lettuce", "lettuce", KITCHEN, ((0.22, 0.22, 0.19),), ((0x4F9A3A, 0x9CCF6A), (0x7FB04A, 0xC8E08A)),
        lettuce, ("I want to make a green salad.", "My burger needs a crisp leaf."), on=BOARDS),
    ObjectType("Banana", "banana", EATING, ((0.24, 0.09, 0.05),), ((0xF2CE3A, 0x8A7A2A), (0xC8C84A, 0x5A7A2A)),
        banana, ("I want something sweet that I have to peel first.", "Monkeys like this bent yellow thing."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("Potato", "potato", KITCHEN, ((0.14, 0.09, 0.08),), ((0xB58A54, 0x7A5A34), (0xA8604A, 0x6A3A2A)),
        potato, ("I want to make fries.", "It grew under the ground and will become mash."), on=BOARDS),
    ObjectType("Egg", "eggs", KITCHEN, ((0.18, 0.13, 0.08),), ((0x8D9A9E, 0xF4E4D0), (0xC0A888, 0xE0B890)), eggs,
        ("I want to make an omelette.", "The hens laid what I need for the cake."), on=BOARDS),
    ObjectType("SaltShaker", "salt shaker", KITCHEN, ((0.07, 0.07, 0.13),),
        ((0xF7F5EE, 0xB9BDC2, 0xDDE8F0), (0xE0ECF4, 0x8B9096, 0xFFFFFF)), shaker,
        ("The soup tastes of nothing; a white pinch would help.", "Something from the sea, in grains, for my fries."),
        on=BOARDS),
    ObjectType("PepperShaker", "pepper shaker", KITCHEN, ((0.07, 0.07, 0.15),),
        ((0x3A2A22, 0x8A5E36, 0x54403A), (0x26282C, 0xB9BDC2, 0x4A4F57)), shaker,
        ("My steak wants something black and hot that makes me sneeze.",
         "The dish is too mild, it could bite a little more."),
        on=BOARDS),
    ObjectType("FruitBowl", "fruit bowl", EATING, ((0.3, 0.3, 0.22),), ((0xE8E4DC, 0), (0x8A5E36, 0), (0x4C86A8, 0)),
        fruit_bowl,
        ("I want to choose something with vitamins from a colourful heap.",
         "A still life for painters: many sweet round things in one dish."),
        on=(*BOARDS, "CoffeeTable")),
    ObjectType("CerealBox", "cereal box", KITCHEN, ((0.2, 0.08, 0.3),),
        ((0xD8432F, 0xF2B83A), (0x3F6FA8, 0xF6F0E0), (0x4F9A4A, 0xF2D25C)), cereal_box,
        ("I want crunchy flakes for breakfast.", "The children shake it and hope for a toy inside."), on=BOARDS),
)  # fmt: skip
