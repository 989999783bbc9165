"""The words of the little grammar: every word or fixed phrase has one kind and, where needed, a value.

Only words are listed here; how they combine is in `phrases` (what stands together) and `clauses` (who is where).
"""

from __future__ import annotations

from typing import Any, NamedTuple

UP, DOWN, LEFT, RIGHT = (-1, None), (1, None), (None, -1), (None, 1)


class Lexeme(NamedTuple):
    """What a word is in the grammar."""

    kind: str
    value: Any = None


# Things. The value is (class, is plural, is a pronoun).
_NOUNS = {
    "player": "player agent character worker elf person man woman robot hero avatar human guy figure boy girl "
    "warehouseman keeper pusher adventurer",
    "box": "box crate package parcel cube",
    "target": "target goal destination gift present spot marker mark prize exit objective treasure endpoint finish flag",
    "hole": "hole pit gap water trap hazard pitfall crack puddle danger",
    "other": "wall floor ice door edge border boundary obstacle ground path way",
}
_PLURALS = {
    "player": "players agents",
    "box": "boxes crates packages parcels cubes",
    "target": "targets goals destinations gifts presents spots markers marks objectives prizes",
    "hole": "holes pits gaps waters traps hazards pitfalls cracks puddles dangers",
    "other": "walls floors doors edges borders obstacles",
}

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
    ("side", (-1, -1)): "northwest northwestern northwesterly topleft upperleft upleft ↖",
    ("side", (-1, 1)): "northeast northeastern northeasterly topright upperright upright ↗",
    ("side", (1, -1)): "southwest southwestern southwesterly bottomleft lowerleft downleft ↙",
    ("side", (1, 1)): "southeast southeastern southeasterly bottomright lowerright downright ↘",
}

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()

# kind -> words; a phrase is written with underscores.
_WORDS = {
    "the": "the this that's_the these those said",
    "a": "a an",
    "no": "no zero any",
    "another": "another additional extra one_more a_further a_second_one",
    "other": "other others rest remaining",
    "both": "both",
    "all": "all every each everything",
    "some": "some several many few multiple various numerous a_few a_couple_of a_number_of couple",
    "one": "one ones",
    "poss_player": "my your our his their mine yours",
    "poss_it": "its whose",
    "it": "it itself",
    "they": "they them",
    "which": "which who that",
    "of": "of",
    "to": "to toward towards",
    "link": "from than as relative_to with_respect_to with_regard_to in_relation_to compared_to compared_with "
    "in_comparison_to in_comparison_with away_from seen_from viewed_from as_seen_from looking_from from_where as_well_as_from "
    "relative_to_where with_reference_to from_the_perspective_of from_the_point_of_view_of from_the_viewpoint_of "
    "measured_from starting_from vis_a_vis",
    "at": "at on in onto inside into upon within on_top_of by on_to",
    "adjacent": "next_to adjacent_to beside adjacent touching near close_to neighbouring neighboring nearby alongside "
    "next_door_to bordering against",
    "direct": "directly immediately straight just exactly due squarely precisely vertically_straight",
    "unit": "cell cells tile tiles square squares space spaces step steps block blocks unit units position positions place places "
    "location locations field fields slot spaces_away object thing item",
    "row": "row rows line lines",
    "column": "column columns col cols file files",
    "side": "side sides hand part half direction diagonal portion",
    "same_row": "same_row same_level same_height same_horizontal_line same_horizontal_row same_horizontal_level same_latitude "
    "level_with same_y row_mate one_row a_single_row same_horizontal_axis same_elevation same_vertical_position "
    "same_rank single_row",
    "same_column": "same_column same_col same_vertical_line same_vertical_column same_longitude same_x one_column a_single_column "
    "same_vertical_axis same_file same_horizontal_position single_column same_vertical",
    "same_place": "same_place same_position same_spot same_cell same_tile same_square same_location same_space same_field "
    "same_point same_coordinates one_place",
    "share": "share shares sharing",
    "align": "aligned align aligns in_line lined_up line_up lines_up in_alignment collinear in_a_line alignment",
    "horizontal": "horizontally horizontal",
    "vertical": "vertically vertical",
    "coincide": "overlaps overlap overlapping coincides coincide coincides_with coincide_with covers cover covering occupies occupy "
    "occupying",
    "arrive": "reach reaches reached reaching arrive arrives arrived hit hits attain attains",
    "is": "is are am lies lie sits sit stands stand rests rest remains remain stays stay appears seems exists "
    "exist starts start ends_up end_up ended_up ends end finds_himself finds_itself finds_themselves find_myself faces occurs becomes "
    "become looks_to_be appears_to_be seems_to_be seem_to_be appear_to_be appear seem lands land resides comes goes_to_be "
    "stays_put winds_up wind_up",
    "be": "be being been standing lying sitting located positioned situated placed found seen visible resting remaining placed_at "
    "staying appearing spotted waiting discovered noted ending_up to_be",
    "was": "was were had_been used_to",
    "will": "will shall going_to gonna about_to is_going_to are_going_to am_going_to",
    "would": "would should expect expects expected ought_to anticipate",
    "has": "has have having contains contain holds hold containing holding got has_got have_got keeps hosts houses is_occupied_by "
    "occupied_by leaves leaving puts putting places placing makes brings bringing",
    "with": "with",
    "see": "see sees find finds notice notices observe observes spot_a can_see could_see looking_at detect identify perceive",
    "there": "there there's here here's lies_there",
    "surrounded": "surrounded_by flanked_by enclosed_by bordered_by hemmed_in_by",
    "blocks": "blocks block_the blocking blocked obstructs blocks_the",
    "not": "not isn't aren't ain't don't doesn't won't never neither nor no_longer cannot can't without wasn't weren't "
    "wouldn't shouldn't couldn't instead_of rather_than nothing none nowhere not_any unlike hardly didn't cant isnt arent",
    "only": "not_only not_just not_merely",
    "goal": "need needs needing must want wants have_to has_to try trying tries aim aims plan plans intend intends let let's "
    "lets wish wishes hope hopes in_order_to required attempt supposed_to goal_is_to objective_is_to target_is_to "
    "task_is_to aim_is_to avoid avoids avoiding plan_is_to strategy can could might may maybe perhaps possibly "
    "would_like to_reach to_get to_push to_move to_go to_avoid to_make to_place to_bring to_put would_have could_be might_be "
    "may_be can_be_pushed best_move next_move ought requires require to_win to_solve to_complete to_step to_walk "
    "to_position to_stand to_align aiming wanting ideally",
    "found": "can_be_found can_be_seen could_be_seen can_be_spotted may_be_found may_be_seen could_be_found",
    "so_that": "so_that such_that",
    "if": "if when once after before unless until till suppose supposing assuming whether as_soon_as in_case upon_moving were_to "
    "by_moving by_pushing by_going as_long_as provided",
    "then": "then",
    "move": "moving moved go goes going went walk walks walking walked push pushes pushing pushed pull pulls pulling head heads "
    "heading travel travels travelling stepping stepped slide slides sliding slid shift shifts shifting shifted turn turns "
    "proceed proceeds run runs moves move advance advances climb climbs climbing descend descends drop drops",
    "currently": "currently at_the_moment at_present presently previously initially originally formerly before_that so_far",
    "now": "now right_now",
    "and": "and & plus as_well_as also along_with",
    "or": "or either",
    "but": "but yet however although though instead",
    "while": "while whereas whilst because since so therefore hence thus meaning where meanwhile given",
    "between": "between",
    "region": "grid map board room screen image picture level maze lake arena area puzzle warehouse scene playfield view "
    "environment world frame game layout diagram corridor section region",
    "corner": "corner corners",
    "x": "x x-coordinate",
    "y": "y y-coordinate",
    "filler": "very slightly somewhat little bit far further farther diagonally diagonal diagonal_to further_to very_far away more "
    "then_also still too respectively about roughly approximately around off out slightly_to exact immediate own "
    "entire same far_to even quite lying_in general same_general here_is of_course index number coordinates coordinate "
    "straight-line upper-most facing located_in right_hand positioned_in",
}

