"""Draws homes: `build_home(seed)` gives the same home for the same seed on every machine.

Only `random.Random` and the four basic operations decide, so that no library's version or rounding matters.
"""

from __future__ import annotations

from random import Random

from agentrl.envs.navigation.catalogue import OBJECTS, TYPES
from agentrl.envs.navigation.homes.furnish import GAP, Furnisher, turn
from agentrl.envs.navigation.homes.home import Home
from agentrl.envs.navigation.homes.layout import draw_layout


def build_home(seed: int) -> Home:
    """The home of a seed: one to four furnished rooms."""
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"the seed of a home must be an integer of at least 0; got {seed!r}")
    rng = Random(seed)
    layout = draw_layout(rng)
    furnisher = Furnisher(layout, rng)
    for number, room in enumerate(layout.rooms):
        PLANS[room.kind](furnisher, number)
    for number, room in enumerate(layout.rooms):
        _windows(furnisher, number)
        _decorate(furnisher, number, room.kind)
        x0, y0, x1, y1 = room.area
        for name in _some(furnisher, room.kind, "surface", 7 + int((x1 - x0) * (y1 - y0) / 3)):
            furnisher.on_furniture(name, number)
    return Home(seed, tuple(layout.rooms), tuple(layout.walls), tuple(layout.doors), tuple(furnisher.items))


# ---------------------------------------------------------------------- furniture of each kind of room


def _kitchen(home: Furnisher, room: int) -> None:
    line = ["CounterTop", "Sink", "CounterTop", "Stove", "CounterTop"]
    if home.rng.random() < 0.5:
        line.reverse()
    line.insert(home.rng.choice((0, len(line))), "Fridge")
    _line_up(home, room, line)
    if home.rng.random() < 0.8:
        _table_with_chairs(home, room)


def _line_up(home: Furnisher, room: int, names: list[str]) -> None:
    """One after the other along a wall, and on along the next walls."""
    start = home.rng.randrange(4)
    waiting = list(names)
    for side in (start, (start + 1) % 4, (start + 3) % 4, (start + 2) % 4):
        along = GAP
        while waiting:
            size = home.rng.choice(TYPES[waiting[0]].sizes)
            if along + size[0] > home.wall_length(room, side):
                break
            index = home.against(waiting[0], room, side, along + size[0] / 2, size)
            along += size[0] if index is not None else 0.1
            if index is not None and waiting.pop(0) != "Fridge" and home.rng.random() < 0.6:
                home.against("Cabinet", room, side, along - size[0] / 2, (size[0], 0.36, 0.65))


def _table_with_chairs(home: Furnisher, room: int) -> None:
    x0, y0, x1, y1 = home.layout.rooms[room].area
    for _ in range(12):
        size, turned = home.rng.choice(TYPES["DiningTable"].sizes), home.rng.randrange(2)
        x, y = home.rng.uniform(x0 + 0.9, x1 - 0.9), home.rng.uniform(y0 + 0.9, y1 - 0.9)
        table = home.stand("DiningTable", room, x, y, turned, size)
        if table is not None:
            places = [(-0.25, 1), (0.25, 1), (-0.25, -1), (0.25, -1)] if size[0] > 1 else [(0, 1), (0, -1)]
            for along, facing in places:
                if home.rng.random() < 0.75:
                    dx, dy = turn(along * size[0], facing * (size[1] / 2 + 0.25), turned)
                    home.stand("Chair", room, x + dx, y + dy, (turned + (0 if facing > 0 else 2)) % 4)
            return


def _living_room(home: Furnisher, room: int) -> None:
    rng = home.rng
    for side in rng.sample(range(4), 4):
        stand = _centred(home, "TVStand", room, side)
        if stand is not None:
            _set_television(home, stand, room)
            _sofa_opposite(home, room, (side + 2) % 4)
            break
    else:
        _sofa_opposite(home, room, rng.randrange(4))
    for name, chance in (("ShelvingUnit", 0.8), ("ArmChair", 0.7), ("SideTable", 0.6), ("Desk", 0.35)):
        if rng.random() < chance:
            index = home.somewhere_against(name, room)
            if name == "Desk" and index is not None:
                _chair_before(home, index, room)
    if rng.random() < 0.3:
        _table_with_chairs(home, room)


def _centred(home: Furnisher, name: str, room: int, side: int) -> int | None:
    size = home.rng.choice(TYPES[name].sizes)
    length = home.wall_length(room, side)
    for shift in (0.0, -0.5, 0.5, -0.9, 0.9):
        along = length / 2 + shift
        if size[0] / 2 + GAP <= along <= length - size[0] / 2 - GAP:
            index = home.against(name, room, side, along, size)
            if index is not None:
                return index
    return None


def _set_television(home: Furnisher, stand: int, room: int) -> None:
    below = home.items[stand]
    fitting = [size for size in TYPES["Television"].sizes if size[0] < max(below.size[:2])]
    width, depth, height = home.rng.choice(fitting)
    size = (depth, width, height) if below.turned % 2 else (width, depth, height)
    x, y = below.position[0], below.position[1]
    dx, dy = turn(0, 0.06, below.turned)
    home.put(
        TYPES["Television"],
        size,
        (x + dx, y + dy, below.size[2] + height / 2),
        below.turned,
        room,
        on=stand,
        blocks=False,
    )


