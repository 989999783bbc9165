"""The words of the tiny models: what the text environments say and what is said to them.

Two lists. A *phrase* is one token wherever it occurs: fixed sentences of the prompts, tags, and the stock phrases in
which positions are described. That keeps a whole turn near sixty tokens, and attention short. A *word* is one token
with or without a space before it. All other text falls back to bytes, so nothing is ever lost; a text that changes
here and there costs a few tokens more, and no model is wrong because of it.
"""

from __future__ import annotations

from itertools import product

from agentrl.core.response import STRATEGIES, TAGS, template

DIGITS = "0123456789"
THINGS = ("hole", "box", "target")

RULES = (
    "You are on a frozen lake. Walk to the goal and do not step into a hole: a hole ends the game. ",
    "Walking against the edge of the lake leaves you where you are.",
    " The ice is slippery: you may slide to either side of the direction you chose.",
    "Symbols: _ ice, O hole, G goal, P you, X you in a hole, * you on the goal.",
    "You are in a warehouse. Push every box onto a target. You push a box by walking into it, one box at a time; ",
    "you cannot pull. Walls and boxes that cannot move stop you.",
    "Symbols: # wall, _ floor, O target, X box, P you, * box on a target, S you on a target.",
    "Moves: Left, Down, Right, Up. Write up to ",
    " of them a turn, separated by commas; they run in order. You have ",
    "Reply with the moves alone, or put them between <answer> and </answer>.",
    "Reply in exactly this form, each tag once and nothing outside the tags; it replaces any other way of replying "
    "described so far:",
    *(
        f"{before}{meaning}"
        for before in ("", "; ")
        for meaning in (
            "think: your reasoning, in your own way",
            "observation: what is the case now",
            "reasoning: what you conclude and why",
            "prediction: what will be the case after your actions",
            "answer: your actions and nothing else",
        )
    ),
    "Write the observation and the prediction ",
    "Write the observation ",
    "Write the prediction ",
    "in plain sentences.",
    "as a drawing in characters. One line a row. ",
    "as a dictionary of positions and quantities. A JSON object with the keys ",
    '"player_position", "target_position" (the goal), "hole_positions" and "grid_size"',
    '"player_position", "box_positions", "target_positions" and "grid_size"',
    "; a position is [row, column], counted from 0 at the top left",
    ", walls included.",
    " Say where the target (the goal) and each hole is seen from the player; call the holes hole0, hole1, ... from top "
    "to bottom, left to right.",
    " Say where each box and each target is seen from the player, and each target seen from each box; call them box0, "
    "target0, box1, ... from top to bottom, left to right.",
)
REMARKS = (
    "You fell into a hole.",
    "You reached the goal.",
    "Every box is on a target.",
    "A box is on a target.",
    ": no change.",
    "The episode is over.",
    "no action given",
    "From here a right turn is:",
    " is not an action.",
    "Your turns so far:",
    "You saw:",
    "You did:",
    "Now:",
)
# What every turn repeats. Fewer tokens a turn: less to read, and every token of an answer is a decision.
TURNS = (
    *(f"Turn {turn} of {turns}.\n" for turns in range(1, 10) for turn in range(1, turns + 1)),
    *(f", {move}" for move in ("Left", "Down", "Right", "Up")),
    *(f"{symbol}\n" for symbol in "_OGPX*#S"),  # the last tile of a row
)
LAKE_SIDE = 4


def lake_rows() -> list[str]:
    """Every row of a lake of the usual size, as one word: ice and holes, with the goal and the player where they are.

    A lake is read four times as fast that way, and what matters about it is at hand. Only a whole line is such a word.
    """
    plain = ["".join(row) for row in product("_O", repeat=LAKE_SIDE)]
    player = [row[:i] + symbol + row[i + 1 :] for row in plain for i in range(LAKE_SIDE) for symbol in "PX*"]
    both = [*plain, *player]
    goal = [row[:i] + "G" + row[i + 1 :] for row in both for i in range(LAKE_SIDE) if row[i] in "_O" and "*" not in row]
    rows = dict.fromkeys([*both, *goal])
    return [f"{row}{end}" for row in rows for end in ("\n", "")]


JSON_KEYS = ("player_position", "target_position", "hole_positions", "grid_size", "box_positions", "target_positions")
JSON_JOINTS = ("]}", "]]}", "], [", "]], [", "[]", *(f", {digit}" for digit in DIGITS))
PLAIN_WORDS = (
    "a above actions again against all and answer are at back below between blocked bottom box boxes by can cannot "
    "change column commas do done down edge edges empty every expected fall fell floor for found free from go goal "
    "grid he hole holes I ice if in into is it keep lake last leave left level line make may me more move moved moves "
    "must near need next no not nothing now of off on one onto or other out over path place player position push "
    "reach reached right room row same say see seen side so start state stay step stop target targets tag text than "
    "that the them then there they this three to top towards turn turns two up wall walls way we where will with you "
    "your system user assistant Down Feedback Format From Go I Invalid Left Move Moves Now Right So Surplus The "
    "Then Turn Up You"
)


def relations() -> list[str]:
    """Where a thing is, from "is" to the name of the other thing."""
    corners = [f" is {v} and on the {h} side of" for v, h in product(("above", "below"), ("left", "right"))]
    lines = [f" is at the same row and to the {h} of" for h in ("left", "right")]
    columns = [f" is {v} and at the same column as" for v in ("above", "below")]
    return [*corners, *lines, *columns, " is at the same place as", " the player."]


def phrases() -> list[str]:
    """Everything that is one token wherever it occurs, in a fixed order."""
    tags = [f"<{slash}{tag}>" for tag in TAGS for slash in ("", "/")]
    names = [f"{space}{thing}{digit}" for thing in THINGS for digit in DIGITS for space in ("", " ")]
    openings = [f'{before}"{key}": {bracket}' for key in JSON_KEYS for before, bracket in _BRACKETS]
    forms = [template(strategy) for strategy in STRATEGIES]
    return list(dict.fromkeys([*tags, *names, *relations(), *forms, *RULES, *REMARKS, *TURNS, *JSON_JOINTS, *openings]))


_BRACKETS = tuple(product(("{", "], ", "]], ", "[], "), ("[", "[[")))


def words() -> list[str]:
    """Every word and digit with and without a space before it."""
    return list(dict.fromkeys(f"{space}{word}" for word in (*PLAIN_WORDS.split(), *DIGITS) for space in ("", " ")))