_PHRASE_DIRECTIONS = {  # spelled with a hyphen or as two words; plain runs such as "upper left" need no entry
    "left_hand": ("side", LEFT),
    "right_hand": ("side", RIGHT),
    "north_west": ("side", (-1, -1)),
    "north_east": ("side", (-1, 1)),
    "south_west": ("side", (1, -1)),
    "south_east": ("side", (1, 1)),
    "higher_up": ("side", UP),
    "lower_down": ("side", DOWN),
    "over_to": ("filler", None),
    "over_on": ("filler", None),
    "over_there": ("filler", None),
    "up_and_down": ("filler", None),
    "left_over": ("filler", None),
}


def _build() -> dict[str, Lexeme]:
    table: dict[str, Lexeme] = {}
    for kind, words in _WORDS.items():
        table |= {word: Lexeme(kind, word) for word in words.split()}
    for plural, nouns in ((False, _NOUNS), (True, _PLURALS)):
        table |= {w: Lexeme("noun", (name, plural, False)) for name, words in nouns.items() for w in words.split()}
    table |= {word: Lexeme("noun", ("player", False, True)) for word in _PERSONS.split()}
    for (style, axes), words in _DIRECTIONS.items():
        table |= {word: Lexeme("dir", (style, *axes)) for word in words.split()}
    for phrase, meaning in _PHRASE_DIRECTIONS.items():
        if meaning is not None:
            style, axes = meaning
            table[phrase] = Lexeme("filler") if style == "filler" else Lexeme("dir", (style, *axes))
    table |= {word: Lexeme("number", value) for value, word in enumerate(_NUMBERS) if value != 1}
    table |= {word: Lexeme("ordinal", value) for value, word in enumerate(_ORDINALS)}
    table |= {f"{value}{tail}": Lexeme("ordinal", value) for value in range(1, 10) for tail in ("st", "nd", "rd", "th")}
    return table


LEXICON: dict[str, Lexeme] = {word: lexeme for word, lexeme in _build().items() if "_" not in word}
# First word -> the rest of each phrase, longest first, with what it means.
PHRASES: dict[str, list[tuple[tuple[str, ...], Lexeme]]] = {}
for _phrase, _lexeme in _build().items():
    if "_" in _phrase:
        _first, *_rest = _phrase.split("_")
        PHRASES.setdefault(_first, []).append((tuple(_rest), _lexeme))
for _phrases in PHRASES.values():
    _phrases.sort(key=lambda entry: -len(entry[0]))