def _sofa_opposite(home: Furnisher, room: int, side: int) -> None:
    sofa = _centred(home, "Sofa", room, side)
    if sofa is None:
        sofa = home.somewhere_against("Sofa", room)
    if sofa is None:
        return
    item = home.items[sofa]
    for gap in (0.4, 0.5, 0.3):
        size = home.rng.choice(TYPES["CoffeeTable"].sizes)
        dx, dy = turn(0, -(min(item.size[:2]) / 2 + gap + size[1] / 2), item.turned)
        table = home.stand("CoffeeTable", room, item.position[0] + dx, item.position[1] + dy, item.turned, size)
        if table is not None:
            if home.rng.random() < 0.7:
                home.stand(
                    "Rug", room, item.position[0] + dx, item.position[1] + dy, item.turned, (1.7, 1.1, 0.012), False
                )
            return


def _bedroom(home: Furnisher, room: int) -> None:
    rng = home.rng
    for side in rng.sample(range(4), 4):
        size = rng.choice(TYPES["Bed"].sizes)
        length = home.wall_length(room, side)
        along = rng.choice((size[0] / 2 + GAP, length / 2, length - size[0] / 2 - GAP, size[0] / 2 + 0.5))
        bed = home.against("Bed", room, side, along, size)
        if bed is not None:
            for sign in (-1, 1):
                if rng.random() < 0.8:
                    home.against("SideTable", room, side, along + sign * (size[0] / 2 + 0.26), (0.45, 0.4, 0.55))
            break
    for name, chance in (
        ("Wardrobe", 0.8),
        ("Dresser", 0.75),
        ("Desk", 0.6),
        ("ShelvingUnit", 0.35),
        ("ArmChair", 0.3),
    ):
        if rng.random() < chance:
            index = home.somewhere_against(name, room)
            if name == "Desk" and index is not None:
                _chair_before(home, index, room)
    if rng.random() < 0.6:
        x0, y0, x1, y1 = home.layout.rooms[room].area
        home.stand("Rug", room, (x0 + x1) / 2, (y0 + y1) / 2, rng.randrange(2), (1.3, 0.9, 0.012), False)


def _chair_before(home: Furnisher, desk: int, room: int) -> None:
    item = home.items[desk]
    dx, dy = turn(0, -(min(item.size[:2]) / 2 + 0.25), item.turned)
    home.stand("Chair", room, item.position[0] + dx, item.position[1] + dy, (item.turned + 2) % 4)


def _bathroom(home: Furnisher, room: int) -> None:
    rng = home.rng
    tub = home.somewhere_against("Bathtub" if rng.random() < 0.65 else "ShowerStall", room, corner=True, tries=16)
    if tub is None:
        home.somewhere_against("ShowerStall", room, corner=True)
    basin = home.somewhere_against("Sink", room, tries=16)
    home.somewhere_against("Toilet", room, tries=16)
    if basin is not None:
        item = home.items[basin]
        side = item.turned
        x0, y0, _, _ = home.layout.rooms[room].area
        home.against("Mirror", room, side, item.position[side % 2] - (x0, y0)[side % 2], (0.6, 0.04, 0.75))
    if rng.random() < 0.6:
        home.somewhere_against("WashingMachine", room)
    home.somewhere_against("ToiletPaper", room)
    home.somewhere_against("Towel", room)
    if rng.random() < 0.5:
        x0, y0, x1, y1 = home.layout.rooms[room].area
        home.stand("Rug", room, (x0 + x1) / 2, (y0 + y1) / 2, rng.randrange(2), (0.8, 0.5, 0.012), False)


PLANS = {"kitchen": _kitchen, "living room": _living_room, "bedroom": _bedroom, "bathroom": _bathroom}

# ---------------------------------------------------------------------- what every room gets


def _windows(home: Furnisher, room: int) -> None:
    """Up to one in each outer wall, where furniture leaves room for it."""
    x0, y0, x1, y1 = home.layout.rooms[room].area
    width, depth = max(r.area[2] for r in home.layout.rooms), max(r.area[3] for r in home.layout.rooms)
    outer = [side for side, is_outer in enumerate((y1 == depth, x0 == 0, y0 == 0, x1 == width)) if is_outer]
    for side in outer:
        if home.rng.random() < 0.8:
            home.somewhere_against("Window", room, (side,), tries=4)


def _decorate(home: Furnisher, room: int, kind: str) -> None:
    """What stands in corners, hangs on walls or stands about on the floor."""
    rng = home.rng
    for name in _some(home, kind, "corner", 2):
        home.somewhere_against(name, room, corner=rng.random() < 0.7)
    for name in _some(home, kind, "hung", 2):
        home.somewhere_against(name, room, tries=5)
    for name in _some(home, kind, "floor", 3):
        if home.somewhere_against(name, room, tries=4, corner=rng.random() < 0.4) is None:
            home.somewhere(name, room, tries=3)


def _some(home: Furnisher, kind: str, stands: str, count: int) -> list[str]:
    """Up to so many different types that belong there, the rare ones as likely as the usual ones."""
    names = [name for name in OBJECTS[kind] if TYPES[name].stands == stands]
    return home.rng.sample(names, min(len(names), home.rng.randint((count + 1) // 2, count)))
