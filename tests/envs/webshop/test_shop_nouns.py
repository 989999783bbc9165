"""The noun tagger of our own against titles labelled by hand, and the way to spaCy's."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from agentrl.envs.webshop import nouns
from agentrl.envs.webshop.nouns import default_tagger, is_noun, pipeline_tagger, rule_tagger, spacy_tagger

# Titles in the manner of the catalogue; nouns and names are in *stars*, by eye.
LABELLED = """
*Velmora* *Sulfate*-Free *Shampoo* for Damaged *Hair* with *Argan* *Oil*, *Color* Safe, *Salon* *Routine* at *Home*
*Kelsby* Dual *Voltage* *Hair* *Dryer* with Ionic *Technology*, Made for Busy *Mornings*, *Gift* *Set*
Wireless *Charging* *Stand* for *Desk* and *Bedside*, Fast and Quiet, Black
*Lanmasby* *Hand* Stitched *Sandals* with *Rubber* *Sole*, All *Day* *Comfort*, *City* *Walks*
Waterproof *Hiking* *Boots* for *Men*, Lightweight and Breathable, with *Gel* *Cushioning*
*Selgan* Digital *Radio* with *FM* *Tuner*, High *Fidelity*, *Kitchen* *Companion*
*USB* *Hub* with *Aluminum* *Body*, Compact, for Dual *Monitors*
*Gluten* Free *Trail* *Mix* with Real *Fruit*, *Office* *Snack*, *Party* *Bowl*
*Olbury* Solid *Wood* *Coffee* *Table* with *Steel* *Legs*, Made for *Board* *Games* and Late *Snacks*
Extra Large *Shower* *Curtain* with *Metal* *Grommets*, *Mildew* Resistant, Twelve *Hooks*
*Quinfane* Slim Fit *Dress* *Shirt*, *Wrinkle* Free, Long *Sleeve*, for *Business* *Meetings*
Adjustable *Laptop* *Stand*, Ergonomically Shaped, for Tall *Users* and Standing *Desks*
*Rosetane* *Shoe* *Rack* with *Bamboo* *Frame*, Tidy *Home*, Fits Any *Corner*
Organic Green *Tea* from *Japan*, Naturally Sweet, 20 *Bags*
*Telofield* *Fitness* *Tracker* with *Heart* *Rate* *Sensor*, *Week* Long *Battery*, Easy *Clasp*
*Bathroom* *Towel* *Set*, Highly Absorbent, Soft and Thick, for *Guests*
Reusable *Water* *Bottle* with *Straw*, Leakproof, 32 *oz*
*Nazane* Moisturizing *Hand* *Cream* with *Shea* *Butter* for Dry *Skin*
"""

# Labelled before the tagger had seen them, and no word list was changed for them since.
UNSEEN = """
*Marlovane* Stainless *Steel* *Garlic* *Press* with Soft *Handles*, Dishwasher Safe, Heavy Duty
Vintage Floral *Summer* *Dress* for *Women*, Sleeveless, Casual *Beach* *Midi* with *Pockets*
Noise Canceling *Headphones*, Foldable, Deep *Bass*, 40 *Hours* of *Playtime*, for *Travel* and *Work*
*Torrellbury* Ceramic *Plant* *Pot* with *Drainage* *Hole* and *Saucer*, Indoor, White
Freshly Roasted *Coffee* *Beans*, Dark and Smoky, Whole *Bean*, 2 *lb* *Bag*
Magnetic *Phone* *Mount* for *Car* *Dashboard*, Strong *Grip*, Easy to Install
Kids *Toothbrush* with Gentle *Bristles* and *Timer*, Colorful and Fun
*Queen* *Size* *Mattress* *Protector*, Hypoallergenic, Washable, Fits Deep *Pockets*
Spicy Mango *Chips*, Crunchy, Baked Not Fried, *Party* *Snack* for *Friends*
Rechargeable *Bike* *Light*, Waterproof, Very Bright, *Front* and *Rear*
*Leather* *Belt* for *Men*, Brown, Classic *Buckle*, Comes in a *Gift* *Box*
Adhesive *Wall* *Hooks*, Removable without *Damage*, *Pack* of Ten
"""


def labels(text: str) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Each title without its stars, and for each of its words whether it is a noun."""
    found = []
    for line in text.strip().splitlines():
        words = re.findall(r"\*?[A-Za-z]+\*?", line)
        found.append((line.replace("*", ""), [(word.strip("*"), word.startswith("*")) for word in words]))
    return found


@pytest.mark.parametrize(
    ("text", "least", "share"), [(LABELLED, 190, 0.95), (UNSEEN, 110, 0.88)], ids=["known", "unseen"]
)
def test_our_tagger_agrees_with_labels_made_by_hand(text: str, least: int, share: float) -> None:
    agreed = total = 0
    disputed = []
    for title, words in labels(text):
        tagged = rule_tagger(title)
        for word, noun in words:
            total += 1
            agreed += (said := word.lower() in tagged) == noun
            disputed += [word] if said != noun else []
    print(f"{agreed} of {total} words as labelled; otherwise: {disputed}")
    assert total >= least
    assert agreed / total >= share


def test_nouns_come_lower_cased_in_order_with_repetitions() -> None:
    assert rule_tagger("Hair Mask for Hair") == ("hair", "mask", "hair")


def test_numbers_and_single_letters_are_no_nouns() -> None:
    assert rule_tagger("2 x 500 ml, 4K, X-Large") == ("ml",)


def test_initials_are_names_unless_all_is_shouted() -> None:
    assert is_noun("LED") and rule_tagger("LED Lamp") == ("led", "lamp")
    assert rule_tagger("VERY SOFT LAMP") == ("lamp",)


def test_other_scripts_and_empty_titles_are_no_trouble() -> None:
    assert rule_tagger("") == () and rule_tagger("🧴 -- 12") == ()
    assert rule_tagger("日本 Lamp") == ("日本", "lamp")
    assert len(rule_tagger("lamp " * 300_000)) == nouns.LONGEST_TITLE // 5


def a_pipeline(text: str) -> list[SimpleNamespace]:
    """What a loaded spaCy pipeline is to us: tokens with `text` and `pos_`."""
    kinds = {"velmora": "PROPN", "mask": "NOUN", "soft": "ADJ"}
    return [SimpleNamespace(text=word, pos_=kinds.get(word.lower(), "X")) for word in text.split()]


def test_a_pipeline_gives_its_nouns_and_names() -> None:
    assert pipeline_tagger(a_pipeline)("Velmora soft Mask mask") == ("velmora", "mask", "mask")


def test_a_pipeline_is_never_given_megabytes() -> None:
    seen: list[int] = []

    def measuring(text: str) -> list[SimpleNamespace]:
        seen.append(len(text))
        return []

    assert pipeline_tagger(measuring)("x" * 2_000_000) == ()
    assert seen == [nouns.LONGEST_TITLE]


def test_without_the_model_our_own_tagger_serves() -> None:
    assert spacy_tagger("no_such_model_anywhere") is None
    assert (default_tagger() is rule_tagger) == (spacy_tagger() is None)
