"""The words of the grammar: every word or fixed phrase has one kind and, where needed, a value.

Only words are listed here, and no nouns: those are declared by the states (`Vocabulary` adds them). How words combine
is in `chunker` (what stands together) and `clauses` (what is where).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from agentrl.core.claims import Relations

ORIGIN, SCENERY = "origin", "scenery"  # classes of nouns: from where all is seen, and what has no place of its own
UP, DOWN, LEFT, RIGHT = (-1, None), (1, None), (None, -1), (None, 1)


class Lexeme(NamedTuple):
    """What a word is in the grammar."""

    kind: str
    value: Any = None


_PERSONS = "i me you we us myself yourself ourselves he him she himself herself"

# Directions. "prep" takes its landmark without "of": above the box; "side" needs one: left of the box.
_DIRECTIONS = {
    ("prep", UP): "above over atop",
    ("prep", DOWN): "below under underneath beneath",
    ("side", UP): "up upward upwards upper higher north northern northward overhead ↑ ⬆",
    ("edge", UP): "top topside topmost uppermost",
    ("edge", DOWN): "bottom bottommost lowermost",
    ("edge", LEFT): "leftmost",
    ("edge", RIGHT): "rightmost",
    ("side", DOWN): "down downward downwards lower south southern southward ↓ ⬇",
    ("side", LEFT): "left leftward leftwards lefthand leftside west western westward westwards ← ⬅",
    ("side", RIGHT): "right rightward rightwards righthand rightside east eastern eastward eastwards → ➡",
    ("side", (-1, -1)): "nw northwest northwestern northwesterly topleft upperleft upleft ↖",
    ("side", (-1, 1)): "ne northeast northeastern northeasterly topright upperright upright ↗",
    ("side", (1, -1)): "sw southwest southwestern southwesterly bottomleft lowerleft downleft ↙",
    ("side", (1, 1)): "se southeast southeastern southeasterly bottomright lowerright downright ↘",
}

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"

# kind -> words; a phrase is written with underscores.
_WORDS = {
    "the": "the this these those said",
    "a": "a an",
    "no": "no any",
    "another": "another additional extra one_more a_further",
    "other": "other others rest remaining",
    "both": "both",
    "all": "all every each everything",
    "some": "some several many few multiple various numerous a_few a_couple_of a_number_of couple",
    "one": "one ones",
    "poss_self": "my your our his their mine yours",
    "poss_it": "its whose",
    "it": "it itself",
    "they": "they them",
    "which": "which who that",
    "of": "of",
    "to": "to",
    "toward": "near close_to nearby beyond past toward towards closer_to nearer_to closer_towards away",
    "link": "from than as relative_to with_respect_to with_regard_to in_relation_to compared_to compared_with "
    "in_comparison_to in_comparison_with away_from seen_from viewed_from as_seen_from looking_from "
    "from_where with_reference_to from_the_perspective_of from_the_point_of_view_of from_the_viewpoint_of "
    "measured_from starting_from",
    "at": "at on in onto inside into upon within on_top_of by on_to",
    "adjacent": "next_to adjacent_to beside adjacent touching touches touch borders neighbours neighbors neighbouring "
    "neighboring alongside next_door_to bordering against",
    "direct": "immediate directly immediately straight just exactly due squarely precisely",
    "distance": "distance direction path way route offset displacement",
    "respectively": "respectively",
    "unit": "cell cells tile tiles square squares space spaces step steps block blocks unit units position "
    "positions place places location locations coordinate coordinates field fields slot object thing item",
    "row": "row rows line lines",
    "column": "column columns col cols file files",
    "side": "side sides hand part half diagonal portion",
    "same_row": "same_row same_level same_height same_horizontal_line same_horizontal_row same_horizontal_level "
    "same_latitude level_with same_y in_one_row in_a_single_row in_a_row same_horizontal_axis same_line "
    "same_elevation same_vertical_position same_rank",
    "same_column": "same_column same_col same_vertical_line same_vertical_column same_longitude same_x in_one_column "
    "in_a_single_column same_vertical_axis same_file same_horizontal_position",
    "same_place": "same_place same_position same_spot same_cell same_tile same_square same_location same_space "
    "same_field same_point same_coordinates one_place",
    "share": "share shares sharing",
    "align": "aligned align aligns in_line lined_up line_up lines_up in_alignment collinear in_a_line alignment",
    "horizontal": "horizontally horizontal",
    "vertical": "vertically vertical",
    "coincide": "overlaps overlap overlapping coincides coincide coincides_with coincide_with covers cover covering "
    "occupies occupy occupying",
    "arrive": "reach reaches reached reaching arrive arrives arrived hit hits attain attains",
    "is": "is are am lies lie sits sit stands stand rests remains remain stays stay appears seems exists exist "
    "starts start ends_up end_up ended_up ends end finish finishes finds_himself finds_itself "
    "finds_themselves find_myself becomes become looks_to_be appears_to_be seems_to_be seem_to_be "
    "appear_to_be appear seem lands land resides comes winds_up wind_up comes_to_rest come_to_rest",
    "be": "be being been standing lying sitting located positioned situated placed found seen visible resting "
    "remaining staying appearing spotted waiting discovered noted ending_up to_be",
    "was": "was were had_been used_to",
    "will": "will shall going_to gonna about_to is_going_to are_going_to am_going_to",
    "would": "would should expect expects expected ought_to anticipate",
    "has": "has have having contains contain holds hold containing holding got has_got have_got keeps hosts "
    "houses is_occupied_by occupied_by leaves leaving puts putting places placing makes brings bringing",
    "with": "with",
    "see": "see sees find finds notice notices observe observes can_see could_see looking_at detect identify perceive",
    "there": "there here",
    "surrounded": "surrounded_by flanked_by enclosed_by bordered_by hemmed_in_by",
    "blocks": "blocks blocking blocked obstructs",
    "not": "not isn't aren't ain't don't doesn't won't never neither nor no_longer cannot can't without wasn't "
    "weren't wouldn't shouldn't couldn't instead_of rather_than nothing none nowhere not_any unlike "
    "hardly didn't cant isnt arent",
    "only": "not_only not_just not_merely",
    "goal": "need needs needing must want wants have_to has_to try trying tries aim aims plan plans intend "
    "intends let let's lets wish wishes hope hopes in_order_to required attempt supposed_to avoid avoids "
    "avoiding can could might may would_like could_be might_be may_be ought requires require aiming "
    "wanting",
    "legend": "symbols legend rules instructions key",
    "maybe": "maybe perhaps possibly ideally hopefully potentially",
    "found": "can_be_found can_be_seen could_be_seen can_be_spotted may_be_found may_be_seen could_be_found",
    "so_that": "so_that such_that",
    "if": "if when once after before unless until till suppose supposing assuming whether as_soon_as in_case "
    "by_moving by_pushing by_going as_long_as provided",
    "then": "then",
    "move": "get gets getting moving moved go goes going went walk walks walking walked push pushes pushing "
    "pushed pull pulls pulling head heads heading travel travels travelling stepping stepped slide slides "
    "sliding slid shift shifts shifting shifted turn turns proceed proceeds run runs moves move advance "
    "advances climb climbs climbing descend descends drop drops",
    "currently": "currently at_the_moment at_present presently previously initially originally formerly",
    "now": "now right_now",
    "and": "and & plus as_well_as also along_with",
    "or": "or either",
    "but": "but yet however although though instead",
    "while": "while whereas whilst because since so therefore hence thus meaning where meanwhile given",
    "between": "between",
    "region": "grid map board room screen image picture level maze arena area puzzle scene playfield "
    "view environment world frame game layout diagram corridor section region",
    "corner": "corner corners",
    "x": "x",
    "y": "y",
    "filler": "very slightly somewhat little bit far further farther diagonally diagonal ahead more still too about "
    "roughly approximately around off out exact own current entire in_turn by_turns same even quite "
    "general of_course index number facing",
}

_PHRASE_DIRECTIONS = {  # plain runs such as "upper left" or "north-west" need no entry: their parts add up
    "left_hand": LEFT,
    "right_hand": RIGHT,
    "higher_up": UP,
    "lower_down": DOWN,
}
_IDLE_PHRASES = "over_to over_on over_there left_over"  # "over to the left" is not above


def build(relations: Relations | None = None) -> dict[str, Lexeme]:
    """The lexeme of every word and phrase, with the declared nouns. Later entries win: a direction is never a noun."""
    table: dict[str, Lexeme] = {}
    for kind, words in _WORDS.items():
        table |= {word: Lexeme(kind, word) for word in words.split()}
    if relations is not None:  # the value of a noun is (class, is plural, is a pronoun)
        origin = relations.origin
        listed = [(ORIGIN, origin.nouns, origin.plurals), (SCENERY, relations.scenery, relations.scenery_plurals)]
        listed += [(thing.name, thing.nouns, thing.plurals) for thing in relations.things]
        table |= {word: Lexeme("region", word) for word in relations.areas.split()}
        table |= {word: Lexeme("noun", (name, False, False)) for name, words, _ in listed for word in words.split()}
        table |= {word: Lexeme("noun", (name, True, False)) for name, _, words in listed for word in words.split()}
    table |= {word: Lexeme("noun", (ORIGIN, False, True)) for word in _PERSONS.split()}
    for (style, axes), words in _DIRECTIONS.items():
        table |= {word: Lexeme("dir", (style, *axes)) for word in words.split()}
    table |= {phrase: Lexeme("dir", ("side", *axes)) for phrase, axes in _PHRASE_DIRECTIONS.items()}
    table |= {phrase: Lexeme("filler", phrase) for phrase in _IDLE_PHRASES.split()}
    table |= {word: Lexeme("number", value) for value, word in enumerate(_NUMBERS.split()) if value != 1}
    table |= {word: Lexeme("ordinal", value) for value, word in enumerate(_ORDINALS.split())}
    table |= {f"{value}{tail}": Lexeme("ordinal", value) for value in range(1, 10) for tail in ("st", "nd", "rd", "th")}
    return table


def phrases(table: dict[str, Lexeme]) -> dict[str, list[tuple[list[str], Lexeme]]]:
    """First word -> the rest of each phrase, longest first, with what it means."""
    found: dict[str, list[tuple[list[str], Lexeme]]] = {}
    for phrase, lexeme in table.items():
        if "_" in phrase:
            first, *rest = phrase.split("_")
            found.setdefault(first, []).append((rest, lexeme))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return found


LEXICON: dict[str, Lexeme] = {word: lexeme for word, lexeme in build().items() if "_" not in word}  # without nouns


STOP, COMMA, COLON = Lexeme("stop"), Lexeme("comma"), Lexeme("colon")
MARKS = {",": COMMA, "(": COMMA, ")": COMMA, ":": COLON, "=": COLON, "->": COLON, "&": LEXICON["and"]}
MARKS |= {".": STOP, ";": STOP, "!": STOP, "?": Lexeme("stop", "?")}
ODD_WORDS = frozenset(["(", "→", "over", "right"])  # they mean different things in different company


class Vocabulary:
    """The words, letters and drawing symbols of one declaration."""

    def __init__(self, relations: Relations) -> None:
        self.relations = relations
        self.names = tuple(thing.name for thing in relations.things if thing.key)  # what is scored
        self.unique = frozenset(thing.name for thing in relations.things if thing.unique)
        self.many = frozenset(thing.name for thing in relations.things if thing.many)
        self.solid = frozenset(self._class(each.name) for each in (relations.origin, *relations.things) if each.solid)
        table = self._table()
        self.lexicon = {word: lexeme for word, lexeme in table.items() if "_" not in word}
        self.phrases = phrases(table)
        self.longest_phrase = max(len(rest) for entries in self.phrases.values() for rest, _ in entries)
        self.seconds = {first: frozenset(rest[0] for rest, _ in ends) for first, ends in self.phrases.items()}
        self.plain = {  # the words that mean the same everywhere: most of every text
            word: lexeme
            for word, lexeme in (self.lexicon | MARKS).items()
            if word not in self.phrases and word not in ODD_WORDS and (len(word) > 1 or word in MARKS or word == "i")
        }
        # Capital letters of drawings that stand for one thing, used as its name: "P is left of X".
        alone = {symbol: names[0] for symbol, names in relations.symbols.items() if len(names) == 1}
        self.letters = {
            s: Lexeme("noun", (self._class(name), False, False)) for s, name in alone.items() if s.isupper()
        }
        drawn = re.escape("".join(relations.symbols))
        self.drawn_row = re.compile(f"[{drawn}]{{2,64}}") if drawn else None

    def _table(self) -> dict[str, Lexeme]:
        """The lexeme of every word and phrase."""
        return build(self.relations)

    def _class(self, name: str) -> str:
        return ORIGIN if name == self.relations.origin.name else name


vocabulary_of = lru_cache(maxsize=64)(Vocabulary)
