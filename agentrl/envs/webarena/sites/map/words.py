"""The made-up region in words: names of settlements, districts, streets, people and businesses; the kinds of places."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


REGION, COUNTRY = "Norrland Shire", "Estermark"
CITY, CITY_COUNTY = "Veldhaven", "Orrin County"

# Town, county, kilometres east and north of the city, population.
TOWNS: tuple[tuple[str, str, float, float, int], ...] = (
    ("Bramley Cross", "Orrin County", -19.0, 7.5, 14200), ("Ashgrove", "Orrin County", 18.5, 10.0, 21800),
    ("Selwyn Wells", "Saltmarsh County", 26.0, -16.5, 33600), ("Thornbury Hill", "Orrin County", -8.0, 22.0, 9800),
    ("Kestrel Bay", "Saltmarsh County", 52.0, -22.0, 27400), ("Oldcastle", "Highfell County", -38.0, 24.0, 41300),
    ("Windermoor", "Highfell County", -66.0, 33.0, 18900), ("Sandiford", "Saltmarsh County", 34.0, -46.0, 16700),
    ("Hartwell Springs", "Highfell County", 14.0, 43.0, 12500),
    ("Millbrook", "Lower Orrin County", -24.0, -21.0, 24900), ("Dunmore", "Lower Orrin County", -57.0, -17.0, 15800),
    ("Fenwick Abbey", "Lower Orrin County", -41.0, -52.0, 8700), ("Northgate", "Highfell County", -12.0, 83.0, 36200),
    ("Elderfield", "Saltmarsh County", 83.0, 26.0, 29500), ("Whitlock Sands", "Saltmarsh County", 97.0, -41.0, 11300),
    ("Grayling", "Lower Orrin County", -108.0, -32.0, 22100),
)  # fmt: skip

DISTRICTS: tuple[tuple[str, float, float], ...] = (  # name, metres east and north of the centre
    ("Old Town", 0, 350), ("Harbour Quarter", 900, -1050), ("Cathedral Hill", -1500, 900), ("Lindenhof", 1700, 1300),
    ("Weavers Green", -3100, 250), ("Castlegate", 700, 1650), ("University Quarter", 2900, -400),
    ("Southbank", -900, -1900), ("Ironworks", 3900, -2000), ("Mount Aldous", -2500, 2600), ("Larkfield", 2500, 3100),
    ("Riverside Meadows", -4300, -1500), ("Quarry Bank", 1100, -3300), ("Saint Brannock", -2400, -3100),
    ("Eastgate", 4800, 700), ("Westbourne", -5000, 900),
)  # fmt: skip

STREET_BASES: tuple[str, ...] = _listed(
    """Mill Market Church Abbey Bridge Station Castle Garden Orchard Meadow Willow Chestnut Maple Cedar Hazel
    Rowan Alder Birch Juniper Hawthorn Elm Aspen Laurel Magnolia Poplar Sycamore Linden Walnut Acacia
    Heather Bracken Fern Clover Primrose Violet Lavender Thistle Bluebell Foxglove Heron Falcon Kestrel
    Swallow Starling Robin Lark Nightingale Curlew Plover Osprey Merlin Wren Otter Badger Beaver Hart Fox
    Hound Saddler Cooper Tanner Weaver Baker Potter Mason Carpenter Glover Chandler Draper Fletcher
    Thatcher Cutler Miller Fuller Dyer Tinker Bishop Canon Abbot Prior Monk Pilgrim Chapel Cloister Tower
    Gate Wall Moat Keep King Queen Prince Duke Earl Baron Knight Crown Sceptre Regent Albert Victor Edmund
    Alfred Harold Godwin Matilda Eleanor Beatrice Clement Ambrose Benedict Dunstan Oswald Cuthbert Wilfred
    Hilda Edith Harbour Anchor Sailor Beacon Lighthouse Quay Ferry Wharf Dock Ropewalk Compass Admiral
    Captain Mariner Granite Slate Quarry Sandstone Marble Flint Copper Iron Silver Foundry Forge Furnace
    Kiln Colliery Spring Brook Ford Weir Lock Canal Fountain Well Pond Marsh Fen Heath Moor Down Ridge
    Cliff Valley Summit Highfield Longacre Greenway Broad Long Short Ashdown Pemberton Wexford Hollins
    Marlow Tamworth Selby Whitby Ripley Harrow Langdon Stanhope Bellamy Ravenscroft Holloway Kingsley
    Lambert Mercer Norwood Oakley Pickering Quincy Radcliffe Sheldon Tilbury Underwood Vickers Wakefield"""
)
STREET_TYPES: dict[str, tuple[str, ...]] = {
    "primary": ("Avenue", "Boulevard", "Road"), "secondary": ("Road", "Avenue", "Street"),
    "residential": ("Street", "Lane", "Drive", "Road", "Way", "Terrace", "Close", "Crescent"),
    "pedestrian": ("Arcade", "Promenade"), "path": ("Walk", "Path"),
}  # fmt: skip
BRIDGES = (
    "Saint Alban Bridge", "Fishergate Bridge", "Ropemakers Bridge", "Orrin Bridge", "Millennium Footbridge",
    "Queen Ida Bridge", "Tannery Bridge", "Kingfisher Footbridge", "Eastern Viaduct",
)  # fmt: skip
PARKS = (
    "Castle Park", "Linden Common", "Botanic Garden", "Aldous Wood", "Foundry Park", "Rosewater Gardens",
    "Brannock Green", "Meadowlands Park", "Observatory Hill",
)  # fmt: skip

FIRST_NAMES: tuple[str, ...] = _listed(
    """Ada Aldo Amelia Anton Astrid Basil Bella Bruno Carla Cedric Clara Conrad Dahlia Dario Delia Dorian
    Edgar Elena Elsa Emil Enzo Esther Felix Flora Freya Gino Greta Hanna Hector Hugo Ida Igor Ines Ivo
    Jasper Jonas Josie Karl Kira Lars Leona Lena Luca Mabel Marta Milo Mira Nadia Nico Nora Olga Oscar
    Otto Paula Petra Quentin Rita Rosa Rufus Selma Silas Sofia Stella Sven Tessa Theo Tilda Ulla Vera
    Viktor Willa Yara Zelda"""
)
SURNAMES: tuple[str, ...] = _listed(
    """Abernathy Almeida Andersen Applegate Arkwright Baranski Barlow Beckett Bergman Blackwood Bonetti Bowen
    Brandt Calloway Carmody Castellan Chen Corbin Cromwell Dahl Delacroix Demir Dobbins Drummond Eastman
    Ellison Esposito Fairley Fontaine Forsyth Galloway Garrick Goldberg Greaves Haldane Hartmann Hollis
    Ibarra Ishikawa Jansen Jarvis Kapoor Keating Kowalski Kumar Lachlan Larsen Leclerc Lindqvist Lombardi
    Mackay Marchetti Mendez Moreau Nakamura Nesbitt Novak Okafor Olsen Orlov Papadakis Pasternak Pereira
    Prescott Quill Rahman Renard Romano Rosenthal Salazar Schaefer Sinclair Sorensen Stavros Takeda
    Thackeray Tremaine Ueda Valentine Vargas Vogel Wainwright Weiss Whitaker Yilmaz Zamora Zielinski"""
)
ADJECTIVES: tuple[str, ...] = _listed(
    """Amber Ancient Blue Bright Brass Copper Crimson Crooked Curious Drowsy Early Electric Emerald Faded
    Gentle Gilded Golden Grand Green Happy Hidden Hungry Humble Indigo Iron Ivory Jolly Lazy Little Lucky
    Marble Merry Midnight Nimble Noble Olive Painted Paper Patient Plain Proud Quiet Red Restless Royal
    Rusty Salty Scarlet Secret Shady Silent Silver Singing Sleepy Smoky Speckled Spotted Stone Sunny Swift
    Tall Velvet Wandering White Wild Wise Wooden Yellow"""
)
NOUNS: tuple[str, ...] = _listed(
    """Anchor Apple Apron Arrow Badger Barn Barrel Basket Bear Bell Bicycle Boar Bottle Bridge Broom Candle
    Carousel Cat Cherry Clock Cloud Compass Cricket Crow Cup Dolphin Dove Drum Duck Elephant Feather
    Fiddle Fig Finch Fox Garden Gate Goose Grape Griffin Hammer Hare Harp Hedgehog Hen Heron Horse Jug
    Kettle Key Kite Ladder Lamb Lantern Leaf Lemon Lion Lobster Magpie Mermaid Mill Moon Moth Mushroom
    Nest Nutmeg Oak Orchard Otter Owl Oyster Peacock Pear Pepper Pheasant Pigeon Piano Plough Pony Pumpkin
    Quill Rabbit Raven Ribbon Robin Rose Saddle Sail Salmon Sparrow Spoon Squirrel Star Stork Swan Table
    Teapot Thistle Tiger Tortoise Trumpet Umbrella Violin Walnut Whale Wheel Willow Window Wolf"""
)
TOPICS: tuple[str, ...] = (
    "Clocks", "River Trade", "Printing", "Musical Instruments", "Local History", "Natural History", "Toys and Games",
    "Modern Art", "Textiles", "Railways", "Astronomy", "Ceramics", "Photography", "Navigation", "Agriculture",
)  # fmt: skip


# ---------------------------------------------------------------------- kinds of places

CUISINES = (
    "italian", "chinese", "indian", "japanese", "mexican", "thai", "french", "greek", "korean", "vietnamese", "turkish",
    "spanish", "lebanese", "seafood", "steak_house", "vegetarian", "ethiopian", "regional",
)  # fmt: skip


@dataclass(frozen=True)
class Category:
    """A kind of place; categories.toml says what the fields mean."""

    value: str
    key: str
    label: str
    plural: str
    city: int
    town: int
    names: tuple[str, ...]
    chains: tuple[str, ...]
    hours: tuple[str, ...]
    contact: bool
    central: float
    synonyms: tuple[str, ...]
    area: bool


def _load() -> dict[str, Category]:
    text = files("agentrl.envs.webarena.sites.map").joinpath("categories.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    hours = tables.pop("hours")
    return {
        value: Category(
            value, row["key"], row["label"], row["plural"], row["city"], row["town"], tuple(row.get("names", ())),
            tuple(row.get("chains", ())), tuple(hours[row["hours"]]) if "hours" in row else ("",),
            row.get("contact", True), row.get("central", 0.5), tuple(row.get("synonyms", ())), row.get("area", False),
        )
        for value, row in tables.items()
    }  # fmt: skip


CATEGORIES = _load()
